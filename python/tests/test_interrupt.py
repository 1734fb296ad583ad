"""Ctrl-C ends work within a chunk, and other threads of Python run meanwhile."""

import _thread
import threading
import time

import numpy as np
import pytest

from bochner import RBFSampler


@pytest.fixture(scope="module")
def long_work():
    X = np.random.RandomState(0).normal(size=(20_000, 300)).astype(np.float32)
    sampler = RBFSampler(n_components=8192, random_state=0, device="cpu").fit(X)
    start = time.perf_counter()
    sampler.transform(X)
    return sampler, X, time.perf_counter() - start


def test_interrupt(long_work):
    sampler, X, seconds = long_work
    timer = threading.Timer(seconds / 4, _thread.interrupt_main)
    start = time.perf_counter()
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        sampler.transform(X)
    assert time.perf_counter() - start < 0.8 * seconds
    # It works again afterwards.
    assert sampler.transform(X[:3]).shape == (3, 8192)


def test_the_gil_is_released(long_work):
    sampler, X, seconds = long_work
    ticks = []
    done = threading.Event()

    def tick():
        while not done.is_set():
            ticks.append(time.perf_counter())
            time.sleep(seconds / 100)

    thread = threading.Thread(target=tick)
    thread.start()
    start = time.perf_counter()
    sampler.transform(X)
    end = time.perf_counter()
    done.set()
    thread.join()
    assert sum(start < t < end for t in ticks) > 10
