"""Checks of `partial_fit` whether the column scales of the first samples still hold."""

from __future__ import annotations

import warnings

import numpy as np
from scipy import sparse

#: A column whose standard deviation has changed by more than this factor needs a new scale.
FACTOR = 2.0
#: A value outside the range of a column by more than this many times its width causes a warning.
WIDTHS = 10.0


class Moments:
    """Running count, means, sums of squared deviations, minima and maxima of columns.

    Attributes
    ----------
    count : int
        Number of samples.

    mean, squares, least, most : ndarray of shape (n_features,)
        Mean, sum of squared deviations from the mean, minimum and maximum of each column.
    """

    def __init__(self, X):
        self.count = X.shape[0]
        self.mean, self.squares, self.least, self.most = _moments(X)

    def add(self, X):
        """Add samples (Chan, Golub & LeVeque 1983)."""
        mean, squares, least, most = _moments(X)
        count, more = self.count, X.shape[0]
        step = mean - self.mean
        self.count = count + more
        self.mean = self.mean + step * (more / self.count)
        self.squares = self.squares + squares + step**2 * (count * more / self.count)
        self.least = np.minimum(self.least, least)
        self.most = np.maximum(self.most, most)

    @property
    def deviation(self):
        """The standard deviation of each column."""
        return np.sqrt(self.squares / self.count)

    @property
    def width(self):
        """The range of each column."""
        return self.most - self.least


class Scales:
    """Moments of all samples, and of the samples behind the current scales.

    Attributes
    ----------
    now : Moments
        Moments of all samples.

    width, deviation, least, most : ndarray of shape (n_features,)
        Range, standard deviation, minimum and maximum of the samples behind the scales.

    rows : int
        Number of these samples.
    """

    def __init__(self, X):
        self.now = Moments(X)
        self.settle()

    def settle(self):
        """Estimate the scales from all samples so far."""
        now = self.now
        self.rows, self.deviation, self.width = now.count, now.deviation, now.width
        self.least, self.most = now.least, now.most

    def have_changed(self):
        """Whether a constant column varies now, or a standard deviation has changed by `FACTOR`."""
        constant = self.width == 0.0
        if (constant & (self.now.width > 0.0)).any():
            return True
        ratio = self.now.deviation[~constant] / self.deviation[~constant]
        return bool(((ratio > FACTOR) | (ratio < 1.0 / FACTOR)).any())

    def outlier(self, X):
        """First column with samples far outside the range behind the scales.

        Returns its index and a description, or None if there is no such column.
        """
        least, most = _range(X)
        beyond = np.maximum(most - self.most, self.least - least)
        constant = self.width == 0.0
        far = np.where(constant, beyond > 0.0, beyond > WIDTHS * self.width)
        if not far.any():
            return None
        column = int(np.argmax(far))
        if constant[column]:
            return column, f"was constant in the first {self.rows} rows and is not any more"
        return column, (
            f"lies {beyond[column] / self.width[column]:.2g} times its width outside the range of the "
            f"first {self.rows} rows"
        )


def _range(X):
    """Minimum and maximum of each column."""
    if sparse.issparse(X):
        ends = X.min(axis=0), X.max(axis=0)
        return tuple(np.asarray(end.todense(), dtype=np.float64).ravel() for end in ends)
    return X.min(axis=0).astype(np.float64), X.max(axis=0).astype(np.float64)


def _moments(X):
    """Means, sums of squared deviations, minima and maxima of columns."""
    least, most = _range(X)
    if sparse.issparse(X):
        mean = np.asarray(X.mean(axis=0, dtype=np.float64)).ravel()
        squares = np.asarray(X.multiply(X).sum(axis=0, dtype=np.float64)).ravel()
        squares = np.maximum(squares - X.shape[0] * mean**2, 0.0)
    else:
        mean = X.mean(axis=0, dtype=np.float64)
        squares = X.var(axis=0, dtype=np.float64) * X.shape[0]
    return mean, squares, least, most


