"""Inputs of fitted estimators: validation of arrays, and methods that accept scans."""

from __future__ import annotations

import os
from functools import wraps
from inspect import signature
from typing import TYPE_CHECKING

import numpy as np
from sklearn.utils.validation import check_is_fitted

from . import _native
from ._arrays import FLOATS
from ._dlpack import validated
from ._missing import dense_with_missing
from ._scan import Scan

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, TypeVar

    _Method = TypeVar("_Method", bound=Callable[..., Any])


def checked(estimator, X):
    """Validated X for a fitted estimator; chunks of a scan were validated when they were read."""
    if isinstance(X, _native.HeldRows):
        return X
    imputer = getattr(estimator, "_imputer", None)
    if not _plainly_valid(estimator, X):
        finite = True if imputer is None else "allow-nan"
        X = validated(
            estimator, X, accept_sparse="csr", dtype=FLOATS, reset=False, ensure_all_finite=finite
        )
    elif imputer is None or not imputer.adds_columns:
        return X
    return X if imputer is None else imputer.transform(dense_with_missing(X, imputer))


def fitted_rows(estimator, X):
    """As `checked`, but raises an error if the map is not fitted."""
    if "_map" in vars(estimator) and _plainly_valid(estimator, X):
        return X
    check_is_fitted(estimator)
    return checked(estimator, X)


#: Maximum number of values for the fast validation here. scikit-learn's validation takes as long as
#: the features of one sample.
FEW_VALUES = 1 << 14


def _plainly_valid(estimator, X):
    """Whether X would pass scikit-learn's validation unchanged.

    False does not mean that X is invalid, but that scikit-learn must decide.
    """
    return (
        type(X) is np.ndarray
        and X.ndim == 2
        and X.dtype in FLOATS
        and 0 < X.size <= FEW_VALUES
        and X.shape[1] == getattr(estimator, "n_features_in_", None)
        and not hasattr(estimator, "feature_names_in_")
        # Both comparisons are False for NaN.
        and X.min() > -np.inf
        and X.max() < np.inf
    )


def seen(estimator, X):
    """Set number and names of features from a scan."""
    estimator.n_features_in_ = X.n_features
    estimator.__dict__.pop("feature_names_in_", None)
    estimator.__dict__.pop("_imputer", None)
    if X.feature_names is not None:
        estimator.feature_names_in_ = np.array(X.feature_names, dtype=object)


def of_scans(method: _Method) -> _Method:
    """Decorator that makes a method accept a `Scan` as X.

    For a scan, the method returns an iterator over results of chunks, or writes them to the file
    ``output`` and returns their number. The decorated method declares ``output`` for documentation
    and type checkers only.
    """

    @wraps(method)
    def either(self, X, *args, output=None, **options):
        if not isinstance(X, Scan):
            if output is not None:
                raise TypeError("output= is for a bochner.scan; of an array the result is returned")
            return method(self, X, *args, **options)
        check_is_fitted(self)
        X = X._for(self)
        # A scan of an imputed table includes the indicator columns.
        imputer = getattr(self, "_imputer", None)
        expected = self.n_features_in_ if imputer is None else self._model.n_features
        if X.n_features != expected:
            raise ValueError(
                f"X has {X.n_features} features, but {type(self).__name__} is expecting "
                f"{expected} features as input"
            )
        chunks = (method(self, rows, *args, **options) for rows in X.chunks(self.memory))
        return chunks if output is None else write(chunks, output, method.__name__)

    # scikit-learn would treat `output` as metadata to route in pipelines.
    shown = signature(method)
    rest = [each for each in shown.parameters.values() if each.name != "output"]
    either.__signature__ = shown.replace(parameters=rest)
    return either


def write(chunks, output, name):
    """Write chunks of results to a .npy or .csv file; returns the number of rows."""
    writer, count = None, 0
    for rows in chunks:
        if isinstance(rows, tuple):
            raise TypeError("a file holds one array; ask for one")
        rows = np.asarray(rows)
        if rows.dtype.kind not in "biuf":
            raise TypeError("a file holds numbers, and these are names; leave output= out")
        flat = rows.ndim == 1
        rows = np.ascontiguousarray(rows.reshape(len(rows), -1), dtype=np.float64)
        if writer is None:
            names = [name] if flat else [f"{name}{i}" for i in range(rows.shape[1])]
            writer = _native.Writer(os.fspath(output), names, flat)
        writer.write(rows)
        count += len(rows)
    writer.finish()
    return count
