"""Tests of `bochner.scan`: files as inputs instead of arrays."""

import os
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


@pytest.fixture(scope="module", params=["npy", "npz", "csv", "parquet", "arrow"])
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
    if request.param in ("parquet", "arrow"):
        pyarrow = pytest.importorskip("pyarrow")
        columns = {name: X[:, i] for i, name in enumerate("abcd")}
        table = pyarrow.table({**columns, "y": y})
        if request.param == "parquet":
            pytest.importorskip("pyarrow.parquet").write_table(table, path, row_group_size=700)
        else:
            with pyarrow.ipc.new_file(path, table.schema) as file:
                file.write_table(table, max_chunksize=700)
        return bochner.scan(path, target="y")
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
    # Small memory, so that there are several chunks.
    options = {"n_components": 60, "random_state": 0, "memory": 1 << 18}
    for kind in (KernelRidgeRegressor, GaussianProcessRegressor, FalkonRegressor):
        # Targets of every file format must be read in full precision.
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
    assert stream.forget(scan)._state[0].rows == N


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
    # Labels from Python for the rows of a file.
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
    with pytest.raises(ValueError, match="x.parquet: cannot be read .*too small"):
        (tmp_path / "x.parquet").write_bytes(b"")
        bochner.scan(tmp_path / "x.parquet")
    model = KernelRidgeRegressor(n_components=20).fit(X, y)
    with pytest.raises(ValueError, match="ends in .npy or .csv"):
        model.predict(bare, output=tmp_path / "p.txt")
    assert pickle.loads(pickle.dumps(bare)).n_samples == N
    assert repr(bare) == "<5000 rows of 4 features in x.npy>"


MEMORY = """
import sys
import bochner
def peak():
    # Of this program alone; what getrusage says begins with that of the one which started it.
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("VmHWM:"))
model = bochner.KernelRidgeRegressor(n_components=50, gamma=0.1, memory=8 << 20, device="cpu")
peaks = []
for x, y in (sys.argv[1:3], sys.argv[3:5]):
    rows = bochner.scan(x, targets=y)
    model.fit(rows)
    model.predict(rows, output=sys.argv[5])
    peaks.append(peak())
print(peaks[1] - peaks[0])
"""


@pytest.mark.skipif(sys.platform != "linux", reason="asks /proc")
def test_memory_does_not_grow_with_rows(tmp_path):
    X = np.random.RandomState(0).normal(size=(400_000, 40)).astype(np.float32)
    np.save(tmp_path / "x.npy", X)
    np.save(tmp_path / "y.npy", X[:, 0].astype(np.float64))
    # Control: an eighth of the rows, which also need several chunks.
    np.save(tmp_path / "few_x.npy", X[:50_000])
    np.save(tmp_path / "few_y.npy", X[:50_000, 0].astype(np.float64))
    names = ("few_x.npy", "few_y.npy", "x.npy", "y.npy", "p.npy")
    files = [str(tmp_path / name) for name in names]
    # Each thread allocates buffers at its first work, which can be late if there are many threads.
    env = {**os.environ, "RAYON_NUM_THREADS": "2"}
    run = subprocess.run(
        [sys.executable, "-c", MEMORY, *files], capture_output=True, text=True, check=True, env=env
    )
    # After few rows the process has all reusable buffers, so that the peak should not grow. The
    # additional rows have 56 MB, twice the limit.
    assert int(run.stdout) < 28_000
    assert np.load(files[-1]).shape == (400_000,)


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


def test_progress_of_predictions(rows, capsys, monkeypatch):
    X, y = rows
    monkeypatch.setitem(sys.modules, "tqdm", None)
    options = {"n_components": 300, "random_state": 0, "memory": 1 << 18}
    model = KernelRidgeRegressor(**options).fit(X, y)
    many = np.tile(X, (20, 1))
    quiet = model.predict(many)
    assert capsys.readouterr().err == ""
    model.set_params(verbose=True)
    assert (model.predict(many) == quiet).all()
    assert f" of {len(many):,} rows" in capsys.readouterr().err
    # Predictions of few rows show no progress.
    model.predict(X[:2])
    assert capsys.readouterr().err == ""


