//! Native module of the Python package: array conversion, the GIL, interrupts, errors and warnings.
//! The public classes are written in Python, in `bochner/`.

mod arrays;
mod asked;
mod calls;
mod clusters;
mod drivers;
mod explain;
mod file;
mod file_options;
mod fitting;
mod growing;
mod hypothesis;
mod kernel_machines;
mod learner;
mod map;
mod model;
mod options;
mod parts;
mod paths;
mod predictions;
mod rows;
mod scan;
mod search;
mod spread;
mod stream;
mod views;

use pyo3::prelude::*;

/// `bochner._native`.
#[pymodule]
mod _native {
    #[pymodule_export]
    use super::calls::devices;
    #[pymodule_export]
    use super::clusters::GrowingClusters;
    #[pymodule_export]
    use super::explain::{explain, shapes};
    #[pymodule_export]
    use super::fitting::predictive_columns;
    #[pymodule_export]
    use super::growing::GrowingState;
    #[pymodule_export]
    use super::hypothesis::{conditional_independence, independence, two_sample};
    #[pymodule_export]
    use super::map::FeatureMap;
    #[pymodule_export]
    use super::model::Model;
    #[pymodule_export]
    use super::options::{lengthscale, lengthscale_of_rows};
    #[pymodule_export]
    use super::parts::{SurveyPart, merge_sums};
    #[pymodule_export]
    use super::paths::{gradients, sampled, sampled_given};
    #[pymodule_export]
    use super::scan::{Chunks, HeldRows, Scan, Writer};
    #[pymodule_export]
    use super::search::fit_searched;
    #[pymodule_export]
    use super::spread::{calibrated, covariances, intervals, of_each};
    #[pymodule_export]
    use super::stream::{Bandit, Stream};
    use pyo3::prelude::*;

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        super::calls::listen();
        module.add("__version__", env!("CARGO_PKG_VERSION"))
    }
}
