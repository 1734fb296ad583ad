"""Tables that are there: those of scikit-learn, and those of a folder with NAME/train.npz and NAME/test.npz of X and y."""

from dataclasses import dataclass
from typing import Callable

import numpy as np
from sklearn import datasets
from sklearn.model_selection import train_test_split


@dataclass(frozen=True)
class Found:
    what: str
    labels: bool
    # None: it lies in the folder of data.
    load: Callable | None = None


FOUND = {
    "wine": Found("three cultivars", True, datasets.load_wine),
    "diabetes": Found("progress of a disease after a year", False, datasets.load_diabetes),
    "breast-cancer": Found("malignant or benign", True, datasets.load_breast_cancer),
    "digits": Found("handwritten digits of 8 x 8", True, datasets.load_digits),
    "cpu": Found("share of time a processor is busy", False),
    "letter": Found("26 letters by moments of their pictures", True),
    "adult": Found("income above a limit, columns of 0 and 1", True),
    "mnist": Found("handwritten digits of 28 x 28", True),
    "covtype": Found("seven kinds of forest", True),
}
# Share of the rows of scikit-learn's tables that judges.
JUDGES = 0.2


def split_of(name, split, data):
    """x and y of the rows that train and of those that judge, of split 0, 1 and so on.

    scikit-learn's tables are parted at random, 80 to 20, each class alike. Split 0 of a table of the folder is its own train
    and test; the others part all of its rows anew, at random and in the same numbers.
    """
    found = FOUND[name]
    if found.load:
        x, y = found.load(return_X_y=True)
        by = y if found.labels else None
        x_train, x_judge, y_train, y_judge = train_test_split(x, y, test_size=JUDGES, random_state=split, stratify=by)
        return x_train, y_train, x_judge, y_judge
    parts = []
    for part in ("train", "test"):
        with np.load(data / name / f"{part}.npz") as arrays:
            parts.append((arrays["X"], arrays["y"]))
    if split:
        x, y = (np.concatenate(both) for both in zip(*parts))
        order = np.random.default_rng(split).permutation(len(y))
        train = len(parts[0][1])
        parts = [(x[rows], y[rows]) for rows in (order[:train], order[train:])]
    return *parts[0], *parts[1]
