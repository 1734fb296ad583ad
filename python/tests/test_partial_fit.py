"""Tests of `partial_fit` of estimators with sums: parts equal one fit to all."""

import pickle
import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import load_digits

import bochner
from bochner import (
    BoostingClassifier,
    BoostingRegressor,
    GaussianProcessRegressor,
    GreedyClassifier,
    GreedyRegressor,
    KernelDensity,
    KernelElasticNet,
    KernelElasticNetClassifier,
    KernelPCA,
    KernelRidgeClassifier,
    KernelRidgeRegressor,
    Nystroem,
    RBFSampler,
)

OPTIONS = {"n_components": 120, "gamma": 0.7, "standardize": "no", "random_state": 0, "penalty": 1e-4}


@pytest.fixture
def wave():
    random = np.random.RandomState(0)
    X = random.uniform(0, 5, size=(900, 2))
    y = np.sin(2 * X[:, 0]) * X[:, 1] + 0.1 * random.normal(size=900)
    return X, y


def in_parts(model, X, y, parts=4, **first):
    for rows in np.array_split(np.arange(len(X)), parts):
        model.partial_fit(X[rows], y[rows], **first)
        first = {}
    return model


def test_parts_give_what_all_rows_give(wave):
    X, y = wave
    whole = KernelRidgeRegressor(**OPTIONS).fit(X, y)
    parts = in_parts(KernelRidgeRegressor(**OPTIONS), X, y)
    assert_allclose(parts.predict(X), whole.predict(X), atol=2e-4)
    assert parts.penalty_ == 1e-4
    # Control: without one part, the result differs.
    fewer = in_parts(KernelRidgeRegressor(**OPTIONS), X[:600], y[:600])
    assert abs(fewer.predict(X) - whole.predict(X)).max() > 2e-3


def test_a_model_after_every_part(wave):
    X, y = wave
    model = KernelRidgeRegressor(**OPTIONS)
    for rows in (slice(0, 300), slice(300, 900)):
        model.partial_fit(X[rows], y[rows])
        expected = KernelRidgeRegressor(**OPTIONS).fit(X[: rows.stop], y[: rows.stop])
        assert_allclose(model.predict(X), expected.predict(X), atol=2e-4)


def test_weights_and_several_targets(wave):
    X, y = wave
    Y = np.stack([y, 3 - y], axis=1)
    weights = np.random.RandomState(1).randint(0, 4, size=900).astype(float)
    whole = KernelRidgeRegressor(**OPTIONS).fit(X, Y, sample_weight=weights)
    parts = KernelRidgeRegressor(**OPTIONS)
    parts.partial_fit(X[:500], Y[:500], sample_weight=weights[:500])
    parts.partial_fit(X[500:], Y[500:], weights[500:])
    assert parts.predict(X).shape == (900, 2)
    assert_allclose(parts.predict(X), whole.predict(X), atol=5e-4)
    plain = KernelRidgeRegressor(**OPTIONS).fit(X, Y)
    assert abs(plain.predict(X) - whole.predict(X)).max() > 5e-3


def test_forget(wave):
    X, y = wave
    model = in_parts(KernelRidgeRegressor(**OPTIONS), X, y)
    # After removal, the first part only affects the map.
    model.forget(X[:225], y[:225])
    rest = KernelRidgeRegressor(**OPTIONS).fit(X[225:], y[225:])
    assert_allclose(model.predict(X), rest.predict(X), atol=2e-4)
    with pytest.raises(ValueError, match="to forget"):
        model.forget(X, y)


@pytest.mark.parametrize("labels", ["text", "number"])
def test_classifier(labels):
    X, y = load_digits(return_X_y=True)
    X = X / 16.0
    if labels == "text":
        y = np.array("zero one two three four five six seven eight nine".split())[y]
    options = {**OPTIONS, "gamma": 0.03, "n_components": 300}
    whole = KernelRidgeClassifier(**options).fit(X[:1200], y[:1200])
    parts = KernelRidgeClassifier(**options)
    # The first part does not have all labels.
    parts.partial_fit(X[:5], y[:5], classes=np.unique(y))
    parts.partial_fit(X[5:1200], y[5:1200])
    assert (parts.classes_ == whole.classes_).all()
    assert (parts.predict(X) == whole.predict(X)).mean() > 0.995
    assert parts.score(X[1200:], y[1200:]) > 0.9
    parts.forget(X[:5], y[:5])
    assert parts.score(X[1200:], y[1200:]) > 0.9
    with pytest.raises(ValueError, match="none of the classes"):
        parts.partial_fit(X[:1], np.array(["no digit"]) if labels == "text" else [77])


