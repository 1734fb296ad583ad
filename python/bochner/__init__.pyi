from ._native import __version__
from .classifiers import KernelLogisticRegression, KernelSVC
from .gaussian_process import GaussianProcessRegressor
from .kernel_approximation import Nystroem, RBFSampler
from .regressors import KernelElasticNet, KernelSVR
from .ridge import KernelRidgeClassifier, KernelRidgeRegressor

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
