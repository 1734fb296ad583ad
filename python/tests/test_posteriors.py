"""Tests of posterior covariances and functions against exact ones, and of interval coverage."""

import re
import sys
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.gaussian_process import GaussianProcessRegressor as Exact
from sklearn.gaussian_process.kernels import RBF, ConstantKernel

import bochner
from bochner import GaussianProcessRegressor, KernelRidgeRegressor, scan

NOISE, SIGNAL = 0.04, 1.5


@pytest.fixture(scope="module")
def rows():
    random = np.random.RandomState(0)
    X = random.uniform(-2, 2, size=(60, 1))
    return X, np.sin(2 * X[:, 0]) + 0.2 * random.normal(size=60), np.linspace(-2.4, 2.4, 9)[:, None]


@pytest.fixture(scope="module")
def model(rows):
    return GaussianProcessRegressor(
        gamma=0.5,
        n_components=1000,
        noise_variance=NOISE,
        signal_variance=SIGNAL,
        fit_intercept=False,
        standardize="no",
        random_state=0,
        device="cpu",
    ).fit(rows[0], rows[1])


def test_covariances_are_those_of_the_exact_process(rows, model):
    X, y, at = rows
    kernel = ConstantKernel(SIGNAL, "fixed") * RBF(1.0, "fixed")
    exact = Exact(kernel, alpha=NOISE, optimizer=None).fit(X, y)
    mean, covariance = model.predict(at, return_cov=True)
    assert_array_equal(mean, model.predict(at))
    expected_mean, expected = exact.predict(at, return_cov=True)
    expected[np.diag_indices(9)] += NOISE
    assert_allclose(mean, expected_mean, atol=0.1)
    assert_allclose(covariance, expected, atol=0.1)
    # Control: the prior covariance, without the data, differs.
    assert np.abs(SIGNAL * RBF(1.0)(at) - expected).max() > 0.5
    deviation = model.predict(at, return_std=True)[1]
    assert_allclose(np.sqrt(np.diag(covariance)), deviation, rtol=1e-6)
    with pytest.raises(ValueError, match="take one of them"):
        model.predict(at, return_std=True, return_cov=True)


def test_functions_vary_as_the_covariance_says(rows, model):
    at = rows[2]
    mean, covariance = model.predict(at, return_cov=True)
    covariance[np.diag_indices(9)] -= NOISE
    values = model.sample_y(at, 4000, random_state=3)
    assert values.shape == (9, 4000)
    scale = np.sqrt(np.diag(covariance))
    assert_allclose((values.mean(axis=1) - mean) / scale, np.zeros(9), atol=0.06)
    between = np.cov(values) / np.outer(scale, scale)
    # The standard error of a variance from 4,000 draws is 2 %.
    assert_allclose(between, covariance / np.outer(scale, scale), atol=0.08)
    # Equal seeds give the same functions for any X.
    (functions,) = model.posterior_functions(4000, random_state=3)
    assert_allclose(functions(at[2:4]), values[2:4], rtol=1e-4, atol=1e-4)
    assert (model.sample_y(at, 2, random_state=4) != values[:, :2]).all()
    assert model.sample_y(at).shape == (9, 1)
    for count in (0, 1.5):
        with pytest.raises(ValueError, match="whole number above 0"):
            model.sample_y(at, count)


@pytest.mark.parametrize("by_rows", [False, True])
def test_gradients_are_differences_of_values(by_rows):
    random = np.random.RandomState(1)
    X = random.uniform(0, 3, size=(80, 3)) * [1.0, 20.0, 0.5]
    y = np.sin(2 * X[:, 0]) + 0.05 * X[:, 1] + 0.1 * random.normal(size=80)
    model = GaussianProcessRegressor(
        n_components=200, gamma=0.3, standardize="yes", random_state=0, device="cpu"
    ).fit(X, np.column_stack([y, -2 * y]))
    given = (X, np.column_stack([y, -2 * y])) if by_rows else None
    functions = model.posterior_functions(7, random_state=2, given=given, prior_features=100)
    at = X[:11]
    for drawn in functions:
        slopes = drawn.gradient(at)
        assert slopes.shape == (11, 7, 3)
        scaled = slopes * [1.0, 20.0, 0.5]
        largest = abs(scaled).max()
        expected = np.stack(
            [
                (drawn(at + step) - drawn(at - step)) / (2e-2)
                for step in 1e-2 * np.diag([1.0, 20.0, 0.5])
            ],
            axis=2,
        )
        assert_allclose(scaled / largest, expected / largest, atol=5e-3)
    with pytest.raises(ValueError, match="expecting 3 features"):
        functions[0].gradient(X[:, :2])


def slope_of_mean(X, y, at):
    """Gradient of the exact posterior mean, ``sum_i k'(x, x_i) a_i``, ``a = (K + r I)^-1 y``."""
    kernel = RBF(1.0)
    weights = np.linalg.solve(kernel(X) + NOISE / SIGNAL * np.eye(len(X)), y)
    return (-(at - X.T) * kernel(at, X)) @ weights


