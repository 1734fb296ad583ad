"""Tests of `bochner.accel`, which patches scikit-learn's classes."""

import subprocess
import sys

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse
from sklearn.kernel_approximation import (
    AdditiveChi2Sampler,
    Nystroem,
    PolynomialCountSketch,
    RBFSampler,
    SkewedChi2Sampler,
)

from bochner import accel


@pytest.fixture
def X():
    return np.random.RandomState(3).normal(size=(200, 7))


@pytest.fixture
def installed():
    accel.install()
    yield
    accel.uninstall()


def where():
    return [call["where"] for call in accel.profile()]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("far", [0.0, 1e6])
def test_features_are_scikit_learn_s(X, dtype, far):
    if far and dtype is np.float32:
        pytest.skip("float32 holds no digits there")
    X = (X + far).astype(dtype)
    models = [
        RBFSampler(gamma=0.3, n_components=64, random_state=0),
        Nystroem(gamma=0.2, n_components=30, random_state=0),
        Nystroem("laplacian", gamma=0.2, n_components=30, random_state=0),
    ]
    expected = [model.fit(X).transform(X) for model in models]
    accel.install()
    try:
        for model, Z in zip(models, expected):
            own = model.transform(X)
            assert own.dtype == Z.dtype
            # Random weights are rounded to 11 bits. Landmarks are not, but scikit-learn itself
            # loses digits far from the origin.
            assert_allclose(own, Z, atol=2e-5 if far == 0 and isinstance(model, Nystroem) else 2e-3)
            again = model.fit_transform(X[:100])
            assert again.shape[0] == 100
        assert set(where()) == {"bochner"}
        # A new fit replaces the cached map.
        model = models[0].set_params(random_state=1).fit(X)
        assert abs(model.transform(X) - expected[0]).max() > 0.01
        # Samples far from the previous ones keep their precision.
        if dtype is np.float64:
            near = model.transform(X)
            moved = X + 1e5
            by_hand = np.sqrt(2 / 64) * np.cos(moved @ model.random_weights_ + model.random_offset_)
            assert_allclose(model.transform(moved), by_hand, atol=2e-3)
            assert_allclose(model.transform(X), near, atol=1e-6)
    finally:
        accel.uninstall()
    plain = RBFSampler(gamma=0.3, n_components=64, random_state=0).fit_transform(X)
    assert_allclose(plain, expected[0])


def test_what_is_not_covered_falls_through(X, installed):
    expected = Nystroem("polynomial", n_components=20, random_state=0).fit(X)
    Z = expected.transform(X)
    assert Z.shape == (200, 20)
    (call,) = accel.profile()
    assert (call["class"], call["where"], call["calls"]) == ("Nystroem", "scikit-learn", 1)
    assert call["reason"] == "kernel='polynomial'" and call["seconds"] > 0
    with pytest.raises(ValueError, match="RBFSampler is expecting 7 features"):
        RBFSampler().fit(X).transform(X[:, :3])
    with pytest.raises(ValueError, match="'SVC' is none of"):
        accel.install("SVC")


def test_sparse_rows_and_data_frames(X, installed):
    pandas = pytest.importorskip("pandas")
    rows = sparse.random(300, 50, density=0.05, format="csr", random_state=0)
    model = RBFSampler(n_components=40, random_state=0).fit(rows)
    by_hand = np.sqrt(2 / 40) * np.cos(rows @ model.random_weights_ + model.random_offset_)
    assert_allclose(model.transform(rows), by_hand, atol=2e-3)
    frame = pandas.DataFrame(X, columns=list("abcdefg"))
    out = RBFSampler(random_state=0).set_output(transform="pandas").fit_transform(frame)
    assert list(out.columns)[0] == "rbfsampler0"
    assert set(where()) == {"bochner"}


