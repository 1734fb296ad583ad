//! Boosting of blocks of features.

use super::{PATIENCE, Staged};
use crate::{
    Result,
    normal::NormalEquations,
    settings::Settings,
    solve::{Boosting, Stagewise},
};

/// Bytes per pair of features of the factors of blocks, in addition to the sums: 14 were measured
/// with 2,000 features in one block.
const BLOCK_BYTES: u32 = 16;

/// Options of [`BoostingRegressor`](crate::models::BoostingRegressor) and
/// [`BoostingClassifier`](crate::models::BoostingClassifier), see [`Boosting`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BoostingOptions {
    /// Number of features per block.
    pub block: usize,
    /// Learning rate: the share of each weak learner that is added, in (0, 1].
    pub shrinkage: f64,
    /// The penalty per sample of a weak learner, lambda > 0.
    pub lambda: f64,
    /// Maximum number of stages.
    pub stages: usize,
    /// Share of held-out rows; all rows are then fitted up to the stage with the least hold-out
    /// error. 0 takes all stages.
    pub held_out: f64,
    /// Whether to fit an intercept.
    pub intercept: bool,
}

impl Default for BoostingOptions {
    /// Blocks of 50 features, a learning rate of 0.1, lambda = 1e-6, at most 2000 stages, a fifth
    /// of the rows held out, with an intercept.
    fn default() -> Self {
        Self {
            block: 50,
            shrinkage: 0.1,
            lambda: 1e-6,
            stages: 2000,
            held_out: 0.2,
            intercept: true,
        }
    }
}

impl BoostingOptions {
    fn solver(&self) -> Boosting {
        Boosting {
            block: self.block,
            shrinkage: self.shrinkage,
            lambda: self.lambda,
            stages: self.stages,
            intercept: self.intercept,
            patience: PATIENCE,
        }
    }
}

impl Staged for BoostingOptions {
    const NAME: &str = "boosting";
    const STAGES: &str = "stages";
    const SOLVER_BYTES: u32 = BLOCK_BYTES;

    fn say(&self, settings: Settings) -> Settings {
        settings
            .text("steps", self.stages)
            .text("block", self.block)
            .number("shrinkage", self.shrinkage)
            .number("lambda", self.lambda)
    }

    fn share_held_out(&self) -> f64 {
        self.held_out
    }

    fn has_intercept(&self) -> bool {
        self.intercept
    }

    fn penalty(&self) -> f64 {
        self.lambda
    }

    fn grow(
        &self,
        sums: &NormalEquations,
        held_out: Option<&NormalEquations>,
    ) -> Result<Stagewise> {
        self.solver().solve(sums, held_out)
    }

    fn grow_to(&self, sums: &NormalEquations, stages: usize) -> Result<Stagewise> {
        self.solver().solve_stages(sums, stages)
    }
}
