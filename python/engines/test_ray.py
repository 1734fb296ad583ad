"""Tests that fits on a Ray cluster of two workers equal fits in one process."""

import os
import signal

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from sklearn.base import clone

import bochner.ray
from bochner import KernelRidgeClassifier, KernelRidgeRegressor, RBFSampler

import ray

OPTIONS = {"n_components": 64, "gamma": "scale", "random_state": 0, "penalty": 1e-2}


@pytest.fixture(scope="module", autouse=True)
def cluster():
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False, configure_logging=False)
    ray.data.DataContext.get_current().enable_progress_bars = False
    yield
    ray.shutdown()


@pytest.fixture(scope="module")
def frame():
    random = np.random.RandomState(0)
    X = random.normal(size=(6000, 3)) * [1.0, 2.0, 5.0]
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    frame["y"] = np.sin(X[:, 0]) + 0.3 * X[:, 1] + 0.1 * random.normal(size=6000)
    frame["kind"] = np.array(["low", "middle", "high"])[np.digitize(frame["y"], [-1.0, 1.0])]
    frame["weight"] = np.arange(6000) % 3
    return frame


def dataset(frame, blocks=5):
    at = np.linspace(0, len(frame), blocks + 1).astype(int)
    return ray.data.from_pandas([frame[i:j] for i, j in zip(at, at[1:])])


def test_numbers(frame):
    rows, own = frame[["a", "b", "c", "y"]], frame[["a", "b", "c"]]
    estimator = KernelRidgeRegressor(**{**OPTIONS, "gamma": "median"})
    whole = clone(estimator).fit(own, frame["y"])
    assert bochner.ray.fit(estimator, dataset(rows), "y") is estimator
    scale = np.abs(frame["y"]).max()
    assert_allclose(estimator.predict(own), whole.predict(own), atol=1e-6 * scale)
    # Columns are found by name, in any order, among other columns.
    mixed = dataset(frame[["weight", "c", "a", "b"]])
    predicted = bochner.ray.predict(estimator, mixed).to_pandas()
    assert_allclose(predicted["prediction"], estimator.predict(own), atol=1e-9)
    assert_allclose(predicted["c"], frame["c"])


def test_labels_and_weights(frame):
    own = frame[["a", "b", "c"]]
    estimator = KernelRidgeClassifier(class_weight="balanced", **OPTIONS)
    whole = clone(estimator).fit(own, frame["kind"], frame["weight"])
    rows = dataset(frame)
    options = {"sample_weight": "weight", "columns": ["a", "b", "c"]}
    bochner.ray.fit(estimator, rows, "kind", **options)
    assert estimator.classes_.tolist() == ["high", "low", "middle"]
    assert_allclose(estimator.decision_function(own), whole.decision_function(own), atol=2e-6)
    labels = bochner.ray.predict(estimator, rows).to_pandas()["prediction"]
    assert (labels.to_numpy() == estimator.predict(own)).all()


def test_lists_and_features(frame):
    own = frame[["a", "b", "c"]].to_numpy()
    lists = pd.DataFrame({"x": list(own), "y": frame["y"], "z": 1 - frame["y"]})
    estimator = KernelRidgeRegressor(**OPTIONS)
    whole = clone(estimator).fit(own, lists[["y", "z"]])
    bochner.ray.fit(estimator, dataset(lists), ["y", "z"], columns="x")
    scale = np.abs(lists[["y", "z"]].to_numpy()).max()
    assert_allclose(estimator.predict(own), whole.predict(own), atol=1e-6 * scale)
    predicted = bochner.ray.predict(estimator, dataset(lists), columns="x").to_pandas()
    assert_allclose(np.stack(predicted["prediction"]), estimator.predict(own), atol=1e-9)
    sampler = RBFSampler(n_components=16, random_state=0).fit(own)
    features = bochner.ray.transform(sampler, dataset(lists), columns="x").to_pandas()
    assert_allclose(np.stack(features["features"]), sampler.transform(own))


def test_a_worker_that_dies(frame, tmp_path):
    where = str(tmp_path)

    def dies(table):
        # Kill the task of the first block at its first attempt in each pass.
        time = len(os.listdir(where))
        open(os.path.join(where, str(time)), "w").close()
        if time in (0, 2):
            os.kill(os.getpid(), signal.SIGKILL)
        return table

    class Dies(KernelRidgeRegressor):
        def _validated(self, X, y, sample_weight, **options):
            if (X == first).all(axis=None) if X.shape == first.shape else False:
                dies(None)
            return super()._validated(X, y, sample_weight, **options)

    own = frame[["a", "b", "c"]]
    first = own[:700].to_numpy()
    blocks = [frame[["a", "b", "c", "y"]][i:j] for i, j in ((0, 700), (700, 3000), (3000, 6000))]
    estimator = Dies(**OPTIONS)
    bochner.ray.fit(estimator, ray.data.from_pandas(blocks), "y")
    assert len(os.listdir(where)) >= 4
    whole = KernelRidgeRegressor(**OPTIONS).fit(own, frame["y"])
    scale = np.abs(frame["y"]).max()
    assert_allclose(estimator.predict(own), whole.predict(own), atol=1e-6 * scale)


def test_what_does_not_fit_together(frame):
    model = KernelRidgeRegressor(**OPTIONS)
    with pytest.raises(ValueError, match="no column 'price'"):
        bochner.ray.fit(model, dataset(frame), "price")
    with pytest.raises(ValueError, match="could not convert string to float"):
        bochner.ray.fit(model, dataset(frame), "y")
