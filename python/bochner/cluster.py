"""Clusters of rows, by random features.

Each class draws a feature map z with z(x)'z(y) close to k(x, y), and streams the rows through it. Any
row can be given its cluster, not those of the fit alone.
"""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils._param_validation import StrOptions
from sklearn.utils.validation import check_is_fitted

from . import _native
from ._arrays import table
from ._clusters import CLUSTERS, Clusters
from ._learning import weights_of
from ._parameters import POSITIVE, takes
from ._progress import heard
from ._rows import checked, of_scans
from ._scales import Early, warn_of
from ._scan import Scan
from ._typing import ClassNamePrefixFeaturesOutMixin, TransformerMixin, _fit_context

if TYPE_CHECKING:
    from typing import Any

    from typing_extensions import Self

    from ._typing import Gamma

__all__ = ["KernelKMeans", "SpectralClustering"]

@takes
class KernelKMeans(ClassNamePrefixFeaturesOutMixin, TransformerMixin, Clusters):
    """Kernel k-means, by random features: clusters around centres in feature space.

    Each start seeds by k-means++ and runs on a sample of rows that fills half of ``memory``; the best
    goes on over all rows. Beside its own it takes the parameters of `KernelRidgeRegressor`: kernel,
    gamma, map, sampling, form, standardize, random_state, device and memory.

    Parameters
    ----------
    map_components : int, default=1000
        Number of features of the map.

    n_clusters : int, default=8
        Number of clusters.

    n_init : int, default=1
        Starts, the best of which is taken.

    tol : float, default=1e-4
        Done when the squared moves of all centres are at most this share of the mean variance of a
        feature.

    max_iter : int, default=300
        Most iterations of a start, and of the passes over all rows.

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,)
        Clusters of the rows of the fit, or of the last `partial_fit`.

    inertia_ : float
        The sum of squared distances of these rows to the centres, in feature space.

    n_iter_ : int
        Iterations of the best start.

    n_features_in_ : int
        Number of features seen in fit.

    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, if all are strings.

    References
    ----------
    R. Chitta, R. Jin and A. K. Jain, "Efficient kernel clustering using random Fourier features",
    ICDM 2012.

    D. Sculley, "Web-scale k-means clustering", WWW 2010.

    Examples
    --------
    >>> import numpy as np
    >>> from bochner import KernelKMeans
    >>> X = np.array([[0.0], [0.1], [0.2], [9.0], [9.1], [9.2]])
    >>> labels = KernelKMeans(n_clusters=2, random_state=0).fit_predict(X)
    >>> bool((labels[:3] == labels[0]).all() and (labels[3:] == 1 - labels[0]).all())
    True
    """

    gamma: Gamma = "scale"

    _learner = "kmeans"
    _parameter_constraints = CLUSTERS

    def _takes_weights(self):
        return True

    def _options(self, X):
        options = super()._options(X)
        if not isinstance(X, Scan):
            # Rows that are equal may be one by now: no more clusters than there are different rows.
            options["n_clusters"] = min(self.n_clusters, X.shape[0])
        return options

    def _learn(self, X, y, weights, **labels):
        scanned = isinstance(X, Scan)
        if not scanned and self.n_clusters > X.shape[0]:
            raise ValueError(
                f"{self.n_clusters} clusters of {X.shape[0]} rows; ask for at most as many as there are rows"
            )
        super()._learn(X, y, weights, **labels)
        found = self._model.n_outputs
        if found < self.n_clusters:
            warnings.warn(
                f"{found} clusters stand for the {self.n_clusters} that were asked for: so many rows differ",
                ConvergenceWarning,
                stacklevel=3,
            )

    def _facts(self) -> None:
        super()._facts()
        self._n_features_out = self._model.n_outputs
        self._growing = None

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Find the clusters of rows.

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
        self._learn_rows(X, sample_weight)
        self._label(X)
        # What the rows of each cluster count, with which partial_fit goes on.
        weights = self._weights(X, sample_weight)
        self._sizes = np.bincount(self.labels_, weights, self._model.n_outputs).tolist()
        return self

    def _weights(self, X, sample_weight):
        """What each row counts; None where all count alike."""
        if sample_weight is not None:
            return weights_of(sample_weight, self.labels_)
        if not isinstance(X, Scan):
            return None
        parts = [rows.weights() for rows in X._for(self).chunks(self.memory)]
        return np.concatenate(parts) if parts and parts[0] is not None else None

    @_fit_context(prefer_skip_nested_validation=True)
    def partial_fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Move the centres by more rows, which are one mini-batch (Sculley 2010).

        Rows go to their nearest centres, and every centre moves to the mean of all rows that ever came
        to it. The first rows decide scales, bandwidth and map, and are clustered by `fit`'s iteration;
        a warning says if later rows lie far outside. After `fit` the clusters that it found go on.
        Batches in another order give other centres.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features), or Scan
            Rows; the first call needs ``n_clusters`` of them.

        y : Ignored
            For pipelines.

        sample_weight : array-like of shape (n_samples,), default=None
            What each row counts.

        Returns
        -------
        self : object
            ``labels_`` and ``inertia_`` are of these rows alone.
        """
        first = not hasattr(self, "_model")
        at_least = 2 if first else 1
        rows, none, weights = self._rows_alone(X, sample_weight, at_least, reset=first)
        if first:
            self._learn(rows, none, weights)
            self._sizes = [0.0] * self._model.n_outputs
            self._early = Early.of_rows(rows)
        else:
            warn_of(self, rows)
        if self._growing is None:
            if not hasattr(self, "_sizes"):
                raise ValueError(
                    "a loaded KernelKMeans does not know how many rows its clusters hold, which "
                    "partial_fit needs; pickle the estimator instead, or fit it"
                )
            self._growing = _native.GrowingClusters(self._model, self._sizes)
        size = rows.n_samples if isinstance(rows, Scan) else rows.shape[0]
        with heard(self.verbose, size) as progress:
            self._growing.add(table(rows), weights, {**self._options(rows), "progress": progress})
        self._model = self._growing.model()
        self._label(X)
        self.inertia_ = -self.score(X, sample_weight=sample_weight)
        return self

    @of_scans
    def transform(self, X: Any, *, output: Any = None) -> Any:
        """Distances to the centres, in feature space.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        distances : ndarray of shape (n_samples, n_clusters)
            ``|z(x) - c|``; `predict` gives the place of the least.
        """
        check_is_fitted(self)
        rows = checked(self, X)
        norms = self._asked("squared_norms", rows)
        # The scores are z(x)'c - |c|^2 / 2.
        squares = norms[:, None] - 2.0 * self._asked("scores", rows)
        return np.sqrt(np.maximum(squares, 0.0))

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """The opposite of the sum of squared distances to the nearest centres.

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
        score : float
        """
        parts = self.transform(X)
        parts = parts if isinstance(X, Scan) else [parts]
        squares = [distances.min(axis=1) ** 2 for distances in map(np.asarray, parts)]
        squares = np.concatenate(squares) if squares else np.zeros(0)
        if sample_weight is None and isinstance(X, Scan):
            sample_weight = self._weights(X, None)
        elif sample_weight is not None:
            sample_weight = weights_of(sample_weight, squares)
        return -float(squares.sum() if sample_weight is None else squares @ sample_weight)


@takes
class SpectralClustering(Clusters):
    """Spectral clustering, by random features: clusters of any shape that hang together.

    It is k-means on the coordinates of `SpectralEmbedding`. Unlike scikit-learn's it takes any number
    of rows, and predicts. Beside its own it takes the parameters of `KernelRidgeRegressor`: kernel,
    gamma, sampling, form, standardize, random_state, device and memory.

    Parameters
    ----------
    gamma : float, array-like of shape (n_features,), 'neighbours', 'scale' or 'median', \
