from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from ._learning import _Learner
from .kernel_approximation import _Random

class _Classifier(_Learner):
    classes_: NDArray[Any]
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self: ...
    def decision_function(self, X: Any) -> NDArray[np.float64]: ...
    def predict_proba(self, X: Any) -> NDArray[np.float64]: ...

class KernelRidgeClassifier(_Classifier):
    kernel: str
    gamma: float | str
    n_components: int
    map: str
    sampling: str
    form: str
    standardize: str
    penalty: float | Sequence[float] | str
    folds: int | None
    solver: str
    class_weight: dict[Any, float] | str | None
    probability: bool
    fit_intercept: bool
    random_state: _Random
    device: str
    memory: int | None
    penalty_: float
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
        penalty: float | Sequence[float] | str = 1e-06,
        folds: int | None = None,
        solver: str = "auto",
        class_weight: dict[Any, float] | str | None = None,
        probability: bool = False,
        fit_intercept: bool = True,
        random_state: _Random = None,
        device: str = "auto",
        memory: int | None = None,
    ) -> None: ...

class KernelLogisticRegression(_Classifier):
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
    ) -> None: ...

class KernelSVC(_Classifier):
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
    ) -> None: ...
