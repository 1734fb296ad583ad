"""Incremental fits of estimators without sums: `partial_fit` stores the samples.

The model is fitted to all of them when it is first needed, so that several calls in a row cost one
fit.
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
    """Samples that were passed to `partial_fit`.

    Attributes
    ----------
    parts : list of tuple
        For each call: X, targets of shape (n_samples, n_targets), and weights or None.

    labels : dict
        For a classifier: ``classes``, the codes of all classes, and ``names``, their text or None.
        Empty for other estimators.

    before : object
        The last fitted model, where `warm_start` begins; None at first.
    """

    labels: dict
    parts: list = field(default_factory=list)
    before: Any = None

    def together(self):
        """Concatenate all parts into one, and return its X, targets, and weights or None."""
        self.parts = [together(self.parts)]
        return self.parts[0]

    def require_all_classes(self):
        """Raise an error if a class has no sample of positive weight."""
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
    """Base class of estimators that store samples. After `partial_fit`, ``_state`` is a `Kept`."""

    _keeps = "rows"

    def _add(self, X, y, weights, *, classes=None, names=None):
        if isinstance(X, Scan):
            part = _read(X, y, weights, self.memory)
        else:
            # The caller may overwrite its array.
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
        # `warm_start` begins at the previous model.
        self._model, model = kept.before, None
        try:
            self._learn(X, y, self._weights_together(y, weights), **labels)
            model = self._model
        finally:
            self._state, self._model = kept, model
        return model

    def _weights_together(self, y, weights):
        """Final weights of all samples, once all parts are known."""
        return weights


class KeepingNumbers(Keeping):
    """Base class of regressors that store samples."""

    @_fit_context(prefer_skip_nested_validation=True)
    def partial_fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Add samples to earlier ones; equivalent to one `fit` to all of them.

        The samples are stored in memory, and the model is fitted when it is first needed: no sums
        can replace the samples for this objective. Estimators with ``warm_start`` begin that fit at
        the previous model. A `Scan` is read into memory; pass one that is too large to `fit`. `fit`
        stores no samples: a call after `fit` starts from no samples, with a warning.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features), or Scan
            Samples to add.

        y : array-like of shape (n_samples,) or (n_samples, n_targets), default=None
            Target values; None to read them from the file, if X is a `Scan`.

        sample_weight : array-like of shape (n_samples,), default=None
            Sample weights; None for equal weights.

        Returns
        -------
        self : object
        """
        first = self._is_first()
        self._add(*self._validated(X, y, sample_weight, reset=first))
        return self


class KeepingLabels(Keeping):
    """Base class of classifiers that store samples."""

    @_fit_context(prefer_skip_nested_validation=True)
    def partial_fit(
        self, X: Any, y: Any = None, classes: Any = None, sample_weight: Any = None
    ) -> Self:
        """Add samples to earlier ones; equivalent to one `fit` to all of them.

        The samples are stored in memory, and the model is fitted when it is first needed: no sums
        can replace the samples for this objective. Every class must have a sample by then.
        Estimators with ``warm_start`` begin that fit at the previous model. A `Scan` is read into
        memory; pass one that is too large to `fit`. `fit` stores no samples: a call after `fit`
        starts from no samples, with a warning.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features), or Scan
            Samples to add.

        y : array-like of shape (n_samples,), default=None
            Class labels; None to read them from the file, if X is a `Scan`. They are numbers then.

        classes : array-like of shape (n_classes,), default=None
            All classes that occur in any call; required in the first call.

        sample_weight : array-like of shape (n_samples,), default=None
            Sample weights; None for equal weights.

        Returns
        -------
        self : object
        """
        rows, labels = self._part_of_labels(X, y, classes, sample_weight)
        self._add(*rows, **labels)
        return self

    def _weights_of_labels(self, codes, weights):
        # Class weights may depend on all samples; `_weights_together` applies them.
        return weights

    def _weights_together(self, y, weights):
        if self.class_weight is None:
            return weights
        codes = np.searchsorted(self._state.labels["classes"], y[:, 0])
        factor = self._class_factors(codes, weights)[codes]
        return factor if weights is None else weights * factor


class KeepingRows(Keeping):
    """Base class of estimators without targets that store samples."""

    @_fit_context(prefer_skip_nested_validation=True)
    def partial_fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Add samples to earlier ones; equivalent to one `fit` to all of them.

        The samples are stored in memory, and the model is fitted when it is first needed. A `Scan`
        is read into memory; pass one that is too large to `fit`. `fit` stores no samples: a call
        after `fit` starts from no samples, with a warning.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features), or Scan
            Samples to add.

        y : Ignored
            Ignored; present for API consistency.

        sample_weight : array-like of shape (n_samples,), default=None
            Sample weights, only if `fit` takes them; None for equal weights.

        Returns
        -------
        self : object
        """
        if sample_weight is not None and not self._takes_weights():
            raise TypeError(f"{type(self).__name__} takes no sample_weight; leave it out")
        self._add_rows(X, sample_weight)
        return self


def _read(X, y, weights, memory):
    """Read X, targets and weights of a scan; ``y`` and ``weights`` replace the file's, if given."""
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
