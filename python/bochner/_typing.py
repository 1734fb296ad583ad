"""Type aliases for signatures, and typed stand-ins for scikit-learn's base classes.

scikit-learn has no types: for type checkers, methods with its decorators and attributes of classes
derived from its own have type Any. Type checkers read the declarations under ``TYPE_CHECKING``; at
run time the same names are imported from scikit-learn, below.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any, TypeVar

    import numpy as np
    from numpy.typing import NDArray
    from typing_extensions import Self, TypeAlias, dataclass_transform

    Gamma: TypeAlias = "float | str | Sequence[float] | NDArray[Any]"
    Random: TypeAlias = "int | np.random.RandomState | None"
    ClassWeight: TypeAlias = "dict[Any, float] | str | None"

    _Decorated = TypeVar("_Decorated", bound=Callable[..., Any])

    def _fit_context(
        *, prefer_skip_nested_validation: bool
    ) -> Callable[[_Decorated], _Decorated]: ...
    def available_if(check: Any) -> Callable[[_Decorated], _Decorated]: ...
    def validate_params(
        parameter_constraints: dict[str, Any], *, prefer_skip_nested_validation: bool
    ) -> Callable[[_Decorated], _Decorated]: ...

    class BaseEstimator:
        n_features_in_: int
        feature_names_in_: NDArray[np.object_]
        def get_params(self, deep: bool = True) -> dict[str, Any]: ...
        def set_params(self, **params: Any) -> Self: ...
        def __sklearn_tags__(self) -> Any: ...

    class ClassifierMixin: ...
    class RegressorMixin: ...
    class MultiOutputMixin: ...
    class DensityMixin: ...

    class ClusterMixin:
        def fit_predict(self, X: Any, y: Any = None, **kwargs: Any) -> NDArray[np.intp]: ...

    class OutlierMixin:
        def fit_predict(self, X: Any, y: Any = None, **kwargs: Any) -> NDArray[np.intp]: ...

    class TransformerMixin:
        def fit_transform(self, X: Any, y: Any = None, **fit_params: Any) -> Any: ...
        def set_output(self, *, transform: str | None = None) -> Self: ...

    class ClassNamePrefixFeaturesOutMixin:
        def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]: ...

else:
    from sklearn.base import (
        BaseEstimator,
        ClassifierMixin,
        ClassNamePrefixFeaturesOutMixin,
        ClusterMixin,
        DensityMixin,
        MultiOutputMixin,
        OutlierMixin,
        RegressorMixin,
        TransformerMixin,
        _fit_context,
    )
    from sklearn.utils._param_validation import validate_params
    from sklearn.utils.metaestimators import available_if

    def dataclass_transform(**_):
        """Stand-in for `typing.dataclass_transform`, which Python before 3.11 does not have."""
        return lambda decorator: decorator


__all__ = [
    "BaseEstimator",
    "ClassNamePrefixFeaturesOutMixin",
    "ClassifierMixin",
    "ClusterMixin",
    "DensityMixin",
    "MultiOutputMixin",
    "OutlierMixin",
    "RegressorMixin",
    "TransformerMixin",
    "_fit_context",
    "available_if",
    "dataclass_transform",
    "validate_params",
]
