"""Classification by other losses than squares on random features, with scikit-learn's interface.

Every class draws a feature map z with z(x)'z(y) close to k(x, y), streams the rows through it, and
learns something linear. What they share is described in `KernelRidgeRegressor`.
"""

from sklearn.base import _fit_context
from sklearn.utils._param_validation import StrOptions

from ._bases import Classifier
from ._learning import COUNT, NOT_NEGATIVE, POSITIVE, SHARED

__all__ = ["KernelLogisticRegression", "KernelSVC"]


class KernelLogisticRegression(Classifier):
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
        verbose=False,
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
        self.verbose = verbose

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X, y=None, sample_weight=None):
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


class KernelSVC(Classifier):
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
        Whether there is `predict_proba`, by a sigmoid, or of more classes a softmax, on scores of a
        fifth of the rows, from a second fit to the others.

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
        verbose=False,
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
        self.verbose = verbose

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X, y=None, sample_weight=None):
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