def test_class_weights_of_parts():
    random = np.random.RandomState(0)
    X = random.normal(size=(1000, 2)) + 1.5 * (np.arange(1000) % 10 == 0)[:, None]
    y = (np.arange(1000) % 10 == 0).astype(int)
    fair = KernelRidgeClassifier(**{**OPTIONS, "class_weight": {1: 9.0}})
    parts = in_parts(clone(fair), X, y, classes=[0, 1])
    assert (parts.predict(X) == fair.fit(X, y).predict(X)).mean() > 0.995
    plain = in_parts(KernelRidgeClassifier(**OPTIONS), X, y, classes=[0, 1])
    assert parts.predict(X).mean() > 2 * plain.predict(X).mean()


def test_sums_are_pickled_and_merged(wave):
    X, y = wave
    first = KernelRidgeRegressor(**OPTIONS).partial_fit(X[:300], y[:300])
    elsewhere = pickle.loads(pickle.dumps(first.without_rows()))
    elsewhere.partial_fit(X[300:], y[300:])
    first.merge(pickle.loads(pickle.dumps(elsewhere)))
    whole = KernelRidgeRegressor(**OPTIONS).fit(X, y)
    assert_allclose(first.predict(X), whole.predict(X), atol=2e-4)
    again = pickle.loads(pickle.dumps(first))
    assert (again.predict(X) == first.predict(X)).all()
    assert again.partial_fit(X, y).predict(X).shape == (900,)


def test_what_sums_cannot_do(wave):
    X, y = wave
    for options in ({"penalty": "auto"}, {"penalty": [1e-3, 1e-2]}, {"solver": "cg"}):
        with pytest.raises(ValueError, match="all rows at once"):
            KernelRidgeRegressor(**{**OPTIONS, **options}).partial_fit(X, y)
    fitted = KernelRidgeRegressor(**OPTIONS).fit(X, y)
    with pytest.raises(ValueError, match="keeps no sums"):
        fitted.forget(X, y)
    with pytest.warns(UserWarning, match="begins anew"):
        anew = clone(fitted).fit(X, -y).partial_fit(X, y)
    assert_allclose(anew.predict(X), fitted.predict(X), atol=2e-4)
    labels = y > 0
    with pytest.raises(ValueError, match="classes must be passed"):
        KernelRidgeClassifier(**OPTIONS).partial_fit(X, labels)
    with pytest.raises(ValueError, match="balanced"):
        KernelRidgeClassifier(**OPTIONS, class_weight="balanced").partial_fit(
            X, labels, classes=[False, True]
        )
    # `fit` discards samples of `partial_fit`.
    model = KernelRidgeRegressor(**OPTIONS).partial_fit(X[:100], -y[:100]).fit(X, y)
    assert_allclose(model.predict(X), fitted.predict(X))


@pytest.mark.parametrize("kind", [RBFSampler, Nystroem])
def test_maps_are_those_of_the_first_rows(wave, kind):
    X, _ = wave
    model = kind(n_components=20, random_state=0).partial_fit(X[:300])
    expected = kind(n_components=20, random_state=0).fit(X[:300]).transform(X)
    assert (model.partial_fit(X[300:]).transform(X) == expected).all()
    with pytest.raises(ValueError, match="features"):
        model.partial_fit(X[:, :1])


GROWING = [
    KernelElasticNet(n_components=60, l1=1e-3, random_state=0),
    KernelElasticNetClassifier(n_components=60, l1=1e-3, random_state=0),
    GaussianProcessRegressor(n_components=60, random_state=0),
    GaussianProcessRegressor(n_components=60, weights="precisions", random_state=0),
    GreedyRegressor(n_components=60, steps=20, random_state=0),
    GreedyRegressor(n_components=60, steps=20, held_out=0.3, random_state=0),
    GreedyClassifier(n_components=60, steps=20, random_state=0),
    BoostingRegressor(n_components=60, block=10, stages=50, random_state=0),
    BoostingClassifier(n_components=60, block=10, stages=50, random_state=0),
    KernelPCA(n_components=3, map_components=60, random_state=0),
    KernelDensity(map_components=60, random_state=0),
]


def says(model, X):
    for way in ("decision_function", "transform", "score_samples", "predict"):
        if hasattr(model, way):
            return getattr(model, way)(X)


