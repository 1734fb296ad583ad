from typing import Any, NamedTuple

from .kernel_approximation import _Random

class TestResult(NamedTuple):
    statistic: float
    pvalue: float
    estimate: float

def mmd_test(
    X: Any,
    Y: Any,
    *,
    kernel: str = "gaussian",
    gamma: float | str = "median",
    n_components: int = 1000,
    map: str = "fourier",
    sampling: str = "monte-carlo",
    permutations: int = 500,
    random_state: _Random = None,
    device: str = "auto",
    memory: int | None = None,
) -> TestResult: ...
def hsic_test(
    X: Any,
    Y: Any,
    *,
    kernel: str = "gaussian",
    gamma: float | str = "median",
    n_components: int = 100,
    map: str = "fourier",
    sampling: str = "monte-carlo",
    permutations: int = 0,
    random_state: _Random = None,
    device: str = "auto",
    memory: int | None = None,
) -> TestResult: ...
def rcot_test(
    X: Any,
    Y: Any,
    Z: Any,
    *,
    kernel: str = "gaussian",
    gamma: float | str = "median",
    n_components: int = 100,
    map: str = "fourier",
    sampling: str = "monte-carlo",
    n_outer: int = 5,
    variant: str = "rcot",
    random_state: _Random = None,
    device: str = "auto",
    memory: int | None = None,
) -> TestResult: ...
