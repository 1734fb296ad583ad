"""Tests of heads against scikit-learn: alpha 0, alpha per target, stored leave-one-out results."""

import numpy as np
import pytest
import sklearn.linear_model as theirs
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

import bochner

CPU = {"device": "cpu"}
ALPHAS = np.logspace(-2, 3, 6)
N, D = 120, 8
KINDS = [np.asarray, np.float32, sparse.csr_array, lambda X: sparse.csr_array(np.float32(X))]


@pytest.fixture(scope="module")
def rows():
    random = np.random.RandomState(0)
    X = random.normal(size=(N, D)) * random.uniform(0.5, 2, size=D)
    X *= random.uniform(size=(N, D)) > 0.4
    # Targets with different noise, so that their best alphas differ.
    noise = random.normal(size=(N, 3)) * [0.1, 30.0, 3.0]
    Y = X @ random.normal(size=(D, 3)) + noise
    return X, Y, random.uniform(0.5, 3.0, size=N)


def close(own, expected, within=1e-6):
    expected = np.asarray(expected)
    assert np.shape(own) == expected.shape
    assert_allclose(own, expected, atol=within * abs(expected).max(), rtol=0)


def near(own, expected, within=1e-6):
    close(own.coef_, expected.coef_, within)
    largest = abs(np.atleast_1d(expected.coef_)).max()
    assert_allclose(own.intercept_, expected.intercept_, atol=within * largest, rtol=0)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("weighted", [True, False])
def test_no_penalty_is_least_squares(rows, kind, fit_intercept, weighted):
    X, Y, weights = rows
    weights = weights if weighted else None
    own = kind(X)
    exact = own.toarray().astype(float) if sparse.issparse(own) else own.astype(float)
    for y in (Y, Y[:, 0]):
        expected = theirs.LinearRegression(fit_intercept=fit_intercept).fit(exact, y, weights)
        near(bochner.Ridge(0.0, fit_intercept=fit_intercept, **CPU).fit(own, y, weights), expected)
        with pytest.raises(AssertionError):
            near(bochner.Ridge(0.1, fit_intercept=fit_intercept, **CPU).fit(own, y, weights), expected)


@pytest.mark.parametrize("kind", [np.asarray, np.float32])
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_of_several_solutions_it_is_the_smallest(rows, kind, fit_intercept):
    X, Y, _ = rows
    for count in (N, 6):
        x = kind(X[:count])
        x = np.hstack([x, 2 * x, np.zeros_like(x[:, :1])])
        mean = x.mean(axis=0, dtype=float) if fit_intercept else 0.0
        y_mean = Y[:count].mean(axis=0) if fit_intercept else 0.0
        expected = np.linalg.pinv(x.astype(float) - mean, rcond=1e-6) @ (Y[:count] - y_mean)
        own = bochner.Ridge(0.0, fit_intercept=fit_intercept, **CPU).fit(x, Y[:count])
        close(own.coef_, expected.T)


def test_parts_and_labels_without_a_penalty(rows):
    X, Y, _ = rows
    parts = bochner.Ridge(0.0, **CPU).partial_fit(X[:50], Y[:50]).partial_fit(X[50:], Y[50:])
    near(parts, theirs.LinearRegression().fit(X, Y))
    labels = (Y[:, 0] > 0).astype(int)
    own = bochner.RidgeClassifier(0.0, **CPU).fit(X, labels)
    near(own, theirs.RidgeClassifier(0.0).fit(X, labels))
    own = bochner.RidgeCV([0.0, 1e4], cv=3, **CPU).fit(X, Y[:, 0])
    assert own.alpha_ == theirs.RidgeCV([0.0, 1e4], cv=3).fit(X, Y[:, 0]).alpha_ == 0.0
    with pytest.raises(ValueError, match="must be > 0.0"):
        bochner.RidgeCV([0.0, 1.0], **CPU).fit(X, Y)
    # Random features need a positive penalty.
    with pytest.raises(ValueError, match="penalty"):
        bochner.KernelRidgeRegressor(penalty=0.0).fit(X, Y)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_every_target_has_its_own_alpha(rows, kind, fit_intercept):
    X, Y, weights = rows
    own, alphas = kind(X), np.array([0.0, 3.0, 300.0])
    exact = own.toarray().astype(float) if sparse.issparse(own) else own.astype(float)
    shared = {"fit_intercept": fit_intercept}
    expected = theirs.Ridge(alphas, **shared).fit(exact, Y, weights)
    model = bochner.Ridge(alphas, **shared, **CPU).fit(own, Y, weights)
    near(model, expected)
    close(model.predict(own), expected.predict(exact), within=2e-6)
    with pytest.raises(AssertionError):
        near(bochner.Ridge(alphas[::-1], **shared, **CPU).fit(own, Y, weights), expected)
    parts = bochner.Ridge(alphas, **shared, **CPU)
    parts.partial_fit(own[:40], Y[:40], weights[:40]).partial_fit(own[40:], Y[40:], weights[40:])
    near(parts, expected)
    with pytest.raises(ValueError, match="do not correspond: 2 != 3"):
        bochner.Ridge(alphas[:2], **shared, **CPU).fit(own, Y)
    with pytest.raises(ValueError, match="not negative"):
        bochner.Ridge(-alphas, **shared, **CPU).fit(own, Y)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("scoring", [None, "neg_mean_absolute_error"])
