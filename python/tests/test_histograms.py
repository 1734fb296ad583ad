"""Tests of PolynomialCountSketch and the chi-squared samplers against scikit-learn."""

import pickle

import numpy as np
import pytest
import sklearn.kernel_approximation as theirs
from numpy.testing import assert_allclose
from scipy import sparse
from sklearn.metrics.pairwise import additive_chi2_kernel, polynomial_kernel

from bochner import AdditiveChi2Sampler, PolynomialCountSketch, SkewedChi2Sampler


@pytest.fixture
def X():
    return np.random.RandomState(3).exponential(size=(150, 6))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("degree, coef0, components", [(1, 0.0, 8), (2, 1.0, 51), (3, 0.5, 64)])
def test_sketches_have_the_products_of_scikit_learn_s(X, dtype, degree, coef0, components):
    X = X.astype(dtype)
    options = {"degree": degree, "coef0": coef0, "gamma": 0.3, "n_components": components}
    own = PolynomialCountSketch(**options, random_state=4).fit(X)
    other = theirs.PolynomialCountSketch(**options, random_state=4).fit(X)
    assert (own.indexHash_ == other.indexHash_).all() and (own.bitHash_ == other.bitHash_).all()
    assert own.indexHash_.dtype == other.indexHash_.dtype
    Z, expected = own.transform(X), other.transform(X)
    assert (Z.dtype, Z.shape) == (dtype, expected.shape)
    size = np.linalg.norm(expected, axis=1)
    assert (abs(Z @ Z.T - expected @ expected.T) <= 1e-5 * np.outer(size, size)).all()
    # Features equal the Fourier transform of scikit-learn's, one by one.
    turned = np.fft.rfft(expected, axis=1, norm="ortho")
    root = np.full(turned.shape[1], 2.0**0.5)
    root[0] = 1
    if components % 2 == 0:
        root[-1] = 1
    imaginary = turned.imag[:, 1 : (components + 1) // 2]
    by_hand = np.hstack([turned.real * root, -imaginary * 2.0**0.5])
    assert_allclose(Z, by_hand, atol=1e-5 * abs(by_hand).max())
    assert (pickle.loads(pickle.dumps(own)).transform(X) == Z).all()
    assert_allclose(own.transform(sparse.csr_array(X)), Z, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_skewed_features_are_scikit_learn_s(X, dtype):
    X = (X - 0.02).astype(dtype)
    own = SkewedChi2Sampler(skewedness=0.1, n_components=64, random_state=5).fit(X)
    other = theirs.SkewedChi2Sampler(skewedness=0.1, n_components=64, random_state=5).fit(X)
    # Weights are rounded to 11 significant bits.
    assert_allclose(own.random_weights_, other.random_weights_, rtol=2.0**-11)
    assert_allclose(own.random_offset_, other.random_offset_, rtol=1e-6)
    assert own.random_weights_.dtype == other.random_weights_.dtype
    Z, expected = own.transform(X), other.transform(X)
    assert (Z.dtype, Z.shape) == (expected.dtype, expected.shape)
    assert_allclose(Z, expected, atol=4e-3)
    turned = np.log(X.astype(float) + 0.1) @ own.random_weights_ + own.random_offset_
    assert_allclose(Z, np.sqrt(2 / 64) * np.cos(turned), atol=2e-6)
    paired = SkewedChi2Sampler(skewedness=0.1, n_components=64, form="paired", random_state=5).fit(X)
    turned = np.log(X.astype(float) + 0.1) @ paired.random_weights_
    expected = np.sqrt(2 / 64) * np.hstack([np.cos(turned), np.sin(turned)])
    assert paired.transform(X).shape == (150, 64) and (paired.random_offset_ == 0).all()
    assert_allclose(paired.transform(X), expected, atol=2e-6)
    other = SkewedChi2Sampler(skewedness=0.1, n_components=64, sampling="sobol", random_state=5)
    assert other.fit_transform(X).shape == (150, 64) and not hasattr(other, "random_weights_")
    X[7, 2] = -0.1
    with pytest.raises(ValueError, match="Row 7, column 2"):
        own.transform(X)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("steps, interval", [(1, None), (2, None), (3, None), (2, 0.7), (5, 0.4)])
def test_additive_features_are_scikit_learn_s(X, dtype, steps, interval):
    X = np.where(X < 0.3, 0.0, X).astype(dtype)
    options = {"sample_steps": steps, "sample_interval": interval}
    own = AdditiveChi2Sampler(**options).fit(X)
    other = theirs.AdditiveChi2Sampler(**options).fit(X)
    Z, expected = own.transform(X), other.transform(X)
    assert (Z.dtype, Z.shape) == (expected.dtype, expected.shape)
    assert_allclose(Z, expected, atol=1e-6)
    assert (own.get_feature_names_out() == other.get_feature_names_out()).all()
    for kind in (sparse.csr_array, sparse.csr_matrix):
        thin, theirs_thin = own.transform(kind(X)), other.transform(kind(X))
        assert (thin.toarray() == Z).all()
        assert thin.nnz == theirs_thin.nnz and thin.dtype == dtype
        assert isinstance(thin, sparse.sparray) == isinstance(kind(X), sparse.sparray)
    # The map does not depend on data, so `fit` is not required.
    assert (AdditiveChi2Sampler(**options).transform(X) == Z).all()


def test_kernel_errors_are_no_larger_than_scikit_learn_s(X):
    def error(kind, K, **options):
        errors = []
        for seed in range(40):
            Z = kind(n_components=100, random_state=seed, **options).fit_transform(X)
            errors.append(np.sqrt(((Z @ Z.T - K) ** 2).mean()))
        return np.mean(errors)

    K = polynomial_kernel(X, degree=2, gamma=0.2, coef0=1)
    options = {"degree": 2, "gamma": 0.2, "coef0": 1}
    own = error(PolynomialCountSketch, K, **options)
    assert own <= 1.001 * error(theirs.PolynomialCountSketch, K, **options)
    A, B = X[:, None] + 0.5, X + 0.5
    K = (2 * np.sqrt(A * B) / (A + B)).prod(axis=2)
    own = error(SkewedChi2Sampler, K, skewedness=0.5)
    assert own <= 1.005 * error(theirs.SkewedChi2Sampler, K, skewedness=0.5)
    # scikit-learn's metric is -sum (x - y)^2 / (x + y) = 2 k - sum (x + y).
    sums = X.sum(axis=1)
    K = (additive_chi2_kernel(X) + sums[:, None] + sums) / 2
    for steps in (1, 2, 3):
        errors = [
            abs(Z @ Z.T - K).max()
            for Z in (
                kind(sample_steps=steps).fit_transform(X)
                for kind in (AdditiveChi2Sampler, theirs.AdditiveChi2Sampler)
            )
        ]
        assert errors[0] <= errors[1] * (1 + 1e-5)


def test_what_is_refused(X):
    for bad in ({"coef0": -1.0}, {"degree": 65}):
        with pytest.raises(ValueError, match="polynomial kernel"):
            PolynomialCountSketch(**bad).fit(X)
    with pytest.raises(ValueError, match="Negative values"):
        AdditiveChi2Sampler().fit(-X)
    with pytest.raises(ValueError, match="positive interval"):
        AdditiveChi2Sampler(sample_interval=0.0).fit(X).transform(X)
