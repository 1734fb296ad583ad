"""Tests of `bochner.river`: equal to weighted fits, and compatible with river."""

import math
import pickle
import subprocess
import sys
import warnings

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from river import base, compose, evaluate, metrics, preprocessing
from sklearn.datasets import load_digits

import bochner.river
from bochner.river import KernelClassifier, KernelRegressor, LinUCB, ThompsonSampling


def stream(n, seed=0):
    """Stream whose target changes sign in the middle."""
    random = np.random.RandomState(seed)
    for t in range(n):
        a, b = random.normal(size=2)
        sign = 1.0 if t < n // 2 else -1.0
        yield {"a": a, "b": 100 + 20 * b}, sign * (math.sin(2 * a) + b) + 3.0


@pytest.mark.parametrize("half_life", [math.inf, 60.0])
def test_columns_as_they_are_have_the_weighted_fit(half_life):
    rows = list(stream(250))
    model = KernelRegressor(map="none", half_life=half_life, penalty=20.0, warm_up=40)
    for x, y in rows:
        model.learn_one(x, y)
    X = np.array([[x["a"], x["b"]] for x, _ in rows])
    y = np.array([y for _, y in rows])
    Z = (X - X[:40].mean(axis=0)) / X[:40].std(axis=0)
    Z = np.column_stack([Z, np.ones(len(Z))])

    def off(half_life, penalty):
        w = 0.5 ** (np.arange(len(y))[::-1] / half_life)
        A = (Z * w[:, None]).T @ Z + np.diag([penalty, penalty, 0.0])
        fitted = Z[:9] @ np.linalg.solve(A, (Z * w[:, None]).T @ y)
        return np.abs(fitted - [model.predict_one(x) for x, _ in rows[:9]]).max()

    # The penalty decays like the samples, and is reset once per half-life.
    since = 0 if half_life == math.inf else len(y) % half_life
    penalty = 20.0 * 0.5 ** (since / half_life)
    # The tolerance is for features in float32.
    assert off(half_life, penalty) < 1e-6
    assert off(half_life, 1.03 * penalty) > 1e-5
    if half_life < math.inf:
        assert off(1.03 * half_life, penalty) > 1e-3


def test_a_stream_that_turns_is_followed():
    for half_life, most in [(50.0, 0.45), (math.inf, 10.0)]:
        model = KernelRegressor(n_components=200, half_life=half_life, penalty=0.1)
        errors = []
        for x, y in stream(1600):
            errors.append(model.predict_one(x) - y)
            model.learn_one(x, y)
        late = np.sqrt(np.mean(np.square(errors[-300:])))
        assert late < most
    # Without forgetting, the model averages both halves.
    assert late > 0.8


def test_digits_one_by_one():
    X, y = load_digits(return_X_y=True)
    order = np.random.RandomState(0).permutation(len(y))[:900]
    model = KernelClassifier(n_components=300, penalty=0.1)
    assert model.predict_one({"0": 1.0}) is None and model.predict_proba_one({"0": 1.0}) == {}
    wrong = []
    for i in order:
        x = {str(j): v for j, v in enumerate(X[i])}
        wrong.append(model.predict_one(x) != y[i])
        model.learn_one(x, int(y[i]))
    assert np.mean(wrong[-300:]) < 0.06
    probabilities = model.predict_proba_one(x)
    assert set(probabilities) == set(range(10))
    assert math.isclose(sum(probabilities.values()), 1.0)


def test_a_class_that_comes_late():
    model = KernelClassifier(n_components=40, warm_up=20)
    for t in range(120):
        model.learn_one({"a": t % 8}, "low" if t % 8 < 4 else "high")
    assert set(model.predict_proba_one({"a": 1})) == {"low", "high"}
    for t in range(120):
        model.learn_one({"a": t % 8}, "new" if t % 8 == 7 else "low" if t % 8 < 4 else "high")
    assert [model.predict_one({"a": a}) for a in [1, 5]] == ["low", "high"]
    for _ in range(3000):
        model.learn_one({"a": 7}, "new")
    assert model.predict_one({"a": 7}) == "new"


