"""Kernel density estimation on random features."""

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
    """Approximate kernel density estimation on random features, for a few input features.

    The density ``f(x) = sum_i w_i k(x, x_i) / (I sum_i w_i)``, with the integral I of the kernel,
    is estimated as the product of z(x) with the mean feature vector, in one pass that stores no
    samples. If ``multiples`` lists several bandwidths, the fit minimises over them the
    least-squares cross-validation score, here for equal weights::

        integral f(x)^2 dx - 2/n sum_i f_without_i(x_i)

    plus an estimate of the same integral of the noise that random features add. This noise has the
    standard deviation ``noise_deviation_`` and either sign: smaller densities are not reliable, and
    `score_samples` returns at least its logarithm. With up to 4 input features, ``sampling='auto'``
    is a lattice with less noise. A prediction takes map_components operations per sample instead of
    a sum over the training samples.

    The other parameters are described in `KernelRidgeRegressor`: kernel, map, sampling, form,
    standardize, random_state, device, memory and verbose.

    Parameters
    ----------
    gamma : float, array-like of shape (n_features,), 'scott', 'silverman', 'scale' or 'median', \
default='scott'
        Parameter of the kernel's formula, positive; scikit-learn's ``bandwidth`` h of a Gaussian is
        gamma = 1 / (2 h^2). The rules of Scott and Silverman give each input feature its own
        bandwidth.

    map_components : int, default=4096
        Number of features of the map, D.

    multiples : array-like, 'auto', 'none' or None, default=None
        Multiples of the bandwidth among which least-squares cross-validation selects. ``'auto'`` is
        the range from 1/16 to 2, and ``'none'`` keeps the bandwidth. None is ``'auto'`` with
        ``gamma='scott'`` and one input feature, where Scott's rule oversmooths all but normal data,
        otherwise ``'none'``. `partial_fit` keeps the bandwidth.

    Attributes
    ----------
    noise_deviation_ : float
        Standard deviation of the noise that the random features add to densities. Only with maps of
        cosines (``'fourier'``, ``'fastfood'``, ``'sorf'``).

    noise_share_ : float
        Estimate of the excess of the integral of the positive part of the density over 1, which is
        due to the noise; above 0.1 the fit warns. Only with Fourier maps, and after `fit`.

    bandwidth_multiple_ : float
        Selected multiple of the bandwidth; 1 if the bandwidth was kept.

    n_features_in_ : int
        Number of features seen in fit.

    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of features seen in fit, if all are strings.

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
        """Fit the model.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features), or Scan
            Training samples.

        y : Ignored
            Ignored; present for API consistency.

        sample_weight : array-like of shape (n_samples,), default=None
            Sample weights; None for equal weights.

        Returns
        -------
        self : object
        """
        self._learn_rows(X, sample_weight)
        return self

    @available_if(lambda self: self.multiples is None)
    @_fit_context(prefer_skip_nested_validation=True)
    def partial_fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Add samples to earlier ones; equivalent to one `fit` to all of them.

        Only available with ``multiples=None``. Parameters are fixed at the first call. Scales,
        bandwidth and map are estimated again from all samples as long as these hold at most four
        million values, and stay fixed afterwards; a warning then reports samples far outside the
        range that they were estimated from. `fit` keeps no sums: a call after `fit` starts from no
        samples, with a warning.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features), or Scan
            Samples to add.

        y : Ignored
            Ignored; present for API consistency.

        sample_weight : array-like of shape (n_samples,), default=None
            Sample weights; None for equal weights.

        Returns
        -------
        self : object
        """
        self._add_rows(X, sample_weight)
        return self

    @of_scans
    def score_samples(self, X: Any, *, output: Any = None) -> Any:
        """Log-density of each sample.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        density : ndarray of shape (n_samples,)
        """
        return self._scores(X)[:, 0]

    def score(self, X: Any, y: Any = None) -> float:
        """Total log-likelihood of samples: the sum of `score_samples`.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features), or Scan
            Samples.

        y : Ignored
            Ignored; present for API consistency.

        Returns
        -------
        score : float
        """
        if isinstance(X, Scan):
            return float(sum(part.sum() for part in self.score_samples(X)))
        return float(np.sum(self.score_samples(X)))
