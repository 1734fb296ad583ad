"""Learners beside scikit-learn's on the same features, in turn: time, peak memory, and what each reached.

scikit-learn gets the features as a file that bochner wrote, in f32; reading it is not timed. Ours starts from the rows,
and its time has everything: reading, features, fit. Both run in a process of their own, whose peak of resident memory
is given; scikit-learn's holds the features, since it cannot do without them.

    python3 benches/peers/learners.py --data DIR [--cases logistic,svm] [--rounds 3]

DIR has NAME/train.npz with X and y. The table says what each side reached (the objective that both minimise, accuracy
on the rows of the fit, or inertia), because a time without it says nothing.
"""

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from common import binary, clean_environment

CASES = {
    # name: (data, rows, classes, features, lengthscale)
    "letter": ("letter", 16_000, None, 512, 5.0),
    "covtype": ("covtype", 200_000, 2, 1024, 2.5),
}
CLUSTERS, COMPONENTS = 10, 10
PENALTIES = np.logspace(-9, -1, 17)
# The learner on the command line, and what scikit-learn calls it.
LEARNERS = {
    "logistic": (["--model", "logistic", "--lambda", "1e-6"], "LogisticRegression"),
    "svm": (["--model", "svm", "--lambda", "1e-6"], "LinearSVC"),
    "ridge": (["--lambda", "auto"], "RidgeClassifierCV"),
    "kmeans": (["--model", "kmeans", "--clusters", str(CLUSTERS), "--starts", "1"], "KMeans"),
    "pca": (["--model", "pca", "--components", str(COMPONENTS)], "PCA"),
}
UNLABELLED = {"kmeans", "pca"}


def squared_hinge(scores, y, classes):
    signs = np.where(y[:, None] == np.asarray(classes)[None, :], 1.0, -1.0)
    if len(classes) == 2:
        signs, scores = signs[:, 1:], scores.reshape(-1, 1)
    return float(np.mean(np.sum(np.maximum(0.0, 1.0 - signs * scores) ** 2, axis=1)))


def peer(folder, name):
    """In a child: fits scikit-learn's learner to the features in `folder` and prints what it saw."""
    from sklearn.cluster import KMeans
    from sklearn.decomposition import PCA
    from sklearn.linear_model import LogisticRegression, RidgeClassifierCV
    from sklearn.metrics import log_loss
    from sklearn.svm import LinearSVC

    z, y = np.load(folder / "z.npy"), np.load(folder / "y.npy")
    n, penalty = len(z), 1e-6
    model = {
        "logistic": lambda: LogisticRegression(C=1 / (n * penalty), max_iter=10_000),
        "svm": lambda: LinearSVC(C=1 / (n * penalty), dual=False, max_iter=10_000),
        "ridge": lambda: RidgeClassifierCV(alphas=PENALTIES * n),
        "kmeans": lambda: KMeans(CLUSTERS, n_init=1, random_state=0),
        "pca": lambda: PCA(COMPONENTS),
    }[name]()
    begin = time.perf_counter()
    model.fit(z) if name in UNLABELLED else model.fit(z, y)
    seconds = time.perf_counter() - begin
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    if name == "logistic":
        reached = log_loss(y, model.predict_proba(z)) + 0.5 * penalty * float(np.sum(model.coef_**2))
    elif name == "svm":
        reached = squared_hinge(model.decision_function(z), y, model.classes_)
        reached += penalty / 2 * float(np.sum(model.coef_**2))
    elif name == "ridge":
        reached = model.alpha_ / n
    elif name == "kmeans":
        reached = model.inertia_
    else:
        reached = float(model.explained_variance_ratio_.sum())
    print(json.dumps({"seconds": seconds, "mib": peak, "reached": reached}))


