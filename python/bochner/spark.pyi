from collections.abc import Sequence
from typing import Any, TypeVar

_Estimator = TypeVar("_Estimator")
_Names = str | Sequence[str]

def fit(
    estimator: _Estimator,
    frame: Any,
    y: _Names,
    *,
    sample_weight: str | None = None,
    columns: _Names | None = None,
    depth: int = 2,
) -> _Estimator: ...
def predict(
    estimator: Any, frame: Any, *, columns: _Names | None = None, output: str = "prediction"
) -> Any: ...
def predict_proba(
    estimator: Any, frame: Any, *, columns: _Names | None = None, output: str = "probability"
) -> Any: ...
def transform(
    estimator: Any, frame: Any, *, columns: _Names | None = None, output: str = "features"
) -> Any: ...
