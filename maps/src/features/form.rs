//! The two forms of a Fourier feature.

use crate::{Error, Result, ops::Nonlinearity, text::counted};
use std::{fmt, str::FromStr};

/// The two forms of a Fourier feature.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Form {
    /// `sqrt(2/D) [cos(w'x), sin(w'x)]` on D/2 frequencies: the lower variance for Gaussian and
    /// Laplacian, and z'z = 1.
    #[default]
    Paired,
    /// `sqrt(2/D) cos(w'x + b)` on D frequencies, b uniform: the form of scikit-learn.
    Phase,
}

impl fmt::Display for Form {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Paired => "paired",
            Self::Phase => "phase",
        })
    }
}

impl FromStr for Form {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        match text {
            "paired" => Ok(Self::Paired),
            "phase" => Ok(Self::Phase),
            _ => Err(Error::parameter(format!(
                "unknown form {text:?}; use paired or phase"
            ))),
        }
    }
}

impl Form {
    /// Frequencies of D real features. Errors when D is zero, or odd for the paired form.
    #[doc(hidden)]
    pub fn frequencies(self, features: usize) -> Result<usize> {
        match (self, features) {
            (_, 0) => Err(Error::parameter(
                "the number of features is 0; use at least 2",
            )),
            (Self::Phase, s) => Ok(s),
            (Self::Paired, d) if d % 2 == 0 => Ok(d / 2),
            (Self::Paired, d) => Err(Error::parameter(format!(
                "{} cannot be paired; use {} or the phase form",
                counted(d, "feature"),
                d.checked_add(1).unwrap_or(d - 1)
            ))),
        }
    }

    pub(super) fn nonlinearity(self) -> Nonlinearity {
        match self {
            Self::Paired => Nonlinearity::CosSin,
            Self::Phase => Nonlinearity::Cos,
        }
    }
}
