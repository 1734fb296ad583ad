"""Base classes of ridge regression on given features, with scikit-learn's alpha.

In this package, a head is a linear model on features that the caller computed.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import numpy as np

from . import _native
from ._learning import Learner
from ._parameters import CALIBRATE, COUNT, NOT_NEGATIVE
from ._partial import Growing, PartialRidge
from ._scan import Scan

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from typing_extensions import Self

#: Constraints of the parameters that all heads share.
SHARED = {
    "fit_intercept": ["boolean"],
    "device": [str],
    "memory": [COUNT, None],
    "verbose": ["verbose"],
}
#: Constraints for classification heads with one alpha.
ONE = {"alpha": [NOT_NEGATIVE], **SHARED}
#: Constraints for regression heads, where alpha may be an array with one value per target.
EACH = {"alpha": [NOT_NEGATIVE, np.ndarray], "calibrate": CALIBRATE, **SHARED}


class Head(Growing):
    """Base class of all heads: options of the native module, and fits to sums.

    The native penalty is per sample: alpha divided by the total sample weight, ``_weight``.
    """

    _learner = "ridge"
    _weight = 0.0
    # Features are not scaled.
    _follows_scales = False

    def _fixed_alpha(self):
        """The alpha of the model: one value, or one for each target."""
        return self.alpha

    def _is_of_each(self):
        """Whether each target has its own alpha."""
        return np.size(self._fixed_alpha()) > 1

    def _penalty(self):
        return float(np.max(self._fixed_alpha())) / (self._weight or 1.0)

    def _options(self, X):
        return {
            "kernel": "linear",
            "map": "identity",
            "lengthscales": [1.0],
            "standardize": "no",
            "linear": "no",
            "target_scale": "as-is",
            "seed": 0,
            "device": self._where(),
            "memory": self.memory,
            "columns": self._names(),
            "fit_intercept": self.fit_intercept,
            "probability": getattr(self, "probability", False),
            "penalty": self._penalty(),
        }

    def _model_options(self):
        return {**self._state[1], "penalty": self._penalty()}

    def _is_unpenalised(self):
        return bool(np.min(self._fixed_alpha()) == 0.0)

    def _where(self):
        # Without a penalty, sums must be in float64, which GPUs do not provide.
        return "cpu" if self._is_unpenalised() and self.device == "auto" else self.device

    def _exact(self, X):
        """X, in float64 if alpha is 0: float32 sums do not resolve collinear features."""
        return X if isinstance(X, Scan) or not self._is_unpenalised() else X.astype(np.float64)

    def _learn(self, X, y, weights, *, classes=False, names=None):
        self._weight = weight_of(X, weights)
        X = self._exact(X)
        if self.fit_intercept and not self._is_of_each():
            super()._learn(X, y, weights, classes=classes, names=names)
            return
        if getattr(self, "probability", False):
            raise ValueError("probability=True needs an intercept; set fit_intercept=True")
        if y is None and classes:
            raise ValueError(
                "fit_intercept=False needs labels; give the fit an array of them beside the scan"
            )
        self._state = None
        self._add(X, y, weights, classes=np.unique(y).tolist() if classes else None, names=names)
        self._current()
        self._state = None

    def _add(self, X, y, weights, **labels):
        self._require_alphas(X.n_targets if y is None else y.shape[1])
        X = self._exact(X)
        if getattr(self, "_state", None) is None:
            self._weight = 0.0
            if not self.fit_intercept:
                self._begin_at_zero(X, y, **labels)
        more = weight_of(X, weights)
        super()._add(X, y, weights, **labels)
        self._weight += more

    def _begin_at_zero(self, X, y, classes=None, names=None):
        """Begin empty sums of features that are not centred.

        The native module centres features at the means of the first samples, which an intercept
        compensates. Without an intercept, the first samples are zeros, which are then removed.
        """
        columns = X.n_features if isinstance(X, Scan) else X.shape[1]
        targets = X.n_targets if y is None else y.shape[1]
        zeros, first = np.zeros((2, columns)), np.full((2, targets), classes[0] if classes else 0.0)
        options = self._options(X)
        labels = {"classes": classes, "names": names}
        begun = _native.GrowingState.begin(self._learner, zeros, first, None, options, **labels)
        self._state = begun.empty(), options

    def _require_alphas(self, targets):
        """Raise an error unless there is one alpha in all, or one per target."""
        alphas = np.atleast_1d(self._fixed_alpha())
        if len(alphas) not in (1, targets):
            raise ValueError(
                "Number of targets and number of penalties do not correspond: "
                f"{len(alphas)} != {targets}"
            )
        if not (np.isfinite(alphas) & (alphas >= 0)).all():
            raise ValueError(f"alpha is {alphas}; give numbers that are not negative")

    def _current(self):
        if self._model is None and self._is_of_each():
            # All alphas share the sums: solve for all targets with each alpha, then pick columns.
            alphas, place = np.unique(self._fixed_alpha(), return_inverse=True)
            state, options = self._state
            models = [
                state.model(self._learner, {**options, "penalty": float(alpha) / self._weight})
                for alpha in alphas
            ]
            self._model = _native.of_each(models, place.tolist())
        return super()._current()

    def _facts(self) -> None:
        Learner._facts(self)

    def _fitted(self):
        """The native model; raises AttributeError before a fit, so that `hasattr` is False."""
        if not self.__sklearn_is_fitted__():
            raise AttributeError("not fitted")
        return self._current()

    def _intercepts(self):
        """Predictions for a sample of zeros, (n_outputs,): undoes the centring of features."""
        beta, intercept = self._fitted().coefficients()
        return intercept - _centre(self._current()) @ beta

    def _loaded(self):
        super()._loaded()
        ground = self._model.describe()
        if not ground.endswith("as they are"):
            raise ValueError(f"the model stands on {ground}; load it by KernelRidge...")


class AmountsHead:
    """Mixin of regression heads: coefficients in scikit-learn's shapes, and intervals."""

    def _learn(self, X, y, weights, **labels):
        if self.calibrate is None:
            super()._learn(X, y, weights, **labels)
            return
        if isinstance(X, Scan):
            raise ValueError(
                f"calibrate={self.calibrate!r} takes arrays; use calibrate_on for the rows of {X!r}"
            )
        kept = np.random.RandomState(0).random_sample(len(y)) < self.calibrate
        if kept.all() or not kept.any():
            raise ValueError(
                f"calibrate={self.calibrate!r} parts {len(y)} rows into none and all; give more rows"
            )
        share, self.calibrate = self.calibrate, None
        try:
            super()._learn(X[~kept], y[~kept], None if weights is None else weights[~kept], **labels)
        finally:
            self.calibrate = share
        self._calibrated(X[kept], np.ascontiguousarray(y[kept]))

    @property
    def coef_(self) -> NDArray[np.float64]:
        """Coefficients, of shape (n_features,) or (n_targets, n_features)."""
        beta = self._fitted().coefficients()[0]
        return beta[:, 0] if self._one_target else beta.T

    @property
    def intercept_(self) -> float | NDArray[np.float64]:
        """The intercept: a number, or one for each target."""
        intercept = self._intercepts()
        return intercept[0] if self._one_target or not self.fit_intercept else intercept


