"""Kernel hypothesis tests on random features, in time linear in the number of samples.

The null hypothesis is that two distributions are equal, or that variables are independent. A test
rejects it at a significance level, such as 0.05, if ``pvalue`` is at most that level.
"""

from __future__ import annotations

from numbers import Integral
from typing import TYPE_CHECKING, NamedTuple

from sklearn.utils import check_array, check_random_state
from sklearn.utils._param_validation import Interval, StrOptions

from . import _native
from ._arrays import FLOATS, lengthscale, seed_of, table
from ._dlpack import host
from ._parameters import POSITIVE, SHARED
from ._scan import Scan
from ._typing import validate_params

if TYPE_CHECKING:
    from typing import Any

    from ._typing import Random

__all__ = ["SumsTestResult", "TestResult", "hsic_test", "mmd_test", "rcot_test", "sums_test"]


class TestResult(NamedTuple):
    """Result of a hypothesis test.

    Examples
    --------
    >>> from bochner import TestResult
    >>> TestResult(statistic=12.0, pvalue=0.002, estimate=0.1).pvalue
    0.002
    """

    #: Test statistic.
    statistic: float
    #: Probability of a statistic at least as large under the null hypothesis.
    pvalue: float
    #: Estimate of the tested quantity: unbiased MMD^2, or HSIC; NaN for `rcot_test`.
    estimate: float


class SumsTestResult(NamedTuple):
    """Result of `sums_test`: comparison of two samples, and of their regressions.

    Examples
    --------
    >>> from bochner import SumsTestResult
    >>> SumsTestResult(statistic=1.0, pvalue=0.4, estimate=0.0, of_targets=None).pvalue
    0.4
    """

    #: Test statistic for equal distributions of the samples.
    statistic: float
    #: Probability of a statistic at least as large under the null hypothesis.
    pvalue: float
    #: Unbiased MMD^2.
    estimate: float
    #: Test that targets depend on features in the same way; None without targets, or if the
    #: estimators have different targets.
    of_targets: TestResult | None


# Without this, pytest would collect the class as a test.
TestResult.__test__ = False

_CONSTRAINTS = {
    name: SHARED[name]
    for name in ("kernel", "gamma", "n_components", "map", "sampling", "random_state", "device")
}
_CONSTRAINTS["memory"] = SHARED["memory"]
_CONSTRAINTS["gamma"] = [StrOptions({"scale", "median"}), POSITIVE]
_ROWS = ["array-like", "sparse matrix", Scan]
_PERMUTATIONS = [Interval(Integral, 0, None, closed="left")]


def _tables(**arrays):
    """Validate arrays, and return them together with their native tables."""
    checked = {
        name: rows
        if isinstance(rows, Scan)
        else check_array(host(rows, name), accept_sparse="csr", dtype=FLOATS, input_name=name)
        for name, rows in arrays.items()
    }
    return checked, [table(rows) for rows in checked.values()]


def _same_rows(checked):
    # The number of samples of some files is known only after they are read.
    rows = {name: x.n_samples if isinstance(x, Scan) else x.shape[0] for name, x in checked.items()}
    rows = {name: n for name, n in rows.items() if n is not None}
    if len(set(rows.values())) > 1:
        counts = ", ".join(f"{name} has {n}" for name, n in rows.items())
        raise ValueError(f"{counts} rows; give one row of each for each row of X")


def _options(kernel, gamma, n_components, map, sampling, random_state, device, memory):
    kernel = "gaussian" if kernel == "rbf" else kernel
    options = {
        "kernel": kernel,
        "map": map,
        "n_components": n_components,
        "sampling": sampling,
        "seed": seed_of(check_random_state(random_state)),
        "device": device,
        "memory": memory,
    }
    if isinstance(gamma, str):
        options["gamma"] = gamma
    else:
        options["lengthscales"] = [lengthscale(kernel, gamma)]
    return options


