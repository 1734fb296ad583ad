from ._bases import Regressor
from ._kept import KeepingNumbers
from ._partial import GrowingNumbers
from .kernel_approximation import _Gamma, _Random

class KernelSVR(KeepingNumbers, Regressor):
    kernel: str
    gamma: _Gamma
    n_components: int
    map: str
    sampling: str
    form: str
    standardize: str
    linear: str
    penalty: float | None
    loss: str
    epsilon: float | None
    quantile: float
    tol: float | None
    max_iter: int
    warm_start: bool
    fit_intercept: bool
    random_state: _Random
    device: str
    memory: int | None
    verbose: bool | int
    importances: bool
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
        linear: str = "auto",
        penalty: float | None = None,
        loss: str = "epsilon_insensitive",
        epsilon: float | None = None,
        quantile: float = 0.5,
        tol: float | None = None,
        max_iter: int = 1000,
        warm_start: bool = False,
        fit_intercept: bool = True,
        random_state: _Random = None,
        device: str = "auto",
        memory: int | None = None,
        verbose: bool | int = False,
        importances: bool = False,
    ) -> None: ...

class KernelElasticNet(GrowingNumbers, Regressor):
    kernel: str
    gamma: _Gamma
    n_components: int
    map: str
    sampling: str
    form: str
    standardize: str
    l1: float | None
    penalty: float
    tol: float
    max_iter: int
    fit_intercept: bool
    random_state: _Random
    device: str
    memory: int | None
    verbose: bool | int
    importances: bool
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
        l1: float | None = None,
        penalty: float = 0.0,
        tol: float = 1e-06,
        max_iter: int = 100000,
        fit_intercept: bool = True,
        random_state: _Random = None,
        device: str = "auto",
        memory: int | None = None,
        verbose: bool | int = False,
        importances: bool = False,
    ) -> None: ...
