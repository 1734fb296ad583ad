"""Kernel PCA, ICA and spectral embedding on random features.

Each class draws a feature map z with z(x)'z(y) close to k(x, y), streams the samples through it,
and finds directions in feature space. New samples can be transformed.
"""

from __future__ import annotations

import warnings
from numbers import Integral
from typing import TYPE_CHECKING

import numpy as np
from sklearn.utils._param_validation import Interval, RealNotInt, StrOptions
from sklearn.utils.validation import check_is_fitted

from ._components import Components
from ._kept import KeepingRows
from ._parameters import COUNT, POSITIVE, ROWS, takes
from ._partial import Growing
from ._pre_images import PreImages
from ._rows import of_scans
from ._typing import _fit_context, available_if

if TYPE_CHECKING:
    from typing import Any

    from numpy.typing import NDArray
    from typing_extensions import Self

    from ._typing import Gamma

__all__ = ["KernelICA", "KernelPCA", "SpectralEmbedding"]

_CONSTRAINTS = {**ROWS, "map_components": [COUNT]}


@takes
class KernelPCA(PreImages, Growing, Components):
    """Approximate kernel PCA on random features, in memory independent of n_samples.

    It maximises the variance of the components ``(z(x) - mean)'V`` over orthonormal directions V::

        trace(V'C V),  C = sum_i w_i (z(x_i) - mean)(z(x_i) - mean)' / (sum_i w_i - 1)

    where z is the feature map and w_i are the sample weights. The solution are the leading
    eigenvectors of C. The variances approximate the eigenvalues of the centred kernel matrix,
    divided by n_samples - 1. The sign of each component makes its largest loading positive.

    The other parameters are described in `KernelRidgeRegressor`: kernel, gamma, map, sampling,
    form, standardize, random_state, device, memory and verbose.

    Parameters
    ----------
    n_components : int or float, default=0.95
        Number of components, or, as a float above 0 and at most 1, the fraction of the variance
        that they explain at least.

    map_components : int, default=1000
        Number of features of the map, D.

    solver : {'covariance', 'randomized'}, default='covariance'
        ``'covariance'`` sums the covariance C in one pass, in 8 map_components^2 bytes.
        ``'randomized'`` multiplies C by a few random directions in each of ``passes`` passes
        (Halko, Martinsson and Tropp 2011), which takes less memory with many features and few
        components; ``n_components`` must be an int then.

    oversampling : int, default=10
        Number of random directions in addition to the components, 0 or more. Only for
        ``solver='randomized'``.

    passes : int, default=3
        Number of passes over the samples, at least 1. Only for ``solver='randomized'``.

    fit_inverse_transform : bool, default=False
        Whether to fit `inverse_transform`, in one more pass over the samples.

    alpha : float, default=1.0
        Penalty of the ridge regression behind `inverse_transform`, positive, as in scikit-learn.

    Attributes
    ----------
    explained_variance_ : ndarray of shape (n_components,)
        Variance of each component, in descending order.

    explained_variance_ratio_ : ndarray of shape (n_components,)
        Variance of each component as a fraction of the total variance.

    eigenvalues_ : ndarray of shape (n_components,)
        Eigenvalues of the centred kernel matrix of the training samples, as in scikit-learn.

    n_features_in_ : int
        Number of features seen in fit.

    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of features seen in fit, if all are strings.

    References
    ----------
    B. Schoelkopf, A. Smola and K.-R. Mueller, "Nonlinear component analysis as a kernel eigenvalue
    problem", Neural Computation 10, 1998; D. Lopez-Paz et al., "Randomized nonlinear component
    analysis", ICML 2014.

    Examples
    --------
    >>> from bochner import KernelPCA
    >>> from sklearn.datasets import load_digits
    >>> X, _ = load_digits(return_X_y=True)
    >>> pca = KernelPCA(n_components=5, gamma=1e-3, random_state=0).fit(X)
    >>> pca.transform(X).shape
    (1797, 5)
    >>> bool(0.2 < pca.explained_variance_ratio_.sum() < 0.6)
    True
    """

    gamma: Gamma = "scale"
    n_components: int | float = 0.95
    map_components: int = 1000
    solver: str = "covariance"
    oversampling: int = 10
    passes: int = 3
    fit_inverse_transform: bool = False
    alpha: float = 1.0

    _learner = "pca"
    _parameter_constraints = {
        **_CONSTRAINTS,
        "n_components": [COUNT, Interval(RealNotInt, 0.0, 1.0, closed="right")],
        "solver": [StrOptions({"covariance", "randomized"})],
        "oversampling": [Interval(Integral, 0, None, closed="left")],
        "passes": [COUNT],
        "fit_inverse_transform": ["boolean"],
        "alpha": [POSITIVE],
    }
    _own = ("solver", "oversampling", "passes")

    def _takes_weights(self):
        return True

    def _facts(self) -> None:
        super()._facts()
        variances, total = self._model.variances()
        self.explained_variance_: NDArray[np.float64] = np.array(variances)
        ratio = self.explained_variance_ / total
        self.explained_variance_ratio_: NDArray[np.float64] = ratio
        eigenvalues = self.explained_variance_ * (self._weight() - 1)
        self.eigenvalues_: NDArray[np.float64] = eigenvalues

    def _weight(self):
        """Total weight of the training samples."""
        return self._model.facts().get("weight", self._model.rows)

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Fit the model.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features), or Scan
            Training samples.

        y : Ignored
            Ignored; present for API consistency.

        sample_weight : array-like of shape (n_samples,), default=None
            Sample weights: a sample of weight 2 counts as two equal samples.

        Returns
        -------
        self : object
        """
        rows = self._learn_rows(X, sample_weight)
        self.__dict__.pop("_back", None)
        if self.fit_inverse_transform:
            self._back = self._learn_back(rows, sample_weight)
        return self

    @available_if(lambda self: self.solver == "covariance")
    @_fit_context(prefer_skip_nested_validation=True)
    def partial_fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Add samples to earlier ones; equivalent to one `fit` to all of them.

        Not available with ``solver='randomized'`` or ``fit_inverse_transform=True``. Parameters are
        fixed at the first call. Scales, bandwidth and map are estimated again from all samples as
        long as these hold at most four million values, and stay fixed afterwards; a warning then
        reports samples far outside the range that they were estimated from. `fit` keeps no sums: a
        call after `fit` starts from no samples, with a warning.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features), or Scan
            Samples to add.

        y : Ignored
            Ignored; present for API consistency.

        sample_weight : array-like of shape (n_samples,), default=None
            Sample weights; None for equal weights.

        Returns
        -------
        self : object
        """
        self._add_rows(X, sample_weight)
        return self

    @of_scans
    def reconstruction_errors(self, X: Any, *, output: Any = None) -> Any:
        """Squared distance of samples from the span of the components, in feature space.

        Samples unlike the training samples have large distances.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        errors : ndarray of shape (n_samples,)
            ``|z(x) - mean|^2 - |transform(x)|^2``.
        """
        check_is_fitted(self)
        return self._asked("reconstruction_errors", X)


