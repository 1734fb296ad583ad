from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._bases import Classifier, Regressor
from ._kept import KeepingLabels, KeepingNumbers
from .kernel_approximation import _Gamma, _Random

class AutoRegressor(KeepingNumbers, Regressor):
    kernel: str
    gamma: _Gamma
    n_components: int
    map: str
    sampling: str
    form: str
    standardize: str
    linear: str
    fit_intercept: bool
    random_state: _Random
    device: str
    memory: int | None
    verbose: bool | int
    penalty: float | str
    metric: str
    metric_power: float
    metric_iterations: int
    budget: int | str | None
    target_scale: str
    results_: dict[str, NDArray[Any]]
    best_params_: dict[str, Any]
    metric_: NDArray[np.float64] | None
    penalty_: float
    def __init__(
        self,
        *,
        kernel: str = "auto",
        gamma: _Gamma = "auto",
        n_components: int = 2000,
        map: str = "fourier",
        sampling: str = "orthogonal",
        form: str = "paired",
        standardize: str = "auto",
        linear: str = "auto",
        fit_intercept: bool = True,
        random_state: _Random = None,
        device: str = "auto",
        memory: int | None = None,
        verbose: bool | int = False,
        penalty: float | str = "auto",
        metric: str = "auto",
        metric_power: float = 1.0,
        metric_iterations: int = 5,
        budget: int | str | None = None,
        target_scale: str = "auto",
    ) -> None: ...

class AutoClassifier(KeepingLabels, Classifier):
    kernel: str
    gamma: _Gamma
    n_components: int
    map: str
    sampling: str
    form: str
    standardize: str
    linear: str
    fit_intercept: bool
    random_state: _Random
    device: str
    memory: int | None
    verbose: bool | int
    penalty: float | str
    metric: str
    metric_power: float
    metric_iterations: int
    budget: int | str | None
    class_weight: dict[Any, float] | str | None
    probability: bool
    results_: dict[str, NDArray[Any]]
    best_params_: dict[str, Any]
    metric_: NDArray[np.float64] | None
    penalty_: float
    def __init__(
        self,
        *,
        kernel: str = "auto",
        gamma: _Gamma = "auto",
        n_components: int = 2000,
        map: str = "fourier",
        sampling: str = "orthogonal",
        form: str = "paired",
        standardize: str = "auto",
        linear: str = "auto",
        fit_intercept: bool = True,
        random_state: _Random = None,
        device: str = "auto",
        memory: int | None = None,
        verbose: bool | int = False,
        penalty: float | str = "auto",
        metric: str = "auto",
        metric_power: float = 1.0,
        metric_iterations: int = 5,
        budget: int | str | None = None,
        class_weight: dict[Any, float] | str | None = None,
        probability: bool = False,
    ) -> None: ...
