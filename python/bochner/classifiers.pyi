from typing import Any

from ._bases import Classifier
from .kernel_approximation import _Random

class KernelLogisticRegression(Classifier):
    kernel: str
    gamma: float | str
    n_components: int
    map: str
    sampling: str
    form: str
    standardize: str
    penalty: float
    l1: float
    tol: float
    max_iter: int
    class_weight: dict[Any, float] | str | None
    fit_intercept: bool
    random_state: _Random
    device: str
    memory: int | None
    verbose: bool | int
    def __init__(
        self,
        *,
        kernel: str = "gaussian",
        gamma: float | str = "scale",
        n_components: int = 1000,
        map: str = "fourier",
        sampling: str = "monte-carlo",
        form: str = "paired",
        standardize: str = "auto",
        penalty: float = 1e-05,
        l1: float = 0.0,
        tol: float = 0.0001,
        max_iter: int = 200,
        class_weight: dict[Any, float] | str | None = None,
        fit_intercept: bool = True,
        random_state: _Random = None,
        device: str = "auto",
        memory: int | None = None,
        verbose: bool | int = False,
    ) -> None: ...

class KernelSVC(Classifier):
    kernel: str
    gamma: float | str
    n_components: int
    map: str
    sampling: str
    form: str
    standardize: str
    penalty: float
    loss: str
    tol: float
    max_iter: int
    class_weight: dict[Any, float] | str | None
    probability: bool
    fit_intercept: bool
    random_state: _Random
    device: str
    memory: int | None
    verbose: bool | int
    def __init__(
        self,
        *,
        kernel: str = "gaussian",
        gamma: float | str = "scale",
        n_components: int = 1000,
        map: str = "fourier",
        sampling: str = "monte-carlo",
        form: str = "paired",
        standardize: str = "auto",
        penalty: float = 1e-05,
        loss: str = "squared_hinge",
        tol: float = 0.001,
        max_iter: int = 200,
        class_weight: dict[Any, float] | str | None = None,
        probability: bool = False,
        fit_intercept: bool = True,
        random_state: _Random = None,
        device: str = "auto",
        memory: int | None = None,
        verbose: bool | int = False,
    ) -> None: ...
