"""Tests that distributed fits equal a fit to all rows in one process."""

import json
import pickle

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from scipy import sparse
from sklearn.base import clone

from bochner import KernelPCA, KernelRidgeClassifier, KernelRidgeRegressor, distributed

OPTIONS = {"n_components": 64, "gamma": "scale", "random_state": 0, "penalty": 1e-2}


def rows(n=3000, seed=0):
    random = np.random.RandomState(seed)
    X = random.normal(size=(n, 3)) * [1.0, 2.0, 5.0] + [0.0, 4.0, -1.0]
    y = np.sin(X[:, 0]) + 0.3 * X[:, 1] + 0.1 * random.normal(size=n)
    return X, y


def carried(thing):
    """Pickle and unpickle, as between processes."""
    return pickle.loads(pickle.dumps(thing))


def fitted(estimator, parts):
    """Distributed fit to parts (X, y, weights), with pickled messages in one process."""
    begun, first = distributed.begin(estimator), [0] * len(parts)
    if distributed.needs_counts(begun):
        counts = [carried(distributed.count(carried(begun), *part)) for part in parts]
        begun, first = distributed.counted(begun, counts)
    known = [
        carried(distributed.survey(carried(begun), *part, first_row=row))
        for part, row in zip(parts, first)
    ]
    # Merge in another order and grouping.
    known = [distributed.merge(known[1::2]), distributed.merge(known[::2])]
    plan = carried(distributed.plan(begun, distributed.merge(known)))
    sums = [carried(distributed.sums(carried(plan), *part)) for part in parts]
    merged = distributed.merge([distributed.merge(sums[::2]), distributed.merge(sums[1::2])])
    return distributed.adopt(estimator, distributed.finish(plan, merged))


def split(*arrays, at=(700, 701, 701, 2200)):
    return list(zip(*(np.split(array, at) for array in arrays)))


def scale(y):
    return np.abs(y).max()


@pytest.mark.parametrize(
    "options",
    [
        {"gamma": 0.3, "standardize": "no"},
        {"gamma": 0.4, "penalize_intercept": True},
        {"gamma": "scale"},
        {"gamma": "median", "standardize": "yes"},
        {"map": "nystrom", "gamma": "median"},
        {"map": "fastfood", "kernel": "matern52", "n_components": 128},
        {"map": "binning", "kernel": "laplacian", "gamma": 0.1, "fails": "several processes"},
    ],
    ids=lambda options: options.get("map") or str(options.get("gamma")),
)
def test_numbers(options):
    X, y = rows()
    fails = options.pop("fails", None)
    estimator = KernelRidgeRegressor(**{**OPTIONS, **options})
    if fails:
        with pytest.raises(NotImplementedError, match=fails):
            fitted(estimator, split(X, y))
        return
    whole = clone(estimator).fit(X, y)
    assert fitted(estimator, split(X, y)) is estimator
    # Nystrom features are products with an inverse root, whose rounding is amplified.
    rounding = 2e-5 if options.get("map") == "nystrom" else 1e-6
    assert_allclose(estimator.predict(X), whole.predict(X), atol=rounding * scale(y))
    assert estimator.n_features_in_ == 3 and estimator.penalty_ == 1e-2
    # Control: without one part, the result differs.
    fewer = fitted(clone(estimator), split(X, y)[:-1])
    assert np.abs(fewer.predict(X) - whole.predict(X)).max() > 1e-4 * scale(y)


@pytest.mark.parametrize("label", ["text", "bool", "int"])
@pytest.mark.parametrize("class_weight", [None, "balanced"])
def test_labels(label, class_weight):
    X, y = rows()
    kinds = {
        "text": lambda: np.array(["low", "middle", "high"])[np.digitize(y, [-2.0, 3.0])],
        "bool": lambda: y > 3.0,
        "int": lambda: np.digitize(y, [-2.0, 3.0]) * 7,
    }
    labels = kinds[label]()
    # Sorted by label, so that the first part has one class.
    order = np.argsort(labels, kind="stable")
    X, labels = X[order], labels[order]
    estimator = KernelRidgeClassifier(class_weight=class_weight, **OPTIONS)
    whole = clone(estimator).fit(X, labels)
    fitted(estimator, split(X, labels))
    assert estimator.classes_.tolist() == whole.classes_.tolist()
    assert_allclose(estimator.decision_function(X), whole.decision_function(X), atol=2e-6)
    assert estimator.predict(X[:5]).dtype == whole.predict(X[:5]).dtype
    assert estimator.class_weight == class_weight and estimator.random_state == 0


@pytest.mark.parametrize("weighted", [False, True])
def test_a_penalty_is_chosen_as_in_one_process(weighted):
    X, y = rows()
    y = y + 3 * np.random.RandomState(4).normal(size=len(y))
    weights = np.random.RandomState(5).randint(0, 3, len(y)) if weighted else np.ones(len(y))
    options = {"n_components": 200, "gamma": 3.0, "standardize": "no", "random_state": 0}
    whole = KernelRidgeRegressor(**options).fit(X, y, weights)
    estimator = KernelRidgeRegressor(**options)
    fitted(estimator, split(X, y, weights))
    assert estimator.penalty_ == whole.penalty_ > 1e-6
    assert_allclose(estimator.predict(X), whole.predict(X), atol=1e-4 * scale(y))
    # A penalty that is set later replaces the selected one.
    estimator.set_params(penalty=1e-2).partial_fit(X[:9], y[:9])
    assert estimator.penalty_ == 1e-2
    grown = KernelRidgeRegressor(**options).partial_fit(X[:900], y[:900], weights[:900])
    grown.partial_fit(X[900:], y[900:], weights[900:])
    assert grown.penalty_ == whole.penalty_
    # Weights are equivalent to repeated rows.
    often = np.repeat(np.arange(len(y)), weights.astype(int))
    repeated = KernelRidgeRegressor(**options).fit(X[often], y[often])
    assert repeated.penalty_ == whole.penalty_