@validate_params(
    {
        "X": _ROWS,
        "Y": _ROWS,
        **_CONSTRAINTS,
        "permutations": _PERMUTATIONS,
    },
    prefer_skip_nested_validation=True,
)
def mmd_test(
    X: Any,
    Y: Any,
    *,
    kernel: str = "gaussian",
    gamma: float | str = "median",
    n_components: int = 1000,
    map: str = "fourier",
    sampling: str = "monte-carlo",
    permutations: int = 500,
    random_state: Random = None,
    device: str = "auto",
    memory: int | None = None,
) -> TestResult:
    """Two-sample test by maximum mean discrepancy: do X and Y have the same distribution?

    ``MMD^2 = |mean z(x) - mean z(y)|^2``, with the feature map z, is sensitive to differences of
    means, variances, shapes and dependences, as far as the kernel resolves them.

    Parameters
    ----------
    X, Y : {array-like, sparse matrix} of shape (n_samples, n_features), or Scan
        The two samples, which may differ in n_samples.

    kernel, gamma, n_components, map, sampling, random_state, device, memory
        As in `KernelRidgeRegressor`; gamma is a number, ``'median'`` or ``'scale'``.

    permutations : int, default=500
        Number of random permutations for the p-value, 0 or more; 0 for the asymptotic distribution.

    Returns
    -------
    result : TestResult
        The statistic is ``n m / (n + m) MMD^2`` for n and m samples; the estimate is the unbiased
        MMD^2, which can be negative.

    References
    ----------
    A. Gretton et al., "A kernel two-sample test", JMLR 13, 2012.

    Examples
    --------
    >>> import numpy as np
    >>> from bochner import mmd_test
    >>> random = np.random.RandomState(0)
    >>> X, Y = random.normal(size=(300, 2)), random.normal(size=(200, 2))
    >>> bool(mmd_test(X, Y, random_state=0).pvalue > 0.05)
    True
    >>> bool(mmd_test(X, 1.5 * Y, random_state=0).pvalue < 0.01)
    True
    """
    _, (x, y) = _tables(X=X, Y=Y)
    options = _options(kernel, gamma, n_components, map, sampling, random_state, device, memory)
    found = _native.two_sample(x, y, {**options, "permutations": permutations})
    return TestResult(found["statistic"], found["pvalue"], found["unbiased"])


@validate_params(
    {
        "X": _ROWS,
        "Y": _ROWS,
        **_CONSTRAINTS,
        "permutations": _PERMUTATIONS,
    },
    prefer_skip_nested_validation=True,
)
def hsic_test(
    X: Any,
    Y: Any,
    *,
    kernel: str = "gaussian",
    gamma: float | str = "median",
    n_components: int = 100,
    map: str = "fourier",
    sampling: str = "monte-carlo",
    permutations: int = 0,
    random_state: Random = None,
    device: str = "auto",
    memory: int | None = None,
) -> TestResult:
    """Independence test of X and Y by the Hilbert-Schmidt independence criterion (HSIC).

    ``HSIC = |cov(z(x), z(y))|^2``, with a feature map z of each, is sensitive to dependences of any
    form, as far as the kernels resolve them.

    Parameters
    ----------
    X, Y : {array-like, sparse matrix} of shape (n_samples, n_features), or Scan
        Paired samples, which may differ in n_features.

    kernel, gamma, n_components, map, sampling, random_state, device, memory
        As in `KernelRidgeRegressor`; gamma is a number, ``'median'`` or ``'scale'``.

    permutations : int, default=0
        Number of random permutations for the p-value, 0 or more; 0 for the asymptotic distribution.

    Returns
    -------
    result : TestResult
        The statistic is ``n_samples * HSIC``, the estimate HSIC.

    References
    ----------
    A. Gretton et al., "A kernel statistical test of independence", NIPS 2008.

    Examples
    --------
    >>> import numpy as np
    >>> from bochner import hsic_test
    >>> random = np.random.RandomState(0)
    >>> x = random.normal(size=(300, 1))
    >>> bool(hsic_test(x, x**2, random_state=0).pvalue < 0.001)
    True
    >>> bool(hsic_test(x, random.normal(size=(300, 1)), random_state=0).pvalue > 0.05)
    True
    """
    checked, (x, y) = _tables(X=X, Y=Y)
    _same_rows(checked)
    options = _options(kernel, gamma, n_components, map, sampling, random_state, device, memory)
    found = _native.independence(x, y, {**options, "permutations": permutations})
    return TestResult(found["statistic"], found["pvalue"], found["hsic"])


