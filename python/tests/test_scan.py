"""Files in the place of arrays."""

import pickle
import subprocess
import sys

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.base import clone

import bochner
from bochner import (
    FalkonRegressor,
    GaussianProcessRegressor,
    KernelKMeans,
    KernelLogisticRegression,
    KernelPCA,
    KernelRidgeClassifier,
    KernelRidgeRegressor,
    Nystroem,
    OneClassSVM,
    RBFSampler,
)

N = 5000


@pytest.fixture(scope="module")
def rows():
    random = np.random.RandomState(0)
    X = random.normal(size=(N, 4)).astype(np.float32)
    y = np.sin(X[:, 0]) + 0.1 * random.normal(size=N)
    return X, y


@pytest.fixture(scope="module", params=["npy", "npz", "csv"])
def scan(rows, request, tmp_path_factory):
    X, y = rows
    folder = tmp_path_factory.mktemp("rows")
    path = folder / f"rows.{request.param}"
    if request.param == "npy":
        np.save(path, X)
        np.save(folder / "y.npy", y)
        return bochner.scan(path, targets=folder / "y.npy")
    if request.param == "npz":
        np.savez(path, X=X, y=y)
        return bochner.scan(str(path))
    table = np.column_stack([X, y])
    np.savetxt(path, table, "%.17g", ",", header="a,b,c,d,y", comments="")
    return bochner.scan(path, target="y")


def together(chunks):
    chunks = list(chunks)
    assert len(chunks) > 1
    return np.concatenate(chunks)


def test_fits_and_predictions_are_those_of_arrays(rows, scan, tmp_path):
    X, y = rows
    assert (scan.n_features, scan.n_targets) == (4, 1)
    assert scan.n_samples in (None, N)
    # Small chunks, to have several.
    options = {"n_components": 60, "random_state": 0, "memory": 1 << 18}
    for kind in (KernelRidgeRegressor, GaussianProcessRegressor, FalkonRegressor):
        # y is read as float32 from no file.
        expected = kind(**options).fit(X, y)
        model = kind(**options).fit(scan)
        assert_allclose(together(model.predict(scan)), expected.predict(X), atol=1e-5)
        given = kind(**options).fit(scan, y)
        assert_allclose(given.predict(X), expected.predict(X), atol=1e-5)
    if scan.feature_names is not None:
        assert list(model.feature_names_in_) == ["a", "b", "c", "d"]
    for name in ("out.npy", "out.csv"):
        path = tmp_path / name
        assert model.predict(scan, output=path) == N
        written = np.load(path) if name == "out.npy" else np.loadtxt(path, skiprows=1)
        assert_allclose(written, model.predict(X), atol=1e-5)


def test_weights_and_several_targets(rows, scan):
    X, y = rows
    Y = np.stack([y, -2 * y], axis=1)
    weights = np.random.RandomState(1).uniform(size=N)
    options = {"n_components": 60, "random_state": 0, "penalty": 1e-2, "memory": 1 << 18}
    expected = KernelRidgeRegressor(**options).fit(X, Y, weights)
    model = KernelRidgeRegressor(**options).fit(scan, Y, weights)
    assert_allclose(model.predict(X), expected.predict(X), atol=1e-5)
    plain = KernelRidgeRegressor(**options).fit(scan, Y)
    assert abs(plain.predict(X) - expected.predict(X)).max() > 1e-4
    for wrong in (Y[:-1], np.vstack([Y, Y])):
        with pytest.raises(ValueError, match=f"y has {len(wrong)} rows, the file"):
            KernelRidgeRegressor(**options).fit(scan, wrong)
    with pytest.raises(ValueError, match="sample_weight has 3 rows"):
        KernelRidgeRegressor(**options).fit(scan, Y, weights[:3])


def test_parts_of_a_stream_can_be_files(rows, scan):
    X, y = rows
    options = {"n_components": 60, "random_state": 0, "gamma": 0.3, "standardize": "no"}
    stream = KernelRidgeRegressor(**options).partial_fit(scan).partial_fit(X, y)
    expected = KernelRidgeRegressor(**options).partial_fit(X, y).partial_fit(X, y)
    assert_allclose(stream.predict(X), expected.predict(X), atol=1e-5)
    assert stream.forget(scan)._state.rows == N


def test_classes(rows, tmp_path):
    X, y = rows
    labels = np.where(y > 0.5, 7, np.where(y > -0.5, 2, -1))
    np.savez(tmp_path / "classes.npz", X=X, y=labels)
    scan = bochner.scan(tmp_path / "classes.npz")
    options = {"n_components": 60, "random_state": 0, "memory": 1 << 18}
    for kind in (KernelRidgeClassifier, KernelLogisticRegression):
        model = kind(**options).fit(scan)
        assert model.classes_.tolist() == [-1, 2, 7]
        expected = kind(**options).fit(X, labels)
        assert (together(model.predict(scan)) == expected.predict(X)).mean() > 0.999
    assert_allclose(together(model.predict_proba(scan)).sum(axis=1), 1.0)
    # Labels of Python beside the rows of the file.
    names = np.array(["low", "middle", "high"])[np.searchsorted([-1, 2, 7], labels)]
    model = KernelRidgeClassifier(**options, class_weight="balanced").fit(scan, names)
    fair = KernelRidgeClassifier(**options, class_weight="balanced").fit(X, names)
    assert (together(model.predict(scan)) == fair.predict(X)).mean() > 0.999
    with pytest.raises(TypeError, match="names"):
        model.predict(scan, output=tmp_path / "names.npy")
    assert not (tmp_path / "names.npy").exists()
    stream = KernelRidgeClassifier(n_components=60).partial_fit(scan, classes=[-1, 2, 7])
    assert stream.score(X, labels) > 0.8


