"""Parameters that estimators share: types, defaults and constraints."""

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

#: Constraints of the shared parameters, in the order of signatures.
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

#: Constraint of ``calibrate``, the fraction of the samples held out to calibrate intervals.
CALIBRATE = [Interval(Real, 0.0, 1.0, closed="neither"), None]

#: Constraint of ``linear``, whether input features are appended to the random features.
LINEAR = [StrOptions({"auto", "yes", "no"})]

#: Constraint of ``additive``, whether the model is a sum of functions of single columns.
ADDITIVE = ["boolean", StrOptions({"pairs"})]

#: Constraints of ``half_life``, in samples, and of ``target_scale``.
HALF_LIFE = [Interval(Real, 1.0, None, closed="left"), None]
TARGET_SCALE = [StrOptions({"auto", "as-is", "log", "rank"})]


@dataclass_transform(kw_only_default=True, eq_default=False)
def takes(cls: _Class) -> _Class:
    """Class decorator that adds an ``__init__`` which assigns keyword parameters.

    Parameters are the annotated attributes, with a default, of the class and its decorated bases.
    Type checkers understand this by `dataclass_transform`, which treats annotated attributes
    without a default as parameters, too. Types of fitted attributes are therefore declared where
    they are assigned, not in the class body.
    """
    # Before Python 3.10, a class without annotations has its base's.
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
    # Parameters are attributes of instances; remove the class attributes that declared them.
    for name in own:
        delattr(cls, name)
    return cls


@takes
class OfKernel:
    """Parameters of estimators with a kernel."""

    kernel: str = "gaussian"
    gamma: Gamma = "chosen"
    standardize: str = "auto"
    random_state: Random = None
    device: str = "auto"
    memory: int | None = None
    verbose: bool | int = False


@takes
class OfMap(OfKernel):
    """Parameters of estimators with a feature map."""

    map: str = "fourier"
    sampling: str = "auto"
    form: str = "paired"


@takes
class OfTargets(OfKernel):
    """Parameters of estimators with targets."""

    fit_intercept: bool = True
    importances: bool = False


@takes
class OfMapAndTargets(OfMap, OfTargets):
    """Parameters of estimators with targets and a feature map."""

    n_components: int = 1000


@takes
class OfAmounts:
    """Parameters of regressors."""

    calibrate: float | None = None


@takes
class OfLabels:
    """Parameters of classifiers whose probabilities need a second fit."""

    class_weight: ClassWeight = None
    probability: bool = False


#: Constraints of the parameters in `OfMap`.
ROWS = {
    name: rules
    for name, rules in SHARED.items()
    if name not in ("n_components", "fit_intercept", "importances")
}
