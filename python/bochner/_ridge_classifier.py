"""Ridge classification on random features, with scikit-learn's interface."""

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
    """Approximate kernel ridge classification: one ridge regression per class, on random features.

    For each class it minimises, with y_i = 1 for samples of the class and -1 for others::

        sum_i w_i (y_i - z(x_i)'beta - b)^2 / sum_i w_i + penalty |beta|^2

    where z is the feature map and w_i are the sample weights. The prediction is the class with the
    largest value of z(x)'beta + b.

    The other parameters are described in `KernelRidgeRegressor`: kernel, gamma, n_components, map,
    sampling, form, standardize, linear, additive, fit_intercept, random_state, device, memory,
    verbose and importances.

    Parameters
    ----------
    penalty : float, array-like, 'auto' or None, default=None
        Penalty lambda of the squared coefficients, per sample, positive: scikit-learn's ``alpha``
        of KernelRidge is n_samples * penalty. None selects from 17 values between 1e-9 and 1e-1 by
        leave-one-out errors of at most 4,096 samples, ``'auto'`` by those of all samples; an array
        lists the candidates. If features are not stored, as with ``solver='cg'``, with the dual of
        many samples or with binning, None is 1e-6.

    folds : int, default=None
        Number of cross-validation folds, at least 2, that select ``penalty`` if that is an array or
        ``'auto'``. None for leave-one-out errors, which are exact and need no further fit.

    solver : {'auto', 'cholesky', 'dual', 'cg'}, default='auto'
        Solver of the normal equations, as in `KernelRidgeRegressor`.

    penalize_intercept : bool, default=False
        Whether the penalty includes b^2. Needs ``fit_intercept=True``, ``solver='auto'`` or
        ``'cholesky'``, and a map without binning.

    leaves : int, default=None
        Maximum number of samples in a leaf of a tree that partitions the samples; each leaf has a
        model of its own. None for one model without a tree.

    class_weight : dict, 'balanced' or None, default=None
        Weight of each class: a dict from label to weight, where missing labels have weight 1, or
        ``'balanced'`` for weights inversely proportional to the class frequencies. None for equal
        weights.

    probability : bool, default=False
        Whether to provide `predict_proba` by a second fit if the first cannot calibrate
        probabilities. The first calibrates a sigmoid, or a softmax for more than two classes, on
        leave-one-out scores, unless ``solver='cg'``, the map has binning or there are fewer than 20
        samples.

    half_life : float, default=None
        Exponential forgetting, in samples, as in `KernelRidgeRegressor`. At least 1; None for
        equal weights.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Class labels, in ascending order.

    penalty_ : float
        Penalty of the fitted model, given or chosen.

    feature_importances_ : ndarray of shape (n_features_in_,) or None
        Only with ``importances=True``: mean squared derivative of the predictions by each feature,
        after the scaling of ``standardize``, normalised to sum 1. None if the map has no gradient.

    n_features_in_ : int
        Number of features seen in fit.

    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of features seen in fit, if all are strings.

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
        """Fit the model.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Training samples.

        y : array-like of shape (n_samples,)
            Class labels.

        sample_weight : array-like of shape (n_samples,), default=None
            Sample weights: a sample of weight 2 counts as two equal samples.

        Returns
        -------
        self : object
        """
        return self._fit_labels(X, y, sample_weight)

    @_fit_context(prefer_skip_nested_validation=True)
    def partial_fit(
        self, X: Any, y: Any = None, classes: Any = None, sample_weight: Any = None
    ) -> Self:
        """Add samples to earlier ones; equivalent to one `fit` to all of them.

        ``penalty`` must be a number or None here, and ``class_weight`` None or a dict.

        Scales, bandwidth and map are estimated again from all samples as long as these hold at most
        four million values; afterwards, and once samples come from a `Scan`, they stay fixed. A
        warning then reports samples far outside the range that they were estimated from. `fit`
        keeps no sums: a call after `fit` starts from no samples, with a warning.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Samples to add.

        y : array-like of shape (n_samples,)
            Class labels.

        classes : array-like of shape (n_classes,), default=None
            All classes that occur in any call; required in the first call.

        sample_weight : array-like of shape (n_samples,), default=None
            Sample weights; None for equal weights.

        Returns
        -------
        self : object
        """
        rows, labels = self._part_of_labels(X, y, classes, sample_weight)
        self._add(*rows, **labels)
        return self

    def forget(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Remove samples that `partial_fit` added, as if they had never been added.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Samples to remove.

        y : array-like of shape (n_samples,)
            Class labels.

        sample_weight : array-like of shape (n_samples,), default=None
            Sample weights that were passed when the samples were added.

        Returns
        -------
        self : object
        """
        self._require_state()
        self._take_out(*self._rows_of_labels(X, y, sample_weight, reset=False))
        return self
