"""Classifiers on random features: logistic regression, support vectors, the elastic net.

Every class draws a feature map z with z(x)'z(y) close to k(x, y), streams the samples through it,
and fits a linear model. Parameters that all share are described in `KernelRidgeRegressor`.
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
    """Kernel logistic regression on random features, for two or more classes.

    It minimises, over coefficients beta and unpenalised intercepts b::

        sum_i w_i loss_i / sum_i w_i + penalty/2 |beta|^2 + l1 |beta|_1

    With scores s = z(x_i)'beta + b, z the feature map, the loss of two classes is
    ``log(1 + exp(-y_i s))`` with y_i = 1 or -1. More classes have a score each, and the loss
    ``log(sum_k exp(s_k)) - s_c`` of class c (multinomial). w_i are the sample weights.

    The other parameters are described in `KernelRidgeRegressor`: kernel, gamma, n_components, map,
    sampling, form, standardize, linear, additive, fit_intercept, random_state, device, memory,
    verbose and importances.

    Parameters
    ----------
    penalty : float, default=1e-5
        Penalty lambda of the squared coefficients, per sample: scikit-learn's ``C`` is
        1 / (n_samples * penalty). Positive, or 0 with ``l1`` or ``bound``.

    l1 : float, default=0.0
        Penalty of the absolute values of the coefficients, 0 or positive. It makes coefficients
        exactly zero.

    bound : float, default=None
        Constraint ``sqrt(n_features_out) * abs(coefficient) <= bound`` on every coefficient, as in
        [1]_, positive; cannot be combined with ``l1``. None for no constraint.

    tol : float, default=1e-4
        The solver stops when the gradient is ``tol`` times the initial one.

    max_iter : int, default=1000
        Maximum number of passes over the samples.

    class_weight : dict, 'balanced' or None, default=None
        Weight of each class: a dict from label to weight, where missing labels have weight 1, or
        ``'balanced'`` for weights inversely proportional to the class frequencies. None for equal
        weights.

    laplace : bool, default=False
        Whether `predict_proba` averages over the posterior of the coefficients (Laplace
        approximation). Cannot be combined with ``l1`` or ``bound``. `predict` uses the coefficients
        at the mode, so that with more than two classes its label can differ from the most probable
        one.

    warm_start : bool, default=False
        Whether `fit` reuses the map and the scales of the previous fit and starts at its
        coefficients. This requires the same columns and the same classes; otherwise the fit starts
        from zero. Cannot be combined with ``l1`` or ``bound``.

    half_life : float, default=None
        Exponential forgetting, in samples, as in `KernelRidgeRegressor`. At least 1; None for
        equal weights.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Class labels, in ascending order.

    n_iter_ : int
        Number of passes over the samples.

    log_marginal_likelihood_ : float
        Laplace approximation of the log marginal likelihood, for the comparison of penalties and
        bandwidths. Only with ``laplace=True``.

    feature_importances_ : ndarray of shape (n_features_in_,) or None
        Only with ``importances=True``: mean squared derivative of the predictions by each feature,
        after the scaling of ``standardize``, normalised to sum 1. None if the map has no gradient.

    n_features_in_ : int
        Number of features seen in fit.

    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of features seen in fit, if all are strings.

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
    """Support vector classification on random features; one-vs-rest for more than two classes.

    It minimises, over coefficients beta and an unpenalised intercept b, for each class (y_i = 1 for
    its samples, -1 for others)::

        sum_i w_i loss(y_i (z(x_i)'beta + b)) / sum_i w_i + penalty/2 |beta|^2

    where z is the feature map, w_i are the sample weights, and loss(m) is ``max(0, 1 - m)^2``
    (squared hinge) or ``max(0, 1 - m)`` (hinge).

    The other parameters are described in `KernelRidgeRegressor`: kernel, gamma, n_components, map,
    sampling, form, standardize, linear, additive, fit_intercept, random_state, device, memory,
    verbose and importances.

    Parameters
    ----------
    penalty : float, default=1e-5
        Penalty lambda of the squared coefficients, per sample, positive: scikit-learn's ``C`` is
        1 / (n_samples * penalty).

    loss : {'squared_hinge', 'hinge'}, default='squared_hinge'
        Loss function of the margin.

    tol : float, default=None
        Tolerance of the solver, positive. The squared hinge stops when the gradient is ``tol``
        times the initial one, the hinge when the relative residuals of ADMM are at most ``tol``.
        None for 1e-4 with the squared hinge and 1e-3 with the hinge.

    max_iter : int, default=1000
        Maximum number of passes over the samples.

    class_weight : dict, 'balanced' or None, default=None
        Weight of each class: a dict from label to weight, where missing labels have weight 1, or
        ``'balanced'`` for weights inversely proportional to the class frequencies. None for equal
        weights.

    probability : bool, default=False
        Whether to provide `predict_proba` and `predict_sets`. A second fit to four fifths of the
        samples scores the remaining fifth, on which a sigmoid is calibrated, or a softmax for more
        than two classes.

    warm_start : bool, default=False
        Whether `fit` reuses the map and the scales of the previous fit and starts at its
        coefficients. This requires the same columns and the same classes; otherwise the fit starts
        from zero. Only with ``loss='squared_hinge'``.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Class labels, in ascending order.

    n_iter_ : int
        Number of passes over the samples.

    feature_importances_ : ndarray of shape (n_features_in_,) or None
        Only with ``importances=True``: mean squared derivative of the predictions by each feature,
        after the scaling of ``standardize``, normalised to sum 1. None if the map has no gradient.

    n_features_in_ : int
        Number of features seen in fit.

    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of features seen in fit, if all are strings.

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
    """Sparse least-squares classification: one elastic net per class, on random features.

    For each class it minimises the objective of `KernelElasticNet` with y_i = 1 for samples of the
    class and -1 for others::

        sum_i w_i (y_i - z(x_i)'beta - b)^2 / (2 sum_i w_i) + l1 |beta|_1 + penalty/2 |beta|^2

    The prediction is the class with the largest value of z(x)'beta + b.

    The other parameters are described in `KernelRidgeRegressor`: kernel, gamma, n_components, map,
    sampling, form, standardize, fit_intercept, random_state, device, memory, verbose and
    importances.

    Parameters
    ----------
    l1 : float or None, default=None
        Penalty of the absolute values of the coefficients, positive. None selects it as in
        `KernelElasticNet`.

    penalty : float, default=0.0
        Penalty of the squared coefficients, per sample, 0 or positive.

    tol : float, default=1e-6
        Coordinate descent stops when a sweep over the coefficients changes no partial derivative by
        more than ``tol`` times the largest one at zero coefficients.

    max_iter : int, default=100000
        Maximum number of sweeps over the coefficients.

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
        Number of sweeps over the coefficients.

    feature_importances_ : ndarray of shape (n_features_in_,) or None
        Only with ``importances=True``: mean squared derivative of the predictions by each feature,
        after the scaling of ``standardize``, normalised to sum 1. None if the map has no gradient.

    n_features_in_ : int
        Number of features seen in fit.

    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of features seen in fit, if all are strings.

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
        # The choice of l1 depends on the number of samples that the weights represent. Class
        # weights must not change it, so that the total is scaled to the effective number (Kish
        # 1965).
        factor = super()._factors_of_all(codes, weights)
        counts = np.bincount(codes, weights=weights)
        squares = counts @ factor**2
        return factor * (counts @ factor / squares) if squares > 0 else factor
