"""Learners to whom rows are no sums: those that come bit by bit are kept, and fitted together.

A model is fitted when somebody asks for one, so that parts in a row cost one fit.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from ._partial import Growing
from ._scales import together
from ._scan import Scan
from ._typing import _fit_context

if TYPE_CHECKING:
    from typing_extensions import Self


@dataclass
class Kept:
    """Rows that came by `partial_fit`.

    Attributes
    ----------
    parts : list of tuple
        Rows, targets of shape (n_samples, n_targets) and weights or None, as the calls gave them.

    labels : dict
        Of a classifier: ``classes``, the numbers of all labels, and ``names``, their text or None.

    before : object
        The model of the rows before the last that came; None at first.
    """

    labels: dict
    parts: list = field(default_factory=list)
    before: Any = None

    def together(self):
        """All rows, targets, and weights or None; they are one part from then on."""
        self.parts = [together(self.parts)]
        return self.parts[0]

    def require_all_classes(self):
        """Errors while a class has no rows that count."""
        _, targets, weights = self.together()
        present = np.unique(targets if weights is None else targets[weights > 0])
        missing = ~np.isin(self.labels["classes"], present)
        if missing.any():
            names = self.labels["names"] or self.labels["classes"]
            raise ValueError(
                f"the class {np.asarray(names, dtype=object)[missing][0]!r} has no rows yet, and a "
                "model needs rows of each; add some by partial_fit"
            )


class Keeping(Growing):
    """Learners whose rows are kept. ``_state`` is a `Kept` where they came by `partial_fit`."""

    _keeps = "rows"

    def _add(self, X, y, weights, *, classes=None, names=None):
        if isinstance(X, Scan):
            part = _read(X, y, weights, self.memory)
        else:
            # The caller may write over its own.
            part = X.copy(), y, None if weights is None else weights.copy()
        kept = getattr(self, "_state", None)
        if kept is None:
            kept = Kept({} if classes is None else {"classes": classes, "names": names})
        elif self._model is not None:
            kept.before = self._model
        kept.parts.append(part)
        self._state = kept
        self._has_more_rows()

    def _current(self):
        if self._model is not None:
            return self._model
        kept = self._state
        labels = {}
        if kept.labels:
            kept.require_all_classes()
            labels = {"classes": True, "names": kept.labels["names"]}
        X, y, weights = kept.together()
        # What `warm_start` goes on from.
        self._model, model = kept.before, None
        try:
            self._learn(X, y, self._weights_together(y, weights), **labels)
            model = self._model
        finally:
            self._state, self._model = kept, model
        return model

    def _weights_together(self, y, weights):
        """What all rows count, those of all parts at hand."""
        return weights


class KeepingNumbers(Keeping):
    """A regressor whose rows are kept."""

    @_fit_context(prefer_skip_nested_validation=True)
    def partial_fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Add rows to those of earlier calls; the result is that of one `fit` to all of them.

        The rows are kept in memory, and fitted when somebody asks for a model: this loss has no sums
        that could stand for them. With ``warm_start``, where there is one, that fit begins at the
        model before. Rows of a `Scan` are read; `fit` takes one that does not fit into memory. `fit`
        keeps no rows: after it this begins anew, and warns.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features), or Scan
            Rows.

        y : array-like of shape (n_samples,) or (n_samples, n_targets), default=None
            Targets; None for those of the file of a `Scan`.

        sample_weight : array-like of shape (n_samples,), default=None
            What each row counts.

        Returns
        -------
        self : object
        """
        first = self._is_first()
        self._add(*self._validated(X, y, sample_weight, reset=first))
        return self


class KeepingLabels(Keeping):
    """A classifier whose rows are kept."""

    @_fit_context(prefer_skip_nested_validation=True)
    def partial_fit(
        self, X: Any, y: Any = None, classes: Any = None, sample_weight: Any = None
    ) -> Self:
        """Add rows to those of earlier calls; the result is that of one `fit` to all of them.

        The rows are kept in memory, and fitted when somebody asks for a model: this loss has no sums
        that could stand for them. Every class needs a row by then. With ``warm_start``, where there
        is one, that fit begins at the model before. Rows of a `Scan` are read; `fit` takes one that
        does not fit into memory. `fit` keeps no rows: after it this begins anew, and warns.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features), or Scan
            Rows.

        y : array-like of shape (n_samples,), default=None
            Labels; None for those of the file of a `Scan`, which are numbers.

        classes : array-like of shape (n_classes,), default=None
            All labels there will be; the first call needs them.

        sample_weight : array-like of shape (n_samples,), default=None
            What each row counts.

        Returns
        -------
        self : object
        """
        rows, labels = self._part_of_labels(X, y, classes, sample_weight)
        self._add(*rows, **labels)
        return self

    def _weights_of_labels(self, codes, weights):
        # What a class counts may follow from all rows.
        return weights

    def _weights_together(self, y, weights):
        if self.class_weight is None:
            return weights
        codes = np.searchsorted(self._state.labels["classes"], y[:, 0])
        factor = self._class_factors(codes, weights)[codes]
        return factor if weights is None else weights * factor


class KeepingRows(Keeping):
    """A learner of rows alone that are kept."""

    @_fit_context(prefer_skip_nested_validation=True)
    def partial_fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Add rows to those of earlier calls; the result is that of one `fit` to all of them.

        The rows are kept in memory, and fitted when somebody asks for a model. Rows of a `Scan` are
        read; `fit` takes one that does not fit into memory. `fit` keeps no rows: after it this begins
        anew, and warns.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features), or Scan
            Rows.

        y : Ignored
            For pipelines.

        sample_weight : array-like of shape (n_samples,), default=None
            What each row counts, where `fit` takes weights.

        Returns
        -------
        self : object
        """
        if sample_weight is not None and not self._takes_weights():
            raise TypeError(f"{type(self).__name__} takes no sample_weight; leave it out")
        self._add_rows(X, sample_weight)
        return self


def _read(X, y, weights, memory):
    """Rows of a scan, targets and weights or None; those of the file where none are given."""
    parts = list(X.chunks(memory))
    if not parts:
        raise ValueError(f"{X!r} has no rows")
    rows = np.concatenate([part.numpy() for part in parts])
    if y is None:
        y = np.concatenate([part.targets().reshape(len(part.numpy()), -1) for part in parts])
    if weights is None and parts[0].weights() is not None:
        weights = np.concatenate([part.weights() for part in parts])
    for name, given in (("y", y), ("sample_weight", weights)):
        if given is not None and len(given) != len(rows):
            raise ValueError(f"{name} has {len(given)} rows, and {X!r} has {len(rows)}")
    return rows, y, weights
