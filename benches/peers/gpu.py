#!/usr/bin/env python3
"""torch on CUDA against `bochner bench`, in turn (A B A B) in one run, on matrices that stay on the device.

    python3 benches/peers/gpu.py [--device gpu] [--rounds 10] [--rows 131072] [--only TEXT] [--no-compile] [--bochner BINARY]

Uses the running interpreter where it has torch; else makes a virtual environment under target/ and installs it there.
Without a CUDA device it says so and exits with status 2. Both sides run the same row blocks of the same shapes, on data of
the same law, and are timed by the wall clock around several submissions with one wait. Ratios hold inside one run only;
errors are the largest against f64 over the largest value.
"""

import argparse
import os
import subprocess
import sys
import time
import venv
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
from common import ROOT, Contest, Ours, binary, clean_environment, table

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
    parser.add_argument("--only", default="", help="cases whose name holds this text")
    parser.add_argument("--no-compile", action="store_true", help="leave torch.compile out")
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


def clocks(when):
    """The clocks, where the vendor's tool is there to tell."""
    query = ["nvidia-smi", "--query-gpu=name,driver_version,clocks.sm,clocks.mem,power.draw", "--format=csv,noheader"]
    try:
        print(when, subprocess.run(query, capture_output=True, text=True, check=True).stdout.strip(), flush=True)
    except (OSError, subprocess.CalledProcessError):
        pass


class Peer:
    """torch in its three ways, timed in batches."""

    def __init__(self, torch, compiled):
        self.torch, self.compiled = torch, compiled

    def precision(self, tf32):
        self.torch.backends.cuda.matmul.allow_tf32 = tf32

    def seconds(self, call, blocks, batch):
        torch = self.torch
        torch.cuda.synchronize()
        start = time.perf_counter()
        for _ in range(batch * blocks):
            call()
        torch.cuda.synchronize()
        return (time.perf_counter() - start) / batch

    def join(self, contest, chain, functional, blocks, error):
        """Adds `chain` in fp32 and in TF32, and `functional`, which allocates its results, compiled. `error` runs a way."""
        torch = self.torch
        ways = [("torch fp32", chain, False), ("torch TF32", chain, True)]
        if self.compiled and functional:
            try:
                self.precision(False)
                compiled = torch.compile(functional)
                compiled()
                torch.cuda.synchronize()
                ways.append(("torch.compile fp32", compiled, False))
            except Exception as failure:  # whatever a compiler may raise
                print(f"{contest.name}: torch.compile fails ({str(failure).splitlines()[0][:100]})")
        for name, way, tf32 in ways:
            self.precision(tf32)
            way()
            found = error(way)
            estimate = self.seconds(way, blocks, 1)
            estimate = min(estimate, self.seconds(way, blocks, 1))
            batch = max(1, min(100, int(BATCH / max(estimate, 1e-6))))

            def call(way=way, tf32=tf32, batch=batch):
                self.precision(tf32)
                return self.seconds(way, blocks, batch)

            contest.peer(name, call, found)


def own(contest, ours, op, shape, error):
    estimate = min(ours.ask(op, shape, times=2)["seconds"])
    batch = max(1, min(100, int(BATCH / max(estimate, 1e-6))))
    contest.own(f"bochner {op}", lambda: ours.ask(op, shape, times=1, batch=batch)["seconds"][0], error)


def relative(torch, got, exact):
    return float((got.double() - exact).abs().max() / exact.abs().max())