@pytest.mark.parametrize("learned", [3, 30])
def test_a_row_that_is_refused_brings_no_class(learned):
    model = KernelClassifier(n_components=40, warm_up=10)
    for t in range(learned):
        model.learn_one({"a": t % 5}, t % 2)
    before = pickle.dumps(model)
    for x, w in [({"a": math.nan}, 1.0), ({"a": "x"}, 1.0), ({"a": 1.0}, -1.0)]:
        with pytest.raises(ValueError):
            model.learn_one(x, "new", w)
    assert pickle.dumps(model) == before


def test_rows_that_lack_columns_and_rows_that_are_none():
    model = KernelRegressor(n_components=40, warm_up=30)
    for x, y in stream(30):
        model.learn_one(x, y)
    before = pickle.dumps(model)
    mean = np.mean([x["a"] for x, _ in stream(30)])
    # Missing features are replaced by their mean; new features are ignored.
    lacks, has = {"b": 90.0}, {"b": 90.0, "a": mean, "new": 5.0}
    assert model.predict_one(lacks) == model.predict_one(has)
    for x, y, message in [
        ({"a": math.nan, "b": 1.0}, 1.0, "column 'a' is nan"),
        ({"a": 1.0, "b": "red"}, 1.0, "column 'b' is 'red', which is no number"),
        ({"a": 1.0, "b": None}, 1.0, "column 'b' is None"),
        ({"a": 1.0, "b": 1.0}, math.inf, "a target is inf"),
    ]:
        with pytest.raises(ValueError, match=message):
            model.learn_one(x, y)
    with pytest.raises(ValueError, match="counts for -1"):
        model.learn_one({"a": 1.0, "b": 1.0}, 1.0, -1)
    assert pickle.dumps(model) == before
    young = KernelRegressor()
    with pytest.raises(ValueError, match="column 'a' is 'x'"):
        young.learn_one({"a": "x"}, 1.0)
    for wrong in [{"half_life": 0.5}, {"penalty": 0.0}, {"warm_up": 1}, {"gamma": "scale"}]:
        with pytest.raises(ValueError, match=next(iter(wrong))):
            KernelRegressor(**wrong)


@pytest.mark.parametrize("warm", [10, 70])
def test_a_pickle_goes_on_to_the_same_numbers(warm):
    rows = list(stream(150))
    model = KernelRegressor(n_components=40, half_life=30.0, warm_up=40)
    for x, y in rows[:warm]:
        model.learn_one(x, y)
    again = pickle.loads(pickle.dumps(model))
    for x, y in rows[warm:]:
        assert model.predict_one(x) == again.predict_one(x)
        model.learn_one(x, y)
        again.learn_one(x, y)


def test_frames_are_rows_in_their_order():
    rows = list(stream(80))
    X, y = pd.DataFrame([x for x, _ in rows]), pd.Series([y for _, y in rows])
    one, many = (KernelRegressor(n_components=40, warm_up=30) for _ in range(2))
    for x, target in rows:
        one.learn_one(x, target)
    many.learn_many(X[:50], y[:50])
    many.learn_many(X[50:], y[50:])
    predictions = many.predict_many(X[5:9])
    assert list(predictions.index) == [5, 6, 7, 8]
    assert predictions.tolist() == [one.predict_one(x) for x, _ in rows[5:9]]
    labels = KernelClassifier(n_components=40, warm_up=30)
    labels.learn_many(X, (y > 3).map({True: "up", False: "down"}))
    proba = labels.predict_proba_many(X)
    assert_allclose(proba.sum(axis=1), 1.0)
    assert (labels.predict_many(X) == proba.idxmax(axis=1)).all()


