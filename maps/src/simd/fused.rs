//! `a b + c`, rounded once on every processor: in one instruction where there is one, elsewhere in
//! parts that say what rounding loses. So the bits are the same.

use pulp::{Simd, bytemuck};
use std::any::TypeId;

/// Vectors of plain code: as long as those of ARM, so that loops need no form of their own.
pub(crate) use pulp::Scalar128b as Plain;

/// Whether vectors of these instructions are plain code.
#[inline(always)]
pub(crate) fn is_plain<S: Simd>() -> bool {
    // Known when this is compiled.
    TypeId::of::<S>() == TypeId::of::<Plain>()
}

/// Multiplies and adds at once. Vectors of browsers have no such instruction, and round twice.
pub(crate) trait Fused: Simd {
    /// `a b + c` of vectors.
    #[inline(always)]
    fn fused_f32s(self, a: Self::f32s, b: Self::f32s, c: Self::f32s) -> Self::f32s {
        if is_plain::<Self>() {
            let [a, b, c] = [a, b, c].map(bytemuck::cast);
            bytemuck::cast(four_in_parts(a, b, c))
        } else {
            self.mul_add_e_f32s(a, b, c)
        }
    }

    /// As [`Self::fused_f32s`], in f64.
    #[inline(always)]
    fn fused_f64s(self, a: Self::f64s, b: Self::f64s, c: Self::f64s) -> Self::f64s {
        if is_plain::<Self>() {
            let [a, b, c] = [a, b, c].map(bytemuck::cast);
            bytemuck::cast(two_in_parts(a, b, c))
        } else {
            self.mul_add_e_f64s(a, b, c)
        }
    }
}

impl<S: Simd> Fused for S {}

/// A function of its own: loops hold dozens of it.
#[inline(never)]
fn four_in_parts(a: [f32; 4], b: [f32; 4], c: [f32; 4]) -> [f32; 4] {
    std::array::from_fn(|l| in_parts(a[l], b[l], c[l]))
}

#[inline(never)]
fn two_in_parts(a: [f64; 2], b: [f64; 2], c: [f64; 2]) -> [f64; 2] {
    std::array::from_fn(|l| in_parts_f64(a[l], b[l], c[l]))
}

/// `a b + c`, rounded once, by f64: it holds the product, and a sum that is rounded to odd there
/// rounds to f32 as the exact one does (Boldo & Melquiond 2008, theorem 1).
#[inline(always)]
pub(crate) fn in_parts(a: f32, b: f32, c: f32) -> f32 {
    let (sum, lost) = sum_and_lost(f64::from(a) * f64::from(b), f64::from(c));
    to_odd(sum, lost) as f32
}

/// As [`in_parts`], in f64: the product's two halves and `c` are added up, the small parts to odd
/// (Boldo & Melquiond 2008, figure 4).
fn in_parts_f64(a: f64, b: f64, c: f64) -> f64 {
    /// Halves of products this small or large are whole numbers of f64.
    const EXACT: std::ops::Range<f64> = 1e-120..1e120;
    let product = a * b;
    if a == 0.0 || b == 0.0 {
        return product + c;
    }
    if !(EXACT.contains(&a.abs()) && EXACT.contains(&b.abs()) && c.abs() < 1e240) {
        return a.mul_add(b, c);
    }
    let ((a1, a2), (b1, b2)) = (halves(a), halves(b));
    let rest = ((a1 * b1 - product) + a1 * b2 + a2 * b1) + a2 * b2;
    let (small, lost_small) = sum_and_lost(c, rest);
    let (sum, lost) = sum_and_lost(product, small);
    let (low, lost_low) = sum_and_lost(lost, lost_small);
    sum + to_odd(low, lost_low)
}

/// A number as two of 26 bits (Veltkamp 1968).
#[inline(always)]
fn halves(a: f64) -> (f64, f64) {
    let shifted = 134_217_729.0 * a;
    let high = shifted - (shifted - a);
    (high, a - high)
}

/// A sum and what rounding took off it (Knuth 1969).
#[inline(always)]
fn sum_and_lost(a: f64, b: f64) -> (f64, f64) {
    let sum = a + b;
    let of_b = sum - a;
    (sum, (a - (sum - of_b)) + (b - of_b))
}

/// The number next to `sum + lost` whose last bit is 1, where `lost` is not zero.
#[inline(always)]
fn to_odd(sum: f64, lost: f64) -> f64 {
    let bits = sum.to_bits();
    // Away from zero where the exact sum is further from it. NaN is neither more nor less.
    let further = (lost > 0.0) == (sum > 0.0);
    let step = if further { 1 } else { u64::MAX };
    let is_even = bits & 1 == 0;
    let is_rounded = lost < 0.0 || lost > 0.0;
    f64::from_bits(bits.wrapping_add(if is_even && is_rounded { step } else { 0 }))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Bits that are mixed well.
    fn bits(i: u64) -> u64 {
        let mixed = i.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed ^ (mixed >> 27)
    }

    fn same(a: f64, b: f64) -> bool {
        a.to_bits() == b.to_bits() || (a.is_nan() && b.is_nan())
    }

    /// All kinds of numbers, and sums that nearly cancel or lie near the middle of two.
    #[test]
    fn rounds_as_one_instruction_does() {
        let f32_of = |i| f32::from_bits(bits(i) as u32);
        for i in 0..2_000_000_u64 {
            let [a, b, any] = [3 * i, 3 * i + 1, 3 * i + 2].map(f32_of);
            // Near the product, and 2^23 to 2^25 times as large.
            let far = (23.0 + (i % 3) as f32).exp2();
            for c in [
                any,
                -(a * b) * (1.0 + any % 2e-7),
                a * b * far,
                -a * b / far,
            ] {
                let (seen, exact) = (in_parts(a, b, c), a.mul_add(b, c));
                let (seen, exact) = (f64::from(seen), f64::from(exact));
                assert!(same(seen, exact), "{a:e} {b:e} {c:e}: {seen:e}, {exact:e}");
            }
        }
    }

    #[test]
    fn rounds_as_one_instruction_does_in_f64() {
        let any_of = |i| f64::from_bits(bits(i));
        // Of a usual size, which most of all numbers are not.
        let usual = |i| (bits(i) as i64 as f64) * 2.0_f64.powi((bits(i) % 90) as i32 - 100);
        for i in 0..500_000_u64 {
            for of in [&any_of as &dyn Fn(u64) -> f64, &usual] {
                let [a, b, any] = [3 * i, 3 * i + 1, 3 * i + 2].map(of);
                let far = (52.0 + (i % 3) as f64).exp2();
                let near = -(a * b) * (1.0 + any % 4e-16);
                for c in [any, near, -(a * b), a * b * far, -a * b / far, 0.0, -0.0] {
                    let (seen, exact) = (in_parts_f64(a, b, c), a.mul_add(b, c));
                    assert!(same(seen, exact), "{a:e} {b:e} {c:e}: {seen:e}, {exact:e}");
                }
            }
        }
    }
}
