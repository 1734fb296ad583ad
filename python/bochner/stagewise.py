"""Learners that grow: feature by feature, or block by block of features.

Each draws a feature map z with z(x)'z(y) close to k(x, y) and takes sums in one pass over the rows.
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
    """A greedy fit: step by step the feature of a pool that leaves least, all weighed anew.

    Beside its own it takes the parameters of `KernelRidgeRegressor`: kernel, gamma, n_components (of
    the pool), map, sampling, form, standardize, fit_intercept, random_state, device, memory and
    calibrate.

    Parameters
    ----------
    steps : int, default=200
        Most steps, and so the most features with a coefficient.

    held_out : float, default=0.2
        The share of rows that is held out: up to the step with the least error on them all rows are
        fitted. 0 takes the last.

    Attributes
    ----------
    n_iter_ : int
        Steps.

    feature_importances_ : ndarray of shape (n_features_in_,) or None
        With ``importances``: the share of each column, as ``standardize`` leaves it, in the squared
        gradient of the fit. None where the map has no gradient.

    n_features_in_ : int
        Number of features seen in fit.

    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, if all are strings.

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
    """One greedy fit against -1 and 1 for each class, on the same features; the largest wins.

    Beside its own it takes the parameters of `GreedyRegressor`.

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
        Steps.

    feature_importances_ : ndarray of shape (n_features_in_,) or None
        With ``importances``: the share of each column, as ``standardize`` leaves it, in the squared
        gradient of the fit. None where the map has no gradient.

    n_features_in_ : int
        Number of features seen in fit.

    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, if all are strings.

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
    """Boosting of squared errors, with blocks of random features for weak learners.

    At each stage every block is fitted to the residual by ridge regression, and a share of the one
    that leaves least is added. Beside its own it takes the parameters of `KernelRidgeRegressor`:
    kernel, gamma, n_components (of all blocks), map, sampling, form, standardize, fit_intercept,
    random_state, device, memory and calibrate.

    Parameters
    ----------
    block : int, default=50
        Features of a block.

    shrinkage : float, default=0.1
        The share of a weak learner that is added.

    penalty : float, default=1e-6
        Of squares, per sample, of a weak learner.

    stages : int, default=2000
        Most stages.

    held_out : float, default=0.2
        The share of rows that is held out: up to the stage with the least error on them all rows are
        fitted. 0 takes the last.

    Attributes
    ----------
    n_iter_ : int
        Stages.

    feature_importances_ : ndarray of shape (n_features_in_,) or None
        With ``importances``: the share of each column, as ``standardize`` leaves it, in the squared
        gradient of the fit. None where the map has no gradient.

    n_features_in_ : int
        Number of features seen in fit.

    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, if all are strings.

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
    """One boosted fit against -1 and 1 for each class, on the same blocks; the largest wins.

    Beside its own it takes the parameters of `BoostingRegressor`.

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
        Stages.

    feature_importances_ : ndarray of shape (n_features_in_,) or None
        With ``importances``: the share of each column, as ``standardize`` leaves it, in the squared
        gradient of the fit. None where the map has no gradient.

    n_features_in_ : int
        Number of features seen in fit.

    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, if all are strings.

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
