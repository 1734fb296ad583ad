"""Feature maps with the interface of `sklearn.kernel_approximation`."""

from __future__ import annotations

from numbers import Integral, Real
from typing import TYPE_CHECKING

import numpy as np
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval, StrOptions

from . import _native
from ._arrays import FLOATS, entry_variance, lengthscale, means, seed_of, table
from ._chi2 import AdditiveChi2Sampler, SkewedChi2Sampler
from ._dlpack import validated
from ._nystroem import Nystroem
from ._rows import fitted_rows, of_scans, seen
from ._scan import Scan
from ._sketch import PolynomialCountSketch
from ._transformer import MEMORY, Transformer, round_to_11_bits
from ._typing import _fit_context

if TYPE_CHECKING:
    from typing import Any

    from numpy.typing import NDArray
    from typing_extensions import Self

    from ._typing import Random

__all__ = [
    "AdditiveChi2Sampler",
    "Nystroem",
    "PolynomialCountSketch",
    "RBFSampler",
    "SkewedChi2Sampler",
]


class RBFSampler(Transformer):
    """Random features of a kernel: drop-in for `sklearn.kernel_approximation.RBFSampler`.

    With default values of the parameters that scikit-learn does not have, the features equal those
    of scikit-learn for the same ``random_state``, except that weights are rounded to 11 significant
    bits: ``sqrt(2 / n_components) * cos(X @ random_weights_ + random_offset_)``. They are computed
    in float32 on ``device``, and returned in the dtype of the data.

    Parameters
    ----------
    gamma : float, 'scale', 'auto' or 'median', default=1.0
        Parameter of the kernel's formula, 0 or positive: exp(-gamma |x - y|^2) for RBF,
        exp(-gamma |x - y|_1) for Laplacian, and 1 / (2 l^2) for kernels that are defined by a
        lengthscale l, such as Matern. ``'scale'`` is 1 / (n_features * X.var()), ``'auto'`` is
        1 / n_features, and ``'median'`` sets the lengthscale to the median distance between up to
        2,000 samples.

    n_components : int, default=100
        Number of features.

    random_state : int, RandomState instance or None, default=None
        Seed or generator of all random draws.

    kernel : str, default='gaussian'
        ``'gaussian'`` (``'rbf'``), ``'laplacian'``, ``'exponential'``, ``'matern32'``,
        ``'matern52'``, ``'matern:NU'``, ``'cauchy'``, ``'rational-quadratic:ALPHA'``,
        ``'arc-cosine:ORDER'``, ``'mixture:...'`` or ``'product:...'``, with the names that the
        command line uses.

    map : str, default='fourier'
        Feature map: ``'fourier'``, ``'fastfood'``, ``'sorf'``, ``'arc-cosine'``, or a concatenation
        such as ``'0.5*fourier+0.5*fastfood'``.

    sampling : str, default='monte-carlo'
        Method that draws the frequencies: ``'monte-carlo'``, ``'orthogonal'``, ``'halton'``,
        ``'sobol'``, ``'lattice'`` or ``'digital-net'``.

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
        Frequencies. Only for the Fourier map of the Gaussian kernel with Monte Carlo sampling and
        another gamma than ``'median'``.

    random_offset_ : ndarray of shape (n_frequencies,)
        Offsets in [0, 2 pi); zeros with ``form='paired'``. Only together with ``random_weights_``.

    n_features_in_ : int
        Number of features seen in fit.

    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of features seen in fit, if all are strings.

    References
    ----------
    A. Rahimi and B. Recht, "Random features for large-scale kernel machines", NIPS 2007.

    Examples
    --------
    >>> import numpy as np
    >>> from bochner import RBFSampler
    >>> X = np.random.RandomState(0).normal(size=(50, 3))
    >>> Z = RBFSampler(gamma=0.5, n_components=4000, random_state=0).fit_transform(X)
    >>> K = np.exp(-0.5 * ((X[:, None] - X) ** 2).sum(axis=2))
    >>> bool(abs(Z @ Z.T - K).max() < 0.1)
    True
    """

    random_weights_: NDArray[Any]
    random_offset_: NDArray[Any]

    _parameter_constraints = {
        "gamma": [
            StrOptions({"scale", "auto", "median"}),
            Interval(Real, 0.0, None, closed="left"),
        ],
        "n_components": [Interval(Integral, 1, None, closed="left")],
        "random_state": ["random_state"],
        "kernel": [str],
        "map": [str],
        "sampling": [str],
        "form": [StrOptions({"phase", "paired"})],
        "device": [str],
        "memory": MEMORY,
    }

    def __init__(
        self,
        *,
        gamma: float | str = 1.0,
        n_components: int = 100,
        random_state: Random = None,
        kernel: str = "gaussian",
        map: str = "fourier",
        sampling: str = "monte-carlo",
        form: str = "phase",
        device: str = "auto",
        memory: int | None = None,
    ) -> None:
        self.gamma = gamma
        self.n_components = n_components
        self.random_state = random_state
        self.kernel = kernel
        self.map = map
        self.sampling = sampling
        self.form = form
        self.device = device
        self.memory = memory

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any = None) -> Self:
        """Draw the map for the number of features in X.

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
        random_state = check_random_state(self.random_state)
        kernel = "gaussian" if self.kernel == "rbf" else self.kernel
        own = (kernel, self.map, self.sampling) == ("gaussian", "fourier", "monte-carlo")
        median = self.gamma == "median"
        if median:
            own, self._gamma = False, None
        elif self.gamma == "scale":
            variance = entry_variance(X)
            self._gamma = 1.0 / (self.n_features_in_ * variance) if variance != 0 else 1.0
        elif self.gamma == "auto":
            self._gamma = 1.0 / self.n_features_in_
        else:
            self._gamma = self.gamma
        for name in ("random_weights_", "random_offset_"):
            self.__dict__.pop(name, None)
        if own:
            self._draw(X, random_state)
        else:
            columns = self.n_features_in_
            options = {
                "kernel": kernel,
                "map": self.map,
                "n_components": self.n_components,
                "sampling": self.sampling,
                "form": self.form,
                "gamma": "median" if median else None,
                "lengthscales": None if median else [lengthscale(kernel, self._gamma)] * columns,
                "standardize": "no",
                "seed": seed_of(random_state),
                "device": self.device,
                "memory": self.memory,
            }
            self._map = _native.FeatureMap.draw(table(X), options)
        self._dtype = np.dtype(np.float32) if isinstance(X, Scan) else X.dtype
        self._n_features_out = self._map.n_components
        return self

    def _draw(self, X, random_state):
        """Draw weights and offsets as scikit-learn does."""
        paired = self.form == "paired"
        if paired and self.n_components % 2:
            raise ValueError(
                f"n_components={self.n_components} cannot be paired; use an even number or form='phase'"
            )
        frequencies = self.n_components // 2 if paired else self.n_components
        columns = self.n_features_in_
        normal = random_state.normal(size=(columns, frequencies))
        normal = round_to_11_bits(normal)
        offset = np.zeros(frequencies)
        if not paired:
            offset = random_state.uniform(0, 2 * np.pi, size=frequencies)
        weights = (2.0 * self._gamma) ** 0.5 * normal
        # Samples are centred to limit rounding in float32; the offsets compensate.
        center = means(X)
        turns = (offset + center @ weights) / (2 * np.pi)
        self._map = _native.FeatureMap.from_frequencies(
            "gaussian",
            self.form,
            np.ascontiguousarray(normal.T),
            (turns - np.floor(turns)).tolist(),
            center.tolist(),
            [(2.0 * self._gamma) ** 0.5] * columns,
        )
        dtype = np.float64 if isinstance(X, Scan) else X.dtype
        self.random_weights_ = weights.astype(dtype, copy=False)
        self.random_offset_ = offset.astype(dtype, copy=False)

    @of_scans
    def transform(self, X: Any, *, output: Any = None) -> Any:
        """Map samples to random features.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        Z : ndarray of shape (n_samples, n_components)
            Features, in float32 if both X and the X of `fit` are float32, otherwise in float64.
        """
        X = fitted_rows(self, X)
        dtype = X.dtype if X.dtype == self._dtype else np.result_type(X.dtype, self._dtype)
        return self._features(X, dtype)
