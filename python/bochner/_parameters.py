"""The parameters that learners share: their types, their defaults, and what they may be."""

from __future__ import annotations

from inspect import Parameter, Signature
from numbers import Integral, Real
from typing import TYPE_CHECKING

from sklearn.utils._param_validation import Interval, StrOptions

from ._typing import dataclass_transform

if TYPE_CHECKING:
    from typing import TypeVar

    from ._typing import ClassWeight, Gamma, Random

    _Class = TypeVar("_Class", bound=type)

POSITIVE = Interval(Real, 0.0, None, closed="neither")
NOT_NEGATIVE = Interval(Real, 0.0, None, closed="left")
COUNT = Interval(Integral, 1, None, closed="left")

#: What the shared ones may be; signatures have them in this order.
SHARED = {
    "kernel": [str],
    "gamma": [StrOptions({"chosen", "scale", "median"}), POSITIVE, "array-like"],
    "n_components": [COUNT],
    "map": [str],
    "sampling": [str],
    "form": [StrOptions({"phase", "paired"})],
    "standardize": [StrOptions({"auto", "yes", "no", "range", "robust", "rank"})],
    "fit_intercept": ["boolean"],
    "random_state": ["random_state"],
    "device": [str],
    "memory": [COUNT, None],
    "verbose": ["verbose"],
    "importances": ["boolean"],
}

#: The share of the rows that regressors keep back from the fit for intervals.
CALIBRATE = [Interval(Real, 0.0, 1.0, closed="neither"), None]

#: Whether the columns stand beside the features.
LINEAR = [StrOptions({"auto", "yes", "no"})]

#: Whether a small map looks at each column.
ADDITIVE = ["boolean", StrOptions({"pairs"})]

#: On what scale regressors of least squares fit their targets.
#: Rows after which a row counts for half.
HALF_LIFE = [Interval(Real, 1.0, None, closed="left"), None]
TARGET_SCALE = [StrOptions({"auto", "as-is", "log", "rank"})]


@dataclass_transform(kw_only_default=True, eq_default=False)
def takes(cls: _Class) -> _Class:
    """Give a class an ``__init__`` that assigns keyword parameters, and does nothing else.

    Parameters are the attributes that the class has with a type and a default, and those of its
    bases that have been given an ``__init__`` in the same way. Type checkers know them by
    `dataclass_transform`, which takes attributes without a default for parameters, too: the types
    of what a fit finds stand where it is assigned, not in such a class.
    """
    # Before Python 3.10 a class without types of its own shows those of a base.
    own = {name: vars(cls)[name] for name in cls.__annotations__ if name in vars(cls)}
    found = {}
    for kind in reversed(cls.__mro__):
        found.update(vars(kind).get("_defaults", {}))
    found.update(own)
    shared = {name: found[name] for name in SHARED if name in found}
    defaults = {**shared, **found}

    def __init__(self, **parameters):
        unknown = sorted(parameters.keys() - defaults.keys())
        if unknown:
            raise TypeError(f"{cls.__name__} has no parameter {unknown[0]!r}")
        for name, default in defaults.items():
            setattr(self, name, parameters.get(name, default))

    kinds = [Parameter("self", Parameter.POSITIONAL_OR_KEYWORD)]
    for name, default in defaults.items():
        kinds.append(Parameter(name, Parameter.KEYWORD_ONLY, default=default))
    __init__.__signature__ = Signature(kinds)
    __init__.__qualname__ = f"{cls.__name__}.__init__"
    cls.__init__ = __init__
    cls._defaults = own
    # Defaults are of estimators: no class has a kernel.
    for name in own:
        delattr(cls, name)
    return cls


@takes
class OfKernel:
    """Parameters of learners with a kernel."""

    kernel: str = "gaussian"
    gamma: Gamma = "chosen"
    standardize: str = "auto"
    random_state: Random = None
    device: str = "auto"
    memory: int | None = None
    verbose: bool | int = False


@takes
class OfMap(OfKernel):
    """Parameters of learners that draw a map for it."""

    map: str = "fourier"
    sampling: str = "auto"
    form: str = "paired"


@takes
class OfTargets(OfKernel):
    """Parameters of learners from targets."""

    fit_intercept: bool = True
    importances: bool = False


@takes
class OfMapAndTargets(OfMap, OfTargets):
    """Parameters of learners from targets that draw a map."""

    n_components: int = 1000


@takes
class OfAmounts:
    """Parameters of regressors."""

    calibrate: float | None = None


@takes
class OfLabels:
    """Parameters of classifiers whose probabilities take a second fit."""

    class_weight: ClassWeight = None
    probability: bool = False


#: What those of `OfMap` may be.
ROWS = {
    name: rules
    for name, rules in SHARED.items()
    if name not in ("n_components", "fit_intercept", "importances")
}
