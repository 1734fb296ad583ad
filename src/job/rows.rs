//! Rows on their way through the stages of a job.

use super::Scales;
use crate::{
    Run,
    data::{ChunkSource, Survey},
    model::Targets,
};

/// Rows on their way through the stages after the survey.
#[doc(hidden)]
pub struct Rows<'a> {
    /// The rows.
    pub source: &'a mut dyn ChunkSource,
    /// What one pass over them found.
    pub survey: &'a Survey,
    /// How their columns are prepared.
    pub scales: &'a Scales,
    /// What their targets mean.
    pub targets: &'a Targets,
    /// Where, with how much memory, and who hears of it.
    pub run: &'a Run,
}

impl Rows<'_> {
    /// The same rows, for one stage of several.
    #[doc(hidden)]
    pub fn again(&mut self) -> Rows<'_> {
        Rows {
            source: &mut *self.source,
            ..*self
        }
    }
}

impl std::fmt::Debug for Rows<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Rows")
            .field("rows", &self.survey.rows)
            .field("targets", self.targets)
            .finish_non_exhaustive()
    }
}
