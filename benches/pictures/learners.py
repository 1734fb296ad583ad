#!/usr/bin/env python3
"""Measures and draws the pictures of the pages of learners and of docs/hypothesis-tests.md, by the command
line, on the digits in data/ and on made rows.

    python3 benches/pictures/learners.py measure --bochner target/release/bochner [--only NAME]
    python3 benches/pictures/learners.py draw

`measure` writes docs/pictures/NAME.json, `draw` makes docs/pictures/NAME.svg of each.
"""

import argparse
import csv
import json
import math
import random
import statistics
import subprocess
import tempfile
from pathlib import Path

import machines
from draw import DOCS, Panel, save

DIGITS = DOCS.parent / "data" / "digits.csv"
FOLDER = DOCS / "pictures"
SPLIT = ["--target", "label", "--gamma", "scale", "--test", "0.5"]


class Cli:
    """The command line on the CPU, in a folder of its own."""

    def __init__(self, bochner, folder):
        self.bochner, self.folder = bochner, Path(folder)

    def run(self, *arguments):
        command = [self.bochner, *map(str, arguments), "--device", "cpu", "--json", "--quiet"]
        done = subprocess.run(command, stdout=subprocess.PIPE, cwd=self.folder, check=True)
        return json.loads(done.stdout)

    def write(self, name, header, rows):
        with open(self.folder / name, "w", newline="") as out:
            csv.writer(out).writerows([header, *rows])
        return name

    def read(self, name):
        with open(self.folder / name, newline="") as rows:
            return [[float(v) for v in row] for row in list(csv.reader(rows))[1:]]


# Ridge: the error that leave-one-out sees, and the error on rows held out, for each penalty.


def measure_ridge(cli):
    common = ["fit", DIGITS, *SPLIT, "--features", 500]
    seeds = range(5)
    curves = [cli.run(*common, "--seed", s, "--lambda", "auto")["lambda_curve"] for s in seeds]
    lambdas = [point["lambda"] for point in curves[0]]
    mean = lambda name: [statistics.mean(c[i][name] for c in curves) for i in range(len(lambdas))]
    error = lambda l, s: 100 * (1 - cli.run(*common, "--seed", s, "--lambda", l)["accuracy"])
    return {
        "lambdas": lambdas,
        "leave_one_out": mean("error"),
        "effective_dimension": mean("effective_dimension"),
        "test_error_percent": [statistics.mean(error(l, s) for s in seeds) for l in lambdas],
    }


def draw_ridge(f):
    ends = (f["lambdas"][0] * 0.7, f["lambdas"][-1] * 1.4)
    ticks = [(10.0**k, f"1e{k}") for k in range(-9, 0, 2)]
    left = Panel(66, ends, (1, 100))
    left.axes(
        "Error on digits, 500 features, %",
        "penalty, lambda",
        ticks,
        [(v, str(v)) for v in (1, 2, 5, 10, 20, 50, 100)],
    )
    loo = [100 * v for v in f["leave_one_out"]]
    left.line(list(zip(f["lambdas"], loo)), "ours", dots=True)
    left.line(list(zip(f["lambdas"], f["test_error_percent"])), "other", dots=True)
    left.label(f["lambdas"][1], loo[1] * 1.25, "leave-one-out, % of the variance", "ours")
    under = f["test_error_percent"][1] * 0.44
    left.label(f["lambdas"][0], under, "wrong labels among the other half", "other")
    right = Panel(490, ends, (3, 700))
    right.axes(
        "Effective dimension",
        "penalty, lambda",
        ticks,
        [(v, str(v)) for v in (5, 20, 100, 500)],
    )
    right.line(list(zip(f["lambdas"], f["effective_dimension"])), "ours", dots=True)
    save(
        "pictures/ridge.svg",
        [left, right],
        "The penalty of the smallest leave-one-out error is also the one of the fewest wrong labels; "
        "the effective dimension falls as the penalty grows.",
    )


# Gaussian process: a wave with a gap in its rows, and what share of new rows intervals hold.


def wave(draws, rows, gap=True):
    made = []
    while len(made) < rows:
        x = draws.uniform(0, 10)
        if not (gap and 4.2 < x < 6.2):
            made.append((x, math.sin(x) + draws.gauss(0, 0.2)))
    return made


