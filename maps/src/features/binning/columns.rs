//! Which columns a grid looks at.

use crate::{Error, Result, seed::Draws, text::counted};
use std::sync::Arc;

/// Which columns each grid of [`Binning`](super::Binning) looks at.
#[derive(Debug, Clone, PartialEq, Default)]
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
    /// As many as [`Self::Some`], drawn one after another in proportion to these weights, `[d]`,
    /// among those that are left: of many columns those are seen often that matter.
    ///
    /// The terms of `e_q` then count by how likely their columns are drawn together.
    Weighed(Arc<[f64]>),
}

/// How many columns a grid looks at, and factors of its pitches.
const ORDERS: [usize; 5] = [3, 4, 6, 8, 12];
const FACTORS: [f64; 6] = [0.03125, 0.0625, 0.125, 0.25, 0.5, 1.0];

impl GridColumns {
    /// Errors with [`Error::Parameter`] on weights that are not positive numbers, one a column.
    pub(super) fn check(&self, d: usize) -> Result<()> {
        let Self::Weighed(weights) = self else {
            return Ok(());
        };
        if weights.len() != d {
            return Err(Error::parameter(format!(
                "{} of columns for {}",
                counted(weights.len(), "weight"),
                counted(d, "column")
            )));
        }
        match weights.iter().find(|w| !(**w > 0.0 && w.is_finite())) {
            Some(weight) => Err(Error::parameter(format!(
                "a column of a grid has the weight {weight}; it must be positive and finite"
            ))),
            None => Ok(()),
        }
    }

    /// The columns of one grid, in their order, and the factor of its pitches, of d columns some of
    /// which vary.
    pub(super) fn draw(
        &self,
        (d, varying): (usize, &[usize]),
        draws: &mut Draws,
    ) -> (Vec<usize>, f64) {
        if *self == Self::All {
            return ((0..d).collect(), 1.0);
        }
        let order = ORDERS[draws.below(ORDERS.len() as u64) as usize];
        let factor = FACTORS[draws.below(FACTORS.len() as u64) as usize];
        let count = order.min(varying.len());
        let mut columns = match self {
            Self::Weighed(weights) => by_weight(weights, varying.to_vec(), count, draws),
            _ => evenly(varying.to_vec(), count, draws),
        };
        columns.sort_unstable();
        (columns, factor)
    }

    /// What bins of a kernel stand for.
    pub(super) fn describe(&self, kernel: &str) -> String {
        match self {
            Self::All => format!("the {kernel} kernel"),
            Self::Some | Self::Weighed(_) => {
                format!("the {kernel} kernel of some columns at a time")
            }
        }
    }
}

/// So many of these columns, each as likely as the next.
fn evenly(mut columns: Vec<usize>, count: usize, draws: &mut Draws) -> Vec<usize> {
    for i in 0..count {
        let left = (columns.len() - i) as u64;
        columns.swap(i, i + draws.below(left) as usize);
    }
    columns.truncate(count);
    columns
}

