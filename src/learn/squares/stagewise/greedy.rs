//! Greedy fits: feature by feature.

use super::{PATIENCE, Staged};
use crate::{
    Result,
    normal::NormalEquations,
    settings::Settings,
    solve::{Greedy, Stagewise},
};

/// What [`GreedyRegressor`](crate::models::GreedyRegressor) and
/// [`GreedyClassifier`](crate::models::GreedyClassifier) have of their own: [`Greedy`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct GreedyOptions {
    /// Most steps, and so the most features with a coefficient.
    pub steps: usize,
    /// Share of the rows that is held out: up to the step with the least error on them all rows
    /// are fitted. 0 takes the last.
    pub held_out: f64,
    /// Whether an intercept is fitted.
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
