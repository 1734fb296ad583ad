"""What scikit-learn gives at its defaults on the tables of `bochner reproduce first-fit`.

    bochner reproduce first-fit --tables tables -o results
    python3 benches/peers/first_fit.py tables results/first-fit.json

Ridge regression and support vectors see standardised columns, as everyone writes it; boosting sees them as they are.
Errors are the root of the mean square over the deviation of the targets, or the share of wrong labels, of the rows that
judge. Ranks are from 1; errors within a thousandth of each other share theirs.
"""

import json
import sys
import warnings
from pathlib import Path

import numpy as np
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from sklearn.kernel_ridge import KernelRidge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, SVR
from on_tables.results import ranks


# Exact kernel machines take the square of the rows.
MOST_ROWS = 5000


def learners(labels):
    """Name, learner, and whether it takes any number of rows."""
    if labels:
        return [
            ("boosting", HistGradientBoostingClassifier(random_state=0), True),
            ("SVC", make_pipeline(StandardScaler(), SVC()), False),
        ]
    return [
        ("boosting", HistGradientBoostingRegressor(random_state=0), True),
        ("SVR", make_pipeline(StandardScaler(), SVR()), False),
        ("kernel ridge", make_pipeline(StandardScaler(), KernelRidge(kernel="rbf")), False),
    ]


def error(learner, train, judges, labels):
    predicted = learner.fit(train[:, :-1], train[:, -1]).predict(judges[:, :-1])
    if labels:
        return float(np.mean(predicted != judges[:, -1]))
    return float(np.sqrt(np.mean((predicted - judges[:, -1]) ** 2)) / judges[:, -1].std())


def main():
    folder, report = Path(sys.argv[1]), json.loads(Path(sys.argv[2]).read_text())
    numbers = report["numbers"]
    ways = numbers["ways"]
    rows, all_ranks = [], []
    for number, table in enumerate(numbers["tables"], 1):
        name = table["table"]
        found = dict(zip(ways, table["errors"]))
        for trial in range(numbers["trials"]):
            train, judges = (
                np.loadtxt(folder / f"{number}-{trial}-{part}.csv", delimiter=",") for part in ("train", "judges")
            )
            labels = name.startswith("labels")
            for peer, learner, is_for_many in learners(labels):
                if is_for_many or len(train) <= MOST_ROWS:
                    with warnings.catch_warnings():
                        warnings.simplefilter("ignore")
                        own = error(learner, train, judges, labels)
                    found[peer] = found.get(peer, 0.0) + own / numbers["trials"]
        rows.append((name, found))
        all_ranks.append(ranks([found[way] for way in [*ways, "boosting"]]))
        print(name, {way: float(f"{e:.3g}") for way, e in found.items()}, file=sys.stderr, flush=True)
    columns = [*ways, "boosting", "SVR", "SVC", "kernel ridge"]
    print("| table |", " | ".join(columns), "|")
    print("|---|" + "---|" * len(columns))
    for name, found in rows:
        cells = [f"{found[way]:.4f}" if way in found else "" for way in columns]
        print(f"| {name} |", " | ".join(cells), "|")
    means = np.mean(all_ranks, axis=0)
    print("mean rank:", ", ".join(f"{way} {mean:.2f}" for way, mean in zip([*ways, "boosting"], means)))


if __name__ == "__main__":
    main()
