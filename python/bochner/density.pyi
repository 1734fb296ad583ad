from collections.abc import Sequence
from typing import Any, Self

from ._learning import RowsLearner
from .kernel_approximation import _Gamma, _Random

class KernelDensity(RowsLearner):
    kernel: str
    gamma: _Gamma
    map: str
    sampling: str
    form: str
    standardize: str
    random_state: _Random
    device: str
    memory: int | None
    verbose: bool | int
    map_components: int
    multiples: Sequence[float] | str | None
    bandwidth_multiple_: float
    noise_deviation_: float
    noise_share_: float
    def __init__(
        self,
        *,
        kernel: str = "gaussian",
        gamma: _Gamma = "scott",
        map: str = "fourier",
        sampling: str = "auto",
        form: str = "paired",
        standardize: str = "auto",
        random_state: _Random = None,
        device: str = "auto",
        memory: int | None = None,
        verbose: bool | int = False,
        map_components: int = 4096,
        multiples: Sequence[float] | str | None = None,
    ) -> None: ...
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self: ...
    def partial_fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self: ...
    def score_samples(self, X: Any, *, output: Any = None) -> Any: ...
    def score(self, X: Any, y: Any = None) -> float: ...
