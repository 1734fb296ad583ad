//! Symmetric matrices by their lower triangle: its numbers in a row, and products with one vector;
//! and those of the rows of any. Sums have one order on every machine.

mod panels;

pub use panels::Panels;

use crate::simd::Fused;
use ndarray::Array2;
use pulp::{Simd, WithSimd};

/// Partial sums of a product: those of the widest vectors, whatever vectors there are.
const PARTS: usize = 8;

/// The lower triangle, row after row.
pub fn lower_entries(a_nn: &Array2<f64>) -> Vec<f64> {
    let rows = a_nn.rows().into_iter().enumerate();
    rows.flat_map(|(i, row)| row.into_iter().take(i + 1).copied())
        .collect()
}

/// A square with this lower triangle, row after row, and zeros above; of too few numbers the last
/// places are zero, too.
pub fn of_lower_entries(n: usize, entries: impl IntoIterator<Item = f64>) -> Array2<f64> {
    let mut a_nn = Array2::zeros((n, n));
    let mut entries = entries.into_iter();
    for (i, mut row) in a_nn.rows_mut().into_iter().enumerate() {
        for (to, entry) in row.iter_mut().take(i + 1).zip(&mut entries) {
            *to = entry;
        }
    }
    a_nn
}

/// `a b`, of one length.
pub fn dot(a: &[f64], b: &[f64]) -> f64 {
    crate::instructions::arch().dispatch(Product(a, b))
}

/// `r x` of each of some rows that lie one after another.
pub fn rows_times(rows: &[f64], x: &[f64]) -> Vec<f64> {
    let rows = rows.chunks_exact(x.len().max(1));
    rows.map(|row| crate::instructions::arch().dispatch(Product(row, x)))
        .collect()
}

/// Adds a multiple of each of some rows that lie one after another.
pub fn add_rows(out: &mut [f64], rows: &[f64], factors: &[f64]) {
    for (row, &factor) in rows.chunks_exact(out.len().max(1)).zip(factors) {
        crate::instructions::arch().dispatch(AddMultiple(out, factor, row));
    }
}

/// `a b`: the sum of eight chains, of which chain `p` has every eighth product from `p` on.
pub(super) struct Product<'a>(pub(super) &'a [f64], pub(super) &'a [f64]);

impl WithSimd for Product<'_> {
    type Output = f64;

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> f64 {
        let ((a, a_rest), (b, b_rest)) = (self.0.as_chunks::<PARTS>(), self.1.as_chunks::<PARTS>());
        let mut sums = [0.0; PARTS];
        let (sum, _) = S::as_mut_simd_f64s(&mut sums);
        for (a, b) in a.iter().zip(b) {
            let ((a, _), (b, _)) = (S::as_simd_f64s(a), S::as_simd_f64s(b));
            for ((sum, &a), &b) in sum.iter_mut().zip(a).zip(b) {
                *sum = simd.fused_f64s(a, b, *sum);
            }
        }
        let (mut a, mut b) = ([0.0; PARTS], [0.0; PARTS]);
        a[..a_rest.len()].copy_from_slice(a_rest);
        b[..b_rest.len()].copy_from_slice(b_rest);
        let ((a, _), (b, _)) = (S::as_simd_f64s(&a), S::as_simd_f64s(&b));
        for ((sum, &a), &b) in sum.iter_mut().zip(a).zip(b) {
            *sum = simd.fused_f64s(a, b, *sum);
        }
        total(sums)
    }
}

/// Partial sums, added up in one order.
#[inline(always)]
fn total([a, b, c, d, e, f, g, h]: [f64; PARTS]) -> f64 {
    ((a + b) + (c + d)) + ((e + f) + (g + h))
}

/// `to += factor x`.
pub(super) struct AddMultiple<'a>(
    pub(super) &'a mut [f64],
    pub(super) f64,
    pub(super) &'a [f64],
);

impl WithSimd for AddMultiple<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let Self(to, factor, x) = self;
        let ((to, to_rest), (x, x_rest)) = (S::as_mut_simd_f64s(to), S::as_simd_f64s(x));
        let factors = simd.splat_f64s(factor);
        for (to, &x) in to.iter_mut().zip(x) {
            *to = simd.fused_f64s(factors, x, *to);
        }
        for (to, &x) in to_rest.iter_mut().zip(x_rest) {
            *to = factor.mul_add(x, *to);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_multiplied_and_added() {
        let rows: Vec<f64> = (0..3 * 11).map(|i| f64::from(i % 7) - 2.0).collect();
        let x: Vec<f64> = (0..11).map(f64::from).collect();
        let products = rows_times(&rows, &x);
        let mut out = x.clone();
        add_rows(&mut out, &rows, &products);
        for (j, out) in out.iter().enumerate() {
            let sum: f64 = (0..3).map(|r| products[r] * rows[r * 11 + j]).sum();
            assert_eq!(*out, x[j] + sum);
        }
        for (r, product) in products.iter().enumerate() {
            let sum: f64 = (0..11).map(|j| rows[r * 11 + j] * x[j]).sum();
            assert_eq!(*product, sum);
        }
    }
}
