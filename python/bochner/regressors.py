"""Regression on random features, with scikit-learn's interface.

Every class draws a feature map z with z(x)'z(y) close to k(x, y), streams the rows through it, and
learns something linear. What they share is described in `KernelRidgeRegressor`.
"""

from numbers import Integral, Real

import numpy as np
from sklearn.base import MultiOutputMixin, RegressorMixin, _fit_context
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted, validate_data

from ._arrays import FLOATS, table
from ._learning import COUNT, NOT_NEGATIVE, POSITIVE, SHARED, Learner, RidgeOptions, weights_of

__all__ = ["GaussianProcessRegressor", "KernelElasticNet", "KernelRidgeRegressor", "KernelSVR"]


class _Regressor(MultiOutputMixin, RegressorMixin, Learner):
    """Amounts, one target or several."""

    def _fit_numbers(self, X, y, sample_weight, at_least=1):
        X, y = validate_data(
            self,
            X,
            y,
            accept_sparse="csr",
            dtype=FLOATS,
            multi_output=True,
            y_numeric=True,
            ensure_min_samples=at_least,
        )
        y = y.astype(np.float64)
        self._one_target = y.ndim == 1
        if sample_weight is not None:
            sample_weight = weights_of(sample_weight, X)
        self._learn(X, y.reshape(len(y), -1), sample_weight)
        return self

    def _loaded(self):
        if self._model.labels()[0] is not None:
            raise ValueError("the model predicts labels; load it as a classifier")
        self._one_target = len(self._model.coefficients()[1]) == 1

    def predict(self, X):
        """Predicted values of rows.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        y : ndarray of shape (n_samples,) or (n_samples, n_targets)
        """
        scores = self._scores(X)
        return scores[:, 0] if self._one_target else scores


class KernelRidgeRegressor(RidgeOptions, _Regressor):
    """Kernel ridge regression: least squares with a penalty, on random features.

    Parameters
    ----------
    kernel : str, default='gaussian'
        ``'gaussian'`` (``'rbf'``), ``'laplacian'``, ``'exponential'``, ``'matern32'``,
        ``'matern52'``, ``'matern:NU'``, ``'cauchy'``, ``'rational-quadratic:ALPHA'``,
        ``'arc-cosine:ORDER'``, ``'mixture:...'`` or ``'product:...'``, as the command line has them.

    gamma : float, 'scale' or 'median', default='scale'
        Parameter of the kernel's own formula, as in `bochner.RBFSampler`: ``'scale'`` is
        1 / (n_features * X.var()), ``'median'`` makes the median distance between up to 2,000 rows the
        lengthscale, both of the columns as ``standardize`` leaves them.

    n_components : int, default=1000
        Number of features, which the paired form rounds up to an even one; grids with binning.

    map : str, default='fourier'
        ``'fourier'``, ``'fastfood'``, ``'sorf'``, ``'nystrom'``, ``'binning'``, ``'arc-cosine'``, or
        several side by side, such as ``'0.5*fourier+0.5*binning'``.

    sampling : str, default='monte-carlo'
        How frequencies are drawn: ``'monte-carlo'``, ``'orthogonal'``, ``'halton'``, ``'sobol'``,
        ``'lattice'`` or ``'digital-net'``.

    form : {'paired', 'phase'}, default='paired'
        A cosine and a sine for each frequency, or one cosine with a random offset.

    standardize : {'auto', 'yes', 'no'}, default='auto'
        Whether columns are divided by their standard deviations; ``'auto'`` does so where they have
        mixed scales.

    penalty : float, array-like or 'auto', default=1e-6
        Of squares, per sample: scikit-learn's ``alpha`` of KernelRidge is n_samples * penalty. Of
        several the best by held-out errors is taken, and of ``'auto'`` the best of a grid.

    folds : int, default=None
        Folds by which a penalty is chosen; None for leave-one-out, which is exact and takes no
        further fit.

    solver : {'auto', 'cholesky', 'cg'}, default='auto'
        A factor of the normal equations, or conjugate gradients, which store no Gram matrix.

    fit_intercept : bool, default=True
        Whether an intercept is fitted, which is never penalised.

    random_state : int, RandomState instance or None, default=None
        The generator that seeds all draws.

    device : str, default='auto'
        ``'auto'`` (the best GPU, else the CPU), ``'cpu'``, ``'gpu'``, or part of an adapter's name.

    memory : int, default=None
        Bytes for chunks of rows; None for 128 MiB.

    Attributes
    ----------
    penalty_ : float
        The penalty of the fit.

    n_features_in_ : int
        Number of features seen in fit.

    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, if all are strings.

    Examples
    --------
    >>> import numpy as np
    >>> from bochner import KernelRidgeRegressor
    >>> X = np.linspace(0, 5, 200)[:, None]
    >>> model = KernelRidgeRegressor(random_state=0).fit(X, np.sin(X[:, 0]))
    >>> bool(abs(model.predict(X) - np.sin(X[:, 0])).max() < 1e-2)
    True
    """

    _learner = "ridge"
    _own = ("penalty", "folds", "solver",)
    _parameter_constraints = {
        **SHARED,
        "penalty": [POSITIVE, "array-like", StrOptions({"auto"})],
        "folds": [Interval(Integral, 2, None, closed="left"), None],
        "solver": [StrOptions({"auto", "cholesky", "cg"})],
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
        penalty=1e-6,
        folds=None,
        solver="auto",
        fit_intercept=True,
        random_state=None,
        device="auto",
        memory=None,
    ):
        self.kernel = kernel
        self.gamma = gamma
        self.n_components = n_components
        self.map = map
        self.sampling = sampling
        self.form = form
        self.standardize = standardize
        self.penalty = penalty
        self.folds = folds
        self.solver = solver
        self.fit_intercept = fit_intercept
        self.random_state = random_state
        self.device = device
        self.memory = memory

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X, y, sample_weight=None):
        """Fit to rows.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows.

        y : array-like of shape (n_samples,) or (n_samples, n_targets)
            Targets.

        sample_weight : array-like of shape (n_samples,), default=None
            What each row counts: a row of weight 2 is one that is there twice.

        Returns
        -------
        self : object
        """
        return self._fit_numbers(X, y, sample_weight)


