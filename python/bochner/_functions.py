"""Functions drawn from the posterior of a Gaussian process, with their gradients."""

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

#: Features of the prior, where functions are drawn by Matheron's rule.
PRIOR_FEATURES = 2000


class Drawing:
    """Draws of a Gaussian process."""

    def sample_y(self, X: Any, n_samples: int = 1, random_state: Random = 0) -> Any:
        """Values at rows of functions drawn from the posterior, without noise.

        They vary as the features do: with hardly more features than rows have to say they have
        nothing left to vary by.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_rows, n_features)
            Samples.

        n_samples : int, default=1
            How many functions.

        random_state : int, RandomState instance or None, default=0
            What they are drawn by: equal ones draw equal functions, whatever the rows.

        Returns
        -------
        y : ndarray of shape (n_rows, n_samples) or (n_rows, n_targets, n_samples)
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
        """Functions drawn from the posterior, of each target, to be called with rows.

        Parameters
        ----------
        n_samples, random_state
            As those of `sample_y`.

        given : tuple of X and y, default=None
            Rows and their targets, mostly those of the fit. With them functions are drawn by
            Matheron's rule [1]_: a function of the prior, and to it what the exact kernel of these
            rows makes of its distance from their targets, with the lengthscales, noise and signal
            of the fit. Near the rows the kernel itself decides then, and away from them functions
            return to the prior, with any number of features. It holds ``8 * n_rows**2`` bytes, for
            which ``memory`` has to have room. With ``map='fourier'``. None draws coefficients.

        prior_features : int, default=2000
            Features of the prior with ``given``, an even number.

        Returns
        -------
        functions : list of DrawnFunctions
            For each target one, which gives of rows ``(n_rows, n_samples)`` values, and by
            ``gradient`` their slopes.

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
        """Rows and targets that functions are drawn by."""
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
    """Functions of rows that were drawn from the posterior of a Gaussian process, as one call.

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
        """Values at rows.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_rows, n_features)
            Samples.

        Returns
        -------
        values : ndarray of shape (n_rows, n_samples)
        """
        return self._ask(self._model.scores, X)

    def gradient(self, X: Any) -> NDArray[np.float64]:
        """Gradients at rows by their columns, in closed form and float64.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_rows, n_features)
            Samples.

        Returns
        -------
        slopes : ndarray of shape (n_rows, n_samples, n_features)
            In units of the target by those of the columns. Beside it a block of some rows is held.
        """
        return self._ask(lambda *asked: _native.gradients(self._model, *asked), X)

    def _ask(self, what, X):
        rows = checked(self._estimator, X)
        found: NDArray[np.float64] = what(
            table(rows), self._estimator.device, self._estimator.memory
        )
        return found
