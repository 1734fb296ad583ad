"""Ridge regression and classification on given features, as drop-ins for scikit-learn's.

Features, such as embeddings or those of ROCKET, are used as they are. Names, parameters and
attributes are those of `sklearn.linear_model`, with the same alpha. In addition, samples can come
from files, `partial_fit` adds samples, sums can be merged, and GPUs can compute the sums.
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
    """Ridge regression on the given features: drop-in for `sklearn.linear_model.Ridge`.

    It minimises, over coefficients b and an unpenalised intercept c (Hoerl & Kennard 1970)::

        sum_i w_i (y_i - x_i'b - c)^2 + alpha |b|^2

    where w_i are the sample weights. The normal equations are summed in one pass and solved in
    float64. Sums of float64 samples on the CPU are in float64. Those of float32 samples, and those
    on a GPU, are in float32; coefficients then agree with scikit-learn's to about 1e-6 of the
    largest.

    Parameters
    ----------
    alpha : float or ndarray of shape (n_targets,), default=1.0
        Penalty of the squared coefficients, 0 or positive, as in scikit-learn (not per sample); one
        for all targets, or one for each. 0 is ordinary least squares, with the minimum-norm
        solution if there are several; sums are then in float64 on the CPU unless ``device`` names a
        GPU.

    fit_intercept : bool, default=True
        Whether to fit an intercept. Without one, features are not centred.

    calibrate : float, default=None
        Fraction of the samples, between 0 and 1, that is held out of the fit to calibrate
        intervals, as in `KernelRidgeRegressor`, always with the same random draw. Only for arrays.

    device : str, default='auto'
        Device for the computation: ``'auto'`` (the best GPU, or the CPU without one), ``'cpu'``,
        ``'gpu'``, or a part of an adapter's name.

    memory : int, default=None
        Memory for chunks of samples, in bytes; None for 128 MiB.

    verbose : bool, default=False
        Whether `fit` shows its progress.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,) or (n_targets, n_features)
        Coefficients b.

    intercept_ : float or ndarray of shape (n_targets,)
        Intercept c; 0.0 with ``fit_intercept=False``.

    n_features_in_ : int
        Number of features seen in fit.

    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of features seen in fit, if all are strings.

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
        """Fit the model.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features), or Scan
            Training samples.

        y : array-like of shape (n_samples,) or (n_samples, n_targets), default=None
            Target values; None to read them from the file, if X is a `Scan`.

        sample_weight : array-like of shape (n_samples,), default=None
            Sample weights; None for equal weights.

        Returns
        -------
        self : object
        """
        return self._fit_numbers(X, y, sample_weight)

    @_fit_context(prefer_skip_nested_validation=True)
    def partial_fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Add samples to earlier ones; equivalent to one `fit` to all of them.

        The estimator keeps sums alone, which take 4 n_features^2 bytes. ``alpha`` can change
        between calls. `fit` keeps no sums: a call after `fit` starts from no samples, with a
        warning.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features), or Scan
            Samples to add.

        y : array-like of shape (n_samples,) or (n_samples, n_targets), default=None
            Target values; None to read them from the file, if X is a `Scan`.

        sample_weight : array-like of shape (n_samples,), default=None
            Sample weights; None for equal weights.

        Returns
        -------
        self : object
        """
        first = self._is_first()
        self._add(*self._validated(X, y, sample_weight, reset=first))
        return self

    def forget(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Remove samples that `partial_fit` added, as if they had never been added.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Samples to remove.

        y : array-like of shape (n_samples,) or (n_samples, n_targets)
            Target values.

        sample_weight : array-like of shape (n_samples,), default=None
            Sample weights that were passed when the samples were added.

        Returns
        -------
        self : object
        """
        self._require_state()
        self._take_out(*self._validated(X, y, sample_weight, reset=False))
        return self


class RidgeCV(AmountsHead, ChoosingHead, Regressor):
    """Ridge regression with cross-validated alpha: drop-in for `sklearn.linear_model.RidgeCV`.

    It minimises the leave-one-out error over ``alphas``, and then, over coefficients b and an
    unpenalised intercept c, the objective of `Ridge`::

        sum_i w_i (y_i - x_i'b - c)^2 + alpha |b|^2

    Leave-one-out errors are squared errors, weighted and averaged over targets as in scikit-learn
    (Allen 1974; Golub, Heath & Wahba 1979). All alphas share one eigendecomposition and one more
    pass over the samples. Samples can come from a file.

    Parameters
    ----------
    alphas : float or array-like, default=(0.1, 1.0, 10.0)
        Candidates for the penalty of the squared coefficients (not per sample), positive; with
        ``cv`` also 0.

    fit_intercept : bool, default=True
        Whether to fit an intercept. Without one, features are not centred, and X must be an array.

    scoring : str, callable or None, default=None
        Score that selects alpha, instead of squared errors: of the folds, or, without ``cv``, of
        the leave-one-out predictions, which one singular value decomposition in float64 gives. Only
        for arrays.

    cv : int, cross-validation generator, iterable or None, default=None
        Cross-validation that selects alpha by `GridSearchCV`, as in scikit-learn. None for
        leave-one-out errors. Only for arrays.

    store_cv_results : bool, default=False
        Whether to store ``cv_results_``, from one singular value decomposition in float64. Only for
        arrays, and with ``cv=None``.

    alpha_per_target : bool, default=False
        Whether to select an alpha for each target. Only for arrays, and with ``cv=None``.

    calibrate : float, default=None
        Fraction of the samples, between 0 and 1, that is held out to calibrate intervals, as in
        `Ridge`. The selection of alpha does not use them either.

    device : str, default='auto'
        Device for the computation: ``'auto'`` (the best GPU, or the CPU without one), ``'cpu'``,
        ``'gpu'``, or a part of an adapter's name.

    memory : int, default=None
        Memory for chunks of samples, in bytes; None for 128 MiB.

    verbose : bool, default=False
        Whether `fit` shows its progress.

    Attributes
    ----------
    alpha_ : float or ndarray of shape (n_targets,)
        Selected alpha; one for each target with ``alpha_per_target=True``.

    best_score_ : float or ndarray of shape (n_targets,)
        Negative mean squared leave-one-out error of the selected alpha, or its score by
        ``scoring``.

    cv_results_ : ndarray of shape (n_samples, n_alphas) or (n_samples, n_targets, n_alphas)
        Squared leave-one-out errors times sample weights, or, with ``scoring``, leave-one-out
        predictions. Only with ``store_cv_results=True``.

    coef_ : ndarray of shape (n_features,) or (n_targets, n_features)
        Coefficients b.

    intercept_ : float or ndarray of shape (n_targets,)
        Intercept c; 0.0 with ``fit_intercept=False``.

    n_features_in_ : int
        Number of features seen in fit.

    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of features seen in fit, if all are strings.

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
        """Select alpha, and fit the model to all samples.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features), or Scan
            Training samples.

        y : array-like of shape (n_samples,) or (n_samples, n_targets), default=None
            Target values; None to read them from the file, if X is a `Scan`.

        sample_weight : array-like of shape (n_samples,), default=None
            Sample weights; None for equal weights.

        Returns
        -------
        self : object
        """
        if self._is_searched(X):
            names = ("fit_intercept", "calibrate", "device", "memory")
            one = Ridge(**{name: getattr(self, name) for name in names})
            return self._search(one, X, y, sample_weight)
        return self._fit_numbers(X, y, sample_weight, at_least=2)
