#!/usr/bin/env python3
"""torch on CUDA against `bochner bench`, in turn (A B A B) in one run, on matrices that stay on the device.

    python3 benches/peers/gpu.py [--budget SECONDS] [--device gpu] [--rounds 10] [--rows 131072] [--only TEXT] [--no-compile]
                                 [--bochner BINARY]
    python3 benches/peers/gpu.py --dry-run

Uses the running interpreter where it has torch; else makes a virtual environment under target/ and installs it there.
Without a CUDA device it says so and exits with status 2; --dry-run then still goes through every case in small, torch and
bochner both on the CPU, to see that the script and its errors are right; its times mean nothing. Walsh-Hadamard transforms
meet fast_hadamard_transform where that can be imported, a loop of torch operations, and the copy of the same bytes; Fastfood
and SORF meet the dense chain. Both sides run the same row blocks of the same shapes, on data of
the same law, and are timed by the wall clock around several submissions with one wait. Ratios hold inside one run only;
errors are the largest against f64 over the largest value, on as many rows of both sides.

torch's chain ends with a pass over its features that multiplies them by a constant, `mul_`. Who uses the features would fold
it into what follows: "fp32, scale folded" is the chain without that pass, whose predictions have the constant in the
coefficients.

Cases come in the order of their importance; with --budget, what no longer fits is left out by name. Each case is printed
when it is done, with the GPU's clocks while it was timed.
"""

import argparse
import os
import subprocess
import sys
import time
import venv
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
from clocks import Clocks
from common import ROOT, Budget, Contest, Ours, binary, clean_environment, table

VENV = ROOT / "target" / "peers-venv"
STAGE = "BOCHNER_PEERS_STAGE"
TARGETS = 10
# Seconds of submissions between two waits.
BATCH = 0.02


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", default="gpu", help="bochner's device: gpu, or a part of an adapter's name")
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--rows", type=int, default=1 << 17)
    parser.add_argument("--budget", type=float, metavar="SECONDS", help="begin no case that would end later than this")
    parser.add_argument("--only", default="", help="cases whose name holds this text")
    parser.add_argument("--no-compile", action="store_true", help="leave torch.compile out")
    parser.add_argument("--dry-run", action="store_true", help="every case in small on the CPU; times mean nothing")
    parser.add_argument("--bochner", help="binary to use instead of building one")
    return parser.parse_args()


def find_torch():
    """torch of this interpreter, or of a virtual environment that this script then runs in."""
    try:
        import torch

        return torch
    except ImportError:
        if os.environ.get(STAGE) == "inside":
            return None
    python = VENV / "bin" / "python"
    try:
        if not python.exists():
            venv.create(VENV, with_pip=True)
        if subprocess.run([str(python), "-c", "import torch"], stderr=subprocess.DEVNULL).returncode:
            subprocess.run([str(python), "-m", "pip", "install", "--quiet", "torch", "numpy"], check=True)
    except (OSError, subprocess.CalledProcessError) as error:
        print(f"no torch here, and it cannot be installed: {error}")
        return None
    os.execve(str(python), [str(python), __file__, *sys.argv[1:]], clean_environment() | {STAGE: "inside"})


class Peer:
    """torch in its three ways, timed in batches."""

    def __init__(self, torch, compiled, place):
        self.torch, self.compiled, self.place = torch, compiled, place

    def synchronize(self):
        if self.place == "cuda":
            self.torch.cuda.synchronize()

    def generator(self, seed):
        return self.torch.Generator(self.place).manual_seed(seed)

    def normal(self, generator, *size):
        return self.torch.randn(*size, device=self.place, generator=generator)

    def empty(self, *size):
        return self.torch.empty(*size, device=self.place)

    def precision(self, tf32):
        self.torch.backends.cuda.matmul.allow_tf32 = tf32

    def seconds(self, call, blocks, batch):
        self.synchronize()
        start = time.perf_counter()
        for _ in range(batch * blocks):
            call()
        self.synchronize()
        return (time.perf_counter() - start) / batch

    def join(self, contest, chain, functional, blocks, error, folded=None):
        """Adds `chain` in fp32 and in TF32, `folded`, the chain without its last pass, and `functional`, which allocates its
        results, compiled. `error` runs a way."""
        torch = self.torch
        ways = [("torch fp32", chain, False), ("torch TF32", chain, True)]
        if folded:
            ways.insert(1, ("torch fp32, scale folded", folded, False))
        if self.compiled and functional:
            try:
                self.precision(False)
                compiled = torch.compile(functional)
                compiled()
                self.synchronize()
                ways.append(("torch.compile fp32", compiled, False))
            except Exception as failure:  # whatever a compiler may raise
                print(f"{contest.name}: torch.compile fails ({str(failure).splitlines()[0][:100]})")
        for name, way, tf32 in ways:
            self.precision(tf32)
            way()
            contest.peer(name, self.timer(way, blocks, tf32), error(way))

    def timer(self, way, blocks, tf32=False):
        """A call that returns the seconds of one run of `way` on all blocks, among as many as take a while."""
        way()
        estimate = self.seconds(way, blocks, 1)
        estimate = min(estimate, self.seconds(way, blocks, 1))
        batch = max(1, min(100, int(BATCH / max(estimate, 1e-6))))

        def call():
            self.precision(tf32)
            return self.seconds(way, blocks, batch)

        return call


