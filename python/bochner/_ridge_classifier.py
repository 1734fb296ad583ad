"""Ridge regression against the classes, with scikit-learn's interface."""

from __future__ import annotations

from numbers import Integral
from typing import TYPE_CHECKING

from sklearn.utils._param_validation import Interval, StrOptions

from ._bases import Classifier
from ._parameters import ADDITIVE, COUNT, HALF_LIFE, LINEAR, POSITIVE, SHARED
from ._partial import PartialRidge
from ._typing import _fit_context

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from typing_extensions import Self

    from ._typing import ClassWeight, Gamma, Random


class KernelRidgeClassifier(PartialRidge, Classifier):
    """One kernel ridge regression against -1 and 1 for each class; the largest wins.

    Beside its own it takes the parameters of `KernelRidgeRegressor`: kernel, gamma, n_components,
    map, sampling, form, standardize, fit_intercept, random_state, device and memory.

    Parameters
    ----------
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

    penalize_intercept : bool, default=False
        Whether the intercept has the penalty of the coefficients, as if it were that of a feature
        that is 1. It is solved by the normal equations: with ``solver`` ``'auto'`` or
        ``'cholesky'``, and of any map but binning.

    leaves : int, default=None
        The most rows of a leaf, where rows are parted by a tree with a model in each leaf; None parts
        none.

    class_weight : dict, 'balanced' or None, default=None
        What a row of each class counts; ``'balanced'`` makes all classes count the same.

    probability : bool, default=False
        Whether there is `predict_proba` by a second fit where the fit itself has none. It has some by
        the scores of rows that it leaves out in turn: a sigmoid, or of more classes a softmax. None
        has a fit of fewer than 20 rows, by ``solver='cg'`` or of a map with binning.

    half_life : float, default=None
        Rows after which a row counts for half of what the newest does, the last, as in
        `KernelRidgeRegressor`. None forgets nothing.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels, in order.

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
    >>> from bochner import KernelRidgeClassifier
    >>> from sklearn.datasets import load_digits
    >>> X, y = load_digits(return_X_y=True)
    >>> model = KernelRidgeClassifier(n_components=500, random_state=0).fit(X[:1000], y[:1000])
    >>> bool(model.score(X[1000:], y[1000:]) > 0.9)
    True
    """

    penalty_: float

    _learner = "ridge"
    _own = (
        "linear", "additive", "penalty", "folds", "solver", "penalize_intercept", "leaves",
        "probability", "half_life",
    )
    _parameter_constraints = {
        **SHARED,
        "linear": LINEAR,
        "additive": ADDITIVE,
        "penalty": [POSITIVE, "array-like", StrOptions({"auto"}), None],
        "folds": [Interval(Integral, 2, None, closed="left"), None],
        "solver": [StrOptions({"auto", "cholesky", "dual", "cg"})],
        "penalize_intercept": ["boolean"],
        "leaves": [COUNT, None],
        "class_weight": [dict, StrOptions({"balanced"}), None],
        "probability": ["boolean"],
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
        class_weight: ClassWeight = None,
        probability: bool = False,
        half_life: float | None = None,
        fit_intercept: bool = True,
        penalize_intercept: bool = False,
        leaves: int | None = None,
        random_state: Random = None,
        device: str = "auto",
        memory: int | None = None,
        verbose: bool | int = False,
        importances: bool = False,
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
        self.class_weight = class_weight
        self.probability = probability
        self.half_life = half_life
        self.fit_intercept = fit_intercept
        self.penalize_intercept = penalize_intercept
        self.leaves = leaves
        self.random_state = random_state
        self.device = device
        self.memory = memory
        self.verbose = verbose
        self.importances = importances

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
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
    def partial_fit(
        self, X: Any, y: Any = None, classes: Any = None, sample_weight: Any = None
    ) -> Self:
        """Add rows to those of earlier calls; the result is that of one `fit` to all of them.

        Scales, bandwidth and map follow the rows up to four million values; then they stay, and a
        warning says if later rows lie far outside. Rows of a `Scan` leave them as they are.
        ``penalty`` is a number or None here, ``class_weight`` None or a dict. `fit` keeps no sums:
        after it this begins anew, and warns.

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
        rows, labels = self._part_of_labels(X, y, classes, sample_weight)
        self._add(*rows, **labels)
        return self

    def forget(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
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
