"""Imputation of missing values in arrays, as for missing cells of a table."""

from __future__ import annotations

import warnings

import numpy as np
from scipy import sparse

from . import _native

#: Maximum number of classes for which the F test is computed.
MAX_CLASSES = 64


class MeanImputer:
    """Means of columns, and indicator columns of missing values.

    Parameters
    ----------
    means : ndarray of shape (n_features,)
        Fill value of each column.

    missed : ndarray of bool of shape (n_features,)
        Columns with missing values in the training rows.

    indicated : ndarray of bool of shape (n_features,)
        Columns that are followed by an indicator column, which is 1 where the value is missing.
    """

    def __init__(self, means, missed, indicated):
        self.means = np.asarray(means, dtype=np.float64)
        self.missed = np.asarray(missed, dtype=bool)
        self.indicated = np.asarray(indicated, dtype=bool)
        self.adds_columns = bool(self.indicated.any())

    @classmethod
    def fit(cls, X, y, weights, labels):
        """Returns the imputer of the training rows X; ``labels`` says whether y has labels."""
        missing = np.isnan(X)
        if not missing.any():
            none = np.zeros(X.shape[1], dtype=bool)
            return cls(np.average(X, axis=0, weights=weights), none, none)
        counts = np.ones(len(X)) if weights is None else weights
        present = ~missing & (counts > 0)[:, None]
        sums = np.where(present, X, 0.0).T.astype(np.float64) @ counts
        weight = present.T.astype(np.float64) @ counts
        if (weight == 0).any():
            empty = ", ".join(map(str, np.flatnonzero(weight == 0)[:8]))
            warnings.warn(f"columns without any value in X, filled with 0: {empty}", stacklevel=6)
        means = np.divide(sums, weight, out=np.zeros(len(sums)), where=weight > 0)
        missed = missing[counts > 0].any(axis=0)
        weights = np.ascontiguousarray(counts, dtype=np.float64)
        targets = _target_columns(y, labels)
        return cls(means, missed, _native.predictive_columns(missing, targets, weights))

    def parts(self):
        """Lists of the parameters for a model file, or None without missing training values."""
        if not self.missed.any():
            return None
        return self.means.tolist(), self.missed.tolist(), self.indicated.tolist()

    def transform(self, X):
        """Returns X with imputed values and with the indicator columns."""
        if sparse.issparse(X):
            return X
        missing = np.isnan(X)
        if missing.any():
            new = missing.any(axis=0) & ~self.missed
            if new.any():
                some = ", ".join(map(str, np.flatnonzero(new)[:8]))
                warnings.warn(
                    "values are missing in columns of X without missing values in the training "
                    f"rows, and are filled with means: {some}",
                    stacklevel=6,
                )
            X = np.where(missing, self.means.astype(X.dtype), X)
        if not self.adds_columns:
            return X
        # Each follows its column, as in the encoding of a table.
        places = np.flatnonzero(self.indicated) + 1
        return np.insert(X, places, missing[:, self.indicated], axis=1)

    def merge_indicators(self, shares):
        """Adds the share of each indicator column to that of its column."""
        starts = np.arange(len(self.means)) + np.cumsum(self.indicated) - self.indicated
        return np.add.reduceat(shares, starts)


def dense_with_missing(X, imputer):
    """Returns X, as a dense array if the imputer adds columns. Refuses missing sparse values."""
    if not sparse.issparse(X):
        return X
    if np.isnan(X.data).any():
        raise ValueError(
            "Input X contains NaN; missing values are imputed in dense arrays, not in sparse matrices"
        )
    return X if imputer is None or not imputer.adds_columns else X.toarray()


def _target_columns(y, labels):
    """Returns targets as columns; for labels, an indicator of each class, if these are few."""
    if not labels:
        return np.asarray(y, dtype=np.float64).reshape(len(y), -1)
    classes = np.unique(y)
    if len(classes) > MAX_CLASSES:
        return np.empty((len(y), 0))
    return (np.asarray(y).reshape(len(y), 1) == classes).astype(np.float64)
