//! Triangular solves for a few right-hand sides, each sum in one order on every machine.

use super::Lower;
use crate::simd::Fused;
use pulp::{Simd, WithSimd};

/// Partial sums of a product of rows: those of the widest vectors, whatever vectors there are.
const PARTS: usize = 8;

/// Overwrites each column `b` with `L^-1 b`: `b_i` becomes `(b_i - L_i b) / L_ii`, row after row.
pub(super) fn forward(factor: &Lower, columns: &mut [Vec<f64>]) {
    for i in 0..factor.order() {
        // Read once for all columns.
        let row = factor.row(i);
        for b in columns.iter_mut() {
            let product = crate::instructions::arch().dispatch(Product(&row[..i], &b[..i]));
            b[i] = (b[i] - product) / row[i];
        }
    }
}

/// Overwrites each column `b` with `L'^-1 b`: from the last row on, `b_i` becomes `b_i / L_ii`, and
/// its share leaves those before it.
pub(super) fn backward(factor: &Lower, columns: &mut [Vec<f64>]) {
    for i in (0..factor.order()).rev() {
        let row = factor.row(i);
        for b in columns.iter_mut() {
            b[i] /= row[i];
            let (rest, done) = b.split_at_mut(i);
            crate::instructions::arch().dispatch(AddMultiple(rest, -done[0], &row[..i]));
        }
    }
}

/// `a b`: the sum of eight chains, of which chain `p` has every eighth product from `p` on.
struct Product<'a>(&'a [f64], &'a [f64]);

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
        let [a, b, c, d, e, f, g, h] = sums;
        ((a + b) + (c + d)) + ((e + f) + (g + h))
    }
}

/// `to += factor x`.
struct AddMultiple<'a>(&'a mut [f64], f64, &'a [f64]);

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
