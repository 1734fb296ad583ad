"""Pictures of kernel machines, of fits that grow and of densities; learners.py measures and draws
them with its own."""

import math
import random
import statistics

from draw import DOCS, Panel, save

DIGITS = DOCS.parent / "data" / "digits.csv"
SPLIT = ["--target", "label", "--gamma", "scale", "--test", "0.5"]
SEEDS = range(5)


def wrong(cli, *options):
    """Wrong labels on the other half of the digits, in per cent, over seeds."""
    found = [cli.run("fit", DIGITS, *SPLIT, "--seed", s, *options)["accuracy"] for s in SEEDS]
    return statistics.mean(100 * (1 - accuracy) for accuracy in found)


def ticks(values):
    return [(v, f"{v:,}") for v in values]


# Kernel machines: fewer landmarks than rows, on the digits and beside the exact function.


def measure_machines(cli):
    landmarks = [25, 50, 100, 200, 400, 800]
    digits = {
        "falkon": [wrong(cli, "--model", "falkon", "--landmarks", m) for m in landmarks],
        "nystrom": [
            wrong(cli, "--map", "nystrom", "--features", m, "--solver", "cholesky")
            for m in landmarks
        ],
        "exact": wrong(cli, "--model", "kernel-ridge"),
    }
    draws = random.Random(2)
    made = lambda: [draws.uniform(0, 10), draws.uniform(0, 10)]
    value = lambda x: math.sin(x[0]) * math.cos(0.7 * x[1]) + draws.gauss(0, 0.1)
    rows = [made() for _ in range(1500)]
    cli.write("fit.csv", ["a", "b", "y"], [[*x, value(x)] for x in rows])
    cli.write("new.csv", ["a", "b"], [made() for _ in range(1000)])
    common = ["fit", "fit.csv", "--target", "y", "--sigma", 1.5, "--standardize=no"]
    common += ["--lambda", 1e-5, "-o", "m"]

    def predicted(*options):
        cli.run(*common, *options)
        cli.run("predict", "m", "new.csv", "-o", "out.csv")
        return [v for [v] in cli.read("out.csv")]

    exact = predicted("--model", "kernel-ridge")
    apart = lambda other: math.sqrt(statistics.mean((a - b) ** 2 for a, b in zip(exact, other)))
    few = [12, 25, 50, 100, 200, 400]
    return {
        "landmarks": landmarks,
        "digits": digits,
        "few": few,
        "apart": {
            "falkon": [apart(predicted("--model", "falkon", "--landmarks", m)) for m in few],
            "nystrom": [
                apart(predicted("--map", "nystrom", "--features", m, "--solver", "cholesky"))
                for m in few
            ],
        },
    }


def draw_machines(f):
    ends = (f["landmarks"][0] * 0.85, f["landmarks"][-1] * 1.15)
    left = Panel(66, ends, (0.8, 30))
    left.axes(
        "Wrong labels on half of digits, %",
        "landmarks",
        ticks(f["landmarks"]),
        [(v, str(v)) for v in (1, 2, 5, 10, 20)],
    )
    exact = f["digits"]["exact"]
    left.line([(ends[0], exact), (ends[1], exact)], "third")
    for kind, name in (("ours", "falkon"), ("other", "nystrom")):
        left.line(list(zip(f["landmarks"], f["digits"][name])), kind, dots=True)
    left.text(250, 88, "Falkon", 'class="ours"')
    left.text(250, 106, "ridge on Nystrom features", 'class="other"')
    left.label(f["landmarks"][0], exact * 0.72, "kernel ridge, all 900 rows", "third")
    few = f["few"]
    all_apart = [v for values in f["apart"].values() for v in values]
    right = Panel(490, (few[0] * 0.85, few[-1] * 1.15), (min(all_apart) * 0.6, max(all_apart) * 1.6))
    right.axes(
        "From kernel ridge, root mean square",
        "landmarks",
        ticks(few),
        [(10.0**k, f"1e{k}") for k in range(-6, 1) if min(all_apart) < 10.0**k < max(all_apart)],
    )
    for kind, name in (("ours", "falkon"), ("other", "nystrom")):
        right.line(list(zip(few, f["apart"][name])), kind, dots=True)
    save(
        "pictures/kernel-machines.svg",
        [left, right],
        "Falkon and ridge regression on Nystrom features of as many landmarks make the same errors, "
        "and come to kernel ridge regression as landmarks come to be many.",
    )


# Fits that grow: features that are chosen against features as they come, and boosting by stages.


def measure_stagewise(cli):
    used = [25, 50, 100, 200, 400]
    pool = ["--model", "greedy", "--features", 2000, "--held-out", 0]
    stages = [5, 10, 20, 50, 100, 200, 400, 800]
    boosting = ["--model", "boosting", "--features", 1000]
    return {
        "used": used,
        "greedy": [wrong(cli, *pool, "--steps", n) for n in used],
        "ridge": [wrong(cli, "--features", n + n % 2, "--lambda", 1e-5) for n in used],
        "stages": stages,
        "boosting": [wrong(cli, *boosting, "--steps", n) for n in stages],
        "all": wrong(cli, "--features", 1000, "--lambda", 1e-5),
    }


