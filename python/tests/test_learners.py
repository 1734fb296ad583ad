"""Tests of estimators on random features: scikit-learn's checks, and exact references."""

import pickle

import numpy as np
import pytest
from joblib import Parallel, delayed
from numpy.testing import assert_allclose
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import load_digits
from sklearn.gaussian_process import GaussianProcessRegressor as TheirGaussianProcess
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, WhiteKernel
from sklearn.kernel_ridge import KernelRidge
from sklearn.model_selection import GridSearchCV
from sklearn.utils.estimator_checks import (
    check_class_weight_classifiers,
    check_classifiers_train,
    parametrize_with_checks,
)

from bochner import (
    ExactKernelRidgeRegressor,
    FalkonRegressor,
    GaussianProcessRegressor,
    KernelElasticNet,
    KernelElasticNetClassifier,
    KernelLogisticRegression,
    KernelRidgeClassifier,
    KernelRidgeRegressor,
    KernelSVC,
    KernelSVR,
)
from bochner._bases import _in_favour_of

CLASSIFIERS = [
    KernelRidgeClassifier,
    KernelLogisticRegression,
    KernelSVC,
    KernelElasticNetClassifier,
]
REGRESSORS = [KernelRidgeRegressor, KernelSVR, KernelElasticNet, GaussianProcessRegressor]


# Few features to save time; the checks do not depend on their number.
@parametrize_with_checks([kind(n_components=60) for kind in CLASSIFIERS + REGRESSORS])
def test_checks_of_scikit_learn(estimator, check):
    check(estimator)


@pytest.mark.parametrize(
    "kind, check",
    [
        (KernelRidgeClassifier, check_classifiers_train),
        (KernelElasticNetClassifier, check_class_weight_classifiers),
    ],
)
def test_checks_of_scikit_learn_by_default(kind, check):
    # These checks could fail with the default number of features and pass with few.
    check(kind.__name__, kind(device="cpu"))


def test_the_predicted_class_is_the_likeliest():
    random = np.random.RandomState(0)
    p = random.dirichlet(np.ones(4), size=500)
    p[:50] = 0.25
    predicted = random.randint(4, size=500)
    agree = p.argmax(axis=1) == predicted
    own = _in_favour_of(predicted, p.copy())
    assert (own.argmax(axis=1) == predicted).all()
    assert_allclose(own.sum(axis=1), 1.0, atol=1e-12)
    assert (own[agree] == p[agree]).all() and (own >= 0.0).all()
    # Only the predicted class and more probable ones change.
    below = p < p[np.arange(500), predicted][:, None]
    assert (own[below] == p[below]).all()
    # With two classes the order of samples is unchanged.
    first = np.linspace(0.2, 0.4, 50)
    moved = _in_favour_of(np.zeros(50, dtype=int), np.column_stack([first, 1 - first]))
    assert (np.diff(moved[:, 0]) > 0).all() and (moved[:, 0] < 0.500001).all()


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
    # With all rows as landmarks, Nystrom features reproduce the kernel.
    assert_allclose(own.fit(X, y).predict(X), exact, atol=2e-4)
    assert own.penalty_ == penalty
    # Control: a penalty that is 3 % off differs.
    other = clone(own).set_params(penalty=1.03 * penalty).fit(X, y).predict(X)
    assert abs(other - exact).max() > 4e-4


def test_weights_count_rows():
    X, y = wave(3000)
    weights = np.random.RandomState(1).randint(0, 3, size=3000)
    own = KernelRidgeRegressor(n_components=100, penalty=1e-3, random_state=0)
    repeated = clone(own).fit(X.repeat(weights, axis=0), y.repeat(weights)).predict(X)
    assert_allclose(own.fit(X, y, sample_weight=weights).predict(X), repeated, atol=1e-4)
    # Control: without weights the result differs.
    assert abs(clone(own).fit(X, y).predict(X) - repeated).max() > 1e-3
    with pytest.raises(ValueError, match="Negative"):
        own.fit(X, y, sample_weight=weights - 1.0)


