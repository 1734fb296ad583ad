"""Tests of hypothesis on random features, in time linear in rows.

The null hypothesis is that nothing is there to be found: one law, or independence. A test rejects it
at a level, such as 0.05, if ``pvalue`` is at most that.
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
    """What a test found.

    Examples
    --------
    >>> from bochner import TestResult
    >>> TestResult(statistic=12.0, pvalue=0.002, estimate=0.1).pvalue
    0.002
    """

    #: What was compared with its law under the null hypothesis.
    statistic: float
    #: The probability of a statistic at least as large under the null hypothesis.
    pvalue: float
    #: What the statistic measures: MMD^2 without bias, HSIC; NaN of `rcot_test`.
    estimate: float


class SumsTestResult(NamedTuple):
    """What two sums say of the laws of their rows, and of how targets depend on these.

    Examples
    --------
    >>> from bochner import SumsTestResult
    >>> SumsTestResult(statistic=1.0, pvalue=0.4, estimate=0.0, of_targets=None).pvalue
    0.4
    """

    #: What was compared with its law where the rows are of one law.
    statistic: float
    #: The probability of a statistic at least as large, then.
    pvalue: float
    #: MMD^2 without bias.
    estimate: float
    #: Whether targets depend on rows alike; None where the learners have no targets, or others.
    of_targets: TestResult | None


# pytest takes classes of this name for tests.
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
    """Rows of each, as the native half takes them."""
    checked = {
        name: rows
        if isinstance(rows, Scan)
        else check_array(host(rows, name), accept_sparse="csr", dtype=FLOATS, input_name=name)
        for name, rows in arrays.items()
    }
    return checked, [table(rows) for rows in checked.values()]


def _same_rows(checked):
    # Of some files rows are counted when they are read.
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
    """Whether two samples come from one law: the two-sample test by maximum mean discrepancy.

    MMD^2 = |mean z(x) - mean z(y)|^2 sees every difference of laws that the kernel sees: of means,
    spreads, shapes and dependences.

    Parameters
    ----------
    X, Y : {array-like, sparse matrix} of shape (n_samples, n_features), or Scan
        The samples, which may differ in their rows.

    kernel, gamma, n_components, map, sampling, random_state, device, memory
        As in `KernelRidgeRegressor`, with the median rule for gamma.

    permutations : int, default=500
        Random exchanges of rows that give the p-value; 0 for the asymptotic law.

    Returns
    -------
    result : TestResult
        The statistic is n m / (n + m) MMD^2, the estimate MMD^2 without bias, which can be negative.

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
    """Whether rows of X are independent of those of Y: the Hilbert-Schmidt independence criterion.

    HSIC = |cov(z(x), z(y))|^2 sees every dependence that the product of the kernels sees, of any
    shape.

    Parameters
    ----------
    X, Y : {array-like, sparse matrix} of shape (n_samples, n_features), or Scan
        The same rows of each; they may differ in their columns.

    kernel, gamma, n_components, map, sampling, random_state, device, memory
        As in `KernelRidgeRegressor`, with the median rule for gamma.

    permutations : int, default=0
        Random exchanges of rows that give the p-value; 0 for the asymptotic law.

    Returns
    -------
    result : TestResult
        The statistic is n HSIC, the estimate HSIC.

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
    """Whether rows of X and Y are independent given those of Z: RCoT, or RCIT.

    Few features of X and Y are regressed on features of Z; what is left is tested for correlation.

    Parameters
    ----------
    X, Y, Z : {array-like, sparse matrix} of shape (n_samples, n_features), or Scan
        The same rows of each; they may differ in their columns.

    kernel, gamma, n_components, map, sampling, random_state, device, memory
        Of Z, as in `KernelRidgeRegressor`, with the median rule for gamma; 25 to 100 features do. Rows
        are twice as many or more.

    n_outer : int, default=None
        Features of X, and of Y; None for 5 for each column, 30 at most. Few features of many columns
        find with one seed what they miss with another.

    variant : {'rcot', 'rcit'}, default='rcot'
        ``'rcit'`` takes features of X and Z together, which makes it see more.

    Returns
    -------
    result : TestResult
        The statistic is n |C|^2 with the covariance C of the residuals; its law is asymptotic. There
        is no estimate.

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
    """Whether two learners saw rows of one law, and targets that depend on them alike, by the sums
    that `partial_fit` keeps: drift without the rows, forgotten by and by or not.

    Parameters
    ----------
    a, b : object
        Learners of one map, as `KernelRidgeRegressor.without_rows` gives a second, each of 5 effective
        rows or more, ``(sum w)^2 / sum w^2``. No row may be in both.

    Returns
    -------
    result : SumsTestResult
        The statistic is MMD^2 / (1/n + 1/m) of weighted mean features, n and m being effective rows;
        its law is asymptotic, with the moments of few rows. The estimate is MMD^2.

        ``of_targets`` compares the coefficients of both on the features that vary most, a direction
        for every three rows of the smaller sample, without a penalty. Its statistic is that of the
        target that differs most, 1 on average where none does; its p-value is the smallest, times
        the number of targets; its estimate is the number of that target, or of that class. It
        supposes noise of one variance in each sample: where noise grows outwards, false alarms come
        about twice as often as the level says.

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
