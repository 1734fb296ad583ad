"""Files that estimators take in the place of arrays, and that Python never reads."""

from __future__ import annotations

import os
from copy import copy
from typing import TYPE_CHECKING

from . import _native

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from os import PathLike

#: Files whose rows name the columns that are not zero, and no other.
_SPARSE = tuple(
    ending + packed
    for ending in (".libsvm", ".svm", ".svmlight")
    for packed in ("", ".gz", ".zst")
)
#: Bytes for chunks of rows unless ``memory`` says otherwise.
MEMORY = 128 << 20


def _listed(names):
    return [names] if isinstance(names, str) else list(names or ())


class Scan:
    """A file that is read chunk by chunk; `bochner.scan` makes it.

    Estimators take it in the place of X. Rows go from the file to the device; Python sees results.

    Attributes
    ----------
    n_features, n_targets : int
        Columns that are features, and columns that are targets.

    n_samples : int or None
        Rows; None for a .csv file, whose rows are counted when they are read.

    feature_names : list of str or None
        Names of the feature columns, where the file has some.

    Examples
    --------
    >>> import numpy as np, os, tempfile
    >>> import bochner
    >>> path = os.path.join(tempfile.mkdtemp(), "rows.npy")
    >>> np.save(path, np.linspace(0, 1, 60).reshape(20, 3))
    >>> bochner.scan(path)
    <20 rows of 3 features in rows.npy>
    """

    n_features: int
    n_targets: int
    n_samples: int | None
    feature_names: list[str] | None

    def __init__(
        self,
        path: str | PathLike[str],
        target: str | Sequence[str] | None = None,
        targets: str | PathLike[str] | None = None,
        columns: str | Sequence[str] | None = None,
        width: int | None = None,
        *,
        missing: str = "error",
        categorical: str | Sequence[str] | None = None,
        numeric: str | Sequence[str] | None = None,
        most_categories: int = 64,
        weight: str | None = None,
        decimal: str | None = None,
        thousands: str | None = None,
        date_format: str | None = None,
        na: str | Sequence[str] | None = None,
        all_columns: bool = False,
        dates: str | None = None,
        by_target: str | Sequence[str] | None = None,
        words: str | Sequence[str] | None = None,
        delimiter: str | None = None,
        header: str = "auto",
        skip_rows: int = 0,
        comment: str | None = None,
        encoding: str | None = None,
        drop_rows_without_target: bool = False,
    ) -> None:
        names = _listed(target)
        self._path = os.fspath(path)
        targets = None if targets is None else os.fspath(targets)
        columns = [columns] if isinstance(columns, str) else columns
        columns = None if columns is None else list(columns)
        named = (_listed(categorical), _listed(numeric))
        na = [na] if isinstance(na, str) else na
        na = None if na is None else list(na)
        texts = tuple(None if names is None else _listed(names) for names in (by_target, words))
        written = (decimal, thousands, date_format, na, all_columns, dates, texts)
        cells = (missing, named, most_categories, weight, *written)
        lines = (delimiter, header, skip_rows, comment, encoding, drop_rows_without_target)
        self._given = (self._path, names, targets, columns, False, width, cells, lines)
        self._open(_native.Scan(*self._given))

    def _open(self, native):
        self._native = native
        self.n_features = self._native.n_features
        self.n_targets = self._native.n_targets
        self.n_samples = self._native.n_samples
        self.feature_names = self._native.names

    def __repr__(self):
        rows = "rows" if self.n_samples is None else f"{self.n_samples} rows"
        return f"<{rows} of {self.n_features} features in {os.path.basename(self._path)}>"

    def _for(self, estimator):
        """The same file with the columns that an estimator was fitted to."""
        model = getattr(estimator, "_model", None)
        if model is not None and model.has_schema:
            other = copy(self)
            other._open(model.scan(self._native))
            return other
        path, target, targets, columns, _, width, *read = self._given
        names = getattr(estimator, "feature_names_in_", None)
        named = columns is None and names is not None and self.feature_names is not None
        wider = width is None and self._path.lower().endswith(_SPARSE)
        if not (named and self.feature_names != list(names)) and not (
            wider and self.n_features < estimator.n_features_in_
        ):
            return self
        other = copy(self)
        width = estimator.n_features_in_ if wider else width
        columns = list(names) if named else columns
        other._open(_native.Scan(path, target, targets, columns, named, width, *read))
        return other

    def chunks(self, memory: int | None = None) -> Iterator[_native.HeldRows]:
        """Rows in order, in chunks that Rust holds.

        Parameters
        ----------
        memory : int, default=None
            Bytes for a chunk and what becomes of it; None for 128 MiB.
        """
        rows = (MEMORY if memory is None else memory) // (32 * max(self.n_features, 1))
        return self._native.chunks(max(1, min(rows, 1 << 16)))