def draw_stagewise(f):
    used, stages = f["used"], f["stages"]
    errors = [(v, str(v)) for v in (1, 2, 5, 10, 20, 40)]
    left = Panel(66, (used[0] * 0.85, used[-1] * 1.15), (1.2, 60))
    left.axes("Wrong labels on half of digits, %", "features used", ticks(used), errors[1:])
    left.line(list(zip(used, f["greedy"])), "ours", dots=True)
    left.line(list(zip(used, f["ridge"])), "other", dots=True)
    left.text(210, 88, "greedy, of a pool of 2,000", 'class="ours"')
    left.text(210, 106, "ridge, as they are drawn", 'class="other"')
    right = Panel(490, (stages[0] * 0.85, stages[-1] * 1.15), (1.2, 60))
    right.axes("Wrong labels on half of digits, %", "stages of boosting", ticks(stages), errors[1:])
    right.line(list(zip(stages, f["boosting"])), "ours", dots=True)
    right.line([(stages[0] * 0.85, f["all"]), (stages[-1] * 1.15, f["all"])], "other")
    right.text(640, 88, "boosting, 1,000 features", 'class="ours"')
    right.text(640, 106, "ridge on all of them", 'class="other"')
    save(
        "pictures/stagewise.svg",
        [left, right],
        "Wrong labels of a greedy fit fall with the features used, beside those of ridge regression "
        "on as many; those of boosting fall with its stages.",
    )


# Densities: a bandwidth by rule and one by cross-validation, and the noise of features.


def measure_density(cli):
    draws = random.Random(3)
    rows = [[draws.gauss(0, 0.3) if i % 2 else draws.gauss(4, 0.8)] for i in range(600)]
    cli.write("rows.csv", ["x"], rows)
    grid = [[-2 + 0.05 * i] for i in range(200)]
    cli.write("grid.csv", ["x"], grid)
    fit = ["fit", "rows.csv", "--model", "density", "-o", "m"]
    # Rows where there are none: all that is predicted of raw scores is noise.
    curves, multiple = {}, None
    for name, options in (("scott", []), ("cross-validated", ["--multiples", "auto"])):
        report = cli.run(*fit, "--features", 8000, "--sampling", "orthogonal", *options)
        multiple = report.get("bandwidth_multiple", multiple)
        cli.run("predict", "m", "grid.csv", "-o", "out.csv")
        curves[name] = [v for [v] in cli.read("out.csv")]
    cli.write("near.csv", ["x"], [[-1 + 0.02 * i] for i in range(350)])
    features = [250, 500, 1000, 2000, 4000, 8000, 16000]

    def at(*options):
        report = cli.run(*fit, "--sigma", 0.15, "--standardize=no", *options)
        cli.run("predict", "m", "near.csv", "-o", "out.csv")
        return report, [v for [v] in cli.read("out.csv")]

    # The same kernel without random features: every row a landmark.
    _, exact = at("--map", "nystrom", "--features", 600)
    noise, said = [], []
    for d in features:
        squares, deviations = [], []
        for seed in range(10):
            report, found = at("--features", d, "--seed", seed)
            # Where the estimate is far from 0, so that nothing is cut off.
            squares += [(a - b) ** 2 for a, b in zip(found, exact) if b > 0.1]
            deviations.append(report["noise_deviation"])
        noise.append(math.sqrt(statistics.mean(squares)))
        said.append(statistics.mean(deviations))
    law = lambda x, m, s: math.exp(-0.5 * ((x - m) / s) ** 2) / (s * math.sqrt(2 * math.pi))
    return {
        "grid": [x for [x] in grid],
        "law": [0.5 * law(x, 0, 0.3) + 0.5 * law(x, 4, 0.8) for [x] in grid],
        "curves": curves,
        "multiple": multiple,
        "features": features,
        "noise": noise,
        "said": said,
    }


def draw_density(f):
    left = Panel(66, (-2, 8), (0, 0.75), ("linear", "linear"))
    left.axes(
        "600 rows of two bumps, 8,000 features",
        "x",
        [(v, str(v)) for v in range(-2, 9, 2)],
        [(v / 10, str(v / 10)) for v in range(0, 8, 2)],
    )
    left.line(list(zip(f["grid"], f["law"])), "third")
    left.line(list(zip(f["grid"], f["curves"]["scott"])), "other")
    left.line(list(zip(f["grid"], f["curves"]["cross-validated"])), "ours")
    left.text(205, 88, f"{f['multiple']:.2f} of Scott's bandwidth,", 'class="ours"')
    left.text(205, 104, "by cross-validation", 'class="ours"')
    left.text(205, 122, "Scott's bandwidth", 'class="other"')
    left.text(205, 140, "the law", 'class="third"')
    features = f["features"]
    low, high = min(f["noise"] + f["said"]) * 0.7, max(f["noise"] + f["said"]) * 1.4
    right = Panel(490, (features[0] * 0.85, features[-1] * 1.15), (low, high))
    right.axes(
        "Deviation from the exact kernel density",
        "random features, D",
        ticks(features[::2]),
        [(v, str(v)) for v in (0.005, 0.01, 0.02, 0.05, 0.1, 0.2) if low < v < high],
    )
    right.line(list(zip(features, f["noise"])), "ours", dots=True)
    right.line(list(zip(features, f["said"])), "other", dots=True)
    right.text(640, 88, "found", 'class="ours"')
    right.text(640, 106, "as the report says", 'class="other"')
    save(
        "pictures/density.svg",
        [left, right],
        "Of two bumps a bandwidth by cross-validation shows both as they are, where the rule blurs "
        "the narrow one; the noise of features falls as the report says.",
    )


PICTURES = {
    "kernel-machines": (measure_machines, draw_machines),
    "stagewise": (measure_stagewise, draw_stagewise),
    "density": (measure_density, draw_density),
}
