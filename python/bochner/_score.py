"""Scores for scans, accumulated chunk by chunk."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from sklearn.utils import check_array, column_or_1d

from ._dlpack import host

if TYPE_CHECKING:
    from typing import Any


def r2(estimator: Any, X: Any, y: Any, sample_weight: Any) -> float:
    """Coefficient of determination for a scan, averaged over targets."""
    if y is not None:
        y = check_array(host(y, "y"), ensure_2d=False, dtype=np.float64, input_name="y")
    shift = count = total = squares = residuals = 0.0
    for truth, predicted, weights in _chunks(estimator, X, y, sample_weight):
        truth, predicted = (each.reshape(len(each), -1) for each in (truth, predicted))
        weights = weights[:, None]
        if count == 0.0:
            # A shift close to the mean reduces cancellation.
            shift = truth.mean(axis=0)
        count += weights.sum()
        total += (weights * (truth - shift)).sum(axis=0)
        squares += (weights * (truth - shift) ** 2).sum(axis=0)
        residuals += (weights * (truth - predicted) ** 2).sum(axis=0)
    spread = squares - total**2 / count
    # As in scikit-learn for constant targets.
    flat = np.where(residuals == 0.0, 1.0, 0.0)
    return float(np.where(spread > 0.0, 1.0 - residuals / np.where(spread > 0.0, spread, 1.0), flat).mean())


def accuracy(estimator: Any, X: Any, y: Any, sample_weight: Any) -> float:
    """Accuracy of predictions for a scan."""
    if y is not None:
        y = column_or_1d(host(y, "y"))
    right = count = 0.0
    # Text labels of a file are indices into the classes.
    places = y is None and estimator._current().has_schema and estimator.classes_.dtype.kind in "OSU"
    for truth, predicted, weights in _chunks(estimator, X, y, sample_weight):
        truth = truth.reshape(len(truth), -1)[:, 0]
        if places:
            truth = estimator.classes_[truth.astype(np.intp)]
        right += weights[truth == predicted].sum()
        count += weights.sum()
    return float(right / count)


def _chunks(estimator, X, y, sample_weight):
    """Yield targets (of the file if y is None), predictions and weights of each chunk."""
    X = X._for(estimator)
    if y is None and X.n_targets == 0:
        raise ValueError(
            f"{X!r} has no targets and y is None; give y, or name the targets of the scan"
        )
    if X.n_features != estimator.n_features_in_:
        # Let `predict` raise its error.
        next(iter(estimator.predict(X)))
    weights = None if sample_weight is None else np.asarray(host(sample_weight, "sample_weight"))
    first = 0
    for rows in X.chunks(estimator.memory):
        here = slice(first, first + rows.shape[0])
        first = here.stop
        truth = rows.targets() if y is None else y[here]
        each = rows.weights() if weights is None else weights[here]
        each = np.ones(rows.shape[0]) if each is None else each
        for name, part in (("y", truth), ("sample_weight", each)):
            if len(part) != rows.shape[0]:
                raise ValueError(f"{name} has fewer rows than {X!r}")
        yield truth, estimator.predict(rows), each
    for name, given in (("y", y), ("sample_weight", weights)):
        if given is not None and len(given) != first:
            raise ValueError(f"{name} has {len(given)} rows, and {X!r} has {first}")
    if first == 0:
        raise ValueError(f"{X!r} has no rows to score")
