"""Tests of `_memory.empty`: memory of large results is reused, but never by two at once."""

import os
import pickle
import sys

import numpy as np
import pytest
from bochner import RBFSampler
from bochner._memory import LARGE, empty

linux = pytest.mark.skipif(sys.platform != "linux", reason="memory is kept on Linux only")
ROWS = LARGE // (8 * 256)


def address(array):
    return array.ctypes.data


@linux
def test_memory_of_a_result_that_went_is_taken_again():
    first = empty(ROWS, 256, np.float64)
    first[:] = 1.0
    at = address(first)
    del first
    again = empty(ROWS, 256, np.float64)
    assert address(again) == at
    # A view keeps the memory in use.
    row = again[3]
    row[:] = 3.0
    del again
    other = empty(ROWS, 256, np.float64)
    assert address(other) != at
    other[:] = 5.0
    assert (row == 3.0).all()


@linux
def test_memory_twice_as_large_is_not_kept_for_a_small_result():
    large = empty(2 * ROWS + 8, 256, np.float64)
    at = address(large)
    del large
    assert address(empty(ROWS, 256, np.float64)) != at


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("rows", [0, 1, 3 * ROWS])
def test_shape_and_type_are_those_of_numpy(dtype, rows):
    array = empty(rows, 256, dtype)
    assert array.shape == (rows, 256)
    assert array.dtype == dtype
    assert array.flags.c_contiguous
    assert array.flags.writeable
    assert array.flags.aligned
    array[:] = 2.0
    assert array.sum(dtype=np.float64) == 2.0 * rows * 256


@linux
@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of fork beside threads
def test_a_child_writes_to_its_own_copy():
    array = empty(ROWS, 256, np.float64)
    array[:] = 1.0
    child = os.fork()
    if child == 0:
        array[:] = 2.0
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
    assert (array == 1.0).all()


def test_features_of_calls_that_follow_do_not_touch_each_other():
    X = np.random.RandomState(0).normal(size=(ROWS, 4)).astype(np.float32)
    sampler = RBFSampler(n_components=512, random_state=0, device="cpu").fit(X)
    first = sampler.transform(X)
    kept = first.copy()
    second = sampler.transform(-X)
    assert not np.shares_memory(first, second)
    np.testing.assert_array_equal(first, kept)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(first)), kept)
    at = address(first)
    del first
    third = sampler.transform(X)
    np.testing.assert_array_equal(third, kept)
    if sys.platform == "linux":
        assert address(third) == at
