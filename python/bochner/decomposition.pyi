from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from ._kept import KeepingRows
from ._learning import RowsLearner
from .kernel_approximation import _Gamma, _Random

class _Components(RowsLearner):
    def fit(self, X: Any, y: Any = None) -> Self: ...
    def transform(self, X: Any, *, output: Any = None) -> Any: ...
    def fit_transform(self, X: Any, y: Any = None, **fit_params: Any) -> Any: ...
    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]: ...
    def set_output(self, *, transform: str | None = None) -> Self: ...

class KernelPCA(_Components):
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self: ...
    kernel: str
    gamma: _Gamma
    map: str
    sampling: str
    form: str
    standardize: str
    random_state: _Random
    device: str
    memory: int | None
    verbose: bool | int
    n_components: int | float
    map_components: int
    solver: str
    oversampling: int
    passes: int
    fit_inverse_transform: bool
    alpha: float
    explained_variance_: NDArray[np.float64]
    explained_variance_ratio_: NDArray[np.float64]
    eigenvalues_: NDArray[np.float64]
    def __init__(
        self,
        *,
        kernel: str = "gaussian",
        gamma: _Gamma = "scale",
        map: str = "fourier",
        sampling: str = "auto",
        form: str = "paired",
        standardize: str = "auto",
        random_state: _Random = None,
        device: str = "auto",
        memory: int | None = None,
        verbose: bool | int = False,
        n_components: int | float = 0.95,
        map_components: int = 1000,
        solver: str = "covariance",
        oversampling: int = 10,
        passes: int = 3,
        fit_inverse_transform: bool = False,
        alpha: float = 1.0,
    ) -> None: ...
    def partial_fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self: ...
    def inverse_transform(self, X: Any) -> NDArray[np.float64]: ...
    def reconstruction_errors(self, X: Any, *, output: Any = None) -> Any: ...

class KernelICA(KeepingRows, _Components):
    kernel: str
    gamma: _Gamma
    map: str
    sampling: str
    form: str
    standardize: str
    random_state: _Random
    device: str
    memory: int | None
    verbose: bool | int
    n_components: int | None
    map_components: int
    tol: float
    max_iter: int
    def __init__(
        self,
        *,
        kernel: str = "gaussian",
        gamma: _Gamma = "scale",
        map: str = "identity",
        sampling: str = "auto",
        form: str = "paired",
        standardize: str = "auto",
        random_state: _Random = None,
        device: str = "auto",
        memory: int | None = None,
        verbose: bool | int = False,
        n_components: int | None = None,
        map_components: int = 1000,
        tol: float = 1e-06,
        max_iter: int = 500,
    ) -> None: ...

class SpectralEmbedding(_Components):
    kernel: str
    gamma: _Gamma
    map: str
    sampling: str
    form: str
    standardize: str
    random_state: _Random
    device: str
    memory: int | None
    verbose: bool | int
    n_components: int
    map_components: int
    def __init__(
        self,
        *,
        kernel: str = "gaussian",
        gamma: _Gamma = "neighbours",
        map: str = "nystrom",
        sampling: str = "auto",
        form: str = "paired",
        standardize: str = "auto",
        random_state: _Random = None,
        device: str = "auto",
        memory: int | None = None,
        verbose: bool | int = False,
        n_components: int = 2,
        map_components: int = 500,
    ) -> None: ...