def ours(command, folder, name, options):
    command = [str(command), "fit", str(folder / "x.npy"), *options, "--device", "cpu", "--json", "--quiet"]
    command += LEARNERS[name][0]
    if name not in UNLABELLED:
        command += ["--targets", str(folder / "y.npy"), "--task", "classification"]
    begin = time.perf_counter()
    child = subprocess.Popen(command, stdout=subprocess.PIPE, env=clean_environment())
    said = json.loads(child.stdout.read())
    _, status, usage = os.wait4(child.pid, 0)
    seconds = time.perf_counter() - begin
    if status:
        sys.exit(f"{' '.join(command)} failed")
    key = {"logistic": "objective", "svm": "objective", "ridge": "lambda", "kmeans": "inertia"}
    reached = said[key.get(name, "explained_variance_ratio")]
    return {"seconds": seconds, "mib": usage.ru_maxrss / 1024, "reached": reached}


def prepare(data, case, folder, command):
    """In a child: writes the rows, their labels and their features; prints the options of the map."""
    source, rows, classes, features, sigma = CASES[case]
    with np.load(data / source / "train.npz") as arrays:
        x, y = arrays["X"].astype("f8"), arrays["y"].astype("i8")
    chosen = np.sort(np.random.default_rng(0).choice(len(x), min(rows, len(x)), replace=False))
    x, y = x[chosen], y[chosen]
    spread = x.std(0)
    x = (x - x.mean(0)) / np.where(spread > 0, spread, 1.0)
    if classes == 2:
        # The commonest class against the others.
        y = (y == np.bincount(y).argmax()).astype("i8")
    np.save(folder / "x.npy", x.astype("f4"))
    np.save(folder / "y.npy", y)
    options = ["--features", str(features), "--sigma", str(sigma), "--standardize=no"]
    made = [command, "featurize", str(folder / "x.npy"), "-o", str(folder / "z.npy"), "--quiet"]
    made += [*options, "--device", "cpu", "--json"]
    subprocess.run(made, check=True, stdout=subprocess.DEVNULL, env=clean_environment())
    print(json.dumps([options, x.shape, features]))


def itself(*words):
    """Runs this script as a child and gives what it printed last. What a child starts from counts in its peak of
    memory, so that the parent reads no data."""
    run = subprocess.run(
        [sys.executable, __file__, *map(str, words)], check=True, stdout=subprocess.PIPE, env=clean_environment()
    )
    return json.loads(run.stdout.splitlines()[-1])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path)
    parser.add_argument("--cases", default=",".join(CASES))
    parser.add_argument("--learners", default=",".join(LEARNERS))
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--bochner")
    parser.add_argument("--json", type=Path)
    parser.add_argument("--peer", nargs=2, help=argparse.SUPPRESS)
    parser.add_argument("--prepare", nargs=2, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.peer:
        return peer(Path(given.peer[0]), given.peer[1])
    if given.prepare:
        return prepare(given.data, given.prepare[0], Path(given.prepare[1]), given.bochner)
    command, results = binary(given.bochner), []
    for case in given.cases.split(","):
        with tempfile.TemporaryDirectory() as folder:
            folder = Path(folder)
            options, shape, features = itself("--prepare", case, folder, "--data", given.data, "--bochner", command)
            print(f"\n{case}: {shape[0]} rows of {shape[1]} columns, {features} features")
            print("| learner | ours s | theirs s | theirs / ours | ours MiB | theirs MiB | ours reached | theirs |")
            print("|---|---:|---:|---:|---:|---:|---:|---:|", flush=True)
            for name in given.learners.split(","):
                mine, other = [], []
                for _ in range(given.rounds):
                    mine.append(ours(command, folder, name, options))
                    other.append(itself("--peer", folder, name))
                a, b = (float(np.median([r["seconds"] for r in side])) for side in (mine, other))
                row = [LEARNERS[name][1], f"{a:.2f}", f"{b:.2f}", f"{b / a:.2f}"]
                row += [f"{max(r['mib'] for r in side):.0f}" for side in (mine, other)]
                row += [f"{side[0]['reached']:.6g}" for side in (mine, other)]
                print("| " + " | ".join(row) + " |", flush=True)
                results.append({"case": case, "learner": name, "ours": mine, "theirs": other})
    if given.json:
        given.json.write_text(json.dumps(results, indent=1))


if __name__ == "__main__":
    main()
