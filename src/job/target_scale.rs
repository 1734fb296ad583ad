//! Scale on which a numeric target is fitted: as it is, logarithms, or ranks.

#[cfg(test)]
mod tests;

use super::Job;
use crate::{
    Error, Result,
    data::{Rescale, Survey},
    error::Remedy,
    learn::Fit,
    model::Targets,
    text::spelled,
};
use std::{fmt, str::FromStr};

/// Scale on which a numeric target is fitted.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum TargetScale {
    /// Chosen by [`Job::settled`](super::Job::settled): logarithms if they are less skewed and
    /// increase the predictive density of left-out rows; ranks if tails are long and left-out rows
    /// are predicted better. The original scale if preparation and bandwidth are given.
    #[default]
    Auto,
    /// The original scale.
    AsIs,
    /// Natural logarithms, for one column of positive values and least-squares learners: errors are
    /// relative. Predictions are means, by the smearing estimate `exp(z(x)'beta + b) mean_i
    /// exp(e_i)` over residuals e_i (Duan 1983); the ends of intervals are transformed back.
    Log,
    /// Normal scores of ranks (van der Waerden 1952), for long tails on both sides, one column and
    /// least-squares learners. Predictions are means, `mean_i T^-1(z(x)'beta + b + e_i)` over
    /// residuals e_i of the scores T(y) (Duan 1983), and lie within the range of the targets;
    /// intervals as with logarithms.
    Rank,
}

impl fmt::Display for TargetScale {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Auto => "auto",
            Self::AsIs => "as-is",
            Self::Log => "log",
            Self::Rank => "rank",
        })
    }
}

impl FromStr for TargetScale {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        spelled(
            "the scale of targets",
            text,
            &[Self::Auto, Self::AsIs, Self::Log, Self::Rank],
        )
    }
}

impl TargetScale {
    /// Returns the survey with targets on this scale; `None` for the original scale. Errors with
    /// [`Error::Unsupported`] unless targets are one numeric column, with [`Error::Data`] if some
    /// have no logarithm, and with [`Error::Missing`] if no rows were sampled for ranks.
    #[doc(hidden)]
    pub fn survey(self, of: &Survey, targets: &Targets) -> Result<Option<Survey>> {
        let rescale = match self {
            Self::Auto | Self::AsIs if matches!(targets, Targets::Real { columns: 1.., .. }) => {
                return Ok(Rescale::unit(of)?.and_then(|unit| unit.survey(of)));
            }
            Self::Auto | Self::AsIs => return Ok(None),
            Self::Log => Rescale::Logarithms,
            Self::Rank if self.is_of(targets) => Rescale::ranks(of)?,
            Self::Rank => Rescale::Logarithms,
        };
        if !self.is_of(targets) {
            let problem = "only one column of amounts is fitted on another scale";
            return Err(Error::unsupported(problem).help(Remedy::AmountsAsTheyAre));
        }
        match rescale.survey(of) {
            Some(survey) => Ok(Some(survey)),
            None => Err(least_amount(of, &rescale)),
        }
    }

    /// Whether targets are one numeric column.
    fn is_of(self, targets: &Targets) -> bool {
        matches!(targets, Targets::Real { columns: 1, .. })
    }
}

impl Job<&dyn Fit> {
    /// Returns the survey as [`TargetScale::survey`] does. Also errors with [`Error::Unsupported`]
    /// if targets exceed single precision and an option of the learner is in their unit.
    #[doc(hidden)]
    pub fn survey_to_fit(&self, of: &Survey, targets: &Targets) -> Result<Option<Survey>> {
        let scaled = self.target_scale.survey(of, targets)?;
        match scaled.as_ref().and_then(|survey| survey.rescale.as_ref()) {
            Some(Rescale::Unit(unit)) if self.learner.has_options_in_target_units() => {
                let problem = format!(
                    "targets vary by about {unit:.0e}, which single precision cannot hold, and an \
                     option of {} is in their unit",
                    self.learner
                        .settings()
                        .get("model")
                        .unwrap_or("the learner")
                );
                let remedy = "scale targets to a deviation near 1, and the option with them";
                Err(Error::unsupported(problem).help(Remedy::words(remedy)))
            }
            _ => Ok(scaled),
        }
    }
}

/// Returns the error for a target without a logarithm.
fn least_amount(of: &Survey, rescale: &Rescale) -> Error {
    let least = of.targets.first().map_or(0.0, |target| target.min.min(0.0));
    match rescale.seen(least) {
        Err(error) => error,
        Ok(_) => Error::data("y", "an amount has no logarithm"),
    }
}
