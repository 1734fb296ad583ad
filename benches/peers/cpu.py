#!/usr/bin/env python3
"""numpy, scikit-learn, torch and SciPy against `bochner bench --device cpu`, in turn (A B A B) in one run.

    python3 benches/peers/cpu.py [--threads 1,2] [--budget SECONDS] [--rounds 7] [--full] [--no-torch] [--only TEXT]
                                 [--cpu avx2] [--bochner BINARY]

Makes its own virtual environment under target/. OPENBLAS_* variables are removed; where OpenBLAS picks a slower core type
than it could, its best one is set. `--cpu avx2` keeps everyone to AVX2, ours and peers, on a machine with AVX-512. Ratios
hold inside one run only; errors are the largest against f64 over the largest value. Peers compute the phase form,
sqrt(2/D) cos(x W + b); ours is timed in that form and in the paired one, which gives as many columns from half the
frequencies, with less variance.
"""

import argparse
import ctypes
import json
import os
import subprocess
import sys
import time
import venv
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
from common import ROOT, Budget, Contest, Ours, binary, clean_environment, table, timed

VENV = ROOT / "target" / "peers-venv"
DATA = ROOT / "target" / "peers-data"
STAGE = "BOCHNER_PEERS_STAGE"


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    parser.add_argument("--threads", default=",".join(str(t) for t in (1, 2) if t <= cores))
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--budget", type=float, metavar="SECONDS", help="begin no case that would end later than this")
    parser.add_argument("--full", action="store_true", help="also the Cholesky factor of 8192")
    parser.add_argument("--no-torch", action="store_true")
    parser.add_argument("--ffht", help="a checkout of FFHT's C sources, to be compiled and compared with")
    parser.add_argument("--only", default="", help="cases whose name holds this text")
    parser.add_argument("--cpu", choices=["avx2"], help="vector instructions of everyone, where not the best")
    parser.add_argument("--bochner", help="binary to use instead of building one")
    parser.add_argument("--fit-worker", nargs=5, help=argparse.SUPPRESS)
    return parser.parse_args()


# -- the environment -------------------------------------------------------------------------------------------------------


def enter_venv(options):
    """Runs this script again inside the virtual environment, with OpenBLAS at its best."""
    python = VENV / "bin" / "python"
    if not python.exists():
        venv.create(VENV, with_pip=True)
    install = [str(python), "-m", "pip", "install", "--quiet"]
    environment = clean_environment()
    missing = subprocess.run(
        [str(python), "-c", "import numpy, scipy, sklearn, threadpoolctl"], env=environment, stderr=subprocess.DEVNULL
    ).returncode
    if missing:
        subprocess.run([*install, "numpy", "scipy", "scikit-learn", "threadpoolctl"], env=environment, check=True)
    if not options.no_torch:
        if subprocess.run([str(python), "-c", "import torch"], env=environment, stderr=subprocess.DEVNULL).returncode:
            if subprocess.run([*install, "torch"], env=environment).returncode:
                print("torch cannot be installed here: its rows are left out")
    if options.cpu == "avx2":
        environment |= without_avx512(str(python), environment)
    core = best_core(str(python), environment)
    if core:
        environment["OPENBLAS_CORETYPE"] = core
    environment[STAGE] = "inside"
    os.execve(str(python), [str(python), __file__, *sys.argv[1:]], environment)


DISPATCHED = """
from numpy._core._multiarray_umath import __cpu_dispatch__
print(*(name for name in __cpu_dispatch__ if "512" in name or name == "X86_V4"))
"""


def without_avx512(python, environment):
    """What keeps numpy, OpenBLAS, torch (with MKL and oneDNN) and ours to AVX2."""
    names = subprocess.run([python, "-c", DISPATCHED], env=environment, capture_output=True, text=True, check=True)
    return {
        "BOCHNER_CPU": "avx2",
        "NPY_DISABLE_CPU_FEATURES": names.stdout.strip(),
        "OPENBLAS_CORETYPE": "Haswell",
        "ATEN_CPU_CAPABILITY": "avx2",
        "MKL_ENABLE_INSTRUCTIONS": "AVX2",
        "ONEDNN_MAX_CPU_ISA": "AVX2",
    }


