"""Ridge regression and classification on random features, with scikit-learn's interface.

Each draws a feature map z with z(x)'z(y) close to k(x, y), streams the rows through it, and keeps
sums. What all learners share is described in `KernelRidgeRegressor`.
"""

from numbers import Integral

import numpy as np
from sklearn.base import _fit_context
from sklearn.utils import column_or_1d
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.multiclass import _check_partial_fit_first_call
from sklearn.utils.validation import validate_data

from ._arrays import FLOATS
from ._bases import Classifier, Regressor, numbers_of, require_targets
from ._learning import POSITIVE, SHARED, scan_weights, weights_of
from ._partial import PartialRidge
from ._scan import Scan, seen

__all__ = ["KernelRidgeClassifier", "KernelRidgeRegressor"]


class KernelRidgeRegressor(PartialRidge, Regressor):
    """Kernel ridge regression: least squares with a penalty, on random features.

    Parameters
    ----------
    kernel : str, default='gaussian'
        ``'gaussian'`` (``'rbf'``), ``'laplacian'``, ``'exponential'``, ``'matern32'``,
        ``'matern52'``, ``'matern:NU'``, ``'cauchy'``, ``'rational-quadratic:ALPHA'``,
        ``'arc-cosine:ORDER'``, ``'mixture:...'`` or ``'product:...'``, as the command line has them.

    gamma : float, 'scale' or 'median', default='scale'
        Parameter of the kernel's own formula, as in `bochner.RBFSampler`: ``'scale'`` is
        1 / (n_features * X.var()), ``'median'`` makes the median distance between up to 2,000 rows the
        lengthscale, both of the columns as ``standardize`` leaves them.

    n_components : int, default=1000
        Number of features, which the paired form rounds up to an even one; grids with binning.

    map : str, default='fourier'
        ``'fourier'``, ``'fastfood'``, ``'sorf'``, ``'nystrom'``, ``'binning'``, ``'arc-cosine'``, or
        several side by side, such as ``'0.5*fourier+0.5*binning'``.

    sampling : str, default='monte-carlo'
        How frequencies are drawn: ``'monte-carlo'``, ``'orthogonal'``, ``'halton'``, ``'sobol'``,
        ``'lattice'`` or ``'digital-net'``.

    form : {'paired', 'phase'}, default='paired'
        A cosine and a sine for each frequency, or one cosine with a random offset.

    standardize : {'auto', 'yes', 'no'}, default='auto'
        Whether columns are divided by their standard deviations; ``'auto'`` does so where they have
        mixed scales.

    penalty : float, array-like or 'auto', default=1e-6
        Of squares, per sample: scikit-learn's ``alpha`` of KernelRidge is n_samples * penalty. Of
        several the best by held-out errors is taken, and of ``'auto'`` the best of a grid.

    folds : int, default=None
        Folds by which a penalty is chosen; None for leave-one-out, which is exact and takes no
        further fit.

    solver : {'auto', 'cholesky', 'cg'}, default='auto'
        A factor of the normal equations, or conjugate gradients, which store no Gram matrix.

    fit_intercept : bool, default=True
        Whether an intercept is fitted, which is never penalised.

    random_state : int, RandomState instance or None, default=None
        The generator that seeds all draws.

    device : str, default='auto'
        ``'auto'`` (the best GPU, else the CPU), ``'cpu'``, ``'gpu'``, or part of an adapter's name.

    memory : int, default=None
        Bytes for chunks of rows; None for 128 MiB.

    verbose : bool, default=False
        Whether fit says how far it is: by tqdm where that is installed, else in a line on stderr.

    Attributes
    ----------
    penalty_ : float
        The penalty of the fit.

    n_features_in_ : int
        Number of features seen in fit.

    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, if all are strings.

    Examples
    --------
    >>> import numpy as np
    >>> from bochner import KernelRidgeRegressor
    >>> X = np.linspace(0, 5, 200)[:, None]
    >>> model = KernelRidgeRegressor(random_state=0).fit(X, np.sin(X[:, 0]))
    >>> bool(abs(model.predict(X) - np.sin(X[:, 0])).max() < 1e-2)
    True
    """

    _learner = "ridge"
    _own = ("penalty", "folds", "solver",)
    _parameter_constraints = {
        **SHARED,
        "penalty": [POSITIVE, "array-like", StrOptions({"auto"})],
        "folds": [Interval(Integral, 2, None, closed="left"), None],
        "solver": [StrOptions({"auto", "cholesky", "cg"})],
    }

    def __init__(
        self,
        *,
        kernel="gaussian",
        gamma="scale",
        n_components=1000,
        map="fourier",
        sampling="monte-carlo",
        form="paired",
        standardize="auto",
        penalty=1e-6,
        folds=None,
        solver="auto",
        fit_intercept=True,
        random_state=None,
        device="auto",
        memory=None,
        verbose=False,
    ):
        self.kernel = kernel
        self.gamma = gamma
        self.n_components = n_components
        self.map = map
        self.sampling = sampling
        self.form = form
        self.standardize = standardize
        self.penalty = penalty
        self.folds = folds
        self.solver = solver
        self.fit_intercept = fit_intercept
        self.random_state = random_state
        self.device = device
        self.memory = memory
        self.verbose = verbose

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X, y=None, sample_weight=None):
        """Fit to rows.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features), or Scan
            Rows.

        y : array-like of shape (n_samples,) or (n_samples, n_targets), default=None
            Targets; None for those of the file of a `Scan`.

        sample_weight : array-like of shape (n_samples,), default=None
            What each row counts: a row of weight 2 is one that is there twice.

        Returns
        -------
        self : object
        """
        return self._fit_numbers(X, y, sample_weight)

    @_fit_context(prefer_skip_nested_validation=True)
    def partial_fit(self, X, y=None, sample_weight=None):
        """Add rows to those of earlier calls; the result is that of one `fit` to all of them.

        The first rows decide scales, bandwidth and map, which then stay: give ``gamma`` as a number,
        or first rows that are like all. ``penalty`` is a number here. `fit` keeps no
        sums: after it this begins anew, and warns.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows.

        y : array-like of shape (n_samples,) or (n_samples, n_targets)
            Targets.

        sample_weight : array-like of shape (n_samples,), default=None
            What each row counts.

        Returns
        -------
        self : object
        """
        first = self._is_first()
        self._add(*self._validated(X, y, sample_weight, reset=first))
        return self

    def forget(self, X, y=None, sample_weight=None):
        """Take rows out again that `partial_fit` added, as if they had never been there.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows.

        y : array-like of shape (n_samples,) or (n_samples, n_targets)
            Targets.

        sample_weight : array-like of shape (n_samples,), default=None
            What each row counted.

        Returns
        -------
        self : object
        """
        self._require_state()
        self._take_out(*self._validated(X, y, sample_weight, reset=False))
        return self