def measure_gaussian_process(cli):
    draws = random.Random(1)
    rows = wave(draws, 60)
    cli.write("wave.csv", ["x", "y"], rows)
    grid = [[-1 + 0.05 * i] for i in range(241)]
    cli.write("grid.csv", ["x"], grid)
    process = ["--target", "y", "--model", "gaussian-process", "--features", 500]
    process += ["--sigma", 1.5, "--standardize=no"]
    report = cli.run("fit", "wave.csv", *process, "-o", "wave.model")
    cli.run("predict", "wave.model", "grid.csv", "--interval", 0.9, "-o", "out.csv")
    bounds = cli.read("out.csv")
    # Shares over fifty data sets of 200 rows to fit and 200 to hold.
    levels = [0.5, 0.6, 0.7, 0.8, 0.9, 0.95]
    ridge = ["--target", "y", "--features", 500, "--sigma", 1.5, "--standardize=no"]
    ridge += ["--lambda", 1e-3, "--calibrate", 0.3]
    held = {"process": [[] for _ in levels], "conformal": [[] for _ in levels]}
    for _ in range(50):
        cli.write("some.csv", ["x", "y"], wave(draws, 200, gap=False))
        new = wave(draws, 200, gap=False)
        cli.write("new.csv", ["x"], [[x] for x, _ in new])
        for name, options in (("process", process), ("conformal", ridge)):
            cli.run("fit", "some.csv", *options, "-o", "some.model")
            for level, shares in zip(levels, held[name]):
                cli.run("predict", "some.model", "new.csv", "--interval", level, "-o", "out.csv")
                inside = [low <= y <= up for (_, y), (_, low, up) in zip(new, cli.read("out.csv"))]
                shares.append(sum(inside) / len(inside))
    return {
        "rows": rows,
        "grid": [x for [x] in grid],
        "bounds": bounds,
        "noise_deviation": report["noise_deviation"],
        "levels": levels,
        "held": {name: [statistics.mean(s) for s in shares] for name, shares in held.items()},
    }


def draw_gaussian_process(f):
    left = Panel(66, (-1, 11), (-2.6, 2.6), ("linear", "linear"))
    left.axes(
        "60 rows of a wave, and 90 % intervals",
        "x",
        [(v, str(v)) for v in (0, 2, 4, 6, 8, 10)],
        [(v, str(v)) for v in (-2, -1, 0, 1, 2)],
    )
    side = lambda i: [(x, b[i]) for x, b in zip(f["grid"], f["bounds"])]
    left.band(side(1), side(2))
    left.line(side(0), "ours")
    left.dots(f["rows"], "dot-grey")
    right = Panel(490, (0.45, 1), (0.45, 1), ("linear", "linear"))
    ticks = [(v, f"{100 * v:.0f}") for v in (0.5, 0.6, 0.7, 0.8, 0.9, 1)]
    right.axes("Share of new rows inside, %", "level asked for, %", ticks, ticks)
    right.line([(0.45, 0.45), (1, 1)], "grid")
    right.line(list(zip(f["levels"], f["held"]["process"])), "ours", dots=True)
    right.line(list(zip(f["levels"], f["held"]["conformal"])), "other", dots=True)
    right.label(0.47, 0.93, "Gaussian process", "ours")
    right.label(0.68, 0.56, "ridge, calibrated on 30 %", "other")
    save(
        "pictures/gaussian-process.svg",
        [left, right],
        "Intervals of a Gaussian process widen where rows are missing, and hold the share of new "
        "rows that they promise; so do calibrated intervals of ridge regression.",
    )


# Classifiers: wrong labels by the number of features, and whether probabilities are shares.

CLASSIFIERS = {
    "ours": ("logistic", ["--model", "logistic", "--lambda", "1e-5"]),
    "other": ("ridge", ["--lambda", "1e-4", "--probabilities"]),
    "third": ("svm", ["--model", "svm", "--lambda", "1e-4"]),
}


