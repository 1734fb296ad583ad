#!/usr/bin/env python3
"""Measures and draws docs/pictures/growing.svg by the Python package, for the command line has no
rows that come later: the digits in data/, in orders that seeds draw.

    PYTHONPATH=python python3 benches/pictures/growing.py measure
    python3 benches/pictures/growing.py draw

`measure` writes docs/pictures/growing.json, `draw` makes the picture of it.
"""

import argparse
import csv
import json
import statistics

from draw import DOCS, Panel, save

DIGITS = DOCS.parent / "data" / "digits.csv"
FIGURES = DOCS / "pictures" / "growing.json"
SEEDS = range(10)
#: The last rows of each order are the ones that are predicted.
LAST = 297
ROWS = [100, 200, 400, 800, 1500]
#: Pictures are upside down from here on.
TURNED = 900
BLOCK, WINDOW = 100, 400


def orders():
    """For each seed all rows in an order of its own, and their labels."""
    import numpy as np

    header, *rows = csv.reader(DIGITS.read_text().splitlines())
    rows = np.array(rows, dtype=float)
    label = header.index("label")
    x, labels = np.delete(rows, label, axis=1) / 16, rows[:, label].astype(int)
    for seed in SEEDS:
        order = np.random.default_rng(seed).permutation(len(x))
        yield seed, x[order], labels[order]


def learners(seed):
    from bochner import BoostingClassifier, GreedyClassifier, KernelRidgeClassifier

    common = {"gamma": 0.11, "standardize": "no", "random_state": seed, "device": "cpu"}
    return {
        "ridge": KernelRidgeClassifier(n_components=1000, penalty=1e-5, **common),
        "greedy": GreedyClassifier(n_components=2000, steps=300, held_out=0.0, **common),
        "boosting": BoostingClassifier(n_components=1000, **common),
    }


def wrong(model, x, labels):
    return 100 * float((model.predict(x) != labels).mean())


def add(model, x, labels, first):
    model.partial_fit(x, labels, **({"classes": list(range(10))} if first else {}))


def growth(seed, x, labels):
    """Wrong labels among the last rows after some have come, of each learner."""
    found = {}
    for name, model in learners(seed).items():
        errors = found[name] = []
        for start, end in zip([0, *ROWS], ROWS):
            add(model, x[start:end], labels[start:end], start == 0)
            errors.append(wrong(model, x[-LAST:], labels[-LAST:]))
    return found


def turning(seed, x, labels):
    """Wrong labels in each block before it is added, with all rows kept and with the last alone."""
    x = x.copy()
    x[TURNED:] = x[TURNED:, ::-1]
    found = {}
    for name, window in (("all", len(x)), ("last", WINDOW)):
        model, errors = learners(seed)["ridge"], []
        for start in range(0, len(x) - BLOCK, BLOCK):
            block = slice(start, start + BLOCK)
            if start > 0:
                errors.append(wrong(model, x[block], labels[block]))
            add(model, x[block], labels[block], start == 0)
            if block.stop > window:
                old = slice(start - window, block.stop - window)
                model.forget(x[old], labels[old])
        found[name] = errors
    return found


def measure():
    runs = [(growth(*order), turning(*order)) for order in orders()]
    mean = lambda which: {
        name: [statistics.mean(values) for values in zip(*(run[which][name] for run in runs))]
        for name in runs[0][which]
    }
    FIGURES.write_text(json.dumps({"growth": mean(0), "turning": mean(1)}) + "\n")


def draw():
    figures = json.loads(FIGURES.read_text())
    left = Panel(66, (ROWS[0] * 0.85, ROWS[-1] * 1.15), (0.8, 80))
    left.axes(
        "Wrong labels on 297 digits, %",
        "rows so far",
        [(n, f"{n:,}") for n in ROWS],
        [(v, str(v)) for v in (1, 2, 5, 10, 20)],
    )
    for kind, name in (("ours", "ridge"), ("other", "greedy"), ("third", "boosting")):
        left.line(list(zip(ROWS, figures["growth"][name])), kind, dots=True)
    left.text(230, 80, "ridge, 1,000 features", 'class="ours"')
    left.text(230, 97, "greedy, of a pool of 2,000", 'class="other"')
    left.text(230, 114, "boosting, 1,000", 'class="third"')
    after = [BLOCK * (i + 1) for i in range(len(figures["turning"]["all"]))]
    right = Panel(490, (0, after[-1] + BLOCK), (0.8, 80), ("linear", "log"))
    right.axes(
        "Upside down after 900 rows: wrong labels, %",
        "rows so far",
        [(n, f"{n:,}") for n in range(0, after[-1] + BLOCK, 400)],
        [(v, str(v)) for v in (1, 2, 5, 10, 20, 50)],
    )
    right.line(list(zip(after, figures["turning"]["all"])), "other", dots=True)
    right.line(list(zip(after, figures["turning"]["last"])), "ours", dots=True)
    right.text(500, 106, "the last 400 rows", 'class="ours"')
    right.text(500, 123, "all rows", 'class="other"')
    save(
        "pictures/growing.svg",
        [left, right],
        "Wrong labels fall as rows come, of three learners; when pictures turn upside down they "
        "rise, and fall faster where old rows are forgotten.",
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("command", choices=["measure", "draw"])
    if parser.parse_args().command == "measure":
        measure()
    draw()


if __name__ == "__main__":
    main()
