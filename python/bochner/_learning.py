"""What the kernel machines share: from validated arrays to a native model, and back."""

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
from ._parameters import OfMap
from ._progress import heard
from ._rows import checked, seen
from ._scan import Scan
from ._typing import BaseEstimator

if TYPE_CHECKING:
    from os import PathLike
    from typing import Any

    from typing_extensions import Self

#: Tables of at most so many rows and values are put in order, so that equal rows count as one row of
#: their weights together: repeating a row is then the same as weighing it, to the last bit.
FEW_ROWS, FEW_VALUES = 2000, 1 << 20


def _value(word):
    """A word of a job as Python has it."""
    if word == "true":
        return True
    for kind in (int, float):
        try:
            return kind(word)
        except ValueError:
            pass
    return word


class Learner(BaseEstimator):
    """From validated arrays to a native model, and back."""

    n_iter_: int

    #: What `fit --model` of the command line calls it, and its own options.
    _learner = ""
    _own = ()

    #: The parameter that says how many features the map has, or landmarks.
    _size = "n_components"
    #: What it stands on where that is no map: ``'all rows'`` or ``'landmarks'``.
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
            "importances": getattr(self, "importances", None),
            "calibrate": getattr(self, "calibrate", None),
        }
        options.update({name: getattr(self, name) for name in self._own})
        if isinstance(gamma, str):
            options["gamma"] = gamma
            if not _varies(X):
                # Rows without any spread have no scale; scikit-learn takes 1, too.
                options["lengthscales"] = [lengthscale(kernel, 1.0)]
        else:
            options["lengthscales"] = lengthscales(kernel, gamma, getattr(self, "n_features_in_", None))
        return options

    def _names(self):
        """What the columns are called, if they have names."""
        names = getattr(self, "feature_names_in_", None)
        return None if names is None else [str(name) for name in names]

    def _kernel(self):
        """The kernel as the native half calls it."""
        return "gaussian" if self.kernel == "rbf" else self.kernel

    def _gamma(self):
        """A number, or a rule."""
        return self.gamma

    def _learn(self, X, y, weights, *, classes=False, names=None):
        """Fit the native model to y of shape (n_samples, n_targets), as float64.

        Of a scan y can be None: its file has targets then.
        """
        scanned = isinstance(X, Scan)
        labels = {"classes": classes, "names": names}
        # With a half-life rows are what they count by where they stand.
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
        """Whether a fit begins at the model that is there: one of the same columns and targets."""
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
            # The targets of a file, which the native half looks at.
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
        """Whether rows count by weights, and equal ones may be one row."""
        return True

    def _calibrates(self):
        """Whether some of the rows are kept back for intervals, which are told apart by number."""
        return getattr(self, "calibrate", None) is not None

    def _widened(self):
        """Notes the columns that a table became."""
        if self._model.has_schema:
            self.n_features_in_ = self._model.n_features
            self.feature_names_in_ = np.array(self._model.column_names, dtype=object)

    def _facts(self) -> None:
        """Attributes that the fit found."""
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
        """What the native model says of rows, by its method of this name."""
        rows = checked(self, X)
        total = rows.shape[0] if hasattr(rows, "shape") else None
        with heard(getattr(self, "verbose", False), total) as progress:
            method = getattr(self._current(), what)
            return method(table(rows), self.device, self.memory, progress)

    def _current(self):
        """The native model."""
        return self._model

    @property
    def job_(self) -> dict[str, Any] | None:
        """The job that made the model, a dict by the names that `bochner fit` has for its options.

        What a rule of the data decides, or a default, is not in it. None where nobody knows.
        """
        check_is_fitted(self)
        job = self._current().job
        return None if job is None else {name: _value(word) for name, word in job}

    def save(self, path: str | PathLike[str]) -> None:
        """Write the model file of the command line, which `load` and `bochner predict` read.

        Parameters
        ----------
        path : str or path
            The file.
        """
        check_is_fitted(self)
        self._current().save(path, self._label_types())

    def _label_types(self):
        """Type of the labels as written to a file; None without labels."""
        return None

    def to_onnx(self, path: str | PathLike[str] | None = None, *, double: bool | None = None) -> bytes:
        """The model in ONNX, of standard operators (opset 17), for other runtimes.

        Its input is ``X``. Regressors and learners without classes give ``values``; classifiers
        ``label``, ``scores`` and, where the scores alone give them, ``probabilities``.

        Parameters
        ----------
        path : str or path, default=None
            A file that is written, too.

        double : bool, default=None
            Whether X and what comes out are float64: for columns whose numbers are large beside
            what tells them apart. ``None`` takes float32, and float64 with a warning where float32
            would lose digits of a column.

        Returns
        -------
        model : bytes
            What ``onnxruntime.InferenceSession`` takes.
        """
        check_is_fitted(self)
        model = self._current().to_onnx(double)
        if path is not None:
            Path(path).write_bytes(model)
        return model

    @classmethod
    def load(cls, path: str | PathLike[str], **parameters: Any) -> Self:
        """Read a model file, of this package, the library or the command line.

        Parameters
        ----------
        path : str or path
            The file.

        **parameters
            Of the constructor, such as ``device``. Those of the fit are not in the file.

        Returns
        -------
        estimator : object
            Fitted.
        """
        model = _native.Model.read(path)
        if model.learner != cls._learner:
            raise ValueError(f"{path} holds a model of {model.learner!r}, not of {cls._learner!r}")
        self = cls(**parameters)
        self._model = model
        self.n_features_in_ = model.n_features
        if model.column_names is not None:
            self.feature_names_in_ = np.array(model.column_names, dtype=object)
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
        return tags


