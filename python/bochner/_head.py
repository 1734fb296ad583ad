"""Ridge regression on the columns themselves, by scikit-learn's alpha."""

import numpy as np
from scipy import sparse
from sklearn.model_selection import GridSearchCV

from . import _native
from ._arrays import table
from ._learning import Learner
from ._partial import Growing, PartialRidge
from ._scan import Scan

#: Of a row of zeros, as a multiple of all other rows together: it leaves 1e-9 of the columns' means.
HEAVY = 1e9


class Head(Growing):
    """What all heads share: options of the native half, coefficients, and the weight of all rows.

    The native penalty is per sample; alpha is that times the weight of all rows, ``_weight``.
    """

    _learner = "ridge"
    _weight = 0.0

    def _fixed_alpha(self):
        """The alpha that the model is solved by."""
        return self.alpha

    def _penalty(self):
        return float(self._fixed_alpha()) / (self._weight or 1.0)

    def _options(self, X):
        return {
            "kernel": "linear",
            "map": "identity",
            "lengthscales": [1.0],
            "standardize": "no",
            "linear": "no",
            "target_scale": "as-is",
            "seed": 0,
            "device": self.device,
            "memory": self.memory,
            "columns": self._names(),
            "fit_intercept": self.fit_intercept,
            "probability": getattr(self, "probability", False),
            "penalty": self._penalty(),
        }

    def _model_options(self):
        return {**self._state[1], "penalty": self._penalty()}

    def _learn(self, X, y, weights, *, classes=False, names=None):
        self._weight = weight_of(X, weights)
        if self.fit_intercept:
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
        if getattr(self, "_state", None) is None:
            self._weight = 0.0
            if not self.fit_intercept:
                self._begin_at_zero(X, y, **labels)
        more = weight_of(X, weights)
        super()._add(X, y, weights, **labels)
        self._weight += more

    def _begin_at_zero(self, X, y, classes=None, names=None):
        """Sums of no rows whose columns are not centred.

        The native half centres columns at the means of the first rows, which an intercept makes up
        for; without one the first rows are zeros, which are then taken out again.
        """
        columns = X.n_features if isinstance(X, Scan) else X.shape[1]
        targets = X.n_targets if y is None else y.shape[1]
        zeros, first = np.zeros((2, columns)), np.full((2, targets), classes[0] if classes else 0.0)
        options = self._options(X)
        labels = {"classes": classes, "names": names}
        begun = _native.GrowingState.begin(self._learner, zeros, first, None, options, **labels)
        self._state = begun.empty(), options

    def _facts(self):
        Learner._facts(self)

    def _linear(self):
        """Coefficients, (n_features, n_outputs), and intercepts, (n_outputs,), of rows as they are."""
        if not self.__sklearn_is_fitted__():
            raise AttributeError("not fitted")
        model = self._current()
        beta = model.coefficients()[0]
        if not self.fit_intercept:
            return beta, np.zeros(beta.shape[1])
        # Columns are centred within the model: what it says of a row of zeros has the centre in it.
        return beta, model.scores(np.zeros((1, model.n_features)), "cpu")[0]

    def _loaded(self):
        super()._loaded()
        ground = self._model.describe()
        if not ground.endswith("as they are"):
            raise ValueError(f"the model stands on {ground}; load it by KernelRidge...")


class AmountsHead:
    """Coefficients of amounts, in scikit-learn's shapes."""

    @property
    def coef_(self):
        """Coefficients of the columns, (n_features,) or (n_targets, n_features)."""
        beta = self._linear()[0]
        return beta[:, 0] if self._one_target else beta.T

    @property
    def intercept_(self):
        """The intercept: a number, or one for each target."""
        intercept = self._linear()[1]
        return float(intercept[0]) if self._one_target or not self.fit_intercept else intercept


class LabelsHead:
    """Coefficients of classes, in scikit-learn's shapes."""

    def _of_classes(self, scores):
        # Of two classes the native half has both, which are each other's negatives.
        return (scores[..., 1:] - scores[..., :1]) / 2.0 if len(self.classes_) == 2 else scores

    @property
    def coef_(self):
        """Coefficients of the columns, (n_features,) of two classes, or (n_classes, n_features)."""
        beta = self._of_classes(self._linear()[0])
        return beta[:, 0] if beta.shape[1] == 1 else beta.T

    @property
    def intercept_(self):
        """Intercepts, (1,) of two classes, or (n_classes,)."""
        intercept = self._of_classes(self._linear()[1])
        return intercept if self.fit_intercept else 0.0


class GrowingHead(Head, PartialRidge):
    """A head of one alpha, to which rows are sums."""

    def _takes_weights(self):
        return True

    def _require_sums_alone(self, asker):
        pass

    def _take_out(self, X, y, weights):
        less = weight_of(X, weights)
        super()._take_out(X, y, weights)
        self._weight -= less

    def without_rows(self):
        other = super().without_rows()
        other._weight = 0.0
        return other

    def merge(self, other):
        more = other._weight
        super().merge(other)
        self._weight += more
        return self


GrowingHead.without_rows.__doc__ = PartialRidge.without_rows.__doc__
GrowingHead.merge.__doc__ = PartialRidge.merge.__doc__


