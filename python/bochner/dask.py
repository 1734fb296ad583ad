"""Fits and predictions for Dask arrays and data frames, on the cluster of the Dask client.

A fit runs the steps of `bochner.distributed` as tasks: one for each chunk of samples in each pass,
and a tree of merges. Samples stay on their workers. Dask repeats the tasks of a worker that fails.

Examples
--------
>>> import dask.array as da
>>> import bochner.dask
>>> from bochner import KernelRidgeRegressor
>>> X = da.random.default_rng(0).normal(size=(20_000, 4), chunks=(5_000, 4))
>>> y = da.sin(X[:, 0]) + X[:, 1]
>>> model = bochner.dask.fit(KernelRidgeRegressor(n_components=200, random_state=0), X, y)
>>> bool(abs(bochner.dask.predict(model, X) - y).mean().compute() < 0.05)
True
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import dask.array as da
import numpy as np

import dask

from . import distributed
from ._columns import Columns

if TYPE_CHECKING:
    from typing import Any, TypeVar

    _Estimator = TypeVar("_Estimator")


def fit(estimator: _Estimator, X: Any, y: Any, sample_weight: Any = None) -> _Estimator:
    """Fit an estimator to samples on all workers.

    Each of two or three passes computes all chunks: ``persist`` them if that is slow.

    Parameters
    ----------
    estimator : KernelRidgeRegressor or KernelRidgeClassifier
        ``penalty`` must be a number or None.

    X : dask.array.Array of shape (n_samples, n_features), or dask.dataframe.DataFrame
        Training samples.

    y : dask array or series of shape (n_samples,) or (n_samples, n_targets), or names
        Target values; if X is a frame, also the names of its target columns.

    sample_weight : dask array or series of shape (n_samples,), or a name, default=None
        Sample weights; None for equal weights.

    Returns
    -------
    estimator : object
        The given estimator, fitted to all samples.
    """
    parts = _parts(X, y, sample_weight)
    begun, first = distributed.begin(estimator), [0] * len(parts)
    if distributed.needs_counts(begun):
        lazy = _once(begun)
        counts = dask.compute(*(dask.delayed(distributed.count)(lazy, *part) for part in parts))
        begun, first = distributed.counted(begun, list(counts))
    lazy = _once(begun)
    known = _tree(
        dask.delayed(distributed.survey)(lazy, *part, first_row=row)
        for part, row in zip(parts, first)
    )
    plan = distributed.plan(begun, known.compute())
    lazy = _once(plan)
    sums = _tree(dask.delayed(distributed.sums)(lazy, *part) for part in parts)
    return distributed.adopt(estimator, distributed.finish(plan, sums.compute()))


def predict(estimator: Any, X: Any) -> Any:
    """Predict chunk by chunk.

    Parameters
    ----------
    estimator : object
        Fitted estimator of this package.

    X : dask.array.Array of shape (n_samples, n_features), or dask.dataframe.DataFrame
        Samples.

    Returns
    -------
    y : dask.array.Array of shape (n_samples,) or (n_samples, n_targets)
    """
    return _each(estimator.predict, X)


def predict_proba(estimator: Any, X: Any) -> Any:
    """Predict class probabilities chunk by chunk.

    Parameters
    ----------
    estimator : object
        Fitted classifier with `predict_proba`.

    X : dask.array.Array of shape (n_samples, n_features), or dask.dataframe.DataFrame
        Samples.

    Returns
    -------
    p : dask.array.Array of shape (n_samples, n_classes)
    """
    return _each(estimator.predict_proba, X)


def decision_function(estimator: Any, X: Any) -> Any:
    """Compute decision functions chunk by chunk.

    Parameters
    ----------
    estimator : object
        Fitted classifier.

    X : dask.array.Array of shape (n_samples, n_features), or dask.dataframe.DataFrame
        Samples.

    Returns
    -------
    scores : dask.array.Array of shape (n_samples,) or (n_samples, n_classes)
    """
    return _each(estimator.decision_function, X)


def transform(estimator: Any, X: Any) -> Any:
    """Transform chunk by chunk.

    Parameters
    ----------
    estimator : object
        Fitted transformer of this package; a fit to some of the samples is enough.

    X : dask.array.Array of shape (n_samples, n_features), or dask.dataframe.DataFrame
        Samples.

    Returns
    -------
    Z : dask.array.Array of shape (n_samples, n_components)
    """
    return _each(estimator.transform, X)


def _once(thing):
    """Wrap an object in one task, so that the graph holds it once."""
    return dask.delayed(thing, pure=False, traverse=False)


def _tree(parts):
    """Merge parts pairwise in a tree."""
    parts, merge = list(parts), dask.delayed(distributed.merge)
    while len(parts) > 1:
        parts = [merge(parts[i : i + 2]) for i in range(0, len(parts), 2)]
    return parts[0]


def _parts(X, y, sample_weight):
    """Delayed X, targets and weights of each chunk."""
    if not hasattr(X, "to_delayed"):
        raise TypeError(f"X is a {type(X).__name__}, and no array or frame of Dask")
    if isinstance(y, (str, list)) or isinstance(sample_weight, str):
        X, y, sample_weight = _by_name(X, y, sample_weight)
    X = _whole_rows(X)
    parts = [_delayed(X)]
    for name, beside in (("y", y), ("sample_weight", sample_weight)):
        if beside is None:
            continue
        if not hasattr(beside, "to_delayed"):
            raise TypeError(f"{name} is a {type(beside).__name__}, and X is Dask's; chunk it alike")
        parts.append(_delayed(_alike(name, _whole_rows(beside), X)))
    return list(zip(*parts))


def _by_name(frame, y, sample_weight):
    """Split a frame into X, targets and weights by column names."""
    if not hasattr(frame, "columns"):
        raise TypeError("names of columns stand for y and sample_weight where X is a frame")
    names = list(frame.columns)
    own = isinstance(y, (str, list))
    weight = sample_weight if isinstance(sample_weight, str) else None
    columns = Columns.of(None, y if own else (), weight)
    rows = columns.named(names)
    return (
        frame[rows],
        frame[y] if own else y,
        sample_weight if weight is None else frame[weight],
    )


def _whole_rows(array):
    """Rechunk an array so that each chunk has all columns."""
    wide = getattr(array, "ndim", 1) == 2 and hasattr(array, "rechunk")
    return array.rechunk({1: -1}) if wide else array


def _alike(name, array, X):
    """Rechunk an array like X; raises an error if that is not possible."""
    if hasattr(array, "chunks") and hasattr(X, "chunks") and array.chunks[0] != X.chunks[0]:
        known = not any(math.isnan(rows) for rows in (*array.chunks[0], *X.chunks[0]))
        if known and sum(array.chunks[0]) == sum(X.chunks[0]):
            return array.rechunk({0: X.chunks[0]})
        if known:
            raise ValueError(
                f"X has {sum(X.chunks[0])} rows, and {name} has {sum(array.chunks[0])}"
            )
    if array.npartitions != X.npartitions:
        raise ValueError(
            f"X comes in {X.npartitions} chunks, and {name} in {array.npartitions}; chunk them alike"
        )
    return array


def _delayed(array):
    return np.ravel(array.to_delayed()).tolist()


def _each(method, X):
    """Apply a method to each chunk."""
    if hasattr(X, "columns"):
        example = method(X._meta_nonempty)
        return X.map_partitions(_or_none, method, example[:0], meta=example[:0])
    X = _whole_rows(X)
    example = method(np.zeros((1, X.shape[1]), dtype=X.dtype))
    chunks = (X.chunks[0], *((size,) for size in example.shape[1:]))
    dropped = [1] if example.ndim == 1 else None
    return da.map_blocks(
        _or_none,
        X,
        method,
        example[:0],
        dtype=example.dtype,
        chunks=chunks,
        drop_axis=dropped,
        meta=example[:0],
    )


def _or_none(rows, method, none):
    """Apply a method, or return ``none`` for a chunk without samples."""
    return method(rows) if len(rows) else none
