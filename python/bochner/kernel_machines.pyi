from collections.abc import Sequence
from typing import Any

from ._bases import Classifier, Regressor
from ._kept import KeepingLabels, KeepingNumbers
from .kernel_approximation import _Gamma, _Random

_Penalty = float | Sequence[float] | str | None

LABELS: dict[str, Any]

class Numbers(Regressor): ...
class Labels(Classifier): ...

class ExactKernelRidgeRegressor(KeepingNumbers, Numbers):
    kernel: str
    gamma: _Gamma
    standardize: str
    fit_intercept: bool
    random_state: _Random
    device: str
    memory: int | None
    verbose: bool | int
    importances: bool
    penalty: _Penalty
    target_scale: str
    penalty_: float
    def __init__(
        self,
        *,
        kernel: str = "gaussian",
        gamma: _Gamma = "chosen",
        standardize: str = "auto",
        fit_intercept: bool = True,
        random_state: _Random = None,
        device: str = "auto",
        memory: int | None = None,
        verbose: bool | int = False,
        importances: bool = False,
        penalty: _Penalty = None,
        target_scale: str = "auto",
    ) -> None: ...

class ExactKernelRidgeClassifier(KeepingLabels, Labels):
    kernel: str
    gamma: _Gamma
    standardize: str
    fit_intercept: bool
    random_state: _Random
    device: str
    memory: int | None
    verbose: bool | int
    importances: bool
    penalty: _Penalty
    penalty_: float
    class_weight: dict[Any, float] | str | None
    probability: bool
    def __init__(
        self,
        *,
        kernel: str = "gaussian",
        gamma: _Gamma = "chosen",
        standardize: str = "auto",
        fit_intercept: bool = True,
        random_state: _Random = None,
        device: str = "auto",
        memory: int | None = None,
        verbose: bool | int = False,
        importances: bool = False,
        penalty: _Penalty = None,
        class_weight: dict[Any, float] | str | None = None,
        probability: bool = False,
    ) -> None: ...

class FalkonRegressor(KeepingNumbers, Numbers):
    kernel: str
    gamma: _Gamma
    standardize: str
    fit_intercept: bool
    random_state: _Random
    device: str
    memory: int | None
    verbose: bool | int
    importances: bool
    n_components: int
    penalty: _Penalty
    penalty_: float
    tol: float
    max_iter: int
    target_scale: str
    def __init__(
        self,
        *,
        kernel: str = "gaussian",
        gamma: _Gamma = "chosen",
        standardize: str = "auto",
        fit_intercept: bool = True,
        random_state: _Random = None,
        device: str = "auto",
        memory: int | None = None,
        verbose: bool | int = False,
        importances: bool = False,
        n_components: int = 1000,
        penalty: _Penalty = None,
        tol: float = 1e-05,
        max_iter: int = 500,
        target_scale: str = "auto",
    ) -> None: ...

class FalkonClassifier(KeepingLabels, Labels):
    kernel: str
    gamma: _Gamma
    standardize: str
    fit_intercept: bool
    random_state: _Random
    device: str
    memory: int | None
    verbose: bool | int
    importances: bool
    n_components: int
    penalty: _Penalty
    penalty_: float
    tol: float
    max_iter: int
    class_weight: dict[Any, float] | str | None
    probability: bool
    def __init__(
        self,
        *,
        kernel: str = "gaussian",
        gamma: _Gamma = "chosen",
        standardize: str = "auto",
        fit_intercept: bool = True,
        random_state: _Random = None,
        device: str = "auto",
        memory: int | None = None,
        verbose: bool | int = False,
        importances: bool = False,
        n_components: int = 1000,
        penalty: _Penalty = None,
        tol: float = 1e-05,
        max_iter: int = 500,
        class_weight: dict[Any, float] | str | None = None,
        probability: bool = False,
    ) -> None: ...
