"""From components of rows back to rows."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

from ._arrays import dense
from ._scan import Scan
from .ridge import KernelRidgeRegressor

if TYPE_CHECKING:
    from typing import Any

    from numpy.typing import NDArray

#: Rows that are made dense at a time.
_BLOCK = 1 << 13


class PreImages:
    """Rows that have given components, which a ridge regression learns."""

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

    def inverse_transform(self, X: Any) -> NDArray[np.float64]:
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
