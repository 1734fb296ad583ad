//! The arithmetic of dense maps on matrix units, one number after another.
//!
//! A row of x has a power of two of its own, which follows from the row alone: it has the same bits
//! in any batch. Each value is two f16. A frequency, which has 11 significant bits, is one f16
//! exactly, after a power of two of its own. Sums begin anew every [`FLUSH`] depths.

use crate::{
    ops::units::arithmetic::{Adding, scale, split},
    simd::f16,
};
use ndarray::{Array2, ArrayView1, ArrayView2, Axis};

/// Depths between flushes of sums. With 256, sums of 784 depths that are cut off err 1.7 times as
/// much as plain ones in f32; with 64, .5 times in fragments of 16 and .9 in those of 8.
pub(super) const FLUSH: usize = 64;

/// Frequencies as units take them.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct HalfColumns {
    /// f16, `[s, d]`: transposed, so that depths of a frequency lie side by side.
    pub(super) bits_sd: Array2<u16>,
    /// What the products of a frequency are multiplied by, length s.
    pub(super) unscale_s: Vec<f32>,
}

impl HalfColumns {
    /// Those of W `[d, s]`; `None` when f16 does not hold each of them exactly, after a power of
    /// two for each frequency.
    pub(super) fn from_frequencies(w_ds: ArrayView2<'_, f32>) -> Option<Self> {
        let (d, s) = w_ds.dim();
        let mut bits_sd = Array2::zeros((s, d));
        let mut unscale_s = Vec::with_capacity(s);
        for (column, mut bits) in w_ds.columns().into_iter().zip(bits_sd.rows_mut()) {
            // A frequency of zeros is one.
            let zeros = column.iter().all(|&w| w == 0.0);
            let (scale, unscale) = if zeros {
                (1.0, 1.0)
            } else {
                f16::scale(column, 15)?
            };
            for (bits, &w) in bits.iter_mut().zip(column) {
                *bits = f16::exact(w * scale)?;
            }
            unscale_s.push(unscale);
        }
        Some(Self { bits_sd, unscale_s })
    }
}

/// Ways to compute `x W`, of which the tests compare some.
#[derive(Debug, Clone, Copy)]
pub(super) struct Arithmetic {
    /// Depths of a fragment.
    pub(super) fragment: usize,
    pub(super) adding: Adding,
    /// Depths between flushes.
    pub(super) flush: usize,
    /// Terms of x, one or two.
    pub(super) terms: usize,
    /// Whether rows are scaled.
    pub(super) scaled: bool,
}

impl Arithmetic {
    /// That of the shader.
    pub(super) fn for_shader(fragment: usize, adding: Adding) -> Self {
        Self {
            fragment,
            adding,
            flush: FLUSH,
            terms: 2,
            scaled: true,
        }
    }

    /// `x W`, without phases.
    pub(super) fn products(self, x_nd: ArrayView2<'_, f32>, w: &HalfColumns) -> Array2<f32> {
        let w_sd = w.bits_sd.mapv(f16::value);
        let mut t_ns = Array2::zeros((x_nd.nrows(), w_sd.nrows()));
        for (x, mut t) in x_nd.rows().into_iter().zip(t_ns.rows_mut()) {
            let (scale, unscale) = if self.scaled { scale(x) } else { (1.0, 1.0) };
            let terms: Vec<_> = x.iter().map(|x| split(x * scale)).collect();
            let columns = w_sd.rows().into_iter().zip(&w.unscale_s);
            for (t, (w, own)) in t.iter_mut().zip(columns) {
                *t = self.sum(&terms, w) * unscale * own;
            }
        }
        t_ns
    }

