from collections.abc import Callable, Sequence
from os import PathLike
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

_Gamma = float | str | Sequence[float] | NDArray[Any]
_Random = int | np.random.RandomState | None

class _Estimator:
    n_features_in_: int
    feature_names_in_: NDArray[np.object_]
    def get_params(self, deep: bool = True) -> dict[str, Any]: ...
    def set_params(self, **params: Any) -> Self: ...
    def __sklearn_tags__(self) -> Any: ...

class _Transformer(_Estimator):
    def fit(self, X: Any, y: Any = None) -> Self: ...
    def partial_fit(self, X: Any, y: Any = None) -> Self: ...
    def transform(self, X: Any, *, output: Any = None) -> Any: ...
    def fit_transform(self, X: Any, y: Any = None, **fit_params: Any) -> Any: ...
    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]: ...
    def set_output(self, *, transform: str | None = None) -> Self: ...

class RBFSampler(_Transformer):
    gamma: float | str
    n_components: int
    random_state: _Random
    kernel: str
    map: str
    sampling: str
    form: str
    device: str
    memory: int | None
    random_weights_: NDArray[Any]
    random_offset_: NDArray[Any]
    def __init__(
        self,
        *,
        gamma: float | str = 1.0,
        n_components: int = 100,
        random_state: _Random = None,
        kernel: str = "gaussian",
        map: str = "fourier",
        sampling: str = "monte-carlo",
        form: str = "phase",
        device: str = "auto",
        memory: int | None = None,
    ) -> None: ...

class Nystroem(_Transformer):
    kernel: str | Callable[..., float]
    gamma: float | str | None
    coef0: float | None
    degree: float | None
    kernel_params: dict[str, Any] | None
    n_components: int
    random_state: _Random
    n_jobs: int | None
    device: str
    memory: int | None
    components_: Any
    component_indices_: NDArray[np.int64]
    normalization_: NDArray[Any]
    def __init__(
        self,
        kernel: str | Callable[..., float] = "rbf",
        *,
        gamma: float | str | None = None,
        coef0: float | None = None,
        degree: float | None = None,
        kernel_params: dict[str, Any] | None = None,
        n_components: int = 100,
        random_state: _Random = None,
        n_jobs: int | None = None,
        device: str = "auto",
        memory: int | None = None,
    ) -> None: ...

class PolynomialCountSketch(_Transformer):
    gamma: float | str
    degree: int
    coef0: float
    n_components: int
    random_state: _Random
    device: str
    memory: int | None
    indexHash_: NDArray[np.int64]
    bitHash_: NDArray[np.int64]
    def __init__(
        self,
        *,
        gamma: float | str = 1.0,
        degree: int = 2,
        coef0: float = 0.0,
        n_components: int = 100,
        random_state: _Random = None,
        device: str = "auto",
        memory: int | None = None,
    ) -> None: ...

class SkewedChi2Sampler(_Transformer):
    skewedness: float
    n_components: int
    random_state: _Random
    sampling: str
    form: str
    device: str
    memory: int | None
    random_weights_: NDArray[Any]
    random_offset_: NDArray[Any]
    def __init__(
        self,
        *,
        skewedness: float = 1.0,
        n_components: int = 100,
        random_state: _Random = None,
        sampling: str = "monte-carlo",
        form: str = "phase",
        device: str = "auto",
        memory: int | None = None,
    ) -> None: ...

class AdditiveChi2Sampler(_Transformer):
    sample_steps: int
    sample_interval: float | None
    device: str
    memory: int | None
    def __init__(
        self,
        *,
        sample_steps: int = 2,
        sample_interval: float | None = None,
        device: str = "auto",
        memory: int | None = None,
    ) -> None: ...