class LabelsHead:
    """Mixin of classification heads: coefficients in scikit-learn's shapes.

    `predict_proba` exists with ``probability=True`` alone; scikit-learn's classes have none.
    """

    def _has_probabilities(self):
        return self.probability

    def _of_classes(self, scores):
        # With two classes the native model has outputs for both, which are negatives of each other.
        return (scores[..., 1:] - scores[..., :1]) / 2.0 if len(self.classes_) == 2 else scores

    @property
    def coef_(self) -> NDArray[np.float64]:
        """Coefficients, (n_features,) for two classes, otherwise (n_classes, n_features)."""
        beta = self._of_classes(self._fitted().coefficients()[0])
        return beta[:, 0] if beta.shape[1] == 1 else beta.T

    @property
    def intercept_(self) -> float | NDArray[np.float64]:
        """Intercepts, (1,) for two classes, otherwise (n_classes,)."""
        intercept = self._of_classes(self._intercepts())
        return intercept if self.fit_intercept else 0.0


class GrowingHead(Head, PartialRidge):
    """Base class of heads with one alpha, whose `partial_fit` adds samples to sums."""

    def _takes_weights(self):
        return True

    def _require_sums_alone(self, asker):
        pass

    def _take_out(self, X, y, weights):
        less = weight_of(X, weights)
        super()._take_out(X, y, weights)
        self._weight -= less

    def without_rows(self) -> Self:
        other = super().without_rows()
        other._weight = 0.0
        return other

    def merge(self, other: Self) -> Self:
        more = other._weight
        super().merge(other)
        self._weight += more
        return self


GrowingHead.without_rows.__doc__ = PartialRidge.without_rows.__doc__
GrowingHead.merge.__doc__ = PartialRidge.merge.__doc__


def weight_of(X, weights):
    """Total sample weight; the number of samples without weights."""
    if weights is not None:
        return float(weights.sum())
    if not isinstance(X, Scan):
        return float(X.shape[0])
    if X.n_samples is not None:
        return float(X.n_samples)
    each = (rows.shape[0] if rows.weights() is None else rows.weights().sum() for rows in X.chunks())
    return float(sum(each))


def _centre(model):
    """Feature means that a model subtracts, (n_features,), read from its serialised form."""
    held = model.to_bytes()
    begin = 8 + int.from_bytes(held[:8], "little")
    tensor = json.loads(held[8:begin])["input.center"]
    first, last = tensor["data_offsets"]
    return np.frombuffer(held[begin + first : begin + last], dtype="<f8")
