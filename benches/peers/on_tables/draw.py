"""One split of a table as files, which are the same for all contestants, and what these are judged by."""

import json
import zlib

import numpy as np
import pandas as pd

from on_tables.found import FOUND, split_of
from on_tables.made import MADE, named

TARGET = "target"
# Rows that judge a table that is made.
JUDGES = 10_000
# Rows of each part of a quick run.
QUICK = 300


def frames_of(name, split, data, quick):
    """The rows that train and those that judge, with their targets, and the truth of the latter or None."""
    if name in MADE:
        made = MADE[name]
        # Another stream for each table, and each split of it.
        random = np.random.default_rng([zlib.crc32(name.encode()), split])
        sizes = [max(QUICK, made.least_rows)] * 2 if quick else [made.rows, JUDGES]
        drawn = [made.rows_of(random, rows) for rows in sizes]
        frames = [pd.DataFrame(columns | {TARGET: target}) for columns, _, target in drawn]
        return made, *frames, drawn[1][1]
    x_train, y_train, x_judge, y_judge = split_of(name, split, data)
    frames = [pd.DataFrame(named(x) | {TARGET: y}) for x, y in ((x_train, y_train), (x_judge, y_judge))]
    if quick:
        frames = [frame.iloc[:QUICK] for frame in frames]
    return FOUND[name], *frames, None


def write(name, split, folder, data=None, quick=False):
    """Writes the rows that train and those that judge, as .csv and as frames of pandas, and about.json, whose contents it gives.

    Labels are texts, `c` and their number. `truth` there is what the truth itself gets wrong on the rows that judge.
    """
    table, train, judges, truth = frames_of(name, split, data, quick)
    about = {"what": table.what, "labels": table.labels, "rows": len(train), "judges": len(judges)}
    about["columns"] = train.shape[1] - 1
    about["texts"] = [column for column in train if train[column].dtype.kind not in "ifub"]
    # Wrong labels say little where nearly all are alike: then probabilities are asked for, too.
    about["rare"] = name == "rare"
    if table.labels:
        for frame in (train, judges):
            frame[TARGET] = "c" + frame[TARGET].astype(int).astype(str)
    if truth is not None:
        predicted = np.where(truth > 0.5, "c1", "c0") if table.labels else truth
        about["truth"] = score(about, train[TARGET], judges[TARGET], predicted, truth)
    train.to_csv(folder / "train.csv", index=False)
    judges.to_csv(folder / "judges.csv", index=False)
    train.to_pickle(folder / "train.pickle")
    judges.to_pickle(folder / "judges.pickle")
    (folder / "about.json").write_text(json.dumps(about))
    return about


def read(folder, categories=True):
    """about.json, and both parts. Columns of texts are categories of pandas, whose levels are those of the rows that train,
    so that another is a missing value; or texts as they are."""
    about = json.loads((folder / "about.json").read_text())
    parts = []
    for part in ("train", "judges"):
        frame = pd.read_pickle(folder / f"{part}.pickle")
        parts.append((frame.drop(columns=TARGET), frame[TARGET].to_numpy()))
    (train, y_train), (judges, y_judges) = parts
    for column in about["texts"] if categories else ():
        known = sorted(set(train[column]))
        for frame in (train, judges):
            frame[column] = pd.Categorical(frame[column].where(frame[column].isin(known)), categories=known)
    return about, train, y_train, judges, y_judges


def score(about, y_train, y_judges, predicted, probability=None):
    """The share of wrong labels, or the root of the mean square over the deviation of the targets that trained; where one
    class is rare also average precision and log loss, by the probabilities of `c1`."""
    predicted, y_judges = np.asarray(predicted), np.asarray(y_judges)
    if not about["labels"]:
        return {"error": float(np.sqrt(np.mean((predicted - y_judges) ** 2)) / np.std(np.asarray(y_train)))}
    said = {"error": float(np.mean(predicted != y_judges))}
    if about["rare"]:
        from sklearn.metrics import average_precision_score, log_loss

        positive = y_judges == "c1"
        said["average_precision"] = float(average_precision_score(positive, probability))
        said["log_loss"] = float(log_loss(positive, np.asarray(probability, float), labels=[False, True]))
    return said
