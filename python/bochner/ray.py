"""Fits and predictions for Ray datasets, on the connected cluster.

A fit runs the steps of `bochner.distributed` as tasks: one for each block of samples in each pass,
and a tree of merges. Samples stay in the object store. Ray repeats the tasks of a worker that
fails.

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
    """Fit an estimator to the samples of all blocks.

    Parameters
    ----------
    estimator : KernelRidgeRegressor or KernelRidgeClassifier
        ``penalty`` must be a number or None.

    dataset : ray.data.Dataset
        Samples with targets.

    y : str or list of str
        Target column or columns.

    sample_weight : str, default=None
        Column of sample weights; None for equal weights.

    columns : str or list of str, default=None
        Columns of X: numbers, or lists of numbers of equal length. None for all other columns.

    remote_args : dict, default=None
        Options of ``ray.remote`` for computing tasks, such as ``{"num_gpus": 1}``.

    Returns
    -------
    estimator : object
        The given estimator, fitted to all samples.
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
    """Append a column of predictions to a dataset.

    Parameters
    ----------
    estimator : object
        Fitted estimator of this package.

    dataset : ray.data.Dataset
        Samples.

    columns : str or list of str, default=None
        Columns of X; None for those of the fit, by name.

    output : str, default='prediction'
        Name of the new column. With several targets its values are lists.

    **options
        Options of ``Dataset.map_batches``, such as ``num_gpus`` and ``concurrency``.

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
    """Append a column of class probabilities (lists) to a dataset.

    Parameters
    ----------
    estimator : object
        Fitted classifier with `predict_proba`.

    dataset, columns, output, **options
        As in `predict`.

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
    """Append a column of features (lists) to a dataset.

    Parameters
    ----------
    estimator : object
        Fitted transformer of this package; a fit to some of the samples is enough.

    dataset, columns, output, **options
        As in `predict`.

    Returns
    -------
    dataset : ray.data.Dataset
    """
    return _each(Apply(estimator, "transform", columns, output), dataset, options)


def _on_block(step, what, columns, block, **options):
    """Run a step of a fit on one block, or return the result for no samples if it is empty."""
    if block.num_rows == 0:
        return distributed.Count(0, {}) if step is distributed.count else None
    return step(what, *columns.taken(block), **options)


def _merged(*parts):
    return distributed.merge(parts)


def _tree(merge, parts):
    """Merge parts pairwise in a tree."""
    while len(parts) > 1:
        parts = [merge.remote(*parts[i : i + 2]) for i in range(0, len(parts), 2)]
    return ray.get(parts[0]) if parts else None


def _each(apply, dataset, options):
    return dataset.map_batches(apply, batch_format="pyarrow", **options)
