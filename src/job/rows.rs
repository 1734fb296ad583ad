//! Input of the stages of a job after the survey.

use super::Scales;
use crate::{
    Run,
    data::{ChunkSource, Survey},
    model::Targets,
};

/// Rows and their survey, as input of the stages after it.
#[doc(hidden)]
pub struct Rows<'a> {
    /// The rows.
    pub source: &'a mut dyn ChunkSource,
    /// Moments, labels and sample from one pass over the rows.
    pub survey: &'a Survey,
    /// Preparation of the columns.
    pub scales: &'a Scales,
    /// Kind and encoding of the targets.
    pub targets: &'a Targets,
    /// Device, memory and progress callback.
    pub run: &'a Run,
}

impl Rows<'_> {
    /// Reborrows the rows for one stage.
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
