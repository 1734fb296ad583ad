"""Regressors on random features: support vectors, robust and quantile losses, the elastic net.

Every class draws a feature map z with z(x)'z(y) close to k(x, y), streams the samples through it,
and fits a linear model. Parameters that all share are described in `KernelRidgeRegressor`.
"""

from __future__ import annotations

from numbers import Real
from typing import TYPE_CHECKING

from sklearn.utils._param_validation import Interval, StrOptions

from ._kept import KeepingNumbers
from ._parameters import ADDITIVE, CALIBRATE, COUNT, LINEAR, NOT_NEGATIVE, POSITIVE, SHARED
from ._partial import GrowingNumbers
from .kernel_machines import Numbers

if TYPE_CHECKING:


    from ._typing import Gamma, Random

__all__ = ["KernelElasticNet", "KernelSVR"]


class KernelSVR(KeepingNumbers, Numbers):
    """Support vector, robust and quantile regression on random features.

    It minimises, for each target, over coefficients beta and an unpenalised intercept b::

        sum_i w_i loss(z(x_i)'beta + b - y_i) / sum_i w_i + penalty/2 |beta|^2

    where z is the feature map and w_i are the sample weights. The loss of a residual r is
    ``max(0, |r| - epsilon)`` with ``loss='epsilon_insensitive'``, the square of that with
    ``'squared_epsilon_insensitive'``, ``r^2 / 2`` for ``|r| <= epsilon`` and linear beyond with
    ``'huber'``, and ``max(-quantile * r, (1 - quantile) * r)`` with ``'quantile'``.

    The other parameters are described in `KernelRidgeRegressor`: kernel, gamma, n_components, map,
    sampling, form, standardize, linear, additive, fit_intercept, random_state, device, memory,
    verbose, importances and calibrate.

    Parameters
    ----------
    penalty : float, default=None
        Penalty lambda of the squared coefficients, per sample, positive: scikit-learn's ``C`` is
        1 / (n_samples * penalty). None selects it by the mean loss on a hold-out set of a fifth of
        the samples.

    loss : str, default='epsilon_insensitive'
        ``'epsilon_insensitive'``, ``'squared_epsilon_insensitive'``, ``'huber'`` or ``'quantile'``.

    epsilon : float, default=None
        Width of the loss in the unit of y, 0 or positive. None is a tenth of the standard deviation
        of y with ``'epsilon_insensitive'``, and 1.345 robust standard deviations of the residuals
        on a hold-out set with ``'huber'``; ``'squared_epsilon_insensitive'`` requires a number.

    quantile : float, default=0.5
        Level of the quantile, between 0 and 1.

    tol : float, default=None
        Tolerance of the solver, positive. Smooth losses (``'squared_epsilon_insensitive'`` and
        ``'huber'``) stop when the gradient is ``tol`` times the initial one, the others when the
        relative residuals of ADMM are at most ``tol``. None for 1e-4 and 1e-3, respectively.

    max_iter : int, default=1000
        Maximum number of passes over the samples.

    warm_start : bool, default=False
        Whether `fit` reuses the map and the scales of the previous fit and starts at its
        coefficients. This requires the same columns and targets; otherwise the fit starts from
        zero. Only with ``loss='squared_epsilon_insensitive'`` or ``'huber'``.

    Attributes
    ----------
    n_iter_ : int
        Number of passes over the samples.

    feature_importances_ : ndarray of shape (n_features_in_,) or None
        Only with ``importances=True``: mean squared derivative of the predictions by each feature,
        after the scaling of ``standardize``, normalised to sum 1. None if the map has no gradient.

    n_features_in_ : int
        Number of features seen in fit.

    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of features seen in fit, if all are strings.

    Examples
    --------
    >>> import numpy as np
    >>> from bochner import KernelSVR
    >>> X = np.linspace(0, 5, 200)[:, None]
    >>> model = KernelSVR(random_state=0).fit(X, np.sin(X[:, 0]))
    >>> bool(abs(model.predict(X) - np.sin(X[:, 0])).max() < 0.2)
    True
    """

    _learner = "svr"
    _own = ("linear", "additive", "penalty", "loss", "epsilon", "quantile", "tol", "max_iter",)
    _parameter_constraints = {
        **SHARED,
        "calibrate": CALIBRATE,
        "linear": LINEAR,
        "additive": ADDITIVE,
        "penalty": [POSITIVE, None],
        "loss": [
            StrOptions(
                {"epsilon_insensitive", "squared_epsilon_insensitive", "huber", "quantile"}
            )
        ],
        "epsilon": [NOT_NEGATIVE, None],
        "quantile": [Interval(Real, 0.0, 1.0, closed="neither")],
        "tol": [POSITIVE, None],
        "max_iter": [COUNT],
        "warm_start": ["boolean"],
    }

    def __init__(
        self,
        *,
        kernel: str = "gaussian",
        gamma: Gamma = "chosen",
        n_components: int = 1000,
        map: str = "fourier",
        sampling: str = "auto",
        form: str = "paired",
        standardize: str = "auto",
        linear: str = "auto",
        additive: bool | str = False,
        penalty: float | None = None,
        loss: str = "epsilon_insensitive",
        epsilon: float | None = None,
        quantile: float = 0.5,
        tol: float | None = None,
        max_iter: int = 1000,
        warm_start: bool = False,
        fit_intercept: bool = True,
        random_state: Random = None,
        device: str = "auto",
        memory: int | None = None,
        verbose: bool | int = False,
        importances: bool = False,
        calibrate: float | None = None,
    ) -> None:
        self.kernel = kernel
        self.gamma = gamma
        self.n_components = n_components
        self.map = map
        self.sampling = sampling
        self.form = form
        self.standardize = standardize
        self.linear = linear
        self.additive = additive
        self.penalty = penalty
        self.loss = loss
        self.epsilon = epsilon
        self.quantile = quantile
        self.tol = tol
        self.max_iter = max_iter
        self.warm_start = warm_start
        self.fit_intercept = fit_intercept
        self.random_state = random_state
        self.device = device
        self.memory = memory
        self.verbose = verbose
        self.importances = importances
        self.calibrate = calibrate


