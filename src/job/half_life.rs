//! Jobs whose rows count for less the older they are.

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
    /// Rows of weight above 0, with the weights of the half-life if there is one. The source is at
    /// its first row. Errors as [`Forgetting::new`] does.
    #[doc(hidden)]
    pub fn forgetting<S: ChunkSource>(&self, source: S) -> Result<impl ChunkSource + use<S>> {
        // Precisions share their unit with the noise that the learner estimates.
        let are_precisions = !self.learner.takes_half_life();
        let rows = CountedRows::new(source).keep_unit(are_precisions);
        let rows = Forgetting::maybe(rows, self.half_life)?;
        Ok(CountedRows::new(rows).keep_unit(are_precisions))
    }

    /// Has a model keep whether rows had weights of their own, which those of the half-life hide.
    #[doc(hidden)]
    pub fn say_weighted(&self, model: &mut LinearModel, weighted: bool) {
        if self.half_life.is_some() {
            let job = model.job.take();
            model.job = job.map(|job| job.flag("weighted", weighted));
        }
    }
}
