"""Files as inputs of estimators, read by the native module in chunks."""

from __future__ import annotations

import os
from copy import copy
from typing import TYPE_CHECKING

from . import _native

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from os import PathLike

#: Endings of sparse text formats, whose lines list the nonzero columns alone.
_SPARSE = tuple(
    ending + packed
    for ending in (".libsvm", ".svm", ".svmlight")
    for packed in ("", ".gz", ".zst")
)
#: Default memory for chunks of samples, in bytes.
MEMORY = 128 << 20


def _listed(names):
    return [names] if isinstance(names, str) else list(names or ())


class Scan:
    """File that is read in chunks, as returned by `bochner.scan`.

    Estimators accept it as X. Samples go from the file to the device without Python objects.

    Attributes
    ----------
    n_features, n_targets : int
        Number of feature columns, and of target columns.

    n_samples : int or None
        Number of samples; None for a .csv file, where it is known only after reading.

    feature_names : list of str or None
        Names of the feature columns, if the file has names.

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
        missing: str = "auto",
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
        """The same file, opened with the columns that an estimator was fitted to."""
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
        """Iterate over the samples in order, in chunks that stay in native memory.

        Parameters
        ----------
        memory : int, default=None
            Memory for a chunk and for the results computed from it, in bytes; None for 128 MiB.
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
    missing: str = "auto",
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
    """Open a file as input for estimators; it is read in chunks when needed.

    Parameters
    ----------
    path : str or path
        A .npy, .npz (arrays X and y, or a matrix from ``scipy.sparse.save_npz``), .csv, .libsvm,
        .parquet or Arrow (.arrow, .feather) file; text files may be compressed (.gz, .zst). Also a
        folder or a glob pattern of such files. Estimators with targets accept columns of text,
        dates and booleans, and text labels; feature maps accept numbers alone.

    target : str or list of str, default=None
        Target columns of a .csv, .parquet or Arrow file.

    targets : str or path, default=None
        A .npy file with the targets of a .npy file.

    columns : str or list of str, default=None
        Feature columns of such a file, in this order. None for all columns that are not targets,
        or, in predictions, for those of the fit, by name.

    width : int, default=None
        Number of features of a .libsvm file. None for the largest index in the file, or, in
        predictions, for the number of the fit.

    missing : {'auto', 'mean', 'median', 'indicator', 'error'}, default='auto'
        Imputation of missing values in a table: the mean or median of the column, or the mean and
        an additional column that is 1 if the value is missing. ``'auto'`` imputes means, adds the
        indicator if it is predictive of the target, and warns with the counts; ``'error'`` raises an
        error.

    categorical : str or list of str, default=None
        Columns of a table whose values are categories although they look like numbers.

    numeric : str or list of str, default=None
        Columns whose values are numbers although they look like codes: numbers of equal length with
        leading zeros, or numbers with one word, as in ``R12.50`` and ``No. 17``.

    most_categories : int, default=64
        Maximum number of categories of a text column that are one-hot encoded; a column with more
        is hashed to this many columns.

    weight : str, default=None
        Column of a table with sample weights.

    decimal : str, default=None
        Decimal separator of numbers in text. None for a point, or for a comma if all cells of a
        column can be parsed with it alone.

    thousands : str, default=None
        Thousands separator of numbers in text. None for one with which all cells of a column can be
        parsed.

    date_format : str, default=None
        Format of dates other than ISO 8601, such as ``%d.%m.%Y``. None for a format with which all
        cells of a column can be parsed.

    na : str or list of str, default=None
        Texts for missing values, in addition to empty cells; in typed columns, also numbers and
        dates that equal one of them. None for those that pandas recognises (``NA``, ``N/A``,
        ``NaN``, ``None``, ``null`` and more) and ``?``, in untyped files alone.

    all_columns : bool, default=False
        Whether to keep columns that only identify rows (text that differs in every row, or a column
        such as ``id`` or ``index`` that counts the rows), and copies of earlier columns.

    dates : {'day', 'parts'}, default=None
        Encoding of dates: the day as a number, or in addition sine and cosine of the position in
        the year, the week and the day, if the column spans more than one of them. None for
        ``'day'``, with a warning if ``'parts'`` would be more informative.

    by_target : str or list of str, default=None
        Text columns for target encoding: the smoothed, out-of-fold mean of the target over rows
        with the same text. None for columns with more than ``most_categories`` texts for which this
        is predictive. Not available if ``y`` or ``sample_weight`` is passed to `fit`.

    words : str or list of str, default=None
        Text columns encoded as hashed bags of words. None for columns of prose with more than
        ``most_categories`` texts whose words are predictive; for none, if ``y`` or
        ``sample_weight`` is passed to `fit`.

    delimiter : str, default=None
        Column separator of a .csv file. None to take it from a first line such as ``sep=;``, or to
        use the most frequent one in the header.

    header : {'auto', 'yes', 'no'}, default='auto'
        Whether the first row of a .csv file has the column names; ``'auto'`` treats a row that has
        numbers alone as data.

    skip_rows : int, default=0
        Number of lines to skip at the beginning of a .csv file, including empty ones.

    comment : str, default=None
        Prefix of comment lines in a .csv file. None to skip lines with ``#`` before the header
        alone.

    encoding : str, default=None
        Encoding of a .csv file, such as ``'utf-16'`` or ``'latin-1'``. None for UTF-16 if the byte
        order mark says so, otherwise UTF-8, with invalid text decoded as Windows-1252.

    drop_rows_without_target : bool, default=False
        Whether to drop rows whose target is missing or not finite, with a warning that has their
        number.

    Returns
    -------
    scan : Scan
        Accepted as X by ``fit``, ``predict``, ``transform``, ``score`` and the hypothesis tests.
        ``fit`` uses the targets of the file, or those passed to it.

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
