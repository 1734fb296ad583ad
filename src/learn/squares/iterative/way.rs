//! Chooses the cheapest solver for maps with binning parts: a Cholesky factor of the sums or of the
//! products of rows, or conjugate gradients.

use crate::{Error, Result, error::Remedy, text::human_bytes};

/// The requested solver.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::learn) enum Way {
    /// A Cholesky factor of the sums.
    Direct,
    /// A Cholesky factor of the products of rows.
    Dual,
    /// Conjugate gradients.
    Iterate,
    /// Whichever is cheaper.
    Cheaper,
}

/// Bytes of a Gram matrix up to which a direct solver is chosen.
const DIRECT_BYTES: f64 = (1_u64 << 30) as f64;
/// The same limit for products of rows.
const DUAL_BYTES: f64 = (1_u64 << 31) as f64;
/// Largest matrix, in bytes, that an explicitly requested direct solver may have.
const MOST_BYTES: f64 = (1_u64 << 35) as f64;
/// Expected number of iterations of conjugate gradients.
const EXPECTED: f64 = 300.0;
/// Cost of an addition at a random address, in operations of a factorisation.
const SCATTERED: f64 = 4.0;
/// Cost of a comparison of bins, in operations of a factorisation.
const COMPARED: f64 = 8.0;
/// Cost of one indexed product in an iteration, in operations of a factorisation.
const GATHERED: f64 = 16.0;

/// Sizes that determine the cost of a fit.
#[derive(Debug, Clone, Copy)]
pub(super) struct Size {
    pub(super) columns: usize,
    pub(super) grids: usize,
    pub(super) rows: usize,
    pub(super) targets: usize,
}

impl Way {
    /// Resolves [`Self::Cheaper`] to a solver, within `room` bytes if bounded. Errors if the
    /// requested solver is not possible.
    pub(super) fn chosen(self, size: Size, all_binned: bool, room: Option<u64>) -> Result<Self> {
        let way = match self {
            Self::Cheaper if all_binned => size.cheapest(room),
            Self::Cheaper => Self::Iterate,
            _ => self,
        };
        let (what, side, unit) = match way {
            Self::Direct => ("a Gram matrix", size.columns, "bins"),
            Self::Dual => ("the products of all rows", size.rows, "rows"),
            Self::Iterate | Self::Cheaper => ("conjugate gradients", size.columns, "columns"),
        };
        if !all_binned && way != Self::Iterate {
            return Err(Error::unsupported(format!(
                "a Cholesky factor needs {what}, which binning beside other maps has none of"
            ))
            .help(Remedy::ConjugateGradients));
        }
        if !size.fits(way, MOST_BYTES, room) {
            let (bytes, allowed) = match room {
                None => (size.matrix_bytes(way), MOST_BYTES),
                Some(room) => (size.bytes(way), room as f64),
            };
            let human = |bytes: f64| human_bytes(bytes as u64);
            let other = match (way, room) {
                (Self::Direct | Self::Dual, Some(_)) => Remedy::ConjugateGradients,
                _ => Remedy::FewerFeatures,
            };
            let first = match room {
                None => Remedy::ConjugateGradients,
                Some(_) => Remedy::MoreMemory,
            };
            return Err(Error::Limit {
                what: what.into(),
                needed: format!("{} for {side} {unit}", human(bytes)),
                allowed: human(allowed),
                remedies: vec![first, other],
            });
        }
        Ok(way)
    }
}

impl Size {
    /// Bytes of the matrix that a solver factors.
    fn matrix_bytes(self, way: Way) -> f64 {
        let side = match way {
            Way::Direct => self.columns,
            Way::Dual => self.rows,
            Way::Iterate | Way::Cheaper => 0,
        };
        8.0 * (side as f64).powi(2)
    }

    /// Bytes of a solver in addition to targets and bins: its matrix and vectors.
    pub(super) fn bytes(self, way: Way) -> f64 {
        let (columns, rows) = (self.columns as f64, self.rows as f64);
        let vectors = match way {
            Way::Direct => 2.0 * columns,
            Way::Dual => 2.0 * (rows + columns),
            // As `ConjugateGradients` counts them.
            Way::Iterate | Way::Cheaper => 2.0 * rows + 6.0 * columns,
        };
        self.matrix_bytes(way) + 8.0 * self.targets as f64 * vectors
    }

