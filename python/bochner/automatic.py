"""Ridge regression and classification that choose for themselves, by rows held out.

A search tries kernels, bandwidths, penalties and metrics, most of them with few features and few rows,
and fits what was best to all rows. What is given stays.
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
    # Importances are found in any case.
    **{name: rules for name, rules in SHARED.items() if name != "importances"},
    "gamma": [StrOptions({"auto", "scale", "median"}), POSITIVE],
    "penalty": [StrOptions({"auto"}), POSITIVE],
    "metric": [StrOptions({"auto", "none", "diagonal", "full"})],
    "metric_power": [POSITIVE],
    "metric_iterations": [COUNT],
    "linear": LINEAR,
    "bag": [COUNT],
    "beside": [StrOptions({"binning", "nystrom", "binning+nystrom", "none"})],
    "budget": [COUNT, str, None],
}

@takes
class _Auto(OfMap):
    """What is chosen, and what was tried."""

    # All but the bandwidth are those of `--auto` of the command line.
    kernel: str = "auto"
    gamma: Gamma = "auto"
    n_components: int = 2000
    sampling: str = "orthogonal"
    fit_intercept: bool = True
    penalty: float | str = "auto"
    metric: str = "auto"
    metric_power: float = 1.0
    metric_iterations: int = 5
    linear: str = "auto"
    bag: int = 5
    beside: str = "binning"
    budget: int | str | None = None

    _learner = "ridge"
    _own = ("metric", "metric_power", "metric_iterations", "linear")

    def _kernel(self):
        return "gaussian" if self.kernel == "auto" else super()._kernel()

    def _gamma(self):
        return "chosen" if self.gamma == "auto" else super()._gamma()

    def _options(self, X):
        trials, seconds = _budget(self.budget)
        return {
            **super()._options(X),
            "penalty": None if self.penalty == "auto" else self.penalty,
            "search_kernel": self.kernel == "auto",
            "search_gamma": self.gamma == "auto",
            "search_penalty": self.penalty == "auto",
            "search_preparation": self.gamma == "auto" and self.standardize == "auto",
            "bag": self.bag,
            "beside_binning": "binning" in self.beside and self._is_open(),
            "beside_nystrom": "nystrom" in self.beside,
            "trials": trials,
            "seconds": seconds,
        }

    def _is_open(self):
        """Whether neither the map nor its kernel nor the penalty is given."""
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
        self.feature_importances_: NDArray[np.float64] | None = found
        return model

    def _facts(self) -> None:
        super()._facts()
        self.penalty_: float = self._model.penalty
        metric = self._model.metric()
        self.metric_: NDArray[np.float64] | None = None if metric is None else metric[1]
        if metric is not None:
            self.feature_importances_ = np.array(metric[2])


def _budget(budget):
    """Trials, or seconds of a text such as ``'60s'``, or neither."""
    if not isinstance(budget, str):
        return budget, None
    time = re.fullmatch(r"\s*([0-9]*\.?[0-9]+)\s*([smh])\s*", budget)
    if time is None:
        raise ValueError(
            f"budget is {budget!r}; give a number of trials, or a time such as '60s', '5m' or '1h'"
        )
    return None, float(time[1]) * _UNITS[time[2]]


@takes
class AutoRegressor(OfAmounts, _Auto, KeepingNumbers, Regressor):
    """Kernel ridge regression whose kernel, bandwidth, penalty and metric rows held out choose.

    A fifth of the rows is held out inside the fit; frequencies are the same in all trials, scaled, so
    that they differ by what is chosen. Of fewer than 40 rows none are: the penalty is chosen by
    leave-one-out errors then, and a warning says so. Beside its own it takes the parameters of
    `KernelRidgeRegressor`: map, form, standardize, fit_intercept, random_state, device, memory,
    verbose and calibrate.

    Parameters
    ----------
    kernel : str, default='auto'
        ``'auto'`` races Gaussian, Matern 5/2, Matern 3/2, exponential and Laplacian kernels; a name
        as `KernelRidgeRegressor` takes it stays.

    gamma : float, 'auto', 'scale' or 'median', default='auto'
        ``'auto'`` searches multiples of the median distance, from what leave-one-out errors choose on,
        which stays unless another is clearly better. One that is given is for the columns
        without a metric; with one it changes as the median distance does.

    n_components : int, default=2000
        Number of features of the last trials and of the fit.

    sampling : str, default='orthogonal'
        How frequencies are drawn.

    penalty : float or 'auto', default='auto'
        Of squares, per sample; ``'auto'`` is chosen beside the bandwidth.

    metric : {'auto', 'none', 'diagonal', 'full'}, default='auto'
        By what rows are compared: a lengthscale for each column, directions across them, or neither;
        ``'auto'`` takes the simplest that is best to one per cent.

    metric_power : float, default=1.0
        Rows are compared by the outer product of gradients to this power.

    metric_iterations : int, default=5
        Fits and outer products in turn, at most.

    linear : {'auto', 'yes', 'no'}, default='auto'
        Whether the columns themselves stand beside the features: with ``'yes'`` alone.

    bag : int, default=5
        So many fits are averaged, of other draws of the features that were found.

    beside : {'binning', 'nystrom', 'binning+nystrom', 'none'}, default='binning'
        What may stand beside them, where rows held out like it: random binning, which is right where
        targets jump, if neither map nor kernel nor penalty is given; as many landmarks of the kernel
        that was found (`Nystrom`), with which a model takes many times as long to predict.

    budget : int, str or None, default=None
        The search ends after so many trials, or after a time such as ``'60s'`` or ``'5m'``, and takes
        what was best until then. After a time the model may be another the next time.

    target_scale : {'auto', 'as-is', 'log', 'rank'}, default='auto'
        On what scale targets are fitted, as in `KernelRidgeRegressor`.

    Attributes
    ----------
    results_ : dict of ndarray
        What was tried, a row for each trial and the best first of most features:
        ``pandas.DataFrame(model.results_)`` is a table of it. ``error`` is the root mean squared one
        over the deviation of the targets, on the rows held out.

    best_params_ : dict
        ``kernel``, ``gamma``, ``penalty``, ``sampling``, ``standardize``, ``metric`` and
        ``target_scale`` of the fit; ``standardize`` is ``'learned'`` where columns go along curves
        that were learnt, which no other estimator takes.
        Else, where the metric is ``'none'`` and one fit stands alone (``bag=1, beside='none'``),
        `KernelRidgeRegressor` with the others fits the same.

    feature_importances_ : ndarray of shape (n_features_in_,) or None
        The share of each column, as ``standardize`` leaves it, in the squared gradient of the fit; of
        a metric the one that it was made of. They sum to 1. None where the map has no gradient.

    metric_ : ndarray of shape (n_features_in_, n_features_in_) or None
        M: rows are compared by ``(x - y)' M (x - y)`` of the columns as ``standardize`` leaves them.

    penalty_ : float
        The penalty of the fit.

    n_features_in_ : int
        Number of features seen in fit.

    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, if all are strings.

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
        """Search, and fit what is best to all rows.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features), or Scan
            Rows.

        y : array-like of shape (n_samples,) or (n_samples, n_targets), default=None
            Targets; None for those of the file of a `Scan`.

        sample_weight : array-like of shape (n_samples,), default=None
            What each row counts, in fits and on the rows held out.

        Returns
        -------
        self : object
        """
        return self._fit_numbers(X, y, sample_weight, at_least=2)


