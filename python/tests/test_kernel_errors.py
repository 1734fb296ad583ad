"""Tests that kernel errors are no larger than scikit-learn's, with equal features and 20 seeds."""

import numpy as np
import pytest
import sklearn.kernel_approximation as theirs
from sklearn.metrics.pairwise import polynomial_kernel, rbf_kernel

import bochner

SEEDS = 20


def rows(seed):
    return np.random.RandomState(1000 + seed).normal(size=(120, 5))


def histograms(seed):
    X = np.random.RandomState(2000 + seed).gamma(1.0, size=(120, 5)) + 0.05
    return X / X.sum(axis=1, keepdims=True)


def skewed_kernel(X, c):
    """Product over columns of 2 sqrt((x + c) (y + c)) / (x + y + 2 c)."""
    A = X[:, None, :] + c
    B = X[None, :, :] + c
    return (2 * np.sqrt(A * B) / (A + B)).prod(axis=2)


def chi2_kernel(X):
    """Sum over columns of 2 x y / (x + y)."""
    A, B = X[:, None, :], X[None, :, :]
    return (2 * A * B / (A + B)).sum(axis=2)


#: For each class: parameters for both packages, exact kernel, and samples.
DROP_INS = {
    "RBFSampler": ({"gamma": 0.2, "n_components": 200}, lambda X: rbf_kernel(X, gamma=0.2), rows),
    "Nystroem": ({"gamma": 0.2, "n_components": 30}, lambda X: rbf_kernel(X, gamma=0.2), rows),
    "PolynomialCountSketch": (
        {"degree": 2, "gamma": 0.2, "coef0": 1.0, "n_components": 200},
        lambda X: polynomial_kernel(X, degree=2, gamma=0.2, coef0=1.0),
        rows,
    ),
    "SkewedChi2Sampler": (
        {"skewedness": 0.1, "n_components": 200},
        lambda X: skewed_kernel(X, 0.1),
        histograms,
    ),
    "AdditiveChi2Sampler": (
        {"sample_steps": 2},
        chi2_kernel,
        histograms,
    ),
}


def error(transformer, X, K):
    Z = np.asarray(transformer.fit_transform(X))
    return np.sqrt(((Z @ Z.T - K) ** 2).mean())


def ratio(own, other):
    """Ratio of mean errors, and its standard error, from paired errors."""
    own, other = np.array(own), np.array(other)
    r = own.mean() / other.mean()
    spread = np.std(own - r * other, ddof=1) / np.sqrt(len(own)) / other.mean()
    return r, spread


def measured(name, off=1.0, **more):
    options, kernel, draw = DROP_INS[name]
    own, other = [], []
    for seed in range(SEEDS):
        X = draw(seed)
        K = off * kernel(X)
        seeded = {} if name == "AdditiveChi2Sampler" else {"random_state": seed}
        own.append(error(getattr(bochner, name)(**options, **seeded, **more), X, K))
        other.append(error(getattr(theirs, name)(**options, **seeded), X, kernel(X)))
    return ratio(own, other)


@pytest.mark.parametrize("name", DROP_INS)
def test_errors_are_no_larger_than_scikit_learn_s(name):
    r, spread = measured(name)
    # Allow two standard errors, or 1e-3 for rounding.
    assert r <= 1.0 + max(2 * spread, 1e-3), (r, spread)
    # Control: a kernel that is off by 10 % has a larger error.
    assert measured(name, off=1.1)[0] > 1.002


def test_the_paired_form_and_orthogonal_frequencies_are_better():
    for more in ({"form": "paired"}, {"form": "paired", "sampling": "orthogonal"}):
        r, spread = measured("RBFSampler", **more)
        assert r < 1.0 - 2 * spread and r < 0.95, (more, r, spread)


def test_forms_and_samplings_of_logarithms_are_better():
    for more in ({"form": "paired"}, {"form": "paired", "sampling": "sobol"}):
        r, spread = measured("SkewedChi2Sampler", **more)
        assert r < 1.0 - 2 * spread and r < 0.95, (more, r, spread)
    with pytest.raises(ValueError, match="form='phase'"):
        bochner.SkewedChi2Sampler(n_components=3, form="paired").fit(histograms(0))
    with pytest.raises(ValueError, match="sampling"):
        bochner.SkewedChi2Sampler(sampling="no-such").fit(histograms(0))
