"""Ridge regression whose rows come bit by bit: from sums to a model, whenever one is asked for."""

import warnings
from copy import copy
from numbers import Real

from sklearn.utils.validation import check_is_fitted

from . import _native
from ._arrays import table


class PartialRidge:
    """What ridge regression and classification share: penalties, and sums that grow.

    ``_state`` has the sums where rows came by `partial_fit`, and ``_model`` is None until somebody
    asks for the model of the rows so far.
    """

    def _takes_weights(self):
        # A choice by leave-one-out errors sees rows one by one.
        return isinstance(self.penalty, Real)

    def _options(self, X):
        options = super()._options(X)
        if not isinstance(self.penalty, (Real, str)):
            options["penalty"] = [float(penalty) for penalty in self.penalty]
        return options

    def _facts(self):
        super()._facts()
        self.penalty_ = self._model.penalty

    def _learn(self, X, y, weights, **labels):
        super()._learn(X, y, weights, **labels)
        self._state = None

    def _is_first(self):
        """Whether `partial_fit` begins."""
        if getattr(self, "_state", None) is not None:
            return False
        if hasattr(self, "_model"):
            warnings.warn(
                f"fit kept no sums to add rows to; partial_fit of this {type(self).__name__} begins "
                "anew",
                stacklevel=4,
            )
        return True

    def _require_state(self):
        check_is_fitted(self)
        if getattr(self, "_state", None) is None:
            raise ValueError(
                f"this {type(self).__name__} was fitted by fit, which keeps no sums; use partial_fit"
            )

    def _require_sums_alone(self, asker):
        """Errors where the parameters ask for more than sums that merge."""
        for name, wrong in (
            ("penalty", not isinstance(self.penalty, Real)),
            ("solver", self.solver == "cg"),
            ("probability", getattr(self, "probability", False)),
        ):
            if wrong:
                raise ValueError(
                    f"{name}={getattr(self, name)!r} needs all rows at once, by fit; {asker} takes a "
                    "number for penalty, another solver than 'cg', and no probability"
                )

    def _add(self, X, y, weights, *, classes=None, names=None):
        self._require_sums_alone("partial_fit")
        state = getattr(self, "_state", None)
        if state is None:
            state = _native.RidgeState.begin(
                table(X), y, self._options(X), classes=classes, names=names
            )
        state.add(table(X), y, weights, self.device, self.memory)
        self._state = state
        self._changed()

    def _take_out(self, X, y, weights):
        self._state.forget(table(X), y, weights, self.device, self.memory)
        self._changed()

    def without_rows(self):
        """A copy with the same map and no rows yet, to be given rows by `partial_fit` elsewhere.

        Returns
        -------
        estimator : object
            What it has seen `merge` adds to this one.
        """
        self._require_state()
        other = copy(self)
        other._state = self._state.empty()
        other._model = None
        return other

    def merge(self, other):
        """Add all rows of a copy that `without_rows` gave.

        Parameters
        ----------
        other : object
            The copy, or a pickled one from another process.

        Returns
        -------
        self : object
        """
        self._require_state()
        other._require_state()
        self._state.merge(other._state)
        self._changed()
        return self

    def _changed(self):
        self._model = None
        self.penalty_ = float(self.penalty)

    def _current(self):
        if self._model is None:
            self._model = self._state.model(self.penalty_, self.fit_intercept, self.device)
        return self._model
