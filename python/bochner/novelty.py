"""Novelty detection on random features."""

from __future__ import annotations

from numbers import Real
from typing import TYPE_CHECKING

import numpy as np
from sklearn.utils._param_validation import Interval

from ._kept import KeepingRows
from ._learning import RowsLearner
from ._parameters import COUNT, POSITIVE, ROWS, takes
from ._rows import of_scans
from ._typing import OutlierMixin, _fit_context

if TYPE_CHECKING:
    from typing import Any

    from typing_extensions import Self

    from ._typing import Gamma

__all__ = ["OneClassSVM"]

@takes
class OneClassSVM(OutlierMixin, KeepingRows, RowsLearner):
    """One-class support vector machine on random features, for novelty detection.

    It minimises, over coefficients beta and the offset rho::

        |beta|^2 / 2 - rho + sum_i w_i max(0, rho - z(x_i)'beta) / (nu sum_i w_i)

    where z is the feature map and w_i are the sample weights.

    The other parameters are described in `KernelRidgeRegressor`: kernel, gamma, map, sampling,
    form, standardize, random_state, device, memory and verbose.

    Parameters
    ----------
    map_components : int, default=1000
        Number of features of the map, D.

    nu : float, default=0.5
        Approximate fraction of the training samples outside the region, above 0 and at most 1.

    tol : float, default=1e-3
        The solver stops when the relative primal and dual residuals of ADMM are at most ``tol``.

    max_iter : int, default=500
        Maximum number of passes over the samples.

    Attributes
    ----------
    offset_ : float
        The offset rho: ``decision_function`` is ``score_samples - offset_``.

    n_iter_ : int
        Number of passes over the samples.

    n_features_in_ : int
        Number of features seen in fit.

    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of features seen in fit, if all are strings.

    References
    ----------
    B. Schoelkopf et al., "Estimating the support of a high-dimensional distribution", Neural
    Computation 13, 2001.

    Examples
    --------
    >>> import numpy as np
    >>> from bochner import OneClassSVM
    >>> X = np.random.RandomState(0).normal(size=(300, 2))
    >>> model = OneClassSVM(nu=0.1, gamma=0.2, random_state=0).fit(X)
    >>> model.predict([[0.0, 0.0], [6.0, 6.0]]).tolist()
    [1, -1]
    """

    gamma: Gamma = "scale"
    map_components: int = 1000
    nu: float = 0.5
    tol: float = 1e-3
    max_iter: int = 500

    _learner = "one-class"
    _own = ("nu", "tol", "max_iter")
    _parameter_constraints = {
        **ROWS,
        "map_components": [COUNT],
        "nu": [Interval(Real, 0.0, 1.0, closed="right")],
        "tol": [POSITIVE],
        "max_iter": [COUNT],
    }

    def _takes_weights(self):
        return True

    def _facts(self) -> None:
        super()._facts()
        self.offset_: float = -float(self._model.coefficients()[1][1])

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Fit the model.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Training samples.

        y : Ignored
            Ignored; present for API consistency.

        sample_weight : array-like of shape (n_samples,), default=None
            Sample weights: a sample of weight 2 counts as two equal samples.

        Returns
        -------
        self : object
        """
        self._learn_rows(X, sample_weight, at_least=1)
        return self

    @of_scans
    def decision_function(self, X: Any, *, output: Any = None) -> Any:
        """Decision function: positive for samples inside the region, negative outside.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        scores : ndarray of shape (n_samples,)
        """
        return self._scores(X)[:, 1]

    @of_scans
    def score_samples(self, X: Any, *, output: Any = None) -> Any:
        """Raw scores ``z(x)'beta``: the decision function plus ``offset_``.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        scores : ndarray of shape (n_samples,)
        """
        return self.decision_function(X) + self.offset_

    @of_scans
    def predict(self, X: Any, *, output: Any = None) -> Any:
        """Label of each sample: 1 inside the region (inlier), -1 outside (outlier).

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        labels : ndarray of shape (n_samples,)
        """
        return np.where(self.decision_function(X) >= 0.0, 1, -1)
