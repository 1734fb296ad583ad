from ._native import __version__
from .classifiers import KernelLogisticRegression, KernelRidgeClassifier, KernelSVC
from .kernel_approximation import Nystroem, RBFSampler
from .regressors import (
    GaussianProcessRegressor,
    KernelElasticNet,
    KernelRidgeRegressor,
    KernelSVR,
)

__all__ = [
    "GaussianProcessRegressor",
    "KernelElasticNet",
    "KernelLogisticRegression",
    "KernelRidgeClassifier",
    "KernelRidgeRegressor",
    "KernelSVC",
    "KernelSVR",
    "Nystroem",
    "RBFSampler",
    "__version__",
    "devices",
]

def devices() -> dict[str, str | list[str]]: ...
