"""Tests of Ridge, RidgeCV and their classifiers against scikit-learn's classes.

Sums of float32 rows are in float32: if column means are near 0, coefficients agree to about 1e-6 of
the largest.
"""

import pickle
import warnings

import numpy as np
import pytest
import sklearn.linear_model as theirs
from numpy.testing import assert_allclose
from scipy import sparse
from sklearn.metrics import roc_auc_score
from sklearn.utils.estimator_checks import parametrize_with_checks

import bochner
from bochner._head_choice import evened
from bochner._left_out import LeftOut

CPU = {"device": "cpu"}
ALPHAS = np.logspace(-2, 3, 11)
N, D = 300, 20
CLASSES = np.array(["ant", "bee", "cat", "dog"])


@pytest.fixture(scope="module")
def rows():
    """Columns and targets with different scales and noise, and unbalanced labels."""
    random = np.random.RandomState(0)
    X = random.normal(size=(N, D)) * random.uniform(0.5, 2, size=D) + 1.0
    noise = random.normal(size=(N, 3)) * [1.0, 90.0, 0.1]
    Y = X @ random.normal(size=(D, 3)) * [1.0, 5.0, 0.2] + noise
    codes = (2 * X[:, 0] + random.normal(size=N)).astype(int).clip(0, 3)
    return X, Y, CLASSES[codes], random.uniform(0.0, 3.0, size=N)


def close(own, expected, within=2e-6):
    expected = np.asarray(expected)
    assert np.shape(own) == expected.shape
    assert_allclose(own, expected, atol=within * abs(expected).max(), rtol=0)


def alike(own, expected, X):
    """Compare coefficients, predictions and, with selection, alpha and score."""
    close(own.coef_, expected.coef_)
    way = "decision_function" if hasattr(expected, "classes_") else "predict"
    close(getattr(own, way)(X), getattr(expected, way)(X))
    if own.fit_intercept:
        # The intercept is a sum of coefficients times means, whose terms can cancel.
        assert np.shape(own.intercept_) == np.shape(expected.intercept_)
        within = 2e-6 * (abs(X).mean(axis=0) @ np.atleast_2d(abs(expected.coef_)).T).max()
        assert_allclose(own.intercept_, expected.intercept_, atol=within, rtol=0)
    else:
        assert own.intercept_ == expected.intercept_ == 0.0
    if hasattr(expected, "alpha_"):
        assert own.alpha_ == expected.alpha_
        assert_allclose(own.best_score_, expected.best_score_, rtol=1e-5)


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("kind", [np.asarray, np.float32, sparse.csr_array])
def test_they_are_those_of_scikit_learn(rows, kind, weighted, fit_intercept):
    X, Y, labels, weights = rows
    X = kind(X * (X > 1.0))
    exact = X.astype(np.float64)
    weights = weights if weighted else None
    shared = {"fit_intercept": fit_intercept}
    for name, y in (
        ("Ridge", Y[:, 0]),
        ("Ridge", Y),
        ("RidgeClassifier", labels),
        ("RidgeClassifier", labels == "ant"),
    ):
        solver = {"solver": "sparse_cg", "tol": 1e-12} if sparse.issparse(X) else {}
        expected = getattr(theirs, name)(3.0, **shared, **solver).fit(exact, y, weights)
        alike(getattr(bochner, name)(3.0, **shared, **CPU).fit(X, y, weights), expected, exact)
        expected = getattr(theirs, name + "CV")(ALPHAS, **shared).fit(exact, y, weights)
        alike(getattr(bochner, name + "CV")(ALPHAS, **shared, **CPU).fit(X, y, weights), expected, exact)


