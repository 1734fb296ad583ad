"""The functions that an additive model is the sum of."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from typing import Any

    from numpy.typing import NDArray


def axes_of(ax):
    """Axes of their own where none are given."""
    if ax is not None:
        return ax
    try:
        from matplotlib import pyplot
    except ImportError as error:
        raise ImportError("plot draws by matplotlib; install it, or give axes") from error
    return pyplot.subplots()[1]


@dataclass(frozen=True)
class Shape:
    """The function of one column or of two, with mean 0 over the rows.

    Attributes
    ----------
    columns : tuple of str
        Names of the columns.

    values : list of list
        Of each column what it is set to: numbers, names of categories, dates as text, None where it
        is missing.

    mean : ndarray of shape (n_values, n_outputs) or (n_values, n_values_2, n_outputs)
        The function there.

    band : ndarray of the same shape, or None
        Its standard error; None of learners of which none is known.

    deviation : ndarray of shape (n_outputs,)
        The standard deviation of the function over the rows.
    """

    columns: tuple[str, ...]
    values: list[list[Any]]
    mean: NDArray[np.float64]
    band: NDArray[np.float64] | None
    deviation: NDArray[np.float64]

    def _along(self, c):
        """Where the values of column c lie, at which places, and names for those without an axis."""
        values = self.values[c]
        at = list(range(len(values)))
        if all(value is None or isinstance(value, float) for value in values):
            # Where it is missing has no place along numbers.
            at = [i for i in at if values[i] is not None]
            return [values[i] for i in at], at, None
        names = ["missing" if value is None else value for value in values]
        return at, at, names


class Shapes:
    """The functions of an additive model, whose sum with the intercept it predicts: `shapes` of a
    regressor or a classifier gives them.

    Attributes
    ----------
    shapes : list of Shape
        The functions of one column and of two, that which varies most first.

    intercept : ndarray of shape (n_outputs,)
        What stands beside them: the mean over the rows.

    others : list of tuple of str
        Columns of functions that are not drawn: of more columns than two, or without an axis.

    noise : ndarray of shape (n_outputs,) or None
        The variance of the noise that bands go by.

    rows : int
        Rows that means are over.

    outputs : list of str
        Targets, or classes: of two the second alone.

    outputs_are : str
        ``'prediction'``, ``'logarithm of the prediction'``, ``'normal score of the prediction'`` or
        ``'score'``: what the functions add up to.

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
        """The function of a column, by its name, or of two, by a tuple."""
        wanted = {columns} if isinstance(columns, str) else set(columns)
        for of in self.shapes:
            if set(of.columns) == wanted:
                return of
        known = ", ".join(" x ".join(of.columns) for of in self.shapes)
        raise KeyError(f"no function of {columns!r}; there are {known}")

    def plot(
        self, ax: Any = None, *, column: str | tuple[str, ...] | None = None, output: int = 0
    ) -> Any:
        """Draw a function by matplotlib: a curve or dots with two standard errors to each side, or
        a picture of two columns.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, default=None
            Where; None for axes of its own.

        column : str or tuple of str, default=None
            Which function; None for that which varies most.

        output : int, default=0
            Which of `outputs` is drawn.

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