def test_columns_are_found_by_their_names(rows, tmp_path):
    X, y = rows
    X, y = X[:500], y[:500]
    path = tmp_path / "rows.csv"
    np.savetxt(path, np.column_stack([X, y]), "%.17g", ",", header="a,b,c,d,y", comments="")
    other = tmp_path / "other.csv"
    # Columns in another order, with the target and an additional column among them.
    table = np.column_stack([y, X[:, 2], X[:, 0], np.zeros(500), X[:, 1], X[:, 3]])
    np.savetxt(other, table, "%.17g", ",", header="y,c,a,e,b,d", comments="")
    model = KernelRidgeRegressor(n_components=50, gamma="scale", random_state=0)
    model.fit(bochner.scan(path, target="y"))
    expected = np.concatenate(list(model.predict(bochner.scan(path, target="y"))))
    for again in (bochner.scan(other), bochner.scan(other, target="y"), pickle.loads(pickle.dumps(bochner.scan(other)))):
        assert (np.concatenate(list(model.predict(again))) == expected).all()
    pandas = pytest.importorskip("pandas")
    framed = clone(model).fit(pandas.DataFrame(X, columns=list("abcd")), y)
    assert_allclose(np.concatenate(list(framed.predict(bochner.scan(other)))), expected, atol=1e-4)
    # The model file contains the column names.
    model.save(tmp_path / "rows.model")
    loaded = KernelRidgeRegressor.load(tmp_path / "rows.model")
    assert list(loaded.feature_names_in_) == list("abcd")
    assert (np.concatenate(list(loaded.predict(bochner.scan(other)))) == expected).all()
    framed.save(tmp_path / "framed.model")
    assert list(KernelRidgeRegressor.load(tmp_path / "framed.model").feature_names_in_) == list("abcd")
    np.savetxt(other, table, "%.17g", ",", header="y,c,a,e,b,f", comments="")
    with pytest.raises(ValueError, match="no column .d."):
        model.predict(bochner.scan(other))
    few = bochner.scan(path, target="y", columns=["c", "a"])
    assert few.feature_names == ["c", "a"] and few.n_features == 2
    assert pickle.loads(pickle.dumps(few)).feature_names == ["c", "a"]
    assert clone(model).fit(few).n_features_in_ == 2


def test_scores_of_files(rows, scan, tmp_path):
    X, y = rows
    options = {"n_components": 60, "gamma": 0.2, "random_state": 0, "memory": 1 << 18}
    model = KernelRidgeRegressor(**options).fit(X, y)
    if scan.feature_names is not None:
        model.fit(scan)
    w = np.linspace(0.1, 3.0, N)
    assert model.score(scan) == pytest.approx(model.score(X, y), abs=1e-6)
    assert model.score(scan, y + X[:, 1], w) == pytest.approx(model.score(X, y + X[:, 1], w), abs=1e-6)
    far = KernelRidgeRegressor(**options).fit(X, np.stack([y + 1e6, X[:, 1]], axis=1))
    Y = np.stack([y + 1e6, X[:, 2]], axis=1)
    assert far.score(scan, Y) == pytest.approx(far.score(X, Y), abs=1e-6)
    labels = np.where(y > 0, "up", "down")
    classes = KernelRidgeClassifier(**options).fit(X, labels)
    assert classes.score(scan, labels, w) == pytest.approx(classes.score(X, labels, w))
    np.savez(tmp_path / "signs.npz", X=X, y=np.sign(y))
    signs = KernelRidgeClassifier(**options).fit(bochner.scan(tmp_path / "signs.npz"))
    assert signs.score(bochner.scan(tmp_path / "signs.npz")) == signs.score(X, np.sign(y))
    np.save(tmp_path / "x.npy", X)
    with pytest.raises(ValueError, match="has no targets and y is None"):
        model.score(bochner.scan(tmp_path / "x.npy"))
    with pytest.raises(ValueError, match="y has"):
        model.score(scan, y[:-1])
    with pytest.raises(ValueError, match="y has"):
        model.score(scan, np.append(y, 0.0))


def test_tests_of_files(rows, scan, tmp_path):
    X, _ = rows
    Y = X[:, :2] + 0.1
    np.savetxt(tmp_path / "y.csv", Y, "%.17g", ",", header="a,b", comments="")
    other = bochner.scan(tmp_path / "y.csv")
    options = {"n_components": 40, "gamma": 0.3, "random_state": 0, "memory": 1 << 18}
    for test, arrays, files in (
        (bochner.mmd_test, (X, X + 0.05), (scan, X + 0.05)),
        (bochner.hsic_test, (X, Y), (scan, other)),
        (bochner.rcot_test, (X, Y, X[:, :1]), (scan, other, X[:, :1])),
    ):
        found, expected = test(*files, **options), test(*arrays, **options)
        assert found.statistic == pytest.approx(expected.statistic, rel=1e-4)
        assert found.pvalue == pytest.approx(expected.pvalue, abs=1e-3)
    np.savetxt(tmp_path / "y.csv", Y[:-1], "%.17g", ",", header="a,b", comments="")
    with pytest.raises(ValueError, match="differ in their rows"):
        bochner.hsic_test(scan, bochner.scan(tmp_path / "y.csv"), **options)


