//! Kind of the targets of a job: numbers or labels.

mod labels;

#[doc(hidden)]
pub use labels::{MOST_CLASSES, few_whole};

use crate::{
    Result,
    data::{Schema, Survey},
    model::Targets,
};

/// Kind of the targets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Meaning {
    /// Numbers (regression).
    Amounts,
    /// Numbers given besides a table, whose own targets are ignored.
    AmountsBeside,
    /// Labels (classification).
    Labels,
    /// No targets (unsupervised learners).
    Nothing,
}

impl Meaning {
    /// Guesses the kind of one column of targets: labels for text, and for at most 32 whole numbers
    /// whose frequencies do not look like counts or grades; else numbers.
    ///
    /// ```
    /// use bochner::{data::{MemorySource, Survey}, job::Meaning};
    /// let x = ndarray::Array2::<f64>::zeros((40, 1));
    /// let mut of = |y: fn(usize) -> f64| {
    ///     let y = ndarray::Array2::from_shape_fn((40, 1), |(i, _)| y(i));
    ///     let mut rows = MemorySource::new(x.clone(), Some(y))?;
    ///     Ok::<_, bochner::Error>(Meaning::guess(&Survey::new(&mut rows, 0, 0)?, None))
    /// };
    /// assert_eq!(of(|i| (i % 3) as f64)?, Meaning::Labels);
    /// assert_eq!(of(|i| i as f64 / 7.0)?, Meaning::Amounts);
    /// # Ok::<(), bochner::Error>(())
    /// ```
    pub fn guess(survey: &Survey, schema: Option<&Schema>) -> Self {
        let is_text = schema.is_some_and(|schema| schema.classes().is_some());
        match few_whole(survey) {
            _ if is_text => Self::Labels,
            Some((_, false)) => Self::Labels,
            _ => Self::Amounts,
        }
    }

    /// Returns the targets of surveyed rows, with the schema of their table if there is one.
    ///
    /// Errors with [`Error::Unsupported`](crate::Error::Unsupported) if numeric targets are text,
    /// and as [`Targets::classes`] does.
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
