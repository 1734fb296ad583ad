from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from ._learning import _Learner

class Regressor(_Learner):
    feature_importances_: NDArray[np.float64] | None
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self: ...

class Classifier(_Learner):
    classes_: NDArray[Any]
    feature_importances_: NDArray[np.float64] | None
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self: ...
    def decision_function(self, X: Any, *, output: Any = None) -> Any: ...
    def predict_proba(self, X: Any, *, output: Any = None) -> Any: ...
