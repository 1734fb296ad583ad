"""Messages of distributed fits, and how they are merged."""

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
    """Number of samples, and the total sample weight of each label.

    Attributes
    ----------
    rows : int
        Number of samples with nonzero weight.

    labels : dict
        Total weight of each label; empty for regressors.
    """

    rows: int
    labels: dict[Any, float]

    def __add__(self, other: Count) -> Count:
        return Count(self.rows + other.rows, _added(self.labels, other.labels))


@dataclass
class Part:
    """Survey of some of the samples; `merge` merges surveys.

    Attributes
    ----------
    n_features : int
        Number of columns of X.

    names : list of str or None
        Names of the columns.

    labels : set or None
        Labels that occur; None for regressors.
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
    """Normal equations summed over some of the samples; `merge` merges them.

    Attributes
    ----------
    triangle : bytes
        Serialised sums, with one triangle of the symmetric matrix.
    """

    triangle: bytes

    def __add__(self, other: Sums) -> Sums:
        return Sums(_native.merge_sums(self.triangle, other.triangle))


@dataclass
class Plan:
    """Input of each worker for sums: survey and options, from which it draws the features.

    Attributes
    ----------
    estimator : object
        The estimator, with classes and feature names but without sums.
    """

    estimator: Any
    _survey: Any
    _options: dict[str, Any]
    _labels: dict[str, Any]
    _token: str = field(default_factory=lambda: uuid4().hex)


def merge(parts: Iterable[_Merges | None]) -> _Merges | None:
    """Merge messages of one type; None, the message of no samples, is skipped.

    Parameters
    ----------
    parts : iterable of Count, Part, Sums or None
        Messages of one type.

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
