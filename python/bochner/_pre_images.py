"""Pre-images of kernel PCA: from components back to input features."""

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

#: Number of sparse samples that are made dense at a time.
_BLOCK = 1 << 13


class PreImages:
    """Mixin of `KernelPCA` for `inverse_transform`, which a ridge regression learns."""

    def _learn_back(self, X, sample_weight):
        """Fit a ridge regression of the samples on random features of their components."""
        back = KernelRidgeRegressor(
            # Equals `gamma='scale'` on the components, whose means are 0.
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
            # Make sparse samples dense block by block.
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
        """Approximate pre-images: samples whose components are close to X.

        A ridge regression maps components to samples, on random features of a Gaussian kernel of
        the components; scikit-learn uses the exact kernel. Needs ``fit_inverse_transform=True``.
        Model files do not contain it.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_components)
            Components.

        Returns
        -------
        rows : ndarray of shape (n_samples, n_features)
            Samples in the input space.

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
