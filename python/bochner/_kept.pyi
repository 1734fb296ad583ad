from typing import Any, Self

class KeepingNumbers:
    def partial_fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self: ...

class KeepingLabels:
    def partial_fit(
        self, X: Any, y: Any = None, classes: Any = None, sample_weight: Any = None
    ) -> Self: ...

class KeepingRows:
    def partial_fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self: ...
