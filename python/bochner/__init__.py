"""Kernel methods at the cost of linear ones, on any GPU.

`RBFSampler`, `Nystroem`, `PolynomialCountSketch`, `SkewedChi2Sampler` and `AdditiveChi2Sampler` take
the place of scikit-learn's: same parameters, attributes and shapes, and every kernel, map and sampling
of the library beside. The learners fit something linear to such
features while the rows stream by: ridge regression and classification, Gaussian processes, logistic
regression, support vectors, the elastic net, greedy fits and boosting. Exact kernel ridge regression
and Falkon stand on the kernel itself. Rows without targets have components, clusters, coordinates and
novelties, and tests say whether laws differ and columns depend on each other.
"""

from __future__ import annotations

from ._explanation import Explanation
from ._native import __version__, devices as _devices
from ._scan import Scan, scan
from ._shapes import Shapes
from .automatic import AutoClassifier, AutoRegressor
from .classifiers import KernelElasticNetClassifier, KernelLogisticRegression, KernelSVC
from .cluster import KernelKMeans, SpectralClustering
from .decomposition import KernelICA, KernelPCA, SpectralEmbedding
from .density import KernelDensity
from .gaussian_process import GaussianProcessRegressor
from .heads import Ridge, RidgeClassifier, RidgeClassifierCV, RidgeCV
from .hypothesis import SumsTestResult, TestResult, hsic_test, mmd_test, rcot_test, sums_test
from .kernel_approximation import (
    AdditiveChi2Sampler,
    Nystroem,
    PolynomialCountSketch,
    RBFSampler,
    SkewedChi2Sampler,
)
from .kernel_machines import (
    ExactKernelRidgeClassifier,
    ExactKernelRidgeRegressor,
    FalkonClassifier,
    FalkonRegressor,
)
from .novelty import OneClassSVM
from .regressors import KernelElasticNet, KernelSVR
from .ridge import KernelRidgeClassifier, KernelRidgeRegressor
from .stagewise import BoostingClassifier, BoostingRegressor, GreedyClassifier, GreedyRegressor

__all__ = [
    "AdditiveChi2Sampler",
    "AutoClassifier",
    "AutoRegressor",
    "BoostingClassifier",
    "BoostingRegressor",
    "ExactKernelRidgeClassifier",
    "ExactKernelRidgeRegressor",
    "Explanation",
    "FalkonClassifier",
    "FalkonRegressor",
    "GaussianProcessRegressor",
    "GreedyClassifier",
    "GreedyRegressor",
    "KernelDensity",
    "KernelElasticNet",
    "KernelElasticNetClassifier",
    "KernelICA",
    "KernelKMeans",
    "KernelLogisticRegression",
    "KernelPCA",
    "KernelRidgeClassifier",
    "KernelRidgeRegressor",
    "KernelSVC",
    "KernelSVR",
    "Nystroem",
    "OneClassSVM",
    "PolynomialCountSketch",
    "RBFSampler",
    "Ridge",
    "RidgeCV",
    "RidgeClassifier",
    "RidgeClassifierCV",
    "Scan",
    "Shapes",
    "SkewedChi2Sampler",
    "SpectralClustering",
    "SpectralEmbedding",
    "SumsTestResult",
    "TestResult",
    "__version__",
    "devices",
    "hsic_test",
    "mmd_test",
    "rcot_test",
    "scan",
    "sums_test",
]


def devices() -> dict[str, str | list[str]]:
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
