"""Tests of `partial_fit` of estimators that store samples: parts equal one fit to all."""

import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse
from sklearn.base import clone

import bochner
from bochner import (
    AutoClassifier,
    AutoRegressor,
    ExactKernelRidgeClassifier,
    ExactKernelRidgeRegressor,
    FalkonClassifier,
    FalkonRegressor,
    KernelICA,
    KernelLogisticRegression,
    KernelSVC,
    KernelSVR,
    OneClassSVM,
)

MAP = {"n_components": 60, "random_state": 0}
KEEPING = [
    AutoRegressor(budget=2, **MAP),
    AutoClassifier(budget=2, **MAP),
    ExactKernelRidgeRegressor(penalty=1e-4),
    ExactKernelRidgeClassifier(penalty=1e-4, probability=True),
    FalkonRegressor(**MAP),
    FalkonClassifier(**MAP),
    KernelICA(map_components=60, random_state=0),
    KernelLogisticRegression(penalty=1e-4, **MAP),
    KernelLogisticRegression(penalty=1e-4, laplace=True, **MAP),
    KernelSVC(penalty=1e-3, **MAP),
    KernelSVC(penalty=1e-3, loss="hinge", **MAP),
    KernelSVR(penalty=1e-4, **MAP),
    KernelSVR(penalty=1e-4, loss="quantile", quantile=0.8, importances=True, **MAP),
    OneClassSVM(map_components=60, nu=0.2, random_state=0),
]


@pytest.fixture
def rows():
    random = np.random.RandomState(0)
    X = random.uniform(0, 5, size=(600, 2))
    y = np.sin(2 * X[:, 0]) * X[:, 1] + 0.1 * random.normal(size=600)
    return X, y


def says(model, X):
    for way in ("predict_proba", "decision_function", "transform", "predict"):
        if hasattr(model, way):
            return getattr(model, way)(X)


def targets(model, y):
    """Targets for a model, and additional arguments of its first `partial_fit`."""
    if "class_weight" in model.get_params():
        labels = np.where(y > 1, "high", np.where(y > -1, "mid", "low"))
        return labels, {"classes": np.unique(labels)}
    return y, {}


@pytest.mark.parametrize("model", KEEPING, ids=lambda model: type(model).__name__)
def test_parts_give_what_all_rows_give(model, rows, tmp_path):
    X, y = rows
    y, first = targets(model, y)
    whole = clone(model).fit(X, y)
    expected = says(whole, X)
    parts = clone(model).partial_fit(X[:100], y[:100], **first)
    parts.partial_fit(X[100:250], y[100:250]).partial_fit(X[250:], y[250:])
    assert (says(parts, X) == expected).all()
    # Control: without one part, the result differs. Then add it after a prediction and a pickle.
    fewer = clone(model).partial_fit(X[:400], y[:400], **first)
    assert abs(says(fewer, X) - expected).max() > 1e-3 * abs(expected).max()
    fewer = pickle.loads(pickle.dumps(fewer)).partial_fit(X[400:], y[400:])
    # Reading a fitted attribute triggers the fit.
    for name in [name for name in vars(whole) if name.endswith("_") and not name.startswith("_")]:
        ours, theirs = getattr(fewer, name), getattr(whole, name)
        if isinstance(theirs, np.ndarray) or np.isscalar(theirs):
            assert np.array_equal(ours, theirs), name
    assert (says(fewer, X) == expected).all()
    fewer.save(tmp_path / "kept.model")
    again = type(model).load(tmp_path / "kept.model")
    if isinstance(model, KernelICA):
        assert (again.transform(X) == expected).all()
    else:
        assert (again.predict(X) == fewer.predict(X)).all()
    with pytest.raises(ValueError, match="features"):
        fewer.partial_fit(X[:, :1], y)
    with pytest.warns(UserWarning, match="fit kept no rows to add to.*begins anew"):
        anew = clone(model).fit(X[:200], y[:200]).partial_fit(X, y, **first)
    assert (says(anew, X) == expected).all()


def test_rows_are_copies(rows):
    X, y = rows
    expected = KernelSVR(**MAP).fit(X, y).predict(X)
    block, model = np.empty((200, 2)), KernelSVR(**MAP)
    for start in range(0, 600, 200):
        block[:] = X[start : start + 200]
        model.partial_fit(block, y[start : start + 200])
    block[:] = 7.0
    assert (model.predict(X) == expected).all()