class RowsLearner(OfMap, Learner):
    """A learner of rows alone, without targets."""

    _size = "map_components"

    def _takes_weights(self):
        return False

    def _learn_rows(self, X, weights=None, at_least=2):
        """Fit to validated rows, which are returned."""
        X, y, weights = self._rows_alone(X, weights, at_least)
        self._learn(X, y, weights)
        return X

    def _add_rows(self, X, weights=None):
        """Add rows to those that came before."""
        first = self._is_first()
        self._add(*self._rows_alone(X, weights, at_least=1, reset=first))

    def _rows_alone(self, X, weights, at_least, reset=True):
        """Rows, targets that are none, weights or None."""
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
    """Whether any two rows differ; nobody looks through a file for that."""
    if isinstance(X, Scan):
        return True
    if hasattr(X, "varies"):
        return X.varies
    if sparse.issparse(X):
        return (X != sparse.vstack([X[:1]] * X.shape[0])).nnz > 0
    first = X[:1]
    return any((X[i : i + 4096] != first).any() for i in range(0, X.shape[0], 4096))


def _in_order(X, y, weights):
    """The different rows in order, each with its weight, if they are few."""
    if X.shape[0] * X.shape[1] > FEW_VALUES:
        return X, y, weights
    rows = np.hstack([dense(X), y])
    rows, place = np.unique(rows, axis=0, return_inverse=True)
    counts = np.bincount(place.ravel(), weights=weights, minlength=len(rows)).astype(np.float64)
    d = X.shape[1]
    ordered = rows[:, :d].astype(X.dtype, copy=False)
    return ordered, rows[:, d:], None if (counts == 1.0).all() else counts


def scan_weights(sample_weight):
    """Weights of the rows of a scan, which are counted when they are read."""
    if sample_weight is None:
        return None
    return _proper(check_array(host(sample_weight, "sample_weight"), ensure_2d=False, dtype=np.float64, ensure_min_samples=1))


def weights_of(sample_weight, X):
    """Weights of rows that are there."""
    return _proper(_check_sample_weight(host(sample_weight, "sample_weight"), X, dtype=np.float64))


def _proper(weights):
    if (weights < 0).any():
        raise ValueError("Negative values in sample_weight")
    if not weights.any():
        raise ValueError("all rows have sample_weight 0; at least one class or value has to count")
    return weights