default='neighbours'
        As of `SpectralEmbedding`: narrow, so that gaps between clusters have no edges across them.

    map : str, default='nystrom'
        The map; the kernel of random features can be negative, which a graph bears badly.

    map_components : int, default=500
        Number of landmarks, or features of the map.

    n_clusters : int, default=8
        Number of clusters.

    n_init : int, default=10
        Starts of k-means, the best of which is taken.

    tol : float, default=1e-4
        Of k-means, as in `KernelKMeans`.

    max_iter : int, default=300
        Most iterations of k-means.

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,)
        Clusters of the rows of the fit.

    inertia_ : float
        The sum of squared distances to the centres, in coordinates.

    n_iter_ : int
        Iterations of k-means.

    n_features_in_ : int
        Number of features seen in fit.

    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, if all are strings.

    References
    ----------
    J. Shi and J. Malik, "Normalized cuts and image segmentation", PAMI 22, 2000.

    Examples
    --------
    >>> from bochner import SpectralClustering
    >>> from sklearn.datasets import make_moons
    >>> X, y = make_moons(300, noise=0.03, random_state=0)
    >>> model = SpectralClustering(n_clusters=2, gamma=30.0, map_components=200, random_state=0)
    >>> labels = model.fit_predict(X)
    >>> bool(max((labels == y).mean(), (labels != y).mean()) > 0.98)
    True
    """

    gamma: Gamma = "neighbours"
    map: str = "nystrom"
    map_components: int = 500
    n_init: int = 10

    _learner = "spectral-clustering"
    _parameter_constraints = {
        **CLUSTERS,
        "gamma": [StrOptions({"neighbours", "scale", "median"}), POSITIVE, "array-like"],
    }

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any = None) -> Self:
        """Find the clusters of rows.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features), or Scan
            Rows.

        y : Ignored
            For pipelines.

        Returns
        -------
        self : object
        """
        self._learn_rows(X)
        self._label(X)
        return self

    def _learner_of_fit(self):
        # One cluster has no coordinates.
        return "kmeans" if self.n_clusters == 1 else self._learner
