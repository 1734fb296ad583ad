from typing import Any

from ._partial import GrowingLabels, GrowingNumbers
from .kernel_approximation import _Gamma, _Random
from .kernel_machines import Labels, Numbers

class GreedyRegressor(GrowingNumbers, Numbers):
    kernel: str
    gamma: _Gamma
    n_components: int
    map: str
    sampling: str
    form: str
    standardize: str
    fit_intercept: bool
    random_state: _Random
    device: str
    memory: int | None
    verbose: bool | int
    importances: bool
    steps: int
    held_out: float
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
        fit_intercept: bool = True,
        random_state: _Random = None,
        device: str = "auto",
        memory: int | None = None,
        verbose: bool | int = False,
        importances: bool = False,
        steps: int = 200,
        held_out: float = 0.0,
    ) -> None: ...

class GreedyClassifier(GrowingLabels, Labels):
    kernel: str
    gamma: _Gamma
    n_components: int
    map: str
    sampling: str
    form: str
    standardize: str
    fit_intercept: bool
    random_state: _Random
    device: str
    memory: int | None
    verbose: bool | int
    importances: bool
    steps: int
    held_out: float
    class_weight: dict[Any, float] | str | None
    probability: bool
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
        fit_intercept: bool = True,
        random_state: _Random = None,
        device: str = "auto",
        memory: int | None = None,
        verbose: bool | int = False,
        importances: bool = False,
        steps: int = 200,
        held_out: float = 0.0,
        class_weight: dict[Any, float] | str | None = None,
        probability: bool = False,
    ) -> None: ...

class BoostingRegressor(GrowingNumbers, Numbers):
    kernel: str
    gamma: _Gamma
    n_components: int
    map: str
    sampling: str
    form: str
    standardize: str
    fit_intercept: bool
    random_state: _Random
    device: str
    memory: int | None
    verbose: bool | int
    importances: bool
    block: int
    shrinkage: float
    penalty: float
    stages: int
    held_out: float
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
        fit_intercept: bool = True,
        random_state: _Random = None,
        device: str = "auto",
        memory: int | None = None,
        verbose: bool | int = False,
        importances: bool = False,
        block: int = 50,
        shrinkage: float = 0.1,
        penalty: float = 1e-06,
        stages: int = 2000,
        held_out: float = 0.2,
    ) -> None: ...

class BoostingClassifier(GrowingLabels, Labels):
    kernel: str
    gamma: _Gamma
    n_components: int
    map: str
    sampling: str
    form: str
    standardize: str
    fit_intercept: bool
    random_state: _Random
    device: str
    memory: int | None
    verbose: bool | int
    importances: bool
    block: int
    shrinkage: float
    penalty: float
    stages: int
    held_out: float
    class_weight: dict[Any, float] | str | None
    probability: bool
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
        fit_intercept: bool = True,
        random_state: _Random = None,
        device: str = "auto",
        memory: int | None = None,
        verbose: bool | int = False,
        importances: bool = False,
        block: int = 50,
        shrinkage: float = 0.1,
        penalty: float = 1e-06,
        stages: int = 2000,
        held_out: float = 0.2,
        class_weight: dict[Any, float] | str | None = None,
        probability: bool = False,
    ) -> None: ...