@pytest.mark.parametrize("fit_intercept", [True, False])
def test_rows_in_float64_have_coefficients_of_as_many_digits(rows, fit_intercept):
    X, Y, labels, weights = rows
    X = X + 10.0
    shared = {"fit_intercept": fit_intercept}
    for name, alpha, y in (
        ("Ridge", 3.0, Y),
        ("RidgeClassifier", 3.0, labels),
        ("RidgeCV", [0.3, 3.0], Y),
        ("RidgeClassifierCV", [0.3, 3.0], labels),
    ):
        expected = getattr(theirs, name)(alpha, **shared).fit(X, y, weights)
        own = getattr(bochner, name)(alpha, **shared, **CPU)
        close(own.fit(X, y, weights).coef_, expected.coef_, within=1e-9)
        # Control: float32 rows do not reach this tolerance.
        with pytest.raises(AssertionError):
            close(own.fit(np.float32(X), y, weights).coef_, expected.coef_, within=1e-9)
    parts = bochner.Ridge(3.0, **shared, **CPU).partial_fit(X[:100], Y[:100], sample_weight=weights[:100])
    parts.partial_fit(X[100:], Y[100:], sample_weight=weights[100:])
    close(parts.coef_, theirs.Ridge(3.0, **shared).fit(X, Y, weights).coef_, within=1e-9)


def test_rows_fewer_than_columns_and_columns_far_from_zero(rows):
    X, Y, labels, weights = rows
    few = slice(0, 15)
    for X in (X[few], X[few] + 1e4 * np.arange(1, D + 1)):
        for name, y in (("Ridge", Y[few]), ("RidgeClassifier", labels[few])):
            expected = getattr(theirs, name)(3.0).fit(X, y, weights[few])
            alike(getattr(bochner, name)(3.0, **CPU).fit(X, y, weights[few]), expected, X)
            expected = getattr(theirs, name + "CV")(ALPHAS[4:]).fit(X, y, weights[few])
            alike(getattr(bochner, name + "CV")(ALPHAS[4:], **CPU).fit(X, y, weights[few]), expected, X)


def test_targets_that_do_not_vary(rows):
    X, Y, _, weights = rows
    flat = np.full(N, 7.0)
    own = bochner.RidgeCV(ALPHAS, **CPU).fit(X, flat, weights)
    assert own.alpha_ == ALPHAS[0] and own.best_score_ == 0.0
    close(own.predict(X), flat)
    Y = np.column_stack([flat, Y])
    alike(bochner.RidgeCV(ALPHAS, **CPU).fit(X, Y), theirs.RidgeCV(ALPHAS).fit(X, Y), X)


def test_an_alpha_that_is_off_is_seen(rows):
    X, Y, _, _ = rows
    own = bochner.Ridge(3.0, **CPU).fit(X, Y)
    for alpha in (3.0 * 1.03, 3.0 / 1.03):
        with pytest.raises(AssertionError):
            alike(own, theirs.Ridge(alpha).fit(X, Y), X)


def test_the_choice_is_by_errors_that_are_not_relative(rows):
    X, Y, _, _ = rows
    alone = [theirs.RidgeCV(ALPHAS).fit(X, Y[:, k]).alpha_ for k in range(3)]
    together = bochner.RidgeCV(ALPHAS, **CPU).fit(X, Y).alpha_
    # The noisiest target dominates the mean squared error.
    assert together == alone[1] and together not in (alone[0], alone[2])
    for weights in (None, rows[3]):
        turned, variance = evened(Y, weights)
        assert_allclose(np.cov(turned.T, aweights=weights, ddof=0).diagonal(), variance, rtol=1e-9)
        assert_allclose((turned**2).sum(axis=1), (Y**2).sum(axis=1), rtol=1e-9)