    /// Whether everything fits into `room`, or without a bound, whether the matrix has at most
    /// `matrix` bytes.
    fn fits(self, way: Way, matrix: f64, room: Option<u64>) -> bool {
        match room {
            None => self.matrix_bytes(way) <= matrix,
            Some(room) => self.bytes(way) <= room as f64 && self.matrix_bytes(way) <= MOST_BYTES,
        }
    }

    /// The solver with the fewest operations that fits into memory, or into `room` bytes.
    fn cheapest(self, room: Option<u64>) -> Way {
        let (columns, rows) = (self.columns as f64, self.rows as f64);
        let grids = self.grids as f64;
        let ways = [
            (
                Way::Direct,
                columns.powi(3) / 3.0 + SCATTERED * rows * grids * grids / 2.0,
                self.fits(Way::Direct, DIRECT_BYTES, room),
            ),
            (
                Way::Dual,
                rows.powi(3) / 3.0 + COMPARED * grids * rows * rows / 2.0,
                self.fits(Way::Dual, DUAL_BYTES, room),
            ),
            (
                Way::Iterate,
                EXPECTED * GATHERED * 4.0 * rows * grids * self.targets as f64,
                true,
            ),
        ];
        let fit = ways.into_iter().filter(|(.., fits)| *fits);
        let least = fit.min_by(|a, b| a.1.total_cmp(&b.1));
        least.map_or(Way::Iterate, |(way, ..)| way)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Few columns and many products are solved directly, many columns are not.
    #[test]
    fn the_cheaper_way_is_taken() {
        let letter = Size {
            columns: 10_620,
            grids: 300,
            rows: 16_000,
            targets: 26,
        };
        let cheaper = |size| Way::Cheaper.chosen(size, true, None).expect("a way");
        assert_eq!(cheaper(letter), Way::Direct);
        let more = Size {
            columns: 20_000,
            rows: 100_000,
            ..letter
        };
        assert_eq!(cheaper(more), Way::Iterate);
        // With few rows the matrix of their products is smaller than that of bins; with many rows
        // it does not fit.
        let wide = Size {
            columns: 730_000,
            grids: 1000,
            ..letter
        };
        assert_eq!(cheaper(wide), Way::Dual);
        let rows = 20_000;
        assert_eq!(cheaper(Size { rows, ..wide }), Way::Iterate);
        let few = Size {
            rows: 1000,
            targets: 1,
            ..letter
        };
        assert_eq!(cheaper(few), Way::Dual);
        let beside = Way::Cheaper.chosen(letter, false, None).expect("a way");
        assert_eq!(beside, Way::Iterate);
        for way in [Way::Direct, Way::Dual] {
            let union = way.chosen(letter, false, None).expect_err("no matrix");
            assert!(union.to_string().contains("conjugate gradients"), "{union}");
        }
        let large = Way::Direct.chosen(
            Size {
                columns: 100_000,
                ..letter
            },
            true,
            None,
        );
        assert!(matches!(large, Err(Error::Limit { .. })));
    }

    /// In bounded memory a matrix is factored exactly if it fits with its vectors.
    #[test]
    fn what_is_bounded_is_kept_to() {
        let size = Size {
            columns: 500,
            grids: 20,
            rows: 400,
            targets: 2,
        };
        let dual = 8 * 400 * 400 + 16 * 2 * (400 + 500);
        let way = |way: Way, room| way.chosen(size, true, Some(room));
        assert_eq!(way(Way::Cheaper, dual).expect("fits"), Way::Dual);
        assert_eq!(way(Way::Cheaper, dual - 1).expect("fits"), Way::Iterate);
        let refused = way(Way::Dual, dual - 1).expect_err("a byte too few");
        let text = refused.to_string();
        assert!(
            text.contains("1.3 MB for 400 rows") && text.contains("conjugate"),
            "{text}"
        );
        assert_eq!(way(Way::Dual, dual).expect("fits"), Way::Dual);
        let direct = 8 * 500 * 500 + 16 * 2 * 500;
        assert_eq!(way(Way::Direct, direct).expect("fits"), Way::Direct);
        assert!(way(Way::Direct, direct - 1).is_err());
        let vectors = 8 * 2 * (2 * 400 + 6 * 500);
        assert_eq!(way(Way::Iterate, vectors).expect("fits"), Way::Iterate);
        let refused = way(Way::Cheaper, vectors - 1).expect_err("no way fits");
        assert!(refused.to_string().contains("memory"), "{refused}");
    }
}
