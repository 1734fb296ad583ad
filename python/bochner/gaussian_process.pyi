from typing import Any, Self

from ._bases import Regressor
from .kernel_approximation import _Random

class GaussianProcessRegressor(Regressor):
    kernel: str
    gamma: float | str
    n_components: int
    map: str
    sampling: str
    form: str
    standardize: str
    noise_variance: float | None
    signal_variance: float | None
    fit_intercept: bool
    random_state: _Random
    device: str
    memory: int | None
    verbose: bool | int
    noise_deviation_: float
    signal_deviation_: float
    log_marginal_likelihood_: float
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
        noise_variance: float | None = None,
        signal_variance: float | None = None,
        fit_intercept: bool = True,
        random_state: _Random = None,
        device: str = "auto",
        memory: int | None = None,
        verbose: bool | int = False,
    ) -> None: ...
    def fit(self, X: Any, y: Any = None) -> Self: ...  # type: ignore[override]
    def predict(self, X: Any, return_std: bool = False, *, output: Any = None) -> Any: ...
