//! Sums of two f64 each: the sum, and what rounding took from it. The pair has twice the digits, so
//! that the sum comes out the same to the bit in whatever order it was added up: but for a few in
//! 2^50, which lie halfway between two numbers.
//!
//! Of a symmetric matrix a square holds both. Row i has i entries before the diagonal, and row
//! D - 1 - i as many places behind it: there lies what rounding took from row i. What it took from
//! the diagonal has no place there.

use crate::{parallel, simd::sum_and_lost};
use ndarray::{Array2, ArrayView1, s};

/// Adds a value and what rounding took from it to a sum (Dekker 1971). A sum that is not finite
/// stays that.
#[inline(always)]
pub fn add((sum, rest): (&mut f64, &mut f64), (value, of_value): (f64, f64)) {
    let (whole, lost) = sum_and_lost(*sum, value);
    let low = lost + (*rest + of_value);
    let (rounded, is_finite) = (whole + low, whole.is_finite());
    *rest = if is_finite {
        low - (rounded - whole)
    } else {
        0.0
    };
    *sum = if is_finite { rounded } else { whole };
}

/// One row of the lower triangle.
#[derive(Debug)]
pub struct Row<'a> {
    /// Before the diagonal.
    sums: &'a mut [f64],
    rests: &'a mut [f64],
    diagonal: (&'a mut f64, &'a mut f64),
}

/// The rows of the lower triangle of a square, `[D, D]`; `rest_d` is what rounding took from the
/// diagonal.
pub fn rows<'a>(square_dd: &'a mut Array2<f64>, rest_d: &'a mut [f64]) -> Vec<Row<'a>> {
    let features = square_dd.ncols();
    let square = square_dd.as_slice_mut().expect("allocated row by row");
    let lines = square.chunks_exact_mut(features.max(1)).enumerate();
    let halves = lines.map(|(i, line)| line.split_at_mut(i + 1));
    let (sums, behind): (Vec<_>, Vec<_>) = halves.unzip();
    let both = sums.into_iter().zip(behind.into_iter().rev());
    both.zip(rest_d)
        .map(|((sums, rests), rest)| {
            let (diagonal, sums) = sums.split_last_mut().expect("up to the diagonal");
            Row {
                sums,
                rests,
                diagonal: (diagonal, rest),
            }
        })
        .collect()
}

impl Row<'_> {
    /// Adds to the entries from a column on; what would lie behind the diagonal is left.
    #[inline]
    pub fn add(&mut self, from: usize, values: impl IntoIterator<Item = f64>) {
        let mut values = values.into_iter();
        let sums = self.sums.get_mut(from..).unwrap_or_default();
        let rests = self.rests.get_mut(from..).unwrap_or_default();
        for ((sum, rest), value) in sums.iter_mut().zip(rests).zip(&mut values) {
            add((sum, rest), (value, 0.0));
        }
        if let (true, Some(value)) = (from <= self.sums.len(), values.next()) {
            let (sum, rest) = &mut self.diagonal;
            add((sum, rest), (value, 0.0));
        }
    }
}

/// Adds `sign` times other sums of the same shape. Their `rest_d` may be empty: zeros.
pub fn add_all(
    (square_dd, rest_d): (&mut Array2<f64>, &mut [f64]),
    (other_dd, other_rest_d): (&Array2<f64>, &[f64]),
    sign: f64,
) {
    let features = square_dd.ncols();
    let mut rows = rows(square_dd, rest_d);
    parallel::usual().parts(&mut rows, &|i, row| {
        let sums = other_dd.slice(s![i, ..i]);
        let rests = other_dd.slice(s![features - 1 - i, features - i..]);
        let pairs = row.sums.iter_mut().zip(row.rests.iter_mut());
        add_each(pairs, (sums, rests), sign);
        let rest = other_rest_d.get(i).map_or(0.0, |rest| sign * rest);
        let (sum, of_sum) = &mut row.diagonal;
        add((sum, of_sum), (sign * other_dd[[i, i]], rest));
    });
}

