//! Which columns a grid looks at.

use crate::seed::Draws;

/// Which columns each grid of [`Binning`](super::Binning) looks at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum GridColumns {
    /// All of them.
    #[default]
    All,
    /// 3, 4, 6, 8 or 12 of them, each number and each column as likely, or all where there are
    /// fewer; pitches are then those of the kernel k, or a half, a quarter and so on of them down
    /// to a 32nd.
    ///
    /// So `z(x)'z(y)` estimates the mean over these orders q and widths s of the kernels
    /// `e_q(k(u_1/s), .., k(u_d/s)) / C(d, q)` of differences u, e_q the elementary symmetric
    /// polynomial (ANOVA kernels: Stitson et al. 1999, "Support vector regression with ANOVA
    /// decomposition kernels"), which serve what hangs on few columns at a time.
    Some,
}

/// How many columns a grid looks at, and factors of its pitches.
const ORDERS: [usize; 5] = [3, 4, 6, 8, 12];
const FACTORS: [f64; 6] = [0.03125, 0.0625, 0.125, 0.25, 0.5, 1.0];

impl GridColumns {
    /// The columns of one grid, in their order, and the factor of its pitches, of d columns some of
    /// which vary.
    pub(super) fn draw(
        self,
        (d, varying): (usize, &[usize]),
        draws: &mut Draws,
    ) -> (Vec<usize>, f64) {
        if self == Self::All {
            return ((0..d).collect(), 1.0);
        }
        let order = ORDERS[draws.below(ORDERS.len() as u64) as usize];
        let factor = FACTORS[draws.below(FACTORS.len() as u64) as usize];
        let mut columns = varying.to_vec();
        let count = order.min(columns.len());
        for i in 0..count {
            let left = (columns.len() - i) as u64;
            columns.swap(i, i + draws.below(left) as usize);
        }
        columns.truncate(count);
        columns.sort_unstable();
        (columns, factor)
    }

    /// What bins of a kernel stand for.
    pub(super) fn describe(self, kernel: &str) -> String {
        match self {
            Self::All => format!("the {kernel} kernel"),
            Self::Some => format!("the {kernel} kernel of some columns at a time"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{FACTORS, ORDERS};
    use crate::{
        Device,
        data::Rows,
        features::{Affine, Binning, GridColumns},
        kernels::Laplacian,
        seed::Seed,
    };

    /// Two rows share as many bins as the mean of the ANOVA kernels says, to the error of so many
    /// grids. A column less, or pitches all of one factor, are off by ten times that.
    #[test]
    fn bins_are_shared_as_often_as_the_kernel_says() {
        let x = ndarray::array![[0.0, 0.0, 0.0, 0.0, 0.0], [0.03, -0.02, 0.01, 0.05, 0.02]];
        let grids = 40_000;
        let map = Binning::new(Laplacian).grids(grids).seed(Seed(4));
        let drawn = map.columns(GridColumns::Some).draw(Affine::identity(5));
        let hashes = drawn
            .expect("draws")
            .hashes(&Device::cpu(), &Rows::from(x.clone()))
            .expect("hashes");
        let is_shared = |g: &usize| hashes[[0, *g]] == hashes[[1, *g]];
        let shared = (0..grids).filter(is_shared).count() as f64 / grids as f64;
        let mut expected = 0.0;
        for factor in FACTORS {
            // Elementary symmetric polynomials, column by column.
            let mut e = [1.0, 0.0, 0.0, 0.0, 0.0, 0.0];
            for u in x.row(1) {
                for q in (1..6).rev() {
                    e[q] += e[q - 1] * (-f64::abs(*u) / factor).exp();
                }
            }
            let choose = [1.0, 5.0, 10.0, 10.0, 5.0, 1.0];
            for order in ORDERS {
                let q = order.min(5);
                expected += e[q] / choose[q] / (ORDERS.len() * FACTORS.len()) as f64;
            }
        }
        assert!((shared - expected).abs() < 0.008, "{shared} for {expected}");
        assert!(expected > 0.2 && expected < 0.7, "{expected}");
    }
}
