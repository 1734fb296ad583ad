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
    /// All at once, what does not fit into f32 cut off: as tensor cores were seen to.
    CutOff,
}

impl Adding {
    /// The orders that units may have.
    pub(in crate::ops) const ALL: [Self; 3] = [Self::InTurn, Self::Apart, Self::CutOff];

    /// A sum after the products of a fragment.
    pub(in crate::ops) fn add(self, sum: f32, products: impl Iterator<Item = f32>) -> f32 {
        match self {
            Self::InTurn => products.fold(sum, |sum, product| sum + product),
            Self::Apart => sum + products.sum::<f32>(),
            Self::CutOff => {
                let exact = products.fold(f64::from(sum), |sum, p| sum + f64::from(p));
                let nearest = exact as f32;
                match f64::from(nearest.abs()) > exact.abs() {
                    true => f32::from_bits(nearest.to_bits() - 1),
                    false => nearest,
                }
            }
        }
    }
}
