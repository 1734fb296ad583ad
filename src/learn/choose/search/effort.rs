//! How far each step of a search goes, for a full one and for a brief one.
//!
//! Values of the brief search were chosen on 28 tables of other people, three splits each, as the
//! cheapest whose errors stayed within 3 % of the full search (docs/automatic.md).

use super::{Budget, trials::MOST_ROWS};
use crate::features::Standardize;

/// Limits of the steps of a search.
#[derive(Debug)]
pub(super) struct Effort {
    /// Rows of the sample, at most.
    pub(super) sample_rows: usize,
    /// Features of the trials before the last, at most.
    pub(super) explored_features: usize,
    /// Features of the last trials, at most, by which the result is averaged.
    pub(super) judged_features: usize,
    /// Multiples of the median distance at which kernels race, at most.
    pub(super) raced_multiples: usize,
    /// Preparations of columns that race beside the given one.
    pub(super) preparations: &'static [Standardize],
    /// Kernels that lost the race and are tried again once the metric is known.
    pub(super) rivals: usize,
    /// Curves of columns, each learnt by the fit along those before it, at most.
    pub(super) curves: usize,
    /// Whether trials see all rows, and bandwidth and metric are found anew on them. Else all
    /// trials are of the sample, and the fit to more rows chooses its penalty.
    pub(super) tries_all_rows: bool,
    /// Whether binning tries evenly drawn columns beside weighed ones.
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
    /// The limits of a search with this budget.
    pub(super) fn effort(self) -> &'static Effort {
        match self {
            Self::Brief => &BRIEF,
            _ => &FULL,
        }
    }
}
