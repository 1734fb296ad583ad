"""Tests of exact kernel ridge regression, Falkon, greedy fits and boosting."""

import pickle
import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.datasets import load_diabetes, load_digits
from sklearn.kernel_ridge import KernelRidge
from sklearn.utils.estimator_checks import parametrize_with_checks

from bochner import (
    BoostingClassifier,
    BoostingRegressor,
    ExactKernelRidgeClassifier,
    ExactKernelRidgeRegressor,
    FalkonClassifier,
    FalkonRegressor,
    GreedyClassifier,
    GreedyRegressor,
    KernelElasticNet,
    KernelICA,
    KernelPCA,
    KernelRidgeRegressor,
)

REGRESSORS = [
    ExactKernelRidgeRegressor(),
    ExactKernelRidgeRegressor(penalty=1e-4),
    FalkonRegressor(n_components=30),
    FalkonRegressor(n_components=30, penalty=1e-4),
    GreedyRegressor(),
    GreedyRegressor(n_components=60),
    BoostingRegressor(),
]
CLASSIFIERS = [
    ExactKernelRidgeClassifier(),
    FalkonClassifier(n_components=30),
    ExactKernelRidgeClassifier(penalty=1e-4),
    FalkonClassifier(n_components=30, penalty=1e-4),
    GreedyClassifier(),
    GreedyClassifier(n_components=60),
    BoostingClassifier(),
]


@parametrize_with_checks(REGRESSORS + CLASSIFIERS)
def test_checks_of_scikit_learn(estimator, check):
    check(estimator)


@pytest.fixture(scope="module")
def wave():
    random = np.random.RandomState(0)
    X = np.sort(random.uniform(0, 5, size=(200, 1)), axis=0)
    return X, np.sin(2 * X[:, 0]) + 0.1 * random.normal(size=200)


def test_exact_and_falkon_are_scikit_learn_s(wave):
    X, y = wave
    penalty, gamma = 1e-3, 0.7
    exact = KernelRidge(kernel="rbf", gamma=gamma, alpha=len(X) * penalty).fit(X, y).predict(X)
    options = {"gamma": gamma, "penalty": penalty, "fit_intercept": False, "standardize": "no"}
    for own in (
        ExactKernelRidgeRegressor(**options),
        FalkonRegressor(n_components=200, random_state=0, **options),
    ):
        assert_allclose(own.fit(X, y).predict(X), exact, atol=4e-4)
        # Control: a penalty that is 3 % off differs.
        other = own.set_params(penalty=1.03 * penalty).fit(X, y).predict(X)
        assert abs(other - exact).max() > 6e-4


@pytest.mark.parametrize(
    "kind", [ExactKernelRidgeRegressor, FalkonRegressor, KernelElasticNet], ids=lambda k: k.__name__
)
def test_defaults_tell_what_there_is(kind):
    X, y = load_diabetes(return_X_y=True)
    options = {"random_state": 0}
    if kind is FalkonRegressor:
        # Avoid the warning about more landmarks than rows.
        options["n_components"] = 200
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = kind(**options).fit(X[:265], y[:265])
    # R^2 of linear ridge regression is 0.46.
    assert model.score(X[265:], y[265:]) > 0.4
    if kind is not KernelElasticNet:
        assert 1e-4 < model.penalty_ < 1e-1
        with pytest.warns(UserWarning, match="worse than the mean"):
            kind(penalty=[1e-9, 1e-8], gamma="scale", **options).fit(X[:265], y[:265])


def test_falkon_is_ridge_on_the_same_landmarks(wave):
    X, y = wave
    options = {"gamma": 0.7, "penalty": 1e-4, "n_components": 25, "random_state": 0}
    falkon = FalkonRegressor(**options, tol=1e-9).fit(X, y)
    ridge = KernelRidgeRegressor(map="nystrom", **options).fit(X, y)
    assert_allclose(falkon.predict(X), ridge.predict(X), atol=5e-3)
    assert 1 < falkon.n_iter_ < 100


