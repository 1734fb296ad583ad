from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from ._kept import KeepingRows
from ._learning import RowsLearner
from .kernel_approximation import _Gamma, _Random

class OneClassSVM(KeepingRows, RowsLearner):
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
    nu: float
    tol: float
    max_iter: int
    offset_: float
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
        nu: float = 0.5,
        tol: float = 0.001,
        max_iter: int = 500,
    ) -> None: ...
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self: ...
    def decision_function(self, X: Any, *, output: Any = None) -> Any: ...
    def score_samples(self, X: Any, *, output: Any = None) -> Any: ...
    def predict(self, X: Any, *, output: Any = None) -> Any: ...
    def fit_predict(self, X: Any, y: Any = None, **kwargs: Any) -> NDArray[np.intp]: ...
