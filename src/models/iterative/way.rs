//! Which solver takes the least work for maps with binning parts: a Cholesky factor of the sums or
//! of the products of rows, or conjugate gradients.

use crate::{Error, Result, error::Remedy};

/// What is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::models) enum Way {
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
/// The same of products of rows.
const DUAL_BYTES: f64 = (1_u64 << 31) as f64;
/// Bytes of a matrix up to which a direct solver does as it is told.
const MOST_BYTES: f64 = (1_u64 << 35) as f64;
/// Iterations that conjugate gradients are expected to take.
const EXPECTED: f64 = 300.0;
/// A sum at a random place takes as long as so many operations of a factorisation.
const SCATTERED: f64 = 4.0;
/// A comparison of bins takes as long as so many operations of a factorisation.
const COMPARED: f64 = 8.0;
/// The same of what a product with a value and its place in an iteration takes.
const GATHERED: f64 = 16.0;

/// What the cost of a fit depends on.
#[derive(Debug, Clone, Copy)]
pub(super) struct Size {
    pub(super) columns: usize,
    pub(super) grids: usize,
    pub(super) rows: usize,
    pub(super) targets: usize,
}

impl Way {
    /// How to solve: never [`Self::Cheaper`]. Errors when what is asked for cannot be.
    pub(super) fn chosen(self, size: Size, all_binned: bool) -> Result<Self> {
        let (columns, rows) = (size.columns as f64, size.rows as f64);
        let bytes = |side: f64| 8.0 * side * side;
        let (what, side, unit) = match self {
            Self::Iterate => return Ok(self),
            Self::Cheaper => {
                return Ok(if all_binned {
                    size.cheapest()
                } else {
                    Self::Iterate
                });
            }
            Self::Direct => ("a Gram matrix", columns, "bins"),
            Self::Dual => ("the products of all rows", rows, "rows"),
        };
        if !all_binned {
            return Err(Error::unsupported(format!(
                "a Cholesky factor needs {what}, which binning beside other maps has none of"
            ))
            .help(Remedy::ConjugateGradients));
        }
        if bytes(side) > MOST_BYTES {
            return Err(Error::Limit {
                what: what.into(),
                needed: format!("{:.0} GB for {side} {unit}", bytes(side) / 1e9),
                allowed: format!("{:.0} GB", MOST_BYTES / 1e9),
                remedies: vec![Remedy::ConjugateGradients, Remedy::FewerFeatures],
            });
        }
        Ok(self)
    }
}

impl Size {
    /// The way of the fewest operations that fits into memory.
    fn cheapest(self) -> Way {
        let (columns, rows) = (self.columns as f64, self.rows as f64);
        let grids = self.grids as f64;
        let ways = [
            (
                Way::Direct,
                columns.powi(3) / 3.0 + SCATTERED * rows * grids * grids / 2.0,
                8.0 * columns * columns <= DIRECT_BYTES,
            ),
            (
                Way::Dual,
                rows.powi(3) / 3.0 + COMPARED * grids * rows * rows / 2.0,
                8.0 * rows * rows <= DUAL_BYTES,
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
        let cheaper = |size| Way::Cheaper.chosen(size, true).expect("a way");
        assert_eq!(cheaper(letter), Way::Direct);
        let more = Size {
            columns: 20_000,
            rows: 100_000,
            ..letter
        };
        assert_eq!(cheaper(more), Way::Iterate);
        // Of few rows their products are fewer than bins; of many there is no room for them.
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
        let beside = Way::Cheaper.chosen(letter, false).expect("a way");
        assert_eq!(beside, Way::Iterate);
        for way in [Way::Direct, Way::Dual] {
            let union = way.chosen(letter, false).expect_err("no matrix");
            assert!(union.to_string().contains("conjugate gradients"), "{union}");
        }
        let large = Way::Direct.chosen(
            Size {
                columns: 100_000,
                ..letter
            },
            true,
        );
        assert!(matches!(large, Err(Error::Limit { .. })));
    }
}
