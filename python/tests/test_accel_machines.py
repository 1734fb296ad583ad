"""Tests of `accel` with landmark approximations of scikit-learn's KernelRidge and KernelPCA."""

import pickle
import subprocess
import sys

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.decomposition import KernelPCA
from sklearn.kernel_ridge import KernelRidge
from sklearn.utils.estimator_checks import estimator_checks_generator

from bochner import accel

LANDMARKS = 300


@pytest.fixture(scope="module")
def rows():
    random = np.random.RandomState(0)
    X = random.uniform(-2, 2, size=(900, 2))
    y = np.sin(2 * X[:, 0]) * X[:, 1] + 0.1 * random.normal(size=900)
    return X, y, random.uniform(-2, 2, size=(50, 2))


@pytest.fixture
def installed():
    accel.install("KernelRidge", "KernelPCA", n_components=LANDMARKS)
    yield
    accel.uninstall()


def where():
    return {(call["class"], call["where"]) for call in accel.profile()}


@pytest.mark.parametrize("kernel", ["rbf", "laplacian"])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("targets", [1, 2])
def test_ridge(rows, kernel, weighted, targets):
    X, y, new = rows
    y = y if targets == 1 else np.stack([y, -2 * y + 1], axis=1)
    weights = np.random.RandomState(1).uniform(0.2, 3.0, size=900) if weighted else None
    exact = KernelRidge(kernel=kernel, gamma=0.4, alpha=0.5).fit(X, y, sample_weight=weights)
    expected = exact.predict(new)
    accel.install("KernelRidge", n_components=LANDMARKS)
    try:
        own = KernelRidge(kernel=kernel, gamma=0.4, alpha=0.5).fit(X, y, sample_weight=weights)
        predicted = own.predict(new)
        assert where() == {("KernelRidge.fit", "bochner"), ("KernelRidge.predict", "bochner")}
        assert {call["reason"] for call in accel.profile()} == {f"{LANDMARKS} landmarks"}
        assert predicted.shape == expected.shape
        away = np.sqrt(((predicted - expected) ** 2).mean()) / expected.std()
        assert away < (1e-3 if kernel == "rbf" else 0.15)
        # One coefficient per landmark.
        assert len(own.dual_coef_) == len(own.X_fit_) == LANDMARKS
        again = pickle.loads(pickle.dumps(own))
    finally:
        accel.uninstall()
    # scikit-learn's own code predicts with these attributes. The tolerance is for features in
    # float32, whose rounding is amplified with smooth kernels.
    assert_allclose(again.predict(new), predicted, atol=2e-3)
    assert (own.predict(new) == again.predict(new)).all()


def test_all_rows_but_one_as_landmarks_are_exact(rows):
    X, y, new = rows
    X, y, weights = X[:200], y[:200], np.random.RandomState(1).uniform(0.2, 3.0, size=200)
    # With a wide kernel, 199 of 200 rows as landmarks span almost the same functions as all.
    exact = KernelRidge(kernel="rbf", gamma=0.4, alpha=0.5).fit(X, y, sample_weight=weights)
    expected = exact.predict(new)
    off = KernelRidge(kernel="rbf", gamma=0.4, alpha=0.5 * 1.03).fit(X, y, sample_weight=weights)
    assert abs(off.predict(new) - expected).max() > 2e-3
    accel.install("KernelRidge", n_components=199)
    try:
        own = KernelRidge(kernel="rbf", gamma=0.4, alpha=0.5).fit(X, y, sample_weight=weights)
        assert_allclose(own.predict(new), expected, atol=1e-3)
        # Another dtype and memory layout.
        single = KernelRidge(kernel="rbf", gamma=0.4, alpha=0.5)
        single.fit(np.asfortranarray(X, dtype=np.float32), y, weights)
        assert_allclose(single.predict(new.astype(np.float32)), expected, atol=1e-3)
        assert {call["where"] for call in accel.profile()} == {"bochner"}
        # Predictions use attributes that the user replaced.
        own.dual_coef_ = 2 * own.dual_coef_
        assert_allclose(own.predict(new), 2 * expected, atol=2e-3)
    finally:
        accel.uninstall()