def together(parts):
    """Concatenate parts of several calls: X, targets, and weights or None."""
    if len(parts) == 1:
        return parts[0]
    rows, targets, weights = zip(*parts)
    if any(sparse.issparse(part) for part in rows):
        rows = sparse.vstack([sparse.csr_array(part) for part in rows], format="csr")
    else:
        rows = np.concatenate(rows)
    if any(part is not None for part in weights):
        weights = [np.ones(len(of)) if part is None else part for part, of in zip(weights, targets)]
        weights = np.concatenate(weights)
    else:
        weights = None
    return rows, np.concatenate(targets), weights


#: Maximum number of values of X that are stored from the first samples.
EARLY_VALUES = 1 << 22
#: Sums are recomputed because of changed scales only as long as the samples summed so far are at
#: most this many times the samples that arrived.
MOST_SUMMED = 4


class Early:
    """First samples of `partial_fit`, stored so that scales, bandwidth and map can be re-estimated.

    Attributes
    ----------
    parts : list of tuple or None
        X, targets, and weights or None, for each call. None once there are too many samples to
        store; the scales are fixed then.

    forgotten : list of tuple
        Parts that were removed by `forget`.

    scales : Scales
        Moments of the columns.
    """

    def __init__(self, part, keep=True):
        self.parts, self.forgotten = [] if keep else None, []
        self.scales = Scales(_counted(part))
        self._values = self._summed = 0
        self._has_warned = False
        self._keep(self.parts, part)

    @classmethod
    def of_rows(cls, X):
        """Fixed scales of these samples, without storing them; None for a scan."""
        return cls((X, None, None), keep=False) if is_in_memory(X) else None

    def _keep(self, place, part):
        if self.parts is None:
            return
        X, y, weights = part
        self._values += X.nnz if sparse.issparse(X) else X.size
        if self._values > EARLY_VALUES:
            self.pin()
            return
        # The caller may overwrite its arrays.
        place.append((X.copy(), y.copy(), None if weights is None else weights.copy()))

    def add(self, part):
        """Add samples; returns whether all samples should be summed again with new scales."""
        X = _counted(part)
        if X.shape[0]:
            self.scales.now.add(X)
        self._keep(self.parts, part)
        if self.parts is None:
            return False
        rows = self.scales.now.count
        if rows >= 2 * self.scales.rows:
            return True
        return self._summed <= MOST_SUMMED * rows and self.scales.have_changed()

    def forget(self, part):
        """Record samples that were removed."""
        self._keep(self.forgotten, part)

    def together(self):
        """All samples that were added, concatenated."""
        self.parts = [together(self.parts)]
        return self.parts[0]

    def settle(self):
        """Record that all samples were summed again, and estimate the scales from them."""
        self._summed += self.scales.now.count
        self.scales.settle()

    def pin(self):
        """Fix the scales and drop the stored samples."""
        self.parts, self.forgotten = None, []

    def warning(self, X, names):
        """Warning text, once, about samples far outside the fixed scales; otherwise None."""
        found = None if self._has_warned or self.parts is not None else self.scales.outlier(X)
        if found is None:
            return None
        self._has_warned = True
        column, text = found
        name = f"column {column} (counted from 0)" if names is None else f"column {names[column]!r}"
        return (
            f"{name} {text}; these rows decided scales, bandwidth and map, which stay: fit all rows at "
            "once, or begin anew with rows that are like all"
        )


def is_in_memory(X):
    """Whether X is an array or a sparse matrix, not a scan."""
    return isinstance(X, np.ndarray) or sparse.issparse(X)


def warn_of(estimator, X):
    """Warn once about samples far outside the range that the scales were estimated from."""
    early = getattr(estimator, "_early", None)
    if early is None or not is_in_memory(X):
        return
    text = early.warning(X, getattr(estimator, "feature_names_in_", None))
    if text is not None:
        warnings.warn(text, stacklevel=4)


def _counted(part):
    """Samples with positive weight."""
    X, _, weights = part
    return X if weights is None else X[weights > 0]
