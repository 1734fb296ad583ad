"""Tensor sketch of the polynomial kernel."""

from __future__ import annotations

from numbers import Integral, Real
from typing import TYPE_CHECKING

import numpy as np
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from . import _native
from ._arrays import FLOATS, entry_variance
from ._dlpack import validated
from ._rows import checked, of_scans, seen
from ._scan import Scan
from ._transformer import MEMORY, Transformer
from ._typing import _fit_context

if TYPE_CHECKING:
    from typing import Any

    from numpy.typing import NDArray
    from typing_extensions import Self

    from ._typing import Random


class PolynomialCountSketch(Transformer):
    """Tensor sketch: drop-in for `sklearn.kernel_approximation.PolynomialCountSketch`.

    Approximates the kernel ``(gamma x'y + coef0)^degree``. Hashes equal those of scikit-learn for
    the same ``random_state``. Features are the Fourier transform of scikit-learn's features, as
    real numbers: inner products and distances agree, coordinates do not.

    Parameters
    ----------
    gamma : float, 'scale' or 'auto', default=1.0
        Factor of the inner product, 0 or positive. ``'scale'`` is 1 / (n_features * X.var()), and
        ``'auto'`` is 1 / n_features.

    degree : int, default=2
        Degree of the kernel, from 1 to 64.

    coef0 : float, default=0.0
        Constant of the kernel, 0 or positive.

    n_components : int, default=100
        Number of features.

    random_state : int, RandomState instance or None, default=None
        Seed or generator of all random draws.

    device : str, default='auto'
        Device for the computation: ``'auto'`` (the best GPU, or the CPU without one), ``'cpu'``,
        ``'gpu'``, or a part of an adapter's name.

    memory : int, default=None
        Memory for chunks of samples, in bytes; None for 128 MiB.

    Attributes
    ----------
    indexHash_ : ndarray of shape (degree, n_features) or (degree, n_features + 1), dtype=int64
        Index hash of each input feature, and of the constant if ``coef0`` is not 0.

    bitHash_ : ndarray of the same shape
        Sign hash, -1 or 1, of each input feature and of the constant.

    n_features_in_ : int
        Number of features seen in fit.

    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of features seen in fit, if all are strings.

    References
    ----------
    N. Pham and R. Pagh, "Fast and scalable polynomial kernels via explicit feature maps", KDD 2013.

    Examples
    --------
    >>> import numpy as np
    >>> from bochner import PolynomialCountSketch
    >>> X = np.random.RandomState(0).normal(size=(50, 3))
    >>> Z = PolynomialCountSketch(coef0=1, n_components=9000, random_state=0).fit_transform(X)
    >>> K = (X @ X.T + 1) ** 2
    >>> bool(abs(Z @ Z.T - K).mean() < 0.02 * K.mean())
    True
    """

    indexHash_: NDArray[np.int64]
    bitHash_: NDArray[np.int64]

    _parameter_constraints = {
        "gamma": [StrOptions({"scale", "auto"}), Interval(Real, 0, None, closed="left")],
        "degree": [Interval(Integral, 1, None, closed="left")],
        "coef0": [Interval(Real, None, None, closed="neither")],
        "n_components": [Interval(Integral, 1, None, closed="left")],
        "random_state": ["random_state"],
        "device": [str],
        "memory": MEMORY,
    }

    def __init__(
        self,
        *,
        gamma: float | str = 1.0,
        degree: int = 2,
        coef0: float = 0.0,
        n_components: int = 100,
        random_state: Random = None,
        device: str = "auto",
        memory: int | None = None,
    ) -> None:
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.n_components = n_components
        self.random_state = random_state
        self.device = device
        self.memory = memory

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any = None) -> Self:
        """Draw the hashes for the number of features in X.

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
        if isinstance(X, Scan):
            seen(self, X)
        else:
            X = validated(self, X, accept_sparse="csr", dtype=FLOATS)
        gamma = self.gamma
        if gamma == "scale":
            variance = entry_variance(X)
            gamma = 1.0 / (self.n_features_in_ * variance) if variance != 0 else 1.0
        elif gamma == "auto":
            gamma = 1.0 / self.n_features_in_
        random_state = check_random_state(self.random_state)
        columns = self.n_features_in_ + (self.coef0 != 0)
        shape = (self.degree, columns)
        self.indexHash_ = random_state.randint(0, high=self.n_components, size=shape)
        self.bitHash_ = random_state.choice(a=[-1, 1], size=shape)
        self._map = _native.FeatureMap.from_hashes(
            self.coef0,
            self.n_components,
            self.indexHash_.astype(np.int64),
            self.bitHash_.astype(np.float64),
            [float(gamma) ** 0.5] * self.n_features_in_,
        )
        self._dtype = np.dtype(np.float32) if isinstance(X, Scan) else X.dtype
        self._n_features_out = self.n_components
        return self

    @of_scans
    def transform(self, X: Any, *, output: Any = None) -> Any:
        """Map samples to features of the sketch.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        Z : ndarray of shape (n_samples, n_components)
            Features, in float32 if both X and the X of `fit` are float32, otherwise in float64.
        """
        check_is_fitted(self)
        X = checked(self, X)
        return self._features(X, np.result_type(X.dtype, self._dtype))
