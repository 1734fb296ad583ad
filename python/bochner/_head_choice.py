"""Selection of a head's alpha, as in scikit-learn's `RidgeCV` and `RidgeClassifierCV`."""

import warnings
from numbers import Real
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.metrics import check_scoring, get_scorer_names
from sklearn.model_selection import GridSearchCV
from sklearn.utils import check_scalar
from sklearn.utils._param_validation import Interval, StrOptions

from . import _native
from ._arrays import table
from ._head import SHARED, Head, weight_of
from ._left_out import Amounts, Labels, LeftOut, best_of
from ._scan import Scan

#: Weight of a sample of zeros as a multiple of the total weight of all others. It reduces the
#: weighted feature means by a factor of 1e9, so that centring has no effect.
HEAVY = 1e9

#: Constraints for heads that select alpha.
SEVERAL = {
    "alphas": ["array-like", Interval(Real, 0, None, closed="neither")],
    "scoring": [StrOptions(set(get_scorer_names())), callable, None],
    "cv": ["cv_object"],
    "store_cv_results": ["boolean"],
    **SHARED,
}


class ChoosingHead(Head):
    """Base class of heads that select alpha by leave-one-out errors or cross-validation."""

    alpha_: Any
    best_score_: Any

    _alpha: Any = 1.0

    def _fixed_alpha(self):
        return self._alpha

    def _alphas(self):
        """The validated candidates for alpha, in the given order."""
        alphas = np.atleast_1d(np.asarray(self.alphas, dtype=object))
        # At alpha = 0 with as many features as samples, leave-one-out errors are undefined.
        least = "neither" if self.cv is None else "left"
        for place, alpha in enumerate(alphas):
            name = "alphas" if len(alphas) == 1 else f"alphas[{place}]"
            check_scalar(alpha, name, Real, min_val=0.0, include_boundaries=least)
        alphas = alphas.astype(np.float64)
        if len(alphas) == 0 or not np.isfinite(alphas).all():
            raise ValueError(f"alphas is {self.alphas!r}; give numbers")
        return alphas

    def _is_searched(self, X):
        """Whether ``cv`` is given, so that cross-validation selects alpha."""
        asked = ("cv", self.cv) if self.cv is not None else self._looks_at_rows()
        if asked is not None and isinstance(X, Scan):
            name, given = asked
            raise ValueError(f"{name}={given!r} takes arrays; leave it out for the rows of {X!r}")
        return self.cv is not None

    def _search(self, one, X, y, sample_weight):
        """Select alpha by cross-validation of the estimator ``one``, and copy the best fit."""
        for name in ("store_cv_results", "alpha_per_target"):
            if getattr(self, name, False):
                raise ValueError(f"cv!=None and {name}=True are incompatible")
        search = GridSearchCV(one, {"alpha": self._alphas()}, cv=self.cv, scoring=self.scoring)
        search.fit(X, y, **({} if sample_weight is None else {"sample_weight": sample_weight}))
        best = search.best_estimator_
        for name, value in vars(best).items():
            if name.startswith("_") or name.endswith("_"):
                setattr(self, name, value)
        self.alpha_, self.best_score_ = float(best.alpha), float(search.best_score_)
        return self

    def _looks_at_rows(self):
        """Name and value of the first parameter that needs leave-one-out predictions, or None."""
        for name in ("scoring", "store_cv_results", "alpha_per_target"):
            value = getattr(self, name, None)
            if value is not None and value is not False:
                return name, value
        return None

    def _learn(self, X, y, weights, *, classes=False, names=None):
        self._alpha, found = 1.0, None
        amounts = y
        if y is None:
            amounts = np.concatenate([rows.targets() for rows in X.chunks(self.memory)])
        if classes:
            amounts = _signs(amounts)
        if self._looks_at_rows() is None:
            self._alpha, score = self._chosen(X, amounts, weights)
        else:
            labels = None
            if classes:
                labels = self.classes_[np.unique(y, return_inverse=True)[1].ravel()]
            self._alpha, score, found = self._scored((X, amounts, weights), labels)
        super()._learn(X, y, weights, classes=classes, names=names)
        self.alpha_, self.best_score_ = self._alpha, score
        self.__dict__.pop("cv_results_", None)
        if found is not None:
            self.cv_results_ = found

    def _scored(self, rows, labels):
        """Best alpha by leave-one-out predictions, its score, and the results to store or None."""
        X, y, weights = rows
        scorer = None if self.scoring is None else check_scoring(self, self.scoring)
        targets = Amounts(y, weights) if labels is None else Labels(labels, weights)
        each = getattr(self, "alpha_per_target", False) and y.shape[1] > 1
        left_out = LeftOut(X, y, weights, self.fit_intercept)
        alpha, score, found = best_of(
            left_out, self._alphas(), targets, scorer, each=each, keep=self.store_cv_results
        )
        if found is not None:
            flat = labels is None and self._one_target
            found = (found[:, 0] if flat else found).astype(X.dtype, copy=False)
        return alpha, score, found

    def _chosen(self, X, y, weights):
        """Best alpha by squared leave-one-out errors, and the negative mean of these."""
        alphas, rows = np.unique(self._alphas()), len(y)
        if not self.fit_intercept:
            X, y, weights = _held_at_zero(X, y, weights)
        y, variance = evened(y, weights)
        if variance == 0.0:
            # Every alpha predicts constant targets exactly.
            return float(alphas[0]), 0.0
        penalties = alphas / weight_of(X, weights)
        options = {**self._options(X), "penalty": penalties.tolist(), "probability": False}
        with warnings.catch_warnings():
            # Rotated targets and signs of classes contain no codes for missing values; the final
            # fit checks the original targets for these.
            warnings.filterwarnings("ignore", ".* may stand for no value: ")
            model = _native.Model.fit(self._learner, table(X), y, weights, options)
        best = alphas[abs(penalties / model.penalty - 1.0).argmin()]
        error = (1.0 - model.facts()["held_out_r2"]) * variance
        return float(best), -np.float64(error * weight_of(X, weights) / rows)


