//! The arithmetic of Gram sums on matrix units, one number after another.
//!
//! A column of a block of rows has a power of two of its own, which follows from the rows of the
//! data: chunks do not show. Each value is two f16, high and low, and of the products of two values
//! the three with a high part are summed, small ones first; what the one of both low parts adds is
//! at most 2^-24 of the largest product. Sums begin anew every [`FLUSH`] rows, and the sums of a
//! block go to compensated pairs, as those of tiles do.

use crate::ops::{
    gram::BLOCK_ROWS,
    units::arithmetic::{Adding, scale, split},
};
use ndarray::{Array2, ArrayView1, ArrayView2, Axis};

/// Rows of a stage of the shader, whose fragments are multiplied before the next are brought.
const STAGE: usize = 16;
/// Rows between flushes of sums.
const FLUSH: usize = 32;
const _: () = assert!(FLUSH.is_multiple_of(STAGE) && BLOCK_ROWS.is_multiple_of(FLUSH));

/// Ways to compute `Z'Z`, of which the tests compare some.
#[derive(Debug, Clone, Copy)]
pub(super) struct Arithmetic {
    /// Rows of a fragment.
    pub(super) fragment: usize,
    pub(super) adding: Adding,
    /// Rows between flushes.
    pub(super) flush: usize,
    /// Products of two values: one of the high parts, or three.
    pub(super) products: usize,
    /// Whether columns are scaled.
    pub(super) scaled: bool,
}

/// A column of a block, and the inverse of its power of two.
struct Column {
    terms: Vec<(f32, f32)>,
    unscale: f32,
}

impl Arithmetic {
    /// That of the shader.
    pub(super) fn for_shader(fragment: usize, adding: Adding) -> Self {
        Self {
            fragment,
            adding,
            flush: FLUSH,
            products: 3,
            scaled: true,
        }
    }

    /// The lower triangle of `Z'Z`, block after block in f64.
    pub(super) fn gram(self, z_nd: ArrayView2<'_, f32>) -> Array2<f64> {
        let d = z_nd.ncols();
        let mut gram_dd = Array2::zeros((d, d));
        for block in z_nd.axis_chunks_iter(Axis(0), BLOCK_ROWS) {
            let columns = block.columns().into_iter();
            let columns: Vec<_> = columns.map(|z| self.column(z)).collect();
            for ((i, j), g) in gram_dd.indexed_iter_mut().filter(|((i, j), _)| i >= j) {
                // The shader has the upper triangle: a is the column that comes first.
                *g += f64::from(self.sum(&columns[j], &columns[i]));
            }
        }
        gram_dd
    }

    fn column(self, z_n: ArrayView1<'_, f32>) -> Column {
        let (power, unscale) = if self.scaled { scale(z_n) } else { (1.0, 1.0) };
        Column {
            terms: z_n.iter().map(|z| split(z * power)).collect(),
            unscale,
        }
    }

    fn sum(self, a: &Column, b: &Column) -> f32 {
        let mut total = 0.0;
        for (a, b) in a.terms.chunks(self.flush).zip(b.terms.chunks(self.flush)) {
            let mut sum = 0.0;
            let fragments = a.chunks(self.fragment).zip(b.chunks(self.fragment));
            for (a, b) in fragments {
                let pairs = || a.iter().zip(b);
                if self.products == 3 {
                    sum = self.adding.add(sum, pairs().map(|(a, b)| (a.1, b.0)));
                    sum = self.adding.add(sum, pairs().map(|(a, b)| (a.0, b.1)));
                }
                sum = self.adding.add(sum, pairs().map(|(a, b)| (a.0, b.0)));
            }
            total += sum;
        }
        total * (a.unscale * b.unscale)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        ops::gram::{reference, units::probe::plain},
        seed::{Seed, Stream},
    };

    /// Features as maps have them: a cosine, one that is never negative, one that is always the
    /// same, and one of which a few values are most.
    fn features(rows: usize) -> Array2<f32> {
        let mut draws = Seed(13).stream(Stream::Sample, 0);
        let mut z = Array2::zeros((rows, 4));
        for mut row in z.rows_mut() {
            let square = draws.normal().powi(2) + draws.normal().powi(2);
            let values = [
                (9.0 * draws.normal()).cos() / 30.0,
                draws.normal().max(0.0),
                1.0 / 3.0,
                1e-6 * draws.normal() / (square / 2.0).sqrt(),
            ];
            row.assign(&ndarray::arr1(&values.map(|v| v as f32)));
        }
        z
    }

    /// The largest error of an entry over the norms of its columns; infinite where one is NaN.
    fn error(gram_dd: &Array2<f64>, exact_dd: &Array2<f64>) -> f64 {
        let each = gram_dd.indexed_iter().map(|((i, j), g)| {
            let norms = (exact_dd[[i, i]] * exact_dd[[j, j]]).sqrt();
            (g - exact_dd[[i, j]]).abs() / norms
        });
        each.fold(0.0, |most, e| {
            if e.is_nan() {
                f64::INFINITY
            } else {
                e.max(most)
            }
        })
    }

    fn exact(z: &Array2<f32>) -> Array2<f64> {
        reference(z.view(), Array2::zeros((z.nrows(), 1)).view()).gram_dd
    }

    #[test]
    fn sums_of_a_million_rows_err_by_less_than_a_millionth() {
        let z = features(1_000_000);
        let exact = exact(&z);
        let f32s = error(&plain(z.view()), &exact);
        for fragment in [8, 16] {
            for adding in Adding::ALL {
                let own = error(
                    &Arithmetic::for_shader(fragment, adding).gram(z.view()),
                    &exact,
                );
                println!("{fragment} {adding:?}: {own:.1e}, f32 {f32s:.1e}");
                assert!(own < 1e-6, "{fragment} {adding:?}: {own}");
            }
        }
    }

    /// Negative controls: what the arithmetic would be without one of its parts.
    #[test]
    fn one_product_no_scale_and_longer_sums_err_by_more() {
        let z = features(100_000);
        let of = |size: f32, way: Arithmetic| {
            let z = z.mapv(|z| z * size);
            error(&way.gram(z.view()), &exact(&z))
        };
        let way = Arithmetic::for_shader(16, Adding::InTurn);
        let one = of(1.0, Arithmetic { products: 1, ..way });
        assert!(one > 1e-5, "{one}");
        let unscaled = Arithmetic {
            scaled: false,
            ..way
        };
        let small = of(1.0, unscaled);
        assert!(small > 1e-5, "{small}");
        let large = of(1e6, unscaled);
        assert_eq!(large, f64::INFINITY);
        let [usual, larger] = [1.0, 1e6].map(|size| of(size, way));
        assert!(usual < 1e-6 && larger < 1e-6, "{usual} {larger}");
        let cut_off = Arithmetic::for_shader(16, Adding::CutOff);
        let longer = Arithmetic {
            flush: BLOCK_ROWS,
            ..cut_off
        };
        let longer = of(1.0, longer) / of(1.0, cut_off);
        assert!(longer > 3.0, "{longer}");
    }
}