PROBE = """
import time, numpy as np
from threadpoolctl import threadpool_info, threadpool_limits
a = np.random.default_rng(0).standard_normal((1536, 1536), dtype=np.float32)
with threadpool_limits(1):
    times = []
    for _ in range(6):
        start = time.perf_counter(); a @ a; times.append(time.perf_counter() - start)
print(min(times), *{i.get("architecture", "?") for i in threadpool_info() if i["internal_api"] == "openblas"})
"""


def best_core(python, environment):
    """A core type for OpenBLAS that is at least 5 % faster than the one it picks, or None."""
    if "OPENBLAS_CORETYPE" in environment:
        return None
    try:
        flags = Path("/proc/cpuinfo").read_text()
    except OSError:
        flags = ""
    candidates = [None]
    candidates += ["Haswell"] if " avx2 " in flags else []
    candidates += ["SkylakeX"] if " avx512f " in flags else []
    candidates += ["Cooperlake"] if " avx512_bf16 " in flags else []
    best = {core: float("inf") for core in candidates}
    names = {}
    for _ in range(2):
        for core in candidates:
            setting = environment | ({"OPENBLAS_CORETYPE": core} if core else {})
            probe = subprocess.run([python, "-c", PROBE], env=setting, capture_output=True, text=True)
            if probe.returncode == 0:
                seconds, *name = probe.stdout.split()
                best[core] = min(best[core], float(seconds))
                names[core] = " ".join(name)
    for core in candidates:
        if core in names:
            how = f"OPENBLAS_CORETYPE={core}" if core else "by itself"
            print(f"numpy's OpenBLAS {how}: core {names[core]}, f32 product of 1536 in {best[core] * 1e3:.1f} ms on 1 thread")
    fastest = min(best, key=best.get)
    return fastest if fastest and best[fastest] < 0.95 * best[None] else None


# -- cases -----------------------------------------------------------------------------------------------------------------


class Peers:
    """The libraries, with their threads under control."""

    def __init__(self, with_torch, budget):
        import numpy
        import scipy
        import sklearn
        from threadpoolctl import ThreadpoolController

        self.np, self.budget = numpy, budget
        self.torch = None
        versions = [f"numpy {numpy.__version__}", f"scipy {scipy.__version__}", f"scikit-learn {sklearn.__version__}"]
        if with_torch:
            try:
                import torch

                self.torch = torch
                versions.append(f"torch {torch.__version__}")
            except ImportError:
                print("torch is not here: its rows are left out")
        self.controller = ThreadpoolController()
        cores = {i.get("architecture") for i in self.controller.info() if i["internal_api"] == "openblas"}
        print(", ".join(versions) + f"; OpenBLAS core {', '.join(map(str, cores))}")

    def limit(self, threads):
        if self.torch:
            self.torch.set_num_threads(threads)
        return self.controller.limit(limits=threads)


def map_data(np, rows, dim, features):
    """Rows, frequencies and phases with the law of a Gaussian kernel at gamma = 1/d, in radians."""
    random = np.random.default_rng(1)
    x = random.standard_normal((rows, dim), dtype=np.float32)
    w = random.standard_normal((dim, features), dtype=np.float32) * np.float32((2 / dim) ** 0.5)
    b = random.uniform(0, 2 * np.pi, features).astype(np.float32)
    return x, w, b


def relative(np, got, reference):
    return float(np.abs(got - reference).max() / np.abs(reference).max())


