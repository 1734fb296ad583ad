"""Gaussian processes on random features, with scikit-learn's interface."""

from __future__ import annotations

from functools import wraps
from typing import TYPE_CHECKING

import numpy as np
from sklearn.utils._param_validation import StrOptions
from sklearn.utils.validation import check_is_fitted

from . import _native
from ._arrays import table
from ._bases import Regressor
from ._functions import Drawing
from ._parameters import ADDITIVE, CALIBRATE, HALF_LIFE, POSITIVE, SHARED
from ._partial import GrowingNumbers
from ._rows import checked, of_scans
from ._typing import _fit_context, available_if

if TYPE_CHECKING:
    from typing import Any

    from numpy.typing import NDArray
    from typing_extensions import Self

    from ._typing import Gamma, Random

__all__ = ["GaussianProcessRegressor"]


class GaussianProcessRegressor(Drawing, GrowingNumbers, Regressor):
    """Gaussian process regression: predictions with a deviation; finds its own penalty.

    Beside its own it takes the parameters of `KernelRidgeRegressor`: kernel, gamma, n_components,
    map, sampling, form, standardize, additive, fit_intercept, random_state, device and memory.

    Parameters
    ----------
    noise_variance : float, default=None
        The variance of the noise; None for the likeliest.

    signal_variance : float, default=None
        The variance of the function; None for the likeliest.

    lengthscales : {'fixed', 'one', 'per-column'}, default='fixed'
        Which lengthscales are found, near those of `gamma`, by the gradient of the marginal
        likelihood [1]_ on up to 4,000 rows: none, one factor for all, or one for each column, by
        which columns that say nothing of the targets drop out. With ``map='fourier'``.

    weights : {'counts', 'precisions'}, default='counts'
        What ``sample_weight`` says: how often a row is there, or how well its target is known: a row
        of weight w is then one row with the variance of the noise over w, as the mean of w readings
        would have.

    calibrate : float, default=None
        The share of the rows, chosen by ``random_state``, that the fit does not see and intervals are
        calibrated on: `predict_interval` and ``predict(X, interval=0.9)`` then hold what they
        promise. None keeps none back: bounds are then
        those of the process; `calibrate_on` takes rows of one's own.

    half_life : float, default=None
        Rows after which a row counts for half of what the newest does, the last, as in
        `KernelRidgeRegressor`; with ``weights='counts'``. None forgets nothing.

    Attributes
    ----------
    noise_deviation_, signal_deviation_ : float
        What was found. Only of one target.

    log_marginal_likelihood_ : float
        Of the targets.

    lengthscales_ : ndarray of shape (n_features,)
        Of each column, in its own unit, where some were to be found; infinite where a column is
        constant.

    feature_importances_ : ndarray of shape (n_features,)
        Where lengthscales were found, the standard deviation of each column over its own, as shares
        of their sum; else with ``importances`` the share of each column, as ``standardize`` leaves
        it, in the squared gradient of the fit.

    n_features_in_ : int
        Number of features seen in fit.

    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, if all are strings.

    References
    ----------
    .. [1] Rasmussen and Williams, "Gaussian processes for machine learning", 2006, section 5.4.1.

    Examples
    --------
    >>> import numpy as np
    >>> from bochner import GaussianProcessRegressor
    >>> X = np.linspace(0, 5, 400)[:, None]
    >>> y = np.sin(X[:, 0]) + 0.1 * np.random.RandomState(0).normal(size=400)
    >>> model = GaussianProcessRegressor(n_components=200, random_state=0).fit(X, y)
    >>> mean, deviation = model.predict(X, return_std=True)
    >>> bool(abs(mean - np.sin(X[:, 0])).mean() < 0.05 and abs(deviation.mean() - 0.1) < 0.02)
    True
    """

    noise_deviation_: float
    signal_deviation_: float
    log_marginal_likelihood_: float
    lengthscales_: NDArray[np.float64]

    _learner = "gaussian-process"
    _own = ("additive", "noise_variance", "signal_variance", "weights", "half_life")
    _parameter_constraints = {
        **SHARED,
        "calibrate": CALIBRATE,
        "additive": ADDITIVE,
        "noise_variance": [POSITIVE, None],
        "signal_variance": [POSITIVE, None],
        "lengthscales": [StrOptions({"fixed", "one", "per-column"})],
        "weights": [StrOptions({"counts", "precisions"})],
        "half_life": HALF_LIFE,
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
        additive: bool | str = False,
        noise_variance: float | None = None,
        signal_variance: float | None = None,
        lengthscales: str = "fixed",
        weights: str = "counts",
        half_life: float | None = None,
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
        self.additive = additive
        self.noise_variance = noise_variance
        self.signal_variance = signal_variance
        self.lengthscales = lengthscales
        self.weights = weights
        self.half_life = half_life
        self.fit_intercept = fit_intercept
        self.random_state = random_state
        self.device = device
        self.memory = memory
        self.verbose = verbose
        self.importances = importances
        self.calibrate = calibrate

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Fit to rows.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows.

        y : array-like of shape (n_samples,) or (n_samples, n_targets)
            Targets.

        sample_weight : array-like of shape (n_samples,), default=None
            What each row counts, or how well it is known, as `weights` says. One of weight 0 is left
            out. Noise and deviations are those of a row of weight 1.

        Returns
        -------
        self : object
        """
        return self._fit_numbers(X, y, sample_weight, at_least=2)

    # To type checkers it is that of `GrowingNumbers`, which `wraps` would hide from them.
    if not TYPE_CHECKING:

        @available_if(lambda self: self.lengthscales == "fixed")
        @wraps(GrowingNumbers.partial_fit)
        def partial_fit(self, X, y=None, sample_weight=None):
            return super().partial_fit(X, y, sample_weight)

    def _takes_weights(self):
        # Two equal rows say more of the noise than one that is known twice as well.
        return self.weights == "counts"

    def _options(self, X):
        # Those of the kernel go by the name of lengthscales there.
        return {**super()._options(X), "which_lengthscales": self.lengthscales}

    def _facts(self) -> None:
        super()._facts()
        facts = self._model.facts()
        for name in ("noise_deviation", "signal_deviation", "log_marginal_likelihood"):
            if name in facts:
                setattr(self, name + "_", facts[name])
        found = self._model.found_lengthscales()
        if found is not None:
            self.lengthscales_, relevance = found
            self.feature_importances_ = relevance / max(relevance.sum(), np.finfo(float).tiny)

    @of_scans
    def predict(
        self,
        X: Any,
        return_std: bool = False,
        return_cov: bool = False,
        interval: float | None = None,
        *,
        output: Any = None,
    ) -> Any:
        """Predicted values of rows.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows.

        return_std : bool, default=False
            Whether to return the standard deviations of new targets, too, their noise included.

        return_cov : bool, default=False
            Whether to return their covariances, too, with the noise on the diagonal.

        interval : float, default=None
            The share of new targets that lie within bounds, which are returned, too, as
            `predict_interval` does. One of the three.

        Returns
        -------
        y : ndarray of shape (n_samples,) or (n_samples, n_targets)

        y_std : ndarray of the same shape
            Only with ``return_std``.

        y_cov : ndarray of shape (n_samples, n_samples) or (n_samples, n_samples, n_targets)
            Only with ``return_cov``.

        lower, upper : ndarray of the shape of y
            Only with ``interval``.
        """
        if return_std + return_cov + (interval is not None) > 1:
            raise ValueError("two of return_std, return_cov and interval are set; take one of them")
        if not (return_std or return_cov):
            return Regressor.predict(self, X, interval)
        check_is_fitted(self)
        if return_std:
            mean, deviation = self._asked("deviations", X)
            return (mean[:, 0], deviation[:, 0]) if self._one_target else (mean, deviation)
        rows = table(checked(self, X))
        covariance, noise = _native.covariances(self._current(), rows, self.device, self.memory)
        covariance[np.diag_indices_from(covariance)] += 1.0
        both = covariance[:, :, None] * noise
        return Regressor.predict(self, X), both[:, :, 0] if self._one_target else both
