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

/// Of each place.
#[inline(always)]
fn four_in_parts(a: [f32; 4], b: [f32; 4], c: [f32; 4]) -> [f32; 4] {
    let sums = std::array::from_fn(|l| f64::from(a[l]) * f64::from(b[l]) + f64::from(c[l]));
    if sums
        .into_iter()
        .fold(true, |all, sum| all & rounds_well(sum))
    {
        return sums.map(|sum| sum as f32);
    }
    slowly(|l| by_odd(a[l], b[l], c[l]))
}

#[inline(always)]
fn two_in_parts(a: [f64; 2], b: [f64; 2], c: [f64; 2]) -> [f64; 2] {
    let sums = std::array::from_fn(|l| of_parts(a[l], b[l], c[l]));
    if sums
        .into_iter()
        .fold(true, |all, (_, is_sure)| all & is_sure)
    {
        return sums.map(|(sum, _)| sum);
    }
    slowly(|l| by_odd_f64(a[l], b[l], c[l]))
}

/// Apart from the loops that seldom come here.
#[cold]
#[inline(never)]
fn slowly<T, const N: usize>(each: impl Fn(usize) -> T) -> [T; N] {
    std::array::from_fn(each)
}

/// `a b + c`, rounded once.
#[inline(always)]
pub(crate) fn in_parts(a: f32, b: f32, c: f32) -> f32 {
    let sum = f64::from(a) * f64::from(b) + f64::from(c);
    if rounds_well(sum) {
        sum as f32
    } else {
        slowly::<_, 1>(|_| by_odd(a, b, c))[0]
    }
}

/// Whether a sum that was rounded to f64 rounds to f32 as the exact one does: where it is not the
/// middle of two of f32, which below the normal ones lies elsewhere.
#[inline(always)]
fn rounds_well(sum: f64) -> bool {
    let is_middle = sum.to_bits() & 0x1fff_ffff == 0x1000_0000;
    !is_middle & ((sum.abs() > 2.0 * f64::from(f32::MIN_POSITIVE)) | (sum == 0.0))
}

/// `a b + c` by f64, which holds the product: a sum that is rounded to odd there rounds to f32 as
/// the exact one does (Boldo & Melquiond 2008, theorem 1).
fn by_odd(a: f32, b: f32, c: f32) -> f32 {
    let (sum, lost) = sum_and_lost(f64::from(a) * f64::from(b), f64::from(c));
    to_odd(sum, lost) as f32
}

/// `a b + c` but for the last rounding of small parts, and whether that changes nothing: where even
/// a little more of what is left rounds to the same (Ziv 1991).
#[inline(always)]
fn of_parts(a: f64, b: f64, c: f64) -> (f64, bool) {
    /// Parts that round differ by a share of 2^-51 at most.
    const A_LITTLE_MORE: f64 = 1.0 + 1.0 / (1_u64 << 48) as f64;
    let (product, rest) = product_and_rest(a, b);
    let (sum, lost) = sum_and_lost(product, c);
    let (sum, left) = sum_and_lost(sum, lost + rest);
    // NaN is not the same; of a smaller product the rest might be no number of f64.
    let is_sure = (sum + left * A_LITTLE_MORE == sum) & (product.abs() > 1e-260);
    (sum, is_sure)
}

/// As [`by_odd`], in f64: the product's two halves and `c` are added up, the small parts to odd
/// (Boldo & Melquiond 2008, figure 4).
fn by_odd_f64(a: f64, b: f64, c: f64) -> f64 {
    /// Halves of products this small or large are whole numbers of f64.
    const EXACT: std::ops::Range<f64> = 1e-120..1e120;
    if a == 0.0 || b == 0.0 {
        return a * b + c;
    }
    if !(EXACT.contains(&a.abs()) && EXACT.contains(&b.abs()) && c.abs() < 1e240) {
        return a.mul_add(b, c);
    }
    let (product, rest) = product_and_rest(a, b);
    let (small, lost_small) = sum_and_lost(c, rest);
    let (sum, lost) = sum_and_lost(product, small);
    let (low, lost_low) = sum_and_lost(lost, lost_small);
    sum + to_odd(low, lost_low)
}