@takes
class AutoClassifier(OfLabels, _Auto, KeepingLabels, Classifier):
    """Kernel ridge classification whose kernel, bandwidth, penalty and metric rows held out choose.

    Beside its own it takes the parameters of `AutoRegressor`: kernel, gamma, n_components, map,
    sampling, form, standardize, penalty, metric, metric_power, metric_iterations, bag, beside,
    budget, fit_intercept, random_state, device, memory and verbose.

    Parameters
    ----------
    class_weight : dict, 'balanced' or None, default=None
        What a row of each class counts; ``'balanced'`` makes all classes count the same.

    probability : bool, default=False
        Whether there is `predict_proba`, as of `KernelRidgeClassifier`.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels, in order.

    results_ : dict of ndarray
        As of `AutoRegressor`; ``error`` is the share of wrong labels on the rows held out.

    best_params_ : dict
        As of `AutoRegressor`.

    feature_importances_ : ndarray of shape (n_features_in_,) or None
        As of `AutoRegressor`.

    metric_ : ndarray of shape (n_features_in_, n_features_in_) or None
        As of `AutoRegressor`.

    penalty_ : float
        The penalty of the fit.

    n_features_in_ : int
        Number of features seen in fit.

    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, if all are strings.

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
        """Search, and fit what is best to all rows.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features), or Scan
            Rows.

        y : array-like of shape (n_samples,), default=None
            Labels; None for those of the file of a `Scan`.

        sample_weight : array-like of shape (n_samples,), default=None
            What each row counts, in fits and on the rows held out.

        Returns
        -------
        self : object
        """
        return self._fit_labels(X, y, sample_weight)