SCRIPT = """
import sys
import numpy as np
from sklearn.kernel_approximation import (
    AdditiveChi2Sampler,
    Nystroem,
    PolynomialCountSketch,
    RBFSampler,
    SkewedChi2Sampler,
)
X = np.random.RandomState(0).normal(size=(300, 4))
print(RBFSampler(random_state=0).fit_transform(X).sum())
print(Nystroem("cosine", n_components=10, random_state=0).fit_transform(X).shape)
print(__name__, sys.argv[1:], "bochner" in sys.modules)
"""


def test_scripts(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(SCRIPT)

    def run(*before):
        command = [sys.executable, *before, str(script), "--profile", "x"]
        return subprocess.run(command, capture_output=True, text=True, check=True)

    plain, own = run().stdout.split("\n"), run("-m", "bochner.accel", "--profile")
    lines = own.stdout.split("\n")
    assert float(lines[0]) == pytest.approx(float(plain[0]), abs=0.1)
    assert lines[1] == plain[1] == "(300, 10)"
    assert plain[2] == "__main__ ['--profile', 'x'] False"
    assert lines[2] == "__main__ ['--profile', 'x'] True"
    table = [line.split() for line in own.stderr.split("\n")]
    assert ["RBFSampler", "bochner", "1"] in [line[:3] for line in table]
    assert ["Nystroem", "scikit-learn", "1"] in [line[:3] for line in table]
    quiet = run("-m", "bochner.accel")
    assert "transform of" not in quiet.stderr


def test_an_error_of_the_script_is_seen(tmp_path):
    script = tmp_path / "script.py"
    script.write_text("raise SystemExit(3)")
    command = [sys.executable, "-m", "bochner.accel", "--profile", str(script)]
    run = subprocess.run(command, capture_output=True, text=True)
    assert run.returncode == 3 and "computed by" in run.stderr


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(
    "model",
    [
        PolynomialCountSketch(degree=2, coef0=1.0, gamma=0.3, n_components=50, random_state=0),
        PolynomialCountSketch(degree=3, n_components=51, random_state=0),
        SkewedChi2Sampler(skewedness=0.5, n_components=40, random_state=0),
        AdditiveChi2Sampler(sample_steps=3),
        AdditiveChi2Sampler(sample_steps=5, sample_interval=0.3),
    ],
    ids=str,
)
def test_sketches_and_histograms_are_scikit_learn_s(X, dtype, model, installed):
    X = abs(X).astype(dtype)
    Z = model.fit(X).transform(X)
    accel.uninstall()
    expected = model.transform(X)
    assert (Z.dtype, Z.shape) == (expected.dtype, expected.shape)
    # The tolerance is for weights with 11 bits.
    bound = 4e-3 if isinstance(model, SkewedChi2Sampler) else 2e-6 * abs(expected).max()
    assert_allclose(Z, expected, atol=bound)


def test_what_is_not_covered_of_them_falls_through(X, installed):
    X = abs(X)
    thin = sparse.csr_array(X)
    assert sparse.issparse(AdditiveChi2Sampler().fit_transform(thin))
    assert (AdditiveChi2Sampler().transform(np.array([[1, 4]])) == [[0, 1, 0, 0, 0, 0]]).all()
    with pytest.raises(ValueError, match="Negative values"):
        AdditiveChi2Sampler().fit(X).transform(-X)
    with pytest.raises(ValueError, match="smaller than -skewedness"):
        SkewedChi2Sampler().fit(X).transform(-9 * X)
    assert set(where()) == {"scikit-learn"}
    # Sparse sketches are supported, and an unfitted AdditiveChi2Sampler accepts any width.
    sketch = PolynomialCountSketch(random_state=0).fit(thin)
    assert_allclose(sketch.transform(thin), sketch.transform(X), atol=1e-5)
    additive = AdditiveChi2Sampler()
    assert additive.transform(X).shape == (200, 21)
    assert additive.transform(X[:, :2]).shape == (200, 6)
    assert where().count("bochner") == 2