def test_where_learners_of_river_go():
    model = compose.Pipeline(
        ("scale", preprocessing.StandardScaler()),
        ("fit", KernelRegressor(n_components=100, penalty=0.1, half_life=100.0)),
    )
    metric = evaluate.progressive_val_score(iter(stream(600)), model, metrics.MAE())
    mean = np.mean([abs(y - 3.0) for _, y in stream(600)])
    assert metric.get() < 0.8 * mean
    learner = KernelClassifier(n_components=50, half_life=70.0)
    assert isinstance(learner, base.Classifier) and isinstance(KernelRegressor(), base.Regressor)
    other = learner.clone({"penalty": 2.0})
    assert (other.half_life, other.penalty, other.n_components) == (70.0, 2.0, 50)
    labels = ((x, y > 3.0) for x, y in stream(600))
    right = evaluate.progressive_val_score(labels, learner, metrics.Accuracy())
    assert right.get() > 0.65


@pytest.mark.parametrize("bandit", [LinUCB, ThompsonSampling])
def test_regret_of_a_bandit_falls(bandit):
    arms = ["plain", "bold", "long"]
    slopes = np.random.RandomState(1).normal(size=(3, 4))
    random = np.random.RandomState(2)

    def lost(choose, learn, rounds=900):
        total = np.zeros(3)
        for t in range(rounds):
            z = random.normal(size=4)
            x = dict(zip("abcd", z))
            arm = choose(x)
            rewards = slopes @ z
            learn(x, arm, rewards[arms.index(arm)] + 0.3 * random.normal())
            total[3 * t // rounds] += rewards.max() - rewards[arms.index(arm)]
        return total

    blind = lost(lambda x: arms[random.randint(3)], lambda *_: None)
    assert blind[2] > 0.8 * blind[0]
    model = bandit(arms, width=1.0 if bandit is LinUCB else 0.3, seed=5)
    first = lost(model.choose, model.learn)
    assert first[2] < 0.3 * first[0] and first.sum() < 0.2 * blind.sum()
    again = pickle.loads(pickle.dumps(model))
    x = dict(zip("abcd", [0.1, -0.2, 0.3, 0.4]))
    assert [again.choose(x) for _ in range(5)] == [model.choose(x) for _ in range(5)]
    for wrong, message in [
        (lambda: model.learn(x, "none", 1.0), "none of the arms"),
        (lambda: model.choose({"a": 1.0}), "no column 'b'"),
        (lambda: model.choose({**x, "a": math.nan}), "column 'a' is nan"),
        (lambda: bandit([]), "arms are one or more"),
        (lambda: bandit(["a", "a"]), "a name of its own"),
    ]:
        with pytest.raises(ValueError, match=message):
            wrong()


def test_where_there_is_no_river():
    code = (
        "import sys\n"
        "sys.modules['river'] = sys.modules['river.base'] = None\n"
        "from bochner.river import KernelClassifier, KernelRegressor\n"
        "model, labels = KernelRegressor(20, warm_up=5), KernelClassifier(20, warm_up=5)\n"
        "for t in range(40):\n"
        "    model.learn_one({'a': t % 4}, t % 4)\n"
        "    labels.learn_one({'a': t % 4}, t % 4 > 1)\n"
        "assert abs(model.predict_one({'a': 2}) - 2) < 0.3, model.predict_one({'a': 2})\n"
        "assert labels.predict_one({'a': 3}) is True\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def r2(truth, predicted, first):
    truth, predicted = np.array(truth[first:]), np.array(predicted[first:])
    return 1 - np.mean((truth - predicted) ** 2) / truth.var()


def follow(model, rows):
    """Predict each sample before it is learned."""
    predicted = []
    for x, y in rows:
        predicted.append(model.predict_one(x))
        model.learn_one(x, y)
    return predicted


def test_rows_that_are_mostly_alike_are_learned():
    random = np.random.RandomState(0)
    flags = KernelRegressor(n_components=20)
    counts = KernelRegressor(n_components=50, penalty=0.1)
    off = KernelRegressor(n_components=50, penalty=0.1)
    for t in range(600):
        flags.learn_one({"a": float(t % 4 == 0)}, float(t % 4 == 0))
        count = float(random.poisson(0.2))
        counts.learn_one({"a": count}, count**2)
        # All samples of the warm-up are equal.
        x = 0.0 if t < 130 or t % 3 else random.normal()
        off.learn_one({"a": x, "b": 0.0}, 2 * x)
    assert abs(flags.predict_one({"a": 1.0}) - 1) < 0.05 and abs(flags.predict_one({"a": 0.0})) < 0.05
    assert abs(counts.predict_one({"a": 2.0}) - 4) < 0.2
    assert abs(off.predict_one({"a": 1.0, "b": 0.0}) - 2) < 0.1


def moving(quiet, n, wide, seed=0):
    """Stream with a column that is constant, or almost, in the first ``quiet`` samples."""
    random = np.random.RandomState(seed)
    for t in range(n):
        still = 2.0 if wide == 0.0 else 2.0 + wide * random.normal()
        a, b = still if t < quiet else 2.0 + random.normal(), random.normal()
        yield {"a": a, "b": b}, 4 * math.sin(2 * a) + b


@pytest.mark.parametrize("wide", [0.0, 1e-9])
def test_a_column_that_moves_later_is_learned(wide):
    rows = list(moving(130, 900, wide))
    model = KernelRegressor(n_components=100, penalty=0.1)
    predicted = follow(model, rows)
    assert r2([y for _, y in rows], predicted, 600) > 0.97
    # The result is as good as with a warm-up that includes the change.
    known = KernelRegressor(n_components=100, penalty=0.1, warm_up=600)
    assert r2([y for _, y in rows], follow(known, rows), 600) < r2(
        [y for _, y in rows], predicted, 600
    ) + 0.02


def test_rows_in_the_order_of_a_column():
    rows = [({"a": t / 100}, math.sin(t / 200)) for t in range(2000)]
    model = KernelRegressor(n_components=100, penalty=1e-3)
    follow(model, rows)
    predicted = [model.predict_one(x) for x, _ in rows]
    assert r2([y for _, y in rows], predicted, 0) > 0.99


def test_a_number_that_is_far_off_changes_no_scale():
    rows = list(stream(400))
    plain, hit = (KernelRegressor(n_components=50, penalty=0.1) for _ in range(2))
    for t, (x, y) in enumerate(rows[:200]):
        plain.learn_one(x, y)
        hit.learn_one(x, y)
        if t in (50, 150):
            hit.learn_one({"a": 1e12, "b": 100.0}, 3.0)
    expected = np.array([plain.predict_one(x) for x, _ in rows[:200]])
    found = np.array([hit.predict_one(x) for x, _ in rows[:200]])
    assert np.sqrt(np.mean((found - expected) ** 2)) < 0.1 * expected.std()


def test_rows_before_those_kept_are_forgotten_with_a_warning(monkeypatch):
    monkeypatch.setattr(bochner.river, "KEPT_ROWS", 200)
    rows = list(moving(700, 2200, 0.0))
    model = KernelRegressor(n_components=60, penalty=0.1)
    with pytest.warns(UserWarning, match="column 'a' was constant.*last [0-9]* rows") as caught:
        predicted = follow(model, rows)
    assert len(caught) == 1 and "KernelRegressor" in str(caught[0].message)
    assert r2([y for _, y in rows], predicted, 1500) > 0.9
    # With a short half-life, dropped samples cause no warning.
    forgets = KernelRegressor(n_components=60, penalty=0.1, half_life=10.0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        follow(forgets, rows[:900])


def test_columns_that_come_after_the_first_rows():
    random = np.random.RandomState(0)
    model = KernelClassifier(n_components=50, penalty=0.1, warm_up=20)
    for t in range(500):
        x = {"a": random.normal(), "b": random.normal()}
        label = "high" if x["b"] > 0 else "low"
        if t < 40:
            del x["b"]
        elif t < 100:
            # New features that are not numbers are ignored.
            x["name"] = "text"
        model.learn_one(x, label)
    assert [model.predict_one({"a": 0.0, "b": b}) for b in (1.0, -1.0)] == ["high", "low"]


def test_a_pickle_goes_on_where_a_map_is_drawn_anew():
    rows = list(moving(110, 300, 0.0))
    model = KernelRegressor(n_components=40, penalty=0.1)
    follow(model, rows[:115])
    again = pickle.loads(pickle.dumps(model))
    assert follow(model, rows[115:]) == follow(again, rows[115:])
