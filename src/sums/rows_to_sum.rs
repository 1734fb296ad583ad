//! Arguments of summing rows, and of fitting a model to sums.

use crate::{data::ChunkSource, features::ScaledKernel, flow::Run, model::Targets, seed::Seed};
use std::fmt::Debug;

/// Arguments of summing rows.
pub struct RowsToSum<'a> {
    /// The rows, starting with the first.
    pub source: &'a mut dyn ChunkSource,
    /// The type of the targets.
    pub targets: &'a Targets,
    /// The kernel that the map approximates, if known.
    pub kernel: Option<&'a ScaledKernel>,
    /// The seed of the learner's own random draws.
    pub seed: Seed,
    /// Device, memory limit and progress callback.
    pub run: &'a Run,
}

impl Debug for RowsToSum<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("RowsToSum")
            .field("targets", &self.targets)
            .field("run", self.run)
            .finish_non_exhaustive()
    }
}

/// Arguments of a fit to sums, in addition to the sums.
#[derive(Debug, Clone, Copy)]
pub struct ModelContext<'a> {
    /// The type of the targets.
    pub targets: &'a Targets,
    /// The kernel that the map approximates, if known.
    pub kernel: Option<&'a ScaledKernel>,
    /// The settings that the fit ran with.
    pub run: &'a Run,
}
