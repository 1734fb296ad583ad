//! What a dense map applies to its projections.

/// What is applied to `t = x W + phase`; phases of the cosines are in turns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
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
}

impl Nonlinearity {
    /// All of them, in the order of the shader's constant.
    pub const ALL: [Self; 5] = [
        Self::CosSin,
        Self::Cos,
        Self::Step,
        Self::Relu,
        Self::ReluSquared,
    ];

    /// Output columns of one frequency.
    pub fn outputs(self) -> usize {
        if self == Self::CosSin { 2 } else { 1 }
    }

    pub(super) fn code(self) -> i64 {
        self as i64
    }
}
