//! The arithmetic of matrix units, one number after another: what a shader computes, wherever it
//! runs.
//!
//! Values that share a power of two, which brings the largest of them to [2^14, 2^15), are each the
//! sum of two f16, 22 bits in all: the low one is a normal number where the high one is above 2^-3,
//! so that products of both can be summed in one f32. Products of f16 are exact in f32. So all that
//! is lost is the last two bits of a value, and what f32 rounds in sums. These begin anew every few
//! terms, since units may cut sums off where f32 rounds them, always to one side.
//!
//! After Ootomo and Yokota, "Recovering single precision accuracy from Tensor Cores while
//! surpassing the FP32 theoretical peak performance", 2022, with powers of two in the place of a
//! second sum.

use crate::simd::f16;

/// Where the largest value is brought to: the exponent of two.
const TOP: u32 = 14;

/// The power of two that values are multiplied with, and its inverse.
pub(in crate::ops) fn scale<'a>(values: impl IntoIterator<Item = &'a f32>) -> (f32, f32) {
    let bits = values.into_iter().map(|v| v.to_bits() << 1 >> 1);
    // Below 2^-100 there are fewer bits.
    let exponent = (bits.max().unwrap_or(0) >> 23).max(27);
    let power = |exponent: u32| f32::from_bits(exponent << 23);
    (power(2 * 127 + TOP - exponent), power(exponent - TOP))
}

/// The two f16 whose sum is a scaled value, to 22 bits.
pub(in crate::ops) fn split(scaled: f32) -> (f32, f32) {
    let high = f16::nearest(scaled);
    (high, f16::nearest(scaled - high))
}

/// How units add the products of a fragment to its sum, which no standard says.
/// (llvmpipe adds them apart.)
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::ops) enum Adding {
    /// One after another, each rounded to nearest.
    InTurn,
    /// By themselves, one after another, and then to the sum.
    Apart,
    /// All at once, what does not fit into f32 cut off.
    CutOff,
    /// As one number in fixed point, of which each product and the sum have what lies above
    /// 2^-[`KEPT`] of the largest of them; the result is cut off too. How large a product is
    /// follows from the exponents of its factors. Sums of an H200 have every bit of these.
    FixedPoint,
}

/// Places below the leading one that [`Adding::FixedPoint`] keeps.
const KEPT: i32 = 25;

impl Adding {
    /// The orders that units may have.
    pub(in crate::ops) const ALL: [Self; 4] =
        [Self::InTurn, Self::Apart, Self::CutOff, Self::FixedPoint];

    /// A sum after the products of the pairs of a fragment.
    pub(in crate::ops) fn add(
        self,
        sum: f32,
        pairs: impl Iterator<Item = (f32, f32)> + Clone,
    ) -> f32 {
        let products = pairs.clone().map(|(a, b)| a * b);
        let wide = |v: f32| f64::from(v);
        match self {
            Self::InTurn => products.fold(sum, |sum, product| sum + product),
            Self::Apart => sum + products.sum::<f32>(),
            Self::CutOff => cut_off(products.map(wide).fold(wide(sum), |sum, p| sum + p)),
            Self::FixedPoint => {
                let factors = pairs.filter(|(a, b)| a * b != 0.0);
                let of_products = factors.map(|(a, b)| exponent(a) + exponent(b));
                let Some(largest) = of_products.chain((sum != 0.0).then(|| exponent(sum))).max()
                else {
                    return 0.0;
                };
                let place = 2.0_f64.powi(largest - KEPT);
                let terms = products.chain([sum]);
                cut_off(terms.map(|v| (wide(v) / place).trunc() * place).sum())
            }
        }
    }
}

/// That of the power of two at or below a normal number.
fn exponent(v: f32) -> i32 {
    (v.to_bits() >> 23 & 0xff) as i32 - 127
}

/// The number of f32 at or next to an exact one, towards zero.
fn cut_off(exact: f64) -> f32 {
    let nearest = exact as f32;
    if f64::from(nearest.abs()) > exact.abs() {
        f32::from_bits(nearest.to_bits() - 1)
    } else {
        nearest
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Where the orders differ: beside 1, a product of 2^-25 fits fixed point and no f32, one of
    /// 2^-26 neither, though sixteen of them would.
    #[test]
    fn orders_of_adding_keep_what_they_say() {
        let small =
            |exponent: i32, times: usize| vec![(2.0_f32.powi(exponent), 1.0); times].into_iter();
        let after = |exponent, times| {
            Adding::ALL.map(|way| (way.add(1.0, small(exponent, times)) - 1.0) / f32::EPSILON)
        };
        assert_eq!(after(-25, 8), [0.0, 2.0, 2.0, 2.0]);
        assert_eq!(after(-26, 16), [0.0, 2.0, 2.0, 0.0]);
        assert_eq!(after(-24, 3), [0.0, 2.0, 1.0, 1.0]);
        // The exponents of factors count: 1.5 times 1.5 is no larger than 1 times 1.
        let place = 2.0_f32.powi(-25);
        let squares = [(1.5, 1.5), (-1.5, 1.5), (place, 1.0)].into_iter();
        assert_eq!(Adding::FixedPoint.add(0.0, squares.clone()), place);
        let squares = squares.chain([(2.25, 1.0), (-2.25, 1.0)]);
        assert_eq!(Adding::FixedPoint.add(0.0, squares), 0.0);
        assert_eq!(Adding::FixedPoint.add(0.0, [(0.0, 1.0)].into_iter()), 0.0);
    }
}
