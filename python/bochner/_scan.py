"""Files that estimators take in the place of arrays, and that Python never reads."""

import os
from copy import copy
from functools import wraps

import numpy as np
from sklearn.utils.validation import check_is_fitted

from . import _native
from ._arrays import FLOATS
from ._dlpack import validated

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

    def __init__(
        self,
        path,
        target=None,
        targets=None,
        columns=None,
        width=None,
        *,
        missing="error",
        categorical=None,
        numeric=None,
        most_categories=64,
        weight=None,
        decimal=None,
        thousands=None,
        date_format=None,
        na=None,
        all_columns=False,
        dates=None,
        by_target=None,
        words=None,
        delimiter=None,
        header="auto",
        skip_rows=0,
        comment=None,
        encoding=None,
        drop_rows_without_target=False,
    ):
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

    def chunks(self, memory=None):
        """Rows in order, in chunks that Rust holds.

        Parameters
        ----------
        memory : int, default=None
            Bytes for a chunk and what becomes of it; None for 128 MiB.
        """
        rows = (MEMORY if memory is None else memory) // (32 * max(self.n_features, 1))
        return self._native.chunks(max(1, min(rows, 1 << 16)))


def scan(
    path,
    target=None,
    targets=None,
    columns=None,
    width=None,
    *,
    missing="error",
    categorical=None,
    numeric=None,
    most_categories=64,
    weight=None,
    decimal=None,
    thousands=None,
    date_format=None,
    na=None,
    all_columns=False,
    dates=None,
    by_target=None,
    words=None,
    delimiter=None,
    header="auto",
    skip_rows=0,
    comment=None,
    encoding=None,
    drop_rows_without_target=False,
):
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
        Texts that stand for no value in files without types, beside empty cells; None for those
        that pandas takes for it (``NA``, ``N/A``, ``NaN``, ``None``, ``null`` and more), and ``?``.

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


def checked(estimator, X):
    """Rows of a fitted estimator, validated; those of a scan were when they were read."""
    if isinstance(X, _native.HeldRows) or _plainly_valid(estimator, X):
        return X
    return validated(estimator, X, accept_sparse="csr", dtype=FLOATS, reset=False)


def fitted_rows(estimator, X):
    """As `checked`, for a map that has to be fitted."""
    if "_map" in vars(estimator) and _plainly_valid(estimator, X):
        return X
    check_is_fitted(estimator)
    return checked(estimator, X)


#: Values that are looked at here, before scikit-learn's validation, which takes as long as features
#: of a row.
FEW_VALUES = 1 << 14


def _plainly_valid(estimator, X):
    """Whether scikit-learn's validation would hand back this X without a word.

    What is not plain, faults among it, is for that validation to say.
    """
    return (
        type(X) is np.ndarray
        and X.ndim == 2
        and X.dtype in FLOATS
        and 0 < X.size <= FEW_VALUES
        and X.shape[1] == getattr(estimator, "n_features_in_", None)
        and not hasattr(estimator, "feature_names_in_")
        # Neither is so of NaN.
        and X.min() > -np.inf
        and X.max() < np.inf
    )


def seen(estimator, X):
    """Notes the columns of a scan that an estimator is fitted to."""
    estimator.n_features_in_ = X.n_features
    estimator.__dict__.pop("feature_names_in_", None)
    if X.feature_names is not None:
        estimator.feature_names_in_ = np.array(X.feature_names, dtype=object)


def of_scans(method):
    """A method of rows that takes a scan, too: it yields chunks then, or writes them to ``output``."""

    @wraps(method)
    def either(self, X, *args, output=None, **options):
        if not isinstance(X, Scan):
            if output is not None:
                raise TypeError("output= is for a bochner.scan; of an array the result is returned")
            return method(self, X, *args, **options)
        check_is_fitted(self)
        X = X._for(self)
        if X.n_features != self.n_features_in_:
            raise ValueError(
                f"X has {X.n_features} features, but {type(self).__name__} is expecting "
                f"{self.n_features_in_} features as input"
            )
        chunks = (method(self, rows, *args, **options) for rows in X.chunks(self.memory))
        return chunks if output is None else write(chunks, output, method.__name__)

    return either


def write(chunks, output, name):
    """Write arrays of rows to a .npy or .csv file; returns the number of rows."""
    writer, count = None, 0
    for rows in chunks:
        if isinstance(rows, tuple):
            raise TypeError("a file holds one array; ask for one")
        rows = np.asarray(rows)
        if rows.dtype.kind not in "biuf":
            raise TypeError("a file holds numbers, and these are names; leave output= out")
        flat = rows.ndim == 1
        rows = np.ascontiguousarray(rows.reshape(len(rows), -1), dtype=np.float64)
        if writer is None:
            names = [name] if flat else [f"{name}{i}" for i in range(rows.shape[1])]
            writer = _native.Writer(os.fspath(output), names, flat)
        writer.write(rows)
        count += len(rows)
    writer.finish()
    return count
