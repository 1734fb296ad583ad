"""Base class of the feature maps: a native map writes features into a preallocated array."""

from __future__ import annotations

from numbers import Integral
from typing import TYPE_CHECKING

import numpy as np
from sklearn.utils._param_validation import Interval

from ._arrays import FLOATS, table
from ._dlpack import validated
from ._memory import empty
from ._scales import Early, warn_of
from ._scan import Scan
from ._typing import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin, _fit_context

if TYPE_CHECKING:
    from typing import Any

    from typing_extensions import Self

MEMORY = [Interval(Integral, 1, None, closed="left"), None]


def round_to_11_bits(values):
    """Round to 11 significant bits, which are exact in float16 up to a power of 2."""
    mantissa, exponent = np.frexp(values)
    return np.ldexp(np.rint(mantissa * 2048.0) / 2048.0, exponent)


class Transformer(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """Base class of the feature maps. `_map` is the native map that `transform` uses."""

    @_fit_context(prefer_skip_nested_validation=True)
    def partial_fit(self, X: Any, y: Any = None) -> Self:
        """Fit to the first samples; later samples are validated and ignored.

        The map is drawn once and does not improve with more samples; the method exists for
        pipelines that use `partial_fit`. If gamma comes from a rule, a warning reports later
        samples far outside the range of the first.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features), or Scan
            Samples to add.

        y : Ignored
            Ignored; present for API consistency.

        Returns
        -------
        self : object
        """
        if not hasattr(self, "_n_features_out"):
            self.fit(X, y)
            self._early = None
            if isinstance(getattr(self, "gamma", None), str) and not isinstance(X, Scan):
                X = validated(self, X, accept_sparse="csr", dtype=FLOATS, reset=False)
                self._early = Early.of_rows(X)
            return self
        if not isinstance(X, Scan):
            X = validated(self, X, accept_sparse="csr", dtype=FLOATS, reset=False)
            warn_of(self, X)
        elif X._for(self).n_features != self.n_features_in_:
            raise ValueError(
                f"X has {X.n_features} features, but {type(self).__name__} is expecting "
                f"{self.n_features_in_} features as input"
            )
        return self

    def _features(self, X, dtype):
        out = empty(X.shape[0], self._map.n_components, dtype)
        self._map.transform(table(X), out, self.device, self.memory)
        return out

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags
