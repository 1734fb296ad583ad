"""The density of rows, by random features."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from sklearn.utils._param_validation import StrOptions

from ._learning import RowsLearner
from ._parameters import COUNT, POSITIVE, ROWS, takes
from ._partial import Growing
from ._rows import of_scans
from ._scan import Scan
from ._typing import DensityMixin, _fit_context, available_if

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from typing_extensions import Self

    from ._typing import Gamma

__all__ = ["KernelDensity"]


@takes
class KernelDensity(DensityMixin, Growing, RowsLearner):
    """Kernel density estimation, by random features: one pass, and no rows are kept.

    The density ``sum_i w_i k(x, x_i) / (I sum_i w_i)``, I the integral of the kernel, is the mean
    feature times z(x); a row costs map_components operations, where scikit-learn's costs a sum over
    the rows of the fit. A mean of D independent cosines is off by ``noise_deviation_`` everywhere, of
    either sign: densities below that say nothing, and logarithms are taken of no less. In up to 4
    columns ``sampling='auto'`` takes a lattice, which is off by less. This is for a handful of
    columns. Beside its own it takes the parameters of `KernelRidgeRegressor`: kernel, map, sampling,
    form, standardize, random_state, device, memory and verbose.

    Parameters
    ----------
    gamma : float, array-like of shape (n_features,), 'scott', 'silverman', 'scale' or 'median', \
default='scott'
        Parameter of the kernel's own formula; scikit-learn's ``bandwidth`` h of a Gaussian is
        gamma = 1 / (2 h^2). The rules of Scott and Silverman give each column its own bandwidth.

    map_components : int, default=4096
        Number of features of the map.

    multiples : array-like, 'auto', 'none' or None, default=None
        Multiples of the bandwidth among which least-squares cross-validation chooses; ``'auto'`` takes
        a sixteenth to twice, and ``'none'`` the bandwidth as it is. None is ``'auto'`` of
        ``gamma='scott'`` in one column, where that rule blurs all but one Gaussian cloud, and else
        ``'none'``; `partial_fit` takes the bandwidth as it is.

    Attributes
    ----------
    noise_deviation_ : float
        How far densities are off by the features alone; only of maps of cosines.

    noise_share_ : float
        By how much the density integrates to more than 1, for the noise of the features: a warning
        says so from a tenth on. Only of Fourier maps, and of `fit`.

    bandwidth_multiple_ : float
        The multiple that was chosen; 1 where the bandwidth is as it is.

    n_features_in_ : int
        Number of features seen in fit.

    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, if all are strings.

    References
    ----------
    E. Parzen, "On estimation of a probability density function and mode", Annals of Mathematical
    Statistics 33, 1962; D. W. Scott, "Multivariate density estimation", Wiley, 1992.

    Examples
    --------
    >>> import numpy as np
    >>> from bochner import KernelDensity
    >>> X = np.random.RandomState(0).normal(size=(2000, 1))
    >>> density = np.exp(KernelDensity(random_state=0).fit(X).score_samples([[0.0], [1.0]]))
    >>> bool(abs(density - [0.399, 0.242]).max() < 0.05)
    True
    """

    gamma: Gamma = "scott"
    map_components: int = 4096
    multiples: Sequence[float] | str | None = None

    _learner = "density"
    _own = ("multiples",)
    _parameter_constraints = {
        **ROWS,
        "gamma": [StrOptions({"scott", "silverman", "scale", "median"}), POSITIVE, "array-like"],
        "map_components": [COUNT],
        "multiples": [StrOptions({"auto", "none"}), "array-like", None],
    }

    def _takes_weights(self):
        return True

    def _options(self, X):
        options = super()._options(X)
        if self.multiples is not None and not isinstance(self.multiples, str):
            options["multiples"] = [float(multiple) for multiple in self.multiples]
        return options

    def _facts(self) -> None:
        super()._facts()
        facts = self._model.facts()
        self.bandwidth_multiple_: float = facts.get("bandwidth_multiple", 1.0)
        for name in ("noise_deviation_", "noise_share_"):
            self.__dict__.pop(name, None)
        if "noise_deviation" in facts:
            self.noise_deviation_: float = facts["noise_deviation"]
        if "noise_share" in facts:
            self.noise_share_: float = facts["noise_share"]

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Fit to rows.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features), or Scan
            Rows.

        y : Ignored
            For pipelines.

        sample_weight : array-like of shape (n_samples,), default=None
            What each row counts.

        Returns
        -------
        self : object
        """
        self._learn_rows(X, sample_weight)
        return self

    @available_if(lambda self: self.multiples is None)
    @_fit_context(prefer_skip_nested_validation=True)
    def partial_fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Add rows to those of earlier calls; the result is that of one `fit` to all of them.

        Parameters are those of the first call. Scales, bandwidth and map follow the rows up to four
        million values; then they stay, and a warning says if later rows lie far outside. Not with ``multiples``. `fit`
        keeps no sums: after it this begins anew, and warns.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features), or Scan
            Rows.

        y : Ignored
            For pipelines.

        sample_weight : array-like of shape (n_samples,), default=None
            What each row counts.

        Returns
        -------
        self : object
        """
        self._add_rows(X, sample_weight)
        return self

    @of_scans
    def score_samples(self, X: Any, *, output: Any = None) -> Any:
        """Logarithms of the density at rows.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        density : ndarray of shape (n_samples,)
        """
        return self._scores(X)[:, 0]

    def score(self, X: Any, y: Any = None) -> float:
        """The log-likelihood of rows: the sum of `score_samples`.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features), or Scan
            Rows.

        y : Ignored
            For pipelines.

        Returns
        -------
        score : float
        """
        if isinstance(X, Scan):
            return float(sum(part.sum() for part in self.score_samples(X)))
        return float(np.sum(self.score_samples(X)))
