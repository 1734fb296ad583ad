"""Tests of arrays from other libraries by DLPack, without copies."""

import tracemalloc

import numpy as np
import pytest
from numpy.testing import assert_allclose

from bochner import (
    AutoRegressor,
    KernelKMeans,
    KernelRidgeClassifier,
    KernelRidgeRegressor,
    RBFSampler,
    hsic_test,
)
from bochner._arrays import table
from bochner._dlpack import host, validated


class Tensor:
    """Stand-in for a torch tensor with the DLPack methods alone."""

    def __init__(self, values, device=(1, 0), refuses=None):
        self.values, self.device, self.refuses = np.asarray(values), device, refuses

    def __dlpack__(self, **options):
        if self.refuses is not None:
            raise self.refuses
        return self.values.__dlpack__(**options)

    def __dlpack_device__(self):
        return self.device

    def __len__(self):
        return len(self.values)

    @property
    def shape(self):
        return self.values.shape


@pytest.fixture
def rows():
    random = np.random.RandomState(0)
    X = random.normal(size=(300, 4))
    return X, np.sin(X[:, 0])


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("order", ["C", "F"])
def test_no_copy_is_made(rows, dtype, order):
    X = np.array(rows[0], dtype=dtype, order=order)
    seen = validated(KernelRidgeRegressor(), Tensor(X), dtype=[np.float64, np.float32])
    assert seen.dtype == dtype and np.shares_memory(seen, X)
    taken = table(seen)
    assert taken.ctypes.data == X.ctypes.data and taken.strides == X.strides
    # Another memory layout: every second row, columns reversed.
    part = X[::2, ::-1]
    assert np.shares_memory(table(validated(KernelRidgeRegressor(), Tensor(part))), X)


def test_no_copy_is_made_in_a_transform():
    X = np.random.RandomState(0).normal(size=(200_000, 8)).astype(np.float32)
    sampler = RBFSampler(n_components=4, random_state=0, device="cpu").fit(X)
    sampler.transform(Tensor(X[:10]))

    def traced(rows):
        tracemalloc.start()
        try:
            return sampler.transform(rows), tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()

    (expected, control), (Z, peak) = traced(X), traced(Tensor(X))
    # Memory as for a NumPy array; a copy would exceed the allowance twice.
    assert peak < control + X.nbytes / 2
    # A NumPy array is not copied either.
    assert control < Z.nbytes + X.nbytes / 2
    assert (Z == expected).all()


def test_whatever_takes_arrays_takes_tensors(rows):
    X, y = rows
    w = np.linspace(0.5, 1.5, 300)
    labels = (y > 0).astype(np.int64)
    plain = KernelRidgeRegressor(n_components=50, random_state=0).fit(X, y, sample_weight=w)
    own = KernelRidgeRegressor(n_components=50, random_state=0)
    own.fit(Tensor(X), Tensor(y), sample_weight=Tensor(w))
    assert (own.predict(Tensor(X)) == plain.predict(X)).all()
    assert own.score(Tensor(X), Tensor(y)) == plain.score(X, y)
    streamed = KernelRidgeRegressor(n_components=50, random_state=0)
    streamed.partial_fit(Tensor(X[:200]), Tensor(y[:200])).partial_fit(Tensor(X[200:]), Tensor(y[200:]))
    assert streamed.predict(X).shape == (300,)
    classes = KernelRidgeClassifier(n_components=50, random_state=0).fit(Tensor(X), Tensor(labels))
    assert classes.score(Tensor(X), Tensor(labels)) > 0.9
    assert AutoRegressor(n_components=20, budget=1).fit(Tensor(X), Tensor(y)).score(X, y) > 0.5
    clusters = KernelKMeans(n_clusters=2, map_components=50, random_state=0).fit(Tensor(X))
    assert clusters.transform(Tensor(X)).shape == (300, 2)
    two = hsic_test(Tensor(X[:, :1]), Tensor(y[:, None]), random_state=0)
    assert two == hsic_test(X[:, :1], y[:, None], random_state=0)


def test_results_go_back_without_a_copy(rows):
    Z = RBFSampler(n_components=10, random_state=0).fit_transform(Tensor(rows[0]))
    assert np.shares_memory(np.from_dlpack(Z), Z)


def test_what_numpy_cannot_read(rows):
    X, y = rows
    model = KernelRidgeRegressor(n_components=20)
    with pytest.raises(ValueError, match=r"X lies in the memory of a device.*\.cpu\(\)"):
        model.fit(Tensor(X, device=(2, 0)), y)
    with pytest.raises(ValueError, match="y lies in the memory of a device"):
        model.fit(X, Tensor(y, device=(2, 0)))
    with pytest.raises(ValueError, match="sample_weight lies in the memory"):
        model.fit(X, y, sample_weight=Tensor(y, device=(2, 0)))
    with pytest.raises(ValueError, match="requires grad"):
        model.fit(Tensor(X, refuses=BufferError("this tensor requires grad")), y)
    # Other objects are returned unchanged.
    frame = [[0.0], [1.0]]
    assert host(frame) is frame


def test_tensors_of_torch(rows):
    torch = pytest.importorskip("torch")
    X, y = rows
    tensor = torch.from_numpy(X)
    assert np.shares_memory(host(tensor), X)
    model = KernelRidgeRegressor(n_components=50, random_state=0).fit(tensor, torch.from_numpy(y))
    assert_allclose(model.predict(tensor), model.predict(X))
