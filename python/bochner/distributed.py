"""Distributed fits: the steps of one fit to samples in several processes, for any engine.

`bochner.dask`, `bochner.ray` and `bochner.spark` run these steps as tasks of their engines. Other
engines can use the same steps::

    begun = distributed.begin(estimator)
    counts = [distributed.count(begun, *rows) for rows in everywhere]        # on the workers
    begun, first = distributed.counted(begun, counts)
    parts = [distributed.survey(begun, *rows, first_row=row) for ...]        # on the workers
    plan = distributed.plan(begun, distributed.merge(parts))
    sums = [distributed.sums(plan, *rows) for rows in everywhere]            # on the workers
    distributed.adopt(estimator, distributed.finish(plan, distributed.merge(sums)))

The pass that counts is only needed if `needs_counts`. Messages are small and can be pickled: a
survey has means, variances and a subset of the samples, and sums are a triangular matrix of
n_components columns. Parts and sums can be merged in any grouping. The parameters of the features
are not sent: each worker draws them from the seed. Each worker computes on its own device.
"""

from __future__ import annotations

from collections import OrderedDict
from numbers import Integral
from typing import TYPE_CHECKING

import numpy as np
from sklearn.base import clone
from sklearn.utils import _safe_indexing, check_random_state, column_or_1d
from sklearn.utils.multiclass import check_classification_targets

from . import _native
from ._arrays import FLOATS, seed_of, table
from ._bases import Classifier
from ._dlpack import validated
from ._labels import numbers_of
from ._learning import weights_of
from ._partial import PartialRidge
from ._travelling import Count, Part, Plan, Sums, merge

if TYPE_CHECKING:
    from typing import Any, TypeVar

    _Estimator = TypeVar("_Estimator")

__all__ = [
    "Count",
    "Part",
    "Plan",
    "Sums",
    "adopt",
    "begin",
    "count",
    "counted",
    "finish",
    "len_of",
    "merge",
    "needs_counts",
    "plan",
    "rows_that_count",
    "sums",
    "survey",
]


def begin(estimator: _Estimator) -> _Estimator:
    """Copy an estimator for a distributed fit, with a fixed seed.

    Parameters
    ----------
    estimator : KernelRidgeRegressor or KernelRidgeClassifier
        ``penalty`` must be a number or None, as for `partial_fit`.

    Returns
    -------
    estimator : object
        The copy, not fitted.
    """
    if not isinstance(estimator, PartialRidge):
        raise TypeError(
            f"a fit in several processes needs sums that merge, which {type(estimator).__name__} has "
            "not; take KernelRidgeRegressor or KernelRidgeClassifier"
        )
    estimator._validate_params()
    estimator._require_sums_alone("a fit in several processes")
    begun = clone(estimator)
    if not isinstance(begun.random_state, Integral):
        begun.random_state = seed_of(check_random_state(begun.random_state))
    return begun


def needs_counts(estimator: Any) -> bool:
    """Whether the fit needs a pass that counts samples, before the survey.

    Parameters
    ----------
    estimator : object
        From `begin`.

    Returns
    -------
    bool
        True with ``gamma='median'`` and with maps that are drawn from samples, which are selected
        by their indices, and with ``class_weight='balanced'``.
    """
    balanced = isinstance(getattr(estimator, "class_weight", None), str)
    return balanced or _native.SurveyPart.sampled_rows(estimator._options(_Facts())) > 0


def count(estimator: Any, X: Any, y: Any, sample_weight: Any = None) -> Count:
    """Count samples, and the class weights of a classifier.

    Parameters
    ----------
    estimator : object
        From `begin`.

    X, y, sample_weight
        Samples of one part, as in `survey`.

    Returns
    -------
    count : Count
    """
    X, y, weights = _that_count(X, y, sample_weight)
    return Count(
        rows_that_count(X), _labels(y, weights) if isinstance(estimator, Classifier) else {}
    )