def featurize(peers, ours, threads, rounds, name, shape, repeats=1):
    """One row or many through the map, written to memory that is already there."""
    np, torch = peers.np, peers.torch
    rows, dim, features = shape
    x, w, b = map_data(np, rows, dim, features)
    scale = np.float32((2 / features) ** 0.5)
    # One row says little about an error: then it is that of 64 calls. Ours gives a row the same bits in every batch.
    calls = ours.rows if rows == 1 else 1
    all_rows = map_data(np, calls, dim, features)[0] if calls > 1 else x
    exact = np.sqrt(2 / features) * np.cos(all_rows[: ours.rows].astype(float) @ w.astype(float) + b)
    z = np.empty((rows, features), np.float32)

    def error_of(transform):
        starts = range(0, calls * rows, rows)
        return relative(np, np.concatenate([transform(all_rows[i : i + rows])[: ours.rows].copy() for i in starts]), exact)

    def in_place(x):
        np.matmul(x, w, out=z)
        np.add(z, b, out=z)
        np.cos(z, out=z)
        return np.multiply(z, scale, out=z)

    def expression(x):
        return scale * np.cos(x @ w + b)

    from sklearn.kernel_approximation import RBFSampler

    sampler = RBFSampler(gamma=1 / dim, n_components=features, random_state=0).fit(x[:1])
    sampler.random_weights_, sampler.random_offset_ = w, b
    peer_maps = {"numpy, in place": in_place, "numpy, one expression": expression}
    peer_maps["scikit-learn RBFSampler"] = sampler.transform
    if torch:
        tw, tb, tz = (torch.from_numpy(a) for a in (w, b, z))

        def with_torch(x):
            torch.addmm(tb, torch.from_numpy(x), tw, out=tz)
            return tz.cos_().mul_(float(scale)).numpy()

        peer_maps["torch"] = with_torch
    contest = Contest(name, threads)
    for who, transform in peer_maps.items():
        contest.peer(who, lambda f=transform: timed(lambda: f(x), repeats), error_of(transform))
    for form in ("phase", "paired"):
        op = f"projection-{form}"
        error = ours.ask(op, (calls * rows, dim, features), times=0, error=True)["error"]
        contest.own(f"bochner, {form}", own(ours, op, shape, repeats), error)
    return contest.run(rounds, budget=peers.budget)


def nystrom(peers, ours, threads, rounds, name, shape):
    """Rows through a Nystrom map with as many features as landmarks: the kernel block and its product with the inverse root."""
    np = peers.np
    from sklearn.kernel_approximation import Nystroem

    rows, dim, features = shape
    random = np.random.default_rng(7)
    x, landmarks = (random.standard_normal((n, dim), dtype=np.float32) for n in (rows, features))
    gamma = 1 / (2 * dim)
    sampler = Nystroem(gamma=gamma, n_components=features, random_state=0).fit(landmarks)
    exact_root = sampler.normalization_.astype(float)
    some = x[: ours.rows].astype(float)
    distances = ((some[:, None, :] - sampler.components_[None].astype(float)) ** 2).sum(-1)
    exact = np.exp(-gamma * distances) @ exact_root.T
    root = sampler.normalization_.T.astype(np.float32).copy()
    components = sampler.components_.astype(np.float32)
    block, z = np.empty((rows, features), np.float32), np.empty((rows, features), np.float32)
    squares = (components**2).sum(1)

    def with_numpy():
        np.matmul(x, components.T, out=block)
        np.multiply(block, 2, out=block)
        np.subtract(block, squares, out=block)
        np.subtract(block, (x * x).sum(1)[:, None], out=block)
        np.multiply(block, np.float32(gamma), out=block)
        np.exp(block, out=block)
        np.matmul(block, root, out=z)

    contest = Contest(name, threads)
    contest.peer("scikit-learn Nystroem", lambda: timed(lambda: sampler.transform(x)), relative(np, sampler.transform(x[: ours.rows]), exact))
    with_numpy()
    contest.peer("numpy, in place", lambda: timed(with_numpy), relative(np, z[: ours.rows], exact))
    error = ours.ask("nystrom", shape, times=0, error=True)["error"]
    contest.own("bochner", own(ours, "nystrom", shape), error)
    return contest.run(rounds, budget=peers.budget)


