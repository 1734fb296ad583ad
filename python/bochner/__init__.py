"""Kernel methods at the cost of linear models, on any GPU.

`RBFSampler`, `Nystroem`, `PolynomialCountSketch`, `SkewedChi2Sampler` and `AdditiveChi2Sampler` are
drop-ins for scikit-learn's classes, with the same parameters, attributes and shapes, and with more
kernels, maps and samplings. Estimators fit linear models to such random features in passes over the
samples: ridge regression and classification, Gaussian processes, logistic regression, support
vector machines, the elastic net, greedy fits and boosting. Exact kernel ridge regression and Falkon
use the kernel itself. Without targets there are kernel PCA, ICA, k-means, spectral embedding and
clustering, density estimation and novelty detection. Hypothesis tests compare distributions, and
test independence.
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
    """Available devices.

    Returns
    -------
    dict
        ``"auto"``: the device that ``device="auto"`` selects; ``"cpu"``: the CPU backend;
        ``"adapters"``: a list of GPU adapters. Each is described in one line of text. The parameter
        ``device`` accepts any part of an adapter's name.

    Examples
    --------
    >>> import bochner
    >>> bochner.devices()["cpu"].startswith("CPU")
    True
    """
    auto, cpu, adapters = _devices()
    return {"auto": auto, "cpu": cpu, "adapters": adapters}
