"""Classification on random features, with scikit-learn's interface.

Every class draws a feature map z with z(x)'z(y) close to k(x, y), streams the rows through it, and
learns something linear.
"""

from numbers import Integral, Real

import numpy as np
from sklearn.base import ClassifierMixin, _fit_context
from sklearn.utils import column_or_1d
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import validate_data

from ._arrays import FLOATS
from ._learning import COUNT, NOT_NEGATIVE, POSITIVE, SHARED, Learner, RidgeOptions, weights_of

__all__ = ["KernelLogisticRegression", "KernelRidgeClassifier", "KernelSVC"]


class _Classifier(ClassifierMixin, Learner):
    """Labels: text, numbers or booleans."""

    #: Of two classes, what the difference of their scores is divided by.
    _margin = 2.0

    def _fit_labels(self, X, y, sample_weight):
        X, y = validate_data(self, X, y, accept_sparse="csr", dtype=FLOATS)
        y = column_or_1d(y, warn=True)
        check_classification_targets(y)
        weights = None
        if sample_weight is not None:
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
        numbers, names = _numbers(self.classes_)
        self._learn(X, numbers[codes][:, None], weights, classes=True, names=names)
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
        return self._model.probabilities(scores)


def _numbers(classes):
    """Classes as the numbers that the library keeps, ascending, and what they stand for."""
    if classes.dtype.kind in "biuf":
        numbers = classes.astype(np.float64)
        if (numbers.astype(classes.dtype) == classes).all() and len(np.unique(numbers)) == len(numbers):
            return numbers, None
    return np.arange(len(classes), dtype=np.float64), [str(label) for label in classes]


class KernelRidgeClassifier(RidgeOptions, _Classifier):
    """One kernel ridge regression against -1 and 1 for each class; the largest wins.

    Beside its own it takes the parameters of `KernelRidgeRegressor`: kernel, gamma, n_components,
    map, sampling, form, standardize, fit_intercept, random_state, device and memory.

    Parameters
    ----------
    penalty : float, array-like or 'auto', default=1e-6
        Of squares, per sample: scikit-learn's ``alpha`` of KernelRidge is n_samples * penalty. Of
        several the best by held-out errors is taken, and of ``'auto'`` the best of a grid.

    folds : int, default=None
        Folds by which a penalty is chosen; None for leave-one-out, which is exact and takes no
        further fit.

    solver : {'auto', 'cholesky', 'cg'}, default='auto'
        A factor of the normal equations, or conjugate gradients, which store no Gram matrix.

    class_weight : dict, 'balanced' or None, default=None
        What a row of each class counts; ``'balanced'`` makes all classes count the same.

    probability : bool, default=False
        Whether there is `predict_proba`, by sigmoids on scores of a fifth of the rows, from a second
        fit to the others.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels, in order.

    penalty_ : float
        The penalty of the fit.

    n_features_in_ : int
        Number of features seen in fit.

    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, if all are strings.

    Examples
    --------
    >>> from bochner import KernelRidgeClassifier
    >>> from sklearn.datasets import load_digits
    >>> X, y = load_digits(return_X_y=True)
    >>> model = KernelRidgeClassifier(n_components=500, random_state=0).fit(X[:1000], y[:1000])
    >>> bool(model.score(X[1000:], y[1000:]) > 0.9)
    True
    """

    _learner = "ridge"
    _own = ("penalty", "folds", "solver", "probability",)
    _parameter_constraints = {
        **SHARED,
        "penalty": [POSITIVE, "array-like", StrOptions({"auto"})],
        "folds": [Interval(Integral, 2, None, closed="left"), None],
        "solver": [StrOptions({"auto", "cholesky", "cg"})],
        "class_weight": [dict, StrOptions({"balanced"}), None],
        "probability": ["boolean"],
    }

    def __init__(
        self,
        *,
        kernel="gaussian",
        gamma="scale",
        n_components=1000,
        map="fourier",
        sampling="monte-carlo",
        form="paired",
        standardize="auto",
        penalty=1e-6,
        folds=None,
        solver="auto",
        class_weight=None,
        probability=False,
        fit_intercept=True,
        random_state=None,
        device="auto",
        memory=None,
    ):
        self.kernel = kernel
        self.gamma = gamma
        self.n_components = n_components
        self.map = map
        self.sampling = sampling
        self.form = form
        self.standardize = standardize
        self.penalty = penalty
        self.folds = folds
        self.solver = solver
        self.class_weight = class_weight
        self.probability = probability
        self.fit_intercept = fit_intercept
        self.random_state = random_state
        self.device = device
        self.memory = memory

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X, y, sample_weight=None):
        """Fit to rows.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows.

        y : array-like of shape (n_samples,)
            Labels.

        sample_weight : array-like of shape (n_samples,), default=None
            What each row counts: a row of weight 2 is one that is there twice.

        Returns
        -------
        self : object
        """
        return self._fit_labels(X, y, sample_weight)