class KernelElasticNet(GrowingNumbers, Numbers):
    """Sparse least squares on random features: the lasso, and with ``penalty`` the elastic net.

    It minimises, for each target, over coefficients beta and an unpenalised intercept b::

        sum_i w_i (y_i - z(x_i)'beta - b)^2 / (2 sum_i w_i) + l1 |beta|_1 + penalty/2 |beta|^2

    by coordinate descent on the normal equations, which one pass over the samples sums. z is the
    feature map, and w_i are the sample weights.

    The other parameters are described in `KernelRidgeRegressor`: kernel, gamma, n_components, map,
    sampling, form, standardize, fit_intercept, random_state, device, memory, verbose, importances
    and calibrate.

    Parameters
    ----------
    l1 : float or None, default=None
        Penalty of the absolute values of the coefficients, positive: ``alpha`` of scikit-learn's
        Lasso. None selects it on a path of decreasing penalties by generalised cross-validation,
        which needs the sums alone.

    penalty : float, default=0.0
        Penalty of the squared coefficients, per sample, 0 or positive.

    tol : float, default=1e-6
        Coordinate descent stops when a sweep over the coefficients changes no partial derivative by
        more than ``tol`` times the largest one at zero coefficients.

    max_iter : int, default=100000
        Maximum number of sweeps over the coefficients.

    Attributes
    ----------
    n_iter_ : int
        Number of sweeps over the coefficients.

    feature_importances_ : ndarray of shape (n_features_in_,) or None
        Only with ``importances=True``: mean squared derivative of the predictions by each feature,
        after the scaling of ``standardize``, normalised to sum 1. None if the map has no gradient.

    n_features_in_ : int
        Number of features seen in fit.

    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of features seen in fit, if all are strings.

    Examples
    --------
    >>> import numpy as np
    >>> from bochner import KernelElasticNet
    >>> X = np.linspace(0, 5, 200)[:, None]
    >>> model = KernelElasticNet(l1=1e-4, random_state=0).fit(X, np.sin(X[:, 0]))
    >>> bool(abs(model.predict(X) - np.sin(X[:, 0])).max() < 0.1)
    True
    """

    _learner = "lasso"
    _own = ("l1", "penalty", "tol", "max_iter",)
    _parameter_constraints = {
        **SHARED,
        "calibrate": CALIBRATE,
        "l1": [POSITIVE, None],
        "penalty": [NOT_NEGATIVE],
        "tol": [POSITIVE],
        "max_iter": [COUNT],
    }

    def __init__(
        self,
        *,
        kernel: str = "gaussian",
        gamma: Gamma = "chosen",
        n_components: int = 1000,
        map: str = "fourier",
        sampling: str = "auto",
        form: str = "paired",
        standardize: str = "auto",
        l1: float | None = None,
        penalty: float = 0.0,
        tol: float = 1e-6,
        max_iter: int = 100_000,
        fit_intercept: bool = True,
        random_state: Random = None,
        device: str = "auto",
        memory: int | None = None,
        verbose: bool | int = False,
        importances: bool = False,
        calibrate: float | None = None,
    ) -> None:
        self.kernel = kernel
        self.gamma = gamma
        self.n_components = n_components
        self.map = map
        self.sampling = sampling
        self.form = form
        self.standardize = standardize
        self.l1 = l1
        self.penalty = penalty
        self.tol = tol
        self.max_iter = max_iter
        self.fit_intercept = fit_intercept
        self.random_state = random_state
        self.device = device
        self.memory = memory
        self.verbose = verbose
        self.importances = importances
        self.calibrate = calibrate