def test_class_weights_and_folds(rows):
    X, _, labels, weights = rows
    for given in ({"ant": 2.0, "bee": 3.0, "cat": 1.0, "dog": 5.0}, "balanced"):
        expected = theirs.RidgeClassifierCV(ALPHAS, class_weight=given).fit(X, labels)
        alike(bochner.RidgeClassifierCV(ALPHAS, class_weight=given, **CPU).fit(X, labels), expected, X)
    folds = {"alphas": ALPHAS[::3], "cv": 3, "scoring": "balanced_accuracy"}
    expected = theirs.RidgeClassifierCV(**folds).fit(X, labels, weights)
    alike(bochner.RidgeClassifierCV(**folds, **CPU).fit(X, labels, weights), expected, X)
    sure = bochner.RidgeClassifierCV(ALPHAS, probability=True, **CPU).fit(X, labels)
    assert_allclose(sure.predict_proba(X).sum(axis=1), 1.0)


def alone(X, y, weights, alpha, fit_intercept):
    """Leave-one-out predictions by one fit per row."""
    predicted = np.empty_like(y)
    for i in range(len(y)):
        others = np.arange(len(y)) != i
        one = theirs.Ridge(alpha, fit_intercept=fit_intercept)
        one.fit(X[others], y[others], None if weights is None else weights[others])
        predicted[i] = one.predict(X[i : i + 1])
    return predicted


@pytest.mark.parametrize("fit_intercept", [True, False])
def test_rows_left_out_are_predicted_without_them(rows, fit_intercept):
    X, Y, _, weights = rows
    for count, w in ((60, None), (60, weights[:60]), (15, None)):
        X_n, y = X[:count], Y[:count, :2]
        expected = alone(X_n, y, w, 3.0, fit_intercept)
        assert_allclose(LeftOut(X_n, y, w, fit_intercept).predict(3.0), expected, rtol=1e-9)
        other = LeftOut(X_n, y, w, not fit_intercept).predict(3.0)
        for wrong in (other, alone(X_n, y, w, 3.09, fit_intercept)):
            with pytest.raises(AssertionError):
                assert_allclose(wrong, expected, rtol=1e-9)


@pytest.mark.parametrize("fit_intercept", [True, False])
def test_scores_of_rows_left_out_choose(rows, fit_intercept, tmp_path):
    X, Y, labels, weights = rows
    best = set()
    for name, y, scoring, w in (
        ("RidgeCV", Y[:, 0], "neg_mean_absolute_error", weights),
        ("RidgeCV", Y, "r2", None),
        ("RidgeClassifierCV", labels, "balanced_accuracy", None),
    ):
        given = {"alphas": ALPHAS, "scoring": scoring, "fit_intercept": fit_intercept}
        expected = getattr(theirs, name)(**given).fit(X, y, w)
        own = getattr(bochner, name)(**given, **CPU).fit(X, y, w)
        assert own.alpha_ == expected.alpha_
        assert_allclose(own.best_score_, expected.best_score_, rtol=1e-9)
        close(own.coef_, expected.coef_, within=1e-5)
        best.add(own.alpha_)
    assert len(best) > 1, "scores choose"
    # Two classes, and a scorer that uses decision values.
    two = labels == "ant"
    own = bochner.RidgeClassifierCV([0.1, 1e4], scoring="roc_auc", fit_intercept=fit_intercept, **CPU)
    own.fit(X, two)
    signs = np.where(two, 1.0, -1.0)[:, None]
    areas = [roc_auc_score(two, alone(X, signs, None, alpha, fit_intercept)) for alpha in (0.1, 1e4)]
    assert own.alpha_ == (0.1, 1e4)[int(np.argmax(areas))]
    assert_allclose(own.best_score_, max(areas), rtol=1e-9)
    np.savez(tmp_path / "rows.npz", X=X, y=Y)
    with pytest.raises(ValueError, match="scoring=.r2. takes arrays"):
        bochner.RidgeCV(scoring="r2", **CPU).fit(bochner.scan(tmp_path / "rows.npz"))


