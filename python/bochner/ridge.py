"""Ridge regression on random features, with scikit-learn's interface.

It draws a feature map z with z(x)'z(y) close to k(x, y), streams the rows through it, and keeps sums.
What all learners share is described in `KernelRidgeRegressor`.
"""

from __future__ import annotations

from numbers import Integral
from typing import TYPE_CHECKING

from sklearn.utils._param_validation import Interval, StrOptions

from ._bases import Regressor
from ._parameters import (
    ADDITIVE,
    CALIBRATE,
    COUNT,
    HALF_LIFE,
    LINEAR,
    POSITIVE,
    SHARED,
    TARGET_SCALE,
)
from ._partial import PartialRidge
from ._ridge_classifier import KernelRidgeClassifier
from ._typing import _fit_context

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from typing_extensions import Self

    from ._typing import Gamma, Random

__all__ = ["KernelRidgeClassifier", "KernelRidgeRegressor"]


class KernelRidgeRegressor(PartialRidge, Regressor):
    """Kernel ridge regression: least squares with a penalty, on random features.

    Parameters
    ----------
    kernel : str, default='gaussian'
        ``'gaussian'`` (``'rbf'``), ``'laplacian'``, ``'exponential'``, ``'matern32'``,
        ``'matern52'``, ``'matern:NU'``, ``'cauchy'``, ``'rational-quadratic:ALPHA'``,
        ``'arc-cosine:ORDER'``, ``'mixture:...'`` or ``'product:...'``, as the command line has them.

    gamma : float, array-like of shape (n_features,), 'chosen', 'scale' or 'median', default='chosen'
        Parameter of the kernel's own formula, as in `bochner.RBFSampler`: ``'chosen'`` is what exact
        leave-one-out errors of at most 512 rows choose, with ``standardize`` where that is
        ``'auto'``, and ``'scale'`` where nothing can be chosen by, as in distributed fits. ``'scale'`` is
        1 / (n_features * X.var()), ``'median'`` makes the median distance between up to 2,000 rows the
        lengthscale, both of the columns as ``standardize`` leaves them. One for each column compares
        rows by ``sum_j gamma_j (x_j - y_j)^2``, of columns in their own units unless ``standardize``
        is ``'yes'``.

    n_components : int, default=1000
        Number of features, which the paired form rounds up to an even one; grids with binning.

    map : str, default='fourier'
        ``'fourier'``, ``'fastfood'``, ``'sorf'``, ``'nystrom'``, ``'binning'``, ``'arc-cosine'``, or
        several side by side, such as ``'0.5*fourier+0.5*binning'``.

    sampling : str, default='auto'
        How frequencies are drawn: ``'monte-carlo'``, ``'orthogonal'``, ``'halton'``, ``'sobol'``,
        ``'lattice'``, ``'digital-net'``, or for arc-cosine features ``'antithetic'``. ``'auto'`` takes
        ``'lattice'`` for densities of up to 4 columns, and else ``'monte-carlo'``.

    form : {'paired', 'phase'}, default='paired'
        A cosine and a sine for each frequency, or one cosine with a random offset.

    standardize : {'auto', 'yes', 'no', 'range', 'robust', 'rank'}, default='auto'
        Whether columns are divided by their standard deviations, or by their ranges; ``'auto'`` does
        the former where they have mixed scales, unless ``gamma`` is given in numbers, which are taken for those of the columns as
        they are. ``'robust'`` goes by median and quartiles and pulls in what is far from there,
        ``'rank'`` takes normal scores of ranks; both leave columns of two values.

    linear : {'auto', 'yes', 'no'}, default='auto'
        Whether the columns themselves stand beside the features; ``'auto'`` has them where rows left
        out are predicted better so, and not where ``gamma`` or its rule is given.

    additive : bool or 'pairs', default=False
        Whether a small map looks at each column: a sum of functions of single columns (a generalised
        additive model). ``'pairs'`` adds functions of pairs of columns, of those that tell more
        together. The features are shared between the parts.

    penalty : float, array-like, 'auto' or None, default=None
        Of squares, per sample: scikit-learn's ``alpha`` of KernelRidge is n_samples * penalty. None
        takes the best of a grid by leave-one-out errors of at most 4096 rows, ``'auto'`` by those
        of all rows, and of several the best is taken. It is 1e-6 for None where no features are
        stored: for ``solver='cg'`` and ``'dual'``, and maps with binning.

    folds : int, default=None
        Folds by which several penalties or ``'auto'`` are judged; None for leave-one-out, which is
        exact and takes no further fit.

    solver : {'auto', 'cholesky', 'dual', 'cg'}, default='auto'
        A factor of the normal equations, or of the kernel of all rows by their features (which
        ``'auto'`` takes for fewer rows than features), or conjugate gradients, which store no Gram
        matrix.

    target_scale : {'auto', 'as-is', 'log', 'rank'}, default='auto'
        On what scale targets are fitted: as they are, by their logarithms, of one column above 0, or
        by the normal scores of their ranks. Predictions are brought back as means (Duan 1983).
        ``'auto'`` takes another scale where tails are long and it predicts rows left out clearly
        better, and targets as they are where ``gamma`` or its rule is given and in
        ``partial_fit``. Distributed fits have no other.

    half_life : float, default=None
        Rows after which a row counts for half of what the newest does, which is the last: row i of n
        counts for ``2 ** (-(n - 1 - i) / half_life)`` times its ``sample_weight``. Rows that
        `partial_fit` adds make those before older. None forgets nothing.

    fit_intercept : bool, default=True
        Whether an intercept is fitted.

    penalize_intercept : bool, default=False
        Whether the intercept has the penalty of the coefficients, as if it were that of a feature
        that is 1. It is solved by the normal equations: with ``solver`` ``'auto'`` or
        ``'cholesky'``, and of any map but binning.

    leaves : int, default=None
        The most rows of a leaf, where rows are parted by a tree with a model in each leaf; None parts
        none.

    random_state : int, RandomState instance or None, default=None
        The generator that seeds all draws.

    device : str, default='auto'
        ``'auto'`` (the best GPU, else the CPU), ``'cpu'``, ``'gpu'``, or part of an adapter's name.

    memory : int, default=None
        Bytes for chunks of rows; None for 128 MiB.

    verbose : bool, default=False
        Whether fit says how far it is: by tqdm where that is installed, else in a line on stderr.

    importances : bool, default=False
        Whether fit finds ``feature_importances_``, for which it reads the rows once more.

    calibrate : float, default=None
        The share of the rows, chosen by ``random_state``, that the fit does not see and intervals are
        calibrated on: `predict_interval` and ``predict(X, interval=0.9)`` then hold what they
        promise. None keeps none back; `calibrate_on` takes rows of one's own.

    Attributes
    ----------
    penalty_ : float
        The penalty of the fit.

    feature_importances_ : ndarray of shape (n_features_in_,) or None
        With ``importances``: the share of each column, as ``standardize`` leaves it, in the squared
        gradient of the fit. None where the map has no gradient.

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

    penalty_: float

    _learner = "ridge"
    _own = (
        "linear", "additive", "penalty", "folds", "solver", "target_scale", "penalize_intercept",
        "leaves", "half_life",
    )
    _parameter_constraints = {
        **SHARED,
        "calibrate": CALIBRATE,
        "linear": LINEAR,
        "additive": ADDITIVE,
        "penalty": [POSITIVE, "array-like", StrOptions({"auto"}), None],
        "folds": [Interval(Integral, 2, None, closed="left"), None],
        "solver": [StrOptions({"auto", "cholesky", "dual", "cg"})],
        "target_scale": TARGET_SCALE,
        "penalize_intercept": ["boolean"],
        "leaves": [COUNT, None],
        "half_life": HALF_LIFE,
    }

    def __init__(
        self,
        *,
        kernel: str = "gaussian",
        gamma: Gamma = "chosen",
        n_components: int = 1000,
        map: str = "fourier",
        sampling: str = "auto",
        form: str = "paired",
        standardize: str = "auto",
        linear: str = "auto",
        additive: bool | str = False,
        penalty: float | Sequence[float] | str | None = None,
        folds: int | None = None,
        solver: str = "auto",
        target_scale: str = "auto",
        half_life: float | None = None,
        fit_intercept: bool = True,
        penalize_intercept: bool = False,
        leaves: int | None = None,
        random_state: Random = None,
        device: str = "auto",
        memory: int | None = None,
        verbose: bool | int = False,
        importances: bool = False,
        calibrate: float | None = None,
    ) -> None:
        self.kernel = kernel
        self.gamma = gamma
        self.n_components = n_components
        self.map = map
        self.sampling = sampling
        self.form = form
        self.standardize = standardize
        self.linear = linear
        self.additive = additive
        self.penalty = penalty
        self.folds = folds
        self.solver = solver
        self.target_scale = target_scale
        self.half_life = half_life
        self.fit_intercept = fit_intercept
        self.penalize_intercept = penalize_intercept
        self.leaves = leaves
        self.random_state = random_state
        self.device = device
        self.memory = memory
        self.verbose = verbose
        self.importances = importances
        self.calibrate = calibrate

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
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
    def partial_fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Add rows to those of earlier calls; the result is that of one `fit` to all of them, of
        targets as they are.

        Scales, bandwidth and map follow the rows up to four million values; then they stay, and a
        warning says if later rows lie far outside. Rows of a `Scan` leave them as they are.
        ``penalty`` is a number or None here, which chooses by some of the rows added. `fit` keeps no
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

    def forget(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
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