def counted(estimator: _Estimator, counts: list[Count]) -> tuple[_Estimator, list[int]]:
    """Resolve ``class_weight='balanced'``, and number the samples.

    Parameters
    ----------
    estimator : object
        From `begin`.

    counts : list of Count
        Counts of all parts, in the order of their samples.

    Returns
    -------
    estimator : object
        The estimator for `survey`.

    first_rows : list of int
        Index of the first sample of each part.
    """
    first = np.cumsum([0, *(count.rows for count in counts)], dtype=np.int64)[:-1].tolist()
    if isinstance(getattr(estimator, "class_weight", None), str):
        estimator, labels = clone(estimator), merge(counts).labels
        total = sum(labels.values())
        estimator.class_weight = {
            label: total / (len(labels) * weight) for label, weight in labels.items()
        }
    return estimator, first


def survey(
    estimator: Any, X: Any, y: Any, sample_weight: Any = None, *, first_row: int = 0
) -> Part | None:
    """Compute the statistics of samples that are needed before features are drawn.

    Parameters
    ----------
    estimator : object
        From `begin`, or from `counted`.

    X : {array-like, sparse matrix} of shape (n_samples, n_features)
        Samples of one part.

    y : array-like of shape (n_samples,) or (n_samples, n_targets)
        Target values.

    sample_weight : array-like of shape (n_samples,), default=None
        Sample weights; None for equal weights.

    first_row : int, default=0
        Index of the part's first sample among all samples, from `counted`. Not used if
        `needs_counts` is False.

    Returns
    -------
    part : Part or None
        None if there are no samples.
    """
    X, y, sample_weight = _that_count(X, y, sample_weight)
    if len_of(X) == 0:
        return None
    estimator, labels = clone(estimator), None
    if isinstance(estimator, Classifier):
        X, y = validated(estimator, X, y, accept_sparse="csr", dtype=FLOATS)
        y = column_or_1d(y)
        check_classification_targets(y)
        estimator.classes_, codes = np.unique(y, return_inverse=True)
        labels = set(estimator.classes_.tolist())
        weights = None if sample_weight is None else weights_of(sample_weight, X)
        weights = estimator._weights_of_labels(codes, weights)
        y, one_target = np.empty((X.shape[0], 0)), True
    else:
        X, y, weights = estimator._validated(X, y, sample_weight)
        one_target = estimator._one_target
    native = _native.SurveyPart.from_rows(
        table(X), np.ascontiguousarray(y), weights, first_row, estimator._options(_Facts())
    )
    names = getattr(estimator, "feature_names_in_", None)
    return Part(native, X.shape[1], None if names is None else names.tolist(), labels, one_target)


def plan(estimator: Any, part: Part | None) -> Plan:
    """Fix classes, scales and options of the fit.

    Parameters
    ----------
    estimator : object
        From `begin`, or from `counted`.

    part : Part
        Merged parts of all samples.

    Returns
    -------
    plan : Plan
        Input of `sums`.
    """
    if part is None:
        raise ValueError("there are no rows to fit, or all have sample_weight 0")
    fitted, labels = clone(estimator), {}
    if part.labels is not None:
        fitted.classes_, labels = _classes(fitted, part.labels)
    fitted._one_target = part._one_target
    fitted.n_features_in_ = part.n_features
    if part.names is not None:
        fitted.feature_names_in_ = np.array(part.names, dtype=object)
    rows, varies = part._survey.facts()
    options = estimator._options(_Facts(rows, varies))
    return Plan(fitted, part._survey, options, labels)