@pytest.mark.parametrize("model", GROWING, ids=lambda model: type(model).__name__)
def test_sums_of_other_learners_grow(model, tmp_path):
    random = np.random.RandomState(0)
    parts = random.uniform(0, 5, size=(4, 600, 2))
    # All parts have the same mean, so that the first centres the map as all do. The features depend
    # on the centre, and with them the selection of few features.
    X = (parts - parts.mean(axis=1, keepdims=True)).reshape(-1, 2) + 2.5
    y = np.sin(2 * X[:, 0]) * X[:, 1] + 0.1 * random.normal(size=2400)
    options = {"gamma": 0.7, "standardize": "no"}
    is_classifier = hasattr(model, "decision_function")
    if is_classifier:
        y = np.where(y > 1, "high", np.where(y > -1, "mid", "low"))
    first = {"classes": np.unique(y)} if is_classifier else {}
    # More rows than are sorted before a fit, so that hold-out sets agree.
    whole = clone(model).set_params(**options).fit(X, y)
    parts = in_parts(clone(model).set_params(**options), X, y, **first)
    expected = says(whole, X)
    bound = 5e-4 * abs(expected).max()
    assert_allclose(says(parts, X), expected, atol=bound)
    # Control: without one part, the result differs. Then add it after a prediction.
    fewer = in_parts(clone(model).set_params(**options), X[:600], y[:600], 1, **first)
    assert abs(says(fewer, X) - expected).max() > 4 * bound
    fewer = pickle.loads(pickle.dumps(fewer))
    fewer.partial_fit(X[600:], y[600:])
    assert_allclose(says(fewer, X), expected, atol=bound)
    # Fitted attributes are updated without a prediction.
    found = [name for name in vars(whole) if name.endswith("_") and not name.startswith("_")]
    # `noise_share_` needs a second pass over the rows.
    found = [name for name in found if name != "noise_share_"]
    growing = in_parts(clone(model).set_params(**options), X[:600], y[:600], 1, **first)
    for name in found:
        getattr(growing, name)
    growing.partial_fit(X[600:], y[600:])
    for name in found:
        ours, theirs = getattr(growing, name), getattr(whole, name)
        if isinstance(theirs, np.ndarray) and theirs.dtype.kind in "OU":
            assert list(ours) == list(theirs)
        else:
            assert_allclose(ours, theirs, rtol=0.02, err_msg=name)
    if hasattr(whole, "get_feature_names_out"):
        unasked = in_parts(clone(model).set_params(**options), X, y)
        assert len(unasked.get_feature_names_out()) == 3
    growing.save(tmp_path / "grown.model")
    again = type(model).load(tmp_path / "grown.model")
    assert_allclose(says(again, X), says(growing, X), atol=1e-9)
    with pytest.raises(ValueError, match="features"):
        growing.partial_fit(X[:, :1], y)
    with pytest.warns(UserWarning, match="begins anew"):
        anew = clone(whole).fit(X[:50], y[:50])
        anew.partial_fit(X, y, **first)
    assert_allclose(says(anew, X), says(in_parts(clone(whole), X, y, 1, **first), X), atol=1e-9)


def test_weights_of_parts_that_grow(wave):
    X, y = wave
    w = np.random.RandomState(1).randint(0, 4, size=900).astype(float)
    for model in (
        KernelElasticNet(n_components=60, l1=1e-3, random_state=0, gamma=0.7, standardize="no"),
        KernelDensity(map_components=60, random_state=0, gamma=0.7, standardize="no"),
    ):
        rows = clone(model)
        for part in (slice(0, 500), slice(500, 900)):
            counts = w[part].astype(int)
            rows.partial_fit(X[part].repeat(counts, axis=0), y[part].repeat(counts))
        parts = clone(model).partial_fit(X[:500], y[:500], sample_weight=w[:500])
        parts.partial_fit(X[500:], y[500:], sample_weight=w[500:])
        plain = clone(model).partial_fit(X[:500], y[:500]).partial_fit(X[500:], y[500:])
        expected = says(rows, X)
        assert_allclose(says(parts, X), expected, atol=1e-3 * abs(expected).max())
        assert abs(says(plain, X) - expected).max() > 4e-3 * abs(expected).max()


