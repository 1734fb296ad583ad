"""Smoke test of an installed wheel: fit digits, save and load the model, predict the same.

Run it in another folder with the interpreter that has the wheel. It prints its findings, and exits
with an error if something is wrong. Given a table with a column `label` and a path, it also saves
a fitted model to that path, for comparison on another machine.
"""

import hashlib
import os
import platform
import sys
import tempfile

import numpy as np
from sklearn.datasets import load_digits

import bochner


def digest(array):
    return hashlib.sha256(np.ascontiguousarray(array).tobytes()).hexdigest()[:16]


def keep(table, path):
    ridge = bochner.KernelRidgeClassifier(n_components=1000, random_state=0, device="cpu")
    ridge.fit(bochner.scan(table, target="label")).save(path)


def main():
    x, y = load_digits(return_X_y=True)
    x = x.astype(np.float32)
    train, test = slice(0, 900), slice(900, None)

    sampler = bochner.RBFSampler(gamma=0.001, n_components=500, random_state=0, device="cpu")
    features = sampler.fit(x[train]).transform(x[test])
    # Compare with the exact kernel.
    apart = ((x[test][:50, None] - x[test][None, :50]) ** 2).sum(axis=2)
    error = np.abs(features[:50] @ features[:50].T - np.exp(-0.001 * apart)).max()
    assert error < 0.3, f"features are {error:.2f} from their kernel"

    ridge = bochner.KernelRidgeClassifier(n_components=500, random_state=0, device="cpu")
    ridge.fit(x[train], y[train])
    predicted = ridge.predict(x[test])
    accuracy = float((predicted == y[test]).mean())
    assert accuracy > 0.93, f"digits: accuracy {accuracy:.3f}"

    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "digits.model")
        ridge.save(path)
        again = bochner.KernelRidgeClassifier.load(path, device="cpu").predict(x[test])
    assert (again == predicted).all(), "a model that was loaded predicts otherwise"

    print(f"bochner {bochner.__version__}, Python {platform.python_version()}, "
          f"{platform.system()} {platform.machine()}: digits {accuracy:.4f}, "
          f"features {digest(features)}, adapter {bochner.devices()['auto']}")
    if len(sys.argv) == 3:
        keep(*sys.argv[1:])


if __name__ == "__main__":
    main()
