"""Component functions of additive models."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from typing import Any

    from numpy.typing import NDArray


def axes_of(ax):
    """The given matplotlib axes, or new ones for None."""
    if ax is not None:
        return ax
    try:
        from matplotlib import pyplot
    except ImportError as error:
        raise ImportError("plot draws by matplotlib; install it, or give axes") from error
    return pyplot.subplots()[1]


@dataclass(frozen=True)
class Shape:
    """Function of one or two columns, with mean 0 over the samples.

    Attributes
    ----------
    columns : tuple of str
        Names of the columns.

    values : list of list
        For each column, its grid of values: numbers, names of categories, dates as text, None for
        missing.

    mean : ndarray of shape (n_values, n_outputs) or (n_values, n_values_2, n_outputs)
        Values of the function on the grid.

    band : ndarray of the same shape, or None
        Standard errors of these; None for models without standard errors.

    deviation : ndarray of shape (n_outputs,)
        Standard deviation of the function over the samples.
    """

    columns: tuple[str, ...]
    values: list[list[Any]]
    mean: NDArray[np.float64]
    band: NDArray[np.float64] | None
    deviation: NDArray[np.float64]

    def _along(self, c):
        """Axis positions for column c, indices into ``values[c]``, and tick labels or None."""
        values = self.values[c]
        at = list(range(len(values)))
        if all(value is None or isinstance(value, float) for value in values):
            # A missing value has no position on a numeric axis.
            at = [i for i in at if values[i] is not None]
            return [values[i] for i in at], at, None
        names = ["missing" if value is None else value for value in values]
        return at, at, names


class Shapes:
    """Component functions of an additive model, as returned by `shapes` of an estimator.

    The sum of all functions and the intercept is the output of the model.

    Attributes
    ----------
    shapes : list of Shape
        Functions of one or two columns, in descending order of their standard deviation.

    intercept : ndarray of shape (n_outputs,)
        Mean output over the samples.

    others : list of tuple of str
        Columns of the functions that are not in `shapes`: those of more than two columns, or of
        columns that cannot be shown on an axis.

    noise : ndarray of shape (n_outputs,) or None
        Noise variance behind the standard errors.

    rows : int
        Number of samples over which functions are centred.

    outputs : list of str
        Names of the targets or classes; with two classes the second alone.

    outputs_are : str
        Kind of the output that the functions add up to: ``'prediction'``, ``'logarithm of the
        prediction'``, ``'normal score of the prediction'`` or ``'score'``.

    Examples
    --------
    >>> import bochner, numpy as np
    >>> X = np.random.RandomState(0).uniform(-2, 2, size=(300, 2))
    >>> y = np.sin(X[:, 0]) + X[:, 1] ** 2
    >>> model = bochner.KernelRidgeRegressor(n_components=80, additive=True, device="cpu").fit(X, y)
    >>> [shape.columns for shape in model.shapes(X, y).shapes]
    [('1',), ('0',)]
    """

    def __init__(self, found: dict[str, Any]) -> None:
        names = found["names"]

        def named(columns):
            return tuple(names[j] for j in columns)

        self.shapes = [Shape(**{**of, "columns": named(of["columns"])}) for of in found["shapes"]]
        self.intercept: NDArray[np.float64] = found["intercept"]
        self.others: list[tuple[str, ...]] = [named(columns) for columns in found["others"]]
        self.noise: NDArray[np.float64] | None = found["noise"]
        self.rows: int = found["rows"]
        self.outputs: list[str] = found["outputs"]
        self.outputs_are: str = found["outputs_are"]

    def __repr__(self) -> str:
        most = ", ".join(" x ".join(of.columns) for of in self.shapes[:5])
        return f"Shapes({len(self.shapes)} functions, of {most})"

    def __getitem__(self, columns: str | tuple[str, ...]) -> Shape:
        """The function of a column (by name) or of two columns (by a tuple of names)."""
        wanted = {columns} if isinstance(columns, str) else set(columns)
        for of in self.shapes:
            if set(of.columns) == wanted:
                return of
        known = ", ".join(" x ".join(of.columns) for of in self.shapes)
        raise KeyError(f"no function of {columns!r}; there are {known}")

    def plot(
        self, ax: Any = None, *, column: str | tuple[str, ...] | None = None, output: int = 0
    ) -> Any:
        """Plot a function with matplotlib.

        A function of one column is a curve, or dots for categories, with bands of two standard
        errors. A function of two columns is a heat map.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, default=None
            Axes to draw on; None for new axes.

        column : str or tuple of str, default=None
            Column, or two columns, of the function; None for the first of `shapes`.

        output : int, default=0
            Index into `outputs`.

        Returns
        -------
        ax : matplotlib.axes.Axes
        """
        of = self.shapes[0] if column is None else self[column]
        ax = axes_of(ax)
        x, at, names = of._along(0)
        ax.set_xlabel(of.columns[0])
        if len(of.columns) == 2:
            y, at_2, names_2 = of._along(1)
            drawn = of.mean[np.ix_(at, at_2)][..., output]
            largest = np.abs(drawn).max()
            ax.pcolormesh(x, y, drawn.T, shading="nearest", cmap="coolwarm", vmin=-largest, vmax=largest)
            ax.set_ylabel(of.columns[1])
            if names_2 is not None:
                ax.set_yticks(y, names_2)
            if names is not None:
                ax.set_xticks(x, names)
            return ax
        mean = of.mean[at, output]
        off = None if of.band is None else 2 * of.band[at, output]
        if names is not None:
            ax.errorbar(names, mean, yerr=off, fmt="o")
        else:
            if off is not None:
                ax.fill_between(x, mean - off, mean + off, alpha=0.25)
            ax.plot(x, mean)
        name = self.outputs[output]
        what = name if self.outputs_are == "prediction" else f"{self.outputs_are} of {name}"
        ax.set_ylabel(f"added to {what}")
        return ax