def test_the_width_of_sparse_files(tmp_path):
    random = np.random.RandomState(0)
    X = random.normal(size=(300, 5))
    y = X[:, 0]
    train, new = tmp_path / "train.libsvm", tmp_path / "new.libsvm"
    def write(path, rows, columns):
        lines = [f"{t} " + " ".join(f"{j + 1}:{x[j]}" for j in range(columns)) for x, t in zip(rows, y)]
        path.write_text("\n".join(lines) + "\n")
    write(train, X, 5)
    write(new, X, 3)
    model = KernelRidgeRegressor(n_components=50, random_state=0).fit(bochner.scan(train))
    X[:, 3:] = 0.0
    narrow = bochner.scan(new)
    assert narrow.n_features == 3 and bochner.scan(new, width=7).n_features == 7
    assert_allclose(np.concatenate(list(model.predict(narrow))), model.predict(X), atol=1e-6)
    assert model.score(narrow) == pytest.approx(model.score(X, y))
    with pytest.raises(ValueError, match="X has 7 features"):
        model.predict(bochner.scan(new, width=7))


@pytest.fixture(params=["csv", "parquet", "arrow"])
def table(request, tmp_path):
    """A table with text, label, target and weight columns; also returns the columns."""
    pyarrow = pytest.importorskip("pyarrow")
    random = np.random.RandomState(0)
    n = 1200
    city = np.array(["Basel", "Bern", "Chur"])[random.randint(0, 3, size=n)]
    size = random.uniform(10, 100, size=n)
    price = 3 * size + 50 * (city == "Bern") - 80 * (city == "Chur") + random.normal(size=n)
    kind = np.where(price > 200, "dear", "cheap")
    count = random.randint(0, 3, size=n).astype(float)
    parts = {"size": size, "city": city, "price": price, "kind": kind, "count": count}

    def write(name, rows, without=()):
        path = tmp_path / f"{name}.{request.param}"
        columns = {key: of[rows] for key, of in parts.items() if key not in without}
        if request.param == "csv":
            lines = [",".join(columns)] + [",".join(map(str, row)) for row in zip(*columns.values())]
            path.write_text("\n".join(lines) + "\n")
            return path
        made = pyarrow.table(columns)
        if request.param == "parquet":
            pytest.importorskip("pyarrow.parquet").write_table(made, path)
        else:
            with pyarrow.ipc.new_file(path, made.schema) as file:
                file.write_table(made)
        return path

    return write, parts


def test_columns_of_text(table, tmp_path):
    write, parts = table
    everything = slice(None)
    path = write("houses", everything)
    cities = ["Basel", "Bern", "Chur"]
    X = np.column_stack([parts["size"]] + [parts["city"] == city for city in cities])
    options = {"n_components": 100, "penalty": 1e-6, "random_state": 0, "memory": 1 << 18}
    scan = bochner.scan(path, target="price", columns=["size", "city"])
    model = KernelRidgeRegressor(**options).fit(scan)
    expected = KernelRidgeRegressor(**options).fit(X, parts["price"])
    assert list(model.feature_names_in_) == ["size", "city=Basel", "city=Bern", "city=Chur"]
    assert model.n_features_in_ == 4
    found = np.concatenate(list(model.predict(scan)))
    assert_allclose(found, expected.predict(X), atol=1e-3 * parts["price"].std())
    assert model.score(scan) == pytest.approx(expected.score(X, parts["price"]), abs=1e-5)
    # New rows without the target column, and with one city only.
    some = np.flatnonzero(parts["city"] == "Chur")
    new = bochner.scan(write("new", some, without=["price"]))
    assert_allclose(np.concatenate(list(model.predict(new))), found[some], atol=1e-9)
    model.save(tmp_path / "houses.model")
    for again in (
        KernelRidgeRegressor.load(tmp_path / "houses.model"),
        pickle.loads(pickle.dumps(model)),
    ):
        assert_allclose(np.concatenate(list(again.predict(new))), found[some], atol=1e-9)
    chosen = bochner.AutoRegressor(n_components=50, budget=2, random_state=0).fit(scan)
    assert list(chosen.feature_names_in_) == list(model.feature_names_in_)
    assert chosen.score(scan) > 0.9 and len(chosen.feature_importances_) == 4
    with pytest.raises(NotImplementedError, match="holds text, and amounts are fitted"):
        KernelRidgeRegressor(**options).fit(bochner.scan(path, target="kind"))
    with pytest.raises(ValueError, match="city"):
        RBFSampler().fit(bochner.scan(path, columns=["size", "city"])).transform(
            bochner.scan(path, columns=["size", "city"])
        )


