"""Tests of RBFSampler and Nystroem against scikit-learn's classes."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import sklearn.kernel_approximation as theirs
import sklearn.tests.test_kernel_approximation as their_tests
from numpy.testing import assert_allclose
from scipy import sparse
from sklearn.metrics.pairwise import laplacian_kernel, rbf_kernel

from bochner import AdditiveChi2Sampler, Nystroem, PolynomialCountSketch, RBFSampler


@pytest.fixture
def X():
    return np.random.RandomState(3).normal(size=(200, 7))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("gamma", [0.3, "scale", 0.0])
def test_same_draws_as_scikit_learn(X, gamma, dtype):
    X = X.astype(dtype)
    own = RBFSampler(gamma=gamma, n_components=64, random_state=5).fit(X)
    other = theirs.RBFSampler(gamma=gamma, n_components=64, random_state=5).fit(X)
    # Weights are rounded to 11 significant bits.
    assert_allclose(own.random_weights_, other.random_weights_, rtol=2.0**-11)
    assert_allclose(own.random_offset_, other.random_offset_, rtol=1e-6)
    assert own._gamma == pytest.approx(other._gamma)
    Z, expected = own.transform(X), other.transform(X)
    assert (Z.dtype, Z.shape) == (expected.dtype, expected.shape)
    assert_allclose(Z, expected, atol=2e-3)


@pytest.mark.parametrize("form", ["phase", "paired"])
@pytest.mark.parametrize("far", [0.0, 1e6])
def test_features_are_the_formula_of_the_attributes(X, form, far):
    X = X + far
    sampler = RBFSampler(gamma=0.2, n_components=48, random_state=1, form=form).fit(X)
    turned = X @ sampler.random_weights_ + sampler.random_offset_
    if form == "paired":
        turned = np.hstack([turned, turned - np.pi / 2])
    expected = np.sqrt(2.0 / 48) * np.cos(turned)
    # Far from the origin the expected values lose digits, too.
    assert_allclose(sampler.transform(X), expected, atol=1e-6 if far == 0 else 1e-5)


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"form": "paired"},
        {"sampling": "orthogonal"},
        {"sampling": "sobol", "form": "paired"},
        {"map": "fastfood"},
    ],
)
def test_gaussian_kernel(X, options):
    K = rbf_kernel(X, gamma=0.1)
    errors = []
    for seed in range(8):
        sampler = RBFSampler(gamma=0.1, n_components=4096, random_state=seed, **options)
        Z = sampler.fit_transform(X)
        assert Z.shape == (200, 4096)
        errors.append(Z @ Z.T - K)
    # The standard deviation of an entry, averaged over 8 x 4096 features, is at most
    # 1 / sqrt(32768).
    assert abs(np.mean(errors, axis=0)).max() < 0.028
    # A gamma that is 3 % off would change the mean over all pairs by 0.01.
    assert abs(np.mean(errors)) < 0.006


def test_other_kernels(X):
    Z = RBFSampler(
        gamma=0.05, n_components=8192, random_state=0, kernel="laplacian", form="paired"
    ).fit_transform(X)
    assert abs(Z @ Z.T - laplacian_kernel(X, gamma=0.05)).mean() < 0.012
    assert abs((Z @ Z.T - laplacian_kernel(X, gamma=0.05)).mean()) < 0.004
    with pytest.raises(ValueError, match="unknown kernel"):
        RBFSampler(kernel="no-such").fit(X)
    with pytest.raises(ValueError, match="form='phase'"):
        RBFSampler(n_components=3, form="paired").fit(X)


def test_gamma_rules(X):
    d = X.shape[1]
    assert RBFSampler(gamma="auto").fit(X)._gamma == 1 / d
    median = RBFSampler(gamma="median", n_components=4000, random_state=0).fit(X)
    distances = np.sqrt(((X[:, None] - X) ** 2).sum(axis=2))[np.triu_indices(200, 1)]
    K = rbf_kernel(X, gamma=0.5 / np.median(distances) ** 2)
    Z = median.transform(X)
    assert abs((Z @ Z.T - K).mean()) < 0.005


def test_gamma_rules_of_the_others(X):
    d = X.shape[1]
    distances = np.sqrt(((X[:, None] - X) ** 2).sum(axis=2))[np.triu_indices(200, 1)]
    numbers = {
        "auto": 1 / d,
        "scale": 1 / (d * X.var()),
        "median": 0.5 / np.median(distances) ** 2,
    }
    for rule, gamma in numbers.items():
        own = Nystroem(gamma=rule, n_components=200, random_state=0).fit_transform(X)
        K = rbf_kernel(X, gamma=gamma)
        assert abs(own @ own.T - K).max() < 2e-3, rule
        # Control: a gamma that is 3 % off differs.
        assert abs(rbf_kernel(X, gamma=1.03 * gamma) - K).max() > 4e-3
        expected = theirs.Nystroem(gamma=gamma, n_components=50, random_state=0).fit(X)
        same = Nystroem(gamma=rule, n_components=50, random_state=0).fit(X)
        assert (same.component_indices_ == expected.component_indices_).all()
        assert_allclose(same.transform(X), expected.transform(X), atol=1e-3)
        thin = Nystroem(gamma=rule, n_components=50, random_state=0)
        assert_allclose(thin.fit_transform(sparse.csr_array(X)), same.transform(X), atol=1e-4)
        if rule == "median":
            with pytest.raises(ValueError, match="kernels of distances"):
                Nystroem("polynomial", gamma=rule).fit(X)
            continue
        for kind, more in ((Nystroem, {"kernel": "polynomial"}), (PolynomialCountSketch, {})):
            one = kind(gamma=rule, n_components=30, random_state=0, **more).fit_transform(X)
            other = kind(gamma=gamma, n_components=30, random_state=0, **more).fit_transform(X)
            assert_allclose(one, other, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("index", [np.int32, np.int64])
@pytest.mark.parametrize("rows", [1, 5, 3000])
def test_sparse_rows_are_the_dense_ones(dtype, index, rows):
    X = sparse.random(rows, 40, density=0.1, random_state=0, format="csr", dtype=dtype)
    X.indices, X.indptr = X.indices.astype(index), X.indptr.astype(index)
    for transformer in (
        RBFSampler(n_components=32, random_state=0),
        Nystroem(n_components=min(rows, 20), random_state=0),
    ):
        Z = transformer.fit_transform(X)
        assert Z.dtype == dtype
        assert_allclose(Z, transformer.transform(X.toarray()), atol=1e-6)


def test_any_layout_gives_the_same_features(X):
    sampler = RBFSampler(n_components=32, random_state=0).fit(X)
    Z = sampler.transform(X)
    wide = np.zeros((400, 14))
    wide[::2, ::2] = X
    frozen = X.copy()
    frozen.flags.writeable = False
    for same in (np.asfortranarray(X), wide[::2, ::2], X[::-1][::-1], frozen, X.astype(">f8")):
        assert (sampler.transform(same) == Z).all()
    assert_allclose(sampler.transform(X[3:4]), Z[3:4], atol=1e-7)


def test_long_streams_are_the_short_ones():
    X = np.random.RandomState(0).normal(size=(30_000, 5)).astype(np.float32)
    for transformer in (
        RBFSampler(n_components=64, random_state=0, memory=1 << 20),
        RBFSampler(n_components=64, random_state=0, map="fastfood"),
        Nystroem(n_components=32, random_state=0),
    ):
        Z = transformer.fit_transform(X)
        for rows in (slice(0, 10), slice(17_000, 17_010), slice(29_990, 30_000)):
            assert_allclose(transformer.transform(X[rows]), Z[rows], atol=1e-6)


@pytest.mark.parametrize("kernel", ["rbf", "laplacian"])
@pytest.mark.parametrize("m", [1, 50, 200])
def test_nystroem_is_scikit_learn_s(X, kernel, m):
    own = Nystroem(kernel, gamma=0.2, n_components=m, random_state=2).fit(X)
    other = theirs.Nystroem(kernel, gamma=0.2, n_components=m, random_state=2).fit(X)
    assert (own.component_indices_ == other.component_indices_).all()
    assert (own.components_ == other.components_).all()
    assert_allclose(own.normalization_, other.normalization_, atol=2e-4)
    assert_allclose(own.transform(X), other.transform(X), atol=2e-5)


def test_nystroem_of_a_kernel_that_scikit_learn_has_not(X):
    from sklearn.gaussian_process.kernels import Matern

    Z = Nystroem("matern52", gamma=0.125, n_components=200).fit_transform(X)
    # For Matern kernels, gamma is 1 / (2 l^2) with the lengthscale l.
    assert_allclose(Z @ Z.T, Matern(length_scale=2.0, nu=2.5)(X), atol=1e-5)


def test_kernel_errors_are_no_larger_than_scikit_learn_s(X):
    for gamma in (0.02, 0.2):
        K = rbf_kernel(X, gamma=gamma)

        def error(module_class, **options):
            errors = []
            for seed in range(10):
                Z = module_class(n_components=100, gamma=gamma, random_state=seed, **options)
                Z = Z.fit_transform(X)
                errors.append(np.sqrt(((Z @ Z.T - K) ** 2).mean()))
            return np.mean(errors)

        assert error(RBFSampler) <= 1.01 * error(theirs.RBFSampler)
        assert error(RBFSampler, form="paired") <= error(theirs.RBFSampler)
        assert error(Nystroem) <= 1.01 * error(theirs.Nystroem)


def test_scikit_learn_s_own_tests(tmp_path):
    source = Path(their_tests.__file__).read_text()
    names = (
        "AdditiveChi2Sampler",
        "Nystroem",
        "PolynomialCountSketch",
        "RBFSampler",
        "SkewedChi2Sampler",
    )
    for name in names:
        assert f"    {name},\n" in source
        source = source.replace(f"    {name},\n", "", 1)
    # Remove the import, which is empty now.
    source = source.replace("from sklearn.kernel_approximation import (\n)\n", "")
    source = f"from bochner import {', '.join(names)}\n" + source
    file = tmp_path / "test_replaced.py"
    file.write_text(source)
    run = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "sklearn.conftest", "-p", "no:cacheprovider"]
        + [str(file)],
        capture_output=True,
        text=True,
        cwd=tmp_path,
    )
    assert run.returncode == 0, run.stdout[-6000:] + run.stderr[-2000:]
    assert " passed" in run.stdout


def test_entries_of_one_place_add_up():
    starts = list(range(0, 61, 3))
    rows = sparse.csr_matrix((np.linspace(0.1, 1.0, 60), [0, 0, 1] * 20, starts), shape=(20, 2))
    dense = rows.toarray()
    for sampler in (AdditiveChi2Sampler(), RBFSampler(n_components=8, random_state=0)):
        features = sampler.fit_transform(rows)
        features = features.toarray() if sparse.issparse(features) else features
        assert_allclose(features, sampler.fit_transform(dense), atol=1e-6)
    assert rows.nnz == 60