class KernelSVR(_Regressor):
    """Regression by a loss of residuals: support vectors, Huber's, quantiles.

    Beside its own it takes the parameters of `KernelRidgeRegressor`: kernel, gamma, n_components,
    map, sampling, form, standardize, fit_intercept, random_state, device and memory.

    Parameters
    ----------
    penalty : float, default=1e-5
        Of squares, per sample: lambda/2 |beta|^2 beside the mean loss. scikit-learn's ``C`` is
        1 / (n_samples * penalty).

    loss : str, default='epsilon_insensitive'
        ``'epsilon_insensitive'``, ``'squared_epsilon_insensitive'``, ``'huber'`` or ``'quantile'``.

    epsilon : float, default=None
        The width of the loss, in the unit of y; None for a tenth of the standard deviation of y, with
        ``'epsilon_insensitive'`` only.

    quantile : float, default=0.5
        The level of the quantile.

    tol : float, default=1e-3
        The solver ends when the gradient is this share of the first.

    max_iter : int, default=200
        Most passes over the rows.

    Attributes
    ----------
    n_iter_ : int
        Passes over the rows.

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
    _own = ("penalty", "loss", "epsilon", "quantile", "tol", "max_iter",)
    _parameter_constraints = {
        **SHARED,
        "penalty": [POSITIVE],
        "loss": [
            StrOptions(
                {"epsilon_insensitive", "squared_epsilon_insensitive", "huber", "quantile"}
            )
        ],
        "epsilon": [NOT_NEGATIVE, None],
        "quantile": [Interval(Real, 0.0, 1.0, closed="neither")],
        "tol": [POSITIVE],
        "max_iter": [COUNT],
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
        loss="epsilon_insensitive",
        epsilon=None,
        quantile=0.5,
        tol=1e-3,
        max_iter=200,
        fit_intercept=True,
        random_state=None,
        device="auto",
        memory=None,
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
        self.epsilon = epsilon
        self.quantile = quantile
        self.tol = tol
        self.max_iter = max_iter
        self.fit_intercept = fit_intercept
        self.random_state = random_state
        self.device = device
        self.memory = memory

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X, y, sample_weight=None):
        """Fit to rows.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows.

        y : array-like of shape (n_samples,) or (n_samples, n_targets)
            Targets.

        sample_weight : array-like of shape (n_samples,), default=None
            What each row counts: a row of weight 2 is one that is there twice.

        Returns
        -------
        self : object
        """
        return self._fit_numbers(X, y, sample_weight)


class KernelElasticNet(_Regressor):
    """Sparse least squares on random features: the lasso, and with ``penalty`` the elastic net.

    Beside its own it takes the parameters of `KernelRidgeRegressor`: kernel, gamma, n_components,
    map, sampling, form, standardize, fit_intercept, random_state, device and memory.

    Parameters
    ----------
    l1 : float, default=1e-3
        The penalty of absolute values, as ``alpha`` of scikit-learn's Lasso.

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
        "l1": [POSITIVE],
        "penalty": [NOT_NEGATIVE],
        "tol": [POSITIVE],
        "max_iter": [COUNT],
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
        l1=1e-3,
        penalty=0.0,
        tol=1e-6,
        max_iter=100_000,
        fit_intercept=True,
        random_state=None,
        device="auto",
        memory=None,
    ):
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

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X, y, sample_weight=None):
        """Fit to rows.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows.

        y : array-like of shape (n_samples,) or (n_samples, n_targets)
            Targets.

        sample_weight : array-like of shape (n_samples,), default=None
            What each row counts: a row of weight 2 is one that is there twice.

        Returns
        -------
        self : object
        """
        return self._fit_numbers(X, y, sample_weight)


class GaussianProcessRegressor(_Regressor):
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

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X, y):
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
            return super().predict(X)
        check_is_fitted(self)
        X = validate_data(self, X, accept_sparse="csr", dtype=FLOATS, reset=False)
        mean, deviation = self._model.deviations(table(X), self.device)
        return (mean[:, 0], deviation[:, 0]) if self._one_target else (mean, deviation)
