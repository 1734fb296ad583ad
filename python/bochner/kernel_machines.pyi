from typing import Any, Self

from ._bases import Classifier, Regressor
from .kernel_approximation import _Random

LABELS: dict[str, Any]

class Numbers(Regressor): ...
class Labels(Classifier): ...

class ExactKernelRidgeRegressor(Regressor):
    kernel: str
    gamma: float | str
    standardize: str
    fit_intercept: bool
    random_state: _Random
    device: str
    memory: int | None
    verbose: bool | int
    penalty: float
    def __init__(
        self,
        *,
        kernel: str = "gaussian",
        gamma: float | str = "scale",
        standardize: str = "auto",
        fit_intercept: bool = True,
        random_state: _Random = None,
        device: str = "auto",
        memory: int | None = None,
        verbose: bool | int = False,
        penalty: float = 1e-06,
    ) -> None: ...
    def fit(self, X: Any, y: Any = None) -> Self: ...  # type: ignore[override]

class ExactKernelRidgeClassifier(Classifier):
    kernel: str
    gamma: float | str
    standardize: str
    fit_intercept: bool
    random_state: _Random
    device: str
    memory: int | None
    verbose: bool | int
    penalty: float
    probability: bool
    def __init__(
        self,
        *,
        kernel: str = "gaussian",
        gamma: float | str = "scale",
        standardize: str = "auto",
        fit_intercept: bool = True,
        random_state: _Random = None,
        device: str = "auto",
        memory: int | None = None,
        verbose: bool | int = False,
        penalty: float = 1e-06,
        probability: bool = False,
    ) -> None: ...
    def fit(self, X: Any, y: Any = None) -> Self: ...  # type: ignore[override]

class FalkonRegressor(Numbers):
    kernel: str
    gamma: float | str
    standardize: str
    fit_intercept: bool
    random_state: _Random
    device: str
    memory: int | None
    verbose: bool | int
    n_components: int
    penalty: float
    tol: float
    max_iter: int
    def __init__(
        self,
        *,
        kernel: str = "gaussian",
        gamma: float | str = "scale",
        standardize: str = "auto",
        fit_intercept: bool = True,
        random_state: _Random = None,
        device: str = "auto",
        memory: int | None = None,
        verbose: bool | int = False,
        n_components: int = 1000,
        penalty: float = 1e-06,
        tol: float = 1e-05,
        max_iter: int = 500,
    ) -> None: ...

class FalkonClassifier(Labels):
    kernel: str
    gamma: float | str
    standardize: str
    fit_intercept: bool
    random_state: _Random
    device: str
    memory: int | None
    verbose: bool | int
    n_components: int
    penalty: float
    tol: float
    max_iter: int
    class_weight: dict[Any, float] | str | None
    probability: bool
    def __init__(
        self,
        *,
        kernel: str = "gaussian",
        gamma: float | str = "scale",
        standardize: str = "auto",
        fit_intercept: bool = True,
        random_state: _Random = None,
        device: str = "auto",
        memory: int | None = None,
        verbose: bool | int = False,
        n_components: int = 1000,
        penalty: float = 1e-06,
        tol: float = 1e-05,
        max_iter: int = 500,
        class_weight: dict[Any, float] | str | None = None,
        probability: bool = False,
    ) -> None: ...