def test_the_best_alpha_of_every_target(rows, kind, fit_intercept, scoring):
    X, Y, weights = rows
    own = kind(X)
    exact = own.toarray().astype(float) if sparse.issparse(own) else own.astype(float)
    shared = {"alphas": ALPHAS, "fit_intercept": fit_intercept, "scoring": scoring}
    shared.update(alpha_per_target=True, store_cv_results=True)
    expected = theirs.RidgeCV(**shared).fit(exact, Y, weights)
    model = bochner.RidgeCV(**shared, **CPU).fit(own, Y, weights)
    assert_array_equal(model.alpha_, expected.alpha_)
    assert len(set(model.alpha_)) > 1, "targets differ"
    assert_allclose(model.best_score_, expected.best_score_, rtol=1e-6)
    near(model, expected)
    one = bochner.RidgeCV(**shared, **CPU).fit(own, Y[:, 1], weights)
    assert one.alpha_ == expected.alpha_[1] and np.ndim(one.alpha_) == 0


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("weighted", [True, False])
@pytest.mark.parametrize("scoring", [None, "neg_mean_squared_error"])
def test_results_on_rows_left_out(rows, kind, fit_intercept, weighted, scoring):
    X, Y, weights = rows
    weights = weights if weighted else None
    own = kind(X)
    exact = own.toarray().astype(float) if sparse.issparse(own) else own.astype(float)
    shared = {"alphas": ALPHAS, "fit_intercept": fit_intercept, "store_cv_results": True}
    labels = (Y[:, 0] > 0).astype(int) + (Y[:, 0] > 1)
    for name, y, score in (
        ("RidgeCV", Y[:, 0], scoring),
        ("RidgeCV", Y[:, :1], scoring),
        ("RidgeCV", Y, scoring),
        ("RidgeClassifierCV", labels, scoring and "accuracy"),
        ("RidgeClassifierCV", labels > 0, None),
    ):
        expected = getattr(theirs, name)(**shared, scoring=score).fit(exact, y, weights)
        model = getattr(bochner, name)(**shared, scoring=score, **CPU).fit(own, y, weights)
        close(model.cv_results_, expected.cv_results_)
        assert model.cv_results_.dtype == own.dtype
        assert model.alpha_ == expected.alpha_
        assert_allclose(model.best_score_, expected.best_score_, rtol=1e-6)
    assert not hasattr(bochner.RidgeCV(ALPHAS, **CPU).fit(own, Y), "cv_results_")


def test_what_needs_rows_in_memory_says_so(rows, tmp_path):
    X, Y, _ = rows
    np.savez(tmp_path / "rows.npz", X=X, y=Y)
    scan = bochner.scan(tmp_path / "rows.npz")
    for name in ("store_cv_results", "alpha_per_target"):
        with pytest.raises(ValueError, match=f"{name}=True takes arrays"):
            bochner.RidgeCV(**{name: True}, **CPU).fit(scan)
        with pytest.raises(ValueError, match=f"cv!=None and {name}"):
            bochner.RidgeCV(**{name: True}, cv=3, **CPU).fit(X, Y)
    near(bochner.Ridge(np.array([1.0, 2.0, 3.0]), **CPU).fit(scan), theirs.Ridge([1, 2, 3]).fit(X, Y))


@pytest.mark.parametrize("kind", [bochner.Ridge, bochner.RidgeCV])
def test_rows_kept_back_for_intervals(rows, kind):
    random = np.random.RandomState(1)
    X = random.normal(size=(6000, 3))
    y = X @ [1.0, -2.0, 0.5] + random.standard_t(4, size=6000)
    own = kind(calibrate=0.3, **CPU).fit(X[:3000], y[:3000])
    kept = np.random.RandomState(0).random_sample(3000) < 0.3
    alone = kind(**CPU).fit(X[:3000][~kept], y[:3000][~kept])
    assert_array_equal(own.coef_, alone.coef_)
    _, lower, upper = own.predict(X[3000:], interval=0.8)
    assert abs(((lower <= y[3000:]) & (y[3000:] <= upper)).mean() - 0.8) < 0.04
    with pytest.raises(ValueError, match="more rows"):
        kind(calibrate=0.001, **CPU).fit(X[:10], y[:10])