def test_weights_and_several_targets():
    X, y = rows(6000)
    Y = np.stack([y, 3 - y], axis=1)
    weights = np.random.RandomState(1).randint(0, 4, size=len(X)).astype(float)
    weights[:800] = 0.0
    estimator = KernelRidgeRegressor(**{**OPTIONS, "gamma": "median"})
    whole = clone(estimator).fit(X, Y, sample_weight=weights)
    fitted(estimator, split(X, Y, weights))
    assert_allclose(estimator.predict(X), whole.predict(X), atol=2e-6 * scale(Y))


@pytest.mark.parametrize("map", ["fourier", "nystrom"])
def test_sums_are_those_of_one_process(map):
    X, y = rows()
    begun = distributed.begin(KernelRidgeRegressor(map=map, **OPTIONS))
    plan = distributed.plan(begun, distributed.survey(begun, X, y))
    whole = distributed.sums(plan, X, y)
    parts = distributed.merge([distributed.sums(plan, *part) for part in split(X, y)])
    whole, parts = (numbers(each.triangle) for each in (whole, parts))
    assert 64 * 65 / 2 + 64 <= len(whole)
    assert_allclose(parts, whole, rtol=0, atol=1e-6 * np.abs(whole).max())
    assert np.abs(parts).max() > 100


def numbers(triangle):
    """Arrays of serialised sums (safetensors), without the compensation terms ("rest")."""
    start = 8 + int.from_bytes(triangle[:8], "little")
    arrays = json.loads(triangle[8:start])
    found = []
    for name in sorted(arrays.keys() - {"__metadata__"}):
        if arrays[name]["dtype"] == "F64" and not name.endswith("rest"):
            first, end = (start + offset for offset in arrays[name]["data_offsets"])
            found.append(np.frombuffer(triangle[first:end]))
    return np.concatenate(found)


def test_frames_and_sparse_rows():
    X, y = rows()
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    estimator = KernelRidgeRegressor(**OPTIONS)
    whole = clone(estimator).fit(frame, y)
    parts = [(frame[:1000], y[:1000]), (frame[1000:], y[1000:])]
    fitted(estimator, parts)
    assert estimator.feature_names_in_.tolist() == ["a", "b", "c"]
    assert_allclose(estimator.predict(frame), whole.predict(frame), atol=1e-6 * scale(y))
    with pytest.raises(ValueError, match="differ in their columns"):
        fitted(estimator, [parts[0], (frame[1000:][["a", "c", "b"]], y[1000:])])
    kept = sparse.random(500, 40, 0.2, format="csr", random_state=0)
    target = np.asarray(kept.sum(axis=1)).ravel()
    whole = KernelRidgeRegressor(**OPTIONS).fit(kept, target)
    estimator = fitted(
        KernelRidgeRegressor(**OPTIONS), [(kept[:90], target[:90]), (kept[90:], target[90:])]
    )
    assert_allclose(estimator.predict(kept), whole.predict(kept), atol=2e-6 * scale(target))


def test_it_goes_on_by_partial_fit():
    X, y = rows()
    whole = KernelRidgeRegressor(**OPTIONS).partial_fit(X, y).partial_fit(*rows(400, seed=1))
    estimator = fitted(KernelRidgeRegressor(**OPTIONS), split(X, y))
    estimator.partial_fit(*rows(400, seed=1))
    assert_allclose(estimator.predict(X), whole.predict(X), atol=1e-6 * scale(y))


def test_what_has_no_sums_is_refused():
    for estimator, error in (
        (KernelPCA(), TypeError),
        (KernelRidgeRegressor(penalty="auto"), ValueError),
        (KernelRidgeClassifier(probability=True), ValueError),
        (KernelRidgeRegressor(gamma=-1.0), ValueError),
    ):
        with pytest.raises(error):
            distributed.begin(estimator)
    begun = distributed.begin(KernelRidgeClassifier())
    with pytest.raises(ValueError, match="one class"):
        distributed.plan(begun, distributed.survey(begun, np.eye(3), ["a"] * 3))
    with pytest.raises(ValueError, match="no rows"):
        distributed.plan(begun, distributed.survey(begun, np.empty((0, 3)), []))
    with pytest.raises(ValueError, match="Negative"):
        distributed.survey(begun, np.eye(3), [0, 1, 1], [1.0, -1.0, 1.0])


def test_a_seed_is_drawn_once():
    X, y = rows(600)
    estimator = KernelRidgeRegressor(n_components=64, penalty=1e-3)
    begun = distributed.begin(estimator)
    assert isinstance(begun.random_state, int) and estimator.random_state is None
    assert distributed.begin(estimator).random_state != begun.random_state


def test_damaged_bytes_are_refused():
    X, y = rows(300)
    begun = distributed.begin(KernelRidgeRegressor(**OPTIONS))
    plan = distributed.plan(begun, distributed.survey(begun, X, y))
    sums = distributed.sums(plan, X, y)
    with pytest.raises(ValueError):
        distributed.merge([sums, distributed.Sums(sums.triangle[:-9])])
    other = distributed.begin(KernelRidgeRegressor(**{**OPTIONS, "n_components": 32}))
    other = distributed.plan(other, distributed.survey(other, X, y))
    with pytest.raises(ValueError):
        distributed.merge([sums, distributed.sums(other, X, y)])
