//! On what scale amounts are fitted: as they are, by their logarithms, or by their ranks.

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

/// On what scale amounts are fitted.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum TargetScale {
    /// By their logarithms where these are less skewed and make rows left out more likely, or by
    /// their ranks where tails are long and that predicts rows left out better, too; what
    /// [`Job::settled`](super::Job::settled) decides. As they are where preparation and bandwidth
    /// are given.
    #[default]
    Auto,
    /// As they are.
    AsIs,
    /// By their natural logarithms: errors are then shares of an amount. One column of amounts
    /// above 0, for learners of least squares. Predictions are means, brought back by the smearing
    /// estimate `exp(z(x)'beta + b) mean_i exp(e_i)` of residuals e_i (Duan 1983), intervals those
    /// of the logarithms with both ends brought back.
    Log,
    /// By the normal scores of their ranks, for long tails to both sides (van der Waerden 1952).
    /// One column of amounts, for learners of least squares. Predictions are means, brought back by
    /// `mean_i T^-1(z(x)'beta + b + e_i)` of residuals e_i of the scores T(y) (Duan 1983), and lie
    /// within the amounts that were seen; intervals as with logarithms.
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
    /// The survey of the same rows with targets on this scale; `None` where they stay as they are.
    /// Errors with [`Error::Unsupported`] unless they are one column of amounts, with
    /// [`Error::Data`] where some have no logarithm, and with [`Error::Missing`] where no rows were
    /// kept to rank amounts by.
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

    /// Whether targets are one column of amounts.
    fn is_of(self, targets: &Targets) -> bool {
        matches!(targets, Targets::Real { columns: 1, .. })
    }
}

impl Job<&dyn Fit> {
    /// As [`TargetScale::survey`]. Errors with [`Error::Unsupported`] besides if single precision
    /// cannot hold the targets in their unit, and an option of the learner is in that unit.
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

/// The error about an amount without a logarithm.
fn least_amount(of: &Survey, rescale: &Rescale) -> Error {
    let least = of.targets.first().map_or(0.0, |target| target.min.min(0.0));
    match rescale.seen(least) {
        Err(error) => error,
        Ok(_) => Error::data("y", "an amount has no logarithm"),
    }
}
