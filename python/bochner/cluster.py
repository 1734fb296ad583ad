"""Kernel k-means and spectral clustering on random features.

Each class draws a feature map z with z(x)'z(y) close to k(x, y), and streams the samples through
it. `predict` assigns new samples to clusters.
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
    """Approximate kernel k-means on random features.

    It minimises the inertia, over k centres c in feature space::

        sum_i w_i min_c |z(x_i) - c|^2

    where z is the feature map and w_i are the sample weights. Each of ``n_init`` runs is seeded by
    k-means++ and iterates on a random subset (32,768 samples with up to 2,048 features and 512
    clusters); the best run continues on all samples.

    The other parameters are described in `KernelRidgeRegressor`: kernel, gamma, map, sampling,
    form, standardize, random_state, device, memory and verbose.

    Parameters
    ----------
    map_components : int, default=1000
        Number of features of the map, D.

    n_clusters : int, default=8
        Number of clusters.

    n_init : int, default=1
        Number of runs with different seeds; the one with the smallest inertia is kept.

    tol : float, default=1e-4
        The iteration stops when the sum of the squared moves of all centres is at most ``tol``
        times the mean variance of a feature. 0 or positive.

    max_iter : int, default=300
        Maximum number of iterations of each run, and of passes over all samples.

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,)
        Clusters of the training samples, or of the samples of the last `partial_fit`.

    inertia_ : float
        Weighted sum of squared distances of these samples to their centres, in feature space.

    n_iter_ : int
        Number of iterations on all samples.

    n_features_in_ : int
        Number of features seen in fit.

    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of features seen in fit, if all are strings.

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
            # Equal samples may have been merged: at most one cluster for each distinct sample.
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
        """Cluster the training samples.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features), or Scan
            Training samples.

        y : Ignored
            Ignored; present for API consistency.

        sample_weight : array-like of shape (n_samples,), default=None
            Sample weights; None for equal weights.

        Returns
        -------
        self : object
        """
        self._learn_rows(X, sample_weight)
        self._label(X)
        # Total weight of each cluster, for `partial_fit`.
        weights = self._weights(X, sample_weight)
        self._sizes = np.bincount(self.labels_, weights, self._model.n_outputs).tolist()
        return self

    def _weights(self, X, sample_weight):
        """Sample weights, given or from a file; None for equal weights."""
        if sample_weight is not None:
            return weights_of(sample_weight, self.labels_)
        if not isinstance(X, Scan):
            return None
        parts = [rows.weights() for rows in X._for(self).chunks(self.memory)]
        return np.concatenate(parts) if parts and parts[0] is not None else None

    @_fit_context(prefer_skip_nested_validation=True)
    def partial_fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Update the centres with a mini-batch of samples (Sculley 2010).

        Samples are assigned to their nearest centres, and each centre moves to the mean of all
        samples ever assigned to it. The first batch determines scales, bandwidth and map and is
        clustered as by `fit`; a warning reports later samples far outside its range. After `fit`,
        the fitted clusters are updated. The result depends on the order of the batches.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features), or Scan
            Samples of the batch; at least ``n_clusters`` in the first call.

        y : Ignored
            Ignored; present for API consistency.

        sample_weight : array-like of shape (n_samples,), default=None
            Sample weights; None for equal weights.

        Returns
        -------
        self : object
            ``labels_`` and ``inertia_`` refer to this batch alone.
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
        """Distances of samples to the centres, in feature space.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        distances : ndarray of shape (n_samples, n_clusters)
            ``|z(x) - c|``; `predict` returns the index of the smallest.
        """
        check_is_fitted(self)
        rows = checked(self, X)
        norms = self._asked("squared_norms", rows)
        # The scores are z(x)'c - |c|^2 / 2.
        squares = norms[:, None] - 2.0 * self._asked("scores", rows)
        return np.sqrt(np.maximum(squares, 0.0))

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """Negative inertia: minus the weighted sum of squared distances to the nearest centres.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features), or Scan
            Samples.

        y : Ignored
            Ignored; present for API consistency.

        sample_weight : array-like of shape (n_samples,), default=None
            Sample weights; None for equal weights.

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
    """Spectral clustering on landmarks or random features, for clusters of any shape.

    It minimises the inertia of k-means, over k centres c::

        sum_i min_c |u_i - c|^2

    on the k - 1 coordinates u_i of `SpectralEmbedding`, a relaxation of the normalised cut. Unlike
    scikit-learn's, the estimator scales to any number of samples and predicts clusters of new
    samples.

    The other parameters are described in `KernelRidgeRegressor`: kernel, sampling, form,
    standardize, random_state, device, memory and verbose.

    Parameters
    ----------
    gamma : float, array-like of shape (n_features,), 'neighbours', 'scale' or 'median', \
default='neighbours'
        Parameter of the kernel's formula, positive, as in `SpectralEmbedding`. The default gives a
        narrow kernel, so that edges across gaps between clusters have negligible weights.

    map : str, default='nystrom'
        Feature map. Random features approximate small kernel values with noise, which can make edge
        weights negative.

    map_components : int, default=500
        Number of landmarks, or of features of other maps.

    n_clusters : int, default=8
        Number of clusters k.

    n_init : int, default=10
        Number of runs of k-means with different seeds; the one with the smallest inertia is kept.

    tol : float, default=1e-4
        Tolerance of k-means, as in `KernelKMeans`.

    max_iter : int, default=300
        Maximum number of iterations of k-means.

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,)
        Clusters of the training samples.

    inertia_ : float
        Sum of squared distances of the coordinates to their centres.

    n_iter_ : int
        Number of iterations of k-means.

    n_features_in_ : int
        Number of features seen in fit.

    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of features seen in fit, if all are strings.

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
        """Cluster the training samples.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features), or Scan
            Training samples.

        y : Ignored
            Ignored; present for API consistency.

        Returns
        -------
        self : object
        """
        self._learn_rows(X)
        self._label(X)
        return self

    def _learner_of_fit(self):
        # The embedding for one cluster would have no coordinates.
        return "kmeans" if self.n_clusters == 1 else self._learner
