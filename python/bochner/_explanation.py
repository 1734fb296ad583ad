"""What a fitted model goes by: importance of columns, partial dependence, Shapley values."""

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
    """How much columns matter, the most important first.

    Attributes
    ----------
    columns : list of str
        Names, or numbers as text.

    rise : ndarray of shape (n_columns,)
        By how much the error rises when the column is exchanged between rows, mean over repeats.

    deviation : ndarray of shape (n_columns,)
        The standard deviation over repeats.

    gradient : ndarray of shape (n_columns,) or None
        The share of the column in the mean squared gradient; None of maps without gradients.

    measure : str
        What the error is, or ``'how far predictions move'`` without targets.

    error : float
        That of the rows as they are.

    rows : int
        Rows that were exchanged.
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
    """How outputs go along one column.

    Attributes
    ----------
    column : str
        Its name.

    values : list
        What it is set to: numbers, names of categories, dates as text, None where it is missing.

    mean : ndarray of shape (n_values, n_outputs)
        The mean output of the rows with it set so.

    curves : ndarray of shape (n_curves, n_values, n_outputs)
        Outputs of some of the rows.

    curve_rows : ndarray of shape (n_curves,)
        Their places in the data.

    rows : int
        Rows that the mean is over.
    """

    column: str
    values: list[Any]
    mean: NDArray[np.float64]
    curves: NDArray[np.float64]
    curve_rows: NDArray[np.uint64]
    rows: int


@dataclass(frozen=True)
class Shapley:
    """What columns add to the outputs of rows.

    Attributes
    ----------
    columns : list of str
        Names, in the order of the data.

    rows : ndarray of shape (n_rows,)
        Places of the explained rows in the data.

    values : ndarray of shape (n_rows, n_columns, n_outputs)
        What each column adds. Those of a row sum up to its output less ``base``.

    errors : ndarray of shape (n_rows, n_columns, n_outputs)
        Standard errors by the orders that were drawn; 0 where values are exact.

    outputs : ndarray of shape (n_rows, n_outputs)
        Outputs of the rows.

    base : ndarray of shape (n_outputs,)
        The mean output of the background.

    background : int
        Rows of the background.

    exact : bool
        Whether all subsets of columns were gone through, in the place of sampled orders: of sums of
        functions of at most six columns each, and of models of at most six.
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
    """What a fitted model goes by on some rows; `explain` of a regressor or a classifier gives one.

    Attributes
    ----------
    importance : Importance
        How much columns matter.

    partial_dependence : dict of str to PartialDependence
        How outputs go along the columns that were looked along, by their names.

    shapley : Shapley or None
        What columns add to the outputs of single rows.

    outputs : list of str
        Targets, or classes: of two the second alone.

    outputs_are : str
        ``'prediction'``, ``'probability'`` or ``'score'``.

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
        """Draw it by matplotlib: the importance of columns, or outputs along one of them.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, default=None
            Where; None for axes of its own.

        column : str, default=None
            A column of `partial_dependence`; None for the importance of all.

        output : int, default=0
            Which of `outputs` is drawn along a column.

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
            # Where it is missing has no place along numbers.
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
    """Learners of targets, whose models can be explained."""

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
        """What the model goes by on rows, best those that the fit did not see.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features), or Scan
            Samples.

        y : array-like of shape (n_samples,) or (n_samples, n_targets), default=None
            Targets. Without any, columns matter by how far predictions move. A scan has its own.

        columns : sequence of str, default=None
            Columns to look along, by names or by numbers as text; None for the six that matter most.

        rows : int, default=20
            Rows with Shapley values, evenly spread; 0 for none.

        repeats : int, default=5
            How often each column is exchanged between rows.

        sample : int, default=5000
            Rows that are looked at, at most.

        random_state : int, RandomState instance or None, default=0
            What all sampling follows from.

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
        """The functions that an additive model is the sum of, exactly, with their standard errors.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features), or Scan
            Rows that functions have mean 0 over; for standard errors those of the fit.

        y : array-like of shape (n_samples,) or (n_samples, n_targets), default=None
            Targets. Without any only a Gaussian process has standard errors. A scan has its own.

        sample : int, default=5000
            Rows that are looked at, at most.

        random_state : int, RandomState instance or None, default=0
            By what they are sampled.

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
        """Rows and targets as the native half takes them."""
        check_is_fitted(self)
        given = table(X._for(self) if isinstance(X, Scan) else checked(self, X))
        return given, None if y is None else self._explained(y)

    def _explained(self, y):
        """Targets of shape (n_samples, n_targets) as the native model has them."""
        y = check_array(host(y, "y"), ensure_2d=False, dtype=np.float64, input_name="y")
        return np.ascontiguousarray(y.reshape(len(y), -1))