@pytest.mark.parametrize("kind", CLASSIFIERS)
def test_digits(kind, digits):
    X, y, X_test, y_test = digits
    names = np.array("zero one two three four five six seven eight nine".split())
    options = {"n_components": 600, "gamma": 0.03, "random_state": 0}
    # A small l1 penalty, so that enough features are used for the score below.
    options |= {"l1": 1e-4} if kind is KernelElasticNetClassifier else {}
    model = kind(**options).fit(X, names[y])
    assert model.score(X_test, names[y_test]) > 0.92
    assert list(model.classes_) == sorted(names)
    scores = model.decision_function(X_test)
    assert (model.classes_[scores.argmax(axis=1)] == model.predict(X_test)).all()
    again = kind(**options).fit(X.astype(np.float32), y)
    assert again.predict(X_test).dtype == y.dtype
    if kind is KernelLogisticRegression:
        p = model.predict_proba(X_test)
        assert_allclose(p.sum(axis=1), 1.0)
        # Confident predictions are nearly always right.
        sure = p.max(axis=1) > 0.9
        assert sure.mean() > 0.5 and model.score(X_test[sure], names[y_test][sure]) > 0.97


def test_probabilities_on_demand(digits):
    X, y, X_test, y_test = digits
    model = KernelSVC(n_components=400, gamma=0.03, random_state=0)
    assert not hasattr(model, "predict_proba")
    model.set_params(probability=True).fit(X, y)
    p = model.predict_proba(X_test)
    assert p.shape == (597, 10) and (p.argmax(axis=1) == y_test).mean() > 0.92


def test_ridge_has_probabilities_and_sets_by_rows_left_out(digits):
    X, y, X_test, y_test = digits
    model = KernelRidgeClassifier(n_components=600, gamma=0.03, random_state=0).fit(X, y)
    p = model.predict_proba(X_test)
    assert p.shape == (597, 10)
    assert_allclose(p.sum(axis=1), 1.0)
    assert -np.log(p[np.arange(597), y_test]).mean() < 0.25
    sets = model.predict_sets(X_test, 0.99)
    assert sets.shape == (597, 10) and sets.dtype == bool
    # The tolerance is wide: the last digits come from other writers than the first.
    assert sets[np.arange(597), y_test].mean() > 0.94
    assert sets[np.arange(597), p.argmax(axis=1)].all() and sets.sum(axis=1).mean() < 3
    with pytest.raises(ValueError, match="between 0 and 1"):
        model.predict_sets(X_test, 1.0)
    iterative = KernelRidgeClassifier(n_components=200, gamma=0.03, solver="cg", penalty=1e-4)
    assert not hasattr(iterative.fit(X[:300], y[:300]), "predict_proba")


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
    # Outside the data, Nystrom features have less variance than the kernel.
    assert_allclose(own_deviation[inside], deviation[inside], rtol=5e-3)
    # The noise variance is estimated if it is not given.
    found = GaussianProcessRegressor(n_components=200, random_state=0).fit(X, y)
    assert 0.15 < found.noise_deviation_ < 0.25


def test_weights_of_a_gaussian_process_divide_its_noise():
    X, y = wave(300, noise=0.2)
    options = {"n_components": 80, "gamma": 1.0, "random_state": 0, "noise_variance": 0.04}
    options |= {"signal_variance": 0.8, "fit_intercept": False, "standardize": "no"}
    weights = np.random.RandomState(1).randint(0, 4, size=300)
    own = GaussianProcessRegressor(**options).fit(X, y, sample_weight=weights)
    # With given noise, weights are equivalent to repeated rows.
    rows = np.repeat(np.arange(300), weights)
    repeated = GaussianProcessRegressor(**options).fit(X[rows], y[rows])
    for one, other in zip(own.predict(X, return_std=True), repeated.predict(X, return_std=True)):
        assert_allclose(one, other, atol=1e-4)
    plain = GaussianProcessRegressor(**options).fit(X, y)
    assert abs(plain.predict(X) - own.predict(X)).max() > 1e-2
    with pytest.raises(ValueError, match="Negative"):
        own.fit(X, y, sample_weight=weights - 1.0)


@pytest.mark.parametrize("classes", [2, 3])
def test_probabilities_over_the_posterior(classes, digits, tmp_path):
    X, y, X_test, y_test = (part[::4] for part in digits)
    y, y_test = y % classes, y_test % classes
    options = {"n_components": 100, "gamma": 0.03, "penalty": 1e-3, "random_state": 0}
    mode = KernelLogisticRegression(**options).fit(X, y)
    mean = KernelLogisticRegression(laplace=True, **options).fit(X, y)
    assert not hasattr(mode, "log_marginal_likelihood_")
    assert mean.log_marginal_likelihood_ < 0
    assert (mode.predict(X_test) == mean.predict(X_test)).all()
    p, q = mode.predict_proba(X_test), mean.predict_proba(X_test)
    assert_allclose(q.sum(axis=1), 1.0)
    # Averaged probabilities are less confident, with the same accuracy.
    assert (q.max(axis=1) < p.max(axis=1) + 1e-3).mean() > 0.97
    assert (q.argmax(axis=1) == y_test).mean() > 0.75
    mean.save(tmp_path / "mean.model")
    again = KernelLogisticRegression.load(tmp_path / "mean.model")
    assert_allclose(again.predict_proba(X_test), q, atol=1e-12)


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
        KernelSVR(loss="squared_epsilon_insensitive").fit(X, y)


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


