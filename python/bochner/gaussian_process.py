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
    """Gaussian process regression on random features, with predictive variances.

    The model is ``y_i = z(x_i)'beta + b + e_i`` with prior ``beta ~ N(0, signal_variance I)`` and
    noise ``e_i ~ N(0, noise_variance)``, so that the function has the covariance
    ``signal_variance * k(x, y)``, approximated by z(x)'z(y). The fit maximises the log marginal
    likelihood of the targets over those of the two variances that are not given; with an intercept,
    which has a flat prior, that of their contrasts (restricted maximum likelihood). The posterior
    mean is the solution of `KernelRidgeRegressor` with the penalty
    ``noise_variance / (signal_variance * sample_weight.sum())``.

    The other parameters are described in `KernelRidgeRegressor`: kernel, gamma, n_components, map,
    sampling, form, standardize, additive, fit_intercept, random_state, device, memory, verbose and
    importances.

    Parameters
    ----------
    noise_variance : float, default=None
        Variance of the noise, positive; None to maximise the marginal likelihood.

    signal_variance : float, default=None
        Variance of the function where k(x, x) = 1, positive; None to maximise the marginal
        likelihood.

    lengthscales : {'fixed', 'one', 'per-column'}, default='fixed'
        Lengthscales to optimise from those of ``gamma``, by the gradient of the marginal likelihood
        [1]_ on at most 4,000 samples: none, one common factor, or one for each feature (automatic
        relevance determination). Needs ``map='fourier'``.

    weights : {'counts', 'precisions'}, default='counts'
        Meaning of ``sample_weight``. ``'counts'``: a sample of weight w is equivalent to w samples.
        ``'precisions'``: it is one sample with the noise variance ``noise_variance / w``, such as
        the mean of w measurements.

    calibrate : float, default=None
        Fraction of the samples, between 0 and 1, that is held out of the fit at random, by
        ``random_state``, to calibrate `predict_interval` and ``predict(X, interval=0.9)`` (split
        conformal prediction). None for the intervals of the Gaussian process itself; `calibrate_on`
        takes other samples.

    half_life : float, default=None
        Exponential forgetting, in samples, at least 1, as in `KernelRidgeRegressor`; needs
        ``weights='counts'``. None for equal weights.

    Attributes
    ----------
    noise_deviation_, signal_deviation_ : float
        Standard deviations of noise and signal. Only with one target.

    log_marginal_likelihood_ : float
        Log marginal likelihood of the targets.

    lengthscales_ : ndarray of shape (n_features,)
        Lengthscale of each feature, in its own unit; infinite for constant features. Only with
        ``lengthscales='one'`` or ``'per-column'``.

    feature_importances_ : ndarray of shape (n_features,)
        With optimised lengthscales, the ratio of standard deviation to lengthscale of each feature,
        normalised to sum 1. Otherwise, with ``importances=True``, the mean squared derivative of
        the predictions by each feature, after the scaling of ``standardize``, normalised likewise.

    n_features_in_ : int
        Number of features seen in fit.

    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of features seen in fit, if all are strings.

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
        """Fit the model.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Training samples.

        y : array-like of shape (n_samples,) or (n_samples, n_targets)
            Target values.

        sample_weight : array-like of shape (n_samples,), default=None
            Sample weights, with the meaning of the parameter ``weights``; None for equal weights.
            Samples of weight 0 are ignored. Noise and predictive deviations refer to a sample of
            weight 1.

        Returns
        -------
        self : object
        """
        return self._fit_numbers(X, y, sample_weight, at_least=2)

    # Type checkers see the inherited method, whose types `wraps` would hide.
    if not TYPE_CHECKING:

        @available_if(lambda self: self.lengthscales == "fixed")
        @wraps(GrowingNumbers.partial_fit)
        def partial_fit(self, X, y=None, sample_weight=None):
            return super().partial_fit(X, y, sample_weight)

    def _takes_weights(self):
        # Merging equal samples into one of their total weight is right for counts alone: two equal
        # samples tell more about the noise than one with half the noise variance.
        return self.weights == "counts"

    def _options(self, X):
        # The native option `lengthscales` holds the lengthscales of the kernel.
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
        """Predict targets, optionally with deviations, covariances or intervals.

        At most one of ``return_std``, ``return_cov`` and ``interval`` can be set.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Samples.

        return_std : bool, default=False
            Whether to return the standard deviations of new targets, including noise.

        return_cov : bool, default=False
            Whether to return the covariances of new targets, with the noise on the diagonal.

        interval : float, default=None
            Coverage of prediction intervals, between 0 and 1, as in `predict_interval`. None for no
            intervals.

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
