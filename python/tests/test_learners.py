"""The kernel machines: what scikit-learn expects of them, and what they learn."""

import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import load_digits
from sklearn.gaussian_process import GaussianProcessRegressor as TheirGaussianProcess
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, WhiteKernel
from sklearn.kernel_ridge import KernelRidge
from sklearn.utils.estimator_checks import parametrize_with_checks

from bochner import (
    GaussianProcessRegressor,
    KernelElasticNet,
    KernelLogisticRegression,
    KernelRidgeClassifier,
    KernelRidgeRegressor,
    KernelSVC,
    KernelSVR,
)

CLASSIFIERS = [KernelRidgeClassifier, KernelLogisticRegression, KernelSVC]
REGRESSORS = [KernelRidgeRegressor, KernelSVR, KernelElasticNet, GaussianProcessRegressor]


# Few features, for time; nothing that is checked depends on their number.
@parametrize_with_checks([kind(n_components=60) for kind in CLASSIFIERS + REGRESSORS])
def test_checks_of_scikit_learn(estimator, check):
    check(estimator)


@pytest.fixture(scope="module")
def digits():
    X, y = load_digits(return_X_y=True)
    return X[:1200] / 16.0, y[:1200], X[1200:] / 16.0, y[1200:]


def wave(n=200, noise=0.1, seed=0):
    random = np.random.RandomState(seed)
    X = np.sort(random.uniform(0, 5, size=(n, 1)), axis=0)
    return X, np.sin(2 * X[:, 0]) + noise * random.normal(size=n)


def test_ridge_is_exact_kernel_ridge_regression():
    X, y = wave()
    penalty, gamma = 1e-3, 0.7
    exact = KernelRidge(kernel="rbf", gamma=gamma, alpha=len(X) * penalty).fit(X, y).predict(X)
    own = KernelRidgeRegressor(
        gamma=gamma,
        penalty=penalty,
        map="nystrom",
        n_components=200,
        fit_intercept=False,
        standardize="no",
    )
    # All rows are landmarks: the kernel is reproduced.
    assert_allclose(own.fit(X, y).predict(X), exact, atol=2e-4)
    assert own.penalty_ == penalty
    # A penalty that is 3 % off would show.
    other = clone(own).set_params(penalty=1.03 * penalty).fit(X, y).predict(X)
    assert abs(other - exact).max() > 4e-4


def test_weights_count_rows():
    X, y = wave(3000)
    weights = np.random.RandomState(1).randint(0, 3, size=3000)
    own = KernelRidgeRegressor(n_components=100, penalty=1e-3, random_state=0)
    repeated = clone(own).fit(X.repeat(weights, axis=0), y.repeat(weights)).predict(X)
    assert_allclose(own.fit(X, y, sample_weight=weights).predict(X), repeated, atol=1e-4)
    # And they matter.
    assert abs(clone(own).fit(X, y).predict(X) - repeated).max() > 1e-3
    with pytest.raises(ValueError, match="Negative"):
        own.fit(X, y, sample_weight=weights - 1.0)


@pytest.mark.parametrize("kind", CLASSIFIERS)
def test_digits(kind, digits):
    X, y, X_test, y_test = digits
    names = np.array("zero one two three four five six seven eight nine".split())
    model = kind(n_components=600, gamma=0.03, random_state=0).fit(X, names[y])
    assert model.score(X_test, names[y_test]) > 0.92
    assert list(model.classes_) == sorted(names)
    scores = model.decision_function(X_test)
    assert (model.classes_[scores.argmax(axis=1)] == model.predict(X_test)).all()
    again = kind(n_components=600, gamma=0.03, random_state=0).fit(X.astype(np.float32), y)
    assert again.predict(X_test).dtype == y.dtype
    if kind is KernelLogisticRegression:
        p = model.predict_proba(X_test)
        assert_allclose(p.sum(axis=1), 1.0)
        # Calibrated to some degree: of what it is sure of, nearly all is right.
        sure = p.max(axis=1) > 0.9
        assert sure.mean() > 0.5 and model.score(X_test[sure], names[y_test][sure]) > 0.97


def test_probabilities_on_demand(digits):
    X, y, X_test, y_test = digits
    model = KernelSVC(n_components=400, gamma=0.03, random_state=0)
    assert not hasattr(model, "predict_proba")
    model.set_params(probability=True).fit(X, y)
    p = model.predict_proba(X_test)
    assert p.shape == (597, 10) and (p.argmax(axis=1) == y_test).mean() > 0.92


@pytest.mark.parametrize("kind", CLASSIFIERS + REGRESSORS)
@pytest.mark.parametrize("labels", ["text", "number"])
def test_files_and_pickles(kind, labels, tmp_path):
    X, y = wave()
    model = kind(n_components=50, random_state=0)
    if kind in CLASSIFIERS:
        y = np.where(y > 0, "up", "down") if labels == "text" else np.where(y > 0, 3, -7)
    model.fit(X, y)
    path = tmp_path / "wave.model"
    model.save(path)
    for again in (kind.load(path), pickle.loads(pickle.dumps(model))):
        assert (again.predict(X) == model.predict(X)).all()
        if kind in CLASSIFIERS:
            assert (again.classes_ == model.classes_).all()
    other = KernelSVC if kind is not KernelSVC else KernelSVR
    with pytest.raises(ValueError, match="holds a model of"):
        other.load(path)


