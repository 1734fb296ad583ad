"""Tests of conventions that every class of the package follows."""

import inspect
import pickle
import re

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse
from sklearn.base import BaseEstimator, clone
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

import bochner

#: Few features, to save time.
SMALL = {"n_components": 20, "map_components": 20, "random_state": 0, "device": "cpu"}
OTHERS = {
    "AutoRegressor": {"budget": 1},
    "AutoClassifier": {"budget": 1},
    "KernelPCA": {"n_components": 2},
    "KernelICA": {"n_components": 2, "tol": 1e-2, "max_iter": 2000},
    "SpectralEmbedding": {"n_components": 2},
    "KernelKMeans": {"n_clusters": 3},
    "SpectralClustering": {"n_clusters": 3, "n_init": 2},
    "BoostingRegressor": {"block": 10, "stages": 50},
    "BoostingClassifier": {"block": 10, "stages": 50},
}
NAMES = [
    name
    for name in bochner.__all__
    if inspect.isclass(getattr(bochner, name)) and issubclass(getattr(bochner, name), BaseEstimator)
]
TRANSFORMERS = [name for name in NAMES if hasattr(getattr(bochner, name), "transform")]
CLASSIFIERS = [name for name in NAMES if hasattr(getattr(bochner, name), "decision_function")]
CLASSIFIERS.remove("OneClassSVM")
LEARNERS = [name for name in NAMES if hasattr(getattr(bochner, name), "save")]
N = 120


def made(name, **more):
    kind = getattr(bochner, name)
    known = kind().get_params()
    options = {**SMALL, **OTHERS.get(name, {}), **more}
    return kind(**{key: of for key, of in options.items() if key in known})


@pytest.fixture(scope="module")
def rows():
    """Samples that every class accepts, without negative values."""
    random = np.random.RandomState(0)
    X = random.uniform(0.1, 2.0, size=(N, 4))
    return X, np.sin(2 * X[:, 0]), np.where(X[:, 0] > 1.0, "high", np.where(X[:, 0] > 0.5, "mid", "low"))


def targets(name, rows):
    return rows[2] if name in CLASSIFIERS else rows[1]


def says(model, X):
    way = next(w for w in ("transform", "predict", "score_samples") if hasattr(model, w))
    found = getattr(model, way)(X)
    return found if inspect.isgenerator(found) else np.asarray(found)


def same(own, expected):
    if own.dtype.kind in "OUS":
        assert (own == expected).all()
    else:
        assert_allclose(own, expected, atol=1e-4 * max(1.0, abs(expected).max()))


@pytest.mark.parametrize("name", NAMES)
def test_tables_come_in(name, rows):
    pandas = pytest.importorskip("pandas")
    polars = pytest.importorskip("polars")
    pyarrow = pytest.importorskip("pyarrow")
    X, y = rows[0], targets(name, rows)
    expected = says(made(name).fit(X, y), X)
    columns = list("abcd")
    for table in (
        pandas.DataFrame(X, columns=columns),
        polars.DataFrame(X, schema=columns),
        pyarrow.table({c: X[:, i] for i, c in enumerate(columns)}),
    ):
        model = made(name).fit(table, y)
        assert list(model.feature_names_in_) == columns
        same(says(model, table), expected)
    for y in (pandas.Series(y), polars.Series(y.tolist()), pyarrow.array(y.tolist())):
        same(says(made(name).fit(X, y), X), expected)


@pytest.mark.parametrize("name", TRANSFORMERS)
def test_tables_come_out(name, rows):
    X, y = rows[0], targets(name, rows)
    model = made(name).fit(X, y)
    expected, names = says(model, X), model.get_feature_names_out()
    assert len(names) == expected.shape[1]
    for kind in ("pandas", "polars"):
        pytest.importorskip(kind)
        out = clone(model).set_output(transform=kind).fit(X, y).transform(X)
        assert type(out).__module__.startswith(kind)
        assert list(out.columns) == list(names)
        same(np.asarray(out), expected)


