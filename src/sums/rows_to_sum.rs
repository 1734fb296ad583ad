//! Rows on their way into sums, and what a model of these needs beside them.

use crate::{data::ChunkSource, features::ScaledKernel, flow::Run, model::Targets, seed::Seed};
use std::fmt::Debug;

/// Rows on their way into sums.
pub struct RowsToSum<'a> {
    /// The rows, from the first.
    pub source: &'a mut dyn ChunkSource,
    /// What their targets mean.
    pub targets: &'a Targets,
    /// The kernel that the map estimates, where it is known.
    pub kernel: Option<&'a ScaledKernel>,
    /// The seed of what the learner draws itself.
    pub seed: Seed,
    /// Where, with how much memory, and who hears of it.
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

/// What a model of sums needs beside them.
#[derive(Debug, Clone, Copy)]
pub struct ModelContext<'a> {
    /// What targets mean.
    pub targets: &'a Targets,
    /// The kernel that the map estimates, where it is known.
    pub kernel: Option<&'a ScaledKernel>,
    /// Where the fit ran.
    pub run: &'a Run,
}
