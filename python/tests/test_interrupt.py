"""Tests that Ctrl-C ends work within a chunk, and that other Python threads keep running."""

import _thread
import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
from contextlib import nullcontext

import numpy as np
import pytest

from bochner import (
    AutoRegressor,
    BoostingRegressor,
    FalkonRegressor,
    GaussianProcessRegressor,
    KernelKMeans,
    KernelLogisticRegression,
    KernelPCA,
    KernelRidgeRegressor,
    KernelSVC,
    KernelSVR,
    RBFSampler,
    _progress,
)


@pytest.fixture(autouse=True)
def heard_signals():
    """Install the default handler: shells make background processes ignore SIGINT."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.fixture(scope="module")
def long_work():
    X = np.random.RandomState(0).normal(size=(10_000, 300)).astype(np.float32)
    # Memory for chunks of a few hundred rows, for any number of cores.
    sampler = RBFSampler(n_components=4096, random_state=0, device="cpu", memory=8 << 20).fit(X)
    start = time.perf_counter()
    sampler.transform(X)
    return sampler, X, time.perf_counter() - start


def test_interrupt(long_work):
    sampler, X, _ = long_work
    start = time.process_time()
    sampler.transform(X)
    whole = time.process_time() - start
    for part in (0.5, 0.25, 0.1, 0.03):
        if ends_early(lambda: sampler.transform(X), whole, part):
            break
    else:
        pytest.fail("no interrupt was heard before the end")
    # The sampler still works after the interrupt.
    assert sampler.transform(X[:3]).shape == (3, 4096)


def test_the_gil_is_released(long_work):
    sampler, X, seconds = long_work

    def longest_wait():
        """Longest pause of another thread, as a fraction of the duration of the work."""
        ticks, done = [], threading.Event()

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
        times = [start, *(t for t in ticks if start < t < end), end]
        return np.diff(times).max() / (end - start)

    # The fraction is almost 1 if the GIL is held, and about 0.01 if it is released and no other
    # program runs.
    assert min(longest_wait() for _ in range(5)) < 0.5


def ends_early(work, whole, part):
    """Whether work ends soon after an interrupt at the fraction ``part`` of it, in CPU time.

    Unlike wall time, CPU time does not grow with other load on the machine. An interrupt that the
    work ignores is raised at its end, which is too late.
    """
    start, at, done = time.process_time(), [], threading.Event()

    def interrupt():
        while time.process_time() - start < part * whole:
            if done.wait(0.001):
                return
        at.append(time.process_time())
        _thread.interrupt_main()

    thread = threading.Thread(target=interrupt)
    try:
        thread.start()
        work()
        done.set()
        thread.join()
        # Wait for an interrupt that was sent at the last moment.
        time.sleep(0.01)
    except KeyboardInterrupt:
        end = time.process_time()
        done.set()
        thread.join()
        return end - at[0] < 0.3 * whole
    return False


class Steps:
    """Progress callback that replaces the line on stderr, and can interrupt at a kind of step.

    The interrupt comes at the same point of the work on any machine under any load; only the CPU
    time after it is measured.
    """

    def __init__(self, monkeypatch):
        self.interrupts_at, self.first = None, {}
        monkeypatch.setitem(sys.modules, "tqdm", None)
        monkeypatch.setattr(_progress, "_Line", lambda total: self)

    def __call__(self, what, done, left=None):
        self.first.setdefault(what, time.process_time())
        if what == self.interrupts_at:
            self.interrupts_at = None
            _thread.interrupt_main()

    def close(self):
        pass

    def left(self, work, interrupts_at=None):
        """CPU seconds from the first step of each kind to the end of the work."""
        self.interrupts_at, self.first = interrupts_at, {}
        with pytest.raises(KeyboardInterrupt) if interrupts_at else nullcontext():
            work()
        end = time.process_time()
        return {what: end - first for what, first in self.first.items()}


# Fits with many passes over the rows, or with much work after the sums.
LONG = [
    (KernelLogisticRegression(tol=1e-9), "labels"),
    (KernelSVC(tol=1e-9), "labels"),
    (KernelSVC(loss="hinge", tol=1e-9), "labels"),
    (KernelSVR(loss="huber", epsilon=0.1, tol=1e-9), "numbers"),
    (KernelRidgeRegressor(solver="cg", penalty=1e-4), "numbers"),
    (FalkonRegressor(penalty=1e-9), "numbers"),
    (KernelRidgeRegressor(), "numbers"),
    (GaussianProcessRegressor(), "numbers"),
    (BoostingRegressor(), "numbers"),
    (KernelPCA(n_components=2), None),
    (KernelKMeans(n_clusters=10, n_init=3), None),
    (AutoRegressor(), "numbers"),
]


@pytest.mark.filterwarnings("ignore:.*tolerance")
@pytest.mark.parametrize(
    "model, targets", LONG, ids=lambda of: type(of).__name__ if hasattr(of, "fit") else of
)
def test_fits_end_at_the_next_chunk(model, targets, monkeypatch):
    n = 1_000 if isinstance(model, AutoRegressor) else 8_000
    X = np.random.RandomState(0).normal(size=(n, 20)).astype(np.float32)
    y = {"labels": X[:, 0] > 0, "numbers": np.sin(3 * X[:, 0]), None: None}[targets]
    size = "map_components" if "map_components" in model.get_params() else "n_components"
    # Small memory, so that there are many chunks.
    model.set_params(random_state=0, device="cpu", memory=1 << 19, **{size: 120})
    if "max_iter" in model.get_params():
        model.set_params(max_iter=60)
    model.set_params(verbose=True)
    steps = Steps(monkeypatch)
    whole = steps.left(lambda: model.fit(X, y))
    says = model.transform if isinstance(model, KernelPCA) else model.predict
    before = says(X[:5])
    for what, left in whole.items():
        # At most a quarter of the time was observed after an interrupt. If it is ignored, all of
        # the time is left.
        ends = (steps.left(lambda: model.fit(X, y), what)[what] for _ in range(3))
        assert any(seconds < 0.6 * left for seconds in ends), what
    # The model of the previous fit is unchanged.
    assert (says(X[:5]) == before).all()
    model.fit(X, y)
    assert np.isfinite(says(X[:5])).all()


def test_a_signal_of_the_system():
    program = textwrap.dedent(
        """
        import signal, time
        import numpy as np
        from bochner import KernelLogisticRegression
        signal.signal(signal.SIGINT, signal.default_int_handler)
        # Much work in each iteration, the first of which is heard of in time.
        X = np.random.RandomState(0).normal(size=(60_000, 20)).astype(np.float32)
        model = KernelLogisticRegression(
            n_components=120, tol=1e-12, max_iter=100_000, random_state=0, device="cpu", verbose=True
        )
        try:
            model.fit(X, X[:, 0] * X[:, 1] > 0)
        except KeyboardInterrupt:
            print("interrupted", flush=True)
        """
    )
    # Show progress in a line on stderr, even if tqdm is installed.
    program = "import sys\nsys.modules['tqdm'] = None\n" + program
    # One thread, so that the fit is not finished before the signal arrives.
    child = subprocess.Popen(
        [sys.executable, "-c", program],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "RAYON_NUM_THREADS": "1"},
    )
    said = ""
    while "iteration" not in said:
        piece = child.stderr.read(1)
        assert piece, said
        said += piece
    child.send_signal(signal.SIGINT)
    out, _ = child.communicate(timeout=300)
    assert out == "interrupted\n" and child.returncode == 0
