"""Fits and predictions for Spark data frames, on the executors.

A fit runs the steps of `bochner.distributed` inside ``mapInArrow``: each partition surveys and sums
its own samples, and ``treeAggregate`` merges the results. Each executor needs this package, NumPy,
scikit-learn, pandas and PyArrow. Spark repeats failed tasks as configured.

Examples
--------
::

    import bochner.spark
    from bochner import KernelRidgeRegressor

    houses = spark.read.parquet("houses/").cache()
    model = bochner.spark.fit(KernelRidgeRegressor(), houses, y="price")
    bochner.spark.predict(model, houses).write.parquet("prices/")
"""

from __future__ import annotations

import pickle
from typing import TYPE_CHECKING

import numpy as np

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
    frame: Any,
    y: _Names,
    *,
    sample_weight: str | None = None,
    columns: _Names | None = None,
    depth: int = 2,
) -> _Estimator:
    """Fit an estimator to the samples of all partitions.

    Each of two or three passes computes the frame: ``cache`` it if that is slow.

    Parameters
    ----------
    estimator : KernelRidgeRegressor or KernelRidgeClassifier
        ``penalty`` must be a number or None.

    frame : pyspark.sql.DataFrame
        Samples with targets.

    y : str or list of str
        Target column or columns.

    sample_weight : str, default=None
        Column of sample weights; None for equal weights.

    columns : str or list of str, default=None
        Columns of X: numbers, or arrays of numbers of equal length (``vector_to_array`` converts
        vectors to these). None for all other columns.

    depth : int, default=2
        Depth of the tree of merges.

    Returns
    -------
    estimator : object
        The given estimator, fitted to all samples.
    """
    which = Columns.of(columns, y, sample_weight)
    which.named(frame.columns)
    begun, first = distributed.begin(estimator), None
    if distributed.needs_counts(begun):
        counts = _per_partition(frame, _Counting(begun, which))
        counts = {row.part: pickle.loads(row.state) for row in counts.collect()}
        begun, rows = distributed.counted(begun, [counts[part] for part in sorted(counts)])
        first = dict(zip(sorted(counts), rows))
    known = _merged(_per_partition(frame, _Surveying(begun, which, first)), depth)
    plan = distributed.plan(begun, known)
    sums = _merged(_per_partition(frame, _Summing(plan, which)), depth)
    return distributed.adopt(estimator, distributed.finish(plan, sums))


def predict(
    estimator: Any, frame: Any, *, columns: _Names | None = None, output: str = "prediction"
) -> Any:
    """Append a column of predictions to a frame.

    Parameters
    ----------
    estimator : object
        Fitted estimator of this package.

    frame : pyspark.sql.DataFrame
        Samples.

    columns : str or list of str, default=None
        Columns of X; None for those of the fit, by name.

    output : str, default='prediction'
        Name of the new column. With several targets its values are arrays.

    Returns
    -------
    frame : pyspark.sql.DataFrame
    """
    return _each(Apply(estimator, "predict", columns, output), frame)


def predict_proba(
    estimator: Any, frame: Any, *, columns: _Names | None = None, output: str = "probability"
) -> Any:
    """Append a column of class probabilities (arrays) to a frame.

    Parameters
    ----------
    estimator : object
        Fitted classifier with `predict_proba`.

    frame, columns, output
        As in `predict`.

    Returns
    -------
    frame : pyspark.sql.DataFrame
    """
    return _each(Apply(estimator, "predict_proba", columns, output), frame)


def transform(
    estimator: Any, frame: Any, *, columns: _Names | None = None, output: str = "features"
) -> Any:
    """Append a column of features (arrays) to a frame.

    Parameters
    ----------
    estimator : object
        Fitted transformer of this package; a fit to some of the samples is enough.

    frame, columns, output
        As in `predict`.

    Returns
    -------
    frame : pyspark.sql.DataFrame
    """
    return _each(Apply(estimator, "transform", columns, output), frame)


class _Step:
    """Step of a fit on the batches of one partition; yields one row, or none without samples."""

    def __init__(self, what, columns, first=None):
        self.what, self.columns, self.first = what, columns, first

    def __call__(self, batches):
        import pyarrow as pa
        from pyspark import TaskContext

        part = TaskContext.get().partitionId()
        row = self.first[part] if self.first and part in self.first else 0
        state = None
        for batch in batches:
            if batch.num_rows == 0:
                continue
            rows = self.columns.taken(pa.Table.from_batches([batch]))
            state = distributed.merge([state, self.of(row, *rows)])
            row += distributed.rows_that_count(rows[0], rows[2])
        if state is not None:
            yield pa.RecordBatch.from_arrays(
                [pa.array([part], pa.int32()), pa.array([pickle.dumps(state)], pa.binary())],
                ["part", "state"],
            )


class _Counting(_Step):
    def of(self, _, *rows):
        return distributed.count(self.what, *rows)


class _Surveying(_Step):
    def of(self, row, *rows):
        return distributed.survey(self.what, *rows, first_row=row)


class _Summing(_Step):
    def of(self, _, *rows):
        return distributed.sums(self.what, *rows)


def _per_partition(frame, step):
    return frame.mapInArrow(step.__call__, "part int, state binary")


def _merged(states, depth):
    """Merge all states of a frame; None without samples."""

    def both(a, b):
        if not a or not b:
            return a or b
        return pickle.dumps(distributed.merge([pickle.loads(a), pickle.loads(b)]))

    rows = states.rdd.map(lambda row: bytes(row.state))
    merged = rows.treeAggregate(b"", both, both, depth)
    return pickle.loads(merged) if merged else None


def _each(apply, frame):
    """Append a column of results to a frame."""
    from pyspark.sql.types import ArrayType, StructField, StructType

    kind = _type_of(apply.none)
    kind = kind if apply.none.ndim == 1 else ArrayType(kind)
    schema = StructType([*frame.schema.fields, StructField(apply.output, kind)])

    def on_batches(batches):
        import pyarrow as pa

        for batch in batches:
            yield from apply(pa.Table.from_batches([batch])).to_batches()

    return frame.mapInArrow(on_batches, schema)


def _type_of(results):
    """Spark type for the values of an array."""
    from pyspark.sql import types

    kinds = {"f4": types.FloatType, "i4": types.IntegerType, "i8": types.LongType}
    if results.dtype.kind in "fiu":
        return kinds.get(np.dtype(results.dtype).str[1:], types.DoubleType)()
    return types.BooleanType() if results.dtype.kind == "b" else types.StringType()