def product(peers, ours, threads, rounds, name, shape):
    """Rows times a few columns of coefficients, as a prediction from features has them."""
    np, torch = peers.np, peers.torch
    rows, dim, columns = shape
    random = np.random.default_rng(8)
    x = random.standard_normal((rows, dim), dtype=np.float32)
    beta = random.standard_normal((dim, columns), dtype=np.float32)
    exact = x[: ours.rows].astype(float) @ beta.astype(float)
    out = np.empty((rows, columns), np.float32)
    contest = Contest(name, threads)
    np.matmul(x, beta, out=out)
    contest.peer("numpy X @ beta", lambda: timed(lambda: np.matmul(x, beta, out=out)), relative(np, out[: ours.rows], exact))
    if torch:
        tx, tb, tout = (torch.from_numpy(a) for a in (x, beta, np.empty_like(out)))
        torch.matmul(tx, tb, out=tout)
        error = relative(np, tout[: ours.rows].numpy(), exact)
        contest.peer("torch X @ beta", lambda: timed(lambda: torch.matmul(tx, tb, out=tout)), error)
    error = ours.ask("product", shape, times=0, error=True)["error"]
    contest.own("bochner", own(ours, "product", shape), error)
    return contest.run(rounds, budget=peers.budget)


def own(ours, op, shape, repeats=1):
    return lambda: ours.ask(op, shape, times=1, batch=repeats)["seconds"][0]