def measure_classifiers(cli):
    features, seeds = [62, 125, 250, 500, 1000], range(5)
    errors = {
        name: [
            statistics.mean(
                100
                * (
                    1
                    - cli.run(
                        "fit", DIGITS, *SPLIT, *options, "--features", 2 * d, "--seed", s
                    )["accuracy"]
                )
                for s in seeds
            )
            for d in features
        ]
        for name, options in CLASSIFIERS.values()
    }
    # Few features leave classes in doubt, so that probabilities between 0 and 1 are seen.
    rows = DIGITS.read_text().splitlines()
    shares = {}
    for name, options in list(CLASSIFIERS.values())[:2]:
        seen = []
        for seed in range(10):
            picked = random.Random(seed).sample(rows[1:], len(rows) - 1)
            half = len(picked) // 2
            (cli.folder / "fit.csv").write_text("\n".join([rows[0], *picked[:half]]) + "\n")
            (cli.folder / "new.csv").write_text("\n".join([rows[0], *picked[half:]]) + "\n")
            base = ["--target", "label", "--gamma", "scale", "--features", 60, "--seed", seed]
            cli.run("fit", "fit.csv", *base, *options, "-o", "digits.model")
            cli.run(
                *["predict", "digits.model", "new.csv", "--target", "label"],
                *["--probabilities", "p.csv", "-o", "labels.csv"],
            )
            labels = [int(row.rsplit(",", 1)[1]) for row in picked[half:]]
            for row, label in zip(cli.read("p.csv"), labels):
                seen.extend((p, k == label) for k, p in enumerate(row))
        shares[name] = []
        for low in range(10):
            inside = [(p, hit) for p, hit in seen if low <= 10 * p < low + 1 or p == 1 and low == 9]
            mean = lambda values: statistics.mean(float(v) for v in values)
            shares[name].append([mean(p for p, _ in inside), mean(hit for _, hit in inside)])
    return {"features": [2 * d for d in features], "error_percent": errors, "shares": shares}


def draw_classifiers(f):
    features = f["features"]
    low = min(min(e) for e in f["error_percent"].values()) * 0.8
    high = max(max(e) for e in f["error_percent"].values()) * 1.4
    left = Panel(66, (features[0] * 0.85, features[-1] * 1.15), (low, high))
    left.axes(
        "Wrong labels on half of digits, %",
        "random features, D",
        [(d, f"{d:,}") for d in features],
        [(v, str(v)) for v in (2, 3, 5, 10, 20) if low < v < high],
    )
    right = Panel(490, (0, 1), (0, 1), ("linear", "linear"))
    ticks = [(v / 5, f"{20 * v}") for v in range(6)]
    right.axes("Rows of that class, %", "probability of the class, 60 features, %", ticks, ticks)
    right.line([(0, 0), (1, 1)], "grid")
    for i, (kind, (name, _)) in enumerate(CLASSIFIERS.items()):
        left.line(list(zip(features, f["error_percent"][name])), kind, dots=True)
        left.text(300, 88 + 18 * i, {"ours": "logistic regression", "other": "ridge", "third": "support vectors"}[kind], f'class="{kind}"')
        if name in f["shares"]:
            right.line(f["shares"][name], kind, dots=True)
    right.text(505, 88, "logistic regression", 'class="ours"')
    right.text(505, 106, "ridge, softmax", 'class="other"')
    save(
        "pictures/classifiers.svg",
        [left, right],
        "Wrong labels of logistic regression, ridge and support vectors fall as features grow; "
        "probabilities agree with the shares of rows.",
    )


# Without targets: components of four digits, and two rings.

SHOWN = [0, 1, 4, 7]


def measure_unlabelled(cli):
    rows = DIGITS.read_text().splitlines()
    some = [row for row in rows[1:] if int(row.rsplit(",", 1)[1]) in SHOWN]
    (cli.folder / "some.csv").write_text("\n".join([rows[0], *some]) + "\n")
    pca = ["--model", "pca", "--components", 2, "--features", 1000, "--gamma", "scale"]
    cli.run("fit", "some.csv", "--target", "label", *pca, "-o", "pca.model")
    cli.run("predict", "pca.model", "some.csv", "--target", "label", "-o", "components.csv")
    draws = random.Random(0)
    rings = []
    for i in range(400):
        angle, radius = draws.uniform(0, 2 * math.pi), (1, 2.5)[i % 2] + draws.gauss(0, 0.1)
        rings.append([radius * math.cos(angle), radius * math.sin(angle)])
    cli.write("rings.csv", ["x", "y"], rings)
    spectral = ["--model", "spectral-clustering", "--clusters", 2, "--map", "nystrom"]
    spectral += ["--features", 200, "--sigma", 0.3, "--standardize=no"]
    cli.run("fit", "rings.csv", *spectral, "-o", "rings.model")
    cli.run("predict", "rings.model", "rings.csv", "-o", "clusters.csv")
    labels = [int(row.rsplit(",", 1)[1]) for row in some]
    return {
        "digits": [[k, *point] for k, point in zip(labels, cli.read("components.csv"))],
        "rings": [[*row, int(k)] for row, [k] in zip(rings, cli.read("clusters.csv"))],
    }


