"""Incremental fits: base classes of the estimators with `partial_fit`.

Samples are added to sums; the model is solved for when it is first needed.
"""

from __future__ import annotations

import warnings
from copy import copy, deepcopy
from numbers import Real
from typing import TYPE_CHECKING

import numpy as np
from sklearn.utils.validation import check_is_fitted

from . import _native
from ._arrays import table
from ._progress import heard
from ._scales import Early, is_in_memory, warn_of
from ._scan import Scan
from ._typing import _fit_context

if TYPE_CHECKING:
    from typing import Any

    from typing_extensions import Self


class Streaming:
    """Base class of estimators with `partial_fit`."""

    #: What `partial_fit` adds samples to, and `fit` does not keep; for a warning.
    _keeps = "sums"
    #: Whether scales, bandwidth and map are estimated again while few samples have come.
    _follows_scales = True

    def _is_first(self):
        """Whether `partial_fit` starts from no samples; warns if it follows `fit`."""
        if getattr(self, "_state", None) is not None:
            return False
        if hasattr(self, "_model"):
            warnings.warn(
                f"fit kept no {self._keeps} to add to; partial_fit of this {type(self).__name__} "
                "begins anew",
                stacklevel=4,
            )
        return True

    def _learn(self, X, y, weights, **labels):
        super()._learn(X, y, weights, **labels)
        self._state = self._early = None


class Growing(Streaming):
    """Base class of estimators whose `partial_fit` adds samples to sums.

    After `partial_fit`, ``_state`` is a tuple of the sums and the options of the first call, and
    ``_model`` is None until a prediction or a fitted attribute needs the model. ``_early`` is an
    `Early` with the first samples and their scales.
    """

    def _add(self, X, y, weights, *, classes=None, names=None):
        for name in ("probability", "importances", "fit_inverse_transform", "calibrate"):
            if getattr(self, name, False):
                raise ValueError(f"{name}={getattr(self, name)!r} needs all rows at once, by fit")
        y = None if y is None else np.ascontiguousarray(y)
        labels = {"classes": classes, "names": names}
        state, options = getattr(self, "_state", None) or (None, self._options(X))
        with heard(self.verbose, X.n_samples if isinstance(X, Scan) else X.shape[0]) as progress:
            rows, heeded = (table(X), y, weights), {**options, "progress": progress}
            if state is None:
                state = _native.GrowingState.begin(self._learner, *rows, heeded, **labels)
                self._state, self._early = (state, options), None
                if self._follows_scales and is_in_memory(X):
                    self._early = Early((X, y, weights))
            else:
                state.add(self._learner, *rows, heeded)
                self._follow((X, y, weights), labels)
        self._has_more_rows()

    def _follow(self, part, labels):
        """Sum all kept samples again with new scales if the scales do not hold any more.

        Warns, once, about samples outside the scales if the samples are not kept any more.
        """
        early = getattr(self, "_early", None)
        if early is None:
            return
        if not is_in_memory(part[0]):
            early.pin()
        elif early.add(part):
            X, y, weights = early.together()
            options = self._options_again(X)
            state = _native.GrowingState.begin(
                self._learner, table(X), y, weights, options, **labels
            )
            for X, y, weights in early.forgotten:
                state.forget(self._learner, table(X), y, weights, options)
            self._state = state, options
            early.settle()
        elif self._decides_scales():
            warn_of(self, part[0])

    def _options_again(self, X):
        """The options of the first call, with bandwidth and number of features for ``X``."""
        options, new = dict(self._state[1]), self._options(X)
        options["n_components"] = new.get("n_components")
        if "gamma" in options:
            options.pop("lengthscales", None)
            if "gamma" in new and "lengthscales" in new:
                options["lengthscales"] = new["lengthscales"]
        return options

    def _decides_scales(self):
        """Whether scales or bandwidth are estimated from the samples."""
        return isinstance(self._gamma(), str) or self.standardize not in ("no", None)

    def _pin(self):
        """Fix scales, bandwidth and map."""
        if getattr(self, "_early", None) is not None:
            self._early.pin()

    def _has_more_rows(self):
        """Drop the model of fewer samples and the fitted attributes."""
        self._model = None
        for name in [name for name in vars(self) if _is_found(name)]:
            delattr(self, name)

    def _current(self):
        if self._model is None:
            self._model = self._state[0].model(self._learner, self._model_options())
            self._facts()
        return self._model

    def _model_options(self):
        """The options that the sums are solved with."""
        return self._state[1]

    # A visible `__getattr__` would make type checkers accept every attribute name.
    if not TYPE_CHECKING:

        def __getattr__(self, name):
            # Solve for the model when one of its fitted attributes is read.
            state, model = self.__dict__.get("_state"), self.__dict__.get("_model")
            if state is not None and model is None and _is_found(name):
                self._current()
                if name in self.__dict__:
                    return self.__dict__[name]
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")


