"""Online learning with river's interface: ``learn_one``, ``predict_one``.

A sample is a dict from feature names to numbers. The model is updated after each sample, optionally
with exponential forgetting. river is optional; if it is installed, the classes are subclasses of
its regressors and classifiers and work with its pipelines, metrics and evaluation.

Examples
--------
>>> from math import sin
>>> from bochner.river import KernelRegressor
>>> model = KernelRegressor(n_components=100, half_life=200.0, penalty=0.01)
>>> for t in range(1000):
...     x = {"hour": t % 24, "load": t % 11}
...     model.learn_one(x, sin(x["hour"] / 4) + 0.1 * x["load"])
>>> abs(model.predict_one({"hour": 6, "load": 5}) - (sin(6 / 4) + 0.5)) < 0.05
True
"""

from __future__ import annotations

import warnings
from math import inf, isfinite
from typing import TYPE_CHECKING

import numpy as np

from . import _native
from ._arrays import lengthscale
from ._stream_columns import Columns, number, without_far_values

if TYPE_CHECKING:
    from collections.abc import Hashable, Mapping, Sequence
    from typing import Any

    Row = Mapping[Hashable, float]

try:
    from river.base import MiniBatchClassifier as _Classifier
    from river.base import MiniBatchRegressor as _Regressor
except ImportError:
    _Classifier = _Regressor = object

__all__ = ["KernelClassifier", "KernelRegressor", "LinUCB", "ThompsonSampling"]


#: Recent samples, and their values, that are stored to learn them again with a new map. Up to twice
#: as many samples are stored between deletions.
KEPT_ROWS, KEPT_VALUES = 2000, 1 << 18
#: Number of half-lives after which the weight of a sample (2^-20) is negligible.
HALF_LIVES = 20
#: Samples learned again are at most this many times the samples that arrived.
MOST_DRAWN = 4


