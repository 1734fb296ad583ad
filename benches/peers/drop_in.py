"""RBFSampler of the Python package beside scikit-learn's: the same calls in turn, in one process.

    PYTHONPATH=target/python/package python benches/peers/drop_in.py [--rounds N] [--processor]

Each call validates its rows and allocates its output, on both sides. OPENBLAS_* must not be set.
One row is measured both call by call and in blocks of 20 calls. With --processor the time is that of
processors, which other work on the machine disturbs less; threads that wait for others by turning
count, too.
"""

import argparse
import os
import statistics
import time

import numpy as np
from scipy import sparse
from sklearn.kernel_approximation import RBFSampler as Theirs

from bochner import RBFSampler as Ours

SHAPES = [(8192, 784, 4096), (65_536, 32, 1024), (1_000_000, 8, 256), (1, 784, 4096)]


def median_times(calls, rounds, clock, block=1):
    """The median seconds of each call, which take turns of `block` calls; the first round warms up."""
    times = [[] for _ in calls]
    for turn in range(rounds + 1):
        for call, seconds in zip(calls, times):
            for _ in range(block):
                start = clock()
                call()
                if turn:
                    seconds.append(clock() - start)
    return [statistics.median(seconds) for seconds in times]


def compare(name, X, features, rounds, clock, block=1):
    theirs = Theirs(gamma=0.01, n_components=features, random_state=0).fit(X)
    phase = Ours(gamma=0.01, n_components=features, random_state=0, device="cpu").fit(X)
    paired = Ours(
        gamma=0.01, n_components=features, random_state=0, device="cpu", form="paired"
    ).fit(X)
    calls = [lambda t=t: t.transform(X) for t in (theirs, phase, paired)]
    theirs, phase, paired = median_times(calls, rounds, clock, block)
    print(
        f"| {name} | {1e3 * theirs:.3g} | {1e3 * phase:.3g} | {theirs / phase:.2f} "
        f"| {theirs / paired:.2f} |"
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--processor", action="store_true")
    options = parser.parse_args()
    rounds = options.rounds
    clock = time.process_time if options.processor else time.perf_counter
    preset = [name for name in os.environ if name.startswith("OPENBLAS_")]
    if preset:
        raise SystemExit(f"unset {' '.join(preset)}")
    random = np.random.RandomState(0)
    print(f"load {os.getloadavg()[0]:.1f}, {os.cpu_count()} cores, {rounds} rounds")
    print("| shape | scikit-learn, ms | bochner, ms | ratio | ratio, paired |")
    print("|---|---|---|---|---|")
    for dtype in (np.float32, np.float64):
        for rows, d, features in SHAPES:
            X = random.normal(size=(rows, d)).astype(dtype)
            name = f"{rows} x {d} -> {features}, {X.dtype}"
            if rows > 1:
                compare(name, X, features, rounds, clock)
                continue
            # One call at a time finds in no cache what the others have pushed out; a server's calls
            # follow one another.
            compare(name, X, features, 20 * rounds, clock)
            compare(f"{name}, 20 calls at a time", X, features, 10 * rounds, clock, 20)
    X = sparse.random(8192, 784, density=0.01, random_state=0, format="csr", dtype=np.float32)
    compare("8192 x 784 -> 4096, CSR of density 0.01, float32", X, 4096, rounds, clock)


if __name__ == "__main__":
    main()
