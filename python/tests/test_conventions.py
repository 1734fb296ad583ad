"""Tests of scikit-learn's conventions for estimators."""

import os
import pickle
import shutil
import subprocess
import sys

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.base import clone
from sklearn.datasets import load_digits
from sklearn.linear_model import RidgeClassifier
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

from bochner import (
    AdditiveChi2Sampler,
    Nystroem,
    PolynomialCountSketch,
    RBFSampler,
    SkewedChi2Sampler,
    devices,
)

TRANSFORMERS = [
    RBFSampler(),
    RBFSampler(kernel="matern32", sampling="orthogonal"),
    RBFSampler(map="fastfood"),
    Nystroem(),
    Nystroem("matern52"),
    Nystroem("polynomial"),
    PolynomialCountSketch(),
    PolynomialCountSketch(degree=3, coef0=1.0, gamma=0.5),
    # scikit-learn's checks use data with negative values.
    SkewedChi2Sampler(skewedness=40.0),
]


@parametrize_with_checks([*TRANSFORMERS, SkewedChi2Sampler(), AdditiveChi2Sampler()])
def test_checks_of_scikit_learn(estimator, check):
    check(estimator)


@pytest.mark.parametrize("transformer", TRANSFORMERS, ids=str)
def test_pickle_and_clone(transformer):
    X = np.random.RandomState(0).normal(size=(120, 3))
    fitted = clone(transformer).set_params(random_state=1, n_components=20).fit(X)
    Z = fitted.transform(X)
    again = pickle.loads(pickle.dumps(fitted))
    assert (again.transform(X) == Z).all()
    assert_allclose(clone(fitted).fit(X).transform(X), Z)
    assert Z.shape == (120, 20)
    names = fitted.get_feature_names_out()
    assert names[19] == type(transformer).__name__.lower() + "19"


def test_data_frames():
    pandas = pytest.importorskip("pandas")
    polars = pytest.importorskip("polars")
    X = np.random.RandomState(0).normal(size=(30, 3))
    expected = RBFSampler(random_state=0).fit_transform(X)
    for frame, kind in (
        (pandas.DataFrame(X, columns=list("abc")), "pandas"),
        (polars.DataFrame(X, schema=list("abc")), "polars"),
    ):
        sampler = RBFSampler(random_state=0).set_output(transform=kind)
        Z = sampler.fit_transform(frame)
        assert type(Z) is type(frame)
        assert list(Z.columns)[0] == "rbfsampler0"
        assert (np.asarray(Z) == expected).all()
        assert list(sampler.feature_names_in_) == ["a", "b", "c"]


def test_pipeline_and_grid_search():
    X, y = load_digits(return_X_y=True)
    pipeline = make_pipeline(RBFSampler(n_components=500, random_state=0), RidgeClassifier())
    grid = {"rbfsampler__gamma": [1e-6, 5e-4]}
    search = GridSearchCV(pipeline, grid, cv=2, n_jobs=2).fit(X, y)
    assert search.best_params_["rbfsampler__gamma"] == 5e-4
    assert search.best_score_ > 0.93


def test_devices():
    found = devices()
    assert found["cpu"].startswith("CPU") and isinstance(found["adapters"], list)
    with pytest.raises(RuntimeError, match="no adapter is called"):
        RBFSampler(device="no such device").fit([[0.0], [1.0]]).transform([[0.0]])


def test_few_rows_are_checked_as_many_are():
    rows = np.random.RandomState(0).normal(size=(5000, 8))
    fitted = RBFSampler(n_components=16, random_state=0, device="cpu").fit(rows)

    def said(X):
        try:
            return fitted.transform(X)
        except ValueError as error:
            return type(error), str(error)

    for fault in (np.nan, np.inf, -np.inf):
        few, many = rows[:3].copy(), rows.copy()
        few[1, 7] = many[1, 7] = fault
        for dtype in (np.float32, np.float64):
            assert said(few.astype(dtype)) == said(many.astype(dtype))
            assert said(few.astype(dtype))[0] is ValueError
    for faulty in (rows[:3, :7], rows[0], rows[:0], rows[:3, :, np.newaxis]):
        assert said(faulty)[0] is ValueError
    assert said(rows[:3, :7]) == said(rows[:, :7])
    plain = said(rows[:3])
    for same in (rows[:3].tolist(), rows[:3].astype(">f8"), np.asfortranarray(rows[:3])):
        np.testing.assert_array_equal(said(same), plain)
    # Large values are valid although their sum overflows.
    large = RBFSampler(gamma=1e-76, n_components=16, random_state=0, device="cpu").fit(rows)
    assert np.isfinite(large.transform(np.full((3, 8), 3e38, dtype=np.float32))).all()


def test_names_of_columns_are_missed_in_few_rows():
    pandas = pytest.importorskip("pandas")
    table = pandas.DataFrame(np.eye(4), columns=list("abcd"))
    fitted = RBFSampler(n_components=16, random_state=0, device="cpu").fit(table)
    with pytest.warns(UserWarning, match="valid feature names"):
        fitted.transform(np.eye(4))


@pytest.mark.parametrize("device", ["cpu", "auto"])
def test_drivers_say_nothing(device):
    """Messages of graphics drivers on stderr are suppressed, such as those of Mesa here."""
    program = "import bochner, numpy as np; x = np.random.RandomState(0).normal(size=(90, 2)); "
    program += f"bochner.KernelRidgeRegressor(device={device!r}).fit(x, np.sin(x[:, 0])).predict(x)"
    env = {name: of for name, of in os.environ.items() if name != "XDG_RUNTIME_DIR"}
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, env=env)
    assert (run.returncode, run.stderr) == (0, "")


def test_what_others_write_while_a_device_is_opened_is_kept():
    program = (
        "import bochner, os, threading\n"
        "def write():\n"
        "    for i in range(200):\n"
        "        os.write(2, f'line {i}\\n'.encode())\n"
        "other = threading.Thread(target=write)\n"
        "other.start()\n"
        "for _ in range(5):\n"
        "    bochner.devices()\n"
        "other.join()\n"
    )
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    lines = [line for line in run.stderr.splitlines() if line.startswith("line ")]
    assert sorted(lines, key=lambda line: int(line[5:])) == [f"line {i}" for i in range(200)]


@pytest.mark.skipif(sys.platform != "linux" or shutil.which("cc") is None, reason="needs a compiler")
def test_the_noise_of_drivers_is_left_out_and_nothing_else(tmp_path):
    noise, word = "error: XDG_RUNTIME_DIR is invalid", "a word about the device"
    source = "#include <stdio.h>\n__attribute__((constructor)) static void say(void)"
    source += f' {{ fputs("{noise}\\n{word}\\n", stderr); }}\n'
    (tmp_path / "loader.c").write_text(source)
    library = ["cc", "-shared", "-fPIC", "-o", "libvulkan.so.1", "loader.c"]
    subprocess.run(library, check=True, cwd=tmp_path)
    env = {**os.environ, "LD_LIBRARY_PATH": str(tmp_path)}
    program = [sys.executable, "-c", "import bochner; bochner.devices()"]
    run = subprocess.run(program, capture_output=True, text=True, env=env, check=True)
    assert run.stderr.splitlines() == [word]
