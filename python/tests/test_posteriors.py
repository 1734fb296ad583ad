"""Covariances and functions are those of the exact posterior; intervals hold their share."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.gaussian_process import GaussianProcessRegressor as Exact
from sklearn.gaussian_process.kernels import RBF, ConstantKernel

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
    # The control: without what the rows say nothing agrees.
    assert np.abs(SIGNAL * RBF(1.0)(at) - expected).max() > 0.5
    deviation = model.predict(at, return_std=True)[1]
    assert_allclose(np.sqrt(np.diag(covariance)), deviation, rtol=1e-6)
    with pytest.raises(ValueError, match="take one"):
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
    # Of 4,000 draws a variance errs by 2 %.
    assert_allclose(between, covariance / np.outer(scale, scale), atol=0.08)
    # Equal seeds draw equal functions, at whatever rows.
    (functions,) = model.posterior_functions(4000, random_state=3)
    assert_allclose(functions(at[2:4]), values[2:4], rtol=1e-4, atol=1e-4)
    assert (model.sample_y(at, 2, random_state=4) != values[:, :2]).all()
    assert model.sample_y(at).shape == (9, 1)
    for count in (0, 1.5):
        with pytest.raises(ValueError, match="whole number above 0"):
            model.sample_y(at, count)


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
    model = KernelRidgeRegressor(n_components=100, random_state=0, device="cpu").fit(X[:500], y[:500])
    with pytest.raises(NotImplementedError, match="calibrate"):
        model.predict_interval(X[:2])
    assert model.calibrate(X[500:4000], y[500:4000]) is model
    for level in (0.5, 0.9):
        mean, lower, upper = model.predict_interval(X[4000:], level)
        held = ((lower <= y[4000:]) & (y[4000:] <= upper)).mean()
        # 3,500 rows calibrate and 5,000 are looked at.
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
        model.calibrate(scan(tmp_path / "rows.npy"), y)


def test_intervals_of_a_process_are_its_own(rows, model):
    mean, lower, upper = model.predict_interval(rows[2], 0.6826894921)
    expected, deviation = model.predict(rows[2], return_std=True)
    assert_allclose((mean, upper - mean, mean - lower), (expected, deviation, deviation), rtol=1e-6)
