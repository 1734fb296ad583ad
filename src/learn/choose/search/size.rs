//! Choice of the number of features.

use crate::{Error, Result};
use std::fmt;

/// Criterion for the number of features.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Enough {
    /// Maximum relative error of the kernel matrix in the Frobenius norm, `|Z Z' - K|_F <= e
    /// |K|_F`, on 1,000 rows, measured with the map that is fitted.
    KernelError(f64),
    /// Twice as many features lower the hold-out error by less than this share. For classes both
    /// the share of wrong labels and the root of the squared error count, because wrong labels are
    /// few.
    AccuracyLoss(f64),
}

impl fmt::Display for Enough {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::KernelError(error) => write!(f, "a kernel error of {error}"),
            Self::AccuracyLoss(loss) => write!(f, "an accuracy loss of {loss}"),
        }
    }
}

/// Chosen number of features, and the numbers that were tried.
#[derive(Debug, Clone, PartialEq)]
pub struct Size {
    /// The criterion.
    pub enough: Enough,
    /// Number of features D.
    pub features: usize,
    /// Numbers of features that were tried, each with its kernel error or hold-out error, in the
    /// order of the trials.
    pub tried: Vec<(usize, f64)>,
    /// Whether memory or the budget limited the number before the criterion was met.
    pub limited: bool,
}

impl fmt::Display for Size {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let own = |features: usize| self.tried.iter().rev().find(|(d, _)| *d == features);
        let features = self.features;
        match (self.enough, own(features)) {
            (_, None) => write!(f, "nothing was tried for {}", self.enough),
            (Enough::KernelError(error), Some((_, found))) => {
                if self.limited {
                    write!(
                        f,
                        "the kernel is off by {found:.4}, more than {error}: memory allows no more \
                     features"
                    )
                } else {
                    write!(f, "the kernel is off by {found:.4}, at most {error}")
                }
            }
            (Enough::AccuracyLoss(loss), Some((_, found))) => match own(2 * features) {
                Some((twice, other)) if !self.limited => {
                    write!(
                        f,
                        "error {found:.5}; {twice} have {other:.5}, not {loss} less"
                    )
                }
                _ => write!(
                    f,
                    "error {found:.5}; memory or the budget allows no trial of twice as many"
                ),
            },
        }
    }
}

/// Errors unless the value of the criterion is positive and below 1.
pub(super) fn check(enough: Enough) -> Result<()> {
    let (Enough::KernelError(value) | Enough::AccuracyLoss(value)) = enough;
    if value > 0.0 && value < 1.0 {
        Ok(())
    } else {
        Err(Error::parameter(format!(
            "{enough} is asked of the number of features; it must lie between 0 and 1"
        )))
    }
}
