//! Options of the learners that stand on the kernel itself.

use super::losses::Shared;
use crate::args::at_least_one;
use bochner::models::{FalkonOptions, Fit, KernelRidgeOptions, Lambda};
use clap::Args;

/// What they have of their own.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Learner options")]
pub(super) struct KernelMachineArgs {
    /// Of falkon: so many rows are landmarks; --landmarks-choice says how they are chosen. They
    /// take 16 bytes for every pair [default: 1000, or all rows if there are fewer]
    #[arg(long, value_name = "M", value_parser = at_least_one, allow_hyphen_values = true)]
    landmarks: Option<usize>,
}

impl KernelMachineArgs {
    /// The options that are there, each with the models that take it.
    pub(super) fn given(&self) -> [(&'static str, bool, &'static [&'static str]); 1] {
        [("--landmarks", self.landmarks.is_some(), &["falkon"])]
    }

    /// Whether a number of landmarks is given.
    pub(super) fn is_given(&self) -> bool {
        self.landmarks.is_some()
    }

    /// The number of landmarks.
    pub(super) fn landmarks(&self) -> usize {
        self.landmarks.unwrap_or(1000)
    }

    pub(super) fn kernel_ridge(lambda: Lambda, shared: Shared) -> Box<dyn Fit> {
        Box::new(KernelRidgeOptions {
            lambda,
            intercept: shared.intercept,
        })
    }

    pub(super) fn falkon(lambda: Lambda, shared: Shared) -> Box<dyn Fit> {
        let default = FalkonOptions::default();
        Box::new(FalkonOptions {
            lambda,
            intercept: shared.intercept,
            tolerance: shared.tolerance.unwrap_or(default.tolerance),
            max_iterations: shared.iterations.unwrap_or(default.max_iterations),
        })
    }
}
