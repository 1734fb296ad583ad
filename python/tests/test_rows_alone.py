"""Learners without targets, against exact kernel methods."""

import pickle

import numpy as np
import pytest
import sklearn.decomposition
import sklearn.svm
from numpy.testing import assert_allclose
from sklearn.datasets import make_blobs, make_moons
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.utils.estimator_checks import parametrize_with_checks

from bochner import (
    KernelICA,
    KernelKMeans,
    KernelPCA,
    OneClassSVM,
    SpectralClustering,
    SpectralEmbedding,
)

GAMMA = 0.4
#: All rows are landmarks: the kernel is reproduced.
EXACT = {"map": "nystrom", "gamma": GAMMA, "standardize": "no", "random_state": 0}

COMPONENTS = [
    KernelPCA(n_components=2, map_components=60),
    # Rows of checks can be Gaussian, whose sources are any.
    KernelICA(n_components=2, map_components=60, tol=1e-3, max_iter=5000),
    SpectralEmbedding(n_components=2, map_components=60),
]
OTHERS = [
    KernelKMeans(map_components=60),
    SpectralClustering(map_components=60),
    OneClassSVM(map_components=60),
]


@parametrize_with_checks(COMPONENTS + OTHERS)
def test_checks_of_scikit_learn(estimator, check):
    check(estimator)


@pytest.fixture(scope="module")
def X():
    return np.random.RandomState(3).normal(size=(150, 3))


def up_to_signs(own, other):
    return own * np.sign((own * other).sum(axis=0)), other


def test_kernel_pca_is_scikit_learn_s(X):
    own = KernelPCA(n_components=4, map_components=150, **EXACT).fit(X)
    other = sklearn.decomposition.KernelPCA(4, kernel="rbf", gamma=GAMMA).fit(X)
    # A gamma that is 3 % off moves them by more than a per cent.
    assert_allclose(own.eigenvalues_, other.eigenvalues_, rtol=1e-3)
    new = np.random.RandomState(4).normal(size=(20, 3))
    for rows in (X, new):
        assert_allclose(*up_to_signs(own.transform(rows), other.transform(rows)), atol=2e-3)
    assert list(own.get_feature_names_out()) == [f"kernelpca{i}" for i in range(4)]


def test_kernel_pca_explains(X):
    pca = KernelPCA(n_components=0.8, map_components=150, **EXACT).fit(X)
    ratios = pca.explained_variance_ratio_
    assert ratios.sum() >= 0.8 > ratios[:-1].sum()
    Y = pca.transform(X)
    assert_allclose(Y.var(axis=0, ddof=1), pca.explained_variance_, rtol=1e-3)
    # What is left, by the kernel alone.
    K = rbf_kernel(X, gamma=GAMMA)
    centred = 1.0 - 2 * K.mean(axis=1) + K.mean()
    assert_allclose(
        pca.reconstruction_errors(X), centred - (Y**2).sum(axis=1), atol=2e-3
    )


def test_kernel_k_means_counts_its_inertia(X):
    model = KernelKMeans(n_clusters=4, map_components=150, **EXACT).fit(X)
    K = rbf_kernel(X, gamma=GAMMA)
    expected = sum(
        inside.sum() - K[np.ix_(inside, inside)].sum() / inside.sum()
        for inside in (model.labels_ == c for c in range(4))
    )
    assert model.inertia_ == pytest.approx(expected, rel=2e-3)
    assert (model.predict(X) == model.labels_).all()
    blobs, y = make_blobs(300, centers=3, cluster_std=0.5, random_state=0)
    labels = KernelKMeans(n_clusters=3, n_init=5, random_state=0).fit_predict(blobs)
    assert len({(a, b) for a, b in zip(labels, y)}) == 3


def test_spectral_embedding_is_that_of_the_walk(X):
    own = SpectralEmbedding(n_components=3, map_components=150, **EXACT).fit_transform(X)
    K = rbf_kernel(X, gamma=GAMMA)
    degree = K.sum(axis=1)
    _, vectors = np.linalg.eigh(K / np.sqrt(degree[:, None] * degree))
    expected = vectors[:, [-2, -3, -4]] / np.sqrt(degree)[:, None] * np.sqrt(degree.sum())
    assert_allclose(*up_to_signs(own, expected), atol=2e-2)
    assert_allclose((degree[:, None] * own**2).sum(axis=0) / degree.sum(), 1.0, rtol=1e-2)


def test_spectral_clusters_hang_together():
    X, y = make_moons(400, noise=0.03, random_state=0)
    model = SpectralClustering(n_clusters=2, gamma=30.0, map_components=250, random_state=0).fit(X)
    right = (model.labels_ == y).mean()
    assert max(right, 1 - right) > 0.98
    # Those of k-means do not.
    right = (KernelKMeans(n_clusters=2, gamma=30.0, random_state=0).fit_predict(X) == y).mean()
    assert max(right, 1 - right) < 0.98


def test_ica_finds_sources():
    S = np.random.RandomState(0).uniform(-1, 1, size=(1000, 2))
    X = S @ np.array([[1.0, 1.0], [1.0, -0.5]])
    # So wide a kernel is nearly linear.
    options = {"gamma": 1e-3, "map_components": 300, "standardize": "no", "random_state": 0}
    Y = KernelICA(**options).fit_transform(X)
    correlation = abs(np.corrcoef(Y.T, S.T)[:2, 2:])
    assert correlation.max(axis=1).min() > 0.98 and correlation.min() < 0.2
    assert_allclose(Y.T @ Y / len(Y), np.eye(2), atol=0.02)


def test_one_class_svm_is_scikit_learn_s(X):
    nu = 0.2
    own = OneClassSVM(nu=nu, map_components=150, tol=1e-6, max_iter=5000, **EXACT).fit(X)
    other = sklearn.svm.OneClassSVM(nu=nu, gamma=GAMMA, tol=1e-8).fit(X)
    # Theirs has weights up to 1, ours up to 1 / (nu n).
    scale = nu * len(X)
    assert_allclose(scale * own.decision_function(X), other.decision_function(X), atol=2e-2)
    assert scale * own.offset_ == pytest.approx(other.offset_[0], rel=5e-3)
    assert_allclose(own.score_samples(X) - own.offset_, own.decision_function(X))
    assert 0.15 < (own.predict(X) == -1).mean() < 0.25


@pytest.mark.parametrize("model", COMPONENTS + OTHERS, ids=lambda m: type(m).__name__)
def test_files_and_pickles(model, X, tmp_path):
    model.set_params(random_state=0).fit(X)
    path = tmp_path / "rows.model"
    model.save(path)
    says = "transform" if hasattr(model, "transform") else "predict"
    for again in (type(model).load(path), pickle.loads(pickle.dumps(model))):
        assert (getattr(again, says)(X) == getattr(model, says)(X)).all()
    other = KernelPCA if not isinstance(model, KernelPCA) else OneClassSVM
    with pytest.raises(ValueError, match="holds a model of"):
        other.load(path)


def test_unknown_parameters_are_refused():
    with pytest.raises(TypeError, match="KernelPCA has no parameter 'components'"):
        KernelPCA(components=3)
    assert "n_components=0.95" in str(__import__("inspect").signature(KernelPCA))
    with pytest.raises(ValueError, match="n_components"):
        KernelPCA(n_components=1.5).fit([[0.0], [1.0]])