    fn sum(self, x: &[(f32, f32)], w: ArrayView1<'_, f32>) -> f32 {
        let mut total = 0.0;
        let parts = w.axis_chunks_iter(Axis(0), self.flush);
        for (x, w) in x.chunks(self.flush).zip(parts) {
            let mut sum = 0.0;
            let fragments = w.axis_chunks_iter(Axis(0), self.fragment);
            for (x, w) in x.chunks(self.fragment).zip(fragments) {
                let of =
                    |term: fn(&(f32, f32)) -> f32| x.iter().zip(w).map(move |(x, &w)| (term(x), w));
                sum = self.adding.add(sum, of(|x| x.0));
                if self.terms == 2 {
                    sum = self.adding.add(sum, of(|x| x.1));
                }
            }
            total += sum;
        }
        total
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        sampling::round_to_11_bits,
        seed::{Seed, Stream},
    };

    /// What rows hold.
    #[derive(Debug, Clone, Copy, PartialEq)]
    enum Data {
        Gaussian,
        /// Student's t with two degrees of freedom: a few values are most of a row.
        HeavyTailed,
        /// Whole numbers from 0 to 255, most of them zero, as those of handwritten digits.
        Pixels,
    }

    fn rows(data: Data, n: usize, d: usize) -> Array2<f32> {
        let mut draws = Seed(11).stream(Stream::Sample, 0);
        Array2::from_shape_simple_fn((n, d), || {
            let normal = draws.normal();
            let value = match data {
                Data::Gaussian => normal,
                Data::HeavyTailed => {
                    let square = draws.normal().powi(2) + draws.normal().powi(2);
                    normal / (square / 2.0).sqrt()
                }
                Data::Pixels => (200.0 * normal).clamp(0.0, 255.0).round(),
            };
            value as f32
        })
    }

    /// Frequencies on 11 bits, for which the largest phase is `turns`.
    fn columns(x: &Array2<f32>, s: usize, turns: f64) -> Array2<f32> {
        let mut draws = Seed(12).stream(Stream::Sample, 0);
        let w = Array2::from_shape_simple_fn((x.ncols(), s), || draws.normal());
        let largest = exact(x, &w).fold(0.0_f64, |m, t| m.max(t.abs()));
        w.mapv(|w| round_to_11_bits(w * turns / largest))
    }

    fn exact(x: &Array2<f32>, w: &Array2<f64>) -> Array2<f64> {
        x.mapv(f64::from).dot(w)
    }

    /// The largest error and the root of the mean square.
    #[derive(Debug, Clone, Copy)]
    struct Errors {
        worst: f64,
        mean: f64,
    }

    fn errors(t: &Array2<f32>, exact: &Array2<f64>) -> Errors {
        let each = t.iter().zip(exact).map(|(&t, e)| (f64::from(t) - e).abs());
        let each: Vec<f64> = each.collect();
        let square = each.iter().map(|e| e * e).sum::<f64>();
        Errors {
            worst: each.iter().fold(0.0, |m, e| m.max(*e)),
            mean: (square / each.len() as f64).sqrt(),
        }
    }

    /// The sum in f32 as the tiles have it: fused multiply-adds over all depths.
    fn plain(x: &Array2<f32>, w: &Array2<f32>) -> Array2<f32> {
        Array2::from_shape_fn((x.nrows(), w.ncols()), |(i, j)| {
            let pairs = x.row(i).into_iter().zip(w.column(j));
            pairs.fold(0.0, |sum, (x, w)| x.mul_add(*w, sum))
        })
    }

    const DATA: [Data; 3] = [Data::Gaussian, Data::HeavyTailed, Data::Pixels];

    /// All cases: data, depth, phases up to so many turns.
    fn cases() -> impl Iterator<Item = (Data, usize, f64)> {
        let depths = [784, 4096];
        DATA.into_iter().flat_map(move |data| {
            let of = move |d| [1.0, 1000.0].map(|turns| (data, d, turns));
            depths.into_iter().flat_map(of)
        })
    }

