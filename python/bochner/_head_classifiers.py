"""Ridge classification on given features, as drop-ins for scikit-learn's."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sklearn.utils._param_validation import StrOptions

from ._bases import Classifier
from ._head import ONE, GrowingHead, LabelsHead
from ._head_choice import SEVERAL, ChoosingHead
from ._typing import _fit_context

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    from numpy.typing import NDArray
    from typing_extensions import Self

    from ._typing import ClassWeight

_LABELS = {
    "class_weight": [dict, StrOptions({"balanced"}), None],
    "probability": ["boolean"],
}


class RidgeClassifier(LabelsHead, GrowingHead, Classifier):
    """Ridge classification on given features: drop-in for `sklearn.linear_model.RidgeClassifier`.

    It minimises, over coefficients b and an unpenalised intercept c, with targets y_i of 1 and -1
    (two classes), or, for each class, of 1 for its samples and -1 for others::

        sum_i w_i (y_i - x_i'b - c)^2 + alpha |b|^2

    where w_i are the sample weights. The prediction is the class with the largest value.

    The other parameters are described in `Ridge`.

    Parameters
    ----------
    class_weight : dict, 'balanced' or None, default=None
        Weight of each class: a dict from label to weight, where missing labels have weight 1, or
        ``'balanced'`` for weights inversely proportional to the total sample weights of the
        classes, where scikit-learn counts samples. None for equal weights.

    probability : bool, default=False
        Whether to provide `predict_proba` and `predict_sets`: a sigmoid, or a softmax for more than
        two classes, calibrated on leave-one-out scores.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,) or (n_classes, n_features)
        Coefficients b; with two classes, those of ``classes_[1]``.

    intercept_ : ndarray of shape (1,) or (n_classes,), or 0.0
        Intercepts c; with two classes, that of ``classes_[1]``. 0.0 with ``fit_intercept=False``.

    classes_ : ndarray of shape (n_classes,)
        Class labels, in ascending order.

    n_features_in_ : int
        Number of features seen in fit.

    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of features seen in fit, if all are strings.

    Examples
    --------
    >>> from bochner import RidgeClassifier
    >>> from sklearn.datasets import load_digits
    >>> X, y = load_digits(return_X_y=True)
    >>> model = RidgeClassifier(alpha=10.0, device="cpu").fit(X[:1000], y[:1000])
    >>> model.coef_.shape, bool(model.score(X[1000:], y[1000:]) > 0.85)
    ((10, 64), True)
    """

    _parameter_constraints = {**ONE, **_LABELS}

    def __init__(
        self,
        alpha: float = 1.0,
        *,
        fit_intercept: bool = True,
        class_weight: ClassWeight = None,
        probability: bool = False,
        device: str = "auto",
        memory: int | None = None,
        verbose: bool | int = False,
    ) -> None:
        self.alpha = alpha
        self.fit_intercept = fit_intercept
        self.class_weight = class_weight
        self.probability = probability
        self.device = device
        self.memory = memory
        self.verbose = verbose

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Fit the model.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features), or Scan
            Training samples.

        y : array-like of shape (n_samples,), default=None
            Class labels; None to read them from the file, if X is a `Scan`.

        sample_weight : array-like of shape (n_samples,), default=None
            Sample weights; None for equal weights.

        Returns
        -------
        self : object
        """
        return self._fit_labels(X, y, sample_weight)

    @_fit_context(prefer_skip_nested_validation=True)
    def partial_fit(
        self, X: Any, y: Any = None, classes: Any = None, sample_weight: Any = None
    ) -> Self:
        """Add samples to earlier ones; equivalent to one `fit` to all of them.

        ``class_weight`` must be None or a dict. `fit` keeps no sums: a call after `fit` starts from
        no samples, with a warning.

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

    def forget(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Remove samples that `partial_fit` added, as if they had never been added.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Samples to remove.

        y : array-like of shape (n_samples,)
            Class labels.

        sample_weight : array-like of shape (n_samples,), default=None
            Sample weights that were passed when the samples were added.

        Returns
        -------
        self : object
        """
        self._require_state()
        self._take_out(*self._rows_of_labels(X, y, sample_weight, reset=False))
        return self