def _signs(labels):
    """Targets 1 and -1 of each class, (n_samples, n_classes); one column for two classes."""
    classes = np.unique(labels)
    signs = np.where(labels == classes, 1.0, -1.0)
    return signs[:, 1:] if len(classes) == 2 else signs


def _held_at_zero(X, y, weights):
    """Append a sample of zeros whose weight makes all weighted means 0 within rounding.

    Without an intercept, such a sample does not affect the coefficients.
    """
    if isinstance(X, Scan):
        raise ValueError(
            f"fit_intercept=False with alphas takes arrays; give Ridge one alpha for the rows of {X!r}"
        )
    weights = np.ones(len(y)) if weights is None else weights
    stack = sparse.vstack if sparse.issparse(X) else np.vstack
    zeros = np.zeros((1, X.shape[1]), dtype=X.dtype)
    X = stack([X, sparse.csr_array(zeros) if sparse.issparse(X) else zeros])
    X = X.tocsr() if sparse.issparse(X) else X
    y = np.vstack([y, np.zeros((1, y.shape[1]))])
    return X, y, np.append(weights, HEAVY * weights.sum())


def evened(y, weights):
    """Targets rotated to equal variances, and that variance; 0.0 if all are constant.

    The native module minimises the mean over targets of squared error divided by variance,
    scikit-learn the mean of squared errors. A rotation does not change the sum of squared errors.
    Rotations of two axes at a time give one axis after the other the mean variance (Schur 1923,
    Horn 1954), after which both criteria agree.
    """
    share = np.full(len(y), 1.0 / len(y)) if weights is None else weights / weights.sum()
    mean = share @ y
    centred = y - mean
    moments = (centred * share[:, None]).T @ centred
    size, target = len(moments), float(np.trace(moments) / len(moments))
    if target <= 1e-14 * float(share @ (y**2).sum(axis=1)):
        return np.ascontiguousarray(y), 0.0
    turn = np.eye(size)
    for _ in range(size - 1):
        diagonal = np.diag(moments)
        high, low = int(diagonal.argmax()), int(diagonal.argmin())
        if diagonal[high] - diagonal[low] <= 1e-12 * target:
            break
        axes, plane = [high, low], _plane(moments, high, low, target)
        moments[:, axes] = moments[:, axes] @ plane
        moments[axes] = plane.T @ moments[axes]
        turn[:, axes] = turn[:, axes] @ plane
    return np.ascontiguousarray(y @ turn), target


def _plane(moments, high, low, target):
    """Rotation of two axes that gives the first the variance ``target``."""
    a, b, c = moments[high, high], moments[high, low], moments[low, low]
    # a cos^2 + 2 b cos sin + c sin^2 = target, a quadratic in the tangent.
    tangent = (-b + np.sqrt(max(b * b - (c - target) * (a - target), 0.0))) / (c - target)
    cosine = 1.0 / np.hypot(1.0, tangent)
    return np.array([[cosine, -tangent * cosine], [tangent * cosine, cosine]])