class ChoosingHead(Head):
    """A head whose alpha is the best of several by errors on each row left out, or by folds."""

    _alpha = 1.0

    def _fixed_alpha(self):
        return self._alpha

    def _alphas(self):
        """The alphas, ascending."""
        alphas = np.unique(np.atleast_1d(np.asarray(self.alphas, dtype=np.float64)))
        if alphas.ndim != 1 or len(alphas) == 0 or not (np.isfinite(alphas) & (alphas > 0)).all():
            raise ValueError(f"alphas is {self.alphas!r}; give numbers above 0")
        return alphas

    def _is_searched(self, X):
        """Whether folds choose, as scikit-learn has it where ``cv`` is given."""
        if self.cv is None and self.scoring is not None:
            raise ValueError(
                f"scoring={self.scoring!r} needs folds; set cv, or leave scoring out, which takes "
                "squared errors on each row left out"
            )
        if self.cv is not None and isinstance(X, Scan):
            raise ValueError(f"cv={self.cv!r} takes arrays; set cv=None for the rows of {X!r}")
        return self.cv is not None

    def _search(self, one, X, y, sample_weight):
        """Takes the best of fits of ``one`` by folds."""
        search = GridSearchCV(one, {"alpha": self._alphas()}, cv=self.cv, scoring=self.scoring)
        search.fit(X, y, **({} if sample_weight is None else {"sample_weight": sample_weight}))
        best = search.best_estimator_
        for name, value in vars(best).items():
            if name.startswith("_") or name.endswith("_"):
                setattr(self, name, value)
        self.alpha_, self.best_score_ = float(best.alpha), float(search.best_score_)
        return self

    def _learn(self, X, y, weights, *, classes=False, names=None):
        amounts = y
        if y is None:
            amounts = np.concatenate([rows.targets() for rows in X.chunks(self.memory)])
        if classes:
            amounts = _signs(amounts)
        self._alpha, score = self._chosen(X, amounts, weights)
        super()._learn(X, y, weights, classes=classes, names=names)
        self.alpha_, self.best_score_ = self._alpha, score

    def _chosen(self, X, y, weights):
        """The best alpha by squared errors on each row left out, and minus their mean."""
        alphas, rows = self._alphas(), len(y)
        if not self.fit_intercept:
            X, y, weights = _held_at_zero(X, y, weights)
        y, variance = evened(y, weights)
        penalties = alphas / weight_of(X, weights)
        options = {**self._options(X), "penalty": penalties.tolist(), "probability": False}
        model = _native.Model.fit(self._learner, table(X), y, weights, options)
        best = alphas[abs(penalties / model.penalty - 1.0).argmin()]
        error = (1.0 - model.facts()["held_out_r2"]) * variance
        return float(best), -float(error * weight_of(X, weights) / rows)


def weight_of(X, weights):
    """What all rows count together."""
    if weights is not None:
        return float(weights.sum())
    if not isinstance(X, Scan):
        return float(X.shape[0])
    if X.n_samples is not None:
        return float(X.n_samples)
    each = (rows.shape[0] if rows.weights() is None else rows.weights().sum() for rows in X.chunks())
    return float(sum(each))


def _signs(labels):
    """1 where a row is of a class and -1 where it is not, (n_samples, n_classes); one of two."""
    classes = np.unique(labels)
    signs = np.where(labels == classes, 1.0, -1.0)
    return signs[:, 1:] if len(classes) == 2 else signs


def _held_at_zero(X, y, weights):
    """The rows with one of zeros that outweighs them, so that their means are 0 within rounding.

    Without an intercept such a row says nothing of the coefficients.
    """
    if isinstance(X, Scan):
        raise ValueError("fit_intercept=False with several alphas takes arrays; give one alpha, or arrays")
    weights = np.ones(len(y)) if weights is None else weights
    stack = sparse.vstack if sparse.issparse(X) else np.vstack
    zeros = np.zeros((1, X.shape[1]), dtype=X.dtype)
    X = stack([X, sparse.csr_array(zeros) if sparse.issparse(X) else zeros])
    X = X.tocsr() if sparse.issparse(X) else X
    y = np.vstack([y, np.zeros((1, y.shape[1]))])
    return X, y, np.append(weights, HEAVY * weights.sum())


def evened(y, weights):
    """Targets turned so that all have one variance, and that variance.

    The native half chooses by the mean over targets of squared errors over variances, scikit-learn by
    that of squared errors. A rotation leaves the sum of these as it is, and rotations of two axes at a
    time give each axis the mean variance in turn (Schur 1923, Horn 1954), after which both are the
    same.
    """
    share = np.full(len(y), 1.0 / len(y)) if weights is None else weights / weights.sum()
    mean = share @ y
    centred = y - mean
    moments = (centred * share[:, None]).T @ centred
    size, target = len(moments), float(np.trace(moments) / len(moments))
    if target <= 1e-14 * float(share @ (y**2).sum(axis=1)):
        # Targets that do not vary have errors that are absolute.
        return np.ascontiguousarray(y), 1.0
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
    """The rotation of two axes after which the first has the variance ``target``."""
    a, b, c = moments[high, high], moments[high, low], moments[low, low]
    # a cos^2 + 2 b cos sin + c sin^2 = target, a quadratic in the tangent.
    tangent = (-b + np.sqrt(max(b * b - (c - target) * (a - target), 0.0))) / (c - target)
    cosine = 1.0 / np.hypot(1.0, tangent)
    return np.array([[cosine, -tangent * cosine], [tangent * cosine, cosine]])