class RidgeClassifierCV(LabelsHead, ChoosingHead, Classifier):
    """Cross-validated ridge classification: drop-in for `sklearn.linear_model.RidgeClassifierCV`.

    It minimises the mean squared leave-one-out error against targets of 1 and -1 over ``alphas``,
    and then the objective of `RidgeClassifier`::

        sum_i w_i (y_i - x_i'b - c)^2 + alpha |b|^2

    The other parameters are described in `RidgeCV`.

    Parameters
    ----------
    class_weight : dict, 'balanced' or None, default=None
        Weight of each class: a dict from label to weight, where missing labels have weight 1, or
        ``'balanced'`` for weights inversely proportional to the class frequencies. None for equal
        weights.

    probability : bool, default=False
        Whether to provide `predict_proba` and `predict_sets`: a sigmoid, or a softmax for more than
        two classes, calibrated on leave-one-out scores.

    Attributes
    ----------
    alpha_ : float
        Selected alpha.

    best_score_ : float
        Negative mean squared leave-one-out error against 1 and -1 of the selected alpha, or its
        score by ``scoring``.

    cv_results_ : ndarray of shape (n_samples, n_targets, n_alphas)
        Squared leave-one-out errors against 1 and -1, times sample weights, or, with ``scoring``,
        leave-one-out scores. Two classes have one target. Only with ``store_cv_results=True``.

    coef_ : ndarray of shape (n_features,) or (n_classes, n_features)
        Coefficients b; with two classes, those of ``classes_[1]``.

    intercept_ : ndarray of shape (1,) or (n_classes,), or 0.0
        Intercepts c; with two classes, that of ``classes_[1]``. 0.0 with ``fit_intercept=False``.

    classes_ : ndarray of shape (n_classes,)
        Class labels, in ascending order.

    n_features_in_ : int
        Number of features seen in fit.

    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of features seen in fit, if all are strings.

    Examples
    --------
    >>> from bochner import RidgeClassifierCV
    >>> from sklearn.datasets import load_digits
    >>> X, y = load_digits(return_X_y=True)
    >>> model = RidgeClassifierCV(alphas=[1, 100, 10000], device="cpu").fit(X, y)
    >>> model.alpha_
    100.0
    """

    _parameter_constraints = {**SEVERAL, **_LABELS}

    def __init__(
        self,
        alphas: float | Sequence[float] | NDArray[Any] = (0.1, 1.0, 10.0),
        *,
        fit_intercept: bool = True,
        scoring: str | Callable[..., float] | None = None,
        cv: Any = None,
        store_cv_results: bool = False,
        class_weight: ClassWeight = None,
        probability: bool = False,
        device: str = "auto",
        memory: int | None = None,
        verbose: bool | int = False,
    ) -> None:
        self.alphas = alphas
        self.fit_intercept = fit_intercept
        self.scoring = scoring
        self.cv = cv
        self.store_cv_results = store_cv_results
        self.class_weight = class_weight
        self.probability = probability
        self.device = device
        self.memory = memory
        self.verbose = verbose

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Select alpha, and fit the model to all samples.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features), or Scan
            Training samples.

        y : array-like of shape (n_samples,), default=None
            Class labels; None to read them from the file, if X is a `Scan`.

        sample_weight : array-like of shape (n_samples,), default=None
            Sample weights; None for equal weights.

        Returns
        -------
        self : object
        """
        if self._is_searched(X):
            names = ("fit_intercept", "class_weight", "probability", "device", "memory")
            one = RidgeClassifier(**{name: getattr(self, name) for name in names})
            return self._search(one, X, y, sample_weight)
        return self._fit_labels(X, y, sample_weight)
