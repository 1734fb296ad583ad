"""Kernel machines without random features: exact kernel ridge regression, and Falkon.

Ridge regression on random features is in `bochner.ridge`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sklearn.utils._param_validation import StrOptions

from ._bases import Classifier, Regressor
from ._kept import KeepingLabels, KeepingNumbers
from ._parameters import (
    CALIBRATE,
    COUNT,
    NOT_NEGATIVE,
    POSITIVE,
    SHARED,
    TARGET_SCALE,
    OfAmounts,
    OfLabels,
    OfTargets,
    takes,
)
from ._typing import _fit_context

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from typing_extensions import Self

__all__ = [
    "ExactKernelRidgeClassifier",
    "ExactKernelRidgeRegressor",
    "FalkonClassifier",
    "FalkonRegressor",
]

_SHARED = {
    name: rules
    for name, rules in SHARED.items()
    if name not in ("n_components", "map", "sampling", "form")
}
_CHOSEN = ["array-like", StrOptions({"auto"}), None]
_EXACT = {**_SHARED, "penalty": [NOT_NEGATIVE, *_CHOSEN]}
_FALKON = {
    **_SHARED,
    "n_components": [COUNT],
    "penalty": [POSITIVE, *_CHOSEN],
    "tol": [POSITIVE],
    "max_iter": [COUNT],
}
LABELS = {"class_weight": [dict, StrOptions({"balanced"}), None], "probability": ["boolean"]}


class Numbers(Regressor):
    """Base class of regressors whose `fit` takes sample weights."""

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
            Sample weights: a sample of weight 2 counts as two equal samples.

        Returns
        -------
        self : object
        """
        return self._fit_numbers(X, y, sample_weight)


