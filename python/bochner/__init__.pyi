from ._native import __version__
from ._scan import Scan, scan
from .automatic import AutoClassifier, AutoRegressor
from .classifiers import KernelElasticNetClassifier, KernelLogisticRegression, KernelSVC
from .cluster import KernelKMeans, SpectralClustering
from .decomposition import KernelICA, KernelPCA, SpectralEmbedding
from .density import KernelDensity
from .gaussian_process import GaussianProcessRegressor
from .heads import Ridge, RidgeClassifier, RidgeClassifierCV, RidgeCV
from .hypothesis import TestResult, hsic_test, mmd_test, rcot_test
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
    "SkewedChi2Sampler",
    "SpectralClustering",
    "SpectralEmbedding",
    "TestResult",
    "__version__",
    "devices",
    "hsic_test",
    "mmd_test",
    "rcot_test",
    "scan",
]

def devices() -> dict[str, str | list[str]]: ...
