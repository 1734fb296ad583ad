from collections.abc import Sequence
from typing import Any, Self

from ._bases import Classifier, Regressor
from .kernel_approximation import _Gamma, _Random

class KernelRidgeRegressor(Regressor):
    kernel: str
    gamma: _Gamma
    n_components: int
    map: str
    sampling: str
    form: str
    standardize: str
    linear: str
    penalty: float | Sequence[float] | str | None
    folds: int | None
    solver: str
    target_scale: str
    fit_intercept: bool
    penalize_intercept: bool
    random_state: _Random
    device: str
    memory: int | None
    verbose: bool | int
    importances: bool
    penalty_: float
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
        penalty: float | Sequence[float] | str | None = None,
        folds: int | None = None,
        solver: str = "auto",
        target_scale: str = "auto",
        fit_intercept: bool = True,
        penalize_intercept: bool = False,
        random_state: _Random = None,
        device: str = "auto",
        memory: int | None = None,
        verbose: bool | int = False,
        importances: bool = False,
    ) -> None: ...
    def partial_fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self: ...
    def forget(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self: ...
    def without_rows(self) -> Self: ...
    def merge(self, other: Self) -> Self: ...

class KernelRidgeClassifier(Classifier):
    kernel: str
    gamma: _Gamma
    n_components: int
    map: str
    sampling: str
    form: str
    standardize: str
    linear: str
    penalty: float | Sequence[float] | str | None
    folds: int | None
    solver: str
    class_weight: dict[Any, float] | str | None
    probability: bool
    fit_intercept: bool
    penalize_intercept: bool
    random_state: _Random
    device: str
    memory: int | None
    verbose: bool | int
    importances: bool
    penalty_: float
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
        penalty: float | Sequence[float] | str | None = None,
        folds: int | None = None,
        solver: str = "auto",
        class_weight: dict[Any, float] | str | None = None,
        probability: bool = False,
        fit_intercept: bool = True,
        penalize_intercept: bool = False,
        random_state: _Random = None,
        device: str = "auto",
        memory: int | None = None,
        verbose: bool | int = False,
        importances: bool = False,
    ) -> None: ...
    def partial_fit(
        self, X: Any, y: Any = None, classes: Any = None, sample_weight: Any = None
    ) -> Self: ...
    def forget(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self: ...
    def without_rows(self) -> Self: ...
    def merge(self, other: Self) -> Self: ...