@pytest.mark.parametrize("fit_intercept", [True, False])
def test_signs_of_classes_are_no_values_that_stand_for_none(rows, fit_intercept):
    X, Y, labels, _ = rows
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        bochner.RidgeClassifierCV(ALPHAS, fit_intercept=fit_intercept, **CPU).fit(X, labels)
        bochner.RidgeCV(ALPHAS, fit_intercept=fit_intercept, **CPU).fit(X, Y)


@pytest.mark.parametrize("fit_intercept", [True, False])
def test_parts_are_the_whole(rows, fit_intercept):
    X, Y, labels, weights = rows
    shared = {"fit_intercept": fit_intercept, **CPU}
    first, second, third = slice(0, 90), slice(90, 200), slice(200, N)
    for name, y, more in (("Ridge", Y, {}), ("RidgeClassifier", labels, {"classes": CLASSES})):
        expected = getattr(theirs, name)(30.0, fit_intercept=fit_intercept).fit(X, y, weights)
        own = getattr(bochner, name)(1.0, **shared)
        own.partial_fit(X[first], y[first], sample_weight=weights[first], **more)
        other = pickle.loads(pickle.dumps(own.without_rows()))
        other.partial_fit(X[second], y[second], sample_weight=weights[second])
        own.merge(other).partial_fit(X[third], y[third], sample_weight=weights[third])
        # Sums do not depend on alpha.
        alike(own.set_params(alpha=30.0).partial_fit(X[:1], y[:1], sample_weight=[1e-12]), expected, X)
        own.forget(X[third], y[third], weights[third])
        before = getattr(theirs, name)(30.0, fit_intercept=fit_intercept)
        alike(own, before.fit(X[:200], y[:200], weights[:200]), X)


@pytest.mark.filterwarnings("ignore:X does not have valid feature names")
def test_rows_of_files_and_model_files(rows, tmp_path):
    X, Y, labels, _ = rows
    names = [f"x{i}" for i in range(D)]
    header = ",".join([*names, "a", "b", "c", "kind"])
    codes = np.searchsorted(CLASSES, labels)
    cells = [",".join(map(repr, row)) for row in np.column_stack([X, Y, codes]).tolist()]
    (tmp_path / "table.csv").write_text("\n".join([header, *cells]) + "\n")
    amounts = bochner.scan(tmp_path / "table.csv", target=["a", "b", "c"], columns=names)
    classes = bochner.scan(tmp_path / "table.csv", target="kind", columns=names)
    alike(bochner.RidgeCV(ALPHAS, **CPU).fit(amounts), theirs.RidgeCV(ALPHAS).fit(X, Y), X)
    own = bochner.RidgeClassifierCV(ALPHAS, **CPU).fit(classes)
    expected = theirs.RidgeClassifierCV(ALPHAS).fit(X, codes)
    alike(own, expected, X)
    assert list(own.feature_names_in_) == names
    assert (own.predict(X) == expected.predict(X)).all()
    own.save(tmp_path / "own.model")
    again = bochner.RidgeClassifierCV.load(tmp_path / "own.model", **CPU)
    close(again.coef_, expected.coef_)
    np.savez(tmp_path / "amounts.npz", X=X, y=Y)
    numbers = bochner.scan(tmp_path / "amounts.npz")
    plain = bochner.Ridge(2.0, fit_intercept=False, **CPU).partial_fit(numbers)
    alike(plain, theirs.Ridge(2.0, fit_intercept=False).fit(X, Y), X)
    bochner.KernelRidgeClassifier(n_components=8, **CPU).fit(X, labels).save(tmp_path / "map.model")
    with pytest.raises(ValueError, match="KernelRidge"):
        bochner.RidgeClassifier.load(tmp_path / "map.model")


@parametrize_with_checks(
    [
        bochner.Ridge(**CPU),
        bochner.RidgeClassifier(**CPU),
        bochner.RidgeCV(**CPU),
        bochner.RidgeClassifierCV(**CPU),
    ]
)
def test_checks_of_scikit_learn(estimator, check):
    check(estimator)
