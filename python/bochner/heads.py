"""Ridge regression on features of one's own, in the place of scikit-learn's.

Embeddings, ROCKET's features or any columns, as they are: names, parameters and attributes are those of
`sklearn.linear_model`, and alpha means the same. Beside these there are rows from files, sums that
grow and merge, and devices.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ._bases import Regressor
from ._head import EACH, AmountsHead, GrowingHead
from ._head_choice import SEVERAL, ChoosingHead
from ._head_classifiers import RidgeClassifier, RidgeClassifierCV
from ._parameters import CALIBRATE
from ._typing import _fit_context

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    from numpy.typing import NDArray
    from typing_extensions import Self

__all__ = ["Ridge", "RidgeCV", "RidgeClassifier", "RidgeClassifierCV"]


class Ridge(AmountsHead, GrowingHead, Regressor):
    """Least squares with a penalty on the columns as they are: `sklearn.linear_model.Ridge`.

    It minimises ``sum_i w_i |y_i - x_i'b - c|^2 + alpha |b|^2`` (Hoerl & Kennard 1970) from sums, which
    are solved in float64. Those of float64 rows are in float64 on the CPU; those of float32 rows, and of
    a GPU, in float32, and their coefficients agree with scikit-learn's to about 1e-6 of the largest.

    Parameters
    ----------
    alpha : float or ndarray of shape (n_targets,), default=1.0
        Of squares of coefficients, as scikit-learn has it: not divided by rows; one for all targets,
        or one for each. At 0 it is least squares, of several solutions the smallest: sums are then
        in float64 on the CPU unless a GPU is named.

    fit_intercept : bool, default=True
        Whether an intercept is fitted. Without one columns are not centred.

    calibrate : float, default=None
        The share of the rows that the fit does not see and intervals are calibrated on, of arrays, as
        in `KernelRidgeRegressor`; which ones is the same every time.

    device : str, default='auto'
        ``'auto'`` (the best GPU, else the CPU), ``'cpu'``, ``'gpu'``, or part of an adapter's name.

    memory : int, default=None
        Bytes for chunks of rows; None for 128 MiB.

    verbose : bool, default=False
        Whether fit says how far it is.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,) or (n_targets, n_features)
        Coefficients of the columns.

    intercept_ : float or ndarray of shape (n_targets,)
        What a row of zeros has.

    n_features_in_ : int
        Number of features seen in fit.

    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, if all are strings.

    Examples
    --------
    >>> import numpy as np
    >>> from bochner import Ridge
    >>> X = np.random.RandomState(0).normal(size=(100, 3))
    >>> model = Ridge(alpha=1e-3, device="cpu").fit(X, X @ [1.0, 2.0, 3.0] + 4.0)
    >>> model.coef_.round(3), round(float(model.intercept_), 3)
    (array([1., 2., 3.]), 4.0)
    """

    _parameter_constraints = EACH

    def __init__(
        self,
        alpha: float | NDArray[Any] = 1.0,
        *,
        fit_intercept: bool = True,
        calibrate: float | None = None,
        device: str = "auto",
        memory: int | None = None,
        verbose: bool | int = False,
    ) -> None:
        self.alpha = alpha
        self.fit_intercept = fit_intercept
        self.calibrate = calibrate
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

        y : array-like of shape (n_samples,) or (n_samples, n_targets), default=None
            Targets; None for those of the file of a `Scan`.

        sample_weight : array-like of shape (n_samples,), default=None
            What each row counts.

        Returns
        -------
        self : object
        """
        return self._fit_numbers(X, y, sample_weight)

    @_fit_context(prefer_skip_nested_validation=True)
    def partial_fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Add rows to those of earlier calls; the result is that of one `fit` to all of them.

        Sums in memory are all that is kept, of D features 4 D^2 bytes. ``alpha`` can change
        between calls. `fit` keeps no sums: after it this begins anew, and warns.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features), or Scan
            Rows.

        y : array-like of shape (n_samples,) or (n_samples, n_targets), default=None
            Targets; None for those of the file of a `Scan`.

        sample_weight : array-like of shape (n_samples,), default=None
            What each row counts.

        Returns
        -------
        self : object
        """
        first = self._is_first()
        self._add(*self._validated(X, y, sample_weight, reset=first))
        return self

    def forget(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Take rows out again that `partial_fit` added, as if they had never been there.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows.

        y : array-like of shape (n_samples,) or (n_samples, n_targets)
            Targets.

        sample_weight : array-like of shape (n_samples,), default=None
            What each row counted.

        Returns
        -------
        self : object
        """
        self._require_state()
        self._take_out(*self._validated(X, y, sample_weight, reset=False))
        return self


