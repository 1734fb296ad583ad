//! Options of kernel ridge regression, Falkon, greedy fits and boosting from Python options.

use crate::options::Options;
use bochner::models::{BoostingOptions, FalkonOptions, GreedyOptions, KernelRidgeOptions};
use pyo3::prelude::*;

impl Options<'_, '_> {
    pub(crate) fn kernel_ridge(&self) -> PyResult<KernelRidgeOptions> {
        Ok(KernelRidgeOptions {
            lambda: self.lambda()?,
            intercept: self.intercept()?,
        })
    }

    pub(crate) fn falkon(&self) -> PyResult<FalkonOptions> {
        let default = FalkonOptions::default();
        Ok(FalkonOptions {
            lambda: self.lambda()?,
            intercept: self.intercept()?,
            tolerance: self.get("tol")?.unwrap_or(default.tolerance),
            max_iterations: self.get("max_iter")?.unwrap_or(default.max_iterations),
        })
    }

    pub(crate) fn greedy(&self) -> PyResult<GreedyOptions> {
        let default = GreedyOptions::default();
        Ok(GreedyOptions {
            steps: self.get("steps")?.unwrap_or(default.steps),
            held_out: self.get("held_out")?.unwrap_or(default.held_out),
            intercept: self.intercept()?,
        })
    }

    pub(crate) fn boosting(&self) -> PyResult<BoostingOptions> {
        let default = BoostingOptions::default();
        Ok(BoostingOptions {
            block: self.get("block")?.unwrap_or(default.block),
            shrinkage: self.get("shrinkage")?.unwrap_or(default.shrinkage),
            lambda: self.one_penalty(default.lambda)?,
            stages: self.get("stages")?.unwrap_or(default.stages),
            held_out: self.get("held_out")?.unwrap_or(default.held_out),
            intercept: self.intercept()?,
        })
    }
}
