"""What scikit-learn's validation gives, as the native half takes it."""

import numpy as np
from scipy import sparse

from . import _native

FLOATS = [np.float64, np.float32]


def table(X):
    """Rows as the native half takes them, without a copy where it can do without.

    Parameters
    ----------
    X : ndarray, CSR matrix or scan of shape (n_samples, n_features)
        Of float32 or float64.

    Returns
    -------
    ndarray, a tuple ``(data, indices, indptr, n_features)``, or what the native half has of a scan
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
    """Variance over all entries, as scikit-learn's ``gamma='scale'`` has it."""
    if hasattr(X, "_native"):
        _, means, variances = (np.array(part) for part in X._native.moments())
        return variances.mean() + means.var()
    if sparse.issparse(X):
        return X.multiply(X).mean() - X.mean() ** 2
    return X.var(dtype=np.float64)


def seed_of(random_state):
    """A seed of the native half, drawn from a generator of numpy."""
    return int(random_state.randint(np.iinfo(np.int32).max))


def dense(X):
    """Rows with their zeros, in float64."""
    return X.toarray().astype(np.float64) if sparse.issparse(X) else X.astype(np.float64)


def lengthscale(kernel, gamma):
    """The lengthscale of a kernel for a gamma.

    Gamma is that of the kernel's own formula; of kernels that have a lengthscale there, it stands for
    1 / (2 l^2), as in the Gaussian.
    """
    try:
        return _native.lengthscale(kernel, gamma)
    except NotImplementedError:
        return (0.5 / gamma) ** 0.5


def lengthscales(kernel, gamma, columns):
    """The lengthscale of a kernel for a gamma; one for each column where there is one for each.

    Columns are None where nobody has counted them yet.
    """
    gammas = np.asarray(gamma, dtype=np.float64)
    if gammas.ndim == 0:
        return [lengthscale(kernel, float(gammas))]
    fits = gammas.ndim == 1 and columns in (None, len(gammas))
    if not (fits and (np.isfinite(gammas) & (gammas > 0)).all()):
        features = "feature" if columns is None else f"of the {columns} features"
        raise ValueError(f"gamma is {gamma!r}; give a positive number, or one for each {features}")
    return [lengthscale(kernel, each) for each in gammas.tolist()]
