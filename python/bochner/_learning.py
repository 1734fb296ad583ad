"""Base classes of all estimators with a native model: options, fits, files, ONNX."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from scipy import sparse
from sklearn.utils import check_array, check_random_state
from sklearn.utils.validation import _check_sample_weight, check_is_fitted

from . import _native
from ._arrays import FLOATS, dense, lengthscale, lengthscales, seed_of, table
from ._dlpack import host, validated
from ._missing import MeanImputer, dense_with_missing
from ._parameters import OfMap
from ._progress import heard
from ._rows import checked, seen
from ._scan import Scan
from ._typing import BaseEstimator

if TYPE_CHECKING:
    from os import PathLike
    from typing import Any

    from typing_extensions import Self

#: Tables of at most this many samples and values are sorted, and equal samples merged into one of
#: their total weight. Repeating a sample is then bit-identical to doubling its weight.
FEW_ROWS, FEW_VALUES = 2000, 1 << 20


def _value(word):
    """Convert the text of a setting to bool, int or float if possible."""
    if word == "true":
        return True
    for kind in (int, float):
        try:
            return kind(word)
        except ValueError:
            pass
    return word


class Learner(BaseEstimator):
    """Base class of estimators that are fitted by the native module."""

    n_iter_: int

    #: Name of the learner, as in `bochner fit --model`, and the names of its specific parameters.
    _learner = ""
    _own = ()

    #: Name of the parameter with the number of features or landmarks.
    _size = "n_components"
    #: For learners without a feature map, ``'all rows'`` or ``'landmarks'``.
    _ground = None

    def _options(self, X):
        kernel, gamma = self._kernel(), self._gamma()
        map, form = getattr(self, "map", None), getattr(self, "form", None)
        size = getattr(self, self._size, None)
        if form == "paired" and map in ("fourier", "fastfood", "sorf"):
            # A cosine and a sine for each frequency.
            size += size % 2
        rows = X.n_samples if hasattr(X, "n_samples") else X.shape[0]
        drawn = map == "nystrom" or self._ground == "landmarks"
        if drawn and rows is not None and size > rows:
            warnings.warn(
                f"{self._size}={size} is more than the {rows} different rows there are, and was set "
                f"to {rows}",
                stacklevel=4,
            )
            size = rows
        options = {
            "kernel": kernel,
            "ground": self._ground,
            "map": map,
            "n_components": size,
            "sampling": getattr(self, "sampling", None),
            "form": form,
            "standardize": self.standardize,
            "fit_intercept": getattr(self, "fit_intercept", None),
            "seed": seed_of(check_random_state(self.random_state)),
            "device": self.device,
            "memory": self.memory,
            "columns": self._names(),
            "imputation": None if self._imputer is None else self._imputer.parts(),
            "importances": getattr(self, "importances", None),
            "calibrate": getattr(self, "calibrate", None),
        }
        options.update({name: getattr(self, name) for name in self._own})
        if isinstance(gamma, str):
            options["gamma"] = gamma
            if not _varies(X):
                # Equal samples have no scale; scikit-learn uses 1, too.
                options["lengthscales"] = [lengthscale(kernel, 1.0)]
        else:
            options["lengthscales"] = lengthscales(kernel, gamma, getattr(self, "n_features_in_", None))
        return options

    #: Whether `fit` imputes missing values of arrays, and the imputer of the training rows.
    _imputes = False
    _imputer = None

    def _finite(self):
        """Value of ``ensure_all_finite`` for scikit-learn's validation."""
        return "allow-nan" if self._imputes else True

    def _imputed(self, X, about, reset):
        """X with imputed missing values; ``about`` is (y, weights, whether y has labels)."""
        if not self._imputes:
            return X
        X = dense_with_missing(X, None if reset else self._imputer)
        if reset:
            self._imputer = None if sparse.issparse(X) else MeanImputer.fit(X, *about)
        return X if self._imputer is None else self._imputer.transform(X)

    def _names(self):
        """Names of the columns, or None."""
        names = getattr(self, "feature_names_in_", None)
        return None if names is None else [str(name) for name in names]

    def _kernel(self):
        """Native name of the kernel."""
        return "gaussian" if self.kernel == "rbf" else self.kernel

    def _gamma(self):
        """Gamma as a number, an array, or the name of a rule."""
        return self.gamma

    def _learn(self, X, y, weights, *, classes=False, names=None):
        """Fit the native model.

        ``y`` is a float64 array of shape (n_samples, n_targets), or None for the targets of a scan.
        """
        scanned = isinstance(X, Scan)
        labels = {"classes": classes, "names": names}
        # A half-life weights samples by their position, so their order must not change.
        in_order = getattr(self, "half_life", None) is not None
        if weights is not None and not scanned and not in_order:
            kept = weights > 0
            if not kept.all():
                X, y, weights = X[kept], y[kept], weights[kept]
        together = self._takes_weights() and not self._calibrates() and not in_order
        if not scanned and together and X.shape[0] <= FEW_ROWS:
            X, y, weights = _in_order(X, y, weights)
        if self._goes_on(y, names):
            labels["start"] = self._model
        with heard(self.verbose, X.n_samples if scanned else X.shape[0]) as progress:
            self._model = self._native_fit(
                X,
                None if y is None else np.ascontiguousarray(y),
                weights,
                {**self._options(X), "progress": progress},
                **labels,
            )
        if scanned:
            self._widened()
        self._facts()

    def _native_fit(self, X, y, weights, options, **labels):
        return _native.Model.fit(self._learner_of_fit(), table(X), y, weights, options, **labels)

    def _goes_on(self, y, names):
        """Whether `warm_start` applies: there is a model of the same columns and targets."""
        if not getattr(self, "warm_start", False):
            return False
        if self._calibrates():
            raise ValueError(
                "warm_start=True goes on with all rows, and calibrate keeps some back; leave one of "
                "both out, or use calibrate_on"
            )
        if getattr(self, "_model", None) is None:
            return False
        if y is None:
            # The native module compares the targets of the file.
            return True
        if self._model.n_features != self.n_features_in_:
            return False
        numbers, known, _ = self._model.labels()
        if numbers is None:
            return y.shape[1] == len(self._model.coefficients()[1])
        return known == names and np.array_equal(np.unique(y), numbers)

    def _learner_of_fit(self):
        return self._learner

    def _takes_weights(self):
        """Whether equal samples may be merged into one of their total weight."""
        return True

    def _calibrates(self):
        """Whether `fit` holds out samples, which it selects by index, to calibrate intervals."""
        return getattr(self, "calibrate", None) is not None

    def _widened(self):
        """Set number and names of features to the encoded columns of a table."""
        if self._model.has_schema:
            self.n_features_in_ = self._model.n_features
            self.feature_names_in_ = np.array(self._model.column_names, dtype=object)

    def _facts(self) -> None:
        """Set the fitted attributes from the facts of the native model."""
        facts = self._model.facts()
        if hasattr(self, "importances"):
            self.__dict__.pop("feature_importances_", None)
            if self.importances:
                found = self._model.importance
                self.feature_importances_ = None if found is None else np.array(found)
        for name in ("passes", "sweeps", "iterations", "steps", "stages"):
            if name in facts:
                self.n_iter_ = max(int(facts[name]), 1)

    def _scores(self, X):
        check_is_fitted(self)
        return self._asked("scores", X)

    def _asked(self, what, X):
        """Call a method of the native model, by name, with samples."""
        rows = checked(self, X)
        total = rows.shape[0] if hasattr(rows, "shape") else None
        with heard(getattr(self, "verbose", False), total) as progress:
            method = getattr(self._current(), what)
            return method(table(rows), self.device, self.memory, progress)

    def _current(self):
        """The native model, fitted first if samples were only collected."""
        return self._model

    @property
    def job_(self) -> dict[str, Any] | None:
        """Settings of the fit, as a dict with the option names of `bochner fit`.

        It does not include defaults and values that were derived from the data. None if the model
        file has no settings.
        """
        check_is_fitted(self)
        job = self._current().job
        return None if job is None else {name: _value(word) for name, word in job}

    def save(self, path: str | PathLike[str]) -> None:
        """Save the model to a file that `load` and the command `bochner predict` can read.

        Parameters
        ----------
        path : str or path
            Path of the file.
        """
        check_is_fitted(self)
        self._current().save(path, self._label_types())

    def _label_types(self):
        """Dtype of the labels for the model file; None without labels."""
        return None

    def to_onnx(self, path: str | PathLike[str] | None = None, *, double: bool | None = None) -> bytes:
        """Export the model to ONNX with standard operators (opset 17).

        The input is ``X``. The output is ``values`` for regressors and estimators without targets;
        for classifiers ``label``, ``scores`` and, if they are a function of the scores,
        ``probabilities``.

        Parameters
        ----------
        path : str or path, default=None
            File to write in addition; None for no file.

        double : bool, default=None
            Whether inputs and outputs are float64, for columns whose values are large relative to
            their differences. None for float32, or for float64, with a warning, if float32 would
            lose digits of a column.

        Returns
        -------
        model : bytes
            Serialised model, for example for ``onnxruntime.InferenceSession``.
        """
        check_is_fitted(self)
        model = self._current().to_onnx(double)
        if path is not None:
            Path(path).write_bytes(model)
        return model

    @classmethod
    def load(cls, path: str | PathLike[str], **parameters: Any) -> Self:
        """Load a model file written by this package, the Rust library or the command line.

        Parameters
        ----------
        path : str or path
            Path of the file.

        **parameters
            Parameters of the constructor, such as ``device``. The file does not contain those of
            the saved estimator.

        Returns
        -------
        estimator : object
            Fitted estimator.
        """
        model = _native.Model.read(path)
        if model.learner != cls._learner:
            raise ValueError(f"{path} holds a model of {model.learner!r}, not of {cls._learner!r}")
        self = cls(**parameters)
        self._model = model
        self.n_features_in_, names = model.n_features, model.column_names
        if cls._imputes and model.imputation is not None:
            names, *imputation = model.imputation
            self._imputer = MeanImputer(*imputation)
            self.n_features_in_ = len(self._imputer.means)
        if names is not None:
            self.feature_names_in_ = np.array(names, dtype=object)
        self._loaded()
        self._facts()
        return self

    def _loaded(self):
        raise NotImplementedError

    def __sklearn_is_fitted__(self):
        return hasattr(self, "_model")

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = self._imputes
        return tags