def test_maps(rows, scan, tmp_path):
    X, _ = rows
    for kind in (RBFSampler, Nystroem):
        for options in ({}, {"gamma": "scale"}, {"kernel": "matern52"}):
            if kind is Nystroem and "gamma" in options:
                continue
            model = kind(n_components=24, random_state=0, memory=1 << 18, **options)
            expected = clone(model).fit(X)
            own = clone(model).fit(scan)
            assert_allclose(together(own.transform(scan)), expected.transform(X), atol=2e-4)
    assert_allclose(own.components_, expected.components_, rtol=1e-6)
    assert own.transform(scan, output=tmp_path / "z.npy") == N
    assert np.load(tmp_path / "z.npy").shape == (N, 24)


def test_learners_of_rows_alone(rows, scan):
    X, _ = rows
    options = {"map_components": 60, "random_state": 0, "memory": 1 << 18}
    pca = KernelPCA(n_components=3, **options)
    expected = clone(pca).fit(X)
    pca.fit(scan)
    assert_allclose(together(pca.transform(scan)), expected.transform(X), atol=1e-3)
    assert_allclose(
        together(pca.reconstruction_errors(scan)), expected.reconstruction_errors(X), atol=1e-3
    )
    clusters = KernelKMeans(n_clusters=3, **options).fit(scan)
    assert clusters.labels_.shape == (N,)
    assert (together(clusters.predict(scan)) == clusters.labels_).all()
    novel = OneClassSVM(nu=0.1, **options).fit(scan)
    assert 0.05 < (together(novel.predict(scan)) == -1).mean() < 0.15


def test_errors_say_what_to_do(rows, scan, tmp_path):
    X, y = rows
    np.save(tmp_path / "x.npy", X)
    bare = bochner.scan(tmp_path / "x.npy")
    with pytest.raises(ValueError, match="has no targets and y is None"):
        KernelRidgeRegressor().fit(bare)
    model = KernelRidgeRegressor(n_components=20).fit(X[:, :3], y)
    with pytest.raises(ValueError, match="X has 4 features"):
        model.predict(bare)
    with pytest.raises(TypeError, match="output="):
        model.predict(X[:, :3], output=tmp_path / "p.npy")
    with pytest.raises(OSError, match="missing.npy"):
        bochner.scan(tmp_path / "missing.npy")
    with pytest.raises(NotImplementedError, match="parquet"):
        (tmp_path / "x.parquet").write_bytes(b"")
        bochner.scan(tmp_path / "x.parquet")
    model = KernelRidgeRegressor(n_components=20).fit(X, y)
    with pytest.raises(ValueError, match="ends in .npy or .csv"):
        model.predict(bare, output=tmp_path / "p.txt")
    with pytest.raises(TypeError, match="in memory"):
        options = {"kernel": "gaussian", "map": "fourier", "seed": 0, "device": "cpu"}
        bochner._native.two_sample(bare._native, bare._native, options)
    assert pickle.loads(pickle.dumps(bare)).n_samples == N
    assert repr(bare) == "<5000 rows of 4 features in x.npy>"


MEMORY = """
import resource, sys
import bochner
model = bochner.KernelRidgeRegressor(n_components=50, gamma=0.1, memory=8 << 20, device="cpu")
rows = bochner.scan(sys.argv[1], targets=sys.argv[2])
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
model.fit(rows)
model.predict(rows, output=sys.argv[3])
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="ru_maxrss is in kilobytes on Linux")
def test_memory_does_not_grow_with_rows(tmp_path):
    X = np.random.RandomState(0).normal(size=(400_000, 40)).astype(np.float32)
    np.save(tmp_path / "x.npy", X)
    np.save(tmp_path / "y.npy", X[:, 0].astype(np.float64))
    files = [str(tmp_path / name) for name in ("x.npy", "y.npy", "p.npy")]
    run = subprocess.run(
        [sys.executable, "-c", MEMORY, *files], capture_output=True, text=True, check=True
    )
    # The file has 64 MB.
    assert int(run.stdout) < 40_000
    assert np.load(files[2]).shape == (400_000,)


def test_progress(rows, capsys, monkeypatch):
    X, y = rows
    monkeypatch.setitem(sys.modules, "tqdm", None)
    options = {"n_components": 300, "random_state": 0, "memory": 1 << 18}
    model = KernelRidgeRegressor(**options, verbose=True).fit(X, y)
    said = capsys.readouterr()
    assert "rows: " in said.err and " of 5,000 rows" in said.err and said.out == ""
    assert (KernelRidgeRegressor(**options).fit(X, y).predict(X) == model.predict(X)).all()
    assert capsys.readouterr().err == ""

    class Bar:
        said = []

        def __init__(self, total, desc, unit, file):
            self.n, self.what = 0, desc

        def update(self, more):
            self.n += more
            self.said.append((self.what, self.n))

        def close(self):
            pass

    module = type(sys)("tqdm")
    module.tqdm = Bar
    monkeypatch.setitem(sys.modules, "tqdm", module)
    KernelRidgeRegressor(**options, verbose=1).fit(X, y)
    whats = {what for what, _ in Bar.said}
    assert "survey" in whats or "rows" in whats
    assert all(n > 0 for _, n in Bar.said)