def test_labels_of_text(table, tmp_path):
    write, parts = table
    path = write("houses", slice(None))
    scan = bochner.scan(path, target="kind", columns=["size", "city"])
    cities = ["Basel", "Bern", "Chur"]
    X = np.column_stack([parts["size"]] + [parts["city"] == city for city in cities])
    options = {"n_components": 100, "random_state": 0, "memory": 1 << 18}
    for kind in (KernelRidgeClassifier, KernelLogisticRegression, bochner.BoostingClassifier):
        model = kind(**options).fit(scan)
        assert list(model.classes_) == ["cheap", "dear"]
        found = np.concatenate(list(model.predict(scan)))
        expected = kind(**options).fit(X, parts["kind"]).predict(X)
        assert (found == expected).mean() > 0.98
        assert model.score(scan) == pytest.approx((found == parts["kind"]).mean())
        assert model.score(scan, parts["kind"]) == pytest.approx(model.score(scan))
        model.save(tmp_path / "kinds.model")
        again = kind.load(tmp_path / "kinds.model")
        assert (np.concatenate(list(again.predict(scan))) == found).all()
        assert again.score(scan) == pytest.approx(model.score(scan))


def test_missing_values_categories_and_weights(table):
    write, parts = table
    path = write("houses", slice(None))
    options = {"n_components": 100, "random_state": 0, "penalty": 1e-3, "memory": 1 << 18}
    columns = {"target": "price", "columns": ["size"]}
    weighed = KernelRidgeRegressor(**options).fit(bochner.scan(path, weight="count", **columns))
    X = parts["size"][:, None]
    expected = KernelRidgeRegressor(**options).fit(X, parts["price"], parts["count"])
    assert_allclose(weighed.predict(X), expected.predict(X), atol=1e-3)
    plain = KernelRidgeRegressor(**options).fit(bochner.scan(path, **columns))
    assert abs(plain.predict(X) - expected.predict(X)).max() > 0.1
    counted = bochner.scan(path, weight="count", **columns)
    score = expected.score(X, parts["price"], parts["count"])
    assert weighed.score(counted) == pytest.approx(score, abs=1e-6)
    with pytest.raises(NotImplementedError, match="takes no weights"):
        bochner.KernelICA(n_components=1).fit(counted)
    # k-means uses the weight column in `fit` and `partial_fit`.
    clusters = {"n_clusters": 1, "random_state": 0, "map_components": 20}
    kmeans = bochner.KernelKMeans(**clusters).fit(counted)
    alike = bochner.KernelKMeans(**clusters).fit(X, sample_weight=parts["count"])
    assert kmeans.inertia_ == pytest.approx(alike.inertia_, rel=1e-4)
    assert kmeans.score(counted) == pytest.approx(-kmeans.inertia_, rel=1e-4)
    kmeans.partial_fit(counted)
    assert kmeans._growing.weights == pytest.approx([2 * w for w in kmeans._sizes], rel=1e-6)
    assert sum(kmeans._sizes) == pytest.approx(parts["count"].sum())
    # A column of numbers as categories.
    named = bochner.scan(path, target="price", columns=["size", "count"], categorical="count")
    model = KernelRidgeRegressor(**options).fit(named)
    assert [name.split("=")[0] for name in model.feature_names_in_] == ["size"] + ["count"] * 3
    hashed = bochner.scan(path, target="price", columns=["city"], most_categories=2)
    assert list(KernelRidgeRegressor(**options).fit(hashed).feature_names_in_) == ["city#0", "city#1"]
    of_words = bochner.scan(path, target="price", columns=["city"], words="city")
    names = KernelRidgeRegressor(**options).fit(of_words, parts["price"]).feature_names_in_
    assert [names[0], len(names)] == ["city: words 0", 256]
    # Target encoding uses the targets of the file; targets from Python disable it.
    means = bochner.scan(path, target="price", columns=["city"], by_target="city")
    model = KernelRidgeRegressor(**options).fit(means)
    assert list(model.feature_names_in_) == ["city: mean of price"]
    beside = KernelRidgeRegressor(**options).fit(means, parts["price"])
    assert all(name.startswith("city=") for name in beside.feature_names_in_)
    if path.suffix != ".csv":
        return
    lines = path.read_text().split("\n")
    _, rest = lines[1].split(",", 1)
    lines[1] = "," + rest
    path.write_text("\n".join(lines))
    with pytest.raises(ValueError, match="let missing='indicator' .* stand for it"):
        KernelRidgeRegressor(**options).fit(bochner.scan(path, missing="error", **columns))
    with pytest.warns(UserWarning, match=r"missing: 1 of \d+ rows; size \(1\) filled with means"):
        KernelRidgeRegressor(**options).fit(bochner.scan(path, **columns))
    for missing in ("mean", "median"):
        scan = bochner.scan(path, missing=missing, **columns)
        model = KernelRidgeRegressor(**options).fit(scan)
        stands = getattr(np, missing)(parts["size"][1:])
        first = next(iter(model.predict(scan)))[0]
        assert first == pytest.approx(model.predict([[stands]])[0], rel=1e-4)
    shown = bochner.scan(path, missing="indicator", **columns)
    model = KernelRidgeRegressor(**options).fit(shown)
    assert list(model.feature_names_in_) == ["size", "size is missing"]
    with pytest.raises(ValueError, match="none of auto, mean"):
        bochner.scan(path, missing="some", **columns)
    expected = next(iter(model.predict(shown)))
    lines[1] = "nix" + lines[1]
    path.write_text("\n".join(lines))
    with pytest.raises(ValueError, match='"nix" among numbers; .* na="nix"'):
        KernelRidgeRegressor(**options).fit(bochner.scan(path, missing="mean", **columns))
    dashes = bochner.scan(path, missing="indicator", na="nix", **columns)
    again = KernelRidgeRegressor(**options).fit(dashes)
    assert list(again.feature_names_in_) == ["size", "size is missing"]
    assert_allclose(next(iter(again.predict(dashes))), expected)


