from os import PathLike
from typing import Any, Self

from numpy.typing import NDArray

from .kernel_approximation import _Estimator

class _Learner(_Estimator):
    n_iter_: int
    def predict(self, X: Any) -> NDArray[Any]: ...
    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float: ...
    def save(self, path: str | PathLike[str]) -> None: ...
    @classmethod
    def load(cls, path: str | PathLike[str], **parameters: Any) -> Self: ...

class RowsLearner(_Estimator):
    n_iter_: int
    def save(self, path: str | PathLike[str]) -> None: ...
    @classmethod
    def load(cls, path: str | PathLike[str], **parameters: Any) -> Self: ...
