"""Classification by other losses than squares on random features, with scikit-learn's interface.

Every class draws a feature map z with z(x)'z(y) close to k(x, y), streams the rows through it, and
learns something linear. What they share is described in `KernelRidgeRegressor`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from sklearn.utils._param_validation import StrOptions

from ._kept import KeepingLabels
from ._parameters import (
    ADDITIVE,
    COUNT,
    HALF_LIFE,
    LINEAR,
    NOT_NEGATIVE,
    POSITIVE,
    SHARED,
    OfLabels,
    OfMapAndTargets,
    takes,
)
from ._partial import GrowingLabels
from .kernel_machines import LABELS, Labels

if TYPE_CHECKING:


    from ._typing import ClassWeight, Gamma, Random

__all__ = ["KernelElasticNetClassifier", "KernelLogisticRegression", "KernelSVC"]


class KernelLogisticRegression(KeepingLabels, Labels):
    """Kernel logistic regression, of two classes and of more, with probabilities.

    Beside its own it takes the parameters of `KernelRidgeRegressor`: kernel, gamma, n_components,
    map, sampling, form, standardize, fit_intercept, random_state, device and memory.

    Parameters
    ----------
    penalty : float, default=1e-5
        Of squares, per sample: lambda/2 |beta|^2 beside the mean loss. scikit-learn's ``C`` is
        1 / (n_samples * penalty).

    l1 : float, default=0.0
        The penalty of absolute values, which makes coefficients zero.

    bound : float, default=None
        Where every coefficient stays: ``sqrt(n_features_out) * abs(coefficient) <= bound``, as in
        [1]_; in the place of `l1`, and `penalty` may then be 0.

    tol : float, default=1e-4
        The solver ends when the gradient is this share of the first.

    max_iter : int, default=1000
        Most passes over the rows.

    class_weight : dict, 'balanced' or None, default=None
        What a row of each class counts; ``'balanced'`` makes all classes count the same.

    laplace : bool, default=False
        Whether `predict_proba` averages over the posterior of the coefficients, by the Laplace
        approximation; without `l1`. Of more than two classes the likeliest can then be another than
        what `predict` says, which stays that of the mode.

    warm_start : bool, default=False
        Whether a fit begins at the coefficients of the one before, on its map and scales, where the
        columns and the classes are the same.

    half_life : float, default=None
        Rows after which a row counts for half of what the newest does, the last, as in
        `KernelRidgeRegressor`. None forgets nothing.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels, in order.

    n_iter_ : int
        Passes over the rows.

    log_marginal_likelihood_ : float
        By which penalties and bandwidths compare. Only with ``laplace``.

    feature_importances_ : ndarray of shape (n_features_in_,) or None
        With ``importances``: the share of each column, as ``standardize`` leaves it, in the squared
        gradient of the fit. None where the map has no gradient.

    n_features_in_ : int
        Number of features seen in fit.

    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, if all are strings.

    References
    ----------
    .. [1] Rahimi and Recht, "Weighted sums of random kitchen sinks", NIPS 2008, algorithm 1.

    Examples
    --------
    >>> from bochner import KernelLogisticRegression
    >>> from sklearn.datasets import load_digits
    >>> X, y = load_digits(return_X_y=True)
    >>> model = KernelLogisticRegression(n_components=500, random_state=0).fit(X[:1000], y[:1000])
    >>> bool(model.score(X[1000:], y[1000:]) > 0.9)
    True
    """

    log_marginal_likelihood_: float

    _learner = "logistic"
    _own = ("linear", "additive", "penalty", "l1", "bound", "tol", "max_iter", "laplace", "half_life")
    _margin = 1.0
    _parameter_constraints = {
        **SHARED,
        "linear": LINEAR,
        "additive": ADDITIVE,
        "penalty": [NOT_NEGATIVE],
        "l1": [NOT_NEGATIVE],
        "bound": [POSITIVE, None],
        "tol": [POSITIVE],
        "max_iter": [COUNT],
        "class_weight": [dict, StrOptions({"balanced"}), None],
        "laplace": ["boolean"],
        "warm_start": ["boolean"],
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
        linear: str = "auto",
        additive: bool | str = False,
        penalty: float = 1e-5,
        l1: float = 0.0,
        bound: float | None = None,
        tol: float = 1e-4,
        max_iter: int = 1000,
        class_weight: ClassWeight = None,
        laplace: bool = False,
        warm_start: bool = False,
        half_life: float | None = None,
        fit_intercept: bool = True,
        random_state: Random = None,
        device: str = "auto",
        memory: int | None = None,
        verbose: bool | int = False,
        importances: bool = False,
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
        self.l1 = l1
        self.bound = bound
        self.tol = tol
        self.max_iter = max_iter
        self.class_weight = class_weight
        self.laplace = laplace
        self.warm_start = warm_start
        self.half_life = half_life
        self.fit_intercept = fit_intercept
        self.random_state = random_state
        self.device = device
        self.memory = memory
        self.verbose = verbose
        self.importances = importances

    def _facts(self) -> None:
        super()._facts()
        found = self._model.facts().get("log_marginal_likelihood")
        if found is not None:
            self.log_marginal_likelihood_ = found


class KernelSVC(KeepingLabels, Labels):
    """A linear support vector machine on random features; of several classes one against all.

    Beside its own it takes the parameters of `KernelRidgeRegressor`: kernel, gamma, n_components,
    map, sampling, form, standardize, fit_intercept, random_state, device and memory.

    Parameters
    ----------
    penalty : float, default=1e-5
        Of squares, per sample: lambda/2 |beta|^2 beside the mean loss. scikit-learn's ``C`` is
        1 / (n_samples * penalty).

    loss : {'squared_hinge', 'hinge'}, default='squared_hinge'
        What rows on the wrong side of the margin cost.

    tol : float, default=None
        The solver ends when the gradient is this share of the first; None for 1e-4 with the
        squared hinge and 1e-3 with the hinge.

    max_iter : int, default=1000
        Most passes over the rows.

    class_weight : dict, 'balanced' or None, default=None
        What a row of each class counts; ``'balanced'`` makes all classes count the same.

    probability : bool, default=False
        Whether there is `predict_proba`, by a sigmoid, or of more classes a softmax, on scores of a
        fifth of the rows, from a second fit to the others.

    warm_start : bool, default=False
        Whether a fit begins at the coefficients of the one before, on its map and scales, where the
        columns and the classes are the same.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels, in order.

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
    >>> from bochner import KernelSVC
    >>> from sklearn.datasets import load_digits
    >>> X, y = load_digits(return_X_y=True)
    >>> model = KernelSVC(n_components=500, random_state=0).fit(X[:1000], y[:1000])
    >>> bool(model.score(X[1000:], y[1000:]) > 0.9)
    True
    """

    _learner = "svm"
    _own = ("linear", "additive", "penalty", "loss", "tol", "max_iter", "probability",)
    _parameter_constraints = {
        **SHARED,
        "linear": LINEAR,
        "additive": ADDITIVE,
        "penalty": [POSITIVE],
        "loss": [StrOptions({"squared_hinge", "hinge"})],
        "tol": [POSITIVE, None],
        "max_iter": [COUNT],
        "class_weight": [dict, StrOptions({"balanced"}), None],
        "probability": ["boolean"],
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
        penalty: float = 1e-5,
        loss: str = "squared_hinge",
        tol: float | None = None,
        max_iter: int = 1000,
        class_weight: ClassWeight = None,
        probability: bool = False,
        warm_start: bool = False,
        fit_intercept: bool = True,
        random_state: Random = None,
        device: str = "auto",
        memory: int | None = None,
        verbose: bool | int = False,
        importances: bool = False,
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
        self.tol = tol
        self.max_iter = max_iter
        self.class_weight = class_weight
        self.probability = probability
        self.warm_start = warm_start
        self.fit_intercept = fit_intercept
        self.random_state = random_state
        self.device = device
        self.memory = memory
        self.verbose = verbose
        self.importances = importances


@takes
class KernelElasticNetClassifier(OfLabels, OfMapAndTargets, GrowingLabels, Labels):
    """Sparse least squares against -1 and 1 for each class, on random features; the largest wins.

    Beside its own it takes the parameters of `KernelRidgeRegressor`: kernel, gamma, n_components,
    map, sampling, form, standardize, fit_intercept, random_state, device, memory, verbose and
    importances.

    Parameters
    ----------
    l1 : float or None, default=None
        The penalty of absolute values, as in `KernelElasticNet`.

    penalty : float, default=0.0
        Of squares, per sample.

    tol : float, default=1e-6
        Done when a sweep changes no slope by more than this share of the first.

    max_iter : int, default=100000
        Most sweeps over the coefficients.

    class_weight : dict, 'balanced' or None, default=None
        What a row of each class counts; ``'balanced'`` makes all classes count the same.

    probability : bool, default=False
        Whether there is `predict_proba`, by a second fit, as of `KernelRidgeClassifier`.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels, in order.

    n_iter_ : int
        Sweeps over the coefficients.

    feature_importances_ : ndarray of shape (n_features_in_,) or None
        With ``importances``: the share of each column, as ``standardize`` leaves it, in the squared
        gradient of the fit. None where the map has no gradient.

    n_features_in_ : int
        Number of features seen in fit.

    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, if all are strings.

    References
    ----------
    H. Zou and T. Hastie, "Regularization and variable selection via the elastic net", Journal of the
    Royal Statistical Society B 67, 2005.

    Examples
    --------
    >>> from bochner import KernelElasticNetClassifier
    >>> from sklearn.datasets import load_digits
    >>> X, y = load_digits(return_X_y=True)
    >>> model = KernelElasticNetClassifier(n_components=500, random_state=0)
    >>> bool(model.fit(X[:1000], y[:1000]).score(X[1000:], y[1000:]) > 0.9)
    True
    """

    l1: float | None = None
    penalty: float = 0.0
    tol: float = 1e-6
    max_iter: int = 100_000

    _learner = "lasso"
    _own = ("l1", "penalty", "tol", "max_iter", "probability")
    _parameter_constraints = {
        **SHARED,
        "l1": [POSITIVE, None],
        "penalty": [NOT_NEGATIVE],
        "tol": [POSITIVE],
        "max_iter": [COUNT],
        **LABELS,
    }

    def _factors_of_all(self, codes, weights):
        # l1 is chosen by how many rows weights stand for: those of classes make no rows, so that all
        # weigh as many as their effective number (Kish 1965).
        factor = super()._factors_of_all(codes, weights)
        counts = np.bincount(codes, weights=weights)
        squares = counts @ factor**2
        return factor * (counts @ factor / squares) if squares > 0 else factor
