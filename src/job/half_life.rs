//! Jobs whose rows count for less the older they are.

#[cfg(test)]
mod tests;

use super::Job;
use crate::{
    Result,
    data::{ChunkSource, Forgetting},
    learn::Fit,
    model::LinearModel,
};

impl Job<&dyn Fit> {
    /// The rows with the weights of the half-life, if there is one; else as they are. The source is
    /// at its first row. Errors as [`Forgetting::new`] does.
    #[doc(hidden)]
    pub fn forgetting<S: ChunkSource>(&self, source: S) -> Result<Forgetting<S>> {
        Forgetting::maybe(source, self.half_life)
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