    #[test]
    fn phases_err_no_more_than_those_of_plain_f32() {
        for (data, d, turns) in cases() {
            let x = rows(data, 16, d);
            let w = columns(&x, 64, turns);
            let half = HalfColumns::from_frequencies(w.view()).expect("11 bits");
            let exact = exact(&x, &w.mapv(f64::from));
            let f32s = errors(&plain(&x, &w), &exact);
            for fragment in [8, 16] {
                for adding in Adding::ALL {
                    let way = Arithmetic::for_shader(fragment, adding);
                    let own = errors(&way.products(x.view(), &half), &exact);
                    println!(
                        "{data:?} {d} {turns} turns, {fragment} {adding:?}: worst {:.2}, mean \
                         {:.2} of f32's {:.2e}, {:.2e}",
                        own.worst / f32s.worst,
                        own.mean / f32s.mean,
                        f32s.worst,
                        f32s.mean
                    );
                    let case = format!("{data:?}, {d}, {turns} turns, {way:?}");
                    assert!(own.mean <= f32s.mean, "{case}: {own:?}, f32 {f32s:?}");
                    assert!(own.worst <= f32s.worst, "{case}: {own:?}, f32 {f32s:?}");
                }
            }
        }
    }

    /// Negative controls: what the arithmetic would be without one of its parts errs more than f32.
    #[test]
    fn one_term_no_scale_and_longer_sums_err_more_than_plain_f32() {
        let (x, turns) = (rows(Data::Gaussian, 16, 784), 1000.0);
        let of = |size: f32, way: Arithmetic| {
            let x = x.mapv(|x| x * size);
            let w = columns(&x, 64, turns);
            let half = HalfColumns::from_frequencies(w.view()).expect("11 bits");
            let exact = exact(&x, &w.mapv(f64::from));
            let own = errors(&way.products(x.view(), &half), &exact).mean;
            own / errors(&plain(&x, &w), &exact).mean
        };
        let way = Arithmetic::for_shader(16, Adding::InTurn);
        let one = of(1.0, Arithmetic { terms: 1, ..way });
        assert!(one > 100.0, "{one}");
        // Below the normal numbers of f16, and beyond the largest.
        let unscaled = Arithmetic {
            scaled: false,
            ..way
        };
        let ratios = [1e-5, 1e6].map(|size| (of(size, unscaled), of(size, way)));
        let [(small, with), (large, too)] = ratios;
        assert!(small > 10.0 && with <= 1.0, "{small} {with}");
        // No number at all.
        assert!(!large.is_finite() && too <= 1.0, "{large} {too}");
        let longer = Arithmetic {
            flush: 256,
            ..Arithmetic::for_shader(16, Adding::CutOff)
        };
        let longer = of(1.0, longer);
        assert!(longer > 1.2, "{longer}");
    }

    #[test]
    fn whole_numbers_leave_no_rest() {
        let x = rows(Data::Pixels, 4, 784);
        for row in x.rows() {
            let (scale, unscale) = scale(row);
            assert_eq!(scale * unscale, 1.0);
            let terms = row.map(|x| split(x * scale));
            assert!(terms.iter().all(|(_, low)| *low == 0.0));
            let largest = terms.iter().fold(0.0_f32, |m, (high, _)| m.max(high.abs()));
            assert!((16_384.0..32_768.0).contains(&largest), "{largest}");
        }
        let third = ndarray::array![1.0_f32 / 3.0];
        assert_ne!(split(third[0] * scale(third.view()).0).1, 0.0);
    }

    #[test]
    fn columns_that_f16_does_not_hold_are_refused() {
        let fine = ndarray::array![[1.0_f32], [1.0 + 1.0 / 2048.0]];
        assert!(HalfColumns::from_frequencies(fine.view()).is_none());
        let wide = ndarray::array![[1.0_f32], [1e-13]];
        assert!(HalfColumns::from_frequencies(wide.view()).is_none());
        let zeros = HalfColumns::from_frequencies(Array2::zeros((3, 1)).view()).expect("zeros");
        assert_eq!(zeros.unscale_s, [1.0]);
    }
}
