"""Fits and predictions of Spark's data frames, on the executors.

A fit is `bochner.distributed` inside ``mapInArrow``: each partition surveys and sums its own rows,
and ``treeAggregate`` merges. Each executor needs this package, NumPy, scikit-learn, pandas and
PyArrow. A task that dies is run again as Spark is set up to.

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
    """Fit to the rows of all partitions. Each pass makes the rows again: ``cache`` what is slow.

    Parameters
    ----------
    estimator : KernelRidgeRegressor or KernelRidgeClassifier
        With a number or None for ``penalty``.

    frame : pyspark.sql.DataFrame
        Rows.

    y : str or list of str
        Column of the targets, or several.

    sample_weight : str, default=None
        Column of what each row counts.

    columns : str or list of str, default=None
        Columns of X: numbers, or arrays of numbers of one length, which ``vector_to_array`` makes
        of vectors. None for all others.

    depth : int, default=2
        Of the tree of merges.

    Returns
    -------
    estimator : object
        The one given, fitted as one process would fit it to all rows.
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
    """The frame with a column of predictions beside its own.

    Parameters
    ----------
    estimator : object
        Any estimator of this package, fitted.

    frame : pyspark.sql.DataFrame
        Rows.

    columns : str or list of str, default=None
        Columns of X; None for those of the fit, by their names.

    output : str, default='prediction'
        The column's name. Of several targets it holds an array in each row.

    Returns
    -------
    frame : pyspark.sql.DataFrame
    """
    return _each(Apply(estimator, "predict", columns, output), frame)


def predict_proba(
    estimator: Any, frame: Any, *, columns: _Names | None = None, output: str = "probability"
) -> Any:
    """The frame with a column that holds an array of probabilities in each row.

    Parameters
    ----------
    estimator : object
        A classifier that has them, fitted.

    frame, columns, output
        As those of `predict`.

    Returns
    -------
    frame : pyspark.sql.DataFrame
    """
    return _each(Apply(estimator, "predict_proba", columns, output), frame)


def transform(
    estimator: Any, frame: Any, *, columns: _Names | None = None, output: str = "features"
) -> Any:
    """The frame with a column that holds an array of features in each row.

    Parameters
    ----------
    estimator : object
        Any transformer of this package, fitted, say to some of the rows.

    frame, columns, output
        As those of `predict`.

    Returns
    -------
    frame : pyspark.sql.DataFrame
    """
    return _each(Apply(estimator, "transform", columns, output), frame)


class _Step:
    """A step of a fit on the batches of one partition, which gives one row, or none of no rows."""

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
    """All states of a frame as one, or None."""

    def both(a, b):
        if not a or not b:
            return a or b
        return pickle.dumps(distributed.merge([pickle.loads(a), pickle.loads(b)]))

    rows = states.rdd.map(lambda row: bytes(row.state))
    merged = rows.treeAggregate(b"", both, both, depth)
    return pickle.loads(merged) if merged else None


def _each(apply, frame):
    """The frame with the results beside its columns."""
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
    """Spark's type for values of an array."""
    from pyspark.sql import types

    kinds = {"f4": types.FloatType, "i4": types.IntegerType, "i8": types.LongType}
    if results.dtype.kind in "fiu":
        return kinds.get(np.dtype(results.dtype).str[1:], types.DoubleType)()
    return types.BooleanType() if results.dtype.kind == "b" else types.StringType()