class _Stream:
    """Base class of regressor and classifier. Stores samples until it draws a map for them."""

    def __init__(
        self,
        n_components: int = 500,
        *,
        half_life: float = inf,
        penalty: float = 1.0,
        kernel: str = "gaussian",
        gamma: float | str = "median",
        map: str = "fourier",
        warm_up: int = 100,
        seed: int = 0,
    ) -> None:
        if not (isinstance(warm_up, int) and warm_up >= 2):
            raise ValueError(f"warm_up is {warm_up!r}; it is a number of rows, 2 or more")
        if not penalty > 0:
            raise ValueError(f"penalty is {penalty!r}; it is a positive number")
        if not half_life >= 1:
            raise ValueError(f"half_life is {half_life!r}; it is one row or more")
        if gamma != "median" and (isinstance(gamma, str) or not gamma > 0):
            raise ValueError(f"gamma is {gamma!r}; it is 'median' or a positive number")
        self.n_components = n_components
        self.half_life = half_life
        self.penalty = penalty
        self.kernel = kernel
        self.gamma = gamma
        self.map = map
        self.warm_up = warm_up
        self.seed = seed
        # The most recent samples, and whether these are all samples that the model learned.
        self._kept: list[tuple[dict[Hashable, float], list[float], float]] = []
        self._keeps_all = True
        # Number of samples that arrived, and of those learned after each draw of a map.
        self._learned = self._drawn = 0
        self._has_warned = False
        self._columns: Columns | None = None
        self._stream: _native.Stream | None = None
        # Of a classifier: index of the target that is 1 for samples of the class.
        self._classes: dict[Hashable, int] = {}

    def _learn(self, x: Row, y: list[float], w: float) -> None:
        if self._stream is None or self._columns is None:
            self._check(x, w)
            self._kept.append((dict(x), y, w))
            if len(self._kept) >= self.warm_up:
                try:
                    self._begin()
                except Exception:
                    # Do not store a sample that cannot be learned.
                    self._kept.pop()
                    raise
            return
        row = self._columns(x)
        try:
            self._stream.learn(row, y, float(w))
        except (TypeError, ValueError):
            self._check(x, w)
            raise
        kept = self._columns.kept(x)
        self._kept.append((kept, y, w))
        self._learned += 1
        if self._columns.see(kept, row):
            self._follow()

    def _follow(self) -> None:
        """Draw a new map, and learn the stored samples again, if column scales have changed."""
        assert self._columns is not None
        most = max(self.warm_up, min(KEPT_ROWS, KEPT_VALUES // max(len(self._columns.names), 1)))
        if len(self._kept) > 2 * most:
            del self._kept[:-most]
            # Deleted samples are only negligible with a short half-life.
            self._keeps_all = self._keeps_all and self.half_life * HALF_LIVES <= most
        moved = self._columns.moved(self._keeps_all)
        if moved is None or self._drawn > MOST_DRAWN * self._learned:
            return
        if not self._keeps_all and not self._has_warned:
            self._has_warned = True
            warnings.warn(
                f"{moved}, of which the first rows that scales are of knew nothing; this "
                f"{type(self).__name__} learns the last {len(self._kept)} rows anew, and has forgotten "
                "those before",
                stacklevel=4,
            )
        try:
            self._begin()
        except ValueError as error:
            self._columns.restart()
            warnings.warn(f"{moved}, and its scale stays as it is: {error}", stacklevel=4)

    def _check(self, x: Row, w: float) -> None:
        """Raise an error if the sample or its weight is invalid."""
        if not (isfinite(w) and w >= 0):
            raise ValueError(f"a row counts for {w}; it is a finite number, 0 or more")
        if self._columns is not None:
            self._columns.check(x)
            return
        for name, value in x.items():
            number(name, value)
        if not x:
            raise ValueError("a row has no columns")

    def _begin(self) -> None:
        """Draw the map for the stored samples, and learn these."""
        columns = Columns([row for row, _, _ in self._kept])
        rows = np.array([columns(row) for row, _, _ in self._kept], dtype=float)
        typical = without_far_values(rows)
        columns.settle(typical)
        plain = self.map == "none"
        kernel = "gaussian" if self.kernel == "rbf" else self.kernel
        options: dict[str, Any] = {
            "kernel": "linear" if plain else kernel,
            "map": self.map,
            "n_components": self.n_components,
            "gamma": None if plain else self.gamma,
            "standardize": "yes",
            "seed": self.seed,
            "device": "cpu",
            "memory": None,
        }
        if not plain and (typical == typical[0]).all():
            # Equal samples have no median distance; a new map is drawn when a column changes.
            options.update(gamma=None, lengthscales=[lengthscale(kernel, 1.0)])
        drawn = _native.FeatureMap.draw(typical, options)
        targets = max(len(self._classes), *(len(y) for _, y, _ in self._kept))
        stream = _native.Stream(drawn, targets, self.penalty, self.half_life)
        for row, (_, y, w) in zip(rows, self._kept):
            stream.learn(row.tolist(), y + [0.0] * (targets - len(y)), w)
        self._columns, self._stream, self._keeps_all = columns, stream, True
        self._drawn += len(self._kept)
        self._learned = max(self._learned, len(self._kept))

    def _predict(self, x: Row) -> list[float]:
        assert self._columns is not None and self._stream is not None
        try:
            return self._stream.predict(self._columns(x))
        except (TypeError, ValueError):
            self._columns.check(x)
            raise


class KernelRegressor(_Stream, _Regressor):
    """Online kernel ridge regression on random features, with optional exponential forgetting.

    After each sample the coefficients beta and the intercept b minimise::

        sum_i w_i 2^(-age_i / half_life) (y_i - z(x_i)'beta - b)^2 + penalty |beta|^2

    where z is the feature map, w_i the weight of sample i and age_i the number of samples since.
    With a ``half_life`` the penalty shrinks likewise, to half at most, and is reset once per
    half-life.

    The first ``warm_up`` samples are stored, and the mean of their targets is predicted. Then
    features are standardised, the map is drawn with the median distance between these samples as
    the lengthscale, and the samples are learned. If a feature later leaves its range, is not
    constant any more, or is new, a new map is drawn and the stored samples are learned again. The
    2,000 to 4,000 most recent samples are stored for this; older samples are then lost, with one
    warning, and new features are ignored. Missing features are replaced by their mean over the
    first samples.

    Parameters
    ----------
    n_components : int, default=500
        Number of random features, D. A sample takes O(D^2) operations and the model 16 D^2 bytes.

    half_life : float, default=inf
        Number of samples after which the weight of a sample has halved, at least 1; infinite for no
        forgetting.

    penalty : float, default=1.0
        Penalty of the squared coefficients, positive, added to the sum over samples (NOT per
        sample).

    kernel : str, default='gaussian'
        Kernel, as in :class:`bochner.RBFSampler`.

    gamma : float or 'median', default='median'
        Parameter of the kernel's formula, positive, for standardised features.

    map : str, default='fourier'
        Feature map, as in :class:`bochner.RBFSampler`, or 'none' for the standardised features.

    warm_up : int, default=100
        Number of samples that determine scales and bandwidth, at least 2.

    seed : int, default=0
        Seed of the map.

    Examples
    --------
    >>> from bochner.river import KernelRegressor
    >>> model = KernelRegressor(n_components=50, warm_up=10)
    >>> for t in range(50):
    ...     model.learn_one({"a": t % 7}, float((t % 7) ** 2))
    >>> round(model.predict_one({"a": 3}))
    9
    """

    def learn_one(self, x: Row, y: float, w: float = 1.0) -> None:
        """Update the model with a sample ``x``, its target ``y`` and its weight ``w``."""
        y = float(y)
        if not isfinite(y):
            raise ValueError(f"a target is {y}; it is a finite number")
        self._learn(x, [y], w)

    def predict_one(self, x: Row) -> float:
        """Predict the target of a sample; 0 before the first sample."""
        if self._stream is not None:
            return self._predict(x)[0]
        total = sum(w for _, _, w in self._kept)
        return sum(w * y[0] for _, y, w in self._kept) / total if total else 0.0

    def learn_many(self, X: Any, y: Any) -> None:
        """Update the model with the rows of a data frame, in their order."""
        for row, target in zip(X.to_dict(orient="records"), y):
            self.learn_one(row, target)

    def predict_many(self, X: Any) -> Any:
        """Predict the targets of the rows of a data frame; returns a series."""
        import pandas as pd

        predictions = [self.predict_one(row) for row in X.to_dict(orient="records")]
        return pd.Series(predictions, index=X.index, dtype=float)


class KernelClassifier(_Stream, _Classifier):
    """Online kernel ridge classification on random features, with optional forgetting.

    It minimises the objective of :class:`KernelRegressor` for one target per class, which is 1 for
    samples of the class and 0 for others; a new class has target 0 for all earlier samples.
    Predictions estimate class probabilities: they are clipped at 0 and normalised to sum 1.

    The parameters are described in :class:`KernelRegressor`.

    Examples
    --------
    >>> from bochner.river import KernelClassifier
    >>> model = KernelClassifier(n_components=50, warm_up=10)
    >>> for t in range(50):
    ...     model.learn_one({"a": t % 7}, "low" if t % 7 < 4 else "high")
    >>> model.predict_one({"a": 1}), model.predict_one({"a": 6})
    ('low', 'high')
    """

    @property
    def _multiclass(self) -> bool:
        return True

    def learn_one(self, x: Row, y: Hashable, w: float = 1.0) -> None:
        """Update the model with a sample ``x``, its class ``y`` and its weight ``w``."""
        classes = self._classes
        if y not in classes:
            # Validate before any state changes.
            self._check(x, w)
            if self._stream is not None:
                self._stream.add_target()
            classes[y] = len(classes)
        targets = [0.0] * len(classes)
        targets[classes[y]] = 1.0
        self._learn(x, targets, w)

    def predict_proba_one(self, x: Row) -> dict[Hashable, float]:
        """Predict probabilities of the known classes; empty before the first sample."""
        if self._stream is not None:
            scores = self._predict(x)
        else:
            scores = [0.0] * len(self._classes)
            for _, y, w in self._kept:
                scores[y.index(1.0)] += w
        scores = [max(score, 0.0) for score in scores]
        total = sum(scores)
        if total == 0.0:
            scores, total = [1.0] * len(scores), float(len(scores))
        return {label: score / total for label, score in zip(self._classes, scores)}

    def predict_one(self, x: Row) -> Hashable | None:
        """Predict the most probable class; None before the first sample."""
        probabilities = self.predict_proba_one(x)
        return max(probabilities, key=probabilities.__getitem__, default=None)

    def learn_many(self, X: Any, y: Any) -> None:
        """Update the model with the rows of a data frame, in their order."""
        for row, label in zip(X.to_dict(orient="records"), y):
            self.learn_one(row, label)

    def predict_proba_many(self, X: Any) -> Any:
        """Predict probabilities for the rows of a data frame; one column for each class."""
        import pandas as pd

        rows = [self.predict_proba_one(row) for row in X.to_dict(orient="records")]
        return pd.DataFrame(rows, index=X.index, columns=list(self._classes))

    def predict_many(self, X: Any) -> Any:
        """Predict classes of the rows of a data frame; returns a series."""
        import pandas as pd

        labels = [self.predict_one(row) for row in X.to_dict(orient="records")]
        return pd.Series(labels, index=X.index)


class _Bandit:
    """Base class of the bandits. Each arm learns from the samples for which it was chosen."""

    _thompson: bool

    def __init__(
        self,
        arms: int | Sequence[Hashable],
        *,
        width: float = 1.0,
        half_life: float = inf,
        penalty: float = 1.0,
        seed: int = 0,
    ) -> None:
        self.arms = list(range(arms)) if isinstance(arms, int) else list(arms)
        if len(set(self.arms)) < max(len(self.arms), 1):
            raise ValueError("arms are one or more, each with a name of its own")
        self.width = width
        self.half_life = half_life
        self.penalty = penalty
        self.seed = seed
        self._names: list[Hashable] | None = None
        self._bandit: _native.Bandit | None = None

    def _row(self, x: Row) -> list[float]:
        if self._names is None:
            names = sorted(x, key=str)
            row = [number(name, x[name]) for name in names]
            self._bandit = _native.Bandit(
                len(names),
                len(self.arms),
                self._thompson,
                float(self.width),
                float(self.penalty),
                float(self.half_life),
                self.seed,
            )
            self._names = names
            return row
        missing = [name for name in self._names if name not in x]
        if missing:
            raise ValueError(f"a row has no column {missing[0]!r}, which the first one had")
        return [number(name, x[name]) for name in self._names]

    def choose(self, x: Row) -> Hashable:
        """Choose an arm for a sample, a dict from feature names to numbers."""
        row = self._row(x)
        assert self._bandit is not None
        return self.arms[self._bandit.choose(row)]

    def learn(self, x: Row, arm: Hashable, reward: float) -> None:
        """Update an arm with its reward for a sample."""
        if arm not in self.arms:
            raise ValueError(f"{arm!r} is none of the arms: {self.arms}")
        row = self._row(x)
        assert self._bandit is not None
        self._bandit.learn(self.arms.index(arm), row, float(reward))


class LinUCB(_Bandit):
    """Contextual bandit that chooses the arm with the largest upper confidence bound (LinUCB).

    The reward of each arm is a linear function of the sample (Li, Chu, Langford and Schapire 2010,
    algorithm 1, disjoint models). Its coefficients beta and intercept b minimise, over the samples
    for which the arm was chosen::

        sum_i 2^(-age_i / half_life) (reward_i - x_i'beta - b)^2 + penalty |beta|^2

    The bound is the prediction plus ``width`` times its standard deviation for noise of standard
    deviation 1.

    Parameters
    ----------
    arms : int or list
        Number of arms, or their names.

    width : float, default=1.0
        Width of the confidence bounds. If it is too small, an arm may not be tried again after one
        low reward.

    half_life : float, default=inf
        Number of samples of an arm after which the weight of a sample has halved; infinite for no
        forgetting.

    penalty : float, default=1.0
        Penalty of the squared coefficients of an arm, positive.

    seed : int, default=0
        Not used, present for consistency with :class:`ThompsonSampling`.

    Examples
    --------
    >>> from bochner.river import LinUCB
    >>> bandit = LinUCB(["morning", "evening"])
    >>> for t in range(100):
    ...     x = {"age": t % 9}
    ...     arm = bandit.choose(x)
    ...     bandit.learn(x, arm, x["age"] if arm == "morning" else 8 - x["age"])
    >>> bandit.choose({"age": 8}), bandit.choose({"age": 0})
    ('morning', 'evening')
    """

    _thompson = False


class ThompsonSampling(_Bandit):
    """Contextual bandit that chooses the arm with the largest sampled reward (Thompson sampling).

    The reward of each arm is drawn from a normal distribution around the prediction, with ``width``
    times its standard deviation for noise of standard deviation 1 (Agrawal and Goyal 2013,
    algorithm 1, with separate coefficients for each arm). Coefficients minimise the objective of
    :class:`LinUCB`.

    The parameters are described in :class:`LinUCB`; ``seed`` is that of the draws.

    Examples
    --------
    >>> from bochner.river import ThompsonSampling
    >>> bandit = ThompsonSampling(2, width=0.5, seed=3)
    >>> for t in range(100):
    ...     x = {"age": t % 9}
    ...     arm = bandit.choose(x)
    ...     bandit.learn(x, arm, x["age"] if arm == 0 else 8 - x["age"])
    >>> bandit.choose({"age": 8}), bandit.choose({"age": 0})
    (0, 1)
    """

    _thompson = True