class RowsLearner(OfMap, Learner):
    """Base class of estimators without targets."""

    _size = "map_components"

    def _takes_weights(self):
        return False

    def _learn_rows(self, X, weights=None, at_least=2):
        """Validate and fit; returns the validated X."""
        X, y, weights = self._rows_alone(X, weights, at_least)
        self._learn(X, y, weights)
        return X

    def _add_rows(self, X, weights=None):
        """Validate samples, and add them to earlier ones."""
        first = self._is_first()
        self._add(*self._rows_alone(X, weights, at_least=1, reset=first))

    def _rows_alone(self, X, weights, at_least, reset=True):
        """Validated X, targets with no columns, and weights or None."""
        if isinstance(X, Scan):
            if reset:
                seen(self, X)
            return X, None, scan_weights(weights)
        X = validated(
            self, X, accept_sparse="csr", dtype=FLOATS, ensure_min_samples=at_least, reset=reset
        )
        if weights is not None:
            weights = weights_of(weights, X)
        return X, np.empty((X.shape[0], 0)), weights

    def _loaded(self):
        pass


def _varies(X):
    """Whether samples differ; True for a scan, which is not read for this."""
    if isinstance(X, Scan):
        return True
    if hasattr(X, "varies"):
        return X.varies
    if sparse.issparse(X):
        return (X != sparse.vstack([X[:1]] * X.shape[0])).nnz > 0
    first = X[:1]
    return any((X[i : i + 4096] != first).any() for i in range(0, X.shape[0], 4096))


def _in_order(X, y, weights):
    """Sorted distinct samples with their total weights; unchanged if there are many values."""
    if X.shape[0] * X.shape[1] > FEW_VALUES:
        return X, y, weights
    rows = np.hstack([dense(X), y])
    rows, place = np.unique(rows, axis=0, return_inverse=True)
    counts = np.bincount(place.ravel(), weights=weights, minlength=len(rows)).astype(np.float64)
    d = X.shape[1]
    ordered = rows[:, :d].astype(X.dtype, copy=False)
    return ordered, rows[:, d:], None if (counts == 1.0).all() else counts


def scan_weights(sample_weight):
    """Validated weights for a scan; their number is checked when the file is read."""
    if sample_weight is None:
        return None
    return _proper(check_array(host(sample_weight, "sample_weight"), ensure_2d=False, dtype=np.float64, ensure_min_samples=1))


def weights_of(sample_weight, X):
    """Validated weights for samples in memory."""
    return _proper(_check_sample_weight(host(sample_weight, "sample_weight"), X, dtype=np.float64))


def _proper(weights):
    if (weights < 0).any():
        raise ValueError("Negative values in sample_weight")
    if not weights.any():
        raise ValueError("all rows have sample_weight 0; at least one class or value has to count")
    return weights
