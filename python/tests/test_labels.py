"""Tests that labels of every dtype survive saving and loading."""

import numpy as np
import pytest
from sklearn.datasets import make_blobs

from bochner import KernelLogisticRegression, KernelRidgeClassifier

LABELS = {
    "int8": np.array([-3, 5, 7], dtype=np.int8),
    "int64": np.array([-3, 0, 7]),
    "beyond 2^53": np.array([2**53, 2**53 + 1, 2**53 + 2]),
    "uint64": np.array([2**63 + 1, 2**64 - 2, 2**64 - 1], dtype=np.uint64),
    "big-endian": np.array([2**53, 2**53 + 1, 2**53 + 2], dtype=">i8"),
    "bool": np.array([False, True]),
    "float32": np.array([1.0, 2.0, 5.0], dtype=np.float32),
    "whole floats": np.array([0.0, 1.0, 2.0]),
    "text": np.array(["a", "b", "long"]),
    "datetime64[D]": np.array(["2020-01-01", "2020-01-02", "2021-05-05"], dtype="M8[D]"),
    "datetime64[ns]": np.array(["2020-01-01T00:00:00.000000001", "2020-01-02"], dtype="M8[ns]"),
    "timedelta64": np.array([1, 2, 90], dtype="m8[s]"),
    "objects of text": np.array(["a", "b", "c"], dtype=object),
}
OPTIONS = {"n_components": 20, "random_state": 0, "device": "cpu"}


def rows(classes):
    return make_blobs(90, centers=len(classes), random_state=0)


@pytest.mark.parametrize("kind", LABELS)
def test_labels_come_back_from_a_file(kind, tmp_path):
    classes = LABELS[kind]
    X, codes = rows(classes)
    model = KernelRidgeClassifier(**OPTIONS).fit(X, classes[codes])
    model.save(tmp_path / "a.model")
    for path in ("a.model", "b.model"):
        again = KernelRidgeClassifier.load(tmp_path / path, device="cpu")
        assert again.classes_.dtype == model.classes_.dtype
        assert [type(one) for one in again.classes_] == [type(one) for one in model.classes_]
        assert (again.classes_ == model.classes_).all()
        assert (again.predict(X) == model.predict(X)).all()
        # A loaded model can be saved again.
        again.save(tmp_path / "b.model")


def test_labels_of_tables_come_back(tmp_path):
    pandas = pytest.importorskip("pandas")
    X, codes = rows([0, 1])
    for y in (
        pandas.Series(codes + 2**53, dtype="Int64"),
        pandas.Series(codes == 1, dtype="boolean"),
        pandas.Series(np.array(["no", "yes"])[codes], dtype="string"),
        pandas.Series(np.array(["no", "yes"])[codes], dtype="category"),
        pandas.Series(pandas.to_datetime(["2020-01-01", "2021-02-03"]))[codes],
    ):
        model = KernelRidgeClassifier(**OPTIONS).fit(X, y)
        model.save(tmp_path / "a.model")
        again = KernelRidgeClassifier.load(tmp_path / "a.model", device="cpu")
        assert again.classes_.dtype == model.classes_.dtype
        assert (again.predict(X) == model.predict(X)).all()
        assert again.score(X, y) == model.score(X, y)


def test_rows_in_parts_have_labels_in_a_file(tmp_path):
    classes = LABELS["beyond 2^53"]
    X, codes = rows(classes)
    for model in (KernelRidgeClassifier(**OPTIONS), KernelLogisticRegression(**OPTIONS)):
        model.partial_fit(X[:40], classes[codes[:40]], classes=classes)
        model.partial_fit(X[40:], classes[codes[40:]])
        model.save(tmp_path / "a.model")
        again = type(model).load(tmp_path / "a.model", device="cpu")
        assert (again.classes_ == classes).all() and again.classes_.dtype == classes.dtype
