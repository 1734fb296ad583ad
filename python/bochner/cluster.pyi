from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from ._learning import RowsLearner
from .kernel_approximation import _Gamma, _Random

class _Clusters(RowsLearner):
    labels_: NDArray[np.intp]
    inertia_: float
    def predict(self, X: Any, *, output: Any = None) -> Any: ...
    def fit_predict(self, X: Any, y: Any = None, **kwargs: Any) -> NDArray[np.intp]: ...

class KernelKMeans(_Clusters):
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
    map_components: int
    n_clusters: int
    n_init: int
    tol: float
    max_iter: int
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
        map_components: int = 1000,
        n_clusters: int = 8,
        n_init: int = 1,
        tol: float = 0.0001,
        max_iter: int = 300,
    ) -> None: ...
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self: ...
    def partial_fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self: ...
    def transform(self, X: Any, *, output: Any = None) -> Any: ...
    def fit_transform(self, X: Any, y: Any = None, **fit_params: Any) -> Any: ...
    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]: ...
    def set_output(self, *, transform: str | None = None) -> Self: ...
    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float: ...

class SpectralClustering(_Clusters):
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
    map_components: int
    n_clusters: int
    n_init: int
    tol: float
    max_iter: int
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
        map_components: int = 500,
        n_clusters: int = 8,
        n_init: int = 10,
        tol: float = 0.0001,
        max_iter: int = 300,
    ) -> None: ...
    def fit(self, X: Any, y: Any = None) -> Self: ...
