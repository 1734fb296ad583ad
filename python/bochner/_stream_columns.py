"""The columns of rows that come one by one, and whether their scales still hold."""

from __future__ import annotations

from math import isfinite
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Hashable, Mapping, Sequence
    from typing import Any

    from numpy.typing import NDArray

    Row = Mapping[Hashable, float]

#: A column needs another scale where the mean square of its distances from the mean, in deviations,
#: exceeds `WIDER`; a single value counts for at most `FAR` deviations.
WIDER, FAR = 4.0, 10.0
#: Effective number of rows in that mean.
RECENT = 1000
#: Rows in which a column varies that was constant, or is there that was not, before it counts.
FEW = 3
#: Rows per check.
TOGETHER = 8


class Columns:
    """The numbers of a row in the order of its columns, some of which may be missing.

    Also tracks how far rows lie from the rows that the scales were estimated from.
    """

    def __init__(self, rows: Sequence[Row]) -> None:
        names = {name: None for row in rows for name in row}
        self.names = sorted(names, key=str)
        self.means = []
        for name in self.names:
            there = [number(name, row[name]) for row in rows if name in row]
            self.means.append(sum(there) / len(there))
        self._known = frozenset(self.names)

    def settle(self, rows: NDArray[np.float64]) -> None:
        """Estimate the scales from these rows."""
        deviation = rows.std(axis=0)
        # The mean of equal numbers may be off by a rounding.
        self._constant = rows.min(axis=0) == rows.max(axis=0)
        self._center = np.where(self._constant, rows[0], rows.mean(axis=0))
        self._scale = np.where(self._constant, 1.0, deviation)
        self._rows = len(rows)
        self.restart()

    def restart(self) -> None:
        """Reset the scales."""
        self._moves = np.zeros(len(self.names), dtype=int)
        self._squares = np.ones(len(self.names))
        self._new: dict[Hashable, int] = {}
        self._waiting: list[list[float]] = []

    def kept(self, row: Row) -> dict[Hashable, float]:
        """A copy of a row with the columns that a map can be drawn for."""
        if self._known.issuperset(row):
            return dict(row)
        return {name: row[name] for name in row if name in self._known or _is_number(row[name])}

    def see(self, row: Row, numbers: list[float]) -> bool:
        """Take note of a row; whether it is time to ask which columns moved."""
        if not self._known.issuperset(row):
            for name in row:
                if name not in self._known:
                    self._new[name] = self._new.get(name, 0) + 1
        self._waiting.append(numbers)
        if len(self._waiting) < TOGETHER:
            return False
        away = np.abs((np.array(self._waiting) - self._center) / self._scale)
        self._waiting.clear()
        self._rows += TOGETHER
        self._moves += (self._constant & (away > 0.0)).sum(axis=0)
        square = (np.minimum(away, FAR) ** 2).mean(axis=0)
        self._squares += (square - self._squares) * (TOGETHER / min(self._rows, RECENT))
        return True

    def moved(self, all_rows: bool) -> str | None:
        """A column whose scale does not hold any more, in words.

        Columns that were not there count where ``all_rows`` can be learned again.
        """
        for wrong, what in (
            (self._moves >= FEW, "was constant and is not any more"),
            (~self._constant & (self._squares > WIDER), "has left its range"),
        ):
            if wrong.any():
                return f"column {self.names[int(np.argmax(wrong))]!r} {what}"
        new = [name for name, rows in self._new.items() if rows >= FEW]
        return f"column {new[0]!r} is new" if new and all_rows else None

    def __call__(self, row: Row) -> list[float]:
        get = row.get
        return [get(name, mean) for name, mean in zip(self.names, self.means)]

    def check(self, row: Row) -> None:
        """Errors where a column is no number, and names it."""
        for name in self.names:
            if name in row:
                number(name, row[name])


def number(name: Hashable, value: Any) -> float:
    try:
        number = float(value) if not isinstance(value, str) else None
    except (TypeError, ValueError):
        number = None
    if number is None:
        raise ValueError(
            f"column {name!r} is {value!r}, which is no number; encode it, as "
            "river.preprocessing.OneHotEncoder does"
        )
    if not isfinite(number):
        raise ValueError(f"column {name!r} is {number}; it is a finite number")
    return number


def _is_number(value: Any) -> bool:
    try:
        number("", value)
    except ValueError:
        return False
    return True


def without_far_values(rows: NDArray[np.float64]) -> NDArray[np.float64]:
    """Rows whose values are no further from the bulk of a column than this is wide.

    A single number that is far off would otherwise be the scale of its column.
    """
    low = np.quantile(rows, 0.02, axis=0, method="higher")
    high = np.quantile(rows, 0.98, axis=0, method="lower")
    width = np.where(high > low, high - low, np.inf)
    return np.clip(rows, low - width, high + width)
