"""Tests of `explain` and `shapes`, against closed forms."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

import bochner

CPU = {"device": "cpu"}


@pytest.fixture(scope="module")
def line():
    """Linear function of three independent columns, the last with coefficient 0."""
    X = np.random.RandomState(0).normal(size=(400, 3)) * [1.0, 2.0, 3.0]
    y = X @ [3.0, -1.0, 0.0]
    return X, y, bochner.Ridge(1e-9, **CPU).fit(X, y)


def test_a_line_is_explained_by_its_slopes(line):
    X, y, model = line
    found = model.explain(X, y, repeats=30, rows=7)
    importance = found.importance
    assert (importance.measure, importance.columns) == ("squared error", ["0", "1", "2"])
    variances = X.var(axis=0) * [9.0, 1.0, 0.0]
    assert_allclose(importance.rise, 2 * variances, rtol=0.05, atol=1e-6)
    assert_allclose(importance.gradient, variances / variances.sum(), atol=1e-6)
    along = found.partial_dependence["0"]
    assert_allclose(np.diff(along.mean[:, 0]), 3.0 * np.diff(along.values), rtol=1e-4)
    assert along.curves.shape == (30, len(along.values), 1) and along.rows == 400
    shapley = found.shapley
    assert shapley.values.shape == (7, 3, 1) and shapley.columns == ["0", "1", "2"]
    assert_allclose(shapley.outputs[:, 0], model.predict(X[shapley.rows]), rtol=1e-6, atol=1e-6)
    assert_allclose(shapley.values.sum(axis=1), shapley.outputs - shapley.base, atol=1e-9)
    slopes = np.diff(shapley.values[:, 1, 0]) / np.diff(X[shapley.rows, 1])
    assert_allclose(slopes, -1.0, atol=1e-4)
    # Without targets, importance is the root of the increase of the error.
    moved = model.explain(X, columns=["1"], rows=0)
    assert moved.importance.measure == "how far predictions move" and moved.shapley is None
    assert list(moved.partial_dependence) == ["1"]
    assert_allclose(moved.importance.rise, np.sqrt(2 * variances / y.var()), rtol=0.05, atol=1e-4)


def test_classes_have_probabilities_or_scores(line):
    X, y, _ = line
    labels = np.where(y > 0, "high", "low")
    # Conjugate gradients give no leave-one-out scores, hence no probabilities.
    ridge = bochner.KernelRidgeClassifier(n_components=40, solver="cg", **CPU)
    by_scores = ridge.fit(X, labels).explain(X, labels, rows=2)
    assert (by_scores.outputs_are, by_scores.outputs) == ("score", ["low"])
    assert by_scores.importance.measure == "share of wrong labels"
    logistic = bochner.KernelLogisticRegression(n_components=40, **CPU).fit(X, labels)
    found = logistic.explain(X, labels, rows=2)
    assert found.importance.measure == "log loss" and found.importance.columns[0] == "0"
    p = logistic.predict_proba(X[found.shapley.rows])[:, 1:]
    assert_allclose(found.shapley.outputs, p, atol=1e-6)
    with pytest.raises(ValueError, match="'other', which is none of the classes"):
        logistic.explain(X, np.full(len(X), "other"))


def test_columns_of_a_file_are_those_of_its_table(tmp_path):
    cities = np.array(["Basel", "Bern", "Chur"])
    lines = [f"{i * 37 % 101},{cities[i % 3]},{2 * (i * 37 % 101) + 60 * (i % 3)}" for i in range(120)]
    path = tmp_path / "t.csv"
    path.write_text("area,city,price\n" + "\n".join(lines) + "\n")
    file = bochner.scan(path, target="price")
    model = bochner.KernelRidgeRegressor(n_components=60, **CPU).fit(file)
    found = model.explain(file, rows=3)
    assert sorted(found.importance.columns) == ["area", "city"]
    assert found.partial_dependence["city"].values == ["Basel", "Bern", "Chur"]


@pytest.fixture(scope="module")
def additive():
    """Data of sin(x0) + x1^2 + 2 x2 with x2 in {0, 1}, and an additive model."""
    random = np.random.RandomState(0)
    X = random.uniform(-2, 2, size=(400, 3))
    X[:, 2] = random.randint(2, size=400)
    y = np.sin(X[:, 0]) + X[:, 1] ** 2 + 2 * X[:, 2] + 0.1 * random.normal(size=400)
    model = bochner.KernelRidgeRegressor(n_components=120, additive=True, random_state=0, **CPU)
    return X, y, model.fit(X, y)


def test_an_additive_model_has_the_shapes_of_its_parts(additive):
    X, y, model = additive
    found = model.shapes(X, y)
    assert {shape.columns for shape in found.shapes} == {("0",), ("1",), ("2",)}
    assert found.outputs_are == "prediction" and found.others == [] and found.rows == 400
    assert_allclose(found.noise, [0.01], rtol=0.25)
    for column, truth in [("0", np.sin), ("1", np.square), ("2", lambda x: 2 * x)]:
        shape = found[column]
        x = np.array(shape.values[0])
        wanted = truth(x) - truth(X[:, int(column)]).mean()
        off = (shape.mean[:, 0] - wanted) / shape.band[:, 0]
        assert np.abs(off).max() < 4 and shape.band.shape == shape.mean.shape == (len(x), 1)
    assert_allclose(found["2"].mean[:, 0] @ np.bincount(X[:, 2].astype(int)), 0, atol=1e-3)
    assert_allclose(found.intercept, model.predict(X).mean(), atol=1e-5)
    # Without targets the noise is unknown, and there are no standard errors.
    assert model.shapes(X).shapes[0].band is None
    with pytest.raises(KeyError, match="no function of '7'"):
        found["7"]
    shapley = model.explain(X, y, rows=3).shapley
    assert shapley.exact and not shapley.errors.any()
    own = np.sin(X[shapley.rows, 0])
    assert_allclose(np.diff(shapley.values[:, 0, 0]), np.diff(own), atol=0.1)


def test_pairs_and_levels_have_shapes(tmp_path):
    cities = np.array(["Basel", "Bern", "Chur"])
    lines = [f"{i * 37 % 11},{cities[i % 3]},{(i * 37 % 11) * (i % 3)}" for i in range(150)]
    path = tmp_path / "t.csv"
    path.write_text("area,city,price\n" + "\n".join(lines) + "\n")
    file = bochner.scan(path, target="price")
    options = {"map": "fourier[area]+fourier[city]+fourier[area,city]", "gamma": 1.0}
    model = bochner.KernelRidgeRegressor(n_components=60, target_scale="as-is", **options, **CPU)
    found = model.fit(file).shapes(file)
    both = found["area", "city"]
    assert both.mean.shape == both.band.shape == (11, 3, 1)
    assert both.values == [[float(i) for i in range(11)], ["Basel", "Bern", "Chur"]]
    of_area, of_city = found["area"].mean[:, None, :], found["city"].mean[None]
    wanted = np.arange(11)[:, None, None] * np.arange(3)[None, :, None]
    assert_allclose(found.intercept + of_area + of_city + both.mean, wanted, atol=0.5)
    axes = Axes()
    assert found.plot(axes, column=("area", "city")) is axes
    drawn = {name: given for name, given, _ in axes.said}
    assert drawn["pcolormesh"][2].shape == (3, 11) and drawn["set_yticks"][1] == both.values[1]
    axes = Axes()
    found.plot(axes, column="city")
    assert [name for name, _, _ in axes.said] == ["set_xlabel", "errorbar", "set_ylabel"]
    axes = Axes()
    found.plot(axes, column="area")
    names = [name for name, _, _ in axes.said]
    assert names == ["set_xlabel", "fill_between", "plot", "set_ylabel"]


def test_a_model_of_all_columns_has_no_shapes(line):
    X, y, model = line
    with pytest.raises(NotImplementedError, match="no sum of functions of some of its columns"):
        model.shapes(X, y)


class Axes:
    """Recorder of the calls on matplotlib's axes."""

    def __init__(self):
        self.said = []

    def __getattr__(self, name):
        return lambda *given, **options: self.said.append((name, given, options))


def test_pictures_are_drawn_on_axes(line):
    X, y, model = line
    found = model.explain(X, y, rows=0)
    axes = Axes()
    assert found.plot(axes) is axes
    (name, (names, rises), _), (label, (text,), _) = axes.said
    assert (name, names, label, text) == ("barh", ["2", "1", "0"], "set_xlabel", "rise of the squared error")
    assert_allclose(rises, found.importance.rise[::-1])
    axes = Axes()
    found.plot(axes, column="1")
    lines = [given for name, given, _ in axes.said if name == "plot"]
    assert len(lines) == 31
    assert_allclose(lines[-1][1], found.partial_dependence["1"].mean[:, 0])
    with pytest.raises(ValueError, match="was not looked along"):
        found.plot(Axes(), column="9")
    with pytest.raises(ValueError, match='no column "9"'):
        model.explain(X, y, columns=["9"])
    with pytest.raises(ValueError, match="repeats=0"):
        model.explain(X, y, repeats=0)