class RidgeCV(AmountsHead, ChoosingHead, Regressor):
    """`Ridge` with the best of several alphas: `sklearn.linear_model.RidgeCV`.

    Squared errors on each row left out in turn choose, weighted and averaged over targets as
    scikit-learn's are (Allen 1974; Golub, Heath & Wahba 1979): one eigendecomposition and one more
    pass over the rows for all alphas together, then the fit. Rows may be those of a file.

    Parameters
    ----------
    alphas : float or array-like, default=(0.1, 1.0, 10.0)
        Of squares of coefficients, above 0, with ``cv`` also 0, not divided by rows.

    fit_intercept : bool, default=True
        Whether an intercept is fitted. Without one columns are not centred, and rows are arrays.

    scoring : str, callable or None, default=None
        What chooses in the place of squared errors: a score of the folds, or without ``cv`` of what
        every row is predicted when left out, by one singular value decomposition in float64; for
        arrays.

    cv : int, cross-validation generator, iterable or None, default=None
        Folds that choose in the place of rows left out, by `GridSearchCV` as in scikit-learn; for
        arrays.

    store_cv_results : bool, default=False
        Whether ``cv_results_`` are kept: without ``cv``, by one singular value decomposition in
        float64; for arrays.

    alpha_per_target : bool, default=False
        Whether every target has the alpha that is best for it, by the same; without ``cv``.

    calibrate : float, default=None
        As of `Ridge`. What chooses sees none of these rows either.

    device : str, default='auto'
        ``'auto'`` (the best GPU, else the CPU), ``'cpu'``, ``'gpu'``, or part of an adapter's name.

    memory : int, default=None
        Bytes for chunks of rows; None for 128 MiB.

    verbose : bool, default=False
        Whether the fit says how far it is.

    Attributes
    ----------
    alpha_ : float or ndarray of shape (n_targets,)
        The best alpha; of each target with ``alpha_per_target``.

    best_score_ : float or ndarray of shape (n_targets,)
        Minus the mean squared error on rows left out at it, or the score.

    cv_results_ : ndarray of shape (n_samples, n_alphas) or (n_samples, n_targets, n_alphas)
        With ``store_cv_results``: squared errors on each row left out, times its weight; with
        ``scoring`` what it is predicted.

    coef_ : ndarray of shape (n_features,) or (n_targets, n_features)
        Coefficients of the columns.

    intercept_ : float or ndarray of shape (n_targets,)
        What a row of zeros has.

    n_features_in_ : int
        Number of features seen in fit.

    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, if all are strings.

    Examples
    --------
    >>> from bochner import RidgeCV
    >>> from sklearn.datasets import load_diabetes
    >>> X, y = load_diabetes(return_X_y=True)
    >>> RidgeCV(alphas=[1e-3, 1e-2, 1e-1, 1], device="cpu").fit(X, y).alpha_
    0.01
    """

    _parameter_constraints = {
        **SEVERAL,
        "alpha_per_target": ["boolean"],
        "calibrate": CALIBRATE,
    }

    def __init__(
        self,
        alphas: float | Sequence[float] | NDArray[Any] = (0.1, 1.0, 10.0),
        *,
        fit_intercept: bool = True,
        scoring: str | Callable[..., float] | None = None,
        cv: Any = None,
        store_cv_results: bool = False,
        alpha_per_target: bool = False,
        calibrate: float | None = None,
        device: str = "auto",
        memory: int | None = None,
        verbose: bool | int = False,
    ) -> None:
        self.alphas = alphas
        self.fit_intercept = fit_intercept
        self.scoring = scoring
        self.cv = cv
        self.store_cv_results = store_cv_results
        self.alpha_per_target = alpha_per_target
        self.calibrate = calibrate
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

        y : array-like of shape (n_samples,) or (n_samples, n_targets), default=None
            Targets; None for those of the file of a `Scan`.

        sample_weight : array-like of shape (n_samples,), default=None
            What each row counts.

        Returns
        -------
        self : object
        """
        if self._is_searched(X):
            names = ("fit_intercept", "calibrate", "device", "memory")
            one = Ridge(**{name: getattr(self, name) for name in names})
            return self._search(one, X, y, sample_weight)
        return self._fit_numbers(X, y, sample_weight, at_least=2)
