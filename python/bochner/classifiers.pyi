from typing import Any

from ._bases import Classifier
from ._kept import KeepingLabels
from ._partial import GrowingLabels
from .kernel_approximation import _Gamma, _Random

class KernelLogisticRegression(KeepingLabels, Classifier):
    kernel: str
    gamma: _Gamma
    n_components: int
    map: str
    sampling: str
    form: str
    standardize: str
    linear: str
    penalty: float
    l1: float
    bound: float | None
    tol: float
    max_iter: int
    class_weight: dict[Any, float] | str | None
    laplace: bool
    warm_start: bool
    fit_intercept: bool
    random_state: _Random
    device: str
    memory: int | None
    verbose: bool | int
    importances: bool
    log_marginal_likelihood_: float
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
        penalty: float = 1e-05,
        l1: float = 0.0,
        bound: float | None = None,
        tol: float = 0.0001,
        max_iter: int = 1000,
        class_weight: dict[Any, float] | str | None = None,
        laplace: bool = False,
        warm_start: bool = False,
        fit_intercept: bool = True,
        random_state: _Random = None,
        device: str = "auto",
        memory: int | None = None,
        verbose: bool | int = False,
        importances: bool = False,
    ) -> None: ...

class KernelSVC(KeepingLabels, Classifier):
    kernel: str
    gamma: _Gamma
    n_components: int
    map: str
    sampling: str
    form: str
    standardize: str
    linear: str
    penalty: float
    loss: str
    tol: float | None
    max_iter: int
    class_weight: dict[Any, float] | str | None
    probability: bool
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
        penalty: float = 1e-05,
        loss: str = "squared_hinge",
        tol: float | None = None,
        max_iter: int = 1000,
        class_weight: dict[Any, float] | str | None = None,
        probability: bool = False,
        warm_start: bool = False,
        fit_intercept: bool = True,
        random_state: _Random = None,
        device: str = "auto",
        memory: int | None = None,
        verbose: bool | int = False,
        importances: bool = False,
    ) -> None: ...

class KernelElasticNetClassifier(GrowingLabels, Classifier):
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
    l1: float | None
    penalty: float
    tol: float
    max_iter: int
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
        l1: float | None = None,
        penalty: float = 0.0,
        tol: float = 1e-06,
        max_iter: int = 100000,
        class_weight: dict[Any, float] | str | None = None,
        probability: bool = False,
    ) -> None: ...