@takes
class KernelICA(KeepingRows, Components):
    """Independent component analysis (FastICA) of the input features, or of random features.

    It maximises the non-Gaussianity of the sources ``s = W y`` over rotations W, where y are the
    whitened principal components: stationary points of the contrast ``sum_k E log cosh(s_k)``
    (symmetric FastICA). Sources have variance 1 and are uncorrelated on the training samples. They
    are sorted by non-Gaussianity, the least Gaussian first; the largest loading of each is
    positive.

    The other parameters are described in `KernelRidgeRegressor`: kernel, gamma, sampling, form,
    standardize, random_state, device, memory and verbose.

    Parameters
    ----------
    map : str, default='identity'
        ``'identity'`` unmixes the input features themselves. Another map, such as ``'fourier'``,
        finds independent directions in its feature space, which are not sources of the input
        features.

    n_components : int, default=None
        Number of sources. With ``map='identity'`` it is reduced to the number of input features,
        with a warning. None is the number of directions in which the input features vary, and 2 for
        other maps.

    map_components : int, default=1000
        Number of features of maps other than ``'identity'``.

    tol : float, default=1e-6
        The iteration stops when ``1 - abs(cosine)`` of the angle by which each direction turned is
        below ``tol``.

    max_iter : int, default=500
        Maximum number of iterations. The fit raises an error if it does not converge, as with
        Gaussian sources.

    Attributes
    ----------
    n_iter_ : int
        Number of iterations.

    n_features_in_ : int
        Number of features seen in fit.

    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of features seen in fit, if all are strings.

    References
    ----------
    A. Hyvarinen, "Fast and robust fixed-point algorithms for independent component analysis", IEEE
    Transactions on Neural Networks 10, 1999.

    Examples
    --------
    >>> import numpy as np
    >>> from bochner import KernelICA
    >>> S = np.random.RandomState(0).uniform(-1, 1, size=(500, 2))
    >>> X = S @ [[1.0, 1.0], [1.0, -0.5]]
    >>> Y = KernelICA(random_state=0).fit_transform(X)
    >>> bool((abs(np.corrcoef(S.T, Y.T)[:2, 2:]).max(axis=1) > 0.99).all())
    True
    """

    gamma: Gamma = "scale"
    map: str = "identity"
    n_components: int | None = None
    map_components: int = 1000
    tol: float = 1e-6
    max_iter: int = 500

    _learner = "ica"
    _own = ("tol", "max_iter")
    _parameter_constraints = {
        **_CONSTRAINTS,
        "n_components": [COUNT, None],
        "tol": [POSITIVE],
        "max_iter": [COUNT],
    }

    def _kernel(self):
        # The identity map has the linear kernel alone; replace the default of other maps.
        is_default = self.map == "identity" and self.kernel == "gaussian"
        return "linear" if is_default else super()._kernel()

    def _options(self, X):
        options = super()._options(X)
        asked = self.n_components
        columns = getattr(self, "n_features_in_", asked)
        if self.map == "identity" and asked is not None and asked > columns:
            warnings.warn(
                f"n_components={asked} is more than the {columns} columns there are, and "
                f"was set to {columns}",
                stacklevel=4,
            )
            options["components"] = columns
        return options