def test_dates_have_parts_where_they_are_asked_for(tmp_path):
    path = tmp_path / "days.csv"
    rows = (f"2024-01-{day:02},{day % 7}.5\n" for day in range(1, 29))
    path.write_text("day,y\n" + "".join(rows))
    options = {"n_components": 20, "gamma": 0.01, "penalty": 1e-3, "random_state": 0}
    names = ["day", "day: week sin", "day: week cos"]
    for dates, width in (("day", 1), ("parts", 3)):
        scan = bochner.scan(path, target="y", dates=dates)
        model = KernelRidgeRegressor(**options).fit(scan)
        assert list(model.feature_names_in_) == names[:width]
    with pytest.raises(ValueError, match="neither day nor parts"):
        bochner.scan(path, target="y", dates="hours")


def test_lines_and_characters_of_files(tmp_path):
    def table(begin="", mark=",", gaps=()):
        row = "{0}{m}{1}.5{m}{2}\n"
        target = ("" if i in gaps else i * i % 11 for i in range(60))
        rows = (row.format(i, i % 7, y, m=mark) for i, y in enumerate(target))
        return begin + f"t{mark}größe{mark}y\n" + "".join(rows)

    path = tmp_path / "rows.csv"
    path.write_text(table(), encoding="utf-8")
    options = {"n_components": 20, "gamma": 0.01, "penalty": 1e-3, "random_state": 0}
    scan = bochner.scan(path, target="y")
    expected = next(iter(KernelRidgeRegressor(**options).fit(scan).predict(scan)))
    for text, encoding, given in (
        (table("sep=;\n", ";"), "utf-8", {}),
        (table("Sales\n\n"), "utf-8", {"skip_rows": 2}),
        (table("% by hand\n"), "utf-8", {"comment": "%"}),
        (table(mark="|"), "latin-1", {"encoding": "latin-1", "delimiter": "|"}),
    ):
        path.write_text(text, encoding=encoding)
        scan = bochner.scan(path, target="y", **given)
        model = KernelRidgeRegressor(**options).fit(scan)
        assert list(model.feature_names_in_) == ["t", "größe"]
        for again in (scan, pickle.loads(pickle.dumps(scan))):
            assert (next(iter(model.predict(again))) == expected).all()
    for encoding, says in (("latin-1", "windows-1252"), ("utf-16", "UTF-16LE")):
        path.write_text(table(), encoding=encoding)
        with pytest.warns(UserWarning, match=f"{says}.*encoding="):
            assert bochner.scan(path, target="y").feature_names == ["t", "größe"]
    path.write_text(table("Sales\n"), encoding="utf-8")
    with pytest.raises(ValueError, match="skip_rows=1"):
        bochner.scan(path, target="y")
    path.write_text("2019,2020\n1,2\n", encoding="utf-8")
    with pytest.raises(ValueError, match="header='yes'"):
        bochner.scan(path, target="2020")
    assert bochner.scan(path, target="2020", header="yes").feature_names == ["2019"]
    for wrong in ({"header": "maybe"}, {"encoding": "klingon"}, {"comment": ""}):
        with pytest.raises(ValueError):
            bochner.scan(path, **wrong)
    # Rows with missing targets.
    path.write_text(table(gaps=(3, 50)), encoding="utf-8")
    with pytest.raises(ValueError, match="drop_rows_without_target=True"):
        KernelRidgeRegressor(**options).fit(bochner.scan(path, target="y"))
    rows = bochner.scan(path, target="y", drop_rows_without_target=True)
    with pytest.warns(UserWarning, match="2 rows without a target left out"):
        model = KernelRidgeRegressor(**options).fit(rows)
    assert len(next(iter(model.predict(rows)))) == 58