def test_what_needs_all_rows_has_no_parts(wave):
    X, y = wave
    for model in (
        GaussianProcessRegressor(lengthscales="per-column"),
        KernelPCA(solver="randomized", n_components=2),
        KernelDensity(multiples="auto"),
    ):
        assert not hasattr(model, "partial_fit")
    for model in (
        KernelPCA(fit_inverse_transform=True),
        KernelElasticNet(importances=True),
        KernelRidgeRegressor(importances=True),
        BoostingClassifier(probability=True),
    ):
        labels = {"classes": [False, True]} if isinstance(model, BoostingClassifier) else {}
        with pytest.raises(ValueError, match="all rows at once"):
            model.partial_fit(X, y > 0 if labels else y, **labels)
    # Targets are only transformed if `target_scale` says so.
    skewed = np.exp(3 * y)
    own = KernelRidgeRegressor(random_state=0).partial_fit(X, skewed)
    as_is = KernelRidgeRegressor(random_state=0, target_scale="as-is").fit(X, skewed)
    assert_allclose(own.predict(X), as_is.predict(X), rtol=1e-3, atol=1e-3 * skewed.std())
    for scale in ("log", "rank"):
        one = KernelRidgeRegressor(random_state=0, target_scale=scale)
        own = clone(one).partial_fit(X, skewed)
        # `partial_fit` solves the normal equations, `fit` the dual for few rows.
        assert_allclose(own.predict(X), one.fit(X, skewed).predict(X), rtol=0.02)
        again = pickle.loads(pickle.dumps(own)).partial_fit(X, skewed)
        assert np.isfinite(again.predict(X)).all()


def ages(n, half_life):
    return 2.0 ** (-np.arange(n)[::-1] / half_life)


def test_a_half_life_is_weights_by_age(wave):
    X, y = wave
    for cls, options in [
        (KernelRidgeRegressor, OPTIONS),
        (GaussianProcessRegressor, {**OPTIONS, "penalty": None, "weights": "counts"}),
    ]:
        options = {name: value for name, value in options.items() if value is not None}
        forgets = cls(half_life=60.0, **options).fit(X, y)
        weighted = cls(**options).fit(X, y, sample_weight=ages(900, 60.0))
        # The tolerance is for features in float32 and another order of rows; a half-life 1 % off
        # would differ by 3e-3.
        assert_allclose(forgets.predict(X), weighted.predict(X), atol=1e-4)
        assert abs(cls(**options).fit(X, y).predict(X) - forgets.predict(X)).max() > 1e-3
    # Few rows, which must not be sorted with a half-life.
    own = np.random.RandomState(3).randint(0, 3, size=900).astype(float)
    forgets = KernelRidgeRegressor(half_life=60.0, **OPTIONS).fit(X, y, sample_weight=own)
    # Samples of weight 0 are ignored, and do not age others.
    counts = own > 0
    own[counts] *= ages(counts.sum(), 60.0)
    weighted = KernelRidgeRegressor(**OPTIONS).fit(X, y, sample_weight=own)
    assert_allclose(forgets.predict(X), weighted.predict(X), atol=1e-4)


def test_parts_get_older(wave):
    X, y = wave
    model = KernelRidgeRegressor(half_life=80.0, **OPTIONS).partial_fit(X[:200], y[:200])
    model = pickle.loads(pickle.dumps(model))
    for rows in (slice(200, 201), slice(201, 500), slice(500, 900)):
        model.partial_fit(X[rows], y[rows])
    whole = KernelRidgeRegressor(half_life=80.0, **OPTIONS).fit(X, y)
    assert_allclose(model.predict(X), whole.predict(X), atol=5e-4)
    with pytest.raises(NotImplementedError, match="half-life"):
        model.forget(X[:5], y[:5])
    with pytest.raises(ValueError, match="half_life"):
        KernelRidgeRegressor(half_life=0.5).fit(X, y)


def test_sums_see_drift(wave):
    X, y = wave
    old = KernelRidgeRegressor(half_life=300.0, **OPTIONS).partial_fit(X[:400], y[:400])
    same = old.without_rows().partial_fit(X[400:], y[400:])
    other = old.without_rows().partial_fit(X[400:] + 0.8, y[400:])
    assert bochner.sums_test(old, same).pvalue > 0.01
    found = bochner.sums_test(old, other)
    assert found.pvalue < 1e-4 and found.estimate > 0
    turned = old.without_rows().partial_fit(X[400:], -y[400:])
    assert bochner.sums_test(old, same).of_targets.pvalue > 0.01
    found = bochner.sums_test(old, turned)
    assert found.pvalue > 0.01 and found.of_targets.pvalue < 1e-4
    with pytest.raises(ValueError, match="b keeps no sums"):
        bochner.sums_test(old, KernelRidgeRegressor(**OPTIONS).fit(X, y))


