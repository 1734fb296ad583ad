//! How long a fit took.

use std::time::Duration;

/// How long each stage of a fit took.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FitTimes {
    /// Reading, featurizing and summing.
    pub accumulate: Duration,
    /// The solver.
    pub solve: Duration,
}
