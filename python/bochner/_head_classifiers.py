"""Ridge regression against the classes on features of one's own."""

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
    """`Ridge` against -1 and 1 for each class; the largest wins: `sklearn.linear_model.RidgeClassifier`.

    Beside its own it takes the parameters of `Ridge`.

    Parameters
    ----------
    class_weight : dict, 'balanced' or None, default=None
        What a row of each class counts; ``'balanced'`` makes all classes count the same, with
        ``sample_weight`` by the weights of their rows, where scikit-learn counts rows.

    probability : bool, default=False
        Whether there are `predict_proba` and `predict_sets`, by a sigmoid, or of more classes a softmax,
        on scores of rows that the fit leaves out in turn.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,) or (n_classes, n_features)
        Coefficients of the columns; of two classes for the second.

    intercept_ : ndarray of shape (1,) or (n_classes,), or 0.0
        What a row of zeros has; of two classes for the second.

    classes_ : ndarray of shape (n_classes,)
        The labels, in order.

    n_features_in_ : int
        Number of features seen in fit.

    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, if all are strings.

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
        """Fit to rows.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features), or Scan
            Rows.

        y : array-like of shape (n_samples,), default=None
            Labels; None for those of the file of a `Scan`.

        sample_weight : array-like of shape (n_samples,), default=None
            What each row counts.

        Returns
        -------
        self : object
        """
        return self._fit_labels(X, y, sample_weight)

    @_fit_context(prefer_skip_nested_validation=True)
    def partial_fit(
        self, X: Any, y: Any = None, classes: Any = None, sample_weight: Any = None
    ) -> Self:
        """Add rows to those of earlier calls; the result is that of one `fit` to all of them.

        ``class_weight`` is None or a dict here. `fit` keeps no sums: after it this begins anew, and
        warns.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features), or Scan
            Rows.

        y : array-like of shape (n_samples,), default=None
            Labels; None for those of the file of a `Scan`, which are numbers.

        classes : array-like of shape (n_classes,), default=None
            All labels there will be; the first call needs them.

        sample_weight : array-like of shape (n_samples,), default=None
            What each row counts.

        Returns
        -------
        self : object
        """
        rows, labels = self._part_of_labels(X, y, classes, sample_weight)
        self._add(*rows, **labels)
        return self

    def forget(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Take rows out again that `partial_fit` added, as if they had never been there.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows.

        y : array-like of shape (n_samples,)
            Labels.

        sample_weight : array-like of shape (n_samples,), default=None
            What each row counted.

        Returns
        -------
        self : object
        """
        self._require_state()
        self._take_out(*self._rows_of_labels(X, y, sample_weight, reset=False))
        return self


class RidgeClassifierCV(LabelsHead, ChoosingHead, Classifier):
    """`RidgeClassifier` with the best of several alphas: `sklearn.linear_model.RidgeClassifierCV`.

    Beside its own it takes the parameters of `RidgeCV`.

    Parameters
    ----------
    class_weight : dict, 'balanced' or None, default=None
        What a row of each class counts; ``'balanced'`` makes all classes count the same.

    probability : bool, default=False
        Whether there are `predict_proba` and `predict_sets`, by a sigmoid, or of more classes a softmax,
        on scores of rows that the fit leaves out in turn.

    Attributes
    ----------
    alpha_ : float
        The best alpha.

    best_score_ : float
        Minus the mean squared error against -1 and 1 on rows left out at it, or the score.

    cv_results_ : ndarray of shape (n_samples, n_targets, n_alphas)
        With ``store_cv_results``: squared errors against -1 and 1 on each row left out, times its
        weight; with ``scoring`` its scores. Of two classes there is one target.

    coef_ : ndarray of shape (n_features,) or (n_classes, n_features)
        Coefficients of the columns; of two classes for the second.

    intercept_ : ndarray of shape (1,) or (n_classes,), or 0.0
        What a row of zeros has; of two classes for the second.

    classes_ : ndarray of shape (n_classes,)
        The labels, in order.

    n_features_in_ : int
        Number of features seen in fit.

    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, if all are strings.

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
        """Choose alpha, and fit to all rows.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features), or Scan
            Rows.

        y : array-like of shape (n_samples,), default=None
            Labels; None for those of the file of a `Scan`.

        sample_weight : array-like of shape (n_samples,), default=None
            What each row counts.

        Returns
        -------
        self : object
        """
        if self._is_searched(X):
            names = ("fit_intercept", "class_weight", "probability", "device", "memory")
            one = RidgeClassifier(**{name: getattr(self, name) for name in names})
            return self._search(one, X, y, sample_weight)
        return self._fit_labels(X, y, sample_weight)
