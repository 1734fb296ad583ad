"""Amounts that are fitted by their logarithms."""

import pickle

import numpy as np
import pytest
from sklearn.base import clone

from bochner import (
    AutoRegressor,
    ExactKernelRidgeRegressor,
    FalkonRegressor,
    KernelRidgeRegressor,
)


@pytest.fixture
def prices():
    """Products with errors that are shares of them."""
    draws = np.random.default_rng(0)
    X = draws.normal(size=(1200, 3))
    return X, np.exp(X @ [1.0, -0.7, 0.4] + 0.3 * draws.normal(size=1200) + 2)


def error(model, X, y):
    return np.sqrt(np.mean((model.predict(X) - y) ** 2)) / y.std()


@pytest.mark.parametrize(
    "model",
    [
        KernelRidgeRegressor(n_components=200, random_state=0),
        ExactKernelRidgeRegressor(random_state=0),
        FalkonRegressor(n_components=200, random_state=0),
    ],
)
def test_logarithms_are_chosen_for_prices_and_not_for_others(model, prices):
    X, y = prices
    chosen = clone(model).fit(X[:600], y[:600])
    as_is = clone(model).set_params(target_scale="as-is").fit(X[:600], y[:600])
    assert chosen.job_["target-scale"] == "log"
    assert "target-scale" not in as_is.job_
    assert error(chosen, X[600:], y[600:]) < 0.9 * error(as_is, X[600:], y[600:])
    # Means, not medians: these are less by exp(0.045).
    assert abs(np.mean(chosen.predict(X[600:])) / np.mean(y[600:]) - 1) < 0.04
    assert np.array_equal(pickle.loads(pickle.dumps(chosen)).predict(X), chosen.predict(X))
    plain = clone(model).fit(X[:600], np.log(y[:600]))
    assert "target-scale" not in plain.job_


def test_an_automatic_fit_is_what_its_parameters_give(prices):
    X, y = prices
    model = AutoRegressor(n_components=300, budget=4, random_state=0).fit(X[:600], y[:600])
    assert model.best_params_["target_scale"] == "log"
    given = {name: of for name, of in model.best_params_.items() if name != "metric"}
    again = KernelRidgeRegressor(n_components=300, random_state=0, **given).fit(X[:600], y[:600])
    np.testing.assert_allclose(again.predict(X), model.predict(X), rtol=1e-9)


def test_amounts_without_a_logarithm_are_refused_by_value(prices):
    X, y = prices
    with pytest.raises(ValueError, match="a target is -.*target_scale='as-is'"):
        KernelRidgeRegressor(target_scale="log").fit(X, y - np.median(y))
    with pytest.raises(ValueError, match="target_scale"):
        KernelRidgeRegressor(target_scale="logarithm").fit(X, y)
