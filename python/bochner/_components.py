"""Base class of estimators whose `transform` returns components."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ._learning import RowsLearner
from ._rows import of_scans
from ._typing import ClassNamePrefixFeaturesOutMixin, TransformerMixin, _fit_context

if TYPE_CHECKING:
    from typing import Any

    from typing_extensions import Self


class Components(ClassNamePrefixFeaturesOutMixin, TransformerMixin, RowsLearner):
    def _options(self, X):
        return {**super()._options(X), "components": self.n_components}

    def _facts(self) -> None:
        super()._facts()
        self._n_features_out = self._model.n_outputs

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any = None) -> Self:
        """Fit the model.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Training samples.

        y : Ignored
            Ignored; present for API consistency.

        Returns
        -------
        self : object
        """
        self._learn_rows(X)
        return self

    @of_scans
    def transform(self, X: Any, *, output: Any = None) -> Any:
        """Transform samples, seen in the fit or new, to components.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        Y : ndarray of shape (n_samples, n_components)
        """
        return self._scores(X)
