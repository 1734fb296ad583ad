//! Exponential forgetting of rows in a job.

#[cfg(test)]
mod tests;

use super::Job;
use crate::{
    Result,
    data::{ChunkSource, CountedRows, Forgetting},
    learn::Fit,
    model::LinearModel,
};

impl Job<&dyn Fit> {
    /// Wraps a source, which is at its first row: drops rows of weight 0, and applies the half-life
    /// if there is one. Errors as [`Forgetting::new`] does.
    #[doc(hidden)]
    pub fn forgetting<S: ChunkSource>(&self, source: S) -> Result<impl ChunkSource + use<S>> {
        // Precisions share their unit with the noise that the learner estimates.
        let are_precisions = !self.learner.takes_half_life();
        let rows = CountedRows::new(source).keep_unit(are_precisions);
        let rows = Forgetting::maybe(rows, self.half_life)?;
        Ok(CountedRows::new(rows).keep_unit(are_precisions))
    }

    /// Stores in the model whether rows had weights besides those of the half-life.
    #[doc(hidden)]
    pub fn say_weighted(&self, model: &mut LinearModel, weighted: bool) {
        if self.half_life.is_some() {
            let job = model.job.take();
            model.job = job.map(|job| job.flag("weighted", weighted));
        }
    }
}
