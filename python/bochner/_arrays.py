"""Conversion of validated arrays and parameters to inputs of the native module."""

import numpy as np
from scipy import sparse

from . import _native

FLOATS = [np.float64, np.float32]


def table(X):
    """Convert X to a native input, without a copy if possible.

    Parameters
    ----------
    X : ndarray, CSR matrix or scan of shape (n_samples, n_features)
        Samples, in float32 or float64.

    Returns
    -------
    ndarray, a tuple ``(data, indices, indptr, n_features)``, or a native scan
    """
    if isinstance(X, _native.HeldRows):
        return X
    if not isinstance(X, np.ndarray) and hasattr(X, "_native"):
        return X._native
    if not sparse.issparse(X):
        return X if X.flags.aligned else X.copy()
    X = X.tocsr()
    indices, indptr = X.indices, X.indptr
    if indices.dtype != indptr.dtype or indices.dtype not in (np.int32, np.int64):
        indices, indptr = indices.astype(np.int64), indptr.astype(np.int64)
    return X.data, indices, indptr, X.shape[1]


def means(X):
    """Means of the columns, in float64."""
    if hasattr(X, "_native"):
        return np.array(X._native.moments()[1])
    if sparse.issparse(X):
        return np.asarray(X.mean(axis=0, dtype=np.float64)).ravel()
    return X.mean(axis=0, dtype=np.float64)


def entry_variance(X):
    """Variance over all entries of X, for ``gamma='scale'`` as in scikit-learn."""
    if hasattr(X, "_native"):
        _, means, variances = (np.array(part) for part in X._native.moments())
        return variances.mean() + means.var()
    if sparse.issparse(X):
        return X.multiply(X).mean() - X.mean() ** 2
    return X.var(dtype=np.float64)


def seed_of(random_state):
    """Draw a seed for the native module from a NumPy generator."""
    return int(random_state.randint(np.iinfo(np.int32).max))


def dense(X):
    """X as a dense float64 array."""
    return X.toarray().astype(np.float64) if sparse.issparse(X) else X.astype(np.float64)


def lengthscale(kernel, gamma):
    """Lengthscale of a kernel for a given gamma.

    Gamma is the parameter of the kernel's formula. For kernels defined by a lengthscale l, gamma is
    1 / (2 l^2), as for the Gaussian.
    """
    try:
        return _native.lengthscale(kernel, gamma)
    except NotImplementedError:
        return (0.5 / gamma) ** 0.5


def lengthscales(kernel, gamma, columns):
    """Lengthscales of a kernel: one for a scalar gamma, one per column for an array.

    ``columns`` is the expected number of columns, or None if it is not known yet.
    """
    gammas = np.asarray(gamma, dtype=np.float64)
    if gammas.ndim == 0:
        return [lengthscale(kernel, float(gammas))]
    fits = gammas.ndim == 1 and columns in (None, len(gammas))
    if not (fits and (np.isfinite(gammas) & (gammas > 0)).all()):
        features = "feature" if columns is None else f"of the {columns} features"
        raise ValueError(f"gamma is {gamma!r}; give a positive number, or one for each {features}")
    return [lengthscale(kernel, each) for each in gammas.tolist()]
