"""Predictions and features as expressions of polars.

An expression takes columns by their names and gives one, wherever polars takes expressions: in
frames that are there, and in lazy ones whose rows stream by.

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
    """Predictions of rows.

    Parameters
    ----------
    estimator : object
        Any estimator of this package, fitted.

    columns : str or list of str, default=None
        Columns of X, in the order of the fit; None for those of the fit, by their names. A column may
        hold arrays or lists of one length, which stand side by side.

    output : str, default='prediction'
        The column's name. Of several targets it holds an array in each row.

    Returns
    -------
    expression : polars.Expr
    """
    return _expression(estimator, "predict", columns, output)


def predict_proba(
    estimator: Any, *, columns: _Names | None = None, output: str = "probability"
) -> pl.Expr:
    """Probabilities of rows, an array in each, in the order of ``classes_``.

    Parameters
    ----------
    estimator : object
        A classifier that has them, fitted.

    columns, output
        As those of `predict`.

    Returns
    -------
    expression : polars.Expr
    """
    return _expression(estimator, "predict_proba", columns, output)


def transform(
    estimator: Any, *, columns: _Names | None = None, output: str = "features"
) -> pl.Expr:
    """Features of rows, an array in each.

    Parameters
    ----------
    estimator : object
        A transformer, fitted.

    columns, output
        As those of `predict`.

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
    """What a method of a fitted estimator gives of a series of rows."""

    estimator: Any
    method: str
    of_fit: Any
    #: Results of no rows.
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
    """A column of numbers, or of lists of them, as an array."""
    if isinstance(column.dtype, pl.List):
        lengths = column.list.len()
        if column.null_count() or lengths.n_unique() > 1:
            raise ValueError(
                f"the lists of column {column.name!r} differ in length, or one is missing"
            )
        column = column.list.to_array(int(lengths[0]))
    return column.to_numpy()


def _series(results):
    """Results as a series: values, or an array in each row where there are two dimensions."""
    if results.ndim == 1:
        return pl.Series(results.tolist() if results.dtype == object else results)
    return pl.Series(np.ascontiguousarray(results))