fn add_each<'a>(
    pairs: impl Iterator<Item = (&'a mut f64, &'a mut f64)>,
    (sums, rests): (ArrayView1<'_, f64>, ArrayView1<'_, f64>),
    sign: f64,
) {
    for ((sum, rest), (value, of_value)) in pairs.zip(sums.iter().zip(rests)) {
        add((sum, rest), (sign * value, sign * of_value));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Numbers of very different sizes and both signs.
    fn value(k: usize) -> f64 {
        let wave = (k as f64 * 1.7).sin();
        wave * 2.0_f64.powi(((k * 29) % 60) as i32 - 30)
    }

    #[test]
    fn a_sum_has_the_same_bits_in_any_order() {
        let values: Vec<f64> = (0..500).map(value).collect();
        let sum = |order: &mut dyn Iterator<Item = usize>| {
            let (mut sum, mut rest) = (0.0, 0.0);
            order.for_each(|k| add((&mut sum, &mut rest), (values[k], 0.0)));
            sum
        };
        let forth = sum(&mut (0..500));
        assert_eq!(forth, sum(&mut (0..500).rev()));
        assert_eq!(forth, sum(&mut (0..500).map(|k| (k * 77) % 500)));
        let plain = |order: &mut dyn Iterator<Item = usize>| order.map(|k| values[k]).sum::<f64>();
        assert_ne!(
            plain(&mut (0..500)),
            plain(&mut (0..500).rev()),
            "the control"
        );
        // What rounding takes comes back.
        let (mut sum, mut rest) = (1e16, 0.0);
        for value in [1.0, 1.0, -1e16] {
            add((&mut sum, &mut rest), (value, 0.0));
        }
        assert_eq!((sum, rest), (2.0, 0.0));
        for (first, second) in [(f64::INFINITY, 1.0), (f64::MAX, f64::MAX)] {
            let (mut sum, mut rest) = (first, 0.0);
            add((&mut sum, &mut rest), (second, 0.0));
            add((&mut sum, &mut rest), (-1.0, 0.0));
            assert_eq!((sum, rest), (f64::INFINITY, 0.0));
        }
    }

    /// Each entry of the triangle has a rest of its own, and what lies between is not touched.
    #[test]
    fn a_square_holds_a_triangle_and_what_rounding_took_from_it() {
        for features in 1..8 {
            let entry = |part: usize, i: usize, j: usize| value(part * 101 + i * 11 + j);
            let part = |part: usize| {
                let mut square_dd = Array2::zeros((features, features));
                let mut rest_d = vec![0.0; features];
                for (i, row) in rows(&mut square_dd, &mut rest_d).iter_mut().enumerate() {
                    // In two pieces, the second beyond the diagonal.
                    let end = i / 2;
                    row.add(0, (0..end).map(|j| entry(part, i, j)));
                    row.add(end, (end..features).map(|j| entry(part, i, j)));
                    row.add(features, [1.0]);
                }
                (square_dd, rest_d)
            };
            let parts: Vec<_> = (0..9).map(part).collect();
            let sum = |order: [usize; 9]| {
                let (mut square_dd, mut rest_d) = parts[order[0]].clone();
                for &k in &order[1..] {
                    let (other_dd, other_rest_d) = &parts[k];
                    add_all((&mut square_dd, &mut rest_d), (other_dd, other_rest_d), 1.0);
                }
                (square_dd, rest_d)
            };
            let (forth, rest_d) = sum([0, 1, 2, 3, 4, 5, 6, 7, 8]);
            let (back, _) = sum([8, 3, 6, 7, 4, 5, 2, 1, 0]);
            for i in 0..features {
                for j in 0..=i {
                    let exact: (f64, f64) = (0..9).fold((0.0, 0.0), |(mut s, mut r), part| {
                        add((&mut s, &mut r), (entry(part, i, j), 0.0));
                        (s, r)
                    });
                    assert_eq!((forth[[i, j]], back[[i, j]]), (exact.0, exact.0), "{i} {j}");
                    let rest = match i - j {
                        0 => rest_d[i],
                        _ => forth[[features - 1 - i, features - i + j]],
                    };
                    assert_eq!(rest, exact.1, "{i} {j}");
                }
            }
            let (mut none_dd, mut none_d) = (forth.clone(), rest_d.clone());
            add_all((&mut none_dd, &mut none_d), (&forth, &rest_d), -1.0);
            assert!(none_dd.iter().chain(&none_d).all(|&v| v == 0.0));
        }
    }
}
