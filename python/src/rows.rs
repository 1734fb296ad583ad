//! Options of learners without targets from Python options.

use crate::options::Options;
use bochner::models::{
    Components, DensityOptions, KMeansOptions, KernelIcaOptions, KernelPcaOptions, OneClassOptions,
    PcaSolver, SpectralEmbeddingOptions,
};
use pyo3::{exceptions::PyValueError, prelude::*};

/// Number of components, or the share of the variance that they explain.
#[derive(FromPyObject)]
enum Wanted {
    Count(usize),
    Share(f64),
}

/// Multiples of a bandwidth, or `auto` or `none`.
#[derive(FromPyObject)]
enum Multiples {
    These(Vec<f64>),
    Some(String),
}

impl Options<'_, '_> {
    pub(crate) fn pca(&self) -> PyResult<KernelPcaOptions> {
        Ok(KernelPcaOptions {
            components: match self.get("components")? {
                Some(Wanted::Count(count)) => Components::Count(count),
                Some(Wanted::Share(share)) => Components::Variance(share),
                None => KernelPcaOptions::default().components,
            },
            solver: self.pca_solver()?,
        })
    }

    fn pca_solver(&self) -> PyResult<PcaSolver> {
        let solver: Option<String> = self.get("solver")?;
        match solver.as_deref() {
            None | Some("covariance") => Ok(PcaSolver::Covariance),
            Some("randomized") => {
                let PcaSolver::Randomized {
                    oversampling,
                    passes,
                } = PcaSolver::randomized()
                else {
                    return Err(PyValueError::new_err("no randomized solver"));
                };
                Ok(PcaSolver::Randomized {
                    oversampling: self.get("oversampling")?.unwrap_or(oversampling),
                    passes: self.get("passes")?.unwrap_or(passes),
                })
            }
            Some(other) => Err(PyValueError::new_err(format!(
                "solver is {other:?}; use 'covariance' or 'randomized'"
            ))),
        }
    }

    pub(crate) fn density(&self) -> PyResult<DensityOptions> {
        let multiples = match self.get("multiples")? {
            None => None,
            Some(Multiples::These(these)) => Some(these),
            Some(Multiples::Some(word)) if word == "auto" => Some(DensityOptions::some_multiples()),
            Some(Multiples::Some(word)) if word == "none" => Some(Vec::new()),
            Some(Multiples::Some(word)) => {
                return Err(PyValueError::new_err(format!(
                    "multiples is {word:?}; use numbers, 'auto', 'none' or None"
                )));
            }
        };
        Ok(DensityOptions {
            log: true,
            multiples,
        })
    }

    pub(crate) fn ica(&self) -> PyResult<KernelIcaOptions> {
        let default = KernelIcaOptions::default();
        Ok(KernelIcaOptions {
            components: self.get("components")?,
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
