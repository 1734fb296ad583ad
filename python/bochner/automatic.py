"""Ridge regression and classification with automatic hyperparameter search.

The search evaluates kernels, bandwidths, penalties and metrics on a hold-out set, most of them with
few features and few samples, and refits the best on all samples. Parameters that are given are
kept.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np
from sklearn.utils._param_validation import StrOptions

from . import _native
from ._arrays import table
from ._bases import Classifier, Regressor
from ._kept import KeepingLabels, KeepingNumbers
from ._parameters import (
    CALIBRATE,
    COUNT,
    LINEAR,
    POSITIVE,
    SHARED,
    TARGET_SCALE,
    OfAmounts,
    OfLabels,
    OfMap,
    takes,
)
from ._typing import _fit_context

if TYPE_CHECKING:
    from typing import Any

    from numpy.typing import NDArray
    from typing_extensions import Self

    from ._typing import Gamma

__all__ = ["AutoClassifier", "AutoRegressor"]

_UNITS = {"s": 1.0, "m": 60.0, "h": 3600.0}

_CONSTRAINTS = {
    # `feature_importances_` is always computed.
    **{name: rules for name, rules in SHARED.items() if name != "importances"},
    "gamma": [StrOptions({"auto", "scale", "median"}), POSITIVE],
    "penalty": [StrOptions({"auto"}), POSITIVE],
    "metric": [StrOptions({"auto", "none", "diagonal", "full"})],
    "metric_power": [POSITIVE],
    "metric_iterations": [COUNT],
    "linear": LINEAR,
    "bag": [COUNT, StrOptions({"auto"})],
    "beside": [StrOptions({"binning", "nystrom", "binning+nystrom", "none"})],
    "budget": [COUNT, str, None],
}

@takes
class _Auto(OfMap):
    """Base class of `AutoRegressor` and `AutoClassifier`: search space and results."""

    # Defaults other than gamma are those of `bochner fit --auto`.
    kernel: str = "auto"
    gamma: Gamma = "auto"
    n_components: int = 1500
    sampling: str = "orthogonal"
    fit_intercept: bool = True
    penalty: float | str = "auto"
    metric: str = "auto"
    metric_power: float = 1.0
    metric_iterations: int = 5
    linear: str = "auto"
    bag: int | str = "auto"
    beside: str = "binning"
    budget: int | str | None = "brief"

    _learner = "ridge"
    _imputes = True
    _own = ("metric", "metric_power", "metric_iterations", "linear")

    def _kernel(self):
        return "gaussian" if self.kernel == "auto" else super()._kernel()

    def _gamma(self):
        return "chosen" if self.gamma == "auto" else super()._gamma()

    def _options(self, X):
        trials, seconds = _budget(self.budget)
        brief = self.budget == "brief"
        draws = (2 if brief else 5) if self.bag == "auto" else self.bag
        return {
            **super()._options(X),
            "penalty": None if self.penalty == "auto" else self.penalty,
            "search_kernel": self.kernel == "auto",
            "search_gamma": self.gamma == "auto",
            "search_penalty": self.penalty == "auto",
            "search_preparation": self.gamma == "auto" and self.standardize == "auto",
            "bag": draws,
            "beside_binning": "binning" in self.beside and self._is_open(),
            "beside_nystrom": "nystrom" in self.beside,
            "trials": trials,
            "seconds": seconds,
            "brief": brief,
        }

    def _is_open(self):
        """Whether map, kernel and penalty have their default values."""
        return self.map == "fourier" and self.kernel == "auto" and self.penalty == "auto"

    def _native_fit(self, X, y, weights, options, **labels):
        model, found = _native.fit_searched(table(X), y, weights, options, **labels)
        trials = found["trials"]
        trials["metric"] = [kind or "none" for kind in trials["metric"]]
        self.results_: dict[str, NDArray[Any]] = {name: np.array(of) for name, of in trials.items()}
        metric = model.metric()
        self.best_params_: dict[str, Any] = {
            "kernel": found["kernel"],
            "gamma": found["gamma"],
            "penalty": model.penalty,
            "sampling": found["sampling"],
            "standardize": found["standardize"],
            "metric": "none" if metric is None else metric[0],
            "linear": "yes" if found["linear"] else "no",
        }
        if hasattr(self, "target_scale"):
            self.best_params_["target_scale"] = found["target_scale"]
        importance = found["importance"]
        found = None if importance is None else np.array(importance)
        self.feature_importances_: NDArray[np.float64] | None = self._by_column(found)
        return model

    def _by_column(self, shares):
        """Merges shares of encoded columns into those of the columns of X."""
        if shares is None or self._imputer is None or not self._imputer.adds_columns:
            return shares
        return self._imputer.merge_indicators(shares)

    def _facts(self) -> None:
        super()._facts()
        self.penalty_: float = self._model.penalty
        metric = self._model.metric()
        self.metric_: NDArray[np.float64] | None = None if metric is None else metric[1]
        if metric is not None:
            self.feature_importances_ = self._by_column(np.array(metric[2]))


def _budget(budget):
    """Parse a budget into (trials, seconds), one of them or both None."""
    if budget == "brief":
        return None, None
    if not isinstance(budget, str):
        return budget, None
    time = re.fullmatch(r"\s*([0-9]*\.?[0-9]+)\s*([smh])\s*", budget)
    if time is None:
        raise ValueError(
            f"budget is {budget!r}; give 'brief', a number of trials, or a time such as '60s'"
        )
    return None, float(time[1]) * _UNITS[time[2]]


@takes
class AutoRegressor(OfAmounts, _Auto, KeepingNumbers, Regressor):
    """Kernel ridge regression with automatic kernel, bandwidth, penalty and metric.

    The search minimises the root mean squared error on a hold-out set of a fifth of the samples,
    relative to the standard deviation of the targets; the selected model is refitted on all samples
    and minimises the objective of `KernelRidgeRegressor`::

        sum_i w_i (y_i - z(x_i)'beta - b)^2 / sum_i w_i + penalty |beta|^2

    All trials scale the same random frequencies, which makes their errors comparable. With fewer
    than 40 samples there is no hold-out set: the penalty is selected by leave-one-out errors, with
    a warning.

    The other parameters are described in `KernelRidgeRegressor`: map, form, standardize,
    fit_intercept, random_state, device, memory, verbose and calibrate.

    NaN, None and pandas' NA in X are missing values: they are imputed with the mean of the column,
    and an indicator column is added if it is predictive of the targets.

    Parameters
    ----------
    kernel : str, default='auto'
        A kernel of `KernelRidgeRegressor`, or ``'auto'`` to select among Gaussian, Matern 5/2,
        Matern 3/2, exponential and Laplacian.

    gamma : float, 'auto', 'scale' or 'median', default='auto'
        Parameter of the kernel's formula, positive. ``'auto'`` searches lengthscales that are
        multiples of the median distance, starting from the one that leave-one-out errors select,
        which is kept unless another is clearly better. A number refers to distances without a
        metric; with one it is rescaled as the median distance changes.

    n_components : int, default=1500
        Number of random features of the final trials and of the fit.

    sampling : str, default='orthogonal'
        Method that draws the frequencies, as in `KernelRidgeRegressor`.

    penalty : float or 'auto', default='auto'
        Penalty lambda of the squared coefficients, per sample, positive. ``'auto'`` selects it
        together with the bandwidth.

    metric : {'auto', 'none', 'diagonal', 'full'}, default='auto'
        Learned metric of the kernel: none, a scale for each input feature (``'diagonal'``), or a
        full matrix. ``'auto'`` takes the simplest whose error is within one per cent of the best.

    metric_power : float, default=1.0
        The metric is the average gradient outer product to this power, positive.

    metric_iterations : int, default=5
        Maximum number of alternations between a fit and an update of the metric.

    linear : {'auto', 'yes', 'no'}, default='auto'
        Whether to append the scaled input features to the random features; only ``'yes'`` does.

    bag : int or 'auto', default='auto'
        Number of fits with different random features whose predictions are averaged. ``'auto'`` is
        2 for the brief budget, and 5 otherwise.

    beside : {'binning', 'nystrom', 'binning+nystrom', 'none'}, default='binning'
        Additional models that are averaged with these fits if that lowers the hold-out error:
        random binning, which suits targets with jumps and needs default ``map``, ``kernel`` and
        ``penalty``; and Nystrom features of as many landmarks, with which predictions take many
        times as long.

    budget : int, str or None, default='brief'
        ``'brief'`` for a search that takes about as long as three fits, of at most 8,400 samples,
        the Gaussian and the Laplacian kernel and the diagonal metric. None for the full search.
        A number of trials or a time such as ``'60s'`` limits the full search; the best model so
        far is taken. The result of a time budget is not reproducible.

    target_scale : {'auto', 'as-is', 'log', 'rank'}, default='auto'
        Transformation of the targets before the fit, as in `KernelRidgeRegressor`.

    Attributes
    ----------
    results_ : dict of ndarray
        Results of the trials, one entry per trial, sorted by number of features (descending) and
        hold-out error; ``pandas.DataFrame(model.results_)`` makes a table. ``error`` is the root
        mean squared error on the hold-out set, divided by the standard deviation of the targets.

    best_params_ : dict
        Selected ``kernel``, ``gamma``, ``penalty``, ``sampling``, ``standardize``, ``metric``,
        ``linear`` and ``target_scale``. ``standardize`` is ``'learned'`` if the scaling is a
        learned curve for each feature, which other estimators do not have. Otherwise, with
        ``bag=1``, ``beside='none'`` and the metric ``'none'``, `KernelRidgeRegressor` with these
        parameters fits the same model.

    feature_importances_ : ndarray of shape (n_features_in_,) or None
        Mean squared derivative of the predictions by each feature, after the scaling of
        ``standardize``, normalised to sum 1; with a metric, that of the fit that it was learned
        from. None if the map has no gradient.

    metric_ : ndarray of shape (n_features_in_, n_features_in_) or None
        Matrix M of the metric: the kernel depends on ``(x - y)' M (x - y)``, with features after
        the scaling of ``standardize``. None without a metric. The indicator column of missing
        values of a feature has its own row and column, after those of the features.

    penalty_ : float
        Penalty of the fitted model, given or chosen.

    n_features_in_ : int
        Number of features seen in fit.

    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of features seen in fit, if all are strings.

    References
    ----------
    A. Radhakrishnan, D. Beaglehole, P. Pandit and M. Belkin, "Mechanism for feature learning in
    neural networks and backpropagation-free machine learning models", Science 383, 2024.

    Examples
    --------
    >>> import numpy as np
    >>> from bochner import AutoRegressor
    >>> X = np.random.RandomState(0).uniform(size=(400, 3))
    >>> model = AutoRegressor(n_components=100, budget=5, random_state=0)
    >>> bool(model.fit(X, np.sin(6 * X[:, 1])).score(X, np.sin(6 * X[:, 1])) > 0.98)
    True
    >>> int(model.feature_importances_.argmax())
    1
    """

    target_scale: str = "auto"

    _own = (*_Auto._own, "target_scale")
    _parameter_constraints = {**_CONSTRAINTS, "calibrate": CALIBRATE, "target_scale": TARGET_SCALE}

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Search hyperparameters, and fit the selected model to all samples.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features), or Scan
            Training samples.

        y : array-like of shape (n_samples,) or (n_samples, n_targets), default=None
            Target values; None to read them from the file, if X is a `Scan`.

        sample_weight : array-like of shape (n_samples,), default=None
            Sample weights, for fits and for hold-out errors; None for equal weights.

        Returns
        -------
        self : object
        """
        return self._fit_numbers(X, y, sample_weight, at_least=2)


@takes
class AutoClassifier(OfLabels, _Auto, KeepingLabels, Classifier):
    """Kernel ridge classification with automatic kernel, bandwidth, penalty and metric.

    The search minimises the product of error rate and mean squared error on a hold-out set of a
    fifth of the samples. The selected model is refitted on all samples and minimises the objective
    of `KernelRidgeClassifier`, for each class with y_i = 1 for its samples and -1 for others::

        sum_i w_i (y_i - z(x_i)'beta - b)^2 / sum_i w_i + penalty |beta|^2

    The other parameters are described in `AutoRegressor`: kernel, gamma, n_components, map,
    sampling, form, standardize, penalty, metric, metric_power, metric_iterations, linear, bag,
    beside, budget, fit_intercept, random_state, device, memory and verbose.
    Missing values in X are imputed as in `AutoRegressor`.

    Parameters
    ----------
    class_weight : dict, 'balanced' or None, default=None
        Weight of each class: a dict from label to weight, where missing labels have weight 1, or
        ``'balanced'`` for weights inversely proportional to the class frequencies. None for equal
        weights.

    probability : bool, default=False
        Whether to provide `predict_proba`, as in `KernelRidgeClassifier`.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Class labels, in ascending order.

    results_ : dict of ndarray
        Results of the trials, as in `AutoRegressor`; ``error`` is the fraction of wrong labels on
        the hold-out set.

    best_params_ : dict
        Selected parameters, as in `AutoRegressor`, without ``target_scale``.

    feature_importances_ : ndarray of shape (n_features_in_,) or None
        Importance of each feature, as in `AutoRegressor`.

    metric_ : ndarray of shape (n_features_in_, n_features_in_) or None
        Matrix of the metric, as in `AutoRegressor`.

    penalty_ : float
        Penalty of the fitted model, given or chosen.

    n_features_in_ : int
        Number of features seen in fit.

    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of features seen in fit, if all are strings.

    Examples
    --------
    >>> from bochner import AutoClassifier
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> model = AutoClassifier(n_components=100, budget=5, random_state=0).fit(X, y)
    >>> bool(model.score(X, y) > 0.93 and len(model.results_["error"]) == 5)
    True
    """

    _parameter_constraints = {
        **_CONSTRAINTS,
        "class_weight": [dict, StrOptions({"balanced"}), None],
        "probability": ["boolean"],
    }
    _own = (*_Auto._own, "probability")

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Search hyperparameters, and fit the selected model to all samples.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features), or Scan
            Training samples.

        y : array-like of shape (n_samples,), default=None
            Class labels; None to read them from the file, if X is a `Scan`.

        sample_weight : array-like of shape (n_samples,), default=None
            Sample weights, for fits and for hold-out errors; None for equal weights.

        Returns
        -------
        self : object
        """
        return self._fit_labels(X, y, sample_weight)
