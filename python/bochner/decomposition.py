"""Components, independent sources and coordinates of rows, by random features.

Each class draws a feature map z with z(x)'z(y) close to k(x, y), streams the rows through it, and
finds directions among the features. Any row can be transformed, not those of the fit alone.
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
    """Kernel principal components, by random features: one pass, and memory without rows.

    Components are ``(z(x) - mean)'V`` with the leading eigenvectors V of the features' covariance;
    their variances are the eigenvalues of the centred kernel matrix of all rows over n - 1. The
    largest loading of each is positive. Beside its own it takes the parameters of
    `KernelRidgeRegressor`: kernel, gamma, map, sampling, form, standardize, random_state, device and
    memory.

    Parameters
    ----------
    n_components : int or float, default=0.95
        So many components, or the fewest that explain this share of the variance.

    map_components : int, default=1000
        Number of features of the map.

    solver : {'covariance', 'randomized'}, default='covariance'
        ``'covariance'`` sums the features' covariance in one pass, in 8 map_components^2 bytes;
        ``'randomized'`` multiplies it by a few directions in ``passes`` passes, so that many features
        and few components take little memory. n_components is a number of components then.

    oversampling : int, default=10
        Directions beside the components, of ``'randomized'``.

    passes : int, default=3
        Passes over the rows, of ``'randomized'``.

    fit_inverse_transform : bool, default=False
        Whether to learn `inverse_transform`, for which the rows are read once more.

    alpha : float, default=1.0
        The penalty of the ridge regression that learns it, as scikit-learn's.

    Attributes
    ----------
    explained_variance_ : ndarray of shape (n_components,)
        The variance along each component, largest first.

    explained_variance_ratio_ : ndarray of shape (n_components,)
        The same as shares of the variance in all directions.

    eigenvalues_ : ndarray of shape (n_components,)
        Of the centred kernel matrix of the rows of the fit, as scikit-learn's KernelPCA has them.

    n_features_in_ : int
        Number of features seen in fit.

    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, if all are strings.

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
        """What the rows of the fit count together."""
        return self._model.facts().get("weight", self._model.rows)

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Fit to rows.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features), or Scan
            Rows.

        y : Ignored
            For pipelines.

        sample_weight : array-like of shape (n_samples,), default=None
            What each row counts: a row of weight 2 is one that is there twice.

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
        """Add rows to those of earlier calls; the result is that of one `fit` to all of them.

        Parameters are those of the first call. Scales, bandwidth and map follow the rows up to four
        million values; then they stay, and a warning says if later rows lie far outside. Not with ``solver='randomized'``, nor
        with ``fit_inverse_transform=True``. `fit` keeps no sums: after it this begins anew, and warns.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features), or Scan
            Rows.

        y : Ignored
            For pipelines.

        sample_weight : array-like of shape (n_samples,), default=None
            What each row counts.

        Returns
        -------
        self : object
        """
        self._add_rows(X, sample_weight)
        return self

    @of_scans
    def reconstruction_errors(self, X: Any, *, output: Any = None) -> Any:
        """How far rows are from what the components span, squared, in feature space.

        Rows unlike those of the fit are far.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        errors : ndarray of shape (n_samples,)
            ``|z(x) - mean|^2 - |transform(x)|^2``.
        """
        check_is_fitted(self)
        return self._asked("reconstruction_errors", X)


@takes
class KernelICA(KeepingRows, Components):
    """Independent components: FastICA on whitened components of the columns, or of random features.

    Sources have variance 1 and are uncorrelated on the rows of the fit, the least Gaussian first; the
    largest loading of each is positive. Beside its own it takes the parameters of
    `KernelRidgeRegressor`: kernel, gamma, map, sampling, form, standardize, random_state, device and
    memory.

    Parameters
    ----------
    map : str, default='identity'
        ``'identity'`` unmixes the columns themselves; any other map, ``'fourier'`` for one, finds
        independent directions among its features, which are no sources of the columns.

    n_components : int, default=None
        Number of sources; of fewer columns as many as there are, with a warning. None takes as many
        as there are directions in which the columns themselves vary, and 2 of another map's features.

    map_components : int, default=1000
        Number of features of another map.

    tol : float, default=1e-6
        Done when every direction has turned by less than this: 1 - |cosine|.

    max_iter : int, default=500
        Most iterations; an error says that they were not enough, as for sources that are Gaussian.

    Attributes
    ----------
    n_iter_ : int
        Iterations.

    n_features_in_ : int
        Number of features seen in fit.

    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, if all are strings.

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
        # Of columns as they are there is one kernel, whatever the default of other maps is.
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
    """Laplacian eigenmaps on random features: neighbours by the kernel stay neighbours.

    Unlike scikit-learn's it takes any number of rows, two passes over them, and transforms rows that
    it has not seen. Coordinates have a mean square of 1 over rows weighted by their degree. Beside
    its own it takes the parameters of `KernelRidgeRegressor`: kernel, gamma, sampling, form,
    standardize, random_state, device and memory.

    Parameters
    ----------
    gamma : float, array-like of shape (n_features,), 'neighbours', 'scale' or 'median', \
default='neighbours'
        Parameter of the kernel's own formula. ``'neighbours'`` takes a lengthscale of a tenth of the
        median distance between rows, or the mean distance to the nearest row where that is larger.

    map : str, default='nystrom'
        The map; the kernel of random features can be negative, which a graph bears badly.

    n_components : int, default=2
        Number of coordinates.

    map_components : int, default=500
        Number of landmarks, or features of the map.

    Attributes
    ----------
    n_features_in_ : int
        Number of features seen in fit.

    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, if all are strings.

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