def test_a_gamma_for_each_column():
    random = np.random.RandomState(0)
    X, gamma = random.normal(size=(200, 3)), [0.1, 0.7, 2.0]
    y = np.sin(X.sum(axis=1))
    # Reference: columns that are scaled beforehand.
    scaled = X * np.sqrt(gamma)
    options = {"fit_intercept": False, "standardize": "no", "penalty": 1e-3, "random_state": 0}
    expected = KernelRidge(kernel="rbf", gamma=1.0, alpha=0.2).fit(scaled, y).predict(scaled)
    own = KernelRidgeRegressor(gamma=gamma, map="nystrom", n_components=200, **options)
    assert_allclose(own.fit(X, y).predict(X), expected, atol=1e-3)
    assert_allclose(clone(own).set_params(gamma=np.array(gamma)).fit(X, y).predict(X), own.predict(X))
    # Control: one gamma that is 3 % off differs.
    off = clone(own).set_params(gamma=[0.1, 0.7 * 1.03, 2.0]).fit(X, y).predict(X)
    assert abs(off - expected).max() > 2e-3
    laplacian = KernelRidgeRegressor(gamma=gamma, kernel="laplacian", map="nystrom", **options)
    laplacian.set_params(n_components=200).fit(X, y)
    weighed = KernelRidge(kernel="laplacian", gamma=1.0, alpha=0.2).fit(X * gamma, y)
    assert_allclose(laplacian.predict(X), weighed.predict(X * gamma), atol=1e-3)
    for wrong in ([0.1, 0.7], [0.1, 0.7, -2.0], [[0.1, 0.7, 2.0]]):
        with pytest.raises(ValueError, match="gamma is .* one for each of the 3 features"):
            clone(own).set_params(gamma=wrong).fit(X, y)


def test_a_penalised_intercept_is_that_of_a_column_of_ones():
    X, y = wave()
    y, n, penalty, gamma = y + 5.0, 200, 0.03, 0.7
    # An additional feature of ones adds 1 to the kernel.
    kernel = np.exp(-gamma * (X - X.T) ** 2) + 1.0
    alpha = np.linalg.solve(kernel + n * penalty * np.eye(n), np.stack([y, -2.0 * y], axis=1))
    options = {"gamma": gamma, "penalty": penalty, "standardize": "no", "random_state": 0}
    # With all rows as landmarks, Nystrom features reproduce the kernel.
    options |= {"map": "nystrom", "n_components": 200}
    own = KernelRidgeRegressor(**options, penalize_intercept=True)
    own.fit(X, np.stack([y, -2.0 * y], axis=1))
    assert_allclose(own.predict(X), kernel @ alpha, atol=1e-3)
    assert_allclose(own._model.coefficients()[1], alpha.sum(axis=0), atol=1e-3)
    # Control: an unpenalised intercept differs, and so does the fit.
    free = KernelRidgeRegressor(**options).fit(X, y)
    assert abs(free._model.coefficients()[1][0] - alpha[:, 0].sum()) > 0.1
    assert abs(free.predict(X) - (kernel @ alpha)[:, 0]).max() > 0.02
    # Also with `partial_fit`, with several penalties, and for classification.
    drawn = {"map": "fourier", "n_components": 100, "penalize_intercept": True}
    whole = clone(own).set_params(**drawn).fit(X, y)
    parts = clone(own).set_params(**drawn)
    for rows in np.array_split(np.arange(n), 3):
        parts.partial_fit(X[rows], y[rows])
    assert_allclose(parts.predict(X), whole.predict(X), atol=1e-4)
    other = clone(whole).set_params(penalize_intercept=False).fit(X, y)
    assert abs(parts.predict(X) - other.predict(X)).max() > 0.02
    labels = np.where(X[:, 0] > 4.0, "far", "near")
    alpha = np.linalg.solve(kernel + n * penalty * np.eye(n), np.where(X[:, 0] > 4.0, -1.0, 1.0))
    for of in (penalty, [penalty, 100.0]):
        classes = KernelRidgeClassifier(**(options | {"penalty": of}), penalize_intercept=True)
        assert_allclose(classes.fit(X, labels).decision_function(X), kernel @ alpha, atol=1e-3)
        assert classes.penalty_ == pytest.approx(penalty)
    # Unsupported combinations raise errors.
    with pytest.raises(ValueError, match="needs an intercept"):
        clone(own).set_params(fit_intercept=False).fit(X, y)
    with pytest.raises(NotImplementedError, match="Cholesky solver"):
        clone(own).set_params(solver="dual").fit(X, y)