class KernelRidgeClassifier(PartialRidge, Classifier):
    """One kernel ridge regression against -1 and 1 for each class; the largest wins.

    Beside its own it takes the parameters of `KernelRidgeRegressor`: kernel, gamma, n_components,
    map, sampling, form, standardize, fit_intercept, random_state, device and memory.

    Parameters
    ----------
    penalty : float, array-like or 'auto', default=1e-6
        Of squares, per sample: scikit-learn's ``alpha`` of KernelRidge is n_samples * penalty. Of
        several the best by held-out errors is taken, and of ``'auto'`` the best of a grid.

    folds : int, default=None
        Folds by which a penalty is chosen; None for leave-one-out, which is exact and takes no
        further fit.

    solver : {'auto', 'cholesky', 'cg'}, default='auto'
        A factor of the normal equations, or conjugate gradients, which store no Gram matrix.

    class_weight : dict, 'balanced' or None, default=None
        What a row of each class counts; ``'balanced'`` makes all classes count the same.

    probability : bool, default=False
        Whether there is `predict_proba`, by a sigmoid, or of more classes a softmax, on scores of a
        fifth of the rows, from a second fit to the others.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels, in order.

    penalty_ : float
        The penalty of the fit.

    n_features_in_ : int
        Number of features seen in fit.

    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, if all are strings.

    Examples
    --------
    >>> from bochner import KernelRidgeClassifier
    >>> from sklearn.datasets import load_digits
    >>> X, y = load_digits(return_X_y=True)
    >>> model = KernelRidgeClassifier(n_components=500, random_state=0).fit(X[:1000], y[:1000])
    >>> bool(model.score(X[1000:], y[1000:]) > 0.9)
    True
    """

    _learner = "ridge"
    _own = ("penalty", "folds", "solver", "probability",)
    _parameter_constraints = {
        **SHARED,
        "penalty": [POSITIVE, "array-like", StrOptions({"auto"})],
        "folds": [Interval(Integral, 2, None, closed="left"), None],
        "solver": [StrOptions({"auto", "cholesky", "cg"})],
        "class_weight": [dict, StrOptions({"balanced"}), None],
        "probability": ["boolean"],
    }

    def __init__(
        self,
        *,
        kernel="gaussian",
        gamma="scale",
        n_components=1000,
        map="fourier",
        sampling="monte-carlo",
        form="paired",
        standardize="auto",
        penalty=1e-6,
        folds=None,
        solver="auto",
        class_weight=None,
        probability=False,
        fit_intercept=True,
        random_state=None,
        device="auto",
        memory=None,
        verbose=False,
    ):
        self.kernel = kernel
        self.gamma = gamma
        self.n_components = n_components
        self.map = map
        self.sampling = sampling
        self.form = form
        self.standardize = standardize
        self.penalty = penalty
        self.folds = folds
        self.solver = solver
        self.class_weight = class_weight
        self.probability = probability
        self.fit_intercept = fit_intercept
        self.random_state = random_state
        self.device = device
        self.memory = memory
        self.verbose = verbose

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X, y=None, sample_weight=None):
        """Fit to rows.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows.

        y : array-like of shape (n_samples,)
            Labels.

        sample_weight : array-like of shape (n_samples,), default=None
            What each row counts: a row of weight 2 is one that is there twice.

        Returns
        -------
        self : object
        """
        return self._fit_labels(X, y, sample_weight)

    @_fit_context(prefer_skip_nested_validation=True)
    def partial_fit(self, X, y=None, classes=None, sample_weight=None):
        """Add rows to those of earlier calls; the result is that of one `fit` to all of them.

        The first rows decide scales, bandwidth and map, which then stay: give ``gamma`` as a number,
        or first rows that are like all. ``penalty`` is a number here, ``class_weight`` None or a
        dict. `fit` keeps no sums: after it this begins anew, and warns.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows.

        y : array-like of shape (n_samples,)
            Labels.

        classes : array-like of shape (n_classes,), default=None
            All labels there will be; the first call needs them.

        sample_weight : array-like of shape (n_samples,), default=None
            What each row counts.

        Returns
        -------
        self : object
        """
        first = self._is_first()
        if first and classes is not None:
            self.__dict__.pop("classes_", None)
        _check_partial_fit_first_call(self, classes)
        X, y, weights = self._rows_of_labels(X, y, sample_weight, reset=first)
        numbers, names = numbers_of(self.classes_)
        self._add(X, y, weights, classes=numbers.tolist(), names=names)
        return self

    def forget(self, X, y=None, sample_weight=None):
        """Take rows out again that `partial_fit` added, as if they had never been there.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows.

        y : array-like of shape (n_samples,)
            Labels.

        sample_weight : array-like of shape (n_samples,), default=None
            What each row counted.

        Returns
        -------
        self : object
        """
        self._require_state()
        self._take_out(*self._rows_of_labels(X, y, sample_weight, reset=False))
        return self

    def _rows_of_labels(self, X, y, sample_weight, reset):
        """Rows, the numbers of their labels of shape (n_samples, 1), weights or None."""
        if isinstance(X, Scan):
            if y is not None or self.class_weight is not None:
                raise ValueError("partial_fit takes labels from the file of a scan, all equally")
            require_targets(X)
            if reset:
                seen(self, X)
            return X, None, scan_weights(sample_weight)
        X, y = validate_data(self, X, y, accept_sparse="csr", dtype=FLOATS, reset=reset)
        y = column_or_1d(y, warn=True)
        unknown = ~np.isin(y, self.classes_)
        if unknown.any():
            raise ValueError(
                f"y has the label {y[unknown][0]!r}, which is none of the classes of the first call: "
                f"{list(self.classes_)}"
            )
        codes = np.searchsorted(self.classes_, y)
        weights = self._weights_of_labels(codes, sample_weight, X)
        numbers, _ = numbers_of(self.classes_)
        return X, numbers[codes][:, None], weights

    def _weights_of_labels(self, codes, sample_weight, X):
        """What rows of these classes, by number, count; None if all count the same."""
        weights = None if sample_weight is None else weights_of(sample_weight, X)
        if isinstance(self.class_weight, str):
            raise ValueError(
                "class_weight='balanced' needs all rows at once; give a dict to partial_fit"
            )
        if self.class_weight is None:
            return weights
        factor = self._class_factors(codes, weights)[codes]
        return factor if weights is None else weights * factor
