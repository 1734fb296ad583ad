"""Stagewise estimators on random features: greedy feature selection, and boosting.

Each draws a feature map z with z(x)'z(y) close to k(x, y) and sums the normal equations in one pass
over the samples.
"""

from numbers import Real

from sklearn.utils._param_validation import Interval

from ._parameters import CALIBRATE, COUNT, POSITIVE, SHARED, OfAmounts, OfLabels, OfMapAndTargets, takes
from ._partial import GrowingLabels, GrowingNumbers
from .kernel_machines import LABELS, Labels, Numbers

__all__ = ["BoostingClassifier", "BoostingRegressor", "GreedyClassifier", "GreedyRegressor"]

_HELD_OUT = [Interval(Real, 0.0, 1.0, closed="left")]
_GREEDY = {**SHARED, "steps": [COUNT], "held_out": _HELD_OUT}
_BOOSTING = {
    **SHARED,
    "block": [COUNT],
    "shrinkage": [Interval(Real, 0.0, 1.0, closed="right")],
    "penalty": [POSITIVE],
    "stages": [COUNT],
    "held_out": _HELD_OUT,
}


@takes
class _Greedy(OfMapAndTargets):
    steps: int = 200
    held_out: float = 0.2

    _learner = "greedy"
    _own = ("steps", "held_out")


@takes
class GreedyRegressor(OfAmounts, _Greedy, GrowingNumbers, Numbers):
    """Greedy regression: selects a few random features, one at each step.

    Step t updates the function ``f_t = (1 - a) f_{t-1} + a c z_j``. It chooses the feature z_j
    among ``n_components`` candidates, the step a and the amplitude c that minimise the sum of
    squared residuals::

        sum_i w_i (y_i - f_t(x_i))^2

    where w_i are the sample weights. Several targets share the selected features. There is no
    penalty: early stopping on a hold-out set regularises.

    The other parameters are described in `KernelRidgeRegressor`: kernel, gamma, n_components (the
    number of candidate features), map, sampling, form, standardize, fit_intercept, random_state,
    device, memory, verbose, importances and calibrate.

    Parameters
    ----------
    steps : int, default=200
        Maximum number of steps, and of features with a nonzero coefficient.

    held_out : float, default=0.2
        Fraction of the samples in the hold-out set, at least 0 and below 1. It selects the number
        of steps, with which all samples are then fitted. 0 runs all ``steps``.

    Attributes
    ----------
    n_iter_ : int
        Number of steps of the fitted model.

    feature_importances_ : ndarray of shape (n_features_in_,) or None
        Only with ``importances=True``: mean squared derivative of the predictions by each feature,
        after the scaling of ``standardize``, normalised to sum 1. None if the map has no gradient.

    n_features_in_ : int
        Number of features seen in fit.

    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of features seen in fit, if all are strings.

    References
    ----------
    L. K. Jones, "A simple lemma on greedy approximation in Hilbert space", Annals of Statistics 20,
    1992; A. R. Barron, "Universal approximation bounds", IEEE Transactions on Information Theory 39,
    1993.

    Examples
    --------
    >>> import numpy as np
    >>> from bochner import GreedyRegressor
    >>> X = np.linspace(0, 5, 300)[:, None]
    >>> model = GreedyRegressor(n_components=400, steps=40, random_state=0)
    >>> bool(abs(model.fit(X, np.sin(X[:, 0])).predict(X) - np.sin(X[:, 0])).max() < 0.1)
    True
    """

    _parameter_constraints = {**_GREEDY, "calibrate": CALIBRATE}


@takes
class GreedyClassifier(OfLabels, _Greedy, GrowingLabels, Labels):
    """Greedy classification: selects a few random features that all classes share.

    It minimises the squared residuals of `GreedyRegressor`, summed over one target per class that
    is 1 for samples of the class and -1 for others. The prediction is the class with the largest
    value.

    The other parameters are described in `GreedyRegressor`.

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
        Number of steps of the fitted model.

    feature_importances_ : ndarray of shape (n_features_in_,) or None
        Only with ``importances=True``: mean squared derivative of the predictions by each feature,
        after the scaling of ``standardize``, normalised to sum 1. None if the map has no gradient.

    n_features_in_ : int
        Number of features seen in fit.

    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of features seen in fit, if all are strings.

    Examples
    --------
    >>> from bochner import GreedyClassifier
    >>> from sklearn.datasets import load_digits
    >>> X, y = load_digits(return_X_y=True)
    >>> model = GreedyClassifier(n_components=500, random_state=0).fit(X[:1000], y[:1000])
    >>> bool(model.score(X[1000:], y[1000:]) > 0.85)
    True
    """

    _own = ("steps", "held_out", "probability")
    _parameter_constraints = {**_GREEDY, **LABELS}


