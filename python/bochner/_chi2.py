"""Features of the skewed and the additive chi-squared kernel, for histograms."""

from __future__ import annotations

from numbers import Integral, Real
from typing import TYPE_CHECKING

import numpy as np
from scipy import sparse
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import (
    _check_feature_names_in,
    check_is_fitted,
)

from . import _native
from ._arrays import FLOATS, seed_of, table
from ._dlpack import validated
from ._rows import of_scans, seen
from ._scan import Scan
from ._transformer import MEMORY, Transformer, round_to_11_bits
from ._typing import _fit_context

if TYPE_CHECKING:
    from typing import Any

    from numpy.typing import NDArray
    from typing_extensions import Self

    from ._typing import Random

#: Default ``sample_interval`` for one, two and three ``sample_steps``, as in scikit-learn.
INTERVALS = {1: 0.8, 2: 0.5, 3: 0.4}


class SkewedChi2Sampler(Transformer):
    """Skewed chi-squared features: drop-in for `sklearn.kernel_approximation.SkewedChi2Sampler`.

    Approximates the kernel that is the product over input features of
    ``2 sqrt(x + c) sqrt(y + c) / (x + y + 2 c)``. The features equal those of scikit-learn for the
    same ``random_state``, except that weights are rounded to 11 significant bits:
    ``sqrt(2 / n_components) * cos(log(X + skewedness) @ random_weights_ + random_offset_)``.
    Logarithms are computed in float64.

    Parameters
    ----------
    skewedness : float, default=1.0
        Constant c of the kernel. Values of X must be above ``-skewedness``.

    n_components : int, default=100
        Number of features.

    random_state : int, RandomState instance or None, default=None
        Seed or generator of all random draws.

    sampling : str, default='monte-carlo'
        Method that draws the frequencies, as in `RBFSampler`.

    form : {'phase', 'paired'}, default='phase'
        ``'phase'``: one cosine with a random offset for each frequency, as in scikit-learn.
        ``'paired'``: a cosine and a sine for each, with lower variance; requires an even
        ``n_components``.

    device : str, default='auto'
        Device for the computation: ``'auto'`` (the best GPU, or the CPU without one), ``'cpu'``,
        ``'gpu'``, or a part of an adapter's name.

    memory : int, default=None
        Memory for chunks of samples, in bytes; None for 128 MiB.

    Attributes
    ----------
    random_weights_ : ndarray of shape (n_features, n_frequencies)
        Frequencies. Only with Monte Carlo sampling.

    random_offset_ : ndarray of shape (n_frequencies,)
        Offsets in [0, 2 pi); zeros with ``form='paired'``. Only together with ``random_weights_``.

    n_features_in_ : int
        Number of features seen in fit.

    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of features seen in fit, if all are strings.

    References
    ----------
    F. Li, C. Ionescu and C. Sminchisescu, "Random Fourier approximations for skewed multiplicative
    histogram kernels", DAGM 2010.

    Examples
    --------
    >>> import numpy as np
    >>> from bochner import SkewedChi2Sampler
    >>> X = np.random.RandomState(0).uniform(size=(50, 2))
    >>> Z = SkewedChi2Sampler(n_components=4000, random_state=0).fit_transform(X)
    >>> A, B = X[:, None] + 1, X + 1
    >>> K = (2 * np.sqrt(A * B) / (A + B)).prod(axis=2)
    >>> bool(abs(Z @ Z.T - K).max() < 0.1)
    True
    """

    random_weights_: NDArray[Any]
    random_offset_: NDArray[Any]

    _parameter_constraints = {
        "skewedness": [Interval(Real, None, None, closed="neither")],
        "n_components": [Interval(Integral, 1, None, closed="left")],
        "random_state": ["random_state"],
        "sampling": [str],
        "form": [StrOptions({"phase", "paired"})],
        "device": [str],
        "memory": MEMORY,
    }

    def __init__(
        self,
        *,
        skewedness: float = 1.0,
        n_components: int = 100,
        random_state: Random = None,
        sampling: str = "monte-carlo",
        form: str = "phase",
        device: str = "auto",
        memory: int | None = None,
    ) -> None:
        self.skewedness = skewedness
        self.n_components = n_components
        self.random_state = random_state
        self.sampling = sampling
        self.form = form
        self.device = device
        self.memory = memory

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any = None) -> Self:
        """Draw the map for the number of features in X.

        Parameters
        ----------
        X : {array-like} of shape (n_samples, n_features)
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
            X = validated(self, X, dtype=FLOATS)
        random_state = check_random_state(self.random_state)
        paired = self.form == "paired"
        if paired and self.n_components % 2:
            raise ValueError(
                f"n_components={self.n_components} cannot be paired; use an even number or form='phase'"
            )
        for name in ("random_weights_", "random_offset_"):
            self.__dict__.pop(name, None)
        if self.sampling == "monte-carlo":
            self._draw(random_state, paired, np.float64 if isinstance(X, Scan) else X.dtype)
        else:
            self._map = _native.FeatureMap.skewed_chi2(
                self.n_features_in_,
                self.skewedness,
                self.n_components,
                self.sampling,
                self.form,
                seed_of(random_state),
            )
        self._dtype = np.dtype(np.float32) if isinstance(X, Scan) else X.dtype
        self._n_features_out = self.n_components
        return self

    def _draw(self, random_state, paired, dtype):
        """Draw weights and offsets as scikit-learn does."""
        frequencies = self.n_components // 2 if paired else self.n_components
        uniform = random_state.uniform(size=(self.n_features_in_, frequencies))
        weights = round_to_11_bits(np.log(np.tan(np.pi / 2.0 * uniform)) / np.pi)
        offset = np.zeros(frequencies)
        if not paired:
            offset = random_state.uniform(0, 2 * np.pi, size=frequencies)
        self._map = _native.FeatureMap.from_logarithms(
            self.skewedness,
            self.form,
            np.ascontiguousarray(weights.T),
            (offset / (2 * np.pi)).tolist(),
        )
        self.random_weights_ = weights.astype(dtype, copy=False)
        self.random_offset_ = offset.astype(dtype, copy=False)

    @of_scans
    def transform(self, X: Any, *, output: Any = None) -> Any:
        """Map samples to chi-squared features.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples, with values above ``-skewedness``.

        Returns
        -------
        Z : ndarray of shape (n_samples, n_components)
            Features, in float32 if both X and the X of `fit` are float32, otherwise in float64.
        """
        check_is_fitted(self)
        if not isinstance(X, _native.HeldRows):
            X = validated(self, X, dtype=FLOATS, reset=False)
            if (X <= -self.skewedness).any():
                row, column = np.argwhere(X <= -self.skewedness)[0]
                raise ValueError(
                    "X may not contain entries smaller than -skewedness. Row "
                    f"{row}, column {column} (counted from 0) holds {X[row, column]}; shift the "
                    "column or raise skewedness"
                )
        return self._features(X, np.result_type(X.dtype, self._dtype))

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = False
        return tags


class AdditiveChi2Sampler(Transformer):
    """Additive chi-squared map: drop-in for `sklearn.kernel_approximation.AdditiveChi2Sampler`.

    Approximates the kernel that is the sum over input features of ``2 x y / (x + y)``. The features
    equal those of scikit-learn, computed in float32. They are not random.

    Parameters
    ----------
    sample_steps : int, default=2
        Number of samples of the kernel's spectrum. Each input feature becomes
        ``2 * sample_steps - 1`` features.

    sample_interval : float, default=None
        Distance between the samples of the spectrum, 0 or positive. None is 0.8, 0.5 and 0.4 for 1,
        2 and 3 ``sample_steps``; more steps require a number, such as ``2 pi / (5.86
        sqrt(sample_steps - 1) + 3.65)``.

    device : str, default='auto'
        Device for the computation: ``'auto'`` (the best GPU, or the CPU without one), ``'cpu'``,
        ``'gpu'``, or a part of an adapter's name.

    memory : int, default=None
        Memory for chunks of samples, in bytes; None for 128 MiB.

    Attributes
    ----------
    n_features_in_ : int
        Number of features seen in fit.

    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of features seen in fit, if all are strings.

    References
    ----------
    A. Vedaldi and A. Zisserman, "Efficient additive kernels via explicit feature maps", IEEE
    Transactions on Pattern Analysis and Machine Intelligence 34, 2012.

    Examples
    --------
    >>> import numpy as np
    >>> from bochner import AdditiveChi2Sampler
    >>> X = np.random.RandomState(0).uniform(1, 10, size=(50, 3))
    >>> Z = AdditiveChi2Sampler(sample_steps=3).fit_transform(X)
    >>> K = (2 * X[:, None] * X / (X[:, None] + X)).sum(axis=2)
    >>> bool(abs(Z @ Z.T / K - 1).max() < 0.06)
    True
    """

    _parameter_constraints = {
        "sample_steps": [Interval(Integral, 1, None, closed="left")],
        "sample_interval": [Interval(Real, 0, None, closed="left"), None],
        "device": [str],
        "memory": MEMORY,
    }

    def __init__(
        self,
        *,
        sample_steps: int = 2,
        sample_interval: float | None = None,
        device: str = "auto",
        memory: int | None = None,
    ) -> None:
        self.sample_steps = sample_steps
        self.sample_interval = sample_interval
        self.device = device
        self.memory = memory

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any = None) -> Self:
        """Validate samples and parameters; the map does not depend on the samples.

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
            X = validated(self, X, accept_sparse="csr", dtype=FLOATS, ensure_non_negative=True)
        self._interval()
        self._n_features_out = self.n_features_in_ * (2 * self.sample_steps - 1)
        return self

    @of_scans
    def transform(self, X: Any, *, output: Any = None) -> Any:
        """Map samples to chi-squared features.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Samples, with values of 0 or more.

        Returns
        -------
        Z : {ndarray, CSR matrix} of shape (n_samples, n_features * (2 * sample_steps - 1))
            Features in the dtype of X; sparse if X is, since a value of 0 has features of 0.
        """
        if not isinstance(X, _native.HeldRows):
            X = validated(
                self,
                X,
                accept_sparse="csr",
                dtype=FLOATS,
                reset=False,
                ensure_non_negative=True,
            )
        if not sparse.issparse(X):
            return self._of_columns(X, X.shape[1])
        if not X.has_canonical_format:
            # Duplicate entries must be summed before the nonlinear map.
            X = X.copy()
            X.sum_duplicates()
        # Map the stored values as one column, and put each of their features at the same indices.
        there = np.ascontiguousarray(X.data)[:, np.newaxis]
        kind = sparse.csr_array if isinstance(X, sparse.sparray) else sparse.csr_matrix
        blocks = [
            kind((values, X.indices.copy(), X.indptr.copy()), shape=X.shape)
            for values in self._of_columns(there, 1).T
        ]
        return sparse.hstack(blocks, format="csr")

    def _of_columns(self, X, columns):
        steps = self.sample_steps
        native = _native.FeatureMap.additive_chi2(columns, steps, self._interval())
        out = np.empty((X.shape[0], native.n_components), dtype=X.dtype)
        native.transform(table(X), out, self.device, self.memory)
        return out

    def _interval(self):
        if self.sample_interval is not None:
            return self.sample_interval
        if self.sample_steps not in INTERVALS:
            raise ValueError(
                "If sample_steps is not in [1, 2, 3], you need to provide sample_interval"
            )
        return INTERVALS[self.sample_steps]

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:
        """Feature names: all square roots first, then the cosines and sines of each step.

        Parameters
        ----------
        input_features : array-like of str, default=None
            Names of the input features; None for those seen in fit, or generated ones.

        Returns
        -------
        names : ndarray of str objects
        """
        check_is_fitted(self, attributes="n_features_in_")
        columns = _check_feature_names_in(self, input_features, generate_names=True)
        kinds = ["sqrt"]
        for j in range(1, self.sample_steps):
            kinds += [f"cos{j}", f"sin{j}"]
        own = type(self).__name__.lower()
        names = [f"{own}_{column}_{kind}" for kind in kinds for column in columns]
        return np.asarray(names, dtype=object)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.requires_fit = False
        tags.input_tags.positive_only = True
        return tags
