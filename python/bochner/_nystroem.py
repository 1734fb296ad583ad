"""Nystroem features: the kernel with landmark samples."""

from __future__ import annotations

import warnings
from numbers import Integral, Real
from typing import TYPE_CHECKING

import numpy as np
from sklearn.metrics.pairwise import KERNEL_PARAMS, PAIRWISE_KERNEL_FUNCTIONS, pairwise_kernels
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from . import _native
from ._arrays import FLOATS, dense, entry_variance, lengthscale, seed_of, table
from ._dlpack import validated
from ._rows import checked, of_scans, seen
from ._scan import Scan
from ._transformer import MEMORY, Transformer
from ._typing import _fit_context

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from numpy.typing import NDArray
    from typing_extensions import Self

    from ._typing import Random


class Nystroem(Transformer):
    """Nystroem features from landmarks: drop-in for `sklearn.kernel_approximation.Nystroem`.

    Kernels of this library are computed on ``device`` in float32, and the inverse square root of
    the landmarks' kernel matrix in float64. All other kernels of scikit-learn, functions and
    ``'precomputed'`` are computed by scikit-learn's code.

    Parameters
    ----------
    kernel : str or callable, default='rbf'
        ``'rbf'`` or ``'laplacian'``, another kernel of this library (``'matern52'``, ``'cauchy'``,
        ..., see `RBFSampler`), another kernel of scikit-learn, a function of two samples, or
        ``'precomputed'``.

    gamma : float, 'scale', 'auto' or 'median', default=None
        Parameter of the kernel's formula, 0 or positive. For rbf, laplacian and the kernels of this
        library, None and ``'auto'`` are 1 / n_features, ``'scale'`` is 1 / (n_features * X.var()),
        and ``'median'`` sets the lengthscale to the median distance between up to 2,000 samples.
        Other kernels take None as scikit-learn does, and ``'auto'`` and ``'scale'``.

    coef0 : float, default=None
        Constant of polynomial and sigmoid kernels.

    degree : float, default=None
        Degree of the polynomial kernel, at least 1.

    kernel_params : dict, default=None
        Keyword arguments for a kernel that is a function.

    n_components : int, default=100
        Number of landmarks, and of features.

    random_state : int, RandomState instance or None, default=None
        Seed or generator that draws the landmarks, uniformly without replacement, as in
        scikit-learn.

    n_jobs : int, default=None
        Number of jobs for kernels that scikit-learn computes. Kernels of this library use all
        threads.

    device : str, default='auto'
        Device for the computation: ``'auto'`` (the best GPU, or the CPU without one), ``'cpu'``,
        ``'gpu'``, or a part of an adapter's name.

    memory : int, default=None
        Memory for chunks of samples, in bytes; None for 128 MiB.

    Attributes
    ----------
    components_ : ndarray or CSR matrix of shape (n_components, n_features)
        The landmarks.

    component_indices_ : ndarray of shape (n_components,)
        Indices of the landmarks in the training samples.

    normalization_ : ndarray of shape (n_components, n_components)
        Inverse square root of the kernel matrix of the landmarks.

    n_features_in_ : int
        Number of features seen in fit.

    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of features seen in fit, if all are strings.

    References
    ----------
    C. K. I. Williams and M. Seeger, "Using the Nystroem method to speed up kernel machines",
    NIPS 2001.

    Examples
    --------
    >>> import numpy as np
    >>> from bochner import Nystroem
    >>> X = np.random.RandomState(0).normal(size=(40, 2))
    >>> Z = Nystroem(gamma=0.5, n_components=40, random_state=0).fit_transform(X)
    >>> K = np.exp(-0.5 * ((X[:, None] - X) ** 2).sum(axis=2))
    >>> bool(abs(Z @ Z.T - K).max() < 1e-3)
    True
    """

    components_: Any
    component_indices_: NDArray[np.int64]
    normalization_: NDArray[Any]

    _parameter_constraints = {
        "kernel": [str, callable],
        "gamma": [
            StrOptions({"scale", "auto", "median"}),
            Interval(Real, 0, None, closed="left"),
            None,
        ],
        "coef0": [Interval(Real, None, None, closed="neither"), None],
        "degree": [Interval(Real, 1, None, closed="left"), None],
        "kernel_params": [dict, None],
        "n_components": [Interval(Integral, 1, None, closed="left")],
        "random_state": ["random_state"],
        "n_jobs": [Integral, None],
        "device": [str],
        "memory": MEMORY,
    }

    def __init__(
        self,
        kernel: str | Callable[..., float] = "rbf",
        *,
        gamma: float | str | None = None,
        coef0: float | None = None,
        degree: float | None = None,
        kernel_params: dict[str, Any] | None = None,
        n_components: int = 100,
        random_state: Random = None,
        n_jobs: int | None = None,
        device: str = "auto",
        memory: int | None = None,
    ) -> None:
        self.kernel = kernel
        self.gamma = gamma
        self.coef0 = coef0
        self.degree = degree
        self.kernel_params = kernel_params
        self.n_components = n_components
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.device = device
        self.memory = memory

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any = None) -> Self:
        """Draw landmarks among the samples, and factor their kernel matrix.

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
            n_samples = X.n_samples or X._native.moments()[0]
        else:
            X = validated(self, X, accept_sparse="csr", dtype=FLOATS)
            n_samples = X.shape[0]
        random_state = check_random_state(self.random_state)
        n_components = min(n_samples, self.n_components)
        if n_components < self.n_components:
            warnings.warn(
                f"n_components={self.n_components} is more than the {n_samples} rows there are, "
                f"and was set to {n_samples}"
            )
        self.component_indices_ = random_state.permutation(n_samples)[:n_components]
        if isinstance(X, Scan):
            order = np.argsort(self.component_indices_)
            rows = X._native.take(self.component_indices_[order].tolist()).numpy()
            self.components_ = rows[np.argsort(order)]
            self._dtype = np.dtype(np.float32)
        else:
            self.components_ = X[self.component_indices_]
            self._dtype = X.dtype
        self._map = None
        self._rule(X, random_state)
        if self._is_native():
            self._map = self._native_map()
            root = self._map.root().T
        else:
            basis = pairwise_kernels(
                self.components_,
                metric=self.kernel,
                filter_params=True,
                n_jobs=self.n_jobs,
                **self._kernel_params(),
            )
            U, S, V = np.linalg.svd(basis)
            root = U / np.sqrt(np.maximum(S, 1e-12)) @ V
        self.normalization_ = root.astype(self.components_.dtype, copy=False)
        self._n_features_out = n_components
        return self

    @of_scans
    def transform(self, X: Any, *, output: Any = None) -> Any:
        """Map samples to Nystroem features.

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
        if self._map is not None:
            return self._features(X, np.result_type(X.dtype, self._dtype))
        if isinstance(X, _native.HeldRows):
            X = X.numpy()
        embedded = pairwise_kernels(
            X,
            self.components_,
            metric=self.kernel,
            filter_params=True,
            n_jobs=self.n_jobs,
            **self._kernel_params(),
        )
        return embedded @ self.normalization_.T

    def _is_native(self):
        """Whether this library, not scikit-learn, computes the kernel."""
        if callable(self.kernel) or self.kernel == "precomputed":
            if any(value is not None for value in (self.gamma, self.coef0, self.degree)):
                raise ValueError(
                    "Don't pass gamma, coef0 or degree to Nystroem if using a callable or "
                    "precomputed kernel"
                )
            return False
        return self.kernel in ("rbf", "laplacian") or self.kernel not in PAIRWISE_KERNEL_FUNCTIONS

    def _rule(self, X, random_state):
        """Set ``_gamma``, and ``_lengthscale`` with the median rule, from the parameter gamma."""
        self._gamma, self._lengthscale = self.gamma, None
        if self.gamma == "auto":
            self._gamma = 1.0 / self.n_features_in_
        elif self.gamma == "scale":
            variance = entry_variance(X)
            self._gamma = 1.0 / (self.n_features_in_ * variance) if variance != 0 else 1.0
        elif self.gamma == "median":
            if not self._is_native():
                raise ValueError(
                    f"gamma='median' is for kernels of distances, not kernel={self.kernel!r}; give a "
                    "number"
                )
            self._lengthscale = _native.lengthscale_of_rows(
                table(X), self._native_kernel(), seed_of(random_state), self.device, self.memory
            )

    def _native_kernel(self):
        return "gaussian" if self.kernel == "rbf" else self.kernel

    def _native_map(self):
        kernel = self._native_kernel()
        landmarks = dense(self.components_)
        gamma = 1.0 / landmarks.shape[1] if self._gamma is None else self._gamma
        if self._lengthscale is not None:
            scale = 1.0 / self._lengthscale
        else:
            # With gamma=0 the kernel is constant.
            scale = 1.0 / lengthscale(kernel, gamma) if gamma else 0.0
        shifts = not kernel.startswith("arc-cosine")
        center = landmarks.mean(axis=0) if shifts else np.zeros(landmarks.shape[1])
        return _native.FeatureMap.from_landmarks(
            kernel, landmarks, center.tolist(), [scale] * landmarks.shape[1]
        )

    def _kernel_params(self):
        """Keyword arguments for a kernel that scikit-learn computes."""
        params = dict(self.kernel_params or {})
        if not callable(self.kernel):
            for name in KERNEL_PARAMS.get(self.kernel, ()):
                value = self._gamma if name == "gamma" else getattr(self, name)
                if value is not None:
                    params[name] = value
        return params

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self.kernel == "precomputed"
        return tags