def test_components(rows):
    X, _, new = rows
    exact = KernelPCA(3, kernel="rbf", gamma=0.3).fit(X)
    expected = exact.transform(new)
    accel.install("KernelPCA", n_components=LANDMARKS)
    try:
        own = KernelPCA(3, kernel="rbf", gamma=0.3).fit(X)
        transformed = own.transform(new)
        fitted = KernelPCA(3, kernel="rbf", gamma=0.3).fit_transform(X)
        assert where() == {
            (f"KernelPCA.{method}", "bochner") for method in ("fit", "transform", "fit_transform")
        }
        assert_allclose(own.eigenvalues_, exact.eigenvalues_, rtol=2e-3)
        assert own.gamma_ == 0.3 and list(own.get_feature_names_out())[2] == "kernelpca2"
        turned = transformed * np.sign((transformed * expected).sum(axis=0))
        assert_allclose(turned, expected, atol=5e-3)
        # `fit_transform` and `transform` agree, including signs.
        assert_allclose(fitted, own.transform(X), atol=1e-5)
        assert_allclose(own.eigenvectors_.T @ own.eigenvectors_, np.eye(3), atol=1e-3)
        largest = np.abs(own.eigenvectors_).argmax(axis=0)
        assert (own.eigenvectors_[largest, range(3)] > 0).all()
        again = pickle.loads(pickle.dumps(own))
    finally:
        accel.uninstall()
    # With the kernel means, scikit-learn's own code projects nearly the same.
    assert_allclose(own._centerer.K_fit_all_, exact._centerer.K_fit_all_, atol=1e-3)
    assert_allclose(own._centerer.K_fit_rows_, exact._centerer.K_fit_rows_, atol=1e-3)
    assert_allclose(again.transform(new), transformed, atol=5e-3)


def test_what_is_not_covered_falls_through(rows, installed):
    X, y, new = rows
    cases = [
        (KernelRidge(kernel="rbf"), X[:LANDMARKS], "300 rows are no more than 300 landmarks"),
        (KernelRidge(kernel="linear"), X, "kernel='linear'"),
        (KernelRidge(kernel="rbf", alpha=[0.1]), X, "alpha=[0.1]"),
        (KernelPCA(kernel="rbf"), X, "n_components=None"),
        (KernelPCA(2, kernel="rbf", fit_inverse_transform=True), X, "fit_inverse_transform=True"),
        (KernelRidge(kernel="rbf", gamma=0.0), X, "gamma=0"),
    ]
    for estimator, some, reason in cases:
        before = len(accel.profile())
        estimator.fit(some, y[: len(some)])
        (call,) = accel.profile()[before:]
        assert (call["where"], call["reason"]) == ("scikit-learn", reason)
    # After a fit by scikit-learn, predictions are exact.
    ridge = cases[0][0]
    K = np.exp(-((new[:, None] - X[:LANDMARKS]) ** 2).sum(axis=2) / 2)
    assert_allclose(ridge.predict(new), K @ ridge.dual_coef_)
    with pytest.raises(ValueError, match="is none of"):
        accel.install("SVC")


@pytest.mark.parametrize("kind", [KernelRidge, KernelPCA])
def test_checks_of_scikit_learn(kind):
    accel.install("KernelRidge", "KernelPCA", n_components=8)
    try:
        estimator = kind(kernel="rbf", **({"n_components": 1} if kind is KernelPCA else {}))
        for tried, check in estimator_checks_generator(estimator):
            name = check.func.__name__
            # A pickled KernelPCA is evaluated by scikit-learn's code, from which eight landmarks
            # differ too much. Weighted and repeated rows differ in their number, which decides
            # whether landmarks are used.
            if "pickle" in name or "sample_weight_equivalence" in name:
                continue
            check(tried)
        assert any(call["where"] == "bochner" for call in accel.profile())
    finally:
        accel.uninstall()


def test_script(tmp_path, rows):
    script = tmp_path / "script.py"
    script.write_text(
        "import numpy as np\n"
        "from sklearn.kernel_ridge import KernelRidge\n"
        "X = np.random.RandomState(0).uniform(-2, 2, size=(700, 2))\n"
        "print(KernelRidge(kernel='rbf', alpha=0.1).fit(X, X[:, 0]).score(X, X[:, 0]) > 0.99)\n"
    )
    command = [sys.executable, "-m", "bochner.accel", "--profile", "--components", "300"]
    run = subprocess.run(
        [*command, "--also", "KernelRidge,KernelPCA", str(script)],
        capture_output=True,
        text=True,
        check=True,
    )
    assert run.stdout == "True\n"
    assert "KernelRidge.fit" in run.stderr and "300 landmarks" in run.stderr
    # Approximations are only used on request.
    run = subprocess.run([*command, str(script)], capture_output=True, text=True, check=True)
    assert "KernelRidge" not in run.stderr
    run = subprocess.run([*command, "--also", "SVC", str(script)], capture_output=True, text=True)
    assert run.returncode == 2 and "--also takes KernelRidge and KernelPCA" in run.stderr
