//! What most programs need: `use bochner::prelude::*;`.

pub use crate::{
    Device, DeviceChoice, Error, Result, Run, Step,
    data::{ChunkSource, DataFile},
    features::{
        ArcCosine, Auto, Bandwidth, Binning, Custom, Fastfood, Fourier, MapBuilder, Nystrom, Sorf,
        Standardize, UnionBuilder,
    },
    kernels::{Cauchy, Exponential, Gaussian, Kernel, Laplacian, Matern, RationalQuadratic},
    models::{
        Features, FittedFeatures, GaussianProcess, KMeans, KernelIca, KernelPca, Model, Ridge,
        RidgeClassifier, Solver, SpectralClustering, SpectralEmbedding,
    },
    seed::Seed,
};
