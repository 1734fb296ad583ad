#!/usr/bin/env python3
"""Measures and draws docs/picture.svg: what random features are for, in two panels.

Left: the test error of `bochner fit` on letter (16,000 rows) against the number of features, beside
the exact kernel and a linear model with the same bandwidth and penalty. Right: the peak memory of
`bochner fit` against the number of rows, beside the kernel matrix alone, which is 8 n^2 bytes.

    python3 benches/pictures/front.py measure --bochner target/release/bochner --letter DIR   (numpy, scipy)
    python3 benches/pictures/front.py draw

`measure` writes docs/picture.json, `draw` makes the picture of it. DIR holds train.npz and test.npz
with arrays X and y.
"""

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from draw import DOCS, Panel, save

FEATURES = [126, 250, 500, 1000, 2000, 4000, 8000]
SEEDS = [0, 1, 2]
ROWS = [10_000, 20_000, 50_000, 100_000, 200_000, 500_000, 1_000_000]
LAMBDA = 1e-8


# Runs a command and writes the peak memory of it. A process begins with the peak of the one that
# started it, so a small one has to stand between this script, with its arrays, and the command.
SMALL = """
import resource, subprocess, sys
status = subprocess.call(sys.argv[2:])
with open(sys.argv[1], "w") as out:
    out.write(str(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss))
sys.exit(status)
"""


def fit(bochner, arguments):
    """One fit on the CPU: its JSON report and its peak memory in bytes."""
    command = [bochner, "fit", *arguments, "--device", "cpu", "--json", "--quiet"]
    with tempfile.NamedTemporaryFile("r") as peak:
        small = [sys.executable, "-S", "-c", SMALL, peak.name]
        report = subprocess.run(small + command, stdout=subprocess.PIPE, check=True).stdout
        return json.loads(report), 1024 * int(peak.read())


def exact_and_linear(letter, gamma):
    """Test errors in per cent of kernel ridge with the whole kernel matrix, and of linear ridge."""
    import numpy as np
    from scipy.linalg import cho_factor, cho_solve

    train, test = np.load(letter / "train.npz"), np.load(letter / "test.npz")
    x, t = (part["X"].astype(float) - train["X"].mean(0) for part in (train, test))
    targets = 2.0 * (train["y"][:, None] == np.unique(train["y"])) - 1
    mean = targets.mean(0)

    def kernel(a, b):
        squared = (a * a).sum(1)[:, None] + (b * b).sum(1) - 2 * a @ b.T
        return np.exp(-gamma * np.maximum(squared, 0))

    def error(scores):
        return 100 * float((scores.argmax(1) != test["y"]).mean())

    gram = kernel(x, x)
    gram[np.diag_indices(len(x))] += LAMBDA * len(x)
    dual = cho_solve(cho_factor(gram, lower=True, overwrite_a=True), targets - mean)
    weights = np.linalg.lstsq(x, targets - mean, rcond=None)[0]
    return error(kernel(t, x) @ dual + mean), error(t @ weights + mean)


def measure(bochner, letter):
    import numpy as np

    errors, gamma = [], None
    for features in FEATURES:
        of_seeds = []
        for seed in SEEDS:
            report, _ = fit(
                bochner,
                [str(letter / "train.npz"), "--test-input", str(letter / "test.npz")]
                + ["--sigma", "median", "--standardize=no", "--lambda", str(LAMBDA)]
                + ["--features", str(features), "--seed", str(seed)],
            )
            of_seeds.append(100 * (1 - report["accuracy"]))
            gamma = report["gamma"]
        errors.append(statistics.mean(of_seeds))
        print(features, of_seeds)
    exact, linear = exact_and_linear(letter, gamma)
    print("exact", exact, "linear", linear)
    memory = []
    with tempfile.TemporaryDirectory() as folder:
        for rows in ROWS:
            data = Path(folder) / "data.npz"
            x = np.random.default_rng(0).standard_normal((rows, 32), dtype=np.float32)
            np.savez(data, X=x, y=np.sin(x[:, 0]) + x[:, 1])
            _, peak = fit(bochner, [str(data), "--task", "regression", "--features", "1000"])
            memory.append(peak)
            print(rows, peak)
    figures = {
        "gamma": gamma,
        "features": FEATURES,
        "error_percent": errors,
        "exact_percent": exact,
        "linear_percent": linear,
        "rows": ROWS,
        "peak_bytes": memory,
    }
    (DOCS / "picture.json").write_text(json.dumps(figures, indent=2) + "\n")


def draw():
    figures = json.loads((DOCS / "picture.json").read_text())
    exact, linear = figures["exact_percent"], figures["linear_percent"]
    features = figures["features"]
    error = Panel(66, (features[0] * 0.85, features[-1] * 1.15), (1.5, 60))
    error.axes(
        "Test error on letter, %",
        "random features, D",
        [(d, f"{d:,}") for d in features if d != 126],
        [(v, str(v)) for v in (2, 5, 10, 20, 50)],
    )
    ends = error.ranges[0]
    error.line([(x, exact) for x in ends], "other")
    error.line([(x, linear) for x in ends], "other")
    error.label(ends[0], exact * 0.8, f"&#160;exact kernel, 16,000 x 16,000: {exact:.2f} %", "other")
    error.label(ends[0], linear * 1.1, f"&#160;linear model: {linear:.0f} %", "other")
    error.line(list(zip(features, figures["error_percent"])), "ours", dots=True)
    error.label(features[2] * 1.25, figures["error_percent"][2], "bochner fit", "ours")

    rows, peak = figures["rows"], [b / 2**20 for b in figures["peak_bytes"]]
    memory = Panel(490, (rows[0] * 0.85, rows[-1] * 1.15), (10, 2e7))
    memory.axes(
        "Memory of a fit with 1,000 features",
        "rows, n",
        [(n, f"{n:,}") for n in (10_000, 50_000, 200_000, 1_000_000)],
        [(10, "10 MiB"), (1024, "1 GiB"), (102_400, "100 GiB"), (10_485_760, "10 TiB")],
    )
    memory.line([(n, 8 * n * n / 2**20) for n in rows], "other")
    memory.label(rows[0], 8 * (10 * rows[1]) ** 2 / 2**20, "kernel matrix, 8 n&#178; bytes", "other")
    memory.line(list(zip(rows, peak)), "ours", dots=True)
    memory.label(rows[-1], max(peak) * 1.9, f"bochner fit: {max(peak):.0f} MiB at most", "ours", 'text-anchor="end"')
    save(
        "picture.svg",
        [error, memory],
        "Test error falls to that of the exact kernel as features grow; memory stays flat as rows grow.",
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    commands = parser.add_subparsers(dest="command", required=True)
    measuring = commands.add_parser("measure")
    measuring.add_argument("--bochner", required=True)
    measuring.add_argument("--letter", type=Path, required=True)
    commands.add_parser("draw")
    arguments = parser.parse_args()
    if arguments.command == "measure":
        measure(arguments.bochner, arguments.letter)
    draw()


if __name__ == "__main__":
    main()
