"""Tests of estimators without targets, against exact kernel methods."""

import pickle

import numpy as np
import pytest
import sklearn.decomposition
import sklearn.neighbors
import sklearn.svm
from numpy.testing import assert_allclose
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import make_blobs, make_moons
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.utils.estimator_checks import parametrize_with_checks

from bochner import (
    KernelDensity,
    KernelICA,
    KernelKMeans,
    KernelPCA,
    KernelRidgeRegressor,
    OneClassSVM,
    SpectralClustering,
    SpectralEmbedding,
)

GAMMA = 0.4
#: Options for Nystrom features with all rows as landmarks, which reproduce the kernel.
EXACT = {"map": "nystrom", "gamma": GAMMA, "standardize": "no", "random_state": 0}

COMPONENTS = [
    KernelPCA(n_components=2, map_components=60),
    KernelPCA(n_components=2, map_components=60, solver="randomized"),
    KernelICA(n_components=2, map_components=60),
    SpectralEmbedding(n_components=2, map_components=60),
]
OTHERS = [
    KernelKMeans(map_components=60),
    SpectralClustering(map_components=60),
    OneClassSVM(map_components=60),
    KernelDensity(map_components=200),
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
    # A gamma that is 3 % off would change eigenvalues by more than 1 %.
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
    # Reference for reconstruction errors, from the kernel.
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
    # Control: k-means does not separate the moons.
    right = (KernelKMeans(n_clusters=2, gamma=30.0, random_state=0).fit_predict(X) == y).mean()
    assert max(right, 1 - right) < 0.98


def test_ica_finds_sources():
    S = np.random.RandomState(0).uniform(-1, 1, size=(1000, 2))
    X = S @ np.array([[1.0, 1.0], [1.0, -0.5]])
    # A wide kernel is nearly linear.
    wide = {"gamma": 1e-3, "map": "fourier", "map_components": 300, "standardize": "no"}
    for options in ({}, wide):
        Y = KernelICA(random_state=0, **options).fit_transform(X)
        correlation = abs(np.corrcoef(Y.T, S.T)[:2, 2:])
        assert correlation.max(axis=1).min() > 0.98 and correlation.min() < 0.2
        assert_allclose(Y.T @ Y / len(Y), np.eye(2), atol=0.02)
    # By default all three sources; a linear combination of columns adds none.
    S = np.random.RandomState(1).uniform(-1, 1, size=(1000, 3))
    X3 = S @ np.random.RandomState(2).normal(size=(3, 3))
    Y = KernelICA(random_state=0).fit_transform(np.column_stack([X3, X3[:, 0] - X3[:, 2]]))
    assert Y.shape == (1000, 3)
    assert abs(np.corrcoef(Y.T, S.T)[:3, 3:]).max(axis=1).min() > 0.98
    assert KernelICA(map="fourier", map_components=50, random_state=0).fit_transform(X).shape == (1000, 2)
    with pytest.warns(UserWarning, match="more than the 2 columns"):
        assert KernelICA(n_components=5, random_state=0).fit_transform(X).shape == (1000, 2)


def test_one_class_svm_is_scikit_learn_s(X):
    nu = 0.2
    own = OneClassSVM(nu=nu, map_components=150, tol=1e-6, max_iter=5000, **EXACT).fit(X)
    other = sklearn.svm.OneClassSVM(nu=nu, gamma=GAMMA, tol=1e-8).fit(X)
    # scikit-learn's dual coefficients are at most 1, these at most 1 / (nu n).
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
    ways = ("transform", "predict", "score_samples")
    says = next(way for way in ways if hasattr(model, way))
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


def test_density_is_scikit_learn_s(X):
    own = KernelDensity(map="nystrom", map_components=150, standardize="no", random_state=0)
    h = 0.7
    other = sklearn.neighbors.KernelDensity(bandwidth=h).fit(X)
    own.set_params(gamma=1 / (2 * h**2)).fit(X)
    expected = np.exp(other.score_samples(X))
    # Log-densities have a floor at the noise of random features; compare above it.
    told = expected > 0.006
    assert told.mean() > 0.8
    assert_allclose(np.exp(own.score_samples(X))[told], expected[told], rtol=2e-3)
    # Control: a bandwidth that is 3 % off differs.
    wrong = sklearn.neighbors.KernelDensity(bandwidth=1.03 * h).fit(X)
    assert abs(np.exp(wrong.score_samples(X)) / expected - 1).max() > 0.03
    assert own.score(X) == pytest.approx(own.score_samples(X).sum())
    assert own.score(X) == pytest.approx(other.score(X), rel=0.02)
    # The error of Fourier features is about `noise_deviation_`.
    cosines = KernelDensity(gamma=1 / (2 * h**2), map_components=2000, random_state=0)
    cosines.set_params(sampling="monte-carlo").fit(X)
    away = np.exp(cosines.score_samples(X)) - expected
    assert 0.3 < np.sqrt((away**2).mean()) / cosines.noise_deviation_ < 2.0
    assert cosines.bandwidth_multiple_ == 1.0
    # Weights are equivalent to repeated rows.
    weights = np.random.RandomState(1).randint(0, 3, size=150)
    repeated = clone(own).fit(X.repeat(weights, axis=0)).score_samples(X)
    assert_allclose(own.fit(X, sample_weight=weights).score_samples(X), repeated, atol=2e-3)


def test_bandwidths_of_densities():
    X = np.random.RandomState(0).normal(size=(3000, 1))
    true = np.exp(-X[:, 0] ** 2 / 2) / np.sqrt(2 * np.pi)
    errors = {}
    for gamma, multiples in (("scott", None), ("silverman", None), (200.0, None), (0.02, "auto")):
        model = KernelDensity(gamma=gamma, multiples=multiples, random_state=0)
        if gamma == 0.02:
            # The bandwidth is 5, and about a sixteenth of that is right.
            assert model.fit(X).bandwidth_multiple_ < 0.2
        errors[gamma] = abs(np.exp(model.fit(X).score_samples(X)) - true).mean()
    assert max(errors["scott"], errors["silverman"], errors[0.02]) < 0.015
    assert errors[200.0] > 0.015
    chosen = KernelDensity(multiples=[0.5, 1.0], random_state=0).fit(X).bandwidth_multiple_
    assert chosen in (0.5, 1.0)
    with pytest.raises(ValueError, match="multiples"):
        KernelDensity(multiples="some").fit(X)


def test_distances_to_centres_are_those_of_the_kernel(X):
    model = KernelKMeans(n_clusters=3, map_components=150, **EXACT).fit(X)
    new = np.random.RandomState(5).normal(size=(40, 3))
    inside = [model.labels_ == c for c in range(3)]
    K, own = rbf_kernel(X, gamma=GAMMA), rbf_kernel(new, X, gamma=GAMMA)
    squares = [
        1.0 - 2 * own[:, rows].mean(axis=1) + K[np.ix_(rows, rows)].mean() for rows in inside
    ]
    # Nystrom features of new rows have norms below 1: they lack the part outside the landmarks'
    # span.
    spanned = np.einsum("ij,ji->i", own, np.linalg.solve(K + 1e-10 * np.eye(150), own.T))
    expected = np.sqrt(np.stack(squares, axis=1) - 1.0 + spanned[:, None])
    distances = model.transform(new)
    assert_allclose(distances, expected, atol=3e-3)
    assert (distances.argmin(axis=1) == model.predict(new)).all()
    assert model.score(X) == pytest.approx(-model.inertia_, rel=1e-3)
    assert list(model.get_feature_names_out()) == [f"kernelkmeans{i}" for i in range(3)]


def test_randomized_components_are_those_of_the_covariance(X):
    options = {"map_components": 400, "gamma": GAMMA, "standardize": "no", "random_state": 0}
    all_of = KernelPCA(n_components=4, **options).fit(X)
    few = KernelPCA(n_components=4, solver="randomized", passes=8, **options).fit(X)
    assert_allclose(few.explained_variance_, all_of.explained_variance_, rtol=1e-3)
    assert_allclose(few.explained_variance_ratio_, all_of.explained_variance_ratio_, rtol=1e-3)
    assert_allclose(*up_to_signs(few.transform(X), all_of.transform(X)), atol=0.02)
    # One pass is only an approximation.
    rough = KernelPCA(n_components=4, solver="randomized", passes=1, oversampling=0, **options)
    assert rough.fit(X).explained_variance_.sum() < 0.99 * all_of.explained_variance_.sum()
    with pytest.raises(ValueError, match="a number of components"):
        few.set_params(n_components=0.5).fit(X)


def test_pre_images_are_a_ridge_regression(X):
    options = {"n_components": 3, "map_components": 500, "gamma": GAMMA, "standardize": "no"}
    pca = KernelPCA(fit_inverse_transform=True, alpha=0.5, random_state=0, **options).fit(X)
    T = pca.transform(X)
    # Reference: kernel ridge regression on the components, with an unpenalised intercept.
    gamma = 1.0 / pca.explained_variance_.sum()
    K, one = rbf_kernel(T, gamma=gamma), np.ones((150, 1))
    system = np.block([[K + 0.5 * np.eye(150), one], [one.T, np.zeros((1, 1))]])
    solved = np.linalg.solve(system, np.vstack([X, np.zeros((1, 3))]))
    expected = K @ solved[:150] + solved[150]
    back = pca.inverse_transform(T)
    assert back.shape == X.shape
    assert np.sqrt(((back - expected) ** 2).mean()) < 0.1
    # The same random features agree closely; controls with a parameter 3 % off differ.
    ridge = {"n_components": 500, "standardize": "no", "random_state": 0}
    for off, least, most in ((1.0, 0.0, 1e-3), (1.03, 2e-3, 1.0)):
        for parameters in (
            {"gamma": off * gamma, "penalty": 0.5 / 150},
            {"gamma": gamma, "penalty": off * 0.5 / 150},
        ):
            same = KernelRidgeRegressor(**parameters, **ridge).fit(T, X).predict(T)
            assert least <= abs(back - same).max() < most
    # Pre-images are closer to the rows than the mean is.
    assert ((back - X) ** 2).mean() < 0.3 * X.var()
    with pytest.raises(NotFittedError, match="fit_inverse_transform=True"):
        KernelPCA(n_components=2).fit(X).inverse_transform(T[:, :2])
    again = pickle.loads(pickle.dumps(pca))
    assert (again.inverse_transform(T) == back).all()
    sparse_rows = KernelPCA(fit_inverse_transform=True, alpha=0.5, random_state=0, **options)
    sparse_rows.fit(sparse.csr_matrix(X))
    assert_allclose(sparse_rows.inverse_transform(T), back, atol=1e-3)


def test_components_count_rows_by_their_weights(X):
    options = {"n_components": 3, "map_components": 200, "gamma": GAMMA, "standardize": "no"}
    options |= {"random_state": 0, "alpha": 0.5}
    counts = np.arange(150) % 4
    often = X.repeat(counts, axis=0)
    back = {"fit_inverse_transform": True}
    own = KernelPCA(**options, **back).fit(X, sample_weight=counts)
    expected = KernelPCA(**options, **back).fit(often)
    even = KernelPCA(**options, **back).fit(X)
    parts = KernelPCA(**options).partial_fit(X[:70], sample_weight=counts[:70])
    parts.partial_fit(X[70:], sample_weight=counts[70:])
    whole = KernelPCA(**options).partial_fit(often[: counts[:70].sum()])
    whole.partial_fit(often[counts[:70].sum() :])
    for ours, theirs, other in ((own, expected, even), (parts, whole, even)):
        assert_allclose(abs(ours.transform(X)), abs(theirs.transform(X)), atol=1e-3)
        assert abs(abs(ours.transform(X)) - abs(other.transform(X))).max() > 1e-2
        for name in ("explained_variance_", "explained_variance_ratio_", "eigenvalues_"):
            assert_allclose(getattr(ours, name), getattr(theirs, name), rtol=1e-4, err_msg=name)
    T = expected.transform(X)
    assert_allclose(own.inverse_transform(T), expected.inverse_transform(T), atol=1e-2)
    assert abs(even.inverse_transform(T) - expected.inverse_transform(T)).max() > 3e-2


def test_clusters_go_on_by_batches(tmp_path):
    blobs, _ = make_blobs(200, centers=[[0, 0], [6, 0], [0, 6]], random_state=1)
    # With one cluster the centre is the mean of all rows, for any batches.
    options = {"map_components": 40, "gamma": 0.1, "standardize": "no", "random_state": 0}
    parts = [blobs[:7], blobs[7:90], blobs[90:]]
    whole = KernelKMeans(n_clusters=1, **options).fit(blobs)
    model = KernelKMeans(n_clusters=1, **options)
    for part in parts:
        assert model.partial_fit(part) is model
        assert model.labels_.shape == (len(part),)
        # Continue with an unpickled estimator.
        model = pickle.loads(pickle.dumps(model))
    assert_allclose(model.transform(blobs), whole.transform(blobs), atol=1e-5)
    assert model.inertia_ == pytest.approx(-model.score(parts[-1]))

    # `partial_fit` continues after `fit`: adding the same rows does not move the centres.
    model = KernelKMeans(n_clusters=3, n_init=5, **options).fit(blobs)
    before = model.transform(blobs)
    model.partial_fit(blobs)
    assert_allclose(model.transform(blobs), before, atol=1e-5)
    few = blobs[model.labels_ == 0][:5]
    model.partial_fit(few)
    moved = np.abs(model.transform(blobs) - before).max(axis=0)
    assert moved[0] > 1e-4 and moved[1:].max() < 1e-5

    # Weights are equivalent to repeated rows, in `fit` and in batches.
    weights = np.arange(len(blobs)) % 3
    repeated = np.repeat(blobs, weights, axis=0)
    whole = KernelKMeans(n_clusters=1, **options).fit(repeated)
    weighted = KernelKMeans(n_clusters=1, **options).fit(blobs, sample_weight=weights)
    assert_allclose(weighted.transform(blobs), whole.transform(blobs), atol=1e-5)
    assert weighted.inertia_ == pytest.approx(whole.inertia_, rel=1e-5)
    assert weighted.score(blobs, sample_weight=weights) == pytest.approx(whole.score(repeated))
    batches = KernelKMeans(n_clusters=1, **options)
    for some in (slice(0, 90), slice(90, 200)):
        batches.partial_fit(blobs[some], sample_weight=weights[some])
    assert_allclose(batches.transform(blobs), whole.transform(blobs), atol=1e-5)
    # There are at most as many clusters as distinct rows.
    with pytest.warns(ConvergenceWarning, match="2 clusters stand for the 3"):
        few = KernelKMeans(n_clusters=3, **options).fit([[0.0], [0.0], [1.0], [1.0]])
    assert few.inertia_ == pytest.approx(0.0, abs=1e-5) and few._sizes == [2, 2]
    with pytest.raises(ValueError, match="3 clusters of 2 rows"):
        KernelKMeans(n_clusters=3, **options).fit([[0.0], [1.0]])
    # Control: other weights differ.
    even = KernelKMeans(n_clusters=1, **options).fit(blobs)
    assert abs(even.transform(blobs) - whole.transform(blobs)).max() > 1e-3

    model.save(tmp_path / "model")
    loaded = KernelKMeans.load(tmp_path / "model")
    with pytest.raises(ValueError, match="how many rows"):
        loaded.partial_fit(blobs)
    with pytest.raises(ValueError, match="features"):
        model.partial_fit(blobs[:, :1])
