"""Learners on the kernel itself: exact kernel ridge regression, and Falkon.

They take no map. Those on the features of one are in `bochner.ridge`.
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
    """A regressor whose rows have weights."""

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
            What each row counts: a row of weight 2 is one that is there twice.

        Returns
        -------
        self : object
        """
        return self._fit_numbers(X, y, sample_weight)


class Labels(Classifier):
    """A classifier whose rows have weights."""

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Fit to rows.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows.

        y : array-like of shape (n_samples,)
            Labels.

        sample_weight : array-like of shape (n_samples,), default=None
            What each row counts: a row of weight 2 is one that is there twice.

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
    """Kernel ridge regression without approximation, for few rows: it holds their kernel.

    Rows whose kernel, ``8 * n_samples**2`` bytes, does not fit into ``memory`` are refused. Beside
    its own it takes the parameters of `KernelRidgeRegressor`: kernel, gamma, standardize,
    fit_intercept, random_state, device, memory (None for 128 MiB, 4,000 rows) and calibrate.

    Parameters
    ----------
    penalty : float, array-like, 'auto' or None, default=None
        Of squares, per sample: scikit-learn's ``alpha`` of KernelRidge is n_samples * penalty. None
        takes the best of a grid, 1e-9 to 1e-1, by leave-one-out errors of at most 2048 rows,
        ``'auto'`` by those of as many as ``memory`` has room for, and of several the best is taken.
        0 interpolates.

    target_scale : {'auto', 'as-is', 'log', 'rank'}, default='auto'
        On what scale targets are fitted: as they are, by their logarithms, of one column above 0, or
        by the normal scores of their ranks. Predictions are brought back as means (Duan 1983).
        ``'auto'`` takes another scale where tails are long and it predicts rows left out clearly
        better, and targets as they are where ``gamma`` or its rule is given.

    Attributes
    ----------
    penalty_ : float
        The penalty of the fit.

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
    """One exact kernel ridge regression against -1 and 1 for each class; the largest wins.

    Beside its own it takes the parameters of `KernelRidgeRegressor`: kernel, gamma, standardize,
    fit_intercept, random_state, device and memory.

    Parameters
    ----------
    penalty : float, array-like, 'auto' or None, default=None
        Of squares, per sample, as in `ExactKernelRidgeRegressor`.

    class_weight : dict, 'balanced' or None, default=None
        What a row of each class counts; ``'balanced'`` makes all classes count the same.

    probability : bool, default=False
        Whether there is `predict_proba`, by a second fit.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels, in order.

    penalty_ : float
        The penalty of the fit.

    feature_importances_ : ndarray of shape (n_features_in_,) or None
        With ``importances``: the share of each column, as ``standardize`` leaves it, in the squared
        gradient of the fit. None where the map has no gradient.

    n_features_in_ : int
        Number of features seen in fit.

    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, if all are strings.

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
    """Falkon: kernel ridge regression on the functions that landmark rows span, for any number of rows.

    It minimises ``|y - K alpha - b|^2 / n + penalty alpha' K_mm alpha`` by conjugate gradients that
    the landmarks' kernel preconditions. Beside its own it takes the parameters of
    `KernelRidgeRegressor`: kernel, gamma, standardize, fit_intercept, random_state, device,
    memory and calibrate.

    Parameters
    ----------
    n_components : int, default=1000
        Number of landmarks m, drawn among the rows, or all of them if they are fewer; two matrices
        of ``8 m^2`` bytes are held.

    penalty : float, array-like, 'auto' or None, default=None
        Of squares, per sample; None and ``'auto'`` choose it as in `ExactKernelRidgeRegressor`, by the
        kernel of the rows that are left out.

    tol : float, default=1e-5
        Done when the residual is this share of the first.

    max_iter : int, default=500
        Most iterations, each a pass over the rows.

    target_scale : {'auto', 'as-is', 'log', 'rank'}, default='auto'
        On what scale targets are fitted, as in `KernelRidgeRegressor`.

    Attributes
    ----------
    n_iter_ : int
        Iterations.

    penalty_ : float
        The penalty of the fit.

    feature_importances_ : ndarray of shape (n_features_in_,) or None
        With ``importances``: the share of each column, as ``standardize`` leaves it, in the squared
        gradient of the fit. None where the map has no gradient.

    n_features_in_ : int
        Number of features seen in fit.

    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, if all are strings.

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
    """One Falkon regression against -1 and 1 for each class; the largest wins.

    Beside its own it takes the parameters of `FalkonRegressor`.

    Parameters
    ----------
    class_weight : dict, 'balanced' or None, default=None
        What a row of each class counts; ``'balanced'`` makes all classes count the same.

    probability : bool, default=False
        Whether there is `predict_proba`, by a second fit.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels, in order.

    n_iter_ : int
        Iterations.

    penalty_ : float
        The penalty of the fit.

    feature_importances_ : ndarray of shape (n_features_in_,) or None
        With ``importances``: the share of each column, as ``standardize`` leaves it, in the squared
        gradient of the fit. None where the map has no gradient.

    n_features_in_ : int
        Number of features seen in fit.

    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, if all are strings.

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
