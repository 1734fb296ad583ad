"""Conversion of class labels to the codes and names of model files, and back."""

from __future__ import annotations

import numpy as np


def plain(y):
    """Convert a nullable pandas array to NumPy, which scikit-learn would convert to float64."""
    dtype = getattr(getattr(y, "dtype", None), "numpy_dtype", None)
    if dtype is None or dtype.kind not in "biu" or y.isna().any():
        return y
    return y.to_numpy(dtype=dtype)


def numbers_of(classes):
    """Ascending class codes, and the text of the labels, or None if the codes are labels."""
    if classes.dtype.kind in "biuf":
        numbers = classes.astype(np.float64)
        # Some 64-bit integers are not representable in float64.
        with np.errstate(invalid="ignore"):
            back = numbers.astype(classes.dtype)
        if (back == classes).all() and len(np.unique(numbers)) == len(numbers):
            return numbers, None
    return np.arange(len(classes), dtype=np.float64), [str(label) for label in classes]


def types_of(classes):
    """NumPy dtype of the classes for a model file; None if `classes_of` infers it."""
    if classes_of(*numbers_of(classes), None).dtype == classes.dtype:
        return None
    return classes.dtype.str


def classes_of(numbers, names, types):
    """Classes from codes, text and dtype as in `numbers_of` and `types_of`, or without dtype."""
    if types is not None:
        try:
            return _typed(numbers, names, types)
        except (TypeError, ValueError):
            # The dtype in the file is unknown in this version.
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
        # Text such as "5 days".
        return np.array([int(name.split()[0]) for name in names], dtype=np.int64).astype(dtype)
    # Object labels are text; scikit-learn accepts no other objects.
    return np.array(names).astype(dtype)
