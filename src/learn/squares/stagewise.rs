//! Stagewise learners: greedy selection of features, and boosting of blocks of features.

mod boosting;
mod greedy;
mod sums;
#[cfg(test)]
mod tests;

pub use boosting::BoostingOptions;
pub use greedy::GreedyOptions;

use crate::{
    Result,
    features::FeatureMap,
    learn::{
        Fit, FitAnySums, FitData, FitSums,
        fit::{centred, fit_sums::fit_sums},
    },
    model::LinearModel,
    normal::{NormalEquations, SUM_BYTES},
    settings::Settings,
    solve::Stagewise,
    sums::{HeldOutSums, ModelContext, Resume, RowsToSum},
};
use std::fmt::Debug;

/// Early stopping: steps without a smaller hold-out error.
const PATIENCE: usize = 50;

/// A learner that adds stages on sums. The number of stages is the best on held-out rows; then all
/// rows are fitted with as many stages.
pub(in crate::learn) trait Staged: Debug + Send + Sync {
    /// Its name.
    const NAME: &str;
    /// Name of the fact of its model that holds the number of stages.
    const STAGES: &str;
    /// Bytes per pair of features that its solver needs in addition to the sums.
    const SOLVER_BYTES: u32;

    /// Adds its own options to the settings.
    fn say(&self, settings: Settings) -> Settings;

    /// The share of the rows that is held out, 0 for none.
    fn share_held_out(&self) -> f64;

    /// Whether to fit an intercept.
    fn has_intercept(&self) -> bool;

    /// The penalty per sample that its model reports.
    fn penalty(&self) -> f64 {
        0.0
    }

    /// Fits to the rows of `sums`, up to the stage that is best on the held-out rows.
    fn grow(&self, sums: &NormalEquations, held_out: Option<&NormalEquations>)
    -> Result<Stagewise>;

    /// Fits `stages` stages, which may be 0.
    fn grow_to(&self, sums: &NormalEquations, stages: usize) -> Result<Stagewise>;
}

impl<S: Staged> Fit for S {
    fn settings(&self) -> Settings {
        self.say(Settings::of_learner(S::NAME))
            .number("held-out", self.share_held_out())
            .flag("no-intercept", !self.has_intercept())
    }

    /// The sums of both parts and the memory of the solver.
    fn square_bytes(&self, _features: usize) -> u32 {
        let held_out = if self.share_held_out() > 0.0 { 8 } else { 0 };
        SUM_BYTES + S::SOLVER_BYTES + held_out
    }

    fn of_sums(&self) -> Option<&dyn FitAnySums> {
        Some(self)
    }

    fn takes_weights(&self) -> bool {
        true
    }

    /// Errors as the solver and [`NormalEquations::accumulate`] do, and with
    /// [`Error::Parameter`](crate::Error::Parameter) on an invalid share of held-out rows.
    fn fit(&self, map: Box<dyn FeatureMap>, data: FitData<'_>) -> Result<LinearModel> {
        centred::fit(self.has_intercept(), map, data, |map, data| {
            fit_sums(self, map, data)
        })
    }
}

impl<S: Staged> FitSums for S {
    type Sums = HeldOutSums;

    fn sum_on(
        &self,
        map: &dyn FeatureMap,
        data: RowsToSum<'_>,
        resume: Resume<'_, HeldOutSums>,
    ) -> Result<HeldOutSums> {
        HeldOutSums::accumulate(self.share_held_out(), map, data, resume)
    }

    fn model(
        &self,
        map: Box<dyn FeatureMap>,
        sums: HeldOutSums,
        known: ModelContext<'_>,
    ) -> Result<LinearModel> {
        let solved = sums.solve(self)?;
        Ok(model_of(self, map, solved, known))
    }
}

/// Turns the solution into a model.
fn model_of<S: Staged>(
    learner: &S,
    map: Box<dyn FeatureMap>,
    (solved, rows): (Stagewise, u64),
    known: ModelContext<'_>,
) -> LinearModel {
    let features = solved.coefficients.beta_dt.rows().into_iter();
    let used = features.filter(|b| b.iter().any(|b| *b != 0.0)).count();
    let targets = known.targets.clone();
    let mut model = LinearModel {
        learner: S::NAME.into(),
        lambda: learner.penalty(),
        rows,
        ..LinearModel::new(map, solved.coefficients, targets, &known.run.device)
    };
    let facts = [
        (S::STAGES, Some(solved.stages as f64)),
        ("nonzero_features", Some(used as f64)),
        ("training_error", Some(solved.error)),
        ("held_out_error", solved.held_out_error),
    ];
    let facts = facts.into_iter();
    let facts = facts.filter_map(|(name, v)| v.map(|v| (name.to_owned(), v)));
    model.facts.extend(facts);
    model
}
