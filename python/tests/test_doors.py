"""Tests that Python and the command line write the same model file, byte for byte."""

import json
import os
import subprocess

import numpy as np
import pytest

import bochner
from bochner._arrays import seed_of

PROGRAM = os.environ["BOCHNER_PROGRAM"]
SEED = seed_of(np.random.RandomState(0))
MAP = {"n_components": 64}

AMOUNTS = [
    (bochner.KernelRidgeRegressor(**MAP), "--features 64"),
    (bochner.KernelRidgeRegressor(n_components=300), "--features 300"),
    (bochner.KernelRidgeRegressor(penalty=1e-4, **MAP), "--lambda 1e-4 --features 64"),
    (bochner.KernelRidgeRegressor(calibrate=0.2, **MAP), "--calibrate 0.2 --features 64"),
    (
        bochner.KernelRidgeRegressor(penalty=1e-4, leaves=100, **MAP),
        "--lambda 1e-4 --leaves 100 --features 64",
    ),
    (bochner.KernelRidgeRegressor(half_life=60.0, **MAP), "--half-life 60 --features 64"),
    (
        bochner.GaussianProcessRegressor(weights="counts", half_life=80.0, **MAP),
        "--model gaussian-process --half-life 80 --features 64",
    ),
    (bochner.KernelSVR(**MAP), "--model svr --features 64"),
    (bochner.KernelElasticNet(**MAP), "--model lasso --features 64"),
    (bochner.GaussianProcessRegressor(**MAP), "--model gaussian-process --features 64"),
    (bochner.GreedyRegressor(**MAP), "--model greedy --features 64"),
    (bochner.KernelRidgeRegressor(additive=True, **MAP), "--additive --features 64"),
    (bochner.KernelRidgeRegressor(additive="pairs", **MAP), "--additive=pairs --features 64"),
    (
        bochner.KernelRidgeRegressor(map="fourier[a]+fourier[b]", **MAP),
        "--map fourier[a]+fourier[b] --features 64",
    ),
    (bochner.ExactKernelRidgeRegressor(), "--model kernel-ridge"),
    (bochner.FalkonRegressor(n_components=40), "--model falkon --landmarks 40"),
]
LABELS = [
    (bochner.KernelRidgeClassifier(**MAP), "--features 64"),
    (bochner.KernelRidgeClassifier(penalty=1e-4, **MAP), "--lambda 1e-4 --features 64"),
    (bochner.KernelLogisticRegression(**MAP), "--model logistic --features 64"),
    (
        bochner.KernelLogisticRegression(half_life=60.0, **MAP),
        "--model logistic --half-life 60 --features 64",
    ),
    (bochner.KernelSVC(**MAP), "--model svm --features 64"),
    (
        bochner.KernelLogisticRegression(additive=True, **MAP),
        "--model logistic --additive --features 64",
    ),
]


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    """Table with two columns of different scales, a smooth target, and a label derived from it."""
    path = tmp_path_factory.mktemp("doors") / "t.csv"
    i = np.arange(240)
    a, b = (i * 37 % 240) / 60.0, (i * 53 % 239).astype(float)
    amount = np.sin(2 * a) + 0.01 * b + (i * 7919 % 101) / 500.0
    label = (amount > 1.2).astype(int) + (amount > 2.2)
    rows = "".join(f"{p!r},{q!r},{y!r},{c}\n" for p, q, y, c in zip(a, b, amount, label))
    path.write_text("a,b,amount,label\n" + rows.replace("np.float64(", "").replace(")", ""))
    return path


@pytest.mark.parametrize(
    ("estimator", "options", "target"),
    [(*job, "amount") for job in AMOUNTS] + [(*job, "label") for job in LABELS],
    ids=[type(job[0]).__name__ for job in AMOUNTS + LABELS],
)
def test_the_command_line_writes_the_same_file(estimator, options, target, table, tmp_path):
    estimator.set_params(random_state=0, device="cpu")
    estimator.fit(bochner.scan(table, target=target, columns=["a", "b"]))
    estimator.save(tmp_path / "python.model")
    asked = f"--target {target} --columns a,b --seed {SEED} --device cpu -q --quick {options} -o"
    command = [PROGRAM, "fit", str(table), *asked.split(), str(tmp_path / "cli.model")]
    run = subprocess.run(command, capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    ours, theirs = ((tmp_path / f"{door}.model").read_bytes() for door in ("python", "cli"))
    assert ours == theirs
    job = estimator.job_
    said = subprocess.run(
        [PROGRAM, "show", str(tmp_path / "cli.model"), "--json"], capture_output=True, text=True
    )
    assert job == json.loads(said.stdout)["job"]
    like = ["--like", str(tmp_path / "python.model"), "--device", "cpu", "-q"]
    again = [PROGRAM, "fit", str(table), *like, "-o", str(tmp_path / "again.model")]
    run = subprocess.run(again, capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    assert ours == (tmp_path / "again.model").read_bytes()
