//! Limits of the full search and of the brief search.
//!
//! The limits of the brief search are the cheapest of those tried on 28 public tables with three
//! splits each whose errors stayed within 3 % of the full search (docs/automatic.md).

use super::{Budget, trials::MOST_ROWS};
use crate::features::Standardize;

/// Limits of the steps of a search.
#[derive(Debug)]
pub(super) struct Effort {
    /// Largest number of sampled rows.
    pub(super) sample_rows: usize,
    /// Largest number of features of all trials but the last ones.
    pub(super) explored_features: usize,
    /// Largest number of features of the last trials, which decide on averaging.
    pub(super) judged_features: usize,
    /// Largest number of lengthscales at which kernels are compared first.
    pub(super) raced_multiples: usize,
    /// Preparations of columns that are compared with the given one.
    pub(super) preparations: &'static [Standardize],
    /// Number of other kernels that are tried again with the learned metric.
    pub(super) rivals: usize,
    /// Largest number of successive learned curves per column.
    pub(super) curves: usize,
    /// Whether bandwidth and metric are refined on all rows. Else all trials use the sample, and
    /// the final fit to more rows chooses its penalty by leave-one-out errors.
    pub(super) tries_all_rows: bool,
    /// Whether binning also tries columns with equal weights.
    pub(super) bins_evenly: bool,
}

const FULL: Effort = Effort {
    sample_rows: MOST_ROWS,
    explored_features: 1000,
    judged_features: usize::MAX,
    raced_multiples: 3,
    preparations: &[Standardize::Robust, Standardize::Rank],
    rivals: 2,
    curves: 4,
    tries_all_rows: true,
    bins_evenly: true,
};

const BRIEF: Effort = Effort {
    sample_rows: 8_400,
    explored_features: 500,
    judged_features: 1000,
    raced_multiples: 1,
    preparations: &[],
    rivals: 0,
    curves: 1,
    tries_all_rows: false,
    bins_evenly: false,
};

impl Budget {
    /// Returns the limits for this budget.
    pub(super) fn effort(self) -> &'static Effort {
        match self {
            Self::Brief => &BRIEF,
            _ => &FULL,
        }
    }
}
