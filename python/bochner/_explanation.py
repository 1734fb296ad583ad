"""Model explanations: feature importance, partial dependence, Shapley values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from sklearn.utils import check_array, check_random_state
from sklearn.utils.validation import check_is_fitted

from . import _native
from ._arrays import seed_of, table
from ._dlpack import host
from ._progress import heard
from ._rows import checked
from ._scan import Scan
from ._shapes import Shapes, axes_of

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from numpy.typing import NDArray


@dataclass(frozen=True)
class Importance:
    """Permutation importance of columns, in descending order.

    Attributes
    ----------
    columns : list of str
        Names of the columns, or their indices as text.

    rise : ndarray of shape (n_columns,)
        Increase of the error when the column is permuted, averaged over repeats.

    deviation : ndarray of shape (n_columns,)
        Standard deviation of the increase over repeats.

    gradient : ndarray of shape (n_columns,) or None
        Share of the column in the mean squared gradient of the predictions; None if the map has no
        gradient.

    measure : str
        Name of the error, or ``'how far predictions move'`` without targets.

    error : float
        Error without permutation.

    rows : int
        Number of samples used.
    """

    columns: list[str]
    rise: NDArray[np.float64]
    deviation: NDArray[np.float64]
    gradient: NDArray[np.float64] | None
    measure: str
    error: float
    rows: int


@dataclass(frozen=True)
class PartialDependence:
    """Partial dependence of the outputs on one column.

    Attributes
    ----------
    column : str
        Name of the column.

    values : list
        Grid of values of the column: numbers, names of categories, dates as text, None for missing.

    mean : ndarray of shape (n_values, n_outputs)
        Mean output over samples in which the column is set to the value.

    curves : ndarray of shape (n_curves, n_values, n_outputs)
        Individual conditional expectation: outputs of single samples.

    curve_rows : ndarray of shape (n_curves,)
        Indices of these samples in the data.

    rows : int
        Number of samples in the mean.
    """

    column: str
    values: list[Any]
    mean: NDArray[np.float64]
    curves: NDArray[np.float64]
    curve_rows: NDArray[np.uint64]
    rows: int


@dataclass(frozen=True)
class Shapley:
    """Shapley values of columns for the outputs of single samples.

    Attributes
    ----------
    columns : list of str
        Names of the columns, in the order of the data.

    rows : ndarray of shape (n_rows,)
        Indices of the explained samples in the data.

    values : ndarray of shape (n_rows, n_columns, n_outputs)
        Shapley values. The values of a sample sum to its output minus ``base``.

    errors : ndarray of shape (n_rows, n_columns, n_outputs)
        Standard errors due to the sampling of column orders; 0 if values are exact.

    outputs : ndarray of shape (n_rows, n_outputs)
        Outputs of the explained samples.

    base : ndarray of shape (n_outputs,)
        Mean output of the background samples.

    background : int
        Number of background samples.

    exact : bool
        Whether values were computed from all subsets of columns instead of sampled orders. This is
        so for models with at most six columns, and for sums of functions of at most six columns
        each.
    """

    columns: list[str]
    rows: NDArray[np.uint64]
    values: NDArray[np.float64]
    errors: NDArray[np.float64]
    outputs: NDArray[np.float64]
    base: NDArray[np.float64]
    background: int
    exact: bool


class Explanation:
    """Explanation of a fitted model, as returned by `explain` of regressors and classifiers.

    Attributes
    ----------
    importance : Importance
        Permutation importance of all columns.

    partial_dependence : dict of str to PartialDependence
        Partial dependence on some columns, by their names.

    shapley : Shapley or None
        Shapley values of single samples; None if none were requested.

    outputs : list of str
        Names of the targets or classes; with two classes the second alone.

    outputs_are : str
        Kind of the outputs: ``'prediction'``, ``'probability'`` or ``'score'``.

    Examples
    --------
    >>> import bochner, numpy as np
    >>> X = np.random.RandomState(0).normal(size=(100, 2))
    >>> model = bochner.Ridge(1e-6, device="cpu").fit(X, 3 * X[:, 0])
    >>> model.explain(X, 3 * X[:, 0]).importance.columns
    ['0', '1']
    """

    def __init__(self, found: dict[str, Any]) -> None:
        names = found["columns"]
        importance = dict(found["importance"])
        importance["columns"] = [names[j] for j in importance["columns"]]
        self.importance = Importance(**importance)
        along = [{**of, "column": names[of["column"]]} for of in found["partial_dependence"]]
        self.partial_dependence = {of["column"]: PartialDependence(**of) for of in along}
        shapley = found["shapley"]
        self.shapley = None if shapley is None else Shapley(columns=names, **shapley)
        self.outputs: list[str] = found["outputs"]
        self.outputs_are: str = found["outputs_are"]

    def __repr__(self) -> str:
        of = self.importance
        most = ", ".join(f"{name} {rise:.4g}" for name, rise in zip(of.columns[:5], of.rise))
        return f"Explanation({of.measure}: {most})"

    def plot(self, ax: Any = None, *, column: str | None = None, output: int = 0) -> Any:
        """Plot the importance of columns, or the partial dependence on one, with matplotlib.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, default=None
            Axes to draw on; None for new axes.

        column : str, default=None
            Column of `partial_dependence` to plot; None to plot the importance of all columns.

        output : int, default=0
            Index into `outputs`, for partial dependence.

        Returns
        -------
        ax : matplotlib.axes.Axes
        """
        if column is not None and column not in self.partial_dependence:
            known = ", ".join(self.partial_dependence)
            raise ValueError(f"column={column!r} was not looked along; explain has {known}")
        ax = axes_of(ax)
        if column is None:
            return self._bars(ax)
        return self._curves(ax, self.partial_dependence[column], output)

    def _bars(self, ax):
        of, shown = self.importance, slice(None, 20)
        names = of.columns[shown][::-1]
        ax.barh(names, of.rise[shown][::-1], xerr=of.deviation[shown][::-1])
        moved = of.measure == "how far predictions move"
        ax.set_xlabel(of.measure if moved else f"rise of the {of.measure}")
        return ax

    def _curves(self, ax, of, output):
        at = list(range(len(of.values)))
        if all(value is None or isinstance(value, float) for value in of.values):
            # A missing value has no position on a numeric axis.
            at = [i for i in at if of.values[i] is not None]
            x = [of.values[i] for i in at]
        else:
            x = ["missing" if value is None else value for value in of.values]
        for curve in of.curves:
            ax.plot(x, curve[at, output], color="0.75", linewidth=0.75)
        ax.plot(x, of.mean[at, output], marker="o")
        ax.set_xlabel(of.column)
        name = self.outputs[output]
        ax.set_ylabel(name if self.outputs_are == "prediction" else f"{self.outputs_are} of {name}")
        return ax


class Explains:
    """Mixin of regressors and classifiers: `explain` and `shapes`."""

    def explain(
        self,
        X: Any,
        y: Any = None,
        *,
        columns: Sequence[str] | None = None,
        rows: int = 20,
        repeats: int = 5,
        sample: int = 5000,
        random_state: Any = 0,
    ) -> Explanation:
        """Explain the model on samples, preferably ones that the fit has not seen.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features), or Scan
            Samples.

        y : array-like of shape (n_samples,) or (n_samples, n_targets), default=None
            Target values. With None, importance measures how far predictions move; a `Scan` has
            targets of its own.

        columns : sequence of str, default=None
            Columns for partial dependence, by name or by index as text; None for the six most
            important.

        rows : int, default=20
            Number of samples with Shapley values, evenly spaced in X; 0 for none.

        repeats : int, default=5
            Number of permutations of each column, at least 1.

        sample : int, default=5000
            Maximum number of samples used, at least 1.

        random_state : int, RandomState instance or None, default=0
            Seed or generator of all random draws.

        Returns
        -------
        explanation : Explanation
        """
        given, y = self._looked_at(X, y)
        for name, value, least in (("rows", rows, 0), ("repeats", repeats, 1), ("sample", sample, 1)):
            if value < least:
                raise ValueError(f"{name}={value!r} is less than {least}")
        with heard(getattr(self, "verbose", False)) as progress:
            options = {
                "seed": seed_of(check_random_state(random_state)),
                "sample": int(sample),
                "repeats": int(repeats),
                "columns": None if columns is None else [str(name) for name in columns],
                "most_columns": 6,
                "rows": int(rows),
                "device": self.device,
                "memory": self.memory,
                "progress": progress,
            }
            return Explanation(_native.explain(self._current(), given, y, options))

    def shapes(
        self, X: Any, y: Any = None, *, sample: int = 5000, random_state: Any = 0
    ) -> Shapes:
        """Component functions of an additive model, computed exactly, with standard errors.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features), or Scan
            Samples over which the functions are centred. Standard errors need the training samples.

        y : array-like of shape (n_samples,) or (n_samples, n_targets), default=None
            Target values. With None, only a Gaussian process has standard errors; a `Scan` has
            targets of its own.

        sample : int, default=5000
            Maximum number of samples used, at least 1.

        random_state : int, RandomState instance or None, default=0
            Seed or generator that selects the samples.

        Returns
        -------
        shapes : Shapes
        """
        given, y = self._looked_at(X, y)
        if sample < 1:
            raise ValueError(f"sample={sample!r} is less than 1")
        with heard(getattr(self, "verbose", False)) as progress:
            options = {
                "seed": seed_of(check_random_state(random_state)),
                "sample": int(sample),
                "device": self.device,
                "memory": self.memory,
                "progress": progress,
            }
            return Shapes(_native.shapes(self._current(), given, y, options))

    def _looked_at(self, X, y):
        """Convert X and y to native inputs."""
        check_is_fitted(self)
        given = table(X._for(self) if isinstance(X, Scan) else checked(self, X))
        return given, None if y is None else self._explained(y)

    def _explained(self, y):
        """Validated targets, of shape (n_samples, n_targets)."""
        y = check_array(host(y, "y"), ensure_2d=False, dtype=np.float64, input_name="y")
        return np.ascontiguousarray(y.reshape(len(y), -1))
