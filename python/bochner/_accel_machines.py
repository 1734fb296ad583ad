"""Landmark approximations of scikit-learn's KernelRidge and KernelPCA, for `bochner.accel`.

Kernel functions at all n samples are replaced by those at m random samples, the landmarks, as in
`Nystroem`. Fits set all attributes that scikit-learn's fits set. KernelRidge has the landmarks as
`X_fit_` with a `dual_coef_` for each, so that an estimator that is pickled, or used after
`uninstall`, makes the same predictions with scikit-learn's own code. KernelPCA has all samples as
`X_fit_`, and scikit-learn's projections then differ slightly.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import linalg, sparse
from sklearn.preprocessing import KernelCenterer
from sklearn.utils.extmath import svd_flip
from sklearn.utils.validation import _check_sample_weight, check_is_fitted, validate_data

from . import _native
from ._arrays import dense, lengthscale, means, table
from .decomposition import KernelPCA

#: Number of samples whose features are computed at a time.
_BLOCK = 1 << 12
#: Supported kernels: scikit-learn's name and the native name.
_KERNELS = {"rbf": "gaussian", "laplacian": "laplacian"}


class NotCovered(Exception):
    """The case is not covered, and scikit-learn's code must run; the message is the reason."""


@dataclass
class Kept:
    """Result of a fit: the native learner, and the attributes that were set on the estimator."""

    learner: Any
    learnt: tuple
    #: Of KernelPCA: signs that make components equal to scikit-learn's.
    signs: Any = None

    def of(self, estimator, *names):
        """Whether the estimator still has the attributes that this fit set."""
        return all(getattr(estimator, name) is of for name, of in zip(names, self.learnt))


def _options(estimator, X, features):
    kernel = estimator.kernel if isinstance(estimator.kernel, str) else None
    if kernel not in _KERNELS:
        raise NotCovered(f"kernel={estimator.kernel!r}")
    if sparse.issparse(X):
        raise NotCovered("sparse rows")
    if X.shape[0] <= features:
        raise NotCovered(f"{X.shape[0]} rows are no more than {features} landmarks")
    gamma = 1.0 / X.shape[1] if estimator.gamma is None else estimator.gamma
    if gamma == 0:
        raise NotCovered("gamma=0")
    return {"kernel": _KERNELS[kernel], "gamma": float(gamma)}


def fit_ridge(estimator, X, y, sample_weight, features):
    """`fit` of KernelRidge: sets attributes of the estimator and returns a `Kept`."""
    estimator._validate_params()
    X, y = validate_data(
        estimator, X, y, accept_sparse=("csr", "csc"), multi_output=True, y_numeric=True
    )
    options = _options(estimator, X, features)
    if np.ndim(estimator.alpha) > 0 or estimator.alpha == 0:
        raise NotCovered(f"alpha={estimator.alpha!r}")
    X = _floats(X)
    # A scalar sample_weight is ignored.
    weights = np.ones(len(X))
    if sample_weight is not None and not isinstance(sample_weight, float):
        weights = _check_sample_weight(sample_weight, X, dtype=np.float64)
    landmarks = X[np.random.RandomState(0).permutation(len(X))[:features]]
    kernel = options["kernel"]
    map = _native.FeatureMap.from_landmarks(
        kernel,
        dense(landmarks),
        means(landmarks).tolist(),
        [1.0 / lengthscale(kernel, options["gamma"])] * X.shape[1],
    )
    # Ridge regression on the features: (Z'WZ + alpha I) beta = Z'Wy.
    Y = y.reshape(len(y), -1).astype(np.float64)
    gram, product = np.zeros((features, features)), np.zeros((features, Y.shape[1]))
    for rows, Z in _features(map, X):
        weighed = Z * weights[rows, None]
        gram += weighed.T @ Z
        product += weighed.T @ Y[rows]
    gram.flat[:: features + 1] += float(estimator.alpha)
    beta = linalg.solve(gram, product, assume_a="pos")
    # Features are kernel values times the root, which gives the coefficients of kernel values.
    dual = map.root().astype(np.float64) @ beta
    beta, dual = (beta, dual) if y.ndim > 1 else (beta.ravel(), dual.ravel())
    estimator.dual_coef_ = dual
    estimator.X_fit_ = landmarks
    return Kept((map, beta), (dual, landmarks))


def _floats(X):
    return X if X.dtype in (np.float32, np.float64) else X.astype(np.float64)


def _features(map, X):
    """Yield slices of samples and their features, block by block."""
    for first in range(0, len(X), _BLOCK):
        rows = slice(first, min(first + _BLOCK, len(X)))
        Z = np.empty((rows.stop - first, map.n_components))
        map.transform(table(X[rows]), Z, "auto")
        yield rows, Z


def predict_ridge(estimator, X, kept):
    """`predict` of KernelRidge."""
    check_is_fitted(estimator)
    X = validate_data(estimator, X, accept_sparse=("csr", "csc"), reset=False)
    if kept is None or not kept.of(estimator, "dual_coef_", "X_fit_"):
        raise NotCovered("fitted by scikit-learn")
    if sparse.issparse(X):
        raise NotCovered("sparse rows")
    map, beta = kept.learner
    return np.concatenate([Z @ beta for _, Z in _features(map, _floats(X))])


def fit_components(estimator, X, features):
    """`fit` of KernelPCA: sets attributes of the estimator and returns a `Kept`."""
    estimator._validate_params()
    X = validate_data(estimator, X, accept_sparse="csr", copy=estimator.copy_X)
    options = _options(estimator, X, features)
    if estimator.n_components is None:
        raise NotCovered("n_components=None")
    if estimator.n_components > features:
        raise NotCovered(f"{estimator.n_components} components of {features} landmarks")
    if estimator.fit_inverse_transform:
        raise NotCovered("fit_inverse_transform=True")
    X = _floats(X)
    learner = KernelPCA(
        n_components=estimator.n_components,
        map="nystrom",
        map_components=features,
        standardize="no",
        random_state=0,
        **options,
    ).fit(X)
    estimator.gamma_ = options["gamma"]
    estimator.eigenvalues_ = learner.eigenvalues_.copy()
    scores = learner.transform(X)
    vectors, _ = svd_flip(u=scores / np.sqrt(learner.eigenvalues_), v=None)
    signs = np.sign((vectors * scores).sum(axis=0))
    estimator.eigenvectors_ = vectors
    estimator._centerer = _centerer(learner, X, scores)
    estimator.X_fit_ = X
    return Kept(learner, (vectors, X), signs)


def _centerer(learner, X, scores):
    """Kernel centerer from the row means z(x)'m of the kernel, with the mean feature vector m.

    These follow from |z|^2 and |z - m|^2.
    """
    norms = learner._model.squared_norms(table(X), learner.device, learner.memory)
    away = learner.reconstruction_errors(X) + (scores**2).sum(axis=1)
    centerer = KernelCenterer().set_output(transform="default")
    centerer.K_fit_all_ = (norms - away).mean()
    centerer.K_fit_rows_ = 0.5 * (norms - away + centerer.K_fit_all_)
    centerer.n_features_in_ = len(X)
    return centerer


def transform_components(estimator, X, kept):
    """`transform` of KernelPCA."""
    check_is_fitted(estimator)
    X = validate_data(estimator, X, accept_sparse="csr", reset=False)
    if kept is None or not kept.of(estimator, "eigenvectors_", "X_fit_"):
        raise NotCovered("fitted by scikit-learn")
    return kept.learner.transform(X) * kept.signs
