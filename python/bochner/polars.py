"""Predictions and features as polars expressions.

An expression takes columns by name and returns one column. It works in eager and lazy frames,
including streaming ones.

Examples
--------
::

    import bochner.polars
    import polars as pl
    from bochner import KernelRidgeRegressor

    houses = pl.read_parquet("houses.parquet")
    model = KernelRidgeRegressor().fit(houses.drop("price"), houses["price"])
    prices = pl.scan_parquet("new/*.parquet").with_columns(bochner.polars.predict(model))
    prices.sink_parquet("prices.parquet")
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
import polars as pl
from sklearn.utils.validation import check_is_fitted

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from typing_extensions import TypeAlias

    _Names: TypeAlias = "str | Sequence[str]"


def predict(
    estimator: Any, *, columns: _Names | None = None, output: str = "prediction"
) -> pl.Expr:
    """Expression for predictions.

    Parameters
    ----------
    estimator : object
        Fitted estimator of this package.

    columns : str or list of str, default=None
        Columns of X, in the order of the fit; None for those of the fit, by name. Columns of arrays
        or lists of equal length are concatenated.

    output : str, default='prediction'
        Name of the resulting column. With several targets its values are arrays.

    Returns
    -------
    expression : polars.Expr
    """
    return _expression(estimator, "predict", columns, output)


def predict_proba(
    estimator: Any, *, columns: _Names | None = None, output: str = "probability"
) -> pl.Expr:
    """Expression for class probabilities: arrays in the order of ``classes_``.

    Parameters
    ----------
    estimator : object
        Fitted classifier with `predict_proba`.

    columns, output
        As in `predict`.

    Returns
    -------
    expression : polars.Expr
    """
    return _expression(estimator, "predict_proba", columns, output)


def transform(
    estimator: Any, *, columns: _Names | None = None, output: str = "features"
) -> pl.Expr:
    """Expression for features: an array for each sample.

    Parameters
    ----------
    estimator : object
        Fitted transformer.

    columns, output
        As in `predict`.

    Returns
    -------
    expression : polars.Expr
    """
    return _expression(estimator, "transform", columns, output)


def _expression(estimator, method, columns, output):
    check_is_fitted(estimator)
    of_fit = getattr(estimator, "feature_names_in_", None)
    names = [columns] if isinstance(columns, str) else columns
    if names is None and of_fit is None:
        raise ValueError(
            f"{type(estimator).__name__} was fitted to rows without names; give columns"
        )
    names = list(of_fit if names is None else names)
    apply = _OfRows(estimator, method, of_fit)
    rows = pl.struct(names).map_batches(apply, return_dtype=apply.none.dtype, is_elementwise=True)
    return rows.alias(output)


@dataclass
class _OfRows:
    """Applies a method of a fitted estimator to a series of structs."""

    estimator: Any
    method: str
    of_fit: Any
    #: Empty result, with the dtype of the output.
    none: pl.Series = field(init=False)

    def __post_init__(self):
        zeros = pl.DataFrame(np.zeros((1, self.estimator.n_features_in_)))
        self.none = self(zeros.to_struct())[:0]

    def __call__(self, rows: pl.Series) -> pl.Series:
        frame = rows.struct.unnest()
        if not len(frame):
            return self.none
        if any(dtype.is_nested() for dtype in frame.dtypes):
            frame = np.column_stack([_side_by_side(column) for column in frame])
        elif self.of_fit is None:
            frame = frame.to_numpy()
        elif frame.width == len(self.of_fit):
            frame.columns = list(self.of_fit)
        return _series(np.asarray(getattr(self.estimator, self.method)(frame)))


def _side_by_side(column):
    """Convert a column of numbers, arrays or lists to a NumPy array."""
    if isinstance(column.dtype, pl.List):
        lengths = column.list.len()
        if column.null_count() or lengths.n_unique() > 1:
            raise ValueError(
                f"the lists of column {column.name!r} differ in length, or one is missing"
            )
        column = column.list.to_array(int(lengths[0]))
    return column.to_numpy()


def _series(results):
    """Convert results to a series; two-dimensional results become a series of arrays."""
    if results.ndim == 1:
        return pl.Series(results.tolist() if results.dtype == object else results)
    return pl.Series(np.ascontiguousarray(results))
