"""Fits and predictions of Dask's arrays and frames, on whatever cluster its client has.

A fit is `bochner.distributed` in tasks: one for each chunk of rows in each pass, and a tree of
merges. Rows stay where they are. A worker that dies costs its tasks, which Dask runs again.

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
    """Fit to rows of all workers.

    Each pass reads the chunks once: ``persist`` what is slow to make.

    Parameters
    ----------
    estimator : KernelRidgeRegressor or KernelRidgeClassifier
        With a number or None for ``penalty``.

    X : dask.array.Array of shape (n_samples, n_features), or dask.dataframe.DataFrame
        Training samples.

    y : dask array or series of shape (n_samples,) or (n_samples, n_targets), or names
        Targets; of a frame also the names of its columns.

    sample_weight : dask array or series of shape (n_samples,), or a name, default=None
        Sample weights; None for equal weights.

    Returns
    -------
    estimator : object
        The one given, fitted as one process would fit it to all rows.
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
    """Predictions of a fitted estimator, chunk by chunk.

    Parameters
    ----------
    estimator : object
        Any estimator of this package, fitted.

    X : dask.array.Array of shape (n_samples, n_features), or dask.dataframe.DataFrame
        Samples.

    Returns
    -------
    y : dask.array.Array of shape (n_samples,) or (n_samples, n_targets)
    """
    return _each(estimator.predict, X)


def predict_proba(estimator: Any, X: Any) -> Any:
    """Probabilities of the classes, chunk by chunk.

    Parameters
    ----------
    estimator : object
        A classifier that has them, fitted.

    X : dask.array.Array of shape (n_samples, n_features), or dask.dataframe.DataFrame
        Samples.

    Returns
    -------
    p : dask.array.Array of shape (n_samples, n_classes)
    """
    return _each(estimator.predict_proba, X)


def decision_function(estimator: Any, X: Any) -> Any:
    """Scores of a fitted classifier, chunk by chunk.

    Parameters
    ----------
    estimator : object
        A classifier, fitted.

    X : dask.array.Array of shape (n_samples, n_features), or dask.dataframe.DataFrame
        Samples.

    Returns
    -------
    scores : dask.array.Array of shape (n_samples,) or (n_samples, n_classes)
    """
    return _each(estimator.decision_function, X)


def transform(estimator: Any, X: Any) -> Any:
    """Features of a fitted map, chunk by chunk.

    Parameters
    ----------
    estimator : object
        Any transformer of this package, fitted, say to some of the rows.

    X : dask.array.Array of shape (n_samples, n_features), or dask.dataframe.DataFrame
        Samples.

    Returns
    -------
    Z : dask.array.Array of shape (n_samples, n_components)
    """
    return _each(estimator.transform, X)


def _once(thing):
    """One task that has it, in place of a copy in each."""
    return dask.delayed(thing, pure=False, traverse=False)


def _tree(parts):
    """Parts merged two by two, until one is left."""
    parts, merge = list(parts), dask.delayed(distributed.merge)
    while len(parts) > 1:
        parts = [merge(parts[i : i + 2]) for i in range(0, len(parts), 2)]
    return parts[0]


def _parts(X, y, sample_weight):
    """Rows, targets and weights of each chunk, delayed."""
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
    """Columns of a frame."""
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
    """With all columns of a row in one chunk."""
    wide = getattr(array, "ndim", 1) == 2 and hasattr(array, "rechunk")
    return array.rechunk({1: -1}) if wide else array


def _alike(name, array, X):
    """In the chunks of X. Errors where that cannot be."""
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
    """The method's results for each chunk."""
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
    """Results, also of no rows."""
    return method(rows) if len(rows) else none
