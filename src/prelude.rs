//! What most programs need: `use bochner::prelude::*;`.

#[cfg(feature = "files")]
pub use crate::data::DataFile;
#[cfg(feature = "learn")]
pub use crate::models::{
    Features, FittedFeatures, GaussianProcess, KMeans, KernelIca, KernelPca, Ridge,
    RidgeClassifier, Solver, SpectralClustering, SpectralEmbedding,
};
pub use crate::{
    Device, DeviceChoice, Error, Result, Run, Step,
    data::ChunkSource,
    features::{
        ArcCosine, Auto, Bandwidth, Binning, Custom, Fastfood, Fourier, MapBuilder, Nystrom, Sorf,
        Standardize, UnionBuilder,
    },
    kernels::{Cauchy, Exponential, Gaussian, Kernel, Laplacian, Matern, RationalQuadratic},
    models::Model,
    seed::Seed,
};