def test_warm_starts_on_files(rows, tmp_path):
    X, y = rows
    labels = np.where(y > 0.5, 7, np.where(y > -0.5, 2, -1))
    options = {"n_components": 60, "gamma": 0.2, "random_state": 0, "tol": 1e-4}
    np.savez(tmp_path / "classes.npz", X=X, y=labels)
    np.savez(tmp_path / "two.npz", X=X, y=labels > 0)
    np.savez(tmp_path / "amounts.npz", X=X, y=y)
    cases = [
        (KernelLogisticRegression(warm_start=True, **options), "classes.npz"),
        (bochner.KernelSVC(warm_start=True, **options), "classes.npz"),
        (bochner.KernelSVR(warm_start=True, loss="huber", epsilon=0.1, **options), "amounts.npz"),
    ]
    for warm, name in cases:
        scan = bochner.scan(tmp_path / name)
        cold = warm.fit(scan).n_iter_
        assert cold > 3
        warm.fit(scan)
        assert warm.n_iter_ < cold / 2
        # Warm start on an array after a fit to a file.
        warm.fit(X, labels if name == "classes.npz" else y)
        assert warm.n_iter_ < cold / 2
        # Other classes start from zero.
        if name == "classes.npz":
            assert list(warm.fit(bochner.scan(tmp_path / "two.npz")).classes_) == [0, 1]
            assert warm.score(bochner.scan(tmp_path / "two.npz")) > 0.9


def test_parts_of_classes_from_files(rows, tmp_path):
    X, y = rows
    np.save(tmp_path / "x.npy", X)
    scan = bochner.scan(tmp_path / "x.npy")
    names, weights = np.where(y > 0, "up", "down"), np.linspace(0.1, 2.0, N)
    options = {"n_components": 60, "gamma": 0.2, "penalty": 1e-2, "random_state": 0}
    options |= {"class_weight": {"up": 3.0}, "standardize": "no"}
    own = KernelRidgeClassifier(**options)
    own.partial_fit(scan, names, classes=["down", "up"], sample_weight=weights)
    expected = KernelRidgeClassifier(**options).partial_fit(X, names, ["down", "up"], weights)
    assert_allclose(own.decision_function(X), expected.decision_function(X), atol=1e-5)
    # Class weights are equivalent to sample weights.
    by_hand = KernelRidgeClassifier(**{**options, "class_weight": None})
    factors = weights * np.where(y > 0, 3.0, 1.0)
    by_hand.partial_fit(scan, names, classes=["down", "up"], sample_weight=factors)
    assert_allclose(own.decision_function(X), by_hand.decision_function(X), atol=1e-5)
    own.forget(scan, names, weights)
    with pytest.raises(ValueError, match="none of the classes"):
        own.partial_fit(scan, np.where(y > 0, "up", "left"))
    for kind in (RBFSampler, Nystroem):
        sampler = kind(n_components=8, random_state=0).partial_fit(scan).partial_fit(scan)
        assert sampler.transform(X).shape == (N, 8)
        np.save(tmp_path / "thin.npy", X[:, :2])
        with pytest.raises(ValueError, match="X has 2 features"):
            sampler.partial_fit(bochner.scan(tmp_path / "thin.npy"))