def test_weights_of_kept_rows(rows):
    X, y = rows
    labels = y > 0
    w = np.random.RandomState(1).randint(0, 3, size=600).astype(float)
    for kind, of in ((KernelSVC, labels), (KernelSVR, y), (OneClassSVM, y)):
        model = kind(gamma="scale", random_state=0)
        first = {"classes": [False, True]} if kind is KernelSVC else {}
        expected = says(clone(model).fit(X, of, sample_weight=w), X)
        parts = clone(model).partial_fit(X[:300], of[:300], sample_weight=w[:300], **first)
        parts.partial_fit(X[300:], of[300:], sample_weight=w[300:])
        assert (says(parts, X) == expected).all()
        # Samples without weights have weight 1.
        mixed = np.concatenate([np.ones(300), w[300:]])
        expected = says(clone(model).fit(X, of, sample_weight=mixed), X)
        parts = clone(model).partial_fit(X[:300], of[:300], **first)
        parts.partial_fit(X[300:], of[300:], sample_weight=w[300:])
        assert (says(parts, X) == expected).all()
    # Class weights are computed from all samples.
    for weight in ("balanced", {True: 3.0}):
        model = KernelLogisticRegression(class_weight=weight, **MAP)
        expected = says(clone(model).fit(X, labels), X)
        parts = clone(model).partial_fit(X[:50], labels[:50], classes=[False, True])
        assert (says(parts.partial_fit(X[50:], labels[50:]), X) == expected).all()
        plain = KernelLogisticRegression(**MAP).fit(X, labels)
        assert abs(says(plain, X) - expected).max() > 0.01
    with pytest.raises(TypeError, match="KernelICA takes no sample_weight"):
        KernelICA().partial_fit(X, sample_weight=w)


def test_sparse_and_single_rows_come_together(rows):
    X, y = rows
    X = X * (X > 2)
    expected = KernelSVR(**MAP).fit(X, y).predict(X)
    model = KernelSVR(**MAP).partial_fit(sparse.csr_matrix(X[:200]), y[:200])
    model.partial_fit(X[200:201], y[200:201]).partial_fit(X[201:].astype(np.float64), y[201:])
    assert_allclose(model.predict(X), expected, atol=1e-6)


def test_every_class_has_rows_first(rows):
    X, y = rows
    labels = np.where(y > 0, "up", "down")
    model = KernelLogisticRegression(**MAP)
    up = labels == "up"
    model.partial_fit(X[up], labels[up], classes=["down", "up"])
    with pytest.raises(ValueError, match="the class 'down' has no rows yet"):
        model.predict(X)
    # Samples of weight 0 do not count.
    some = np.r_[np.flatnonzero(~up)[:3], np.flatnonzero(up)[0]]
    model.partial_fit(X[some], labels[some], sample_weight=[0, 0, 0, 1])
    with pytest.raises(ValueError, match="the class 'down' has no rows yet"):
        model.n_iter_
    model.partial_fit(X[~up], labels[~up])
    weights = np.r_[np.ones(600), 1.0]
    whole = KernelLogisticRegression(**MAP)
    whole.fit(np.r_[X, X[some[-1:]]], np.r_[labels, labels[some[-1:]]], sample_weight=weights)
    assert_allclose(model.predict_proba(X), whole.predict_proba(X), atol=1e-9)
    with pytest.raises(ValueError, match="'left', which is none of the classes"):
        model.partial_fit(X[:1], ["left"])


def test_a_fit_goes_on_from_the_model_before(rows):
    X, y = rows
    labels = y > 0
    options = {"penalty": 1e-5, "gamma": 0.7, "standardize": "no", **MAP}
    warm = KernelLogisticRegression(warm_start=True, tol=1e-8, **options)
    warm.partial_fit(X[:595], labels[:595], classes=[False, True]).predict(X)
    before = warm.n_iter_
    warm.partial_fit(X[595:], labels[595:])
    cold = KernelLogisticRegression(tol=1e-8, **options).fit(X, labels)
    assert warm.n_iter_ < min(before, cold.n_iter_)
    assert_allclose(warm.predict_proba(X), cold.predict_proba(X), atol=1e-4)


def test_scans_are_read(rows, tmp_path):
    X, y = rows
    np.savetxt(tmp_path / "rows.csv", np.c_[X, y, np.arange(600) % 3], "%.17g", ",", header="a,b,y,w", comments="")
    scan = bochner.scan(tmp_path / "rows.csv", target="y", weight="w")
    weights = np.arange(600) % 3.0
    twice = (np.r_[X, X[:50]], np.r_[y, y[:50]], np.r_[weights, np.ones(50)])
    model = KernelSVR(**MAP).partial_fit(scan)
    del model.feature_names_in_
    model.partial_fit(X[:50], y[:50])
    expected = KernelSVR(**MAP).fit(*twice).predict(X)
    assert_allclose(model.predict(X), expected, atol=1e-5)
    own = KernelSVR(**MAP).partial_fit(scan, -y, sample_weight=np.ones(600)).predict(X)
    assert_allclose(own, KernelSVR(**MAP).fit(X, -y).predict(X), atol=1e-5)
    with pytest.raises(ValueError, match="y has 3 rows"):
        KernelSVR(**MAP).partial_fit(scan, y[:3])
