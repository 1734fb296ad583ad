"""Ridge regression on random features, with scikit-learn's interface.

A feature map z is drawn with z(x)'z(y) close to k(x, y). One pass streams the samples through the
map and sums the normal equations. Parameters that all estimators share are described in
`KernelRidgeRegressor`.
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
    """Approximate kernel ridge regression: ridge regression on random features of a kernel.

    It minimises, for each target, over coefficients beta and the intercept b::

        sum_i w_i (y_i - z(x_i)'beta - b)^2 / sum_i w_i + penalty |beta|^2

    where z is the feature map, with z(x)'z(y) close to the kernel k(x, y), and w_i are the sample
    weights. The solution approximates that of `ExactKernelRidgeRegressor`.

    Parameters
    ----------
    kernel : str, default='gaussian'
        ``'gaussian'`` (``'rbf'``), ``'laplacian'``, ``'exponential'``, ``'matern32'``,
        ``'matern52'``, ``'matern:NU'``, ``'cauchy'``, ``'rational-quadratic:ALPHA'``,
        ``'arc-cosine:ORDER'``, ``'mixture:...'`` or ``'product:...'``, with the names that the
        command line uses.

    gamma : float, array-like of shape (n_features,), 'chosen', 'scale' or 'median', default='chosen'
        Parameter of the kernel's formula, as in `RBFSampler`, positive. ``'chosen'`` minimises
        exact leave-one-out errors on at most 512 samples, together with ``standardize`` if that is
        ``'auto'``; fits that cannot choose, such as distributed ones, use ``'scale'``. ``'scale'``
        is 1 / (n_features * X.var()). ``'median'`` sets the lengthscale to the median distance
        between up to 2,000 samples. Both rules see the features after the scaling of
        ``standardize``. With an array the kernel depends on ``sum_j gamma_j (x_j - y_j)^2``, with
        features in their own units unless ``standardize='yes'``.

    n_components : int, default=1000
        Number of random features D; the number of grids if ``map='binning'``. ``form='paired'``
        rounds it up to an even number.

    map : str, default='fourier'
        Feature map: ``'fourier'``, ``'fastfood'``, ``'sorf'``, ``'nystrom'``, ``'binning'``,
        ``'arc-cosine'``, or a concatenation such as ``'0.5*fourier+0.5*binning'``.

    sampling : str, default='auto'
        Method that draws the frequencies: ``'monte-carlo'``, ``'orthogonal'``, ``'halton'``,
        ``'sobol'``, ``'lattice'``, ``'digital-net'``, or ``'antithetic'`` for arc-cosine features.
        ``'auto'`` is ``'lattice'`` for density estimation with up to 4 features, otherwise
        ``'monte-carlo'``.

    form : {'paired', 'phase'}, default='paired'
        A cosine and a sine for each frequency, or one cosine with a random offset.

    standardize : {'auto', 'yes', 'no', 'range', 'robust', 'rank'}, default='auto'
        Scaling of the input features. ``'yes'`` divides by standard deviations, ``'range'`` by
        ranges. ``'robust'`` centres at the median, divides by the interquartile range and squashes
        outliers smoothly; ``'rank'`` replaces values by the normal scores of their ranks; both
        leave binary features as they are. ``'auto'`` divides by standard deviations if features
        have different scales, and does not scale if ``gamma`` is numeric.

    linear : {'auto', 'yes', 'no'}, default='auto'
        Whether to append the scaled input features to the random features, which adds a linear
        kernel. ``'auto'`` appends them if that lowers the leave-one-out error; it is ``'no'`` if
        ``gamma`` is a number or another rule than ``'chosen'``.

    additive : bool or 'pairs', default=False
        Whether to fit a sum of functions of single features (a generalised additive model), each
        with a small map of its own. ``'pairs'`` adds functions of selected pairs of features. The
        ``n_components`` features are divided among these functions.

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
        ``'cholesky'`` factors the normal equations and ``'dual'`` the n_samples x n_samples matrix
        of the products of all samples' features, which is cheaper with fewer samples than features.
        ``'cg'`` uses conjugate gradients, which store no Gram matrix. ``'auto'`` is ``'dual'`` with
        fewer samples than features if memory allows, otherwise ``'cholesky'``; with binning it is
        ``'cg'`` unless a factorisation is cheaper.

    target_scale : {'auto', 'as-is', 'log', 'rank'}, default='auto'
        Transformation of the targets before the fit: none, the natural logarithm (one positive
        target), or the normal scores of their ranks. Predictions are means on the original scale
        (smearing estimate, Duan 1983). ``'auto'`` transforms long-tailed targets if that clearly
        lowers the leave-one-out error; it is ``'as-is'`` in `partial_fit`, and if ``gamma`` is a
        number or another rule than ``'chosen'``. Distributed fits take ``'as-is'`` alone.

    half_life : float, default=None
        Exponential forgetting, in samples, at least 1: sample i of n has the weight
        ``2 ** (-(n - 1 - i) / half_life)`` times its ``sample_weight``. Samples that `partial_fit`
        adds make the earlier ones older. None for equal weights.

    fit_intercept : bool, default=True
        Whether to fit an intercept.

    penalize_intercept : bool, default=False
        Whether the penalty includes b^2. Needs ``fit_intercept=True``, ``solver='auto'`` or
        ``'cholesky'``, and a map without binning.

    leaves : int, default=None
        Maximum number of samples in a leaf of a tree that partitions the samples; each leaf has a
        model of its own. None for one model without a tree.

    random_state : int, RandomState instance or None, default=None
        Seed or generator of all random draws.

    device : str, default='auto'
        Device for the computation: ``'auto'`` (the best GPU, or the CPU without one), ``'cpu'``,
        ``'gpu'``, or a part of an adapter's name.

    memory : int, default=None
        Memory for chunks of samples, in bytes; None for 128 MiB.

    verbose : bool, default=False
        Whether to show progress, with tqdm if that is installed, otherwise in one line on stderr.

    importances : bool, default=False
        Whether `fit` computes ``feature_importances_``, in one more pass over the samples.

    calibrate : float, default=None
        Fraction of the samples, between 0 and 1, that is held out of the fit at random, by
        ``random_state``, to calibrate `predict_interval` and ``predict(X, interval=0.9)`` (split
        conformal prediction). None holds out none; `calibrate_on` takes other samples.

    Attributes
    ----------
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
        """Fit the model.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features), or Scan
            Training samples.

        y : array-like of shape (n_samples,) or (n_samples, n_targets), default=None
            Target values; None to read them from the file, if X is a `Scan`.

        sample_weight : array-like of shape (n_samples,), default=None
            Sample weights: a sample of weight 2 counts as two equal samples.

        Returns
        -------
        self : object
        """
        return self._fit_numbers(X, y, sample_weight)

    @_fit_context(prefer_skip_nested_validation=True)
    def partial_fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Add samples to earlier ones; equivalent to one `fit` to all of them.

        Targets are not transformed (``target_scale='as-is'``). ``penalty`` must be a number, or
        None, which selects it on some of the samples that were added.

        Scales, bandwidth and map are estimated again from all samples as long as these hold at most
        four million values; afterwards, and once samples come from a `Scan`, they stay fixed. A
        warning then reports samples far outside the range that they were estimated from. `fit`
        keeps no sums: a call after `fit` starts from no samples, with a warning.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Samples to add.

        y : array-like of shape (n_samples,) or (n_samples, n_targets)
            Target values.

        sample_weight : array-like of shape (n_samples,), default=None
            Sample weights; None for equal weights.

        Returns
        -------
        self : object
        """
        first = self._is_first()
        self._add(*self._validated(X, y, sample_weight, reset=first))
        return self

    def forget(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Remove samples that `partial_fit` added, as if they had never been added.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Samples to remove.

        y : array-like of shape (n_samples,) or (n_samples, n_targets)
            Target values.

        sample_weight : array-like of shape (n_samples,), default=None
            Sample weights that were passed when the samples were added.

        Returns
        -------
        self : object
        """
        self._require_state()
        self._take_out(*self._validated(X, y, sample_weight, reset=False))
        return self