@takes
class _Boosting(OfMapAndTargets):
    block: int = 50
    shrinkage: float = 0.1
    penalty: float = 1e-6
    stages: int = 2000
    held_out: float = 0.2

    _learner = "boosting"
    _own = ("block", "shrinkage", "penalty", "stages", "held_out")


@takes
class BoostingRegressor(OfAmounts, _Boosting, GrowingNumbers, Numbers):
    """L2 boosting with blocks of random features as weak learners.

    At each stage a ridge regression of the residuals r on every block z_B of the features
    minimises::

        sum_i w_i (r_i - z_B(x_i)'beta)^2 / sum_i w_i + penalty |beta|^2

    where w_i are the sample weights. The block with the smallest minimum is chosen, and
    ``shrinkage`` times its fit is added to the model. Early stopping on a hold-out set regularises.

    The other parameters are described in `KernelRidgeRegressor`: kernel, gamma, n_components (the
    number of features of all blocks), map, sampling, form, standardize, fit_intercept,
    random_state, device, memory, verbose, importances and calibrate.

    Parameters
    ----------
    block : int, default=50
        Number of features in a block.

    shrinkage : float, default=0.1
        Learning rate, above 0 and at most 1.

    penalty : float, default=1e-6
        Penalty lambda of the squared coefficients of a weak learner, per sample, positive.

    stages : int, default=2000
        Maximum number of stages.

    held_out : float, default=0.2
        Fraction of the samples in the hold-out set, at least 0 and below 1. It selects the number
        of stages, with which all samples are then fitted. 0 runs all ``stages``.

    Attributes
    ----------
    n_iter_ : int
        Number of stages of the fitted model.

    feature_importances_ : ndarray of shape (n_features_in_,) or None
        Only with ``importances=True``: mean squared derivative of the predictions by each feature,
        after the scaling of ``standardize``, normalised to sum 1. None if the map has no gradient.

    n_features_in_ : int
        Number of features seen in fit.

    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of features seen in fit, if all are strings.

    References
    ----------
    J. H. Friedman, "Greedy function approximation", Annals of Statistics 29, 2001; P. Buehlmann and
    B. Yu, "Boosting with the L2 loss", JASA 98, 2003.

    Examples
    --------
    >>> import numpy as np
    >>> from bochner import BoostingRegressor
    >>> X = np.linspace(0, 5, 300)[:, None]
    >>> model = BoostingRegressor(n_components=200, block=20, shrinkage=0.3, random_state=0)
    >>> bool(abs(model.fit(X, np.sin(X[:, 0])).predict(X) - np.sin(X[:, 0])).max() < 0.1)
    True
    """

    _parameter_constraints = {**_BOOSTING, "calibrate": CALIBRATE}


@takes
class BoostingClassifier(OfLabels, _Boosting, GrowingLabels, Labels):
    """L2 boosting for classification, with blocks of random features as weak learners.

    It minimises the squared residuals of `BoostingRegressor`, summed over one target per class that
    is 1 for samples of the class and -1 for others; all classes share the chosen blocks. The
    prediction is the class with the largest value.

    The other parameters are described in `BoostingRegressor`.

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
        Number of stages of the fitted model.

    feature_importances_ : ndarray of shape (n_features_in_,) or None
        Only with ``importances=True``: mean squared derivative of the predictions by each feature,
        after the scaling of ``standardize``, normalised to sum 1. None if the map has no gradient.

    n_features_in_ : int
        Number of features seen in fit.

    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of features seen in fit, if all are strings.

    Examples
    --------
    >>> from bochner import BoostingClassifier
    >>> from sklearn.datasets import load_digits
    >>> X, y = load_digits(return_X_y=True)
    >>> model = BoostingClassifier(n_components=300, random_state=0).fit(X[:1000], y[:1000])
    >>> bool(model.score(X[1000:], y[1000:]) > 0.85)
    True
    """

    _own = ("block", "shrinkage", "penalty", "stages", "held_out", "probability")
    _parameter_constraints = {**_BOOSTING, **LABELS}
