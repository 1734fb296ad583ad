//! Whether the first row of a file is names.

use crate::error::{Error, Result};
use std::{fmt, str::FromStr};

/// Whether the first row of a file of separated columns holds their names.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Header {
    /// It does unless all its fields are numbers.
    #[default]
    Auto,
    /// It does, whatever it looks like.
    Yes,
    /// It is the first row of data, and columns are named "0", "1" and so on.
    No,
}

impl FromStr for Header {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        match text {
            "auto" => Ok(Self::Auto),
            "yes" => Ok(Self::Yes),
            "no" => Ok(Self::No),
            _ => Err(Error::parameter(format!(
                "{text:?} is none of auto, yes, no"
            ))),
        }
    }
}

impl fmt::Display for Header {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Auto => "auto",
            Self::Yes => "yes",
            Self::No => "no",
        })
    }
}
