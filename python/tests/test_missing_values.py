"""Missing values in arrays and frames."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from scipy import sparse

from bochner import AutoClassifier, AutoRegressor, KernelRidgeRegressor

FEW = {"n_components": 50, "budget": 2, "bag": 1, "beside": "none", "random_state": 0}


def rows(tells=True):
    """300 rows of three columns; the first has missing values, which predict the target if `tells`."""
    random = np.random.RandomState(3)
    X, gaps = random.normal(size=(300, 3)), random.uniform(size=300) < 0.3
    y = X[:, 1] + (2.0 * gaps if tells else 0.0) + 0.1 * random.normal(size=300)
    X[gaps, 0] = np.nan
    return X, y


@pytest.mark.parametrize("tells", [True, False])
def test_missing_values_are_imputed_with_indicators_that_predict(tells, tmp_path):
    X, y = rows(tells)
    model = AutoRegressor(**FEW).fit(X, y)
    assert model.n_features_in_ == 3 and len(model.feature_importances_) == 3
    assert model.score(X, y) > 0.95
    mean = np.nanmean(X[:, 0])
    filled = np.where(np.isnan(X), mean, X)
    assert np.allclose(model.predict(X), model.predict(filled), rtol=1e-4) != tells
    model.save(tmp_path / "a.model")
    again = AutoRegressor.load(tmp_path / "a.model")
    assert again.n_features_in_ == 3
    assert_allclose(again.predict(X), model.predict(X))
    order = np.random.RandomState(0).permutation(len(X))
    assert AutoRegressor(**FEW).fit(X[order], y[order])._imputer.adds_columns == tells


def test_nan_none_and_na_are_missing():
    X, y = rows()
    expected = AutoRegressor(**FEW).fit(X, y).predict(X)
    names = ["a", "b", "c"]
    frame = pd.DataFrame(X, columns=names)
    with_none = frame.astype(object).where(frame.notna(), None)
    for given in (frame, with_none, frame.convert_dtypes(), frame.astype("Float64")):
        model = AutoRegressor(**FEW).fit(given, y)
        assert_allclose(model.predict(given), expected)
        assert list(model.feature_names_in_) == names
    labels = np.where(y > 1, "high", "low")
    model = AutoClassifier(**FEW).fit(frame, labels)
    assert model.score(frame, labels) > 0.9
    weights = np.ones(len(y))
    assert_allclose(AutoRegressor(**FEW).fit(X, y, sample_weight=weights).predict(X), expected, rtol=1e-5)


def test_columns_complete_in_training_are_imputed_with_a_warning(tmp_path):
    X, y = rows()
    X = X[:, 1:]
    model = AutoRegressor(**FEW).fit(X, y)
    model.save(tmp_path / "a.model")
    for model in (model, AutoRegressor.load(tmp_path / "a.model")):
        with pytest.warns(UserWarning, match="without missing values in the training rows.*: 1$"):
            found = model.predict([[0.5, np.nan]])
        assert_allclose(found, model.predict([[0.5, X[:, 1].mean()]]), rtol=1e-4)


def test_other_estimators_and_infinities_are_refused():
    X, y = rows()
    with pytest.raises(ValueError, match="NaN"):
        KernelRidgeRegressor().fit(X, y)
    with pytest.raises(ValueError, match="infinity"):
        AutoRegressor(**FEW).fit(np.where(np.isnan(X), np.inf, X), y)
    with pytest.raises(ValueError, match="sparse"):
        AutoRegressor(**FEW).fit(sparse.csr_matrix(X), y)