def draw_unlabelled(f):
    spread = lambda values: (min(values) * 1.1, max(values) * 1.1)
    _, first, second = zip(*f["digits"])
    left = Panel(66, spread(first), spread(second), ("linear", "linear"))
    left.frame("Digits 0, 1, 4, 7: two kernel components", "first component")
    for i, digit in enumerate(SHOWN):
        points = [(a, b) for k, a, b in f["digits"] if k == digit]
        left.dots(points, f"dot-{i}", 2)
        middle = [statistics.median(values) for values in zip(*points)]
        left.label(*middle, str(digit), "title", 'text-anchor="middle"')
    right = Panel(555, (-3, 3), (-3, 3), ("linear", "linear"))
    right.box = (555, 64, 200, 200)
    right.frame("Two rings by spectral clustering", "no cluster has a centre of its own")
    for k in (0, 1):
        right.dots([(x, y) for x, y, cluster in f["rings"] if cluster == k], f"dot-{k}", 2)
    save(
        "pictures/unlabelled.svg",
        [left, right],
        "Four digits lie apart in the plane of two kernel components; spectral clustering tells an "
        "inner ring from an outer one.",
    )


# Tests: how often a shift is found, and p-values where there is none.


def measure_tests(cli):
    draws = random.Random(0)
    sample = lambda rows, shift: [[draws.gauss(shift, 1), draws.gauss(0, 1)] for _ in range(rows)]

    def p_value(seed, shift, rows):
        cli.write("a.csv", ["x", "y"], sample(rows, 0))
        cli.write("b.csv", ["x", "y"], sample(rows, shift))
        options = ["--features", 200, "--sigma", "median", "--seed", seed]
        return cli.run("drift", "a.csv", "b.csv", *options)["p_value"]

    shifts, repeats = [0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6], 100
    power = {
        str(rows): [
            sum(p_value(seed, shift, rows) <= 0.05 for seed in range(repeats)) / repeats
            for shift in shifts
        ]
        for rows in (100, 400)
    }
    return {
        "shifts": shifts,
        "repeats": repeats,
        "power": power,
        "null": sorted(p_value(seed, 0, 100) for seed in range(400)),
    }


def draw_tests(f):
    left = Panel(66, (0, f["shifts"][-1]), (0, 1), ("linear", "linear"))
    ticks = [(v / 5, f"{20 * v}") for v in range(6)]
    left.axes(
        f"Shifts found at level 5 %, % of {f['repeats']}",
        "shift of one of two columns, in deviations",
        [(v, str(v)) for v in f["shifts"][::2]],
        ticks,
    )
    for (rows, power), kind in zip(reversed(f["power"].items()), ("ours", "other")):
        left.line(list(zip(f["shifts"], power)), kind, dots=True)
    left.text(106, 92, "400 rows each", 'class="ours"')
    left.text(300, 190, "100 rows each", 'class="other"')
    right = Panel(490, (0, 1), (0, 1), ("linear", "linear"))
    right.axes(f"{len(f['null'])} p-values without a shift", "p-value", [(v / 5, str(v / 5)) for v in range(6)], ticks)
    right.line([(0, 0), (1, 1)], "grid")
    n = len(f["null"])
    right.line([(p, (i + 1) / n) for i, p in enumerate(f["null"])], "ours")
    right.text(505, 92, "share of p-values up to that, %", 'class="ours"')
    save(
        "pictures/tests.svg",
        [left, right],
        "The test of two samples finds larger shifts more often, and with more rows; without a "
        "shift its p-values are uniform.",
    )


PICTURES = {
    "ridge": (measure_ridge, draw_ridge),
    "gaussian-process": (measure_gaussian_process, draw_gaussian_process),
    "classifiers": (measure_classifiers, draw_classifiers),
    "unlabelled": (measure_unlabelled, draw_unlabelled),
    "tests": (measure_tests, draw_tests),
    **machines.PICTURES,
}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    commands = parser.add_subparsers(dest="command", required=True)
    measuring = commands.add_parser("measure")
    measuring.add_argument("--bochner", required=True, type=Path)
    measuring.add_argument("--only", choices=PICTURES)
    commands.add_parser("draw")
    arguments = parser.parse_args()
    for name, (measure, draw) in PICTURES.items():
        figures = FOLDER / f"{name}.json"
        if arguments.command == "measure" and arguments.only in (None, name):
            with tempfile.TemporaryDirectory() as folder:
                found = measure(Cli(str(arguments.bochner.resolve()), folder))
            figures.write_text(json.dumps(found) + "\n")
            print(name)
        if figures.exists():
            draw(json.loads(figures.read_text()))


if __name__ == "__main__":
    main()
