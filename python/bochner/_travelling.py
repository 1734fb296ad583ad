"""What travels in a fit of rows that lie in several processes, and how it merges."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from . import _native

if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import TypeVar

    _Merges = TypeVar("_Merges", "Count", "Part", "Sums")


@dataclass
class Count:
    """How many rows there are, without those of weight 0, and what the rows of each label count.

    Attributes
    ----------
    rows : int

    labels : dict
        Of a classifier.
    """

    rows: int
    labels: dict[Any, float]

    def __add__(self, other: Count) -> Count:
        return Count(self.rows + other.rows, _added(self.labels, other.labels))


@dataclass
class Part:
    """What is known of some of the rows; `merge` joins parts.

    Attributes
    ----------
    n_features : int
        Columns of X.

    names : list of str or None
        Their names.

    labels : set or None
        Of a classifier.
    """

    _survey: Any
    n_features: int
    names: list[str] | None
    labels: set[Any] | None
    _one_target: bool

    def __add__(self, other: Part) -> Part:
        if (self.n_features, self.names) != (other.n_features, other.names):
            raise ValueError(
                f"parts of the rows differ in their columns: {_columns(self)}, and {_columns(other)}"
            )
        labels = None if self.labels is None else self.labels | other.labels
        survey = self._survey.merge(other._survey)
        one_target = self._one_target and other._one_target
        return Part(survey, self.n_features, self.names, labels, one_target)


@dataclass
class Sums:
    """Sums of the features of some of the rows; `merge` joins them.

    Attributes
    ----------
    triangle : bytes
        As the library writes them, one half of what is symmetric.
    """

    triangle: bytes

    def __add__(self, other: Sums) -> Sums:
        return Sums(_native.merge_sums(self.triangle, other.triangle))


@dataclass
class Plan:
    """What every worker needs to form sums: the survey and the options, but no parameters.

    Attributes
    ----------
    estimator : object
        With all but the sums.
    """

    estimator: Any
    _survey: Any
    _options: dict[str, Any]
    _labels: dict[str, Any]
    _token: str = field(default_factory=lambda: uuid4().hex)


def merge(parts: Iterable[_Merges | None]) -> _Merges | None:
    """One of several parts or sums; those of no rows are None, and left out.

    Parameters
    ----------
    parts : iterable of Count, Part, Sums or None
        All of one kind.

    Returns
    -------
    Count, Part, Sums or None
    """
    merged = None
    for part in parts:
        merged = part if merged is None else merged if part is None else merged + part
    return merged


def _added(labels, more):
    return {
        label: labels.get(label, 0.0) + more.get(label, 0.0)
        for label in labels.keys() | more.keys()
    }


def _columns(part):
    return f"{part.n_features} of no name" if part.names is None else ", ".join(part.names)