class Labels(Classifier):
    """Base class of classifiers whose `fit` takes sample weights."""

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Fit the model.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Training samples.

        y : array-like of shape (n_samples,)
            Class labels.

        sample_weight : array-like of shape (n_samples,), default=None
            Sample weights: a sample of weight 2 counts as two equal samples.

        Returns
        -------
        self : object
        """
        return self._fit_labels(X, y, sample_weight)


class _Choosing:
    penalty_: float

    def _facts(self) -> None:
        super()._facts()
        self.penalty_ = self._model.penalty


@takes
class _Exact(_Choosing, OfTargets):
    penalty: float | Sequence[float] | str | None = None

    _learner = "kernel-ridge"
    _ground = "all rows"
    _own = ("penalty",)


@takes
class ExactKernelRidgeRegressor(OfAmounts, _Exact, KeepingNumbers, Numbers):
    """Exact kernel ridge regression, for few samples.

    It minimises, for each target, over ``f(x) = sum_i alpha_i k(x, x_i) + b``::

        sum_i w_i (y_i - f(x_i))^2 / sum_i w_i + penalty alpha'K alpha

    where K is the kernel matrix of the samples and w_i are the sample weights; b is not penalised.
    The fit stores K in ``8 * n_samples**2`` bytes and raises an error if that exceeds ``memory``.

    The other parameters are described in `KernelRidgeRegressor`: kernel, gamma, standardize,
    fit_intercept, random_state, device, memory (None for 128 MiB, 4,000 samples), verbose,
    importances and calibrate.

    Parameters
    ----------
    penalty : float, array-like, 'auto' or None, default=None
        Penalty lambda, per sample, 0 or positive: scikit-learn's ``alpha`` of KernelRidge is
        n_samples * penalty. 0 interpolates. None selects from 17 values between 1e-9 and 1e-1 by
        leave-one-out errors of at most 2,048 samples, ``'auto'`` by those of as many samples as
        ``memory`` allows; an array lists the candidates.

    target_scale : {'auto', 'as-is', 'log', 'rank'}, default='auto'
        Transformation of the targets before the fit, as in `KernelRidgeRegressor`.

    Attributes
    ----------
    penalty_ : float
        Penalty of the fitted model, given or chosen.

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
    >>> from bochner import ExactKernelRidgeRegressor
    >>> X = np.linspace(0, 5, 100)[:, None]
    >>> model = ExactKernelRidgeRegressor().fit(X, np.sin(X[:, 0]))
    >>> bool(abs(model.predict(X) - np.sin(X[:, 0])).max() < 1e-2)
    True
    """

    target_scale: str = "auto"

    _own = (*_Exact._own, "target_scale")
    _parameter_constraints = {**_EXACT, "calibrate": CALIBRATE, "target_scale": TARGET_SCALE}


@takes
class ExactKernelRidgeClassifier(OfLabels, _Exact, KeepingLabels, Labels):
    """Exact kernel ridge classification, for few samples: one regression per class.

    For each class it minimises the objective of `ExactKernelRidgeRegressor` with y_i = 1 for
    samples of the class and -1 for others::

        sum_i w_i (y_i - f(x_i))^2 / sum_i w_i + penalty alpha'K alpha

    The prediction is the class with the largest value of f(x).

    The other parameters are described in `KernelRidgeRegressor`: kernel, gamma, standardize,
    fit_intercept, random_state, device, memory, verbose and importances.

    Parameters
    ----------
    penalty : float, array-like, 'auto' or None, default=None
        Penalty lambda, per sample, 0 or positive, as in `ExactKernelRidgeRegressor`.

    class_weight : dict, 'balanced' or None, default=None
        Weight of each class: a dict from label to weight, where missing labels have weight 1, or
        ``'balanced'`` for weights inversely proportional to the class frequencies. None for equal
        weights.

    probability : bool, default=False
        Whether to provide `predict_proba` and `predict_sets`, as in `KernelSVC`.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Class labels, in ascending order.

    penalty_ : float
        Penalty of the fitted model, given or chosen.

    feature_importances_ : ndarray of shape (n_features_in_,) or None
        Only with ``importances=True``: mean squared derivative of the predictions by each feature,
        after the scaling of ``standardize``, normalised to sum 1. None if the map has no gradient.

    n_features_in_ : int
        Number of features seen in fit.

    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of features seen in fit, if all are strings.

    Examples
    --------
    >>> from bochner import ExactKernelRidgeClassifier
    >>> from sklearn.datasets import load_digits
    >>> X, y = load_digits(return_X_y=True)
    >>> model = ExactKernelRidgeClassifier(penalty=1e-4).fit(X[:1000], y[:1000])
    >>> bool(model.score(X[1000:], y[1000:]) > 0.9)
    True
    """

    _own = ("penalty", "probability")
    _parameter_constraints = {**_EXACT, **LABELS}


@takes
class _Falkon(_Choosing, OfTargets):
    n_components: int = 1000
    penalty: float | Sequence[float] | str | None = None
    tol: float = 1e-5
    max_iter: int = 500

    _learner = "falkon"
    _ground = "landmarks"
    _own = ("penalty", "tol", "max_iter")


@takes
class FalkonRegressor(OfAmounts, _Falkon, KeepingNumbers, Numbers):
    """Falkon: kernel ridge regression with landmarks, for any number of samples.

    It minimises, for each target, over ``f(x) = sum_j alpha_j k(x, u_j) + b`` with m landmarks u_j
    that are drawn among the samples::

        sum_i w_i (y_i - f(x_i))^2 / sum_i w_i + penalty alpha'K_mm alpha

    where K_mm is the kernel matrix of the landmarks and w_i are the sample weights; b is not
    penalised. The solver is conjugate gradients, preconditioned by K_mm.

    The other parameters are described in `KernelRidgeRegressor`: kernel, gamma, standardize,
    fit_intercept, random_state, device, memory, verbose, importances and calibrate.

    Parameters
    ----------
    n_components : int, default=1000
        Number of landmarks m; all samples if there are fewer. Two matrices of ``8 m^2`` bytes are
        stored.

    penalty : float, array-like, 'auto' or None, default=None
        Penalty lambda, per sample, positive. None and ``'auto'`` select it as in
        `ExactKernelRidgeRegressor`, with the exact kernel of some samples instead of the landmarks.

    tol : float, default=1e-5
        The iteration stops when the residual is ``tol`` times the initial one.

    max_iter : int, default=500
        Maximum number of iterations, each of which is a pass over the samples.

    target_scale : {'auto', 'as-is', 'log', 'rank'}, default='auto'
        Transformation of the targets before the fit, as in `KernelRidgeRegressor`.

    Attributes
    ----------
    n_iter_ : int
        Number of iterations.

    penalty_ : float
        Penalty of the fitted model, given or chosen.

    feature_importances_ : ndarray of shape (n_features_in_,) or None
        Only with ``importances=True``: mean squared derivative of the predictions by each feature,
        after the scaling of ``standardize``, normalised to sum 1. None if the map has no gradient.

    n_features_in_ : int
        Number of features seen in fit.

    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of features seen in fit, if all are strings.

    References
    ----------
    A. Rudi, L. Carratino and L. Rosasco, "FALKON: an optimal large scale kernel method", NIPS 2017.

    Examples
    --------
    >>> import numpy as np
    >>> from bochner import FalkonRegressor
    >>> X = np.linspace(0, 5, 300)[:, None]
    >>> model = FalkonRegressor(n_components=40, random_state=0).fit(X, np.sin(X[:, 0]))
    >>> bool(abs(model.predict(X) - np.sin(X[:, 0])).max() < 1e-2)
    True
    """

    target_scale: str = "auto"

    _own = (*_Falkon._own, "target_scale")
    _parameter_constraints = {**_FALKON, "calibrate": CALIBRATE, "target_scale": TARGET_SCALE}


@takes
class FalkonClassifier(OfLabels, _Falkon, KeepingLabels, Labels):
    """Falkon classification: one regression with landmarks per class.

    For each class it minimises the objective of `FalkonRegressor` with y_i = 1 for samples of the
    class and -1 for others::

        sum_i w_i (y_i - f(x_i))^2 / sum_i w_i + penalty alpha'K_mm alpha

    The prediction is the class with the largest value of f(x).

    The other parameters are described in `FalkonRegressor`.

    Parameters
    ----------
    class_weight : dict, 'balanced' or None, default=None
        Weight of each class: a dict from label to weight, where missing labels have weight 1, or
        ``'balanced'`` for weights inversely proportional to the class frequencies. None for equal
        weights.

    probability : bool, default=False
        Whether to provide `predict_proba` and `predict_sets`, as in `KernelSVC`.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Class labels, in ascending order.

    n_iter_ : int
        Number of iterations.

    penalty_ : float
        Penalty of the fitted model, given or chosen.

    feature_importances_ : ndarray of shape (n_features_in_,) or None
        Only with ``importances=True``: mean squared derivative of the predictions by each feature,
        after the scaling of ``standardize``, normalised to sum 1. None if the map has no gradient.

    n_features_in_ : int
        Number of features seen in fit.

    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of features seen in fit, if all are strings.

    Examples
    --------
    >>> from bochner import FalkonClassifier
    >>> from sklearn.datasets import load_digits
    >>> X, y = load_digits(return_X_y=True)
    >>> model = FalkonClassifier(n_components=300, random_state=0).fit(X[:1000], y[:1000])
    >>> bool(model.score(X[1000:], y[1000:]) > 0.9)
    True
    """

    _own = ("penalty", "tol", "max_iter", "probability")
    _parameter_constraints = {**_FALKON, **LABELS}
