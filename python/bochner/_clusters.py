"""Base class of clustering estimators: parameters, and `predict`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ._learning import RowsLearner
from ._parameters import COUNT, NOT_NEGATIVE, ROWS, takes
from ._rows import of_scans
from ._scan import Scan
from ._typing import ClusterMixin

if TYPE_CHECKING:
    from typing import Any

    from numpy.typing import NDArray

#: Constraints for the parameters of clustering estimators.
CLUSTERS = {
    **ROWS,
    "map_components": [COUNT],
    "n_clusters": [COUNT],
    "n_init": [COUNT],
    "tol": [NOT_NEGATIVE],
    "max_iter": [COUNT],
}


@takes
class Clusters(ClusterMixin, RowsLearner):
    map_components: int = 1000
    n_clusters: int = 8
    n_init: int = 1
    tol: float = 1e-4
    max_iter: int = 300

    _own = ("n_clusters", "n_init", "tol", "max_iter")

    def _facts(self) -> None:
        super()._facts()
        facts = self._model.facts()
        # Models from `partial_fit` have no inertia.
        if "inertia" in facts:
            self.inertia_: float = facts["inertia"]

    def _label(self, X):
        labels = self.predict(X)
        labels = np.concatenate(list(labels)) if isinstance(X, Scan) else labels
        self.labels_: NDArray[np.intp] = labels

    @of_scans
    def predict(self, X: Any, *, output: Any = None) -> Any:
        """Predict the clusters of samples, seen in the fit or new.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        labels : ndarray of shape (n_samples,)
            Indices of the clusters, from 0.
        """
        return self._scores(X).argmax(axis=1)
