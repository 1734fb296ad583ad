//! What the targets of rows mean to a job.

mod labels;

#[doc(hidden)]
pub use labels::{MOST_CLASSES, few_whole};

use crate::{
    Error, Result,
    data::{Schema, Survey},
    error::Remedy,
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
    /// What one column of targets is taken for where nobody says: labels if it is text, or of at
    /// most 32 whole numbers that do not lie as counts and grades do; else amounts.
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

    /// The targets of rows that were surveyed, of a table with `schema` if they are of one.
    ///
    /// Errors with [`Error::Unsupported`](crate::Error::Unsupported) where amounts are text, with
    /// [`Error::Data`](crate::Error::Data) where they vary by more or less than single precision
    /// holds, and as [`Targets::classes`] does.
    #[doc(hidden)]
    pub fn targets(self, survey: &Survey, schema: Option<&Schema>) -> Result<Targets> {
        match self {
            Self::Nothing => Ok(Targets::none()),
            Self::Labels => Targets::classes(survey),
            Self::AmountsBeside => {
                require_single_precision(survey)?;
                Ok(Targets::real(survey))
            }
            Self::Amounts => {
                require_single_precision(survey)?;
                let targets = Targets::real(survey);
                if let (Targets::Real { columns: 1.., .. }, Some(schema)) = (&targets, schema) {
                    schema.require_amounts()?;
                }
                Ok(targets)
            }
        }
    }
}

/// Deviations of targets that coefficients and sums in single precision can hold, with room for
/// features and penalties: its normal numbers range from 1.2e-38 to 3.4e38.
const DEVIATIONS: std::ops::RangeInclusive<f64> = 1e-33..=1e33;

/// Errors unless the deviation of each target that varies is within [`DEVIATIONS`].
fn require_single_precision(survey: &Survey) -> Result<()> {
    for (k, target) in survey.targets.iter().enumerate() {
        // The square of a deviation may be 0 or infinite.
        let range = target.max / 2.0 - target.min / 2.0;
        let deviation = match target.variance.sqrt() {
            deviation if deviation > 0.0 && deviation.is_finite() => deviation,
            _ => range,
        };
        if range > 0.0 && !DEVIATIONS.contains(&deviation) {
            let power = deviation.log10().floor();
            let place = if survey.targets.len() > 1 {
                format!("target {k}")
            } else {
                "the target".to_owned()
            };
            let problem = format!(
                "{place} varies by about 1e{power}, which single precision cannot hold (1e-33 to \
                 1e33)"
            );
            let remedy = format!("multiply it by 1e{} and predictions by 1e{power}", -power);
            return Err(Error::data("y", problem).help(Remedy::words(remedy)));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::MemorySource;
    use ndarray::Array2;

    /// Targets that f32 cannot hold are an error that names the factor; constants and others pass.
    #[test]
    fn targets_beyond_single_precision_are_refused() {
        let of = |y: &dyn Fn(usize) -> f64| {
            let x = Array2::<f64>::zeros((40, 1));
            let y = Array2::from_shape_fn((40, 1), |(i, _)| y(i));
            let mut rows = MemorySource::new(x, Some(y)).expect("rows");
            let survey = Survey::new(&mut rows, 0, 0).expect("surveys");
            Meaning::Amounts.targets(&survey, None)
        };
        for unit in [1e-160, 1e-44, 1e44, 1e150] {
            let error = of(&|i| unit * i as f64).expect_err("refused").to_string();
            assert!(
                error.contains("single precision") && error.contains("multiply"),
                "{error}"
            );
        }
        for unit in [1e-30, 1.0, 1e30] {
            assert!(of(&|i| unit * i as f64).is_ok(), "{unit}");
        }
        assert!(of(&|_| 1e44).is_ok());
    }
}