class GrowingNumbers(Growing):
    """Base class of regressors whose `partial_fit` adds samples to sums."""

    @_fit_context(prefer_skip_nested_validation=True)
    def partial_fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Add samples to earlier ones; equivalent to one `fit` to all of them.

        Parameters are fixed at the first call. Scales, bandwidth and map are estimated again from
        all samples as long as these hold at most four million values, and stay fixed afterwards; a
        warning then reports samples far outside the range that they were estimated from. `fit`
        keeps no sums: a call after `fit` starts from no samples, with a warning.

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


class GrowingLabels(Growing):
    """Base class of classifiers whose `partial_fit` adds samples to sums."""

    @_fit_context(prefer_skip_nested_validation=True)
    def partial_fit(
        self, X: Any, y: Any = None, classes: Any = None, sample_weight: Any = None
    ) -> Self:
        """Add samples to earlier ones; equivalent to one `fit` to all of them.

        Parameters are fixed at the first call; ``class_weight`` must be None or a dict. Scales,
        bandwidth and map are estimated again from all samples as long as these hold at most four
        million values, and stay fixed afterwards; a warning then reports samples far outside the
        range that they were estimated from. `fit` keeps no sums: a call after `fit` starts from no
        samples, with a warning.

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


#: Attributes that are set before there is a model.
_OF_ROWS = ("n_features_in_", "feature_names_in_", "classes_")


def _is_found(name):
    """Whether an attribute is set by the model."""
    learnt = name.endswith("_") and not name.startswith("_")
    return name == "_n_features_out" or (learnt and name not in _OF_ROWS)


class PartialRidge(Growing):
    """Base class of ridge regression and classification: penalties, and sums that merge."""

    def _takes_weights(self):
        # Leave-one-out errors of all samples need each sample by itself.
        return self.penalty is None or isinstance(self.penalty, Real)

    def _options(self, X):
        if self.penalize_intercept and not self.fit_intercept:
            raise ValueError(
                "penalize_intercept=True needs an intercept; set fit_intercept=True, or leave it out"
            )
        options = super()._options(X)
        if self.penalty is not None and not isinstance(self.penalty, (Real, str)):
            options["penalty"] = [float(penalty) for penalty in self.penalty]
        return options

    def _facts(self) -> None:
        super()._facts()
        self.penalty_ = self._model.penalty

    def _require_state(self):
        check_is_fitted(self)
        if getattr(self, "_state", None) is None:
            raise ValueError(
                f"this {type(self).__name__} was fitted by fit, which keeps no sums; use partial_fit"
            )

    def _require_sums_alone(self, asker):
        """Raise an error if a parameter needs more than mergeable sums."""
        for name, wrong in (
            ("penalty", not (self.penalty is None or isinstance(self.penalty, Real))),
            ("solver", self.solver == "cg"),
            ("leaves", self.leaves is not None),
            ("calibrate", self._calibrates()),
            ("probability", getattr(self, "probability", False)),
            ("importances", getattr(self, "importances", False)),
        ):
            if wrong:
                raise ValueError(
                    f"{name}={getattr(self, name)!r} needs all rows at once, by fit; {asker} takes a "
                    "number for penalty or None, another solver than 'cg', and neither leaves, "
                    "calibrate, probability nor importances"
                )

    def _add(self, X, y, weights, **labels):
        self._require_sums_alone("partial_fit")
        super()._add(X, y, weights, **labels)

    def _take_out(self, X, y, weights):
        state, options = self._state
        state.forget(self._learner, table(X), y, weights, options)
        if getattr(self, "_early", None) is not None:
            self._early.forget((X, y, weights))
        self._has_more_rows()

    def _model_options(self):
        # A numeric penalty may change between calls: sums do not depend on it.
        options = super()._model_options()
        if isinstance(self.penalty, Real):
            options = {**options, "penalty": float(self.penalty)}
        return options

    def without_rows(self) -> Self:
        """Copy with the same map and no samples, for `partial_fit` in another process.

        Returns
        -------
        estimator : object
            The copy; `merge` adds its samples to this estimator.
        """
        self._require_state()
        self._pin()
        other = copy(self)
        other._early = deepcopy(getattr(self, "_early", None))
        state, options = self._state
        other._state = state.empty(), options
        other._has_more_rows()
        return other

    def merge(self, other: Self) -> Self:
        """Add all samples of a copy that `without_rows` returned.

        Parameters
        ----------
        other : object
            The copy, possibly unpickled from another process.

        Returns
        -------
        self : object
        """
        self._require_state()
        other._require_state()
        self._pin()
        self._state[0].merge(other._state[0])
        self._has_more_rows()
        return self