@pytest.mark.parametrize("name", NAMES)
def test_pickles_hold_no_device(name, rows):
    X, y = rows[0], targets(name, rows)
    fitted = made(name).fit(X, y)
    fresh = len(pickle.dumps(fitted))
    expected = says(fitted, X)
    again = pickle.loads(pickle.dumps(fitted))
    # The pickle does not contain data on devices.
    assert len(pickle.dumps(fitted)) == fresh
    same(says(again, X), expected)
    # An unknown device is an error only when it is used.
    elsewhere = pickle.loads(pickle.dumps(fitted.set_params(device="no such device")))
    check_is_fitted(elsewhere)
    with pytest.raises(RuntimeError, match="no adapter is called"):
        says(elsewhere, X)


@pytest.mark.parametrize("name", NAMES)
def test_files_come_in(name, rows, tmp_path):
    X, y = rows[0], targets(name, rows)
    np.save(tmp_path / "x.npy", X)
    scan = bochner.scan(tmp_path / "x.npy")
    model = made(name)
    own = np.concatenate(list(says(model.fit(scan, y), scan)))
    assert own.shape == says(model, X).shape
    same(own, says(model, X))
    assert says(model, X[:3]).shape[0] == 3
    if hasattr(model, "partial_fit"):
        parts = made(name, penalty=1e-3)
        classes = {"classes": np.unique(y)} if name in CLASSIFIERS else {}
        parts.partial_fit(scan, y, **classes).partial_fit(scan, y)
        assert len(np.concatenate(list(says(parts, scan)))) == N


@pytest.mark.parametrize("name", NAMES)
def test_sparse_rows_come_in(name, rows):
    X, y = rows[0] * (rows[0] > 0.7), targets(name, rows)
    if not made(name).__sklearn_tags__().input_tags.sparse:
        with pytest.raises(TypeError, match="[Ss]parse"):
            made(name).fit(sparse.csr_array(X), y)
        return
    expected = says(made(name).fit(X, y), X)
    for kind in (sparse.csr_array, sparse.csr_matrix):
        own = made(name).fit(kind(X), y)
        out = own.transform(kind(X)) if hasattr(own, "transform") else says(own, kind(X))
        same(out.toarray() if sparse.issparse(out) else np.asarray(out), expected)


@pytest.mark.parametrize("name", CLASSIFIERS)
def test_labels_are_anything(name, rows):
    X, text = rows[0], rows[2]
    codes = np.unique(text, return_inverse=True)[1]
    model = made(name).fit(X, text)
    assert list(model.classes_) == ["high", "low", "mid"]
    expected = np.searchsorted(model.classes_, model.predict(X))
    for classes in ([7, 9, 200], [-5.0, 2.0, 3.0], np.array(["a", "b", "c"], dtype=object)):
        other = made(name).fit(X, np.asarray(classes)[codes])
        assert list(other.classes_) == list(classes)
        found = np.searchsorted(other.classes_, other.predict(X))
        assert (found == expected).mean() > 0.99
    boolean = made(name).fit(X, text == "high")
    assert boolean.predict(X).dtype == bool


@pytest.mark.parametrize("name", NAMES)
def test_a_fit_comes_first(name, rows):
    if name == "AdditiveChi2Sampler":
        # It needs no fit, as in scikit-learn.
        return
    with pytest.raises(NotFittedError):
        says(made(name), rows[0])


#: Sentence of a docstring that refers to the parameters of another class.
ELSEWHERE = re.compile(r"The\s+other\s+parameters\s+are\s+described\s+in\s+`(\w+)`")


def described(kind):
    text = inspect.getdoc(kind)
    found = set()
    part = re.search(r"\nParameters\n-+\n(.*?)\n\n(\w+)\n-+\n", text, re.DOTALL)
    if part:
        for line in re.findall(r"^(\w[\w, ]*) :", part[1], re.MULTILINE):
            found.update(name.strip() for name in line.split(","))
    for other in ELSEWHERE.findall(text):
        found |= described(getattr(bochner, other))
    return found


@pytest.mark.parametrize("name", NAMES)
def test_docstrings_say_what_there_is(name):
    kind = getattr(bochner, name)
    parameters = set(kind().get_params())
    assert parameters <= described(kind), parameters - described(kind)
    text = inspect.getdoc(kind)
    for section in ("Attributes", "Examples"):
        assert f"\n{section}\n{'-' * len(section)}\n" in text, section
    for way in ("fit", "partial_fit", "predict", "transform", "decision_function", "score"):
        method = inspect.getdoc(getattr(kind, way, None)) if hasattr(kind, way) else None
        if method and way in vars(kind):
            assert "Parameters\n----------\n" in method and "Returns\n-------\n" in method, way