@validate_params(
    {
        "X": _ROWS,
        "Y": _ROWS,
        "Z": _ROWS,
        **_CONSTRAINTS,
        "n_outer": [Interval(Integral, 1, None, closed="left"), None],
        "variant": [StrOptions({"rcot", "rcit"})],
    },
    prefer_skip_nested_validation=True,
)
def rcot_test(
    X: Any,
    Y: Any,
    Z: Any,
    *,
    kernel: str = "gaussian",
    gamma: float | str = "median",
    n_components: int = 100,
    map: str = "fourier",
    sampling: str = "monte-carlo",
    n_outer: int | None = None,
    variant: str = "rcot",
    random_state: Random = None,
    device: str = "auto",
    memory: int | None = None,
) -> TestResult:
    """Conditional independence test of X and Y given Z: RCoT, or RCIT.

    A few features of X and Y are regressed on features of Z; the residuals are tested for
    correlation.

    Parameters
    ----------
    X, Y, Z : {array-like, sparse matrix} of shape (n_samples, n_features), or Scan
        Paired samples, which may differ in n_features.

    kernel, gamma, n_components, map, sampling, random_state, device, memory
        As in `KernelRidgeRegressor`; gamma is a number, ``'median'`` or ``'scale'``.
        ``n_components`` is the number of features of Z: 25 to 100 are enough, and n_samples must be
        at least twice that.

    n_outer : int, default=None
        Number of features of X, and of Y. None for 5 per input feature, at most 30. With few
        features of many input features, the result depends on the seed.

    variant : {'rcot', 'rcit'}, default='rcot'
        ``'rcit'`` uses features of X and Z together, which is sensitive to more dependences.

    Returns
    -------
    result : TestResult
        The statistic is ``n_samples * |C|^2`` with the covariance C of the residuals; the p-value
        is asymptotic. The estimate is NaN.

    References
    ----------
    E. V. Strobl, K. Zhang and S. Visweswaran, "Approximate kernel-based conditional independence
    tests for fast non-parametric causal discovery", Journal of Causal Inference 7, 2019.

    Examples
    --------
    >>> import numpy as np
    >>> from bochner import hsic_test, rcot_test
    >>> random = np.random.RandomState(0)
    >>> x = random.normal(size=(400, 1))
    >>> z = x + 0.5 * random.normal(size=(400, 1))
    >>> y = np.tanh(z) + 0.5 * random.normal(size=(400, 1))
    >>> bool(hsic_test(x, y, random_state=0).pvalue < 0.001)
    True
    >>> bool(rcot_test(x, y, z, n_components=50, random_state=0).pvalue > 0.01)
    True
    """
    checked, (x, y, z) = _tables(X=X, Y=Y, Z=Z)
    _same_rows(checked)
    options = _options(kernel, gamma, n_components, map, sampling, random_state, device, memory)
    options.update(n_outer=n_outer, variant=variant)
    found = _native.conditional_independence(x, y, z, options)
    return TestResult(found["statistic"], found["pvalue"], float("nan"))


def sums_test(a: Any, b: Any) -> SumsTestResult:
    """Drift test of two estimators from the sums of their `partial_fit`, without the samples.

    It tests whether the samples of both have the same distribution, and whether their targets
    depend on the features in the same way. Estimators with a ``half_life`` are compared by weighted
    samples.

    Parameters
    ----------
    a, b : object
        Estimators with the same map, the second from `KernelRidgeRegressor.without_rows` for
        example. Each must have an effective number of samples ``(sum w)^2 / sum w^2`` of at least
        5, and they must not share samples.

    Returns
    -------
    result : SumsTestResult
        The statistic is ``MMD^2 / (1/n + 1/m)`` of weighted mean features, where n and m are the
        effective numbers of samples. The p-value is asymptotic, with moments for small samples. The
        estimate is the unbiased MMD^2.

        ``of_targets`` compares unpenalised coefficients on the leading principal directions of the
        features, one direction for every three samples of the smaller set. Its statistic is that of
        the target that differs most, with expectation 1 under the null hypothesis; its p-value is
        the smallest over targets, times the number of targets; its estimate is the index of that
        target or class. The test assumes noise of constant variance within each set: if the noise
        grows with the distance from the centre, false alarms are about twice as frequent as the
        significance level.

    Examples
    --------
    >>> import numpy as np
    >>> from bochner import KernelRidgeRegressor, sums_test
    >>> random = np.random.RandomState(0)
    >>> X = random.normal(size=(600, 2))
    >>> old = KernelRidgeRegressor(n_components=100, random_state=0).partial_fit(X[:300], X[:300, 0])
    >>> new = old.without_rows().partial_fit(X[300:] + 0.4, X[300:, 0])
    >>> found = sums_test(old, new)
    >>> bool(found.pvalue < 0.001), bool(found.of_targets.pvalue < 0.001)
    (True, True)
    """
    states = []
    for name, learner in (("a", a), ("b", b)):
        state = getattr(learner, "_state", None)
        if not (isinstance(state, tuple) and isinstance(state[0], _native.GrowingState)):
            raise ValueError(
                f"{name} keeps no sums: give a learner to whom rows came by partial_fit, and are sums"
            )
        states.append(state[0])
    rows, targets = states[0].differs(states[1])
    return SumsTestResult(*rows, None if targets is None else TestResult(*targets))
