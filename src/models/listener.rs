//! Who hears of long work.

use std::{fmt, sync::Arc};

/// What long work has done.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub enum Step {
    /// Rows that are surveyed.
    Survey(u64),
    /// Rows that the map has read, if it reads them.
    Map(u64),
    /// Rows that are fitted; with conjugate gradients, read and binned.
    Rows(u64),
    /// Iterations of conjugate gradients, and the largest relative residual of a target.
    Iteration(usize, f64),
}

/// Hears each [`Step`]; by default nobody does.
#[derive(Clone, Default)]
pub struct Listener(Option<Arc<dyn Fn(Step) + Send + Sync>>);

impl Listener {
    /// Calls `hear` at each step.
    pub fn to(hear: impl Fn(Step) + Send + Sync + 'static) -> Self {
        Self(Some(Arc::new(hear)))
    }

    pub(super) fn say(&self, step: Step) {
        if let Some(hear) = &self.0 {
            hear(step);
        }
    }
}

impl fmt::Debug for Listener {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.0 {
            Some(_) => "Listener",
            None => "Listener(nobody)",
        })
    }
}
