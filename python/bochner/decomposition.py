"""Components, independent sources and coordinates of rows, by random features.

Each class draws a feature map z with z(x)'z(y) close to k(x, y), streams the rows through it, and
finds directions among the features. Any row can be transformed, not those of the fit alone.
"""

import warnings
from numbers import Integral

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin, _fit_context
from sklearn.exceptions import NotFittedError
from sklearn.utils._param_validation import Interval, RealNotInt, StrOptions
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from ._arrays import dense
from ._kept import KeepingRows
from ._learning import COUNT, POSITIVE, ROWS, SHARED, RowsLearner, takes
from ._partial import Growing
from ._scan import Scan, of_scans
from .ridge import KernelRidgeRegressor

__all__ = ["KernelICA", "KernelPCA", "SpectralEmbedding"]

#: Rows that are made dense at a time.
_BLOCK = 1 << 13

_CONSTRAINTS = {**{name: SHARED[name] for name in ROWS}, "map_components": [COUNT]}


class _Components(ClassNamePrefixFeaturesOutMixin, TransformerMixin, RowsLearner):
    def _options(self, X):
        return {**super()._options(X), "components": self.n_components}

    def _facts(self):
        super()._facts()
        self._n_features_out = self._model.n_outputs

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X, y=None):
        """Fit to rows.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows.

        y : Ignored
            For pipelines.

        Returns
        -------
        self : object
        """
        self._learn_rows(X)
        return self

    @of_scans
    def transform(self, X):
        """Coordinates of rows, of those of the fit or of new ones.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        Y : ndarray of shape (n_samples, n_components)
        """
        return self._scores(X)


@takes(
    *ROWS,
    gamma="scale",
    n_components=0.95,
    map_components=1000,
    solver="covariance",
    oversampling=10,
    passes=3,
    fit_inverse_transform=False,
    alpha=1.0,
)
class KernelPCA(Growing, _Components):
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

    def _facts(self):
        super()._facts()
        variances, total = self._model.variances()
        self.explained_variance_ = np.array(variances)
        self.explained_variance_ratio_ = self.explained_variance_ / total
        self.eigenvalues_ = self.explained_variance_ * (self._weight() - 1)

    def _weight(self):
        """What the rows of the fit count together."""
        return self._model.facts().get("weight", self._model.rows)

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X, y=None, sample_weight=None):
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
    def partial_fit(self, X, y=None, sample_weight=None):
        """Add rows to those of earlier calls; the result is that of one `fit` to all of them.

        The first rows decide scales, bandwidth and map, which then stay, as do the parameters. Not
        with ``solver='randomized'``, nor with ``fit_inverse_transform=True``. `fit` keeps no sums:
        after it this begins anew, and warns.

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

    def _learn_back(self, X, sample_weight):
        """A ridge regression of the rows on Gaussian features of their components."""
        back = KernelRidgeRegressor(
            # That of `gamma='scale'` on the components, whose means are 0.
            gamma=1.0 / self.explained_variance_.sum(),
            n_components=self.map_components,
            penalty=self.alpha / self._weight(),
            standardize="no",
            random_state=0,
            device=self.device,
            memory=self.memory,
        )
        if isinstance(X, Scan):
            held = X.chunks(self.memory)
            parts = ((part.numpy(), part.weights()) for part in held)
        else:
            # Dense a block at a time, where the rows are sparse.
            blocks = range(0, X.shape[0], _BLOCK)
            parts = ((dense(X[i : i + _BLOCK]), None) for i in blocks)
        if sample_weight is not None:
            sample_weight = np.asarray(sample_weight, dtype=np.float64)
        first = 0
        for part, weights in parts:
            if sample_weight is not None:
                weights = sample_weight[first : first + len(part)]
                first += len(part)
            if weights is None or weights.any():
                scores = self._model.scores(part, self.device, self.memory)
                back.partial_fit(scores, part, weights)
        return back

    def inverse_transform(self, X):
        """Rows whose components are near these: the pre-images, learnt as scikit-learn learns them.

        A ridge regression leads from components to rows: on random features of a Gaussian kernel of
        the components, where scikit-learn takes the kernel itself. Needs
        ``fit_inverse_transform=True``; a model file does not hold it.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_components)
            Components.

        Returns
        -------
        rows : ndarray of shape (n_samples, n_features)

        References
        ----------
        G. H. Bakir, J. Weston and B. Schoelkopf, "Learning to find pre-images", NIPS 2003.
        """
        check_is_fitted(self)
        if not hasattr(self, "_back"):
            raise NotFittedError(
                "inverse_transform is not learnt; set fit_inverse_transform=True before fit"
            )
        rows = self._back.predict(X)
        return rows.reshape(len(rows), -1)

    @of_scans
    def reconstruction_errors(self, X):
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


@takes(*ROWS, gamma="scale", map="identity", n_components=None, map_components=1000, tol=1e-6, max_iter=500)
class KernelICA(KeepingRows, _Components):
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


@takes(*ROWS, gamma="neighbours", map="nystrom", n_components=2, map_components=500)
class SpectralEmbedding(_Components):
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

    _learner = "spectral"
    _parameter_constraints = {
        **_CONSTRAINTS,
        "gamma": [StrOptions({"neighbours", "scale", "median"}), POSITIVE, "array-like"],
        "n_components": [COUNT],
    }
