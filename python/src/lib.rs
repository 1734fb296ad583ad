//! The Python package's native half: conversion of arrays, the GIL, interrupts, errors and
//! warnings. What a user sees is written in Python, in bochner/.

mod arrays;
mod calls;
mod learner;
mod map;
mod model;
mod options;

use pyo3::prelude::*;

/// `bochner._native`.
#[pymodule]
mod _native {
    #[pymodule_export]
    use super::calls::devices;
    #[pymodule_export]
    use super::map::FeatureMap;
    #[pymodule_export]
    use super::model::Model;
    #[pymodule_export]
    use super::options::lengthscale;
    use pyo3::prelude::*;

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        super::calls::listen();
        module.add("__version__", env!("CARGO_PKG_VERSION"))
    }
}
