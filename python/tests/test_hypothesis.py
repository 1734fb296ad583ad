"""Tests of the hypothesis tests, against statistics of exact kernel matrices."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.metrics.pairwise import rbf_kernel

from bochner import hsic_test, mmd_test, rcot_test

GAMMA = 0.4
#: Options for Nystrom features with all rows as landmarks, which reproduce the kernel.
EXACT = {"map": "nystrom", "gamma": GAMMA, "random_state": 0}


def sample(n, d=2, seed=0, scale=1.0):
    return scale * np.random.RandomState(seed).normal(size=(n, d))


def test_mmd_is_that_of_the_kernel():
    X, Y = sample(90), sample(60, seed=1, scale=2.5)
    n, m = len(X), len(Y)
    found = mmd_test(X, Y, n_components=n + m, permutations=200, **EXACT)
    K, L, M = rbf_kernel(X, gamma=GAMMA), rbf_kernel(Y, gamma=GAMMA), rbf_kernel(X, Y, gamma=GAMMA)
    biased = K.mean() + L.mean() - 2 * M.mean()
    unbiased = (K.sum() - n) / (n * (n - 1)) + (L.sum() - m) / (m * (m - 1)) - 2 * M.mean()
    assert found.statistic == pytest.approx(n * m / (n + m) * biased, rel=5e-3)
    assert found.estimate == pytest.approx(unbiased, abs=1e-4)
    assert found.pvalue <= 0.05


def test_hsic_is_that_of_the_kernels():
    X = sample(120, d=1)
    Y = np.hstack([X**2, sample(120, d=1, seed=1)])
    n = len(X)
    found = hsic_test(X, Y, n_components=n, **EXACT)
    H = np.eye(n) - 1 / n
    hsic = np.trace(rbf_kernel(X, gamma=GAMMA) @ H @ rbf_kernel(Y, gamma=GAMMA) @ H) / n**2
    assert found.estimate == pytest.approx(hsic, rel=5e-3)
    assert found.statistic == pytest.approx(n * hsic, rel=5e-3)
    assert found.pvalue < 1e-4


@pytest.mark.parametrize("permutations", [0, 199])
def test_p_values_are_levels(permutations):
    rejected = [0, 0]
    for seed in range(40):
        X, Y = sample(100, seed=2 * seed), sample(100, seed=2 * seed + 1)
        options = {"n_components": 50, "random_state": seed, "permutations": permutations}
        rejected[0] += mmd_test(X, Y, **options).pvalue <= 0.1
        rejected[1] += hsic_test(X, Y, **options).pvalue <= 0.1
    # More than 10 of 40 rejections at level 0.1 have a probability of 1e-3.
    assert max(rejected) <= 10 and sum(rejected) >= 1


@pytest.mark.parametrize("variant", ["rcot", "rcit"])
def test_a_chain_and_a_common_effect(variant):
    x, noise = sample(600, d=1), sample(600, d=2, seed=1)
    z = x + 0.5 * noise[:, :1]
    y = np.tanh(z) + 0.5 * noise[:, 1:]
    options = {"n_components": 50, "random_state": 0, "variant": variant}
    assert hsic_test(x, y, random_state=0).pvalue < 1e-3
    assert rcot_test(x, y, z, **options).pvalue > 0.01
    # x and the noise are independent causes of z.
    other = noise[:, :1]
    assert hsic_test(x, other, random_state=0).pvalue > 0.01
    assert rcot_test(x, other, z, **options).pvalue < 1e-3


def test_what_they_take():
    X = sample(50)
    same = mmd_test(sparse.csr_array(X), X.astype(np.float32), random_state=0, permutations=99)
    assert same.pvalue > 0.9
    statistic, pvalue, estimate = hsic_test(X.tolist(), X, random_state=0)
    assert statistic > 0 and pvalue < 1e-3 and estimate > 0
    with pytest.raises(ValueError, match="X has 50, Y has 49 rows"):
        hsic_test(X, X[1:])
    with pytest.raises(ValueError, match="columns"):
        mmd_test(X, X[:, :1])
    with pytest.raises(ValueError, match="NaN"):
        mmd_test(X, X + np.nan)


def test_counts_and_flags_have_a_bandwidth():
    random = np.random.RandomState(0)
    counts = random.poisson(0.2, size=(400, 1)).astype(float)
    same = random.poisson(0.2, size=(400, 1)).astype(float)
    flags = (random.uniform(size=(400, 1)) < 0.1).astype(float)
    # Most values are equal, so that the median distance is 0.
    assert (np.median(counts), np.median(flags)) == (0.0, 0.0)
    assert mmd_test(counts, same, random_state=0).pvalue > 0.01
    assert mmd_test(counts, counts + flags, random_state=0).pvalue < 0.05
    assert hsic_test(counts, counts + flags, random_state=0).pvalue < 1e-3
    assert hsic_test(counts, flags, random_state=0).pvalue > 0.01
    assert rcot_test(counts, flags, same, n_components=20, random_state=0).pvalue > 0.01
    with pytest.raises(ValueError, match="take the rule `scale`.*gamma="):
        mmd_test(np.ones((20, 1)), np.ones((20, 1)))


def test_few_rows_for_many_features_keep_the_level():
    rejected = 0
    for seed in range(60):
        random = np.random.RandomState(seed)
        X, Y, Z = random.normal(size=(200, 1)), random.normal(size=(200, 1)), random.normal(size=(200, 6))
        rejected += rcot_test(X, Y, Z, n_components=100, random_state=seed, device="cpu").pvalue <= 0.05
    # More than 9 of 60 rejections at level 0.05 have a probability of 1e-3.
    assert rejected <= 9


def test_features_of_many_columns_do_not_hang_on_the_seed():
    random = np.random.RandomState(0)
    X, Z = random.normal(size=(600, 6)), random.normal(size=(600, 1))
    Y = 0.2 * X.sum(axis=1, keepdims=True) + np.sin(Z) + random.normal(size=(600, 1))
    options = {"n_components": 50, "device": "cpu"}
    found = [rcot_test(X, Y, Z, random_state=seed, **options).pvalue for seed in range(12)]
    few = [rcot_test(X, Y, Z, random_state=seed, n_outer=5, **options).pvalue for seed in range(12)]
    assert max(found) < 0.05 and np.log(found).std() < np.log(few).std()
