"""Base classes of all regressors and classifiers: validation of targets, and predictions."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from sklearn.utils import check_array, column_or_1d
from sklearn.utils.multiclass import _check_partial_fit_first_call, check_classification_targets
from sklearn.utils.validation import check_is_fitted

from . import _native, _score
from ._arrays import FLOATS, table
from ._dlpack import host, validated
from ._explanation import Explains
from ._labels import classes_of, numbers_of, plain, types_of
from ._learning import Learner, scan_weights, weights_of
from ._rows import checked, of_scans, seen
from ._scan import Scan
from ._typing import ClassifierMixin, MultiOutputMixin, RegressorMixin, available_if

if TYPE_CHECKING:
    from typing import Any

    from numpy.typing import NDArray
    from typing_extensions import Self


class Regressor(Explains, MultiOutputMixin, RegressorMixin, Learner):
    """Base class of regressors with one or several targets."""

    feature_importances_: NDArray[np.float64] | None

    def _validated(self, X, y, sample_weight, at_least=1, reset=True):
        """Validated X, targets of shape (n_samples, n_targets), and weights or None."""
        if isinstance(X, Scan):
            return self._scanned(X, y, sample_weight, reset)
        X, y = validated(
            self,
            X,
            y,
            accept_sparse="csr",
            dtype=FLOATS,
            multi_output=True,
            y_numeric=True,
            ensure_min_samples=at_least,
            ensure_all_finite=self._finite(),
            reset=reset,
        )
        y = y.astype(np.float64)
        if reset:
            self._one_target = y.ndim == 1
        if sample_weight is not None:
            sample_weight = weights_of(sample_weight, X)
        X = self._imputed(X, (y, sample_weight, False), reset)
        return X, y.reshape(len(y), -1), sample_weight

    def _scanned(self, X, y, sample_weight, reset):
        """As `_validated`, for a scan; y is None if the file has the targets."""
        if reset:
            seen(self, X)
        if y is None:
            require_targets(X)
            one = X.n_targets == 1
        else:
            y = check_array(host(y, "y"), ensure_2d=False, dtype=np.float64, input_name="y")
            one = y.ndim == 1
            y = y.reshape(len(y), -1)
        if reset:
            self._one_target = one
        return X, y, scan_weights(sample_weight)

    def _fit_numbers(self, X, y, sample_weight, at_least=1):
        self._learn(*self._validated(X, y, sample_weight, at_least))
        return self

    def _loaded(self):
        if self._model.labels()[0] is not None:
            raise ValueError("the model predicts labels; load it as a classifier")
        self._one_target = len(self._model.coefficients()[1]) == 1

    @of_scans
    def predict(self, X: Any, interval: float | None = None, *, output: Any = None) -> Any:
        """Predict target values.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Samples.

        interval : float, default=None
            Coverage of prediction intervals, between 0 and 1, as in `predict_interval`. None for no
            intervals.

        Returns
        -------
        y : ndarray of shape (n_samples,) or (n_samples, n_targets)
            Predictions. With ``interval``, a tuple of three such arrays: predictions, lower bounds
            and upper bounds.
        """
        if interval is not None:
            return self.predict_interval(X, interval)
        scores = self._scores(X)
        return scores[:, 0] if self._one_target else scores

    def calibrate_on(self, X: Any, y: Any) -> Self:
        """Calibrate prediction intervals on samples that the fit has not seen.

        The residuals of these samples determine the widths of intervals (split conformal
        prediction). Intervals of level p then contain at least a fraction p of new targets on
        average, for any model and data, if new samples follow the same distribution. `save` stores
        the calibration. The parameter ``calibrate`` makes `fit` hold out samples for this instead.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Calibration samples, which the fit has not seen.

        y : array-like of shape (n_samples,) or (n_samples, n_targets)
            Target values.

        Returns
        -------
        self : object
        """
        check_is_fitted(self)
        if isinstance(X, Scan):
            raise TypeError("calibrate_on takes rows in memory, not a scan; some hundred are enough")
        X, y, _ = self._validated(X, y, None, reset=False)
        self._calibrated(X, y)
        return self

    def _calibrated(self, X, y):
        model = self._current()
        self._model = _native.calibrated(model, table(X), y, self.device, self.memory)

    def predict_interval(self, X: Any, level: float = 0.9) -> tuple[Any, Any, Any]:
        """Predict target values with prediction intervals.

        Intervals come from the posterior of a Gaussian process, or from leave-one-out errors of
        ridge regression (the jackknife, Barber et al. 2021). Other regressors need a fit with
        ``calibrate``, or `calibrate_on`.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Samples.

        level : float, default=0.9
            Fraction of new targets within the bounds, between 0 and 1.

        Returns
        -------
        y, lower, upper : ndarray of shape (n_samples,) or (n_samples, n_targets)
            Predictions, lower bounds and upper bounds.
        """
        check_is_fitted(self)
        rows = table(checked(self, X))
        model = self._current()
        parts = _native.intervals(model, rows, float(level), self.device, self.memory)
        y, lower, upper = (part[:, 0] if self._one_target else part for part in parts)
        return y, lower, upper

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """Coefficient of determination R^2 of predictions.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features), or Scan
            Samples.

        y : array-like of shape (n_samples,) or (n_samples, n_targets), default=None
            Target values; None to read them from the file, if X is a `Scan`.

        sample_weight : array-like of shape (n_samples,), default=None
            Sample weights; None for equal weights.

        Returns
        -------
        score : float
        """
        if isinstance(X, Scan):
            check_is_fitted(self)
            return _score.r2(self, X, y, sample_weight)
        return super().score(X, host(y, "y"), host(sample_weight, "sample_weight"))


class Classifier(Explains, ClassifierMixin, Learner):
    """Base class of classifiers. Labels are text, numbers or booleans."""

    classes_: NDArray[Any]
    feature_importances_: NDArray[np.float64] | None

    #: Divisor of the difference of the two scores in `decision_function`, for two classes.
    _margin = 2.0

    def _fit_labels(self, X, y, sample_weight):
        scanned = isinstance(X, Scan)
        if scanned and y is None:
            return self._fit_scan(X, sample_weight)
        if scanned:
            seen(self, X)
        else:
            X, y = validated(
                self,
                X,
                plain(y),
                accept_sparse="csr",
                dtype=FLOATS,
                ensure_all_finite=self._finite(),
            )
        y = column_or_1d(host(y, "y"), warn=True)
        check_classification_targets(y)
        weights = None
        if scanned:
            weights = scan_weights(sample_weight)
        elif sample_weight is not None:
            weights = weights_of(sample_weight, X)
            kept = weights > 0
            X, y, weights = X[kept], y[kept], weights[kept]
        if not scanned:
            X = self._imputed(X, (y, weights, True), reset=True)
        self.classes_, codes = np.unique(y, return_inverse=True)
        if len(self.classes_) < 2:
            raise ValueError(
                f"{type(self).__name__} needs at least 2 classes, and the data has one class"
            )
        if self.class_weight is not None:
            factor = self._factors_of_all(codes, weights)
            weights = factor[codes] if weights is None else weights * factor[codes]
        numbers, names = numbers_of(self.classes_)
        self._learn(X, numbers[codes][:, None], weights, classes=True, names=names)
        return self

    def _fit_scan(self, X, sample_weight):
        """Fit to the labels of a file."""
        if self.class_weight is not None:
            raise ValueError("class_weight needs labels; give the fit an array of them beside the scan")
        seen(self, X)
        require_targets(X)
        self._learn(X, None, scan_weights(sample_weight), classes=True)
        self._loaded()
        return self

    def _part_of_labels(self, X, y, classes, sample_weight):
        """Validated samples for `partial_fit`, and the native options that encode the classes."""
        first = self._is_first()
        if first and classes is not None:
            self.__dict__.pop("classes_", None)
        _check_partial_fit_first_call(self, classes)
        rows = self._rows_of_labels(X, y, sample_weight, reset=first)
        numbers, names = numbers_of(self.classes_)
        return rows, {"classes": numbers.tolist(), "names": names}

    def _rows_of_labels(self, X, y, sample_weight, reset):
        """Validated X, codes of the labels of shape (n_samples, 1), and weights or None."""
        scanned = isinstance(X, Scan)
        if scanned:
            if reset:
                seen(self, X)
            if y is None:
                if self.class_weight is not None:
                    raise ValueError(
                        "class_weight needs labels; give an array of them beside the scan"
                    )
                require_targets(X)
                return X, None, scan_weights(sample_weight)
        else:
            X, y = validated(
                self,
                X,
                plain(y),
                accept_sparse="csr",
                dtype=FLOATS,
                reset=reset,
                ensure_all_finite=self._finite(),
            )
        y = column_or_1d(host(y, "y"), warn=True)
        if not scanned:
            X = self._imputed(X, (y, None, True), reset)
        unknown = ~np.isin(y, self.classes_)
        if unknown.any():
            raise ValueError(
                f"y has the label {y[unknown].tolist()[0]!r}, which is none of the classes of the first "
                f"call: {self.classes_.tolist()}"
            )
        codes = np.searchsorted(self.classes_, y)
        weights = None
        if sample_weight is not None:
            weights = scan_weights(sample_weight) if scanned else weights_of(sample_weight, X)
        weights = self._weights_of_labels(codes, weights)
        numbers, _ = numbers_of(self.classes_)
        return X, numbers[codes][:, None], weights

    def _weights_of_labels(self, codes, weights):
        """Sample weights times class weights, by class indices; None for equal weights."""
        if isinstance(self.class_weight, str):
            raise ValueError(
                "class_weight='balanced' needs all rows at once; give a dict to partial_fit"
            )
        if self.class_weight is None:
            return weights
        factor = self._class_factors(codes, weights)[codes]
        return factor if weights is None else weights * factor

    def _factors_of_all(self, codes, weights):
        """Weight of each class for a fit to all samples at once."""
        return self._class_factors(codes, weights)

    def _class_factors(self, codes, weights):
        """Weight of each class by ``class_weight``."""
        if isinstance(self.class_weight, str):
            counts = np.bincount(codes, weights=weights)
            return counts.sum() / (len(counts) * counts)
        return np.array([float(self.class_weight.get(label, 1.0)) for label in self.classes_])

    def _loaded(self):
        numbers, names, types = self._model.labels()
        if numbers is None:
            raise ValueError("the model predicts amounts; load it as a regressor")
        self.classes_ = classes_of(numbers, names, types)

    def _label_types(self):
        return types_of(self.classes_)

    @of_scans
    def decision_function(self, X: Any, *, output: Any = None) -> Any:
        """Decision function of the classes.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        scores : ndarray of shape (n_samples,) or (n_samples, n_classes)
            Scores. With two classes, the score of ``classes_[1]``, which is predicted if it is
            above 0.
        """
        scores = self._scores(X)
        if len(self.classes_) == 2:
            return (scores[:, 1] - scores[:, 0]) / self._margin
        return scores

    @of_scans
    def predict(self, X: Any, *, output: Any = None) -> Any:
        """Predict class labels.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        y : ndarray of shape (n_samples,)
            Predicted labels.
        """
        best = self._scores(X).argmax(axis=1)
        return self.classes_[best]

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """Accuracy: the fraction of correctly predicted labels.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features), or Scan
            Samples.

        y : array-like of shape (n_samples,), default=None
            Class labels; None to read them from the file, if X is a `Scan`.

        sample_weight : array-like of shape (n_samples,), default=None
            Sample weights; None for equal weights.

        Returns
        -------
        score : float
        """
        if isinstance(X, Scan):
            check_is_fitted(self)
            return _score.accuracy(self, X, y, sample_weight)
        return super().score(X, plain(host(y, "y")), host(sample_weight, "sample_weight"))

    def _explained(self, y):
        """Codes of the labels in the native model, of shape (n_samples, 1)."""
        y = column_or_1d(plain(host(y, "y")), warn=True)
        unknown = ~np.isin(y, self.classes_)
        if unknown.any():
            raise ValueError(
                f"y has the label {y[unknown].tolist()[0]!r}, which is none of the classes of the fit: "
                f"{self.classes_.tolist()}"
            )
        numbers, _ = numbers_of(self.classes_)
        return numbers[np.searchsorted(self.classes_, y)][:, None]

    def _has_probabilities(self):
        model = getattr(self, "_model", None)
        if model is not None:
            return model.has_probabilities
        # After `partial_fit` the model is not fitted yet; ridge models will have probabilities.
        in_parts = getattr(self, "_state", None) is not None
        return self._learner == "logistic" or self.probability or (in_parts and self._learner == "ridge")

    @available_if(lambda self: self._has_probabilities())
    @of_scans
    def predict_proba(self, X: Any, *, output: Any = None) -> Any:
        """Predict class probabilities.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        p : ndarray of shape (n_samples, n_classes)
            Probabilities, in the order of ``classes_``. Each row sums to 1. The label of `predict`
            has the largest, except with ``laplace=True``.
        """
        check_is_fitted(self)
        model = self._current()
        if model.is_averaged:
            return self._asked("row_probabilities", X)
        scores = self._scores(X)
        return _in_favour_of(scores.argmax(axis=1), model.probabilities(scores))

    @available_if(lambda self: self._has_probabilities())
    def predict_sets(self, X: Any, level: float = 0.9) -> Any:
        """Predict sets of classes that contain the true class with a given probability.

        Sets are conformal: they contain the classes of highest probability up to a calibrated total
        (Romano, Sesia & Candès 2020), and always the most probable class. Ridge classifiers
        calibrate on leave-one-out predictions, others with ``probability=True`` on the samples that
        their second fit has not seen.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Samples.

        level : float, default=0.9
            Fraction of new samples whose set contains the true class, between 0 and 1.

        Returns
        -------
        sets : ndarray of bool of shape (n_samples, n_classes)
            Membership of each class, in the order of ``classes_``.
        """
        return self._current().sets(self.predict_proba(X), float(level))


def _in_favour_of(predicted, p):
    """Adjust probabilities in place so that the predicted class has the largest.

    Calibration can move the decision threshold. If the predicted class is not the most probable, it
    and all more probable classes get their mean probability, and the predicted class a margin of
    less than 1e-6.
    """
    rows = np.flatnonzero(p.argmax(axis=1) != predicted)
    if len(rows):
        own, first = p[rows], predicted[rows]
        each = np.arange(len(rows))
        among = own >= own[each, first][:, None]
        count = among.sum(axis=1)
        mean = np.where(among, own, 0.0).sum(axis=1) / count
        # A margin proportional to the predicted class's own probability keeps the order of samples.
        ahead = 1e-6 * own[each, first]
        own = np.where(among, (mean - ahead / (count - 1))[:, None], own)
        own[each, first] = mean + ahead
        p[rows] = own
    return p


def require_targets(X):
    """Raise an error if the file of a scan has no targets."""
    if X.n_targets == 0:
        raise ValueError(
            f"{X!r} has no targets and y is None; give y, or name the targets of the scan"
        )
