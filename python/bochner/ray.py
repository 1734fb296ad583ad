"""Fits and predictions of Ray's datasets, on whatever cluster it is connected to.

A fit is `bochner.distributed` in tasks: one for each block of rows in each pass, and a tree of
merges. Rows stay in the object store. A worker that dies costs its tasks, which Ray runs again.

Examples
--------
::

    import ray, bochner.ray
    from bochner import KernelRidgeRegressor

    houses = ray.data.read_parquet("houses/")
    model = bochner.ray.fit(KernelRidgeRegressor(), houses, y="price")
    bochner.ray.predict(model, houses).write_parquet("prices/")
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import ray

from . import distributed
from ._columns import Columns
from ._outputs import Apply

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any, TypeVar

    from typing_extensions import TypeAlias

    _Estimator = TypeVar("_Estimator")
    _Names: TypeAlias = "str | Sequence[str]"


def fit(
    estimator: _Estimator,
    dataset: Any,
    y: _Names,
    *,
    sample_weight: str | None = None,
    columns: _Names | None = None,
    remote_args: dict[str, Any] | None = None,
) -> _Estimator:
    """Fit to the rows of all blocks.

    Parameters
    ----------
    estimator : KernelRidgeRegressor or KernelRidgeClassifier
        With a number or None for ``penalty``.

    dataset : ray.data.Dataset
        Rows.

    y : str or list of str
        Column of the targets, or several.

    sample_weight : str, default=None
        Column of what each row counts.

    columns : str or list of str, default=None
        Columns of X: numbers, or lists of numbers of one length. None for all others.

    remote_args : dict, default=None
        Of ``ray.remote``, for tasks that compute: ``{"num_gpus": 1}``, say.

    Returns
    -------
    estimator : object
        The one given, fitted as one process would fit it to all rows.
    """
    blocks = dataset.to_arrow_refs()
    which = Columns.of(columns, y, sample_weight)
    options = remote_args or {}
    task, merge = ray.remote(_on_block), ray.remote(_merged)
    if options:
        task = task.options(**options)
    begun, first = distributed.begin(estimator), [0] * len(blocks)
    if distributed.needs_counts(begun):
        there = ray.put(begun)
        counts = [task.remote(distributed.count, there, which, block) for block in blocks]
        begun, first = distributed.counted(begun, ray.get(counts))
    there = ray.put(begun)
    known = [
        task.remote(distributed.survey, there, which, block, first_row=row)
        for block, row in zip(blocks, first)
    ]
    plan = distributed.plan(begun, _tree(merge, known))
    there = ray.put(plan)
    sums = _tree(merge, [task.remote(distributed.sums, there, which, block) for block in blocks])
    return distributed.adopt(estimator, distributed.finish(plan, sums))


def predict(
    estimator: Any,
    dataset: Any,
    *,
    columns: _Names | None = None,
    output: str = "prediction",
    **options: Any,
) -> Any:
    """The dataset with a column of predictions beside its own.

    Parameters
    ----------
    estimator : object
        Any estimator of this package, fitted.

    dataset : ray.data.Dataset
        Rows.

    columns : str or list of str, default=None
        Columns of X; None for those of the fit, by their names.

    output : str, default='prediction'
        The column's name. Of several targets it holds a list in each row.

    **options
        Of ``Dataset.map_batches``, such as ``num_gpus`` and ``concurrency``.

    Returns
    -------
    dataset : ray.data.Dataset
    """
    return _each(Apply(estimator, "predict", columns, output), dataset, options)


def predict_proba(
    estimator: Any,
    dataset: Any,
    *,
    columns: _Names | None = None,
    output: str = "probability",
    **options: Any,
) -> Any:
    """The dataset with a column that holds a list of probabilities in each row.

    Parameters
    ----------
    estimator : object
        A classifier that has them, fitted.

    dataset, columns, output, **options
        As those of `predict`.

    Returns
    -------
    dataset : ray.data.Dataset
    """
    return _each(Apply(estimator, "predict_proba", columns, output), dataset, options)


def transform(
    estimator: Any,
    dataset: Any,
    *,
    columns: _Names | None = None,
    output: str = "features",
    **options: Any,
) -> Any:
    """The dataset with a column that holds a list of features in each row.

    Parameters
    ----------
    estimator : object
        Any transformer of this package, fitted, say to some of the rows.

    dataset, columns, output, **options
        As those of `predict`.

    Returns
    -------
    dataset : ray.data.Dataset
    """
    return _each(Apply(estimator, "transform", columns, output), dataset, options)


def _on_block(step, what, columns, block, **options):
    """A step of a fit on one block; what no rows give where it is empty."""
    if block.num_rows == 0:
        return distributed.Count(0, {}) if step is distributed.count else None
    return step(what, *columns.taken(block), **options)


def _merged(*parts):
    return distributed.merge(parts)


def _tree(merge, parts):
    """Parts merged two by two, until one is left."""
    while len(parts) > 1:
        parts = [merge.remote(*parts[i : i + 2]) for i in range(0, len(parts), 2)]
    return ray.get(parts[0]) if parts else None


def _each(apply, dataset, options):
    return dataset.map_batches(apply, batch_format="pyarrow", **options)
