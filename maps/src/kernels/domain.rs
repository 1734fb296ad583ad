//! Which numbers a kernel is defined for.

use std::fmt;

/// The values at unit scale that a kernel takes, column by column.
///
/// ```
/// use bochner::kernels::{AdditiveChi2, Domain, Gaussian, Kernel};
/// assert_eq!(Gaussian.domain(), Domain::Any);
/// assert!(!AdditiveChi2.domain().holds(-0.5));
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub enum Domain {
    /// Every number.
    #[default]
    Any,
    /// 0 and more.
    NonNegative,
    /// More than this number.
    Above(f64),
}

impl Domain {
    /// Whether `value` is among them.
    #[doc(hidden)]
    pub fn holds(self, value: f64) -> bool {
        match self {
            Self::Any => true,
            Self::NonNegative => value >= 0.0,
            Self::Above(bound) => value > bound,
        }
    }
}

/// As a condition: `at least 0`.
impl fmt::Display for Domain {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Any => f.write_str("any number"),
            Self::NonNegative => f.write_str("at least 0"),
            Self::Above(bound) => write!(f, "more than {bound}"),
        }
    }
}
