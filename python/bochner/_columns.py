"""Splits tables into X, targets and weights by column names, for distributed fits."""

from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass
class Columns:
    """Roles of the columns of a table.

    Attributes
    ----------
    rows : tuple of str or None
        Columns of X; None for all columns without another role.

    targets : tuple of str
        Target columns.

    one_target : bool
        Whether the targets were given as one name, so that y is one-dimensional.

    weight : str or None
        Column of sample weights.
    """

    rows: Any
    targets: Any
    one_target: bool
    weight: Any

    @classmethod
    def of(cls, columns, y, sample_weight):
        """Create from the arguments of a fit, each a name, several names or None."""
        rows = None if columns is None else _several(columns)
        return cls(rows, _several(y), isinstance(y, str), sample_weight)

    def named(self, names):
        """Columns of X among all column names; raises an error if a named column is missing."""
        others = {*self.targets, self.weight}
        rows = [name for name in names if name not in others] if self.rows is None else self.rows
        asked = [*rows, *self.targets, *([] if self.weight is None else [self.weight])]
        missing = [name for name in asked if name not in names]
        if missing:
            raise ValueError(f"no column {missing[0]!r}; there are {', '.join(map(str, names))}")
        if not rows:
            raise ValueError("no columns are left for X")
        return list(rows)

    def taken(self, table):
        """X, y and weights of an Arrow table."""
        X = matrix(table.select(self.named(table.column_names)))
        y = np.column_stack([_numbers(table, name) for name in self.targets])
        weights = None if self.weight is None else _numbers(table, self.weight)
        return X, y[:, 0] if self.one_target else y, weights


def matrix(table):
    """Convert an Arrow table to X: a data frame, or an array if a column contains lists."""
    if not any(_is_list(field.type) for field in table.schema):
        return table.to_pandas()
    return np.column_stack([_flat(table, field) for field in table.schema])


def rows_for(estimator, table, columns=None):
    """Convert an Arrow table to X for a fitted estimator, with columns selected by name.

    Parameters
    ----------
    estimator : object
        Fitted estimator.

    table : pyarrow.Table
        Table with the columns of X and possibly others, in any order.

    columns : str, list of str or None
        Columns of X; None for those of the fit.
    """
    names = _several(columns) if columns is not None else None
    if names is None:
        names = getattr(estimator, "feature_names_in_", None)
    if names is None:
        raise ValueError(
            f"{type(estimator).__name__} was fitted to rows without names; give columns"
        )
    return matrix(table.select(Columns(tuple(names), (), False, None).named(table.column_names)))


def _several(names):
    return (names,) if isinstance(names, str) else tuple(names)


def _numbers(table, name):
    return table.column(name).to_numpy()


def _is_list(kind):
    from pyarrow import types

    # Ray's tensor type is an extension type that stores lists.
    kind = getattr(kind, "storage_type", kind)
    return types.is_list(kind) or types.is_large_list(kind) or types.is_fixed_size_list(kind)


def _flat(table, field):
    """Convert a column of numbers or lists to a two-dimensional array."""
    column = table.column(field.name)
    if not _is_list(field.type):
        return column.to_numpy()[:, None]
    column = column.combine_chunks()
    column = getattr(column, "storage", column)
    values = column.flatten().to_numpy(zero_copy_only=False)
    width, rest = divmod(len(values), max(len(column), 1))
    lengths = column.value_lengths()
    if rest or column.null_count or (lengths.to_numpy(zero_copy_only=False) != width).any():
        raise ValueError(f"the lists of column {field.name!r} differ in length, or one is missing")
    return values.reshape(len(column), width)
