"""Regression by other losses than squares, and sparse ones, on random features.

Every class draws a feature map z with z(x)'z(y) close to k(x, y), streams the rows through it, and
learns something linear. What they share is described in `KernelRidgeRegressor`.
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
    """Regression by a loss of residuals: support vectors, Huber's, quantiles.

    Beside its own it takes the parameters of `KernelRidgeRegressor`: kernel, gamma, n_components,
    map, sampling, form, standardize, fit_intercept, random_state, device, memory and
    calibrate.

    Parameters
    ----------
    penalty : float, default=None
        Of squares, per sample: lambda/2 |beta|^2 beside the mean loss. scikit-learn's ``C`` is
        1 / (n_samples * penalty). None takes the one with the least mean loss on a fifth of the rows.

    loss : str, default='epsilon_insensitive'
        ``'epsilon_insensitive'``, ``'squared_epsilon_insensitive'``, ``'huber'`` or ``'quantile'``.

    epsilon : float, default=None
        The width of the loss, in the unit of y; None for a tenth of the standard deviation of y, with
        ``'epsilon_insensitive'``, and for 1.345 robust deviations of residuals on rows held out, with
        ``'huber'``. ``'squared_epsilon_insensitive'`` needs it.

    quantile : float, default=0.5
        The level of the quantile.

    tol : float, default=None
        The solver ends when the gradient is this share of the first; None for 1e-4 with smooth losses
        and 1e-3 with those that have a kink (epsilon-insensitive, quantile).

    max_iter : int, default=1000
        Most passes over the rows.

    warm_start : bool, default=False
        Whether a fit begins at the coefficients of the one before, on its map and scales, where the
        columns are the same.

    Attributes
    ----------
    n_iter_ : int
        Passes over the rows.

    feature_importances_ : ndarray of shape (n_features_in_,) or None
        With ``importances``: the share of each column, as ``standardize`` leaves it, in the squared
        gradient of the fit. None where the map has no gradient.

    n_features_in_ : int
        Number of features seen in fit.

    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, if all are strings.

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

    Beside its own it takes the parameters of `KernelRidgeRegressor`: kernel, gamma, n_components,
    map, sampling, form, standardize, fit_intercept, random_state, device, memory and
    calibrate.

    Parameters
    ----------
    l1 : float or None, default=None
        The penalty of absolute values, as ``alpha`` of scikit-learn's Lasso. None takes the best of a
        path by generalised cross-validation, from the sums alone.

    penalty : float, default=0.0
        Of squares, per sample.

    tol : float, default=1e-6
        Done when a sweep changes no slope by more than this share of the first.

    max_iter : int, default=100000
        Most sweeps over the coefficients.

    Attributes
    ----------
    n_iter_ : int
        Sweeps over the coefficients.

    feature_importances_ : ndarray of shape (n_features_in_,) or None
        With ``importances``: the share of each column, as ``standardize`` leaves it, in the squared
        gradient of the fit. None where the map has no gradient.

    n_features_in_ : int
        Number of features seen in fit.

    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, if all are strings.

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