def test_the_dual_is_the_same_ridge():
    X, y = wave(150)
    options = {"n_components": 400, "penalty": 1e-3, "random_state": 0}
    primal = KernelRidgeRegressor(solver="cholesky", **options).fit(X, y)
    dual = KernelRidgeRegressor(solver="dual", **options).fit(X, y)
    assert_allclose(dual.predict(X), primal.predict(X), atol=1e-4)


def test_grid_search_in_processes():
    X, y = wave(300, noise=0.3)
    grid = {"penalty": [1e-12, 1e-3, 1e3], "gamma": [0.5]}
    search = GridSearchCV(KernelRidgeRegressor(n_components=60, random_state=0), grid, cv=3, n_jobs=2)
    assert search.fit(X, y).best_params_["penalty"] == 1e-3
    # Threads can share a fitted model.
    model, rows = search.best_estimator_, np.array_split(X, 8)
    own = Parallel(n_jobs=2, prefer="threads")(delayed(model.predict)(part) for part in rows)
    assert_allclose(np.concatenate(own), model.predict(X), atol=1e-9)


def test_a_gaussian_process_finds_what_columns_say():
    random = np.random.RandomState(0)
    X = random.uniform(-3, 3, size=(400, 3)) * [1.0, 10.0, 0.1]
    y = np.sin(X[:, 0]) + 0.05 * random.normal(size=400)
    options = dict(n_components=200, random_state=0)
    fixed = GaussianProcessRegressor(**options).fit(X, y)
    assert not hasattr(fixed, "lengthscales_")
    found = GaussianProcessRegressor(lengthscales="per-column", **options).fit(X, y)
    assert_allclose(found.feature_importances_.sum(), 1.0)
    assert found.feature_importances_[0] > 0.8
    # Relevance is standard deviation divided by lengthscale.
    relevance = X.std(axis=0) / found.lengthscales_
    assert_allclose(relevance / relevance.sum(), found.feature_importances_, rtol=1e-2)
    assert found.log_marginal_likelihood_ > fixed.log_marginal_likelihood_ + 10
    again = pickle.loads(pickle.dumps(found))
    assert (again.predict(X) == found.predict(X)).all()
    one = GaussianProcessRegressor(lengthscales="one", **options).fit(X, y)
    scales = one.lengthscales_ / X.std(axis=0)
    assert_allclose(scales, scales[0], rtol=1e-2)
    with pytest.raises(ValueError, match="lengthscales"):
        GaussianProcessRegressor(lengthscales="some", **options).fit(X, y)


def test_bounds_of_logistic_regression(digits):
    X, y, X_test, y_test = digits
    free = KernelLogisticRegression(n_components=100, gamma=0.03, random_state=0).fit(X, y)
    bound = 0.5 * np.sqrt(100) * abs(free._model.coefficients()[0]).max()
    held = clone(free).set_params(bound=bound, penalty=0.0).fit(X, y)
    largest = np.sqrt(100) * abs(held._model.coefficients()[0]).max()
    # The bound is reached but not exceeded.
    assert 0.99 * bound < largest <= bound * (1 + 1e-6)
    assert held.score(X_test, y_test) > 0.8
    with pytest.raises(ValueError, match="l1"):
        clone(held).set_params(l1=1e-3).fit(X, y)


@pytest.mark.parametrize("kind", [KernelLogisticRegression, KernelSVC, KernelSVR])
def test_fits_begin_where_the_one_before_ended(kind, digits):
    X, y, _, _ = digits
    options = dict(n_components=100, gamma=0.03, random_state=0, tol=1e-4)
    options.update(loss="huber", epsilon=1.0) if kind is KernelSVR else None
    warm = kind(warm_start=True, **options).fit(X, y)
    cold = warm.n_iter_
    warm.fit(X, y)
    assert warm.n_iter_ < cold / 2
    fresh = kind(**options).fit(X, y)
    assert fresh.fit(X, y).n_iter_ == cold
    scores = "predict" if kind is KernelSVR else "decision_function"
    ours, theirs = getattr(warm, scores)(X), getattr(fresh, scores)(X)
    assert abs(ours - theirs).max() < 0.1 * abs(theirs).max()
    # Other columns or classes start from zero.
    warm.fit(X[:, :20], y)
    if kind is not KernelSVR:
        kept = y < 5
        warm.fit(X[kept, :20], y[kept])
        assert list(warm.classes_) == [0, 1, 2, 3, 4]


