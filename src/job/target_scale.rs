//! On what scale amounts are fitted: as they are, by their logarithms, or by their ranks.

#[cfg(test)]
mod tests;

use crate::{
    Device, Error, Result, Run,
    data::{ChunkSource, Curve, Rescale, Rescaled, Survey},
    error::Remedy,
    models::{LinearModel, Link},
    normal::Targets,
    text::spelled,
};
use std::{fmt, str::FromStr, sync::Arc};

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
    pub fn survey(self, of: &Survey, targets: &Targets) -> Result<Option<Survey>> {
        let rescale = match self {
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

/// The error about an amount without a logarithm.
fn least_amount(of: &Survey, rescale: &Rescale) -> Error {
    let least = of.targets.first().map_or(0.0, |target| target.min.min(0.0));
    match rescale.seen(least) {
        Err(error) => error,
        Ok(_) => Error::data("y", "an amount has no logarithm"),
    }
}

/// From what `model` predicts of targets on another scale to means of amounts: by its residuals on
/// the rows that were kept.
pub(crate) fn bring_back(model: &mut LinearModel, by: &Rescaled) -> Result<()> {
    if by.kept.is_empty() {
        let problem = "no rows were kept to bring amounts back by";
        return Err(Error::missing(problem).help(Remedy::AmountsAsTheyAre));
    }
    // The same on every machine, and few rows.
    let run = Run::on(&Device::cpu());
    let (mut residuals, mut weights) = (Vec::new(), Vec::new());
    let mut source = by.kept.source();
    let mut predictor = model.on(&run)?;
    while let Some(chunk) = source.next_chunk(1024)? {
        let scores_nt = predictor.scores(&chunk.x)?;
        let rows = scores_nt
            .column(0)
            .to_owned()
            .into_iter()
            .zip(chunk.y.column(0));
        for (i, (score, y)) in rows.enumerate() {
            residuals.push(y - score);
            weights.push(chunk.weights.as_ref().map_or(1.0, |weights| weights[i]));
        }
    }
    drop(predictor);
    let all: f64 = weights.iter().sum();
    let mean = |of: &dyn Fn(f64) -> f64| {
        let each = residuals
            .iter()
            .zip(&weights)
            .map(|(&e, weight)| weight * of(e));
        each.sum::<f64>() / all
    };
    let (link, name) = match &by.rescale {
        Rescale::Logarithms => {
            let ln_smear = mean(&f64::exp).ln();
            (Link::Exponential { ln_smear }, "logarithms")
        }
        Rescale::Ranks(ranks) => {
            let far = residuals.iter().fold(0.0_f64, |far, e| far.max(e.abs()));
            let ends = || ranks.points().map(|(_, score)| score);
            let (from, to) = ends().fold((0.0_f64, 0.0_f64), |(a, b), s| (a.min(s), b.max(s)));
            let (from, to) = (from - far, to + far);
            let at = |k: u32| from + (to - from) * f64::from(k) / f64::from(PIECES);
            let points = (0..=PIECES).map(|k| (at(k), mean(&|e| ranks.reaches(at(k) + e))));
            let mean = Curve::through(rising(points))?;
            let ranks = ranks.clone();
            (
                Link::Ranks {
                    mean: Arc::new(mean),
                    ranks,
                },
                "ranks",
            )
        }
    };
    model.link = Some(link);
    // What the fit says of rows left out is said of what it saw.
    for fact in ["held_out_r2", "estimated_r2"] {
        if let Some(r2) = model.facts.remove(fact) {
            model.facts.insert(format!("{fact}_of_{name}"), r2);
        }
    }
    Ok(())
}

/// Pieces of a curve from scores to means.
const PIECES: u32 = 256;

/// The same points without what rounding lets fall, and at different places: where all scores are
/// one there is one.
fn rising(points: impl Iterator<Item = (f64, f64)>) -> Vec<(f64, f64)> {
    let mut all = Vec::<(f64, f64)>::new();
    for (x, y) in points {
        match all.last() {
            Some(&(before, _)) if x <= before => {}
            Some(&(_, below)) => all.push((x, y.max(below))),
            None => all.push((x, y)),
        }
    }
    all
}