def slope_deviation(X, at):
    """Standard deviation of the slope.

    Its variance is ``k''(0) - k'(x, X) (K + r I)^-1 k'(X, x)`` times the signal variance.
    """
    kernel = RBF(1.0)
    slopes = -(at - X.T) * kernel(at, X)
    explained = np.linalg.solve(kernel(X) + NOISE / SIGNAL * np.eye(len(X)), slopes.T)
    return np.sqrt(SIGNAL * (1.0 - np.einsum("ij,ji->i", slopes, explained)))


def test_functions_by_matherons_rule_are_those_of_the_exact_process(rows, model):
    X, y, _ = rows
    at = np.array([[-1.7], [-0.4], [0.3], [1.1], [2.3], [9.0]])
    exact = Exact(ConstantKernel(SIGNAL, "fixed") * RBF(1.0, "fixed"), alpha=NOISE, optimizer=None)
    mean, deviation = exact.fit(X, y).predict(at, return_std=True)
    values, slopes = [], []
    # Each seed draws another prior with few features; average over seeds.
    for seed in range(20):
        (drawn,) = model.posterior_functions(
            200, random_state=seed, given=(X, y), prior_features=400
        )
        values.append(drawn(at))
        slopes.append(drawn.gradient(at)[:, :, 0])
    values, slopes = np.hstack(values), np.hstack(slopes)
    # With 4,000 draws the standard errors of a mean and of a standard deviation are 1.6 % and 1.1 %
    # of the standard deviation.
    assert_allclose((values.mean(axis=1) - mean) / deviation, np.zeros(6), atol=0.07)
    assert_allclose(values.std(axis=1) / deviation, np.ones(6), atol=0.06)
    of_slopes = slope_deviation(X, at)
    assert_allclose((slopes.mean(axis=1) - slope_of_mean(X, y, at)) / of_slopes, np.zeros(6), atol=0.07)
    assert_allclose(slopes.std(axis=1) / of_slopes, np.ones(6), atol=0.06)
    # Far from the data, functions follow the prior.
    assert abs(values[-1].std() / np.sqrt(SIGNAL) - 1.0) < 0.05


def test_what_functions_are_drawn_given(rows, model):
    X, y, at = rows
    (drawn,) = model.posterior_functions(3, random_state=1, given=(X, y))
    (again,) = model.posterior_functions(3, random_state=1, given=(X, y))
    assert_array_equal(drawn(at), again(at))
    with pytest.raises(ValueError, match="tuple"):
        model.posterior_functions(3, given=X)
    with pytest.raises(ValueError, match="2 targets"):
        model.posterior_functions(3, given=(X, np.column_stack([y, y])))
    with pytest.raises(ValueError, match="prior_features"):
        model.posterior_functions(3, given=(X, y), prior_features=0)
    structured = GaussianProcessRegressor(map="fastfood", n_components=64, device="cpu").fit(X, y)
    with pytest.raises(NotImplementedError, match="Fourier features"):
        structured.posterior_functions(3, given=(X, y))
    with pytest.raises(MemoryError, match="kernel matrix"):
        tight = GaussianProcessRegressor(n_components=64, device="cpu", memory=20_000).fit(X, y)
        tight.posterior_functions(3, given=(X, y))


@pytest.mark.skipif(sys.platform != "linux", reason="memory is read off /proc")
def test_gradients_of_many_functions_hold_little_beside_them(rows, model):
    def peak():
        return int(re.search(r"VmHWM:\s+(\d+)", Path("/proc/self/status").read_text())[1]) << 10

    (drawn,) = model.posterior_functions(10_000, random_state=0)
    at = np.linspace(-2, 2, 700)[:, None]
    before = peak()
    slopes = drawn.gradient(at)
    assert slopes.shape == (700, 10_000, 1)
    # Beyond the result, memory holds a block of rows and, per thread, gradients of features for one
    # function.
    assert peak() - before < 3 * slopes.nbytes
    (few,) = model.posterior_functions(3, random_state=0)
    assert few.gradient(at).shape == (700, 3, 1)


def test_several_targets(rows):
    X, y, at = rows
    both = GaussianProcessRegressor(n_components=200, gamma=0.5, random_state=0)
    both.fit(X, np.column_stack([y, 3 * y]))
    mean, covariance = both.predict(at, return_cov=True)
    assert mean.shape == (9, 2) and covariance.shape == (9, 9, 2)
    assert_allclose(covariance[..., 1], 9 * covariance[..., 0], rtol=1e-3)
    values = both.sample_y(at, 5)
    assert values.shape == (9, 2, 5)
    assert (values[:, 0] != values[:, 1]).any()


