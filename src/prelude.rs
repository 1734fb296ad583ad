//! Items that most programs need: `use bochner::prelude::*;`.

// Inlining is off: each item is documented where it is defined.
#[cfg(feature = "files")]
#[doc(no_inline)]
pub use crate::data::DataFile;
#[cfg(feature = "learn")]
#[doc(no_inline)]
pub use crate::models::{
    Features, FittedFeatures, GaussianProcess, KMeans, KernelIca, KernelPca, Ridge,
    RidgeClassifier, Solver, SpectralClustering, SpectralEmbedding,
};
#[doc(no_inline)]
pub use crate::{
    Device, DeviceChoice, Error, Result, Run, Step,
    data::ChunkSource,
    features::{
        Additive, ArcCosine, Auto, Bandwidth, Binning, Custom, Fastfood, Fourier, MapBuilder,
        Nystrom, Sorf, Standardize, UnionBuilder,
    },
    kernels::{Cauchy, Exponential, Gaussian, Kernel, Laplacian, Matern, RationalQuadratic},
    models::Model,
    seed::Seed,
};
