//! Options of the learners that grow step by step.

use super::losses::Shared;
use crate::args::{at_least_one, positive, share};
use bochner::models::{BoostingOptions, Fit, GreedyOptions};
use clap::Args;

/// What they have of their own.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Learner options")]
pub(super) struct StageArgs {
    /// greedy, boosting: most steps, with greedy also most features that are used [default: 200 and
    /// 2000]
    #[arg(long, value_name = "N", value_parser = at_least_one, allow_hyphen_values = true)]
    steps: Option<usize>,
    /// greedy, boosting: share of the training rows that says at which step to stop, before all of
    /// them are fitted; 0 takes the last step [default: 0.2]
    #[arg(long, value_name = "SHARE", value_parser = share, allow_hyphen_values = true)]
    held_out: Option<f64>,
    /// boosting: features of a block [default: 50]
    #[arg(long, value_name = "B", value_parser = at_least_one, allow_hyphen_values = true)]
    block: Option<usize>,
    /// boosting: how much of a fitted block is added [default: 0.1]
    #[arg(long, value_name = "NU", value_parser = positive, allow_hyphen_values = true)]
    shrinkage: Option<f64>,
}

impl StageArgs {
    /// The options that are there, each with the models that take it.
    pub(super) fn given(&self) -> [(&'static str, bool, &'static [&'static str]); 4] {
        let both = &["greedy", "boosting"];
        [
            ("--steps", self.steps.is_some(), both),
            ("--held-out", self.held_out.is_some(), both),
            ("--block", self.block.is_some(), &["boosting"]),
            ("--shrinkage", self.shrinkage.is_some(), &["boosting"]),
        ]
    }

    pub(super) fn greedy(&self, shared: Shared) -> Box<dyn Fit> {
        let default = GreedyOptions::default();
        Box::new(GreedyOptions {
            steps: self.steps.unwrap_or(default.steps),
            held_out: self.held_out.unwrap_or(default.held_out),
            intercept: shared.intercept,
        })
    }

    pub(super) fn boosting(&self, shared: Shared) -> Box<dyn Fit> {
        let default = BoostingOptions::default();
        Box::new(BoostingOptions {
            block: self.block.unwrap_or(default.block),
            shrinkage: self.shrinkage.unwrap_or(default.shrinkage),
            lambda: shared.lambda.unwrap_or(default.lambda),
            stages: self.steps.unwrap_or(default.stages),
            held_out: self.held_out.unwrap_or(default.held_out),
            intercept: shared.intercept,
        })
    }
}
