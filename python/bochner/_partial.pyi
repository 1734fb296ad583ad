from typing import Any, Self

class GrowingNumbers:
    def partial_fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self: ...

class GrowingLabels:
    def partial_fit(
        self, X: Any, y: Any = None, classes: Any = None, sample_weight: Any = None
    ) -> Self: ...