class KernelLogisticRegression(_Classifier):
    """Kernel logistic regression, of two classes and of more, with probabilities.

    Beside its own it takes the parameters of `KernelRidgeRegressor`: kernel, gamma, n_components,
    map, sampling, form, standardize, fit_intercept, random_state, device and memory.

    Parameters
    ----------
    penalty : float, default=1e-5
        Of squares, per sample: lambda/2 |beta|^2 beside the mean loss. scikit-learn's ``C`` is
        1 / (n_samples * penalty).

    l1 : float, default=0.0
        The penalty of absolute values, which makes coefficients zero.

    tol : float, default=1e-4
        The solver ends when the gradient is this share of the first.

    max_iter : int, default=200
        Most passes over the rows.

    class_weight : dict, 'balanced' or None, default=None
        What a row of each class counts; ``'balanced'`` makes all classes count the same.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels, in order.

    n_iter_ : int
        Passes over the rows.

    n_features_in_ : int
        Number of features seen in fit.

    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, if all are strings.

    Examples
    --------
    >>> from bochner import KernelLogisticRegression
    >>> from sklearn.datasets import load_digits
    >>> X, y = load_digits(return_X_y=True)
    >>> model = KernelLogisticRegression(n_components=500, random_state=0).fit(X[:1000], y[:1000])
    >>> bool(model.score(X[1000:], y[1000:]) > 0.9)
    True
    """

    _learner = "logistic"
    _own = ("penalty", "l1", "tol", "max_iter",)
    _margin = 1.0
    _parameter_constraints = {
        **SHARED,
        "penalty": [NOT_NEGATIVE],
        "l1": [NOT_NEGATIVE],
        "tol": [POSITIVE],
        "max_iter": [COUNT],
        "class_weight": [dict, StrOptions({"balanced"}), None],
    }

    def __init__(
        self,
        *,
        kernel="gaussian",
        gamma="scale",
        n_components=1000,
        map="fourier",
        sampling="monte-carlo",
        form="paired",
        standardize="auto",
        penalty=1e-5,
        l1=0.0,
        tol=1e-4,
        max_iter=200,
        class_weight=None,
        fit_intercept=True,
        random_state=None,
        device="auto",
        memory=None,
    ):
        self.kernel = kernel
        self.gamma = gamma
        self.n_components = n_components
        self.map = map
        self.sampling = sampling
        self.form = form
        self.standardize = standardize
        self.penalty = penalty
        self.l1 = l1
        self.tol = tol
        self.max_iter = max_iter
        self.class_weight = class_weight
        self.fit_intercept = fit_intercept
        self.random_state = random_state
        self.device = device
        self.memory = memory

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X, y, sample_weight=None):
        """Fit to rows.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows.

        y : array-like of shape (n_samples,)
            Labels.

        sample_weight : array-like of shape (n_samples,), default=None
            What each row counts: a row of weight 2 is one that is there twice.

        Returns
        -------
        self : object
        """
        return self._fit_labels(X, y, sample_weight)


class KernelSVC(_Classifier):
    """A linear support vector machine on random features; of several classes one against all.

    Beside its own it takes the parameters of `KernelRidgeRegressor`: kernel, gamma, n_components,
    map, sampling, form, standardize, fit_intercept, random_state, device and memory.

    Parameters
    ----------
    penalty : float, default=1e-5
        Of squares, per sample: lambda/2 |beta|^2 beside the mean loss. scikit-learn's ``C`` is
        1 / (n_samples * penalty).

    loss : {'squared_hinge', 'hinge'}, default='squared_hinge'
        What rows on the wrong side of the margin cost.

    tol : float, default=1e-3
        The solver ends when the gradient is this share of the first.

    max_iter : int, default=200
        Most passes over the rows.

    class_weight : dict, 'balanced' or None, default=None
        What a row of each class counts; ``'balanced'`` makes all classes count the same.

    probability : bool, default=False
        Whether there is `predict_proba`, by sigmoids on scores of a fifth of the rows, from a second
        fit to the others.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels, in order.

    n_iter_ : int
        Passes over the rows.

    n_features_in_ : int
        Number of features seen in fit.

    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, if all are strings.

    Examples
    --------
    >>> from bochner import KernelSVC
    >>> from sklearn.datasets import load_digits
    >>> X, y = load_digits(return_X_y=True)
    >>> model = KernelSVC(n_components=500, random_state=0).fit(X[:1000], y[:1000])
    >>> bool(model.score(X[1000:], y[1000:]) > 0.9)
    True
    """

    _learner = "svm"
    _own = ("penalty", "loss", "tol", "max_iter", "probability",)
    _parameter_constraints = {
        **SHARED,
        "penalty": [POSITIVE],
        "loss": [StrOptions({"squared_hinge", "hinge"})],
        "tol": [POSITIVE],
        "max_iter": [COUNT],
        "class_weight": [dict, StrOptions({"balanced"}), None],
        "probability": ["boolean"],
    }

    def __init__(
        self,
        *,
        kernel="gaussian",
        gamma="scale",
        n_components=1000,
        map="fourier",
        sampling="monte-carlo",
        form="paired",
        standardize="auto",
        penalty=1e-5,
        loss="squared_hinge",
        tol=1e-3,
        max_iter=200,
        class_weight=None,
        probability=False,
        fit_intercept=True,
        random_state=None,
        device="auto",
        memory=None,
    ):
        self.kernel = kernel
        self.gamma = gamma
        self.n_components = n_components
        self.map = map
        self.sampling = sampling
        self.form = form
        self.standardize = standardize
        self.penalty = penalty
        self.loss = loss
        self.tol = tol
        self.max_iter = max_iter
        self.class_weight = class_weight
        self.probability = probability
        self.fit_intercept = fit_intercept
        self.random_state = random_state
        self.device = device
        self.memory = memory

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X, y, sample_weight=None):
        """Fit to rows.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows.

        y : array-like of shape (n_samples,)
            Labels.

        sample_weight : array-like of shape (n_samples,), default=None
            What each row counts: a row of weight 2 is one that is there twice.

        Returns
        -------
        self : object
        """
        return self._fit_labels(X, y, sample_weight)
