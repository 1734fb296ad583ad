"""Rows that come bit by bit give what rows at once give."""

import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.base import clone
from sklearn.datasets import load_digits

from bochner import KernelRidgeClassifier, KernelRidgeRegressor, Nystroem, RBFSampler

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
    # A part that is missing shows.
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
    # The first part decided nothing but the map.
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
    # The first rows do not have all labels.
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
    # fit begins anew, whatever was there.
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
