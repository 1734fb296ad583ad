from collections.abc import Callable, Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from ._bases import Classifier, Regressor

class _Amounts(Regressor):
    fit_intercept: bool
    device: str
    memory: int | None
    verbose: bool | int
    @property
    def coef_(self) -> NDArray[np.float64]: ...
    @property
    def intercept_(self) -> float | NDArray[np.float64]: ...

class _Labels(Classifier):
    fit_intercept: bool
    class_weight: dict[Any, float] | str | None
    probability: bool
    device: str
    memory: int | None
    verbose: bool | int
    @property
    def coef_(self) -> NDArray[np.float64]: ...
    @property
    def intercept_(self) -> float | NDArray[np.float64]: ...

class Ridge(_Amounts):
    alpha: float
    def __init__(
        self,
        alpha: float = 1.0,
        *,
        fit_intercept: bool = True,
        device: str = "auto",
        memory: int | None = None,
        verbose: bool | int = False,
    ) -> None: ...
    def partial_fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self: ...
    def forget(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self: ...
    def without_rows(self) -> Self: ...
    def merge(self, other: Self) -> Self: ...

class RidgeClassifier(_Labels):
    alpha: float
    def __init__(
        self,
        alpha: float = 1.0,
        *,
        fit_intercept: bool = True,
        class_weight: dict[Any, float] | str | None = None,
        probability: bool = False,
        device: str = "auto",
        memory: int | None = None,
        verbose: bool | int = False,
    ) -> None: ...
    def partial_fit(
        self, X: Any, y: Any = None, classes: Any = None, sample_weight: Any = None
    ) -> Self: ...
    def forget(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self: ...
    def without_rows(self) -> Self: ...
    def merge(self, other: Self) -> Self: ...

class RidgeCV(_Amounts):
    alphas: float | Sequence[float] | NDArray[Any]
    scoring: str | Callable[..., float] | None
    cv: Any
    alpha_: float
    best_score_: float
    def __init__(
        self,
        alphas: float | Sequence[float] | NDArray[Any] = (0.1, 1.0, 10.0),
        *,
        fit_intercept: bool = True,
        scoring: str | Callable[..., float] | None = None,
        cv: Any = None,
        device: str = "auto",
        memory: int | None = None,
        verbose: bool | int = False,
    ) -> None: ...

class RidgeClassifierCV(_Labels):
    alphas: float | Sequence[float] | NDArray[Any]
    scoring: str | Callable[..., float] | None
    cv: Any
    alpha_: float
    best_score_: float
    def __init__(
        self,
        alphas: float | Sequence[float] | NDArray[Any] = (0.1, 1.0, 10.0),
        *,
        fit_intercept: bool = True,
        scoring: str | Callable[..., float] | None = None,
        cv: Any = None,
        class_weight: dict[Any, float] | str | None = None,
        probability: bool = False,
        device: str = "auto",
        memory: int | None = None,
        verbose: bool | int = False,
    ) -> None: ...
