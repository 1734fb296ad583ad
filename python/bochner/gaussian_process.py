"""Gaussian processes on random features, with scikit-learn's interface."""

from sklearn.base import _fit_context
from sklearn.utils.validation import check_is_fitted

from ._arrays import table
from ._bases import Regressor
from ._learning import POSITIVE, SHARED
from ._scan import checked, of_scans

__all__ = ["GaussianProcessRegressor"]


class GaussianProcessRegressor(Regressor):
    """Gaussian process regression: predictions with a deviation; finds its own penalty.

    Beside its own it takes the parameters of `KernelRidgeRegressor`: kernel, gamma, n_components,
    map, sampling, form, standardize, fit_intercept, random_state, device and memory.

    Parameters
    ----------
    noise_variance : float, default=None
        The variance of the noise; None for the likeliest.

    signal_variance : float, default=None
        The variance of the function; None for the likeliest.

    Attributes
    ----------
    noise_deviation_, signal_deviation_ : float
        What was found. Only of one target.

    log_marginal_likelihood_ : float
        Of the targets.

    n_features_in_ : int
        Number of features seen in fit.

    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, if all are strings.

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

    _learner = "gaussian-process"
    _own = ("noise_variance", "signal_variance",)
    _parameter_constraints = {
        **SHARED,
        "noise_variance": [POSITIVE, None],
        "signal_variance": [POSITIVE, None],
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
        noise_variance=None,
        signal_variance=None,
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
        self.noise_variance = noise_variance
        self.signal_variance = signal_variance
        self.fit_intercept = fit_intercept
        self.random_state = random_state
        self.device = device
        self.memory = memory
        self.verbose = verbose

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X, y=None):
        """Fit to rows.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows.

        y : array-like of shape (n_samples,) or (n_samples, n_targets)
            Targets.

        Returns
        -------
        self : object
        """
        return self._fit_numbers(X, y, None, at_least=2)

    def _takes_weights(self):
        return False

    def _facts(self):
        super()._facts()
        facts = self._model.facts()
        for name in ("noise_deviation", "signal_deviation", "log_marginal_likelihood"):
            if name in facts:
                setattr(self, name + "_", facts[name])

    @of_scans
    def predict(self, X, return_std=False):
        """Predicted values of rows.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows.

        return_std : bool, default=False
            Whether to return the standard deviations of new targets, too, their noise included.

        Returns
        -------
        y : ndarray of shape (n_samples,) or (n_samples, n_targets)

        y_std : ndarray of the same shape
            Only with ``return_std``.
        """
        if not return_std:
            return Regressor.predict(self, X)
        check_is_fitted(self)
        mean, deviation = self._model.deviations(table(checked(self, X)), self.device)
        return (mean[:, 0], deviation[:, 0]) if self._one_target else (mean, deviation)