def test_greedy_takes_few_features(wave):
    X, y = wave
    options = {"n_components": 400, "held_out": 0.0, "random_state": 0}
    model = GreedyRegressor(steps=15, **options).fit(X, y)
    beta, _ = model._model.coefficients()
    assert 1 < (beta != 0).any(axis=1).sum() <= 15
    assert model.score(X, y) > 0.9
    fewer = GreedyRegressor(steps=3, **options).fit(X, y)
    assert fewer.score(X, y) < model.score(X, y)
    # The hold-out set stops the steps.
    usual = GreedyRegressor(n_components=400, random_state=0).fit(X, y)
    assert usual.n_iter_ < 50 and usual.score(X, y) > 0.9


def test_boosting_adds_up_to_ridge(wave):
    X, y = wave
    options = {"n_components": 40, "gamma": 0.7, "random_state": 0, "penalty": 1e-4}
    # One block with learning rate 1 is ridge regression.
    one = BoostingRegressor(block=40, shrinkage=1.0, stages=1, held_out=0.0, **options)
    ridge = KernelRidgeRegressor(**options).fit(X, y)
    assert_allclose(one.fit(X, y).predict(X), ridge.predict(X), atol=1e-3)
    model = BoostingRegressor(block=10, **{**options, "n_components": 200}).fit(X, y)
    assert model.score(X, y) > 0.95 and model.n_iter_ > 1


@pytest.mark.parametrize("model", CLASSIFIERS, ids=lambda m: type(m).__name__)
def test_digits(model, tmp_path):
    X, y = load_digits(return_X_y=True)
    X = X / 16.0
    if hasattr(model, "n_components"):
        model.set_params(n_components=400)
    model.set_params(gamma=0.03, random_state=0)
    names = np.array("zero one two three four five six seven eight nine".split())
    model.fit(X[:1200], names[y[:1200]])
    assert model.score(X[1200:], names[y[1200:]]) > 0.88
    model.save(tmp_path / "digits.model")
    for again in (type(model).load(tmp_path / "digits.model"), pickle.loads(pickle.dumps(model))):
        assert (again.predict(X) == model.predict(X)).all()
    model.set_params(probability=True).fit(X[:1200], y[:1200])
    assert_allclose(model.predict_proba(X[1200:]).sum(axis=1), 1.0)


def test_weights_are_refused_where_they_would_be_left_out(wave):
    from bochner._native import Model

    X, _ = wave
    options = KernelICA()._options(X)
    with pytest.raises(NotImplementedError, match="takes no weights"):
        Model.fit("ica", X, np.empty((200, 0)), np.ones(200), options)


def test_weights_of_the_exact_kernel(wave):
    X, y = wave
    weights = np.random.RandomState(1).uniform(0.0, 3.0, size=len(X))
    weights[::7] = 0.0
    penalty = 1e-3
    theirs = KernelRidge(kernel="rbf", gamma=0.7, alpha=penalty * weights.sum())
    exact = theirs.fit(X, y, sample_weight=weights).predict(X)
    own = ExactKernelRidgeRegressor(
        gamma=0.7, penalty=penalty, fit_intercept=False, standardize="no"
    )
    assert_allclose(own.fit(X, y, sample_weight=weights).predict(X), exact, atol=2e-5)
    # Controls: without weights, or with a penalty 3 % off, the result differs.
    assert abs(own.fit(X, y).predict(X) - exact).max() > 1e-3
    own.set_params(penalty=1.03 * penalty).fit(X, y, sample_weight=weights)
    assert abs(own.predict(X) - exact).max() > 2e-4
    labels = (y > 0.5).astype(int)
    counts = {0: 1.0, 1: 3.0}
    options = {"gamma": 0.7, "penalty": 1e-2}
    by_class = ExactKernelRidgeClassifier(class_weight=counts, **options).fit(X, labels)
    by_row = ExactKernelRidgeClassifier(**options).fit(X, labels, 1.0 + 2.0 * labels)
    assert_allclose(by_class.decision_function(X), by_row.decision_function(X), atol=1e-6)
    plain = ExactKernelRidgeClassifier(**options).fit(X, labels)
    assert abs(plain.decision_function(X) - by_row.decision_function(X)).max() > 1e-2


def test_memory_of_the_exact_kernel():
    X = np.random.RandomState(0).normal(size=(2000, 2))
    with pytest.raises(MemoryError, match="memory="):
        ExactKernelRidgeRegressor(memory=1 << 20).fit(X, X[:, 0])