def test_importances_are_shares_of_squared_gradients():
    X = np.random.RandomState(0).uniform(-1, 1, size=(1500, 2))
    X[:, 1] *= 10
    # Slopes 1 and 0.2 of columns whose scales are 1 to 10: squared gradients are 1 to 4 after
    # standardisation.
    y = X[:, 0] + 0.2 * X[:, 1]
    divided = {"standardize": "yes", "gamma": 0.1, "importances": True, "random_state": 0}
    raw = {**divided, "standardize": "no", "gamma": [0.3, 0.003]}
    for model in (
        KernelRidgeRegressor(n_components=200),
        KernelRidgeRegressor(n_components=200, map="nystrom"),
        KernelSVR(n_components=200, loss="huber", epsilon=0.5),
        GaussianProcessRegressor(n_components=200),
        FalkonRegressor(n_components=100),
        ExactKernelRidgeRegressor(penalty=1e-6),
    ):
        # The tolerance is for rounding, which is amplified by exact solutions.
        shares = model.set_params(**divided).fit(X, y).feature_importances_
        assert_allclose(shares, [0.2, 0.8], atol=0.006, err_msg=str(model))
        shares = clone(model).set_params(**raw).fit(X, y).feature_importances_
        assert_allclose(shares, [25 / 26, 1 / 26], atol=0.006, err_msg=str(model))
        again = pickle.loads(pickle.dumps(model))
        assert (again.feature_importances_ == model.feature_importances_).all()
        assert not hasattr(clone(model).set_params(importances=False).fit(X, y), "feature_importances_")
    # Random binning has no gradient.
    binned = KernelRidgeRegressor(map="binning", kernel="laplacian", n_components=50, importances=True)
    assert binned.fit(X, y).feature_importances_ is None


@pytest.mark.parametrize("kind", CLASSIFIERS)
def test_importances_of_classes(kind):
    X = np.random.RandomState(0).normal(size=(800, 4))
    labels = np.where(X[:, 2] + 0.1 * X[:, 0] > 0, "yes", "no")
    model = kind(n_components=200, gamma=0.1, importances=True, random_state=0).fit(X, labels)
    assert model.feature_importances_.sum() == pytest.approx(1.0)
    assert model.feature_importances_.argmax() == 2 and model.feature_importances_[2] > 0.8


def test_the_elastic_net_of_classes_is_one_for_each():
    random = np.random.RandomState(0)
    X = random.normal(size=(2500, 2))
    y = np.where(X[:, 0] * X[:, 1] > 0, "up", "down")
    options = {"n_components": 40, "gamma": 0.5, "standardize": "no", "random_state": 0}
    own = KernelElasticNetClassifier(l1=0.02, penalty=0.01, **options).fit(X, y)
    beta, intercept = own._model.coefficients()
    # Reference: an elastic net with targets of 1 and -1.
    one_against = KernelElasticNet(l1=0.02, penalty=0.01, **options)
    amounts = one_against.fit(X, np.where(y == "up", 1.0, -1.0))
    assert_allclose(own.decision_function(X), amounts.predict(X), atol=1e-4)
    assert 0 < (beta[:, 1] != 0).sum() < 40
    assert intercept.shape == (2,)
    assert list(own.classes_) == ["down", "up"] and own.score(X, y) > 0.9
    p = clone(own).set_params(probability=True).fit(X, y).predict_proba(X)
    assert_allclose(p.sum(axis=1), 1.0)
    assert ((p[:, 1] > 0.5) == (y == "up")).mean() > 0.9


def test_a_warm_start_has_importances_too():
    X = np.random.default_rng(0).normal(size=(120, 3))
    y = X[:, 1] > 0
    model = KernelLogisticRegression(
        n_components=60, warm_start=True, importances=True, random_state=0, device="cpu"
    )
    first = model.fit(X, y).feature_importances_
    again = model.fit(X, y).feature_importances_
    assert first.argmax() == again.argmax() == 1
    assert again.sum() == pytest.approx(1.0)
