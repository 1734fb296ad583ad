"""Tests that models stored and served by MLflow predict like the logged estimators."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal
from sklearn.linear_model import Ridge

import bochner.mlflow
from bochner import KernelLogisticRegression, KernelRidgeRegressor

import mlflow


@pytest.fixture(scope="module")
def rows():
    random = np.random.RandomState(0)
    X = pd.DataFrame(random.normal(size=(500, 3)), columns=["a", "b", "c"])
    return X, np.sin(X["a"]) + X["b"]


@pytest.fixture(autouse=True)
def store(tmp_path):
    mlflow.set_tracking_uri(f"sqlite:///{tmp_path}/mlflow.db")
    mlflow.create_experiment("tests", artifact_location=(tmp_path / "artifacts").as_uri())
    mlflow.set_experiment("tests")


def test_a_model_is_logged_registered_loaded_and_served(rows):
    X, y = rows
    model = KernelRidgeRegressor(n_components=40, device="cpu", random_state=0).fit(X, y)
    signature = mlflow.models.infer_signature(X, model.predict(X))
    with mlflow.start_run():
        known = bochner.mlflow.log_model(
            model, name="prices", signature=signature, registered_model_name="prices"
        )
    for address in (known.model_uri, "models:/prices/1"):
        again = bochner.mlflow.load_model(address)
        assert type(again) is KernelRidgeRegressor
        assert again.get_params() == model.get_params()
        assert_array_equal(again.predict(X), model.predict(X))
        assert_array_equal(mlflow.pyfunc.load_model(address).predict(X), model.predict(X))
    with pytest.raises(mlflow.exceptions.MlflowException, match="missing inputs"):
        mlflow.pyfunc.load_model(known.model_uri).predict(X[["a", "b"]])


def test_a_folder_holds_no_pickle(rows, tmp_path):
    X, y = rows
    labels = np.where(y > 0, "u", "d")
    model = KernelLogisticRegression(n_components=40, random_state=0).fit(X, labels)
    bochner.mlflow.save_model(model, tmp_path / "model", metadata={"by": "tests"})
    files = {path.name for path in (tmp_path / "model").iterdir()}
    assert files == {"MLmodel", "bochner.model", "conda.yaml", "requirements.txt"}
    served = mlflow.pyfunc.load_model(str(tmp_path / "model"))
    assert served.metadata.metadata == {"by": "tests"}
    assert_array_equal(served.predict(X), model.predict(X))
    other = tmp_path / "probabilities"
    bochner.mlflow.save_model(model, other, pyfunc_predict_fn="predict_proba")
    served = mlflow.pyfunc.load_model(str(other))
    assert_array_equal(served.predict(X), model.predict_proba(X))
    with pytest.raises(ValueError, match="no method 'predict_prob'"):
        bochner.mlflow.save_model(model, tmp_path / "no", pyfunc_predict_fn="predict_prob")
    with pytest.raises(FileExistsError):
        bochner.mlflow.save_model(model, tmp_path / "model")
    with pytest.raises(TypeError, match="use mlflow.sklearn"):
        bochner.mlflow.save_model(Ridge().fit(X, y), tmp_path / "other")
    assert not (tmp_path / "other").exists()
