"""Appends results of estimators to Arrow tables, for Ray and Spark."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ._columns import rows_for


@dataclass
class Apply:
    """Appends the results of a method of a fitted estimator to a table, as a column."""

    estimator: Any
    method: str
    columns: Any
    output: str
    #: Results for no samples, which have the right dtype and shape.
    none: Any = field(init=False)

    def __post_init__(self):
        check_is_fitted(self.estimator)
        row = np.zeros((1, self.estimator.n_features_in_))
        names = getattr(self.estimator, "feature_names_in_", None)
        if names is not None:
            import pandas as pd

            row = pd.DataFrame(row, columns=names)
        self.none = self._results(row)[:0]

    def __call__(self, table):
        if self.output in table.column_names:
            raise ValueError(
                f"the rows have a column {self.output!r} already; name another by output"
            )
        results = self.none
        if table.num_rows > 0:
            results = self._results(rows_for(self.estimator, table, self.columns))
        return table.append_column(self.output, column(results))

    def _results(self, rows):
        return np.asarray(getattr(self.estimator, self.method)(rows))


def column(results):
    """Convert results to an Arrow column; two-dimensional results become lists."""
    import pyarrow as pa

    if results.ndim == 1:
        return pa.array(results)
    rows, width = results.shape
    values = pa.array(np.ascontiguousarray(results).ravel())
    starts = np.arange(rows + 1) * width
    # Spark only supports lists with 32-bit offsets.
    if starts[-1] < 2**31:
        return pa.ListArray.from_arrays(pa.array(starts, type=pa.int32()), values)
    return pa.LargeListArray.from_arrays(pa.array(starts, type=pa.int64()), values)
