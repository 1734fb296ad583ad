"""What the kernel machines share: from validated arrays to a native model, and back."""

from numbers import Integral, Real

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import _check_sample_weight, check_is_fitted, validate_data

from . import _native
from ._arrays import FLOATS, dense, lengthscale, seed_of, table

POSITIVE = Interval(Real, 0.0, None, closed="neither")
NOT_NEGATIVE = Interval(Real, 0.0, None, closed="left")
COUNT = Interval(Integral, 1, None, closed="left")

#: Constraints of the parameters that all of them have.
SHARED = {
    "kernel": [str],
    "gamma": [StrOptions({"scale", "median"}), POSITIVE],
    "n_components": [COUNT],
    "map": [str],
    "sampling": [str],
    "form": [StrOptions({"phase", "paired"})],
    "standardize": [StrOptions({"auto", "yes", "no"})],
    "random_state": ["random_state"],
    "device": [str],
    "memory": [COUNT, None],
    "fit_intercept": ["boolean"],
}

#: Tables of at most so many rows and values are put in order, so that equal rows count as one row of
#: their weights together: repeating a row is then the same as weighing it, to the last bit.
FEW_ROWS, FEW_VALUES = 2000, 1 << 20


class Learner(BaseEstimator):
    """From validated arrays to a native model, and back."""

    #: What `fit --model` of the command line calls it, and its own options.
    _learner = ""
    _own = ()

    def _options(self, X):
        kernel = "gaussian" if self.kernel == "rbf" else self.kernel
        paired = self.form == "paired" and self.map in ("fourier", "fastfood", "sorf")
        options = {
            "kernel": kernel,
            "map": self.map,
            # A cosine and a sine for each frequency.
            "n_components": self.n_components + (self.n_components % 2 if paired else 0),
            "sampling": self.sampling,
            "form": self.form,
            "standardize": self.standardize,
            "fit_intercept": self.fit_intercept,
            "seed": seed_of(check_random_state(self.random_state)),
            "device": self.device,
            "memory": self.memory,
        }
        options.update({name: getattr(self, name) for name in self._own})
        if self.gamma in ("scale", "median"):
            options["gamma"] = self.gamma
            if not _varies(X):
                # Rows without any spread have no scale; scikit-learn takes 1, too.
                options["lengthscales"] = [lengthscale(kernel, 1.0)]
        else:
            options["lengthscales"] = [lengthscale(kernel, self.gamma)]
        return options

    def _learn(self, X, y, weights, *, classes=False, names=None):
        """Fit the native model to y of shape (n_samples, n_targets), as float64."""
        if weights is not None:
            kept = weights > 0
            if not kept.all():
                X, y, weights = X[kept], y[kept], weights[kept]
        if self._takes_weights() and X.shape[0] <= FEW_ROWS:
            X, y, weights = _in_order(X, y, weights)
        self._model = _native.Model.fit(
            self._learner,
            table(X),
            np.ascontiguousarray(y),
            weights,
            self._options(X),
            classes=classes,
            names=names,
        )
        self._facts()

    def _takes_weights(self):
        """Whether rows count by weights, and equal ones may be one row."""
        return True

    def _facts(self):
        """Attributes that the fit found."""
        facts = self._model.facts()
        passes = facts.get("passes", facts.get("sweeps"))
        if passes is not None:
            self.n_iter_ = max(int(passes), 1)

    def _scores(self, X):
        check_is_fitted(self)
        X = validate_data(self, X, accept_sparse="csr", dtype=FLOATS, reset=False)
        return self._model.scores(table(X), self.device, self.memory)

    def save(self, path):
        """Write the model file of the command line, which `load` and `bochner predict` read.

        Parameters
        ----------
        path : str or path
            The file.
        """
        check_is_fitted(self)
        self._model.save(path)

    @classmethod
    def load(cls, path, **parameters):
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


def _varies(X):
    """Whether any two rows differ."""
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


def weights_of(sample_weight, X):
    weights = _check_sample_weight(sample_weight, X, dtype=np.float64)
    if (weights < 0).any():
        raise ValueError("Negative values in sample_weight")
    if not weights.any():
        raise ValueError("all rows have sample_weight 0; at least one class or value has to count")
    return weights


class RidgeOptions:
    """What ridge regression and classification share."""

    def _takes_weights(self):
        # A choice by leave-one-out errors sees rows one by one.
        return isinstance(self.penalty, Real)

    def _options(self, X):
        options = super()._options(X)
        if not isinstance(self.penalty, (Real, str)):
            options["penalty"] = [float(penalty) for penalty in self.penalty]
        return options

    def _facts(self):
        super()._facts()
        self.penalty_ = self._model.penalty
