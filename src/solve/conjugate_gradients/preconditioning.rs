//! Preconditioners of conjugate gradients, and when a larger one pays off.

use crate::device::memory_left;

/// Preconditioner of conjugate gradients. All choices lead to the same coefficients, after
/// different numbers of iterations.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Preconditioning {
    /// Starts with the diagonal. If it has not converged after 25 iterations, uses a sketch whose
    /// rank depends on the numbers of targets and columns, and doubles the rank as long as the
    /// expected remaining iterations cost more than a larger sketch.
    #[default]
    Auto,
    /// As [`Self::Auto`], with a memory limit for sketches during their computation.
    Within {
        /// The limit in bytes.
        bytes: u64,
    },
    /// The diagonal only.
    Diagonal,
    /// A randomised Nystrom sketch (Frangella, Tropp & Udell 2023, "Randomized Nystrom
    /// preconditioning", sec. 5): one pass over streamed rows, and `8 D` bytes per direction, three
    /// times as many during its computation.
    Sketch {
        /// Number of directions, at most that of columns.
        rank: usize,
    },
}

/// Iterations with the diagonal before a sketch is taken.
const TRIAL: usize = 25;
/// Iterations after which the convergence rate with a sketch is known.
const WATCHED: usize = 10;
/// Computing the features in a pass takes as long as products with this number of vectors (measured
/// for 16 columns on a CPU).
const FEATURES: f64 = 8.0;
/// Memory limits of the first sketch, and of any, in bytes; u64, since they exceed `usize` in
/// browsers.
const FIRST_BYTES: u64 = 1 << 30;
const MOST_BYTES: u64 = 1 << 32;

/// Size of the problem.
#[derive(Debug, Clone, Copy)]
pub(super) struct Size {
    pub(super) rows: usize,
    pub(super) columns: usize,
    pub(super) targets: usize,
}

/// Schedule of sketches and their ranks.
#[derive(Debug)]
pub(super) struct Schedule {
    of: Preconditioning,
    size: Size,
    /// Requested rank of the current sketch, 0 for the diagonal.
    rank: usize,
    /// Iteration and residual at its start.
    since: (usize, f64),
    /// Whether a larger sketch could find more directions above the penalty.
    finds_more: bool,
}

impl Schedule {
    pub(super) fn new(of: Preconditioning, size: Size) -> Self {
        Self {
            of,
            size,
            rank: 0,
            since: (0, 1.0),
            finds_more: true,
        }
    }

    /// The rank of a sketch before the first iteration; 0 for none.
    pub(super) fn at_once(&self) -> usize {
        match self.of {
            Preconditioning::Auto | Preconditioning::Within { .. } | Preconditioning::Diagonal => 0,
            Preconditioning::Sketch { rank } => rank.min(self.size.columns),
        }
    }

    /// The rank of a sketch that is worth its cost after `iterations` iterations with relative
    /// residual `residual`; 0 for none.
    ///
    /// The first sketch, after 25 iterations, has 12 directions per target, which cost as much as
    /// 12 iterations, but at least 200 and at most 500, and no more than a quarter of the columns.
    /// The rank is doubled if the remaining iterations, at the rate since the last sketch, cost
    /// twice as much: the doubling of Frangella, Tropp & Udell 2023, by cost instead of a bound on
    /// the eigenvalues.
    pub(super) fn worth(&self, iterations: usize, residual: f64, tolerance: f64) -> usize {
        let Size {
            rows,
            columns,
            targets,
        } = self.size;
        let most = match self.of {
            Preconditioning::Auto => u64::MAX,
            Preconditioning::Within { bytes } => bytes,
            Preconditioning::Diagonal | Preconditioning::Sketch { .. } => return 0,
        };
        let room = |bytes: u64| (bytes.min(most) / (24 * columns.max(1) as u64)) as usize;
        if self.rank == 0 {
            let rank = (12 * targets).clamp(200, 500).min(columns / 4);
            return if iterations == TRIAL {
                rank.min(room(FIRST_BYTES))
            } else {
                0
            };
        }
        let (from, first) = self.since;
        let passed = iterations - from;
        let rank = (2 * self.rank).min(columns.min(rows) / 2);
        let rank = rank.min(room(MOST_BYTES));
        if !self.finds_more
            || passed == 0
            || !passed.is_multiple_of(WATCHED)
            || 2 * rank < 3 * self.rank
        {
            return 0;
        }
        let gained = (first / residual).ln() / passed as f64;
        let left = if gained > 0.0 {
            (residual / tolerance).ln() / gained
        } else {
            f64::INFINITY
        };
        let (iteration, sketch) = (FEATURES + targets as f64, FEATURES + rank as f64);
        let bytes = 24 * columns as u128 * rank as u128;
        if left * iteration > 2.0 * sketch && memory_left::require(bytes, String::new).is_ok() {
            rank
        } else {
            0
        }
    }

    /// Records a new sketch for which `rank` directions were requested and `found` found.
    pub(super) fn begin(&mut self, rank: usize, found: usize, at: (usize, f64)) {
        self.finds_more = found == rank;
        self.rank = rank;
        self.since = at;
    }
}