def test_calibrated_intervals_hold_what_they_promise(tmp_path):
    random = np.random.RandomState(0)
    X = random.uniform(-2, 2, size=(9000, 1))
    y = np.sin(2 * X[:, 0]) + 0.3 * random.standard_t(3, size=9000)
    model = KernelRidgeRegressor(n_components=100, solver="cg", random_state=0, device="cpu")
    model.fit(X[:500], y[:500])
    with pytest.raises(NotImplementedError, match="calibrate"):
        model.predict_interval(X[:2])
    assert model.calibrate_on(X[500:4000], y[500:4000]) is model
    for level in (0.5, 0.9):
        mean, lower, upper = model.predict_interval(X[4000:], level)
        held = ((lower <= y[4000:]) & (y[4000:] <= upper)).mean()
        # The tolerance follows from 3,500 calibration samples and 5,000 test samples.
        assert abs(held - level) < 0.03, held
        assert_allclose(mean, model.predict(X[4000:]), rtol=1e-6)
        assert_allclose(upper - mean, mean - lower, rtol=1e-6)
    model.save(tmp_path / "model")
    again = KernelRidgeRegressor.load(tmp_path / "model").predict_interval(X[:9])
    assert_allclose(again, model.predict_interval(X[:9]))
    for level in (0.0, 1.0, 2.0):
        with pytest.raises(ValueError, match="between 0 and 1"):
            model.predict_interval(X[:2], level)
    np.save(tmp_path / "rows.npy", X)
    with pytest.raises(TypeError, match="not a scan"):
        model.calibrate_on(scan(tmp_path / "rows.npy"), y)


REGRESSORS = [
    KernelRidgeRegressor(n_components=60),
    KernelRidgeRegressor(n_components=60, solver="dual"),
    bochner.KernelSVR(n_components=60),
    bochner.KernelElasticNet(n_components=60),
    bochner.GreedyRegressor(n_components=60),
    bochner.BoostingRegressor(n_components=60, stages=200),
    bochner.ExactKernelRidgeRegressor(),
    bochner.FalkonRegressor(n_components=40),
    bochner.AutoRegressor(n_components=60, budget=2),
    GaussianProcessRegressor(n_components=60),
]


@pytest.mark.parametrize("estimator", REGRESSORS, ids=lambda one: type(one).__name__)
def test_the_fit_keeps_rows_back_for_intervals(estimator):
    random = np.random.RandomState(0)
    X = random.uniform(-2, 2, size=(6600, 1))
    y = np.sin(2 * X[:, 0]) + 0.3 * random.standard_t(3, size=6600)
    X, y, new, of_new = X[:1600], y[:1600], X[1600:], y[1600:]
    model = clone(estimator).set_params(calibrate=0.4, random_state=0, device="cpu").fit(X, y)
    mean, lower, upper = model.predict(new, interval=0.8)
    assert_allclose(mean, model.predict(new), rtol=1e-6)
    held = ((lower <= of_new) & (of_new <= upper)).mean()
    # With about 640 calibration samples the standard error of the coverage is 1.6 %; allow three
    # times that or more.
    assert abs(held - 0.8) < 0.06, held
    for own, expected in zip(model.predict_interval(new, 0.8), (mean, lower, upper)):
        assert_array_equal(own, expected)
    # The other rows were fitted.
    if hasattr(model, "_model"):
        assert 850 < model._model.rows < 1070, model._model.rows
    assert clone(model).calibrate == 0.4
    for share in (0.0, 1.0, True):
        with pytest.raises(ValueError, match="calibrate"):
            clone(estimator).set_params(calibrate=share).fit(X[:50], y[:50])


def test_where_rows_cannot_be_kept_back(tmp_path):
    X, y = np.linspace(0, 3, 60)[:, None], np.sin(np.linspace(0, 3, 60))
    with pytest.raises(ValueError, match="calibrate=0.2 needs all rows"):
        KernelRidgeRegressor(n_components=20, calibrate=0.2).partial_fit(X, y)
    with pytest.raises(ValueError, match="warm_start"):
        bochner.KernelSVR(n_components=20, calibrate=0.2, warm_start=True).fit(X, y)
    np.savez(tmp_path / "rows.npz", X=X, y=y)
    rows = scan(tmp_path / "rows.npz")
    model = KernelRidgeRegressor(n_components=20, calibrate=0.5, random_state=0, device="cpu")
    chunks = list(model.fit(rows).predict(rows, interval=0.5))
    assert_allclose(np.hstack(chunks), model.predict(X, interval=0.5), rtol=1e-6)


def test_ridge_has_intervals_by_rows_left_out():
    random = np.random.RandomState(1)
    X = random.uniform(-2, 2, size=(3000, 1))
    y = np.sin(2 * X[:, 0]) + 0.3 * random.standard_t(3, size=3000)
    for penalty in (None, 1e-3):
        model = KernelRidgeRegressor(n_components=100, penalty=penalty, random_state=0, device="cpu")
        model.fit(X[:1000], y[:1000])
        _, lower, upper = model.predict_interval(X[1000:], 0.9)
        held = ((lower <= y[1000:]) & (y[1000:] <= upper)).mean()
        # With 1,000 leave-one-out errors and 2,000 test samples, one standard error is 0.012.
        assert abs(held - 0.9) < 0.03, held


def test_intervals_of_a_process_are_its_own(rows, model):
    mean, lower, upper = model.predict_interval(rows[2], 0.6826894921)
    expected, deviation = model.predict(rows[2], return_std=True)
    assert_allclose((mean, upper - mean, mean - lower), (expected, deviation, deviation), rtol=1e-6)