/// So many of these columns, one after another in proportion to the weights of those left.
fn by_weight(
    weights: &[f64],
    mut columns: Vec<usize>,
    count: usize,
    draws: &mut Draws,
) -> Vec<usize> {
    for i in 0..count {
        let left: f64 = columns[i..].iter().map(|&j| weights[j]).sum();
        let mut rest = draws.uniform() * left;
        let is_reached = |&j: &usize| {
            rest -= weights[j];
            rest < 0.0
        };
        // Rounding may leave a rest behind the last of them.
        let at = columns[i..].iter().position(is_reached);
        let last = columns.len() - 1;
        columns.swap(i, at.map_or(last, |at| i + at));
    }
    columns.truncate(count);
    columns
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

    const GRIDS: usize = 40_000;

    /// The share of grids in which the rows 0 and `u` share a bin.
    fn shared(u: [f64; 5], columns: GridColumns) -> f64 {
        let x = ndarray::arr2(&[[0.0; 5], u]);
        let map = Binning::new(Laplacian).grids(GRIDS).seed(Seed(4));
        let drawn = map.columns(columns).draw(Affine::identity(5));
        let hashes = drawn
            .expect("draws")
            .hashes(&Device::cpu(), &Rows::from(x))
            .expect("hashes");
        let is_shared = |g: &usize| hashes[[0, *g]] == hashes[[1, *g]];
        (0..GRIDS).filter(is_shared).count() as f64 / GRIDS as f64
    }

    /// The mean over orders and widths of the kernel of `q` columns, `of(q, factor)`.
    fn mean_over_orders(of: impl Fn(usize, f64) -> f64) -> f64 {
        let each = FACTORS.iter().flat_map(|&factor| {
            let of = &of;
            ORDERS.iter().map(move |order| of(*order.min(&5), factor))
        });
        each.sum::<f64>() / (ORDERS.len() * FACTORS.len()) as f64
    }

    /// Two rows share as many bins as the mean of the ANOVA kernels says, to the error of so many
    /// grids. A column less, or pitches all of one factor, are off by ten times that.
    #[test]
    fn bins_are_shared_as_often_as_the_kernel_says() {
        let u = [0.03, -0.02, 0.01, 0.05, 0.02];
        let expected = mean_over_orders(|q, factor| {
            // Elementary symmetric polynomials, column by column.
            let mut e = [1.0, 0.0, 0.0, 0.0, 0.0, 0.0];
            for u in u {
                for q in (1..6).rev() {
                    e[q] += e[q - 1] * (-f64::abs(u) / factor).exp();
                }
            }
            e[q] / [1.0, 5.0, 10.0, 10.0, 5.0, 1.0][q]
        });
        let shared = shared(u, GridColumns::Some);
        assert!((shared - expected).abs() < 0.008, "{shared} for {expected}");
        assert!(expected > 0.2 && expected < 0.7, "{expected}");
    }

    /// The mean of `prod k(u_j)` over draws of q columns without putting back, by all orders in
    /// which they may come.
    fn drawn_one_by_one(q: usize, left: &[(f64, f64)]) -> f64 {
        if q == 0 {
            return 1.0;
        }
        let sum: f64 = left.iter().map(|(weight, _)| weight).sum();
        let each = left.iter().enumerate().map(|(at, (weight, k))| {
            let mut others = left.to_vec();
            others.remove(at);
            weight / sum * k * drawn_one_by_one(q - 1, &others)
        });
        each.sum()
    }

    /// Grids see columns as often as their weights say: rows that differ in the heavy ones share
    /// fewer bins, and how many fewer is exact. Weights that are ignored, or of another column, are
    /// far from it.
    #[test]
    fn columns_are_drawn_by_their_weights() {
        let u = [0.3, 0.2, 0.0, 0.0, 0.01];
        let shares = [[8.0, 4.0, 1.0, 1.0, 2.0], [0.1, 0.1, 5.0, 1.0, 1.0]].map(|weights| {
            let expected = mean_over_orders(|q, factor| {
                let of = |(&w, u): (&f64, f64)| (w, (-f64::abs(u) / factor).exp());
                drawn_one_by_one(q, &weights.iter().zip(u).map(of).collect::<Vec<_>>())
            });
            let shared = shared(u, GridColumns::Weighed(weights.into()));
            assert!((shared - expected).abs() < 0.008, "{shared} for {expected}");
            shared
        });
        assert!(shares[1] > shares[0] + 0.1, "{shares:?}");
    }

    #[test]
    fn weights_are_positive_and_one_a_column() {
        for weights in [
            vec![1.0; 4],
            vec![1.0, 0.0, 1.0, 1.0, 1.0],
            vec![f64::NAN; 5],
        ] {
            let map = Binning::new(Laplacian).columns(GridColumns::Weighed(weights.into()));
            let error = map.draw(Affine::identity(5)).expect_err("bad weights");
            assert!(error.to_string().contains("weight"), "{error}");
        }
    }
}
