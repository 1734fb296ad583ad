"""Columns of an online stream: order, means, and checks that their scales still hold."""

from __future__ import annotations

from math import isfinite
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Hashable, Mapping, Sequence
    from typing import Any

    from numpy.typing import NDArray

    Row = Mapping[Hashable, float]

#: A column needs a new scale if the running mean of its squared z-scores exceeds `WIDER`. Z-scores
#: are clipped at `FAR`, so that one outlier changes little.
WIDER, FAR = 4.0, 10.0
#: Effective number of samples in that mean.
RECENT = 1000
#: Number of samples in which a constant column must vary, or a new column occur, to need a new map.
FEW = 3
#: Number of samples per update of the running means.
TOGETHER = 8


class Columns:
    """Converts samples to lists of numbers, with means for missing features.

    Also tracks how far samples lie from the mean, in the scale of the first samples.
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
        """Estimate the scales from these samples."""
        deviation = rows.std(axis=0)
        # The mean of equal numbers can have a rounding error, so use the number itself.
        self._constant = rows.min(axis=0) == rows.max(axis=0)
        self._center = np.where(self._constant, rows[0], rows.mean(axis=0))
        self._scale = np.where(self._constant, 1.0, deviation)
        self._rows = len(rows)
        self.restart()

    def restart(self) -> None:
        """Reset the statistics of later samples."""
        self._moves = np.zeros(len(self.names), dtype=int)
        self._squares = np.ones(len(self.names))
        self._new: dict[Hashable, int] = {}
        self._waiting: list[list[float]] = []

    def kept(self, row: Row) -> dict[Hashable, float]:
        """Copy a sample without new features that are not numbers."""
        if self._known.issuperset(row):
            return dict(row)
        return {name: row[name] for name in row if name in self._known or _is_number(row[name])}

    def see(self, row: Row, numbers: list[float]) -> bool:
        """Add a sample to the statistics; returns True after every `TOGETHER` samples."""
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
        """Describe a column whose scale does not hold any more, or return None.

        New columns are only reported with ``all_rows``, if all samples can be learned again.
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
        """Raise an error that names the first column that is not a number."""
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
    """Clip values to the 2% to 98% quantile range of each column, extended by its width.

    A single outlier would otherwise determine the scale of its column.
    """
    low = np.quantile(rows, 0.02, axis=0, method="higher")
    high = np.quantile(rows, 0.98, axis=0, method="lower")
    width = np.where(high > low, high - low, np.inf)
    return np.clip(rows, low - width, high + width)