/// A product and what rounding took off it (Dekker 1971).
#[inline(always)]
fn product_and_rest(a: f64, b: f64) -> (f64, f64) {
    let product = a * b;
    let ((a1, a2), (b1, b2)) = (halves(a), halves(b));
    let rest = ((a1 * b1 - product) + a1 * b2 + a2 * b1) + a2 * b2;
    (product, rest)
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
pub(crate) fn sum_and_lost(a: f64, b: f64) -> (f64, f64) {
    let sum = a + b;
    let of_b = sum - a;
    (sum, (a - (sum - of_b)) + (b - of_b))
}

/// The number next to `sum + lost` whose last bit is 1, where `lost` is not zero.
#[inline(always)]
fn to_odd(sum: f64, lost: f64) -> f64 {
    let bits = sum.to_bits();
    // Away from zero where the exact sum is further from it. NaN is no more.
    let further = (lost > 0.0) == (sum > 0.0);
    let step = if further { 1 } else { u64::MAX };
    let is_even = bits & 1 == 0;
    let is_rounded = lost.abs() > 0.0;
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
                let exact = f64::from(a.mul_add(b, c));
                let four = four_in_parts([a, 1.0, a, 1.0], [b; 4], [1.0, c, c, 1.0]);
                for seen in [four[2], in_parts(a, b, c), by_odd(a, b, c)].map(f64::from) {
                    assert!(same(seen, exact), "{a:e} {b:e} {c:e}: {seen:e}, {exact:e}");
                }
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
                    let exact = a.mul_add(b, c);
                    for seen in [
                        two_in_parts([1.0, a], [b; 2], [c; 2])[1],
                        by_odd_f64(a, b, c),
                    ] {
                        assert!(same(seen, exact), "{a:e} {b:e} {c:e}: {seen:e}, {exact:e}");
                    }
                }
            }
        }
    }

    /// Half a last place and next to nothing beside it, which rounding once sees.
    #[test]
    fn what_is_next_to_the_middle_of_two_numbers_is_seen() {
        for k in 27..52 {
            let small = 2.0_f64.powi(-k);
            let (a, b) = (1.0 + small, 1.0 - small);
            for c in (0..8).map(|i| 2.0_f64.powi(53) + 2.0 * f64::from(i)) {
                for (a, c) in [(a, c), (a, -c), (-a, c), (-a, -c)] {
                    let exact = a.mul_add(b, c);
                    assert_eq!(by_odd_f64(a, b, c), exact, "{a:e} {b:e} {c:e}");
                    assert_eq!(two_in_parts([a; 2], [b; 2], [c; 2]), [exact; 2]);
                }
            }
        }
        // Of f32, below and above the least normal number.
        let (more, less) = (1.0 + f32::EPSILON, 1.0 - f32::EPSILON);
        for (size, c) in [(-75, -149), (-75, -140), (-10, -19), (10, 21)] {
            let size = 2.0_f32.powi(size);
            for c in (0..8).map(|i| ((1_048_577.0 + f64::from(i)) * 2.0_f64.powi(c)) as f32) {
                for c in [c, -c] {
                    let exact = (size * more).mul_add(size * less, c);
                    let [a, b] = [more, less].map(|v| [size * v; 4]);
                    assert_eq!(four_in_parts(a, b, [c; 4]), [exact; 4], "{size:e} {c:e}");
                }
            }
        }
        let next = 1.0 + f64::EPSILON;
        for (sum, lost, odd) in [
            (1.0, 0.0, 1.0),
            (1.0, 1e-30, next),
            (1.0, -1e-30, 1.0 - f64::EPSILON / 2.0),
            (next, 1e-30, next),
            (next, -1e-30, next),
            (-1.0, -1e-30, -next),
        ] {
            assert_eq!(to_odd(sum, lost), odd, "{sum:e} {lost:e}");
        }
    }
}
