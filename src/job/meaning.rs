//! What the targets of rows mean to a job.

use crate::{
    Result,
    data::{Schema, Survey},
    model::Targets,
};

/// What is learnt from targets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Meaning {
    /// Amounts.
    Amounts,
    /// Amounts that come beside a table, whose own targets are left alone.
    AmountsBeside,
    /// Labels.
    Labels,
    /// Nothing: rows are looked at alone.
    Nothing,
}

impl Meaning {
    /// The targets of rows that were surveyed, of a table with `schema` if they are of one.
    ///
    /// Errors with [`Error::Unsupported`](crate::Error::Unsupported) where amounts are text, and as
    /// [`Targets::classes`] does.
    #[doc(hidden)]
    pub fn targets(self, survey: &Survey, schema: Option<&Schema>) -> Result<Targets> {
        match self {
            Self::Nothing => Ok(Targets::none()),
            Self::Labels => Targets::classes(survey),
            Self::AmountsBeside => Ok(Targets::real(survey)),
            Self::Amounts => {
                let targets = Targets::real(survey);
                if let (Targets::Real { columns: 1.., .. }, Some(schema)) = (&targets, schema) {
                    schema.require_amounts()?;
                }
                Ok(targets)
            }
        }
    }
}