@takes
class SpectralEmbedding(Components):
    """Spectral embedding (Laplacian eigenmaps) on landmarks or random features.

    It minimises, over coordinates u_i of the samples::

        sum_ij z(x_i)'z(x_j) |u_i - u_j|^2

    where z(x_i)'z(x_j), close to k(x_i, x_j), is the weight of the edge between two samples. With
    weights of the degrees ``d_i = sum_j z(x_i)'z(x_j)``, coordinates are uncorrelated and have mean
    0 and mean square 1. Unlike scikit-learn's, the estimator scales to any number of samples, in
    two passes, and transforms new samples.

    The other parameters are described in `KernelRidgeRegressor`: kernel, sampling, form,
    standardize, random_state, device, memory and verbose.

    Parameters
    ----------
    gamma : float, array-like of shape (n_features,), 'neighbours', 'scale' or 'median', \
default='neighbours'
        Parameter of the kernel's formula, positive. ``'neighbours'`` sets the lengthscale to a
        tenth of the median distance between samples, or to the mean distance to the nearest sample
        if that is larger.

    map : str, default='nystrom'
        Feature map. Random features approximate small kernel values with noise, which can make edge
        weights negative.

    n_components : int, default=2
        Number of coordinates.

    map_components : int, default=500
        Number of landmarks, or of features of other maps.

    Attributes
    ----------
    n_features_in_ : int
        Number of features seen in fit.

    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of features seen in fit, if all are strings.

    References
    ----------
    M. Belkin and P. Niyogi, "Laplacian eigenmaps for dimensionality reduction and data
    representation", Neural Computation 15, 2003; L. Wu et al., "Scalable spectral clustering using
    random binning features", KDD 2018.

    Examples
    --------
    >>> import numpy as np
    >>> from bochner import SpectralEmbedding
    >>> X = np.repeat([0.0, 5.0, 10.0], 30)[:, None] + np.tile(np.linspace(0, 1, 30), 3)[:, None]
    >>> Y = SpectralEmbedding(gamma=0.5, map_components=40, random_state=0).fit_transform(X)
    >>> bool(np.ptp(Y[:30], axis=0).max() < abs(Y[0] - Y[30]).max())
    True
    """

    gamma: Gamma = "neighbours"
    map: str = "nystrom"
    n_components: int = 2
    map_components: int = 500

    _learner = "spectral"
    _parameter_constraints = {
        **_CONSTRAINTS,
        "gamma": [StrOptions({"neighbours", "scale", "median"}), POSITIVE, "array-like"],
        "n_components": [COUNT],
    }