def test_a_column_that_is_constant_in_the_first_rows():
    random = np.random.RandomState(0)
    X = random.normal(size=(600, 2))
    X[:20, 0] = 0.0
    y = 2 * X[:, 0] + 0.1 * X[:, 1]
    model = KernelRidgeRegressor(n_components=100, penalty=1e-6, random_state=0)
    model.partial_fit(X[:20], y[:20]).partial_fit(X[20:], y[20:])
    assert model.score(X, y) > 0.999
    # When the number of rows doubles, scales are estimated again, and the map is that of one fit.
    options = {"n_components": 100, "penalty": 1e-4, "random_state": 0, "gamma": "scale", "linear": "no"}
    whole = KernelRidgeRegressor(**options).fit(X, y)
    parts = clone(whole).partial_fit(X[:20], y[:20]).partial_fit(X[20:], y[20:])
    assert_allclose(parts.predict(X), whole.predict(X), atol=1e-3 * y.std())


@pytest.mark.parametrize(
    "model",
    [
        KernelRidgeRegressor(n_components=100, penalty=1e-6, random_state=0),
        KernelElasticNet(n_components=100, l1=1e-6, random_state=0),
        KernelRidgeRegressor(map="nystrom", n_components=60, gamma="scale", penalty=1e-6, random_state=0),
    ],
    ids=["ridge", "lasso", "nystrom"],
)
@pytest.mark.filterwarnings("ignore:n_components")
def test_rows_in_the_order_of_a_column(model):
    x = np.linspace(0, 12, 900)[:, None]
    y = np.sin(x[:, 0])
    model = clone(model)
    for rows in np.array_split(np.arange(900), 30):
        model.partial_fit(x[rows], y[rows])
    assert model.score(x, y) > 0.99


def test_rows_that_were_forgotten_stay_so_when_sums_begin_anew(wave):
    X, y = wave
    model = KernelRidgeRegressor(**OPTIONS).partial_fit(X[:100], y[:100])
    model.partial_fit(X[100:150], -y[100:150]).forget(X[100:150], -y[100:150])
    model.partial_fit(X[150:], y[150:])
    rest = np.r_[0:100, 150:900]
    expected = KernelRidgeRegressor(**OPTIONS).fit(X[rest], y[rest])
    assert_allclose(model.predict(X), expected.predict(X), atol=2e-4)


def test_scales_that_stay_are_said_once(wave, monkeypatch):
    X, y = wave
    X = np.column_stack([X, np.ones(900)])
    options = {"n_components": 60, "penalty": 1e-4, "random_state": 0}
    model = KernelRidgeRegressor(**options).partial_fit(X[:300], y[:300])
    # `without_rows` fixes the map, so that sums can be merged.
    part = model.without_rows()
    moved = X[300:400] + [0.0, 0.0, 1.0]
    with pytest.warns(UserWarning, match=r"column 2 \(counted from 0\) was constant in the first 300"):
        part.partial_fit(moved, y[300:400])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        part.partial_fit(moved, y[300:400])
        model.partial_fit(X[300:500], y[300:500]).merge(part)
        # A moderately larger range causes no warning.
        model.partial_fit(3 * X[300:400, :2] @ np.eye(2, 3) + [0.0, 0.0, 1.0], y[300:400])
        # Scales that do not depend on the rows cause no warning.
        fixed = KernelRidgeRegressor(**options, gamma=1.0, standardize="no")
        fixed.partial_fit(X[:300], y[:300]).without_rows().partial_fit(moved, y[300:400])
    # The map is also fixed once there are too many rows to store.
    monkeypatch.setattr(bochner._scales, "EARLY_VALUES", 2000)
    many = KernelRidgeRegressor(**options).partial_fit(X, y)
    with pytest.warns(UserWarning, match="lies .* times its width outside the range of the first 900"):
        many.partial_fit(1e4 * X, y)


@pytest.mark.parametrize("kind", [sparse.csr_matrix, sparse.csr_array])
def test_sparse_rows_decide_anew(wave, kind):
    X, y = wave
    X = np.where(X > 2.5, X, 0.0)
    X[:50, 1] = 0.0
    dense, rows = (KernelRidgeRegressor(n_components=60, penalty=1e-4, random_state=0) for _ in range(2))
    for part in (slice(0, 50), slice(50, 120), slice(120, 900)):
        dense.partial_fit(X[part], y[part])
        rows.partial_fit(kind(X[part]), y[part])
    assert_allclose(rows.predict(X), dense.predict(X), atol=1e-3 * y.std())
    assert dense.score(X, y) > dense.fit(X, y).score(X, y) - 0.05
