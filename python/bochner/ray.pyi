from collections.abc import Sequence
from typing import Any, TypeVar

_Estimator = TypeVar("_Estimator")
_Names = str | Sequence[str]

def fit(
    estimator: _Estimator,
    dataset: Any,
    y: _Names,
    *,
    sample_weight: str | None = None,
    columns: _Names | None = None,
    remote_args: dict[str, Any] | None = None,
) -> _Estimator: ...
def predict(
    estimator: Any,
    dataset: Any,
    *,
    columns: _Names | None = None,
    output: str = "prediction",
    **options: Any,
) -> Any: ...
def predict_proba(
    estimator: Any,
    dataset: Any,
    *,
    columns: _Names | None = None,
    output: str = "probability",
    **options: Any,
) -> Any: ...
def transform(
    estimator: Any,
    dataset: Any,
    *,
    columns: _Names | None = None,
    output: str = "features",
    **options: Any,
) -> Any: ...