def gram(peers, ours, threads, rounds, name, shape):
    np, torch = peers.np, peers.torch
    rows, _, features = shape
    z = np.random.default_rng(2).standard_normal((rows, features), dtype=np.float32) / np.float32(features**0.5)
    out = np.empty((features, features), np.float32)
    some = slice(None, None, -(-features // ours.columns))
    part = z[:, some].astype(float)
    exact = part.T @ part
    contest = Contest(name, threads)
    np.matmul(z.T, z, out=out)
    error = relative(np, out[some, some], exact)
    contest.peer("numpy Z.T @ Z", lambda: timed(lambda: np.matmul(z.T, z, out=out)), error)
    if torch:
        tz, tout = torch.from_numpy(z), torch.from_numpy(out)
        torch.matmul(tz.T, tz, out=tout)
        error = relative(np, out[some, some], exact)
        contest.peer("torch Z.T @ Z", lambda: timed(lambda: torch.matmul(tz.T, tz, out=tout)), error)
    error = ours.ask("gram", shape, times=0, error=True)["error"]
    contest.own("bochner, f64 sums", own(ours, "gram", shape), error)
    return contest.run(rounds, budget=peers.budget)


def cholesky(peers, ours, threads, rounds, name, shape):
    np, torch = peers.np, peers.torch
    from scipy.linalg import lapack

    n = shape[2]
    a = np.random.default_rng(3).standard_normal((n, n)) * 0.25
    a = np.asfortranarray(np.tril(a, -1) + np.tril(a, -1).T + n * np.eye(n))
    # In extended precision, so that what is seen is the error of the factor and not of its check.
    v = np.sin(np.arange(n)).astype(np.longdouble)
    exact = a.astype(np.longdouble) @ v

    def error_of(factor):
        lower = np.tril(factor).astype(np.longdouble)
        return relative(np, lower @ (lower.T @ v), exact)

    work = a.copy(order="F")

    def potrf():
        np.copyto(work, a)
        start = time.perf_counter()
        _, info = lapack.dpotrf(work, lower=1, clean=0, overwrite_a=1)
        assert info == 0
        return time.perf_counter() - start

    contest = Contest(name, threads)
    potrf()
    contest.peer("SciPy potrf", potrf, error_of(work))
    if torch:
        ta, tl = torch.from_numpy(a), torch.empty((n, n), dtype=torch.float64)

        def with_torch():
            start = time.perf_counter()
            torch.linalg.cholesky(ta, out=tl)
            return time.perf_counter() - start

        with_torch()
        contest.peer("torch cholesky", with_torch, error_of(tl.numpy()))
    error = ours.ask("cholesky", shape, times=0, error=True)["error"]
    contest.own("bochner", own(ours, "cholesky", shape), error)
    return contest.run(rounds, budget=peers.budget)


SHIM = """
#include "fht.h"
void batch(float *rows, long count, int log2) {
    for (long i = 0; i < count; i++) fht_float(rows + (i << log2), log2);
}
"""


def ffht(checkout):
    """FFHT's transform of many rows, compiled for this machine, or None without a checkout."""
    if not checkout:
        return None
    DATA.mkdir(parents=True, exist_ok=True)
    shim, library, folder = DATA / "ffht-batch.c", DATA / "libffht.so", Path(checkout).resolve()
    shim.write_text(SHIM)
    sources = [str(shim), *(str(folder / name) for name in ("fht.c", "fast_copy.c"))]
    flags = ["-O3", "-march=native", "-shared", "-fPIC", f"-I{folder}"]
    subprocess.run(["cc", *flags, *sources, "-o", str(library)], check=True)
    batch = ctypes.CDLL(str(library)).batch
    batch.argtypes = [ctypes.c_void_p, ctypes.c_long, ctypes.c_int]
    batch.restype = None
    return batch


def walsh_hadamard(peers, ours, threads, rounds, name, shape, batch):
    """Rows in place, one thread on both sides; the copy of the same bytes stands beside."""
    np = peers.np
    rows, _, n = shape
    log2 = n.bit_length() - 1
    data = np.random.default_rng(6).standard_normal((rows, n), dtype=np.float32)
    work, other = data.copy(), data.copy()
    exact = data[: ours.transforms].astype(float)
    for h in (1 << k for k in range(log2)):
        pairs = exact.reshape(len(exact), -1, 2, h)
        exact = np.stack([pairs[:, :, 0] + pairs[:, :, 1], pairs[:, :, 0] - pairs[:, :, 1]], 2).reshape(len(exact), n)
    batch(work.ctypes.data, rows, log2)
    error = relative(np, work[: ours.transforms], exact)

    def with_ffht():
        # Transforms grow what they are given: from fresh numbers, outside the time.
        np.copyto(work, data)
        return timed(lambda: batch(work.ctypes.data, rows, log2))

    contest = Contest(name, threads)
    contest.peer("FFHT", with_ffht, error)
    error = ours.ask("walsh-hadamard", shape, times=0, error=True)["error"]
    # FFHT has just seen its rows written; ours are warmed likewise, by transforms that do not count.
    contest.own("bochner", lambda: ours.ask("walsh-hadamard", shape, times=4, batch=1)["seconds"][-1], error)
    contest.own("numpy copy, for scale", lambda: timed(lambda: np.copyto(other, data)))
    return contest.run(rounds, budget=peers.budget)


# -- fit from a file -------------------------------------------------------------------------------------------------------

FIT_ROWS, FIT_DIM, FIT_FEATURES, FIT_BLOCK = 200_000, 32, 2048, 8192
RIDGE = 1e-6


def write_fit_data(np):
    DATA.mkdir(parents=True, exist_ok=True)
    random = np.random.default_rng(4)
    x = random.standard_normal((FIT_ROWS + 2000, FIT_DIM), dtype=np.float32)
    y = np.sin(x[:, 0] + x[:, 1]) + 0.5 * x[:, 2] * x[:, 3] + 0.1 * random.standard_normal(len(x), dtype=np.float32)
    for name, rows in (("train", slice(FIT_ROWS)), ("test", slice(FIT_ROWS, None))):
        np.save(DATA / f"{name}-x.npy", x[rows])
        np.save(DATA / f"{name}-y.npy", y[rows])


def fit_worker(paths):
    """The numpy version: blocks of rows in f32, sums in f64, SciPy's Cholesky. Prints its seconds without the imports."""
    threads, *paths = paths
    os.environ["OPENBLAS_NUM_THREADS"] = threads
    import numpy as np
    from scipy.linalg import cho_factor, cho_solve

    start = time.perf_counter()
    x, y, test_x, test_y = (np.load(path, mmap_mode="r") for path in paths)
    random = np.random.default_rng(5)
    w = random.standard_normal((FIT_DIM, FIT_FEATURES), dtype=np.float32) * np.float32((2 / FIT_DIM) ** 0.5)
    b = random.uniform(0, 2 * np.pi, FIT_FEATURES).astype(np.float32)
    scale = np.float32((2 / FIT_FEATURES) ** 0.5)
    buffer = np.empty((FIT_BLOCK, FIT_FEATURES), np.float32)

    def features(rows):
        z = buffer[: len(rows)]
        np.matmul(rows, w, out=z)
        np.add(z, b, out=z)
        np.cos(z, out=z)
        np.multiply(z, scale, out=z)
        return z

    gram = np.zeros((FIT_FEATURES, FIT_FEATURES))
    part = np.empty((FIT_FEATURES, FIT_FEATURES), np.float32)
    moment, column_sums, total = np.zeros(FIT_FEATURES), np.zeros(FIT_FEATURES), 0.0
    for at in range(0, len(x), FIT_BLOCK):
        z, target = features(x[at : at + FIT_BLOCK]), y[at : at + FIT_BLOCK]
        np.matmul(z.T, z, out=part)
        gram += part
        moment += z.T @ target
        column_sums += np.ones(len(z), np.float32) @ z
        total += float(target.sum(dtype=float))
    n = len(x)
    mean, target_mean = column_sums / n, total / n
    gram -= n * np.outer(mean, mean)
    gram[np.diag_indices(FIT_FEATURES)] += RIDGE * n
    factor = cho_factor(gram, lower=True, overwrite_a=True, check_finite=False)
    beta = cho_solve(factor, moment - n * mean * target_mean, check_finite=False)
    predicted = features(test_x) @ beta + (target_mean - mean @ beta)
    rmse = float(np.sqrt(np.mean((predicted - test_y) ** 2)))
    print(json.dumps({"seconds": time.perf_counter() - start, "rmse": rmse}))


RUNNER = """
import json, os, subprocess, sys, time
for line in sys.stdin:
    start = time.perf_counter()
    child = subprocess.Popen(json.loads(line), stdout=subprocess.PIPE, text=True)
    out = child.stdout.read()
    _, status, usage = os.wait4(child.pid, 0)
    print(json.dumps([out, time.perf_counter() - start, usage.ru_maxrss / 1024, status]), flush=True)
"""


class Runner:
    """Runs commands from a small process: a child's peak memory starts at that of the process that started it."""

    def __init__(self):
        command = [sys.executable, "-c", RUNNER]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def run(self, command):
        """(what it printed, seconds, peak MiB); a failure ends the script."""
        self.process.stdin.write(json.dumps(command) + "\n")
        self.process.stdin.flush()
        out, seconds, peak, status = json.loads(self.process.stdout.readline())
        if status:
            sys.exit(f"{' '.join(command)} failed")
        return json.loads(out), seconds, peak


def fit(peers, runner, path, threads, rounds):
    """Whole processes: ours from its start to its end, numpy without its imports."""
    write_fit_data(peers.np)
    paths = [str(DATA / name) for name in ("train-x.npy", "train-y.npy", "test-x.npy", "test-y.npy")]
    peaks = {}

    def process(name, command, seconds_of):
        answer, whole, peak = runner.run(command)
        peaks[name] = max(peaks.get(name, 0), peak)
        contest.errors[name] = f"RMSE {answer['rmse']:.4f}, {peaks[name]:.0f} MiB"
        return seconds_of(answer, whole)

    contest = Contest(f"fit {FIT_ROWS} x {FIT_DIM} -> {FIT_FEATURES}", threads)
    worker = [sys.executable, __file__, "--fit-worker", str(threads), *paths]
    contest.peer("numpy by blocks", lambda: process("numpy by blocks", worker, lambda a, _: a["seconds"]))
    for form in ("phase", "paired"):
        name = f"bochner fit, {form}"
        command = [str(path), "fit", paths[0], "--targets", paths[1], "--test-input", paths[2], "--test-targets", paths[3]]
        command += ["--gamma", str(1 / FIT_DIM), "--features", str(FIT_FEATURES), "--form", form, "--lambda", str(RIDGE)]
        command += ["--task", "regression", "--device", "cpu", "--threads", str(threads), "--json", "--quiet"]
        contest.own(name, lambda name=name, command=command: process(name, command, lambda _, whole: whole))
    return contest.run(rounds, budget=peers.budget)


# -- all -------------------------------------------------------------------------------------------------------------------


def cases(options):
    """(name, function, shape, further arguments). A new op adds its line here."""
    yield "featurize 8192 x 784 -> 4096", featurize, (8192, 784, 4096), {}
    yield "featurize 65536 x 32 -> 1024", featurize, (65536, 32, 1024), {}
    yield "featurize 1000000 x 8 -> 256", featurize, (1_000_000, 8, 256), {}
    yield "featurize 1 x 784 -> 4096", featurize, (1, 784, 4096), {"repeats": 100}
    yield "nystrom 16384 x 32 -> 1024", nystrom, (16384, 32, 1024), {}
    yield "nystrom 8192 x 784 -> 1024", nystrom, (8192, 784, 1024), {}
    yield "product 16384 x 1024 -> 10", product, (16384, 1024, 10), {}
    yield "gram 8192 x 4096", gram, (8192, 0, 4096), {}
    yield "cholesky 4096", cholesky, (0, 0, 4096), {}
    if options.full:
        yield "cholesky 8192", cholesky, (0, 0, 8192), {}
    batch = ffht(options.ffht)
    for log2 in range(10, 21, 2) if batch else ():
        n = 1 << log2
        yield f"walsh-hadamard 2^{log2}", walsh_hadamard, (max(1, (1 << 22) // n), 0, n), {"batch": batch}


def main():
    # Each line is seen when it is printed, also by a pipe.
    sys.stdout.reconfigure(line_buffering=True)
    options = arguments()
    if options.fit_worker:
        return fit_worker(options.fit_worker)
    if os.environ.get(STAGE) != "inside":
        return enter_venv(options)
    path = binary(options.bochner)
    runner = Runner()
    budget = Budget(options.budget)
    peers = Peers(not options.no_torch, budget)
    contests = []
    for threads in (int(t) for t in options.threads.split(",")):
        ours = Ours(path, "--device", "cpu", "--threads", str(threads))
        print(f"bochner on {ours.device}; load {' '.join(f'{v:.1f}' for v in os.getloadavg())}")
        with peers.limit(threads):
            for name, function, shape, more in cases(options):
                # FFHT has one thread.
                if options.only not in name or (threads > 1 and function is walsh_hadamard):
                    continue
                if budget.begin(f"{name}, threads {threads}"):
                    contests.append(function(peers, ours, threads, options.rounds, name, shape, **more))
                    print(table(contests[-1:]), flush=True)
        ours.close()
        if options.only in "fit" and budget.begin(f"fit, threads {threads}"):
            contests.append(fit(peers, runner, path, threads, max(3, options.rounds // 2)))
            print(table(contests[-1:]), flush=True)
    print(f"\nload at the end {' '.join(f'{v:.1f}' for v in os.getloadavg())}\n")
    if contests:
        print(table(contests))
    budget.say()


if __name__ == "__main__":
    main()
