from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._bases import Regressor
from ._partial import GrowingNumbers
from .kernel_approximation import _Gamma, _Random

class GaussianProcessRegressor(GrowingNumbers, Regressor):
    kernel: str
    gamma: _Gamma
    n_components: int
    map: str
    sampling: str
    form: str
    standardize: str
    noise_variance: float | None
    signal_variance: float | None
    lengthscales: str
    weights: str
    fit_intercept: bool
    random_state: _Random
    device: str
    memory: int | None
    verbose: bool | int
    importances: bool
    noise_deviation_: float
    signal_deviation_: float
    log_marginal_likelihood_: float
    lengthscales_: NDArray[np.float64]
    def __init__(
        self,
        *,
        kernel: str = "gaussian",
        gamma: _Gamma = "chosen",
        n_components: int = 1000,
        map: str = "fourier",
        sampling: str = "auto",
        form: str = "paired",
        standardize: str = "auto",
        noise_variance: float | None = None,
        signal_variance: float | None = None,
        lengthscales: str = "fixed",
        weights: str = "counts",
        fit_intercept: bool = True,
        random_state: _Random = None,
        device: str = "auto",
        memory: int | None = None,
        verbose: bool | int = False,
        importances: bool = False,
    ) -> None: ...
    def predict(self, X: Any, return_std: bool = False, *, output: Any = None) -> Any: ...
