"""Tests that fits on a Dask cluster of two workers equal fits in one process."""

import multiprocessing
import os
import signal

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from sklearn.base import clone

import bochner.dask
from bochner import KernelRidgeClassifier, KernelRidgeRegressor, RBFSampler

import dask
import dask.array as da
import dask.dataframe as dd
from distributed import Client, LocalCluster

OPTIONS = {"n_components": 64, "gamma": "scale", "random_state": 0, "penalty": 1e-2}


@pytest.fixture(scope="module")
def client():
    try:
        multiprocessing.Semaphore()
    except OSError as fault:
        pytest.skip(f"Python makes no semaphore here, which dask's processes need: {fault}")
    with dask.config.set({"distributed.scheduler.allowed-failures": 5}):
        with LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None
        ) as cluster:
            with Client(cluster) as client:
                yield client


@pytest.fixture(scope="module")
def rows():
    random = np.random.RandomState(0)
    X = random.normal(size=(6000, 3)) * [1.0, 2.0, 5.0]
    return X, np.sin(X[:, 0]) + 0.3 * X[:, 1] + 0.1 * random.normal(size=6000)


def test_arrays(client, rows):
    X, y = rows
    estimator = KernelRidgeRegressor(**{**OPTIONS, "gamma": "median"})
    whole = clone(estimator).fit(X, y)
    # Several chunks of columns, chunks of different sizes, and one of a single row.
    lazy = da.from_array(X, chunks=((2500, 1, 3499), (2, 1)))
    target = da.from_array(y, chunks=1000)
    assert bochner.dask.fit(estimator, lazy, target) is estimator
    assert_allclose(estimator.predict(X), whole.predict(X), atol=1e-6 * np.abs(y).max())
    predicted = bochner.dask.predict(estimator, lazy)
    assert predicted.shape == (6000,) and predicted.dtype == np.float64
    assert_allclose(predicted.compute(), estimator.predict(X), atol=1e-9)
    # The work was done on the workers.
    ran = client.run(lambda: len(__import__("bochner").distributed._STATES))
    assert len(ran) == 2 and sum(ran.values()) >= 1


def test_frames_by_name(client, rows):
    X, y = rows
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    frame["kind"] = np.array(["low", "middle", "high"])[np.digitize(y, [-1.0, 1.0])]
    frame["weight"] = np.arange(6000) % 3
    estimator = KernelRidgeClassifier(class_weight="balanced", **OPTIONS)
    whole = clone(estimator).fit(frame[["a", "b", "c"]], frame["kind"], frame["weight"])
    lazy = dd.from_pandas(frame, npartitions=4)
    bochner.dask.fit(estimator, lazy, "kind", "weight")
    assert estimator.classes_.tolist() == ["high", "low", "middle"]
    own = frame[["a", "b", "c"]]
    assert_allclose(estimator.decision_function(own), whole.decision_function(own), atol=2e-6)
    labels = bochner.dask.predict(estimator, lazy[["a", "b", "c"]]).compute()
    assert (labels == estimator.predict(own)).all()
    scores = bochner.dask.decision_function(estimator, lazy[["a", "b", "c"]]).compute()
    assert_allclose(scores, estimator.decision_function(own), atol=1e-9)
    with pytest.raises(ValueError, match="no column 'sort'"):
        bochner.dask.fit(estimator, lazy, "sort")
    with pytest.raises(ValueError, match="feature names"):
        bochner.dask.predict(estimator, lazy[["b", "a", "c"]])


def test_features(client, rows):
    X = rows[0].astype(np.float32)
    sampler = RBFSampler(n_components=32, random_state=0).fit(X)
    lazy = bochner.dask.transform(sampler, da.from_array(X, chunks=(1700, 3)))
    assert lazy.shape == (6000, 32) and lazy.dtype == np.float32
    assert (lazy.compute() == sampler.transform(X)).all()


def test_a_worker_that_dies(client, rows, tmp_path):
    X, y = rows
    estimator = KernelRidgeRegressor(**OPTIONS)
    whole = clone(estimator).fit(X, y)

    def dies(block, block_info=None, where=str(tmp_path)):
        # Kill the worker at the first attempt of the third chunk in each of the two passes.
        if block_info[0]["chunk-location"][0] == 2:
            time = len(os.listdir(where))
            open(os.path.join(where, str(time)), "w").close()
            if time in (0, 2):
                os.kill(os.getpid(), signal.SIGKILL)
        return block

    lazy = da.from_array(X, chunks=(1000, 3)).map_blocks(dies, dtype=X.dtype, meta=X[:0])
    bochner.dask.fit(estimator, lazy, da.from_array(y, chunks=1000))
    assert len(os.listdir(tmp_path)) >= 4
    assert_allclose(estimator.predict(X), whole.predict(X), atol=1e-6 * np.abs(y).max())


def test_what_does_not_fit_together(client, rows):
    X, y = rows
    lazy = da.from_array(X, chunks=(1000, 3))
    model = KernelRidgeRegressor(**OPTIONS)
    with pytest.raises(ValueError, match="X has 6000 rows, and y has 5999"):
        bochner.dask.fit(model, lazy, da.from_array(y[1:], chunks=1000))
    with pytest.raises(TypeError, match="y is a ndarray"):
        bochner.dask.fit(model, lazy, y)
    with pytest.raises(TypeError, match="no array or frame of Dask"):
        bochner.dask.fit(model, X, y)
    with pytest.raises(TypeError, match="names of columns"):
        bochner.dask.fit(model, lazy, "y")
    with pytest.raises(ValueError, match="NaN"):
        bochner.dask.fit(model, da.where(lazy > 4, np.nan, lazy), da.from_array(y, chunks=1000))