def scan(
    path: str | PathLike[str],
    target: str | Sequence[str] | None = None,
    targets: str | PathLike[str] | None = None,
    columns: str | Sequence[str] | None = None,
    width: int | None = None,
    *,
    missing: str = "error",
    categorical: str | Sequence[str] | None = None,
    numeric: str | Sequence[str] | None = None,
    most_categories: int = 64,
    weight: str | None = None,
    decimal: str | None = None,
    thousands: str | None = None,
    date_format: str | None = None,
    na: str | Sequence[str] | None = None,
    all_columns: bool = False,
    dates: str | None = None,
    by_target: str | Sequence[str] | None = None,
    words: str | Sequence[str] | None = None,
    delimiter: str | None = None,
    header: str = "auto",
    skip_rows: int = 0,
    comment: str | None = None,
    encoding: str | None = None,
    drop_rows_without_target: bool = False,
) -> Scan:
    """A file as rows for estimators, read when they need it and never held whole.

    Parameters
    ----------
    path : str or path
        A .npy, .npz (arrays X and y, or a matrix of ``scipy.sparse.save_npz``), .csv, .libsvm,
        .parquet or Arrow (.arrow, .feather) file, text perhaps compressed (.gz, .zst); a folder or a
        pattern of them. Learners take tables with columns of text, dates and truth values, too, and
        labels of text; maps take numbers alone.

    target : str or list of str, default=None
        Columns of a .csv, .parquet or Arrow file that are targets.

    targets : str or path, default=None
        The .npy file of the targets of a .npy file.

    columns : str or list of str, default=None
        Columns of such a file that are features, in this order; None for all that are no targets, and
        where rows are predicted for those of the fit, by their names.

    width : int, default=None
        Number of features of a .libsvm file; None for the largest index in it, and where rows are
        predicted for that of the fit.

    missing : {'error', 'mean', 'median', 'indicator'}, default='error'
        What stands for missing values of a table: its column's mean or median, or the mean with one
        more column that is 1 where the value is missing.

    categorical : str or list of str, default=None
        Columns of a table whose values are names of categories, though they look like numbers.

    numeric : str or list of str, default=None
        Columns of numbers that are numbers, though some begin with 0 and all have as many digits,
        as codes have, or one word stands at each, as in ``R12.50`` and ``No. 17``.

    most_categories : int, default=64
        A column of text becomes a column for each category up to so many, and beyond it this many
        by hashing.

    weight : str, default=None
        The column of a table that says what each row counts for.

    decimal : str, default=None
        What stands before the fraction of numbers in text; None for a point, or for a comma where
        all cells of a column allow that alone.

    thousands : str, default=None
        What stands between groups of three digits; None for what all cells of a column allow.

    date_format : str, default=None
        How dates are written that are not by ISO 8601, such as ``%d.%m.%Y``; None for what all
        cells of a column allow.

    na : str or list of str, default=None
        Texts that stand for no value, beside empty cells; in columns of types numbers and dates
        that are one of them. None for those that pandas takes for it (``NA``, ``N/A``, ``NaN``,
        ``None``, ``null`` and more), and ``?``, in files without types alone.

    all_columns : bool, default=False
        Whether columns are kept that only tell rows apart: a text of its own in each row, or a
        column called ``id``, ``index`` and the like that counts them. Also copies of columns
        before them.

    dates : {'day', 'parts'}, default=None
        What dates become: their day as a number, or also sine and cosine of their place in the year,
        the week and the day, where the column covers more than one. None for 'day', with a warning
        where 'parts' would tell more.

    by_target : str or list of str, default=None
        Columns whose texts become the mean of the target over their rows, smoothed and out of fold,
        and no others. None for those of more texts than ``most_categories``, where such means tell
        something of the target. With ``y`` or ``sample_weight`` beside the file there are none.

    words : str or list of str, default=None
        Columns whose texts become the words that they have, hashed, and no others. None for those of
        prose, of more texts than ``most_categories``, where words tell something of the target. With
        ``y`` or ``sample_weight`` beside the file there are none unless they are named.

    delimiter : str, default=None
        What separates the columns of a .csv; None for what a first line ``sep=;`` names, or what the
        line of the names has most of.

    header : {'auto', 'yes', 'no'}, default='auto'
        Whether the first row of a .csv holds the names of its columns; 'auto' takes a row of numbers
        alone for data.

    skip_rows : int, default=0
        Lines at the beginning of a .csv that are no rows: titles. Empty ones count.

    comment : str, default=None
        Lines of a .csv that begin with this are no rows, wherever they stand; with None lines of
        ``#`` in front of the names are none.

    encoding : str, default=None
        How the characters of a .csv are written, such as 'utf-16' or 'latin-1'; None for UTF-16
        where its first bytes say so and else for UTF-8, with text that is none in Windows-1252.

    drop_rows_without_target : bool, default=False
        Whether rows whose target is missing or not finite are left out; a warning says how many.

    Returns
    -------
    scan : Scan
        What ``fit``, ``predict``, ``transform``, ``score`` and the tests take in the place of X.
        ``fit`` takes the file's targets, or those given to it.

    Examples
    --------
    >>> import numpy as np, os, tempfile
    >>> import bochner
    >>> folder = tempfile.mkdtemp()
    >>> x = np.linspace(0, 5, 300)
    >>> table = os.path.join(folder, "wave.csv")
    >>> np.savetxt(table, np.stack([x, np.sin(x)], axis=1), "%.6f", ",", header="x,y", comments="")
    >>> rows = bochner.scan(table, target="y")
    >>> model = bochner.KernelRidgeRegressor(random_state=0).fit(rows)
    >>> model.predict(rows, output=os.path.join(folder, "predicted.npy"))
    300
    >>> predicted = np.load(os.path.join(folder, "predicted.npy"))
    >>> bool(abs(predicted - np.sin(x)).max() < 0.01)
    True
    """
    return Scan(
        path,
        target,
        targets,
        columns,
        width,
        missing=missing,
        categorical=categorical,
        numeric=numeric,
        most_categories=most_categories,
        weight=weight,
        decimal=decimal,
        thousands=thousands,
        date_format=date_format,
        na=na,
        all_columns=all_columns,
        dates=dates,
        by_target=by_target,
        words=words,
        delimiter=delimiter,
        header=header,
        skip_rows=skip_rows,
        comment=comment,
        encoding=encoding,
        drop_rows_without_target=drop_rows_without_target,
    )
