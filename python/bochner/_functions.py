"""Samples of functions from the posterior of a Gaussian process, with gradients."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from . import _native
from ._arrays import seed_of, table
from ._rows import checked
from ._scan import Scan

if TYPE_CHECKING:
    from typing import Any

    from numpy.typing import NDArray

    from ._typing import Random

#: Default number of random features of the prior, for Matheron's rule.
PRIOR_FEATURES = 2000


class Drawing:
    """Mixin of Gaussian process regression: samples from the posterior."""

    def sample_y(self, X: Any, n_samples: int = 1, random_state: Random = 0) -> Any:
        """Sample function values from the posterior, without noise.

        The number of features limits the variability of the functions: with few features, samples
        are too certain away from the training samples.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_rows, n_features)
            Samples.

        n_samples : int, default=1
            Number of functions.

        random_state : int, RandomState instance or None, default=0
            Seed or generator. Equal seeds give the same functions for any X.

        Returns
        -------
        y : ndarray of shape (n_rows, n_samples) or (n_rows, n_targets, n_samples)
            Function values.
        """
        functions = self.posterior_functions(n_samples, random_state)
        values = [function(X) for function in functions]
        return values[0] if self._one_target else np.stack(values, axis=1)

    def posterior_functions(
        self,
        n_samples: int = 1,
        random_state: Random = 0,
        *,
        given: tuple[Any, Any] | None = None,
        prior_features: int = PRIOR_FEATURES,
    ) -> list[DrawnFunctions]:
        """Sample functions from the posterior of each target.

        Parameters
        ----------
        n_samples, random_state
            As in `sample_y`.

        given : tuple of X and y, default=None
            Samples and their targets, usually those of the fit, for Matheron's rule [1]_: a
            function is drawn from the prior and corrected with the exact kernel of these samples,
            with lengthscales, noise and signal of the fit. Functions then follow the exact
            posterior near the samples, and return to the prior away from them. It stores ``8 *
            n_rows**2`` bytes within ``memory``, and needs ``map='fourier'``. None samples the
            coefficients of the features.

        prior_features : int, default=2000
            Number of random features of the prior if ``given`` is set, an even number.

        Returns
        -------
        functions : list of DrawnFunctions
            One object per target. Calling it with X returns values of shape (n_rows, n_samples),
            and ``gradient`` returns gradients.

        References
        ----------
        .. [1] Wilson, Borovitskiy, Terenin, Mostowsky and Deisenroth, "Efficiently sampling
           functions from Gaussian process posteriors", ICML 2020.
        """
        check_is_fitted(self)
        for name, count in (("n_samples", n_samples), ("prior_features", prior_features)):
            if not (isinstance(count, (int, np.integer)) and count > 0):
                raise ValueError(f"{name} is {count!r}; it must be a whole number above 0")
        seed = seed_of(check_random_state(random_state))
        model = self._current()
        targets = range(1 if self._one_target else model.n_outputs)
        if given is None:
            drawn = [_native.sampled(model, k, n_samples, seed) for k in targets]
        else:
            X, y = self._rows_given(given)
            where = (self.device, self.memory)
            drawn = [
                _native.sampled_given(
                    model,
                    k,
                    n_samples,
                    seed,
                    table(X),
                    np.ascontiguousarray(y[:, [k]]),
                    prior_features,
                    *where,
                )
                for k in targets
            ]
        return [DrawnFunctions(self, each) for each in drawn]

    def _rows_given(self, given):
        """Validated ``given``: X and targets of shape (n_rows, n_targets)."""
        if not (isinstance(given, tuple) and len(given) == 2):
            raise ValueError("given takes rows and their targets, a tuple (X, y)")
        if isinstance(given[0], Scan):
            raise TypeError("given takes rows in memory, not a scan: their kernel is held")
        X, y, _ = self._validated(*given, None, reset=False)
        targets = 1 if self._one_target else self._current().n_outputs
        if y.shape[1] != targets:
            raise ValueError(f"given has {y.shape[1]} targets, and the fit had {targets}")
        return X, y


class DrawnFunctions:
    """Functions sampled from the posterior of a Gaussian process, evaluated together.

    Examples
    --------
    >>> import numpy as np
    >>> from bochner import GaussianProcessRegressor
    >>> X = np.linspace(0, 5, 400)[:, None]
    >>> model = GaussianProcessRegressor(n_components=200).fit(X, np.sin(X[:, 0]) + X[:, 0] % 0.3)
    >>> (functions,) = model.posterior_functions(1000)
    >>> functions(X[:3]).shape, functions.gradient(X[:3]).shape
    ((3, 1000), (3, 1000, 1))
    """

    def __init__(self, estimator: Any, model: Any) -> None:
        self._estimator = estimator
        self._model = model

    def __call__(self, X: Any) -> NDArray[np.float64]:
        """Evaluate the functions.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_rows, n_features)
            Samples.

        Returns
        -------
        values : ndarray of shape (n_rows, n_samples)
            Function values.
        """
        return self._ask(self._model.scores, X)

    def gradient(self, X: Any) -> NDArray[np.float64]:
        """Evaluate the gradients of the functions by the input features, in float64.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_rows, n_features)
            Samples.

        Returns
        -------
        slopes : ndarray of shape (n_rows, n_samples, n_features)
            Gradients, in units of the target per unit of the feature.
        """
        return self._ask(lambda *asked: _native.gradients(self._model, *asked), X)

    def _ask(self, what, X):
        rows = checked(self._estimator, X)
        found: NDArray[np.float64] = what(
            table(rows), self._estimator.device, self._estimator.memory
        )
        return found
