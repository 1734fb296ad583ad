//! What a dense map applies to its projections.

mod expression;
mod pointwise;

pub use pointwise::Pointwise;

use super::Variant;

/// What is applied to `t = x W + phase`; phases of the cosines are in turns.
#[derive(Debug, Clone, PartialEq)]
pub enum Nonlinearity {
    /// `[cos 2 pi t, sin 2 pi t]`: two outputs a frequency, all cosines first.
    CosSin,
    /// `cos 2 pi t`.
    Cos,
    /// `1[t > 0]`, arc-cosine of order 0.
    Step,
    /// `max(t, 0)`, arc-cosine of order 1.
    Relu,
    /// `max(t, 0)^2`, arc-cosine of order 2.
    ReluSquared,
    /// t itself: a random projection.
    Identity,
    /// A function of a user's own.
    Custom(Pointwise),
}

impl Nonlinearity {
    /// All of the library's own, in the order of the shader's constant and of files.
    pub const ALL: [Self; 6] = [
        Self::CosSin,
        Self::Cos,
        Self::Step,
        Self::Relu,
        Self::ReluSquared,
        Self::Identity,
    ];

    /// All of the library's own, and one that is none of them: what shaders are validated and
    /// checked with.
    pub(super) fn examples() -> [Self; 7] {
        let [cos_sin, cos, step, relu, relu_squared, identity] = Self::ALL;
        let custom = Self::Custom(Pointwise::softsign());
        [cos_sin, cos, step, relu, relu_squared, identity, custom]
    }

    /// Output columns of one frequency.
    pub fn outputs(&self) -> usize {
        if *self == Self::CosSin { 2 } else { 1 }
    }

    /// The shader's constant; for the library's own, the number in files too.
    pub(crate) fn code(&self) -> i64 {
        match self {
            Self::CosSin => 0,
            Self::Cos => 1,
            Self::Step => 2,
            Self::Relu => 3,
            Self::ReluSquared => 4,
            Self::Identity => 5,
            // 7 is none, a plain product.
            Self::Custom(_) => 6,
        }
    }

    /// `variant` with this nonlinearity: the constant, and the text of a custom one, by which
    /// pipelines are told apart.
    pub(super) fn add_to(&self, variant: Variant) -> Variant {
        let variant = variant.with_constant("NONLINEARITY", self.code());
        match self {
            Self::Custom(own) => variant.and_text(own.shader_text()),
            _ => variant,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_number_in_files_is_the_place_among_the_librarys_own() {
        for (i, f) in Nonlinearity::ALL.iter().enumerate() {
            assert_eq!(f.code(), i as i64);
        }
    }
}
