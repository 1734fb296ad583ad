//! Greedy forward selection of features.

use super::{PATIENCE, Staged};
use crate::{
    Result,
    normal::NormalEquations,
    settings::Settings,
    solve::{Greedy, Stagewise},
};

/// Options of [`GreedyRegressor`](crate::models::GreedyRegressor) and
/// [`GreedyClassifier`](crate::models::GreedyClassifier), see [`Greedy`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct GreedyOptions {
    /// Maximum number of steps, and so of features with a coefficient.
    pub steps: usize,
    /// Share of held-out rows; all rows are then fitted up to the step with the least hold-out
    /// error. 0 takes all steps.
    pub held_out: f64,
    /// Whether to fit an intercept.
    pub intercept: bool,
}

impl Default for GreedyOptions {
    /// At most 200 steps, a fifth of the rows held out, with an intercept.
    fn default() -> Self {
        Self {
            steps: 200,
            held_out: 0.2,
            intercept: true,
        }
    }
}

impl GreedyOptions {
    fn solver(&self) -> Greedy {
        Greedy {
            steps: self.steps,
            intercept: self.intercept,
            patience: PATIENCE,
        }
    }
}

impl Staged for GreedyOptions {
    const NAME: &str = "greedy";
    const STAGES: &str = "steps";
    const SOLVER_BYTES: u32 = 0;

    fn say(&self, settings: Settings) -> Settings {
        settings.text("steps", self.steps)
    }

    fn share_held_out(&self) -> f64 {
        self.held_out
    }

    fn has_intercept(&self) -> bool {
        self.intercept
    }

    fn grow(
        &self,
        sums: &NormalEquations,
        held_out: Option<&NormalEquations>,
    ) -> Result<Stagewise> {
        self.solver().solve(sums, held_out)
    }

    fn grow_to(&self, sums: &NormalEquations, stages: usize) -> Result<Stagewise> {
        self.solver().solve_steps(sums, stages)
    }
}
