"""Kernel methods at the cost of linear ones, on any GPU.

`RBFSampler` and `Nystroem` take the place of scikit-learn's: same parameters, attributes and shapes,
and every kernel, map and sampling of the library beside. The learners fit something linear to such
features while the rows stream by: ridge regression and classification, Gaussian processes, logistic
regression, support vectors, the elastic net.
"""

from ._native import __version__, devices as _devices
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


def devices():
    """Where work can run.

    Returns
    -------
    dict
        ``"auto"``: what ``device="auto"`` takes; ``"cpu"``: the CPU backend; ``"adapters"``: a list
        of adapters. Each is a line of text, and ``device=`` takes any part of an adapter's name.

    Examples
    --------
    >>> import bochner
    >>> bochner.devices()["cpu"].startswith("CPU")
    True
    """
    auto, cpu, adapters = _devices()
    return {"auto": auto, "cpu": cpu, "adapters": adapters}
