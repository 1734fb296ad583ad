"""Tests of `bochner.polars`: expressions equal methods, in eager and streaming frames."""

import numpy as np
import polars as pl
import pytest
from numpy.testing import assert_array_equal

import bochner.polars
from bochner import KernelLogisticRegression, KernelRidgeRegressor, RBFSampler

OPTIONS = {"n_components": 32, "gamma": 0.3, "random_state": 0}


@pytest.fixture(scope="module")
def frame():
    random = np.random.RandomState(0)
    a, b = random.normal(size=(2, 1500))
    kind = np.where(a + b > 0, "warm", "cold")
    return pl.DataFrame({"a": a, "b": b, "y": np.sin(a) + b, "kind": kind})


def test_rows_by_the_names_of_the_fit(frame, tmp_path):
    X = frame.select("a", "b")
    model = KernelRidgeRegressor(**OPTIONS, penalty=1e-3).fit(X, frame["y"])
    expression = bochner.polars.predict(model)
    expected = model.predict(X)
    # Columns in another order, and additional columns.
    other = frame.select("kind", "b", "y", "a")
    assert_array_equal(other.with_columns(expression)["prediction"], expected)
    other.write_parquet(tmp_path / "rows.parquet")
    lazy = pl.scan_parquet(tmp_path / "rows.parquet").with_columns(expression)
    lazy.sink_parquet(tmp_path / "out.parquet")
    assert_array_equal(pl.read_parquet(tmp_path / "out.parquet")["prediction"], expected)
    above = other.lazy().filter(bochner.polars.predict(model) > 1.0)
    assert_array_equal(above.collect(engine="streaming")["a"], frame["a"].filter(expected > 1.0))
    assert lazy.collect_schema()["prediction"] == pl.Float64
    none = other.clear().with_columns(expression)
    assert none.schema["prediction"] == pl.Float64 and none.height == 0


def test_labels_probabilities_and_features(frame):
    X = frame.select("a", "b")
    model = KernelLogisticRegression(**OPTIONS).fit(X, frame["kind"])
    found = frame.select(
        bochner.polars.predict(model, output="label"), bochner.polars.predict_proba(model)
    )
    assert found["label"].to_list() == model.predict(X).tolist()
    assert_array_equal(found["probability"].to_numpy(), model.predict_proba(X))
    assert found.schema == {"label": pl.String, "probability": pl.Array(pl.Float64, 2)}
    assert frame.clear().select(bochner.polars.predict(model)).schema == {"prediction": pl.String}
    sampler = RBFSampler(**OPTIONS).fit(X)
    features = frame.select(bochner.polars.transform(sampler))["features"]
    assert_array_equal(features.to_numpy(), sampler.transform(X))


def test_rows_without_names_and_arrays_side_by_side(frame):
    X = frame.select("a", "b").to_numpy()
    model = KernelRidgeRegressor(**OPTIONS, penalty=1e-3).fit(X, frame["y"].to_numpy())
    with pytest.raises(ValueError, match="without names; give columns"):
        bochner.polars.predict(model)
    expected = model.predict(X)
    named = frame.select(bochner.polars.predict(model, columns=["a", "b"]))
    assert_array_equal(named["prediction"], expected)
    # Control: the given columns are used in their order.
    other = frame.select(bochner.polars.predict(model, columns=["b", "a"]))
    assert (other["prediction"].to_numpy() != expected).any()
    for kind in (pl.Array(pl.Float64, 2), pl.List(pl.Float64)):
        rows = pl.DataFrame({"x": pl.Series(X).cast(kind)})
        found = rows.select(bochner.polars.predict(model, columns="x"))
        assert_array_equal(found["prediction"], expected)
    ragged = pl.DataFrame({"x": [[1.0, 2.0], [1.0]]})
    with pytest.raises(Exception, match="differ in length"):
        ragged.select(bochner.polars.predict(model, columns="x"))
