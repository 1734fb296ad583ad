"""Tests that fits in a Spark session with two workers equal fits in one process."""

import os
import signal
import sys

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from sklearn.base import clone

import bochner.spark
from bochner import KernelRidgeClassifier, KernelRidgeRegressor, RBFSampler

from pyspark.sql import SparkSession

OPTIONS = {"n_components": 64, "gamma": "scale", "random_state": 0, "penalty": 1e-2}


@pytest.fixture(scope="module")
def spark():
    os.environ["PYSPARK_PYTHON"] = os.environ["PYSPARK_DRIVER_PYTHON"] = sys.executable
    # Two workers, and four attempts for each task.
    session = (
        SparkSession.builder.master("local[2,4]")
        .config("spark.ui.enabled", "false")
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.driver.bindAddress", "127.0.0.1")
        .config("spark.sql.execution.arrow.maxRecordsPerBatch", "700")
        .config("spark.sql.execution.arrow.pyspark.enabled", "true")
        .getOrCreate()
    )
    session.sparkContext.setLogLevel("OFF")
    yield session
    session.stop()


@pytest.fixture(scope="module")
def frame():
    random = np.random.RandomState(0)
    X = random.normal(size=(6000, 3)) * [1.0, 2.0, 5.0]
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    frame["y"] = np.sin(X[:, 0]) + 0.3 * X[:, 1] + 0.1 * random.normal(size=6000)
    frame["kind"] = np.array(["low", "middle", "high"])[np.digitize(frame["y"], [-1.0, 1.0])]
    frame["weight"] = (np.arange(6000) % 3).astype(float)
    return frame


def there(spark, frame, parts=4):
    """Spark frame whose partitions contain the rows in order."""
    return spark.createDataFrame(frame).coalesce(parts)


def test_numbers(spark, frame):
    own = frame[["a", "b", "c"]]
    estimator = KernelRidgeRegressor(**{**OPTIONS, "gamma": "median"})
    whole = clone(estimator).fit(own, frame["y"])
    rows = there(spark, frame[["a", "b", "c", "y"]])
    assert rows.rdd.getNumPartitions() >= 2
    assert bochner.spark.fit(estimator, rows, "y") is estimator
    scale = np.abs(frame["y"]).max()
    assert_allclose(estimator.predict(own), whole.predict(own), atol=1e-6 * scale)
    mixed = there(spark, frame[["weight", "c", "a", "b"]])
    predicted = bochner.spark.predict(estimator, mixed).toPandas()
    assert_allclose(predicted["prediction"], estimator.predict(own), atol=1e-9)
    assert_allclose(predicted["c"], frame["c"])


def test_labels_and_weights(spark, frame):
    own = frame[["a", "b", "c"]]
    estimator = KernelRidgeClassifier(class_weight="balanced", **OPTIONS)
    whole = clone(estimator).fit(own, frame["kind"], frame["weight"])
    rows = there(spark, frame)
    options = {"sample_weight": "weight", "columns": ["a", "b", "c"]}
    bochner.spark.fit(estimator, rows, "kind", **options)
    assert estimator.classes_.tolist() == ["high", "low", "middle"]
    assert_allclose(estimator.decision_function(own), whole.decision_function(own), atol=2e-6)
    labels = bochner.spark.predict(estimator, rows).toPandas()["prediction"]
    assert (labels.to_numpy() == estimator.predict(own)).all()


def test_lists_and_features(spark, frame):
    own = frame[["a", "b", "c"]].to_numpy()
    lists = pd.DataFrame({"x": own.tolist(), "y": frame["y"], "z": 1 - frame["y"]})
    rows = there(spark, lists)
    estimator = KernelRidgeRegressor(**OPTIONS)
    whole = clone(estimator).fit(own, lists[["y", "z"]])
    bochner.spark.fit(estimator, rows, ["y", "z"], columns="x")
    scale = np.abs(lists[["y", "z"]].to_numpy()).max()
    assert_allclose(estimator.predict(own), whole.predict(own), atol=1e-6 * scale)
    predicted = bochner.spark.predict(estimator, rows, columns="x").toPandas()
    assert_allclose(np.stack(predicted["prediction"]), estimator.predict(own), atol=1e-9)
    sampler = RBFSampler(n_components=16, random_state=0).fit(own)
    features = bochner.spark.transform(sampler, rows, columns="x").toPandas()
    assert_allclose(np.stack(features["features"]), sampler.transform(own))


def test_a_worker_that_dies(spark, frame, tmp_path):
    own, where = frame[["a", "b", "c"]], str(tmp_path)

    def dies(batches):
        from pyspark import TaskContext

        # Kill the second partition's task at its first attempt in each pass.
        if TaskContext.get().partitionId() == 1:
            time = len(os.listdir(where))
            open(os.path.join(where, str(time)), "w").close()
            if time in (0, 2):
                os.kill(os.getpid(), signal.SIGKILL)
        yield from batches

    rows = there(spark, frame[["a", "b", "c", "y"]])
    rows = rows.mapInArrow(dies, rows.schema)
    estimator = KernelRidgeRegressor(**OPTIONS)
    bochner.spark.fit(estimator, rows, "y")
    assert len(os.listdir(where)) >= 4
    whole = KernelRidgeRegressor(**OPTIONS).fit(own, frame["y"])
    scale = np.abs(frame["y"]).max()
    assert_allclose(estimator.predict(own), whole.predict(own), atol=1e-6 * scale)


def test_what_does_not_fit_together(spark, frame):
    model = KernelRidgeRegressor(**OPTIONS)
    with pytest.raises(ValueError, match="no column 'price'"):
        bochner.spark.fit(model, there(spark, frame), "price")
