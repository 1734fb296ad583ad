"""Labels as the numbers and names that a model file keeps, and back."""

from __future__ import annotations

import numpy as np


def plain(y):
    """Labels without the mask of pandas, which scikit-learn would take for float64."""
    dtype = getattr(getattr(y, "dtype", None), "numpy_dtype", None)
    if dtype is None or dtype.kind not in "biu" or y.isna().any():
        return y
    return y.to_numpy(dtype=dtype)


def numbers_of(classes):
    """Class codes of the library, ascending, and the labels that they encode."""
    if classes.dtype.kind in "biuf":
        numbers = classes.astype(np.float64)
        # Integers of 64 bits may be beyond those of float64.
        with np.errstate(invalid="ignore"):
            back = numbers.astype(classes.dtype)
        if (back == classes).all() and len(np.unique(numbers)) == len(numbers):
            return numbers, None
    return np.arange(len(classes), dtype=np.float64), [str(label) for label in classes]


def types_of(classes):
    """NumPy dtype of the classes, which a model file stores; None if loading finds it without."""
    if classes_of(*numbers_of(classes), None).dtype == classes.dtype:
        return None
    return classes.dtype.str


def classes_of(numbers, names, types):
    """Classes from what `numbers_of` and `types_of` gave, or a file of another program has."""
    if types is not None:
        try:
            return _typed(numbers, names, types)
        except (TypeError, ValueError):
            # The file names a type that this version does not know.
            pass
    classes = np.array(numbers if names is None else names)
    if names is None and (classes == np.rint(classes)).all():
        classes = classes.astype(np.int64)
    return classes


def _typed(numbers, names, types):
    dtype = np.dtype(types)
    if names is None:
        return np.array(numbers).astype(dtype)
    if dtype.kind in "iu":
        return np.array([int(name) for name in names], dtype=dtype)
    if dtype.kind == "m":
        # As in "5 days".
        return np.array([int(name.split()[0]) for name in names], dtype=np.int64).astype(dtype)
    # Objects are text: scikit-learn takes no others for labels.
    return np.array(names).astype(dtype)
