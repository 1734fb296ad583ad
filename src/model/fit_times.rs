//! Duration of the stages of a fit.

use std::time::Duration;

/// Duration of each stage of a fit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FitTimes {
    /// Reading, computing features and summing.
    pub accumulate: Duration,
    /// The solver.
    pub solve: Duration,
}
