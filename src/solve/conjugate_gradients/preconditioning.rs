//! What evens the eigenvalues of a Gram matrix out, and when more of it pays.

use crate::device::memory_left;

/// What evens the eigenvalues of a Gram matrix out before conjugate gradients. Each choice leads to
/// the same coefficients; what differs is how soon.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Preconditioning {
    /// The diagonal; if so many products with it as a sketch may cost have not led near the
    /// tolerance, a sketch whose rank follows the numbers of targets and columns; and one of twice
    /// the rank, again and again, where what the last one leaves to do costs more.
    #[default]
    Auto,
    /// As [`Self::Auto`], with at most so many bytes for sketches in the making.
    Within {
        /// The bytes.
        bytes: u64,
    },
    /// The diagonal alone.
    Diagonal,
    /// A randomised Nystrom sketch (Frangella, Tropp & Udell 2023, "Randomized Nystrom
    /// preconditioning", sec. 5): one pass over streamed rows, and `8 D` bytes for each direction,
    /// three times as many while it is made.
    Sketch {
        /// Directions, at most as many as there are columns.
        rank: usize,
    },
}

/// Iterations with the diagonal before a sketch is taken.
const TRIAL: usize = 25;
/// Iterations that tell how fast those with a sketch are.
const WATCHED: usize = 10;
/// Features of one pass take as long as products with so many vectors (16 columns, on a CPU).
const FEATURES: f64 = 8.0;
/// Bytes of the first sketch in the making, and of any: more than a browser's `usize` holds.
const FIRST_BYTES: u64 = 1 << 30;
const MOST_BYTES: u64 = 1 << 32;

/// How large the problem is.
#[derive(Debug, Clone, Copy)]
pub(super) struct Size {
    pub(super) rows: usize,
    pub(super) columns: usize,
    pub(super) targets: usize,
}

/// When a sketch is taken, and of which rank.
#[derive(Debug)]
pub(super) struct Schedule {
    of: Preconditioning,
    size: Size,
    /// Directions that the last one was asked for, 0 for the diagonal.
    rank: usize,
    /// The iteration and the residual that it began at.
    since: (usize, f64),
    /// Whether a larger one finds directions that the penalty does not hide.
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

    /// The rank of a sketch that is worth its cost after so many iterations, which left so much of
    /// the residual and did not reach the tolerance; 0 for none.
    ///
    /// The first takes as many products as 12 iterations, and no fewer than 200, where it is the
    /// features that take the time. The rank is doubled where the iterations that are left, at the
    /// rate of those since the last sketch, cost twice as much: the doubling of Frangella, Tropp &
    /// Udell 2023, with costs in place of a bound on the eigenvalues.
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

    /// Iterations go on from here with a sketch that was asked for `rank` directions and found
    /// some.
    pub(super) fn begin(&mut self, rank: usize, found: usize, at: (usize, f64)) {
        self.finds_more = found == rank;
        self.rank = rank;
        self.since = at;
    }
}
