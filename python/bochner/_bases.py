"""What all regressors share, and all classifiers: from targets to numbers, and from scores back."""

import numpy as np
from sklearn.base import ClassifierMixin, MultiOutputMixin, RegressorMixin
from sklearn.utils import check_array, column_or_1d
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import validate_data

from ._arrays import FLOATS
from ._learning import Learner, scan_weights, weights_of
from ._scan import Scan, of_scans, seen


class Regressor(MultiOutputMixin, RegressorMixin, Learner):
    """Amounts, one target or several."""

    def _validated(self, X, y, sample_weight, at_least=1, reset=True):
        """Rows, targets of shape (n_samples, n_targets), weights or None."""
        if isinstance(X, Scan):
            return self._scanned(X, y, sample_weight, reset)
        X, y = validate_data(
            self,
            X,
            y,
            accept_sparse="csr",
            dtype=FLOATS,
            multi_output=True,
            y_numeric=True,
            ensure_min_samples=at_least,
            reset=reset,
        )
        y = y.astype(np.float64)
        if reset:
            self._one_target = y.ndim == 1
        if sample_weight is not None:
            sample_weight = weights_of(sample_weight, X)
        return X, y.reshape(len(y), -1), sample_weight

    def _scanned(self, X, y, sample_weight, reset):
        """The same of a scan, whose file has the targets if y is None."""
        if reset:
            seen(self, X)
        if y is None:
            require_targets(X)
            one = X.n_targets == 1
        else:
            y = check_array(y, ensure_2d=False, dtype=np.float64, input_name="y")
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
    def predict(self, X):
        """Predicted values of rows.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        y : ndarray of shape (n_samples,) or (n_samples, n_targets)
        """
        scores = self._scores(X)
        return scores[:, 0] if self._one_target else scores


class Classifier(ClassifierMixin, Learner):
    """Labels: text, numbers or booleans."""

    #: Of two classes, what the difference of their scores is divided by.
    _margin = 2.0

    def _fit_labels(self, X, y, sample_weight):
        scanned = isinstance(X, Scan)
        if scanned and y is None:
            return self._fit_scan(X, sample_weight)
        if scanned:
            seen(self, X)
        else:
            X, y = validate_data(self, X, y, accept_sparse="csr", dtype=FLOATS)
        y = column_or_1d(y, warn=True)
        check_classification_targets(y)
        weights = None
        if scanned:
            weights = scan_weights(sample_weight)
        elif sample_weight is not None:
            weights = weights_of(sample_weight, X)
            kept = weights > 0
            X, y, weights = X[kept], y[kept], weights[kept]
        self.classes_, codes = np.unique(y, return_inverse=True)
        if len(self.classes_) < 2:
            raise ValueError(
                f"{type(self).__name__} needs at least 2 classes, and the data has one class"
            )
        if self.class_weight is not None:
            factor = self._class_factors(codes, weights)
            weights = factor[codes] if weights is None else weights * factor[codes]
        numbers, names = numbers_of(self.classes_)
        self._learn(X, numbers[codes][:, None], weights, classes=True, names=names)
        return self

    def _fit_scan(self, X, sample_weight):
        """Fit to the labels of a file, which are numbers."""
        if self.class_weight is not None:
            raise ValueError("class_weight needs labels; give the fit an array of them beside the scan")
        seen(self, X)
        require_targets(X)
        self._learn(X, None, scan_weights(sample_weight), classes=True)
        self._loaded()
        return self

    def _class_factors(self, codes, weights):
        """What a row of each class counts."""
        if isinstance(self.class_weight, str):
            counts = np.bincount(codes, weights=weights)
            return counts.sum() / (len(counts) * counts)
        return np.array([float(self.class_weight.get(label, 1.0)) for label in self.classes_])

    def _loaded(self):
        numbers, names = self._model.labels()
        if numbers is None:
            raise ValueError("the model predicts amounts; load it as a regressor")
        classes = np.array(numbers if names is None else names)
        if names is None and (classes == np.rint(classes)).all():
            classes = classes.astype(np.int64)
        self.classes_ = classes

    @of_scans
    def decision_function(self, X):
        """Scores of the classes.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        scores : ndarray of shape (n_samples,) or (n_samples, n_classes)
            Of two classes the score of the second, ``classes_[1]``, which is predicted above 0.
        """
        scores = self._scores(X)
        if len(self.classes_) == 2:
            return (scores[:, 1] - scores[:, 0]) / self._margin
        return scores

    @of_scans
    def predict(self, X):
        """Labels of rows.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        y : ndarray of shape (n_samples,)
        """
        best = self._scores(X).argmax(axis=1)
        return self.classes_[best]

    def _has_probabilities(self):
        return self._learner == "logistic" or self.probability

    @available_if(_has_probabilities)
    @of_scans
    def predict_proba(self, X):
        """Probabilities of the classes.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        p : ndarray of shape (n_samples, n_classes)
            In the order of ``classes_``; each row sums to 1.
        """
        scores = self._scores(X)
        return self._current().probabilities(scores)


def numbers_of(classes):
    """Classes as the numbers that the library keeps, ascending, and what they stand for."""
    if classes.dtype.kind in "biuf":
        numbers = classes.astype(np.float64)
        if (numbers.astype(classes.dtype) == classes).all() and len(np.unique(numbers)) == len(numbers):
            return numbers, None
    return np.arange(len(classes), dtype=np.float64), [str(label) for label in classes]


def require_targets(X):
    """Errors on a scan whose file has no targets."""
    if X.n_targets == 0:
        raise ValueError(
            f"{X!r} has no targets and y is None; give y, or name the targets of the scan"
        )
