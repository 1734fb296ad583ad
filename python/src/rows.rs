//! Learners of rows alone, with the options that Python hands over.

use crate::options::Options;
use bochner::models::{
    Components, KMeansOptions, KernelIcaOptions, KernelPcaOptions, OneClassOptions,
    SpectralEmbeddingOptions,
};
use pyo3::prelude::*;

/// So many components, or as many as explain a share of the variance.
#[derive(FromPyObject)]
enum Wanted {
    Count(usize),
    Share(f64),
}

impl Options<'_, '_> {
    pub(crate) fn pca(&self) -> PyResult<KernelPcaOptions> {
        Ok(KernelPcaOptions {
            components: match self.get("components")? {
                Some(Wanted::Count(count)) => Components::Count(count),
                Some(Wanted::Share(share)) => Components::Variance(share),
                None => KernelPcaOptions::default().components,
            },
            ..KernelPcaOptions::default()
        })
    }

    pub(crate) fn ica(&self) -> PyResult<KernelIcaOptions> {
        let default = KernelIcaOptions::default();
        Ok(KernelIcaOptions {
            components: self.get("components")?.unwrap_or(default.components),
            tolerance: self.get("tol")?.unwrap_or(default.tolerance),
            max_iterations: self.get("max_iter")?.unwrap_or(default.max_iterations),
        })
    }

    pub(crate) fn kmeans(&self, default: KMeansOptions) -> PyResult<KMeansOptions> {
        Ok(KMeansOptions {
            clusters: self.get("n_clusters")?.unwrap_or(default.clusters),
            starts: self.get("n_init")?.unwrap_or(default.starts),
            tolerance: self.get("tol")?.unwrap_or(default.tolerance),
            max_iterations: self.get("max_iter")?.unwrap_or(default.max_iterations),
        })
    }

    pub(crate) fn spectral(&self) -> PyResult<SpectralEmbeddingOptions> {
        let default = SpectralEmbeddingOptions::default();
        Ok(SpectralEmbeddingOptions {
            dimensions: self.get("components")?.unwrap_or(default.dimensions),
        })
    }

    pub(crate) fn one_class(&self) -> PyResult<OneClassOptions> {
        let default = OneClassOptions::default();
        Ok(OneClassOptions {
            nu: self.get("nu")?.unwrap_or(default.nu),
            stopping: self.stopping(default.stopping)?,
        })
    }
}