def test_a_model_file_is_that_of_the_command_line(tmp_path):
    from bochner._native import Model

    X, y = wave()
    path = tmp_path / "wave.model"
    KernelRidgeRegressor(n_components=50).fit(X, y).save(path)
    model = Model.read(path)
    assert (model.learner, model.n_features) == ("ridge", 1)
    with pytest.raises(ValueError, match="wave.model"):
        path.write_bytes(b"no model")
        Model.read(path)


def test_sparse_rows_and_several_targets():
    X = sparse.random(400, 30, density=0.2, random_state=0, format="csr")
    Y = np.stack([X.sum(axis=1).A1 if hasattr(X.sum(axis=1), "A1") else X.sum(axis=1)] * 2, axis=1)
    Y[:, 1] *= -2
    model = KernelRidgeRegressor(n_components=200, random_state=0, penalty=1e-4).fit(X, Y)
    predicted = model.predict(X)
    assert predicted.shape == (400, 2)
    assert_allclose(predicted, model.predict(X.toarray()), atol=1e-5)
    assert_allclose(predicted[:, 1], -2 * predicted[:, 0], atol=1e-2)
    assert model.score(X, Y) > 0.9


def test_penalties_are_chosen():
    X, y = wave(400, noise=0.3)
    for folds in (None, 5):
        model = KernelRidgeRegressor(
            n_components=200, penalty=[1e-9, 1e-3, 10.0], folds=folds, random_state=0
        ).fit(X, y)
        assert model.penalty_ == 1e-3
    assert 1e-7 < KernelRidgeRegressor(penalty="auto").fit(X, y).penalty_ < 1e-1
    with pytest.raises(ValueError, match="penalty"):
        KernelRidgeRegressor(penalty=-1.0).fit(X, y)


def test_gaussian_process_is_scikit_learn_s():
    X, y = wave(150, noise=0.2)
    kernel = ConstantKernel(0.8, "fixed") * RBF(0.6, "fixed") + WhiteKernel(0.04, "fixed")
    theirs = TheirGaussianProcess(kernel).fit(X, y)
    at = np.linspace(-1, 6, 50)[:, None]
    mean, deviation = theirs.predict(at, return_std=True)
    own = GaussianProcessRegressor(
        map="nystrom",
        n_components=150,
        gamma=0.5 / 0.36,
        noise_variance=0.04,
        signal_variance=0.8,
        fit_intercept=False,
        standardize="no",
    ).fit(X, y)
    own_mean, own_deviation = own.predict(at, return_std=True)
    inside = (at[:, 0] > 0.2) & (at[:, 0] < 4.8)
    assert_allclose(own_mean, mean, atol=5e-3)
    # Beyond the data Nystrom features know less than the kernel.
    assert_allclose(own_deviation[inside], deviation[inside], rtol=5e-3)
    # Without the noise's variance it is found.
    found = GaussianProcessRegressor(n_components=200, random_state=0).fit(X, y)
    assert 0.15 < found.noise_deviation_ < 0.25


def test_losses():
    X, y = wave(300, noise=0.0)
    spoilt = y.copy()
    spoilt[::10] += 30.0
    options = {"n_components": 100, "random_state": 0, "penalty": 1e-5}
    robust = KernelSVR(loss="quantile", max_iter=1000, **options).fit(X, spoilt)
    squares = KernelRidgeRegressor(**options).fit(X, spoilt)
    assert np.median(abs(robust.predict(X) - y)) < 0.1 < np.median(abs(squares.predict(X) - y))
    upper = KernelSVR(loss="quantile", quantile=0.9, max_iter=1000, **options)
    X, y = wave(2000, noise=0.5)
    assert 0.87 < (upper.fit(X, y).predict(X) > y).mean() < 0.93
    with pytest.raises(ValueError, match="epsilon"):
        KernelSVR(loss="huber").fit(X, y)


def test_class_weights():
    random = np.random.RandomState(0)
    X = np.vstack([random.normal(size=(900, 2)), random.normal(size=(100, 2)) + 1.5])
    y = np.repeat([0, 1], [900, 100])
    for kind in CLASSIFIERS:
        plain = kind(n_components=100, penalty=1e-2, random_state=0).fit(X, y)
        fair = clone(plain).set_params(class_weight="balanced").fit(X, y)
        same = clone(plain).set_params(class_weight={0: 1.0, 1: 9.0}).fit(X, y)
        assert fair.predict(X)[900:].mean() > plain.predict(X)[900:].mean() + 0.1
        assert (fair.predict(X) == same.predict(X)).mean() > 0.99


def test_warnings_of_the_library_are_python_s():
    X = np.repeat(np.random.RandomState(0).normal(size=(20, 2)), 3, axis=0)
    model = KernelRidgeRegressor(map="nystrom", n_components=50, penalty=[1e-3, 1e-2])
    with pytest.warns(UserWarning, match="asked for 50 landmarks"):
        model.fit(X, X[:, 0])
    with pytest.raises(NotImplementedError, match="use map='nystrom'"):
        KernelRidgeRegressor(kernel="hat").fit(X, X[:, 0])