def own(contest, ours, op, shape, error):
    estimate = min(ours.ask(op, shape, times=2)["seconds"])
    batch = max(1, min(100, int(BATCH / max(estimate, 1e-6))))
    contest.own(f"bochner {op}", lambda: ours.ask(op, shape, times=1, batch=batch)["seconds"][0], error)


def measure(contest, options):
    """The rounds, and the clocks of that time alone."""
    options.clocks.forget()
    contest.run(options.rounds, pause=0, budget=options.time)
    contest.clocks = options.clocks.summary()


def relative(torch, got, exact):
    return float((got.double() - exact).abs().max() / exact.abs().max())


def map_case(torch, peer, ours, options, op, shape):
    """The feature map stored, or the prediction from it, with torch's chain of the same form."""
    rows, dim, features = shape
    answer = ours.ask(op, shape, times=0, error=True)
    blocks = answer["blocks"]
    block = -(-rows // blocks)
    paired = op != "projection-phase"
    freqs = features // 2 if paired else features
    generator = peer.generator(1)
    x, w = peer.normal(generator, block, dim), peer.normal(generator, dim, freqs) * (2 / dim) ** 0.5
    b = torch.rand(freqs, device=peer.place, generator=generator) * 6.2831853
    beta = peer.normal(generator, features, TARGETS)
    scale = (2 / features) ** 0.5
    t = peer.empty(block, freqs)
    z = peer.empty(block, features) if paired else t
    y = peer.empty(block, TARGETS)

    scaled_beta = beta * scale

    def folded_map():
        if paired:
            torch.mm(x, w, out=t)
            torch.cos(t, out=z[:, :freqs])
            torch.sin(t, out=z[:, freqs:])
        else:
            torch.addmm(b, x, w, out=t)
            t.cos_()
        return z

    def map_chain():
        return folded_map().mul_(scale)

    def predict_chain():
        return torch.mm(map_chain(), beta, out=y)

    def folded_predict():
        return torch.mm(folded_map(), scaled_beta, out=y)

    def functional_map():
        if paired:
            phases = torch.mm(x, w)
            return torch.cat([phases.cos(), phases.sin()], 1) * scale
        return torch.addmm(b, x, w).cos() * scale

    def functional_predict():
        return torch.mm(functional_map(), beta)

    some = x[: ours.rows].double()
    phases = some @ w.double()
    exact = torch.cat([phases.cos(), phases.sin()], 1) if paired else (phases + b).cos()
    exact = exact * scale
    chain, folded, functional = map_chain, folded_map, functional_map
    if op.endswith("predict"):
        chain, folded, functional, exact = predict_chain, folded_predict, functional_predict, exact @ beta.double()

    def error(way):
        got = way()[: ours.rows]
        # Features without their constant: the error is over the largest of those.
        return relative(torch, got * scale if way is folded_map else got, exact)

    contest = Contest(f"{op} {rows} x {dim} -> {features}, {answer['tile']}")
    with torch.inference_mode():
        peer.join(contest, chain, functional, blocks, error, folded)
        own(contest, ours, op, shape, answer["error"])
        measure(contest, options)
    return contest


def gram_case(torch, peer, ours, options, op, shape):
    rows, _, features = shape
    answer = ours.ask(op, shape, times=0, error=True)
    blocks = answer["blocks"]
    block = -(-rows // blocks)
    z = peer.normal(peer.generator(2), block, features) / features**0.5
    gram = torch.zeros(features, features, device=peer.place)
    step = -(-features // ours.columns)
    part = z[:, ::step].double()
    exact = part.T @ part

    def chain():
        torch.addmm(gram, z.T, z, out=gram)

    def once(way):
        # The sums of one block, without those of the runs before.
        gram.zero_()
        way()
        return relative(torch, gram[::step, ::step], exact)

    contest = Contest(f"{op} {rows} x {features}, {answer['tile']}")
    with torch.inference_mode():
        peer.join(contest, chain, None, blocks, once)
        own(contest, ours, op, shape, answer["error"])
        measure(contest, options)
    return contest


def butterflies(torch, x):
    """H x for each row, unnormalised, one level after another."""
    rows, n = x.shape
    h = 1
    while h < n:
        pairs = x.reshape(rows, n // (2 * h), 2, h)
        x = torch.stack((pairs[:, :, 0] + pairs[:, :, 1], pairs[:, :, 0] - pairs[:, :, 1]), 2)
        h *= 2
    return x.reshape(rows, n)


def transform_case(torch, peer, ours, options, op, shape):
    """Rows transformed into another matrix, with CUDA's fast transform, a loop of torch operations, and the copy."""
    rows, _, n = shape
    answer = ours.ask(op, shape, times=0, error=True)
    blocks = answer["blocks"]
    x = peer.normal(peer.generator(3), -(-rows // blocks), n)
    y = torch.empty_like(x)
    exact = butterflies(torch, x[: ours.transforms].double())
    contest = Contest(f"{op} {rows} x {n}, {answer['tile']}")
    with torch.inference_mode():
        contest.floor("torch copy", peer.timer(lambda: y.copy_(x), blocks))
        ways = [("torch butterflies", lambda: butterflies(torch, x))]
        try:
            from fast_hadamard_transform import hadamard_transform

            ways.append(("fast_hadamard_transform", lambda: hadamard_transform(x, 1.0)))
        except ImportError:
            pass
        for name, way in ways:
            contest.peer(name, peer.timer(way, blocks), relative(torch, way()[: ours.transforms], exact))
        own(contest, ours, op, shape, answer["error"])
        measure(contest, options)
    return contest


def cases(rows, small):
    """(op, function, shape)."""
    if small:
        for op in ("projection-paired", "projection-phase", "predict", "fastfood", "sorf", "fastfood-predict"):
            yield op, map_case, (rows, 100, 256)
        yield "gram", gram_case, (rows, 0, 128)
        for k in (4, 10, 13):
            yield "walsh-hadamard", transform_case, (rows, 0, 1 << k)
        return
    # What is asked first comes first: large maps, Gram sums and transforms of the usual lengths.
    yield "projection-phase", map_case, (rows, 784, 8192)
    yield "projection-paired", map_case, (rows, 784, 8192)
    yield "gram", gram_case, (rows, 0, 8192)
    yield "gram", gram_case, (rows, 0, 4096)
    for k in (10, 11, 12):
        yield "walsh-hadamard", transform_case, (rows * 1024 >> k, 0, 1 << k)
    yield "predict", map_case, (rows, 784, 8192)
    for op in ("fastfood", "sorf", "fastfood-predict"):
        yield op, map_case, (rows, 784, 8192)
    # Few columns, then many; wide features last, for they take longest.
    for dim, features in ((32, 1024), (784, 1024), (4096, 8192), (32, 8192), (4096, 1024), (784, 16384), (32, 16384), (4096, 16384)):
        for op in ("projection-paired", "projection-phase", "predict"):
            yield op, map_case, (rows, dim, features)
    for features in (1024, 16384):
        yield "gram", gram_case, (rows, 0, features)
    # As many elements at every length.
    for k in (13, 14, 15):
        yield "walsh-hadamard", transform_case, (max(1, rows * 1024 >> k), 0, 1 << k)


def main():
    # Each line is seen when it is printed, also by a pipe.
    sys.stdout.reconfigure(line_buffering=True)
    options = arguments()
    options.time = Budget(options.budget)
    torch = find_torch()
    cuda = torch is not None and torch.cuda.is_available()
    if torch is None or not (cuda or options.dry_run):
        version = f"torch {torch.__version__}" if torch else "no torch"
        print(f"there is no CUDA device to compare with ({version}); nothing was measured")
        sys.exit(2)
    place = "cuda"
    if options.dry_run:
        place, options.device, options.rows, options.rounds, options.no_compile = "cpu", "cpu", 64, 2, True
        print("a dry run on the CPU: the times mean nothing")
    # One process for all cases: its memory goes when another case is named.
    ours = Ours(binary(options.bochner), "--device", options.device)
    name = torch.cuda.get_device_name() if place == "cuda" else "the CPU"
    print(f"torch {torch.__version__} on {name}; bochner on {ours.device}")
    peer = Peer(torch, not options.no_compile, place)
    options.clocks = Clocks()
    contests = []
    for op, function, shape in cases(options.rows, options.dry_run):
        rows, dim, features = shape
        name = f"{op} {rows} x {dim} -> {features}"
        if options.only not in name or not options.time.begin(name):
            continue
        try:
            contests.append(function(torch, peer, ours, options, op, shape))
            print(table(contests[-1:]))
            print(contests[-1].clocks)
        except RuntimeError as failure:  # torch's out-of-memory errors are such, and refusals by bochner
            print(f"{name} is left out: {str(failure).splitlines()[0]}")
        if cuda:
            torch.cuda.empty_cache()
    options.clocks.close()
    ours.close()
    if contests:
        print("\n" + table(contests))
    options.time.say()


if __name__ == "__main__":
    main()