def map_case(torch, peer, options, op, shape):
    """The feature map stored, or the prediction from it, with torch's chain of the same form."""
    rows, dim, features = shape
    ours = Ours(binary(options.bochner), "--device", options.device)
    answer = ours.ask(op, shape, times=0, error=True)
    blocks = answer["blocks"]
    block = -(-rows // blocks)
    paired = op != "projection-phase"
    freqs = features // 2 if paired else features
    generator = torch.Generator("cuda").manual_seed(1)
    normal = lambda *size: torch.randn(*size, device="cuda", generator=generator)
    x, w = normal(block, dim), normal(dim, freqs) * (2 / dim) ** 0.5
    b = torch.rand(freqs, device="cuda", generator=generator) * 6.2831853
    beta = normal(features, TARGETS)
    scale = (2 / features) ** 0.5
    t = torch.empty(block, freqs, device="cuda")
    z = torch.empty(block, features, device="cuda") if paired else t
    y = torch.empty(block, TARGETS, device="cuda")

    def map_chain():
        if paired:
            torch.mm(x, w, out=t)
            torch.cos(t, out=z[:, :freqs])
            torch.sin(t, out=z[:, freqs:])
            z.mul_(scale)
        else:
            torch.addmm(b, x, w, out=t)
            t.cos_().mul_(scale)
        return z

    def predict_chain():
        return torch.mm(map_chain(), beta, out=y)

    def functional_map():
        if paired:
            phases = torch.mm(x, w)
            return torch.cat([phases.cos(), phases.sin()], 1) * scale
        return torch.addmm(b, x, w).cos() * scale

    def functional_predict():
        return torch.mm(functional_map(), beta)

    some = x[:64].double()
    phases = some @ w.double()
    exact = torch.cat([phases.cos(), phases.sin()], 1) if paired else (phases + b).cos()
    exact = exact * scale
    chain, functional = map_chain, functional_map
    if op == "predict":
        chain, functional, exact = predict_chain, functional_predict, exact @ beta.double()
    contest = Contest(f"{op} {rows} x {dim} -> {features}, {answer['tile']}")
    with torch.inference_mode():
        peer.join(contest, chain, functional, blocks, lambda way: relative(torch, way()[:64], exact))
        own(contest, ours, op, shape, answer["error"])
        contest.run(options.rounds, pause=0)
    ours.close()
    return contest


def gram_case(torch, peer, options, op, shape):
    rows, _, features = shape
    ours = Ours(binary(options.bochner), "--device", options.device)
    answer = ours.ask(op, shape, times=0, error=True)
    blocks = answer["blocks"]
    block = -(-rows // blocks)
    generator = torch.Generator("cuda").manual_seed(2)
    z = torch.randn(block, features, device="cuda", generator=generator) / features**0.5
    gram = torch.zeros(features, features, device="cuda")
    step = features // 48
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
        contest.run(options.rounds, pause=0)
    ours.close()
    return contest


def cases(rows):
    """(op, function, shape)."""
    for op in ("projection-paired", "projection-phase", "predict"):
        for dim in (32, 784, 4096):
            for features in (1024, 8192, 16384):
                yield op, map_case, (rows, dim, features)
    for features in (1024, 8192, 16384):
        yield "gram", gram_case, (rows, 0, features)


def main():
    options = arguments()
    torch = find_torch()
    if torch is None or not torch.cuda.is_available():
        version = f"torch {torch.__version__}" if torch else "no torch"
        print(f"there is no CUDA device to compare with ({version}); nothing was measured")
        sys.exit(2)
    options.bochner = binary(options.bochner)
    ours = Ours(options.bochner, "--device", options.device)
    print(f"torch {torch.__version__} on {torch.cuda.get_device_name()}; bochner on {ours.device}")
    ours.close()
    clocks("clocks before:")
    peer = Peer(torch, not options.no_compile)
    contests = []
    for op, function, shape in cases(options.rows):
        rows, dim, features = shape
        name = f"{op} {rows} x {dim} -> {features}"
        if options.only not in name:
            continue
        try:
            contests.append(function(torch, peer, options, op, shape))
            print(table(contests[-1:]), flush=True)
        except (RuntimeError, torch.cuda.OutOfMemoryError) as failure:
            print(f"{name} is left out: {str(failure).splitlines()[0]}", flush=True)
        torch.cuda.empty_cache()
    clocks("clocks after:")
    if contests:
        print("\n" + table(contests))


if __name__ == "__main__":
    main()