def sums(plan: Plan, X: Any, y: Any, sample_weight: Any = None) -> Sums | None:
    """Sum the normal equations of samples, on the device of this process.

    Parameters
    ----------
    plan : Plan
        From `plan`.

    X, y, sample_weight
        Samples of one part, as in `survey`.

    Returns
    -------
    sums : Sums or None
        None if there are no samples.
    """
    X, y, sample_weight = _that_count(X, y, sample_weight)
    if len_of(X) == 0:
        return None
    estimator = plan.estimator
    if isinstance(estimator, Classifier):
        X, y, weights = estimator._rows_of_labels(X, y, sample_weight, reset=False)
    else:
        X, y, weights = estimator._validated(X, y, sample_weight, reset=False)
    state = _state(plan).empty()
    state.add(estimator._learner, table(X), y, weights, plan._options)
    return Sums(state.sums())


def finish(plan: Plan, sums: Sums) -> Any:
    """Fit the estimator to the sums.

    Parameters
    ----------
    plan : Plan
        From `plan`.

    sums : Sums
        Merged sums of all samples.

    Returns
    -------
    estimator : object
        The fitted estimator; `partial_fit` can add samples.
    """
    fitted = clone(plan.estimator)
    fitted.__dict__.update(plan.estimator.__dict__)
    state = _state(plan).empty()
    state.add_sums(sums.triangle)
    fitted._state = state, plan._options
    fitted._has_more_rows()
    return fitted


def adopt(estimator: _Estimator, fitted: Any) -> _Estimator:
    """Copy the fitted attributes to the original estimator, and return it.

    Parameters
    ----------
    estimator : object
        The estimator that was passed to `begin`.

    fitted : object
        From `finish`.

    Returns
    -------
    estimator : object
    """
    parameters = estimator.get_params(deep=False)
    for name in [name for name in vars(estimator) if name not in parameters]:
        delattr(estimator, name)
    learned = {name: of for name, of in vars(fitted).items() if name not in parameters}
    vars(estimator).update(learned)
    return estimator


def len_of(X: Any) -> int:
    """Number of rows of an array, a table or a sparse matrix."""
    return X.shape[0] if hasattr(X, "shape") else len(X)


def rows_that_count(X: Any, sample_weight: Any = None) -> int:
    """Number of samples with nonzero weight."""
    return len_of(X) if sample_weight is None else int(np.count_nonzero(sample_weight))


def _that_count(X, y, sample_weight):
    """Drop samples of weight 0, as a fit in one process does."""
    if sample_weight is None:
        return X, y, None
    weights = np.asarray(sample_weight, dtype=np.float64)
    if (weights < 0).any():
        raise ValueError("Negative values in sample_weight")
    kept = np.flatnonzero(weights != 0)
    if len(kept) == len(weights):
        return X, y, weights
    return _safe_indexing(X, kept), _safe_indexing(y, kept), weights[kept]


class _Facts:
    """Placeholder for X with the number of samples, and whether they vary."""

    def __init__(self, n_samples=None, varies=True):
        self.n_samples, self.varies = n_samples, varies


def _labels(y, weights):
    """Total sample weight of each label."""
    labels, codes = np.unique(column_or_1d(y), return_inverse=True)
    return dict(zip(labels.tolist(), np.bincount(codes, weights=weights).tolist()))


def _classes(estimator, labels):
    """The sorted classes, and the native options that encode them."""
    classes = np.array(sorted(labels))
    if len(classes) < 2:
        raise ValueError(
            f"{type(estimator).__name__} needs at least 2 classes, and the data has one class"
        )
    numbers, names = numbers_of(classes)
    return classes, {"classes": numbers.tolist(), "names": names}


#: Cache of empty states, for the last two plans of this process.
_STATES = OrderedDict()


def _state(plan):
    """The empty state of a plan; its features are drawn once per process."""
    state = _STATES.pop(plan._token, None)
    if state is None:
        learner, survey = plan.estimator._learner, plan._survey
        state = _native.GrowingState.of_survey(learner, survey, plan._options, **plan._labels)
        while len(_STATES) >= 2:
            _STATES.popitem(last=False)
    _STATES[plan._token] = state
    return state


