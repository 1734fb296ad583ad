"""Tests of examples in docstrings and documents, and of type annotations."""

import doctest
import importlib.util
import pkgutil
import re
import subprocess
import sys
from pathlib import Path

import pytest

import bochner

ROOT = Path(__file__).resolve().parents[2]
# Modules for Ray and MLflow need these packages, which `cargo xtask engines` installs.
NOT_HERE = {"_native"} | {name for name in ("ray", "mlflow") if not importlib.util.find_spec(name)}
MODULES = ["bochner"] + [
    f"bochner.{module.name}"
    for module in pkgutil.iter_modules(bochner.__path__)
    if module.name not in NOT_HERE
]


@pytest.mark.parametrize("name", MODULES)
def test_examples_of_docstrings(name):
    tried = doctest.testmod(importlib.import_module(name))
    assert tried.failed == 0


def test_every_class_has_an_example():
    for name in bochner.__all__:
        if isinstance(getattr(bochner, name), type):
            assert ">>> " in getattr(bochner, name).__doc__, name


@pytest.mark.parametrize("document", ["docs/heads.md", "docs/python.md", "python/README.md"])
def test_the_code_of_documents(document, capsys):
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / document).read_text(), re.DOTALL)
    assert blocks
    names = {}
    for block in blocks:
        exec(compile(block, document, "exec"), names)


def test_mypy_accepts_the_types(tmp_path):
    pytest.importorskip("mypy")
    package = Path(bochner.__file__).parent
    assert (package / "py.typed").exists()
    use = tmp_path / "use.py"
    use.write_text(
        "import numpy as np\n"
        "from bochner import KernelKMeans, KernelPCA, KernelRidgeClassifier, Nystroem, RBFSampler\n"
        "from bochner import AutoRegressor, KernelDensity, RidgeCV\n"
        "from bochner import devices, mmd_test\n"
        "X = np.zeros((3, 2))\n"
        "Z = RBFSampler(gamma='scale', n_components=10, random_state=0).fit(X).transform(X)\n"
        "Nystroem('rbf', gamma=0.5).fit_transform(X)\n"
        "shape: tuple[int, ...] = Z.shape\n"
        "y = KernelRidgeClassifier(penalty=[1e-3, 1e-2]).fit(X, [0, 1, 0]).predict(X)\n"
        "part = KernelPCA(n_components=0.9).fit(X).explained_variance_ratio_.sum()\n"
        "clusters = KernelKMeans(n_clusters=2).fit_predict(X)\n"
        "trials = AutoRegressor(budget='60s').fit(X, y).results_['error'].min()\n"
        "density: float = KernelDensity(gamma=[1.0, 2.0]).fit(X).score(X)\n"
        "alpha: float = RidgeCV([0.1, 1.0]).fit(X, [0, 1, 0]).alpha_\n"
        "p: float = mmd_test(X, X, permutations=9).pvalue\n"
        "where: str = devices()['cpu']  # type: ignore[assignment]\n"
    )
    assert not mypy(tmp_path, str(use), str(package / "_native.pyi"))
    # Wrong types are detected, including those of fitted attributes behind scikit-learn's
    # decorators.
    learners = [name for name in bochner.__all__ if hasattr(getattr(bochner, name), "get_params")]
    wrong = ["import bochner", "bochner.RBFSampler(n_components='many')"]
    wrong += ["bochner.KernelPCA(n_components='many')", "bochner.KernelPCA(components=3)"]
    wrong += [f"bochner.{name}().fit(0).nothing" for name in learners]
    use.write_text("\n".join(wrong) + "\n")
    found = mypy(tmp_path, str(use))
    lines = [int(line) for line in re.findall(r"use\.py:(\d+): error: ", found)]
    assert lines == list(range(2, len(wrong) + 1)), found


def mypy(tmp_path, *arguments):
    """Output of mypy with the package on its path, as if it was installed."""
    run = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--cache-dir", str(tmp_path.parent / "mypy")]
        + ["--no-error-summary", "--no-pretty", "--follow-imports=silent", *arguments],
        capture_output=True,
        text=True,
        cwd=Path(bochner.__file__).parents[1],
    )
    assert run.returncode in (0, 1), run.stdout + run.stderr
    return run.stdout


def test_signatures_have_types(tmp_path):
    pytest.importorskip("mypy")
    lines = ["from typing import Any", "import bochner", "given: Any = ()"]
    for name in bochner.__all__:
        kind = getattr(bochner, name)
        ways = [way for way in dir(kind) if way[0] != "_" and is_own(getattr(kind, way))]
        calls = [name, *(f"{name}.{way}" for way in ways if isinstance(kind, type))]
        lines += [f"bochner.{call}(*given, **given)" for call in calls if call != "__version__"]
    use = tmp_path / "use.py"
    use.write_text("\n".join(lines) + "\n")
    # mypy reports calls of untyped functions.
    assert len(lines) > 200 and not mypy(tmp_path, str(use))
    # All names in annotations are defined.
    found = mypy(tmp_path, "--follow-imports=normal", "-p", "bochner").splitlines()
    assert not [line for line in found if line.endswith(("[name-defined]", "[valid-type]"))]


def is_own(method):
    """Whether a method is defined in this package, not in scikit-learn."""
    return callable(method) and (getattr(method, "__module__", None) or "").startswith("bochner")
