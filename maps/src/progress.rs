//! What long work says of itself, and who hears it.

use std::{fmt, sync::Arc};

/// What long work has done.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub enum Step {
    /// Rows that are surveyed.
    Survey(u64),
    /// Rows that the map has read, if it reads them.
    Map(u64),
    /// Rows that are fitted, featurized or predicted; with conjugate gradients, read and binned.
    Rows(u64),
    /// Preparations and bandwidths that were looked at, before the map is drawn.
    Candidate(usize),
    /// Trials of a search, and the least error so far.
    Trial(usize, f64),
    /// The fold of cross-validation that begins, counted from 1, and how many there are.
    Fold(usize, usize),
    /// Iterations of conjugate gradients, and the largest relative residual of a target.
    Iteration(usize, f64),
}

/// Who hears each [`Step`]; by default nobody does.
#[derive(Clone, Default)]
#[doc(hidden)]
pub struct Progress(Option<Arc<dyn Fn(Step) + Send + Sync>>);

impl Progress {
    /// Calls `hear` at each step.
    #[doc(hidden)]
    pub fn to(hear: impl Fn(Step) + Send + Sync + 'static) -> Self {
        Self(Some(Arc::new(hear)))
    }

    pub(crate) fn say(&self, step: Step) {
        if let Some(hear) = &self.0 {
            hear(step);
        }
    }
}

impl fmt::Debug for Progress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.0 {
            Some(_) => "Progress",
            None => "Progress(nobody)",
        })
    }
}
