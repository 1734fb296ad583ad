//! Table of options that exclude each other.

use super::{Job, TargetScale};
use crate::{
    Error, Result,
    data::check_half_life,
    features::{self, AdditiveMap, Linear, NO_PARTS},
    learn::{self, Fit},
    solve::Intercept,
};
use std::fmt;

/// An option that excludes others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Choice {
    /// Row weights.
    Weights,
    /// Exponential forgetting of rows.
    HalfLife,
    /// Class weights.
    ClassWeights,
    /// The penalty applies to the intercept, too.
    PenalisedIntercept,
    /// Calibrated probabilities for a classifier that has none.
    Probabilities,
    /// A share of the rows is held out for intervals.
    Intervals,
    /// Search on held-out rows before the fit.
    Search,
    /// A tree with a model in each leaf.
    Leaves,
    /// A numeric target is fitted on another scale.
    Rescaled,
    /// The columns themselves are concatenated to the features.
    Line,
    /// Columns are clipped, or replaced by their ranks.
    Bent,
    /// Each column has a small map of its own.
    Additive,
    /// Rows are summed in parts: checkpoints, shards, incremental fits.
    Parts,
    /// Cross-validation.
    Folds,
}
use Choice::*;

/// Options around a job that the job itself does not hold.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Around {
    /// Whether rows have weights.
    pub weighted: bool,
    /// Whether rows are summed in parts.
    pub parts: bool,
    /// Whether the job is cross-validated.
    pub folds: bool,
}

/// Pairs of options that exclude each other, with the reason.
const APART: [(Choice, Choice, &str); 18] = [
    (
        ClassWeights,
        Search,
        "trials count all classes alike; give rows weights",
    ),
    (
        ClassWeights,
        Leaves,
        "leaves count all classes alike; give rows weights",
    ),
    (
        ClassWeights,
        Parts,
        "they are of all rows, and parts see some; give rows weights",
    ),
    (PenalisedIntercept, Search, "trials leave it free"),
    (PenalisedIntercept, Leaves, "leaves leave it free"),
    (Probabilities, Leaves, "leaves have none"),
    (
        Probabilities,
        Parts,
        "they read the rows again, which parts read once",
    ),
    (Intervals, Leaves, "leaves have none"),
    (Rescaled, Leaves, "leaves take amounts as they are"),
    (Line, Leaves, "leaves have maps without one"),
    (Bent, Leaves, "leaves cut columns as they are"),
    (
        Additive,
        Search,
        "trials have maps of all columns; the bandwidth is chosen without one",
    ),
    (Additive, Leaves, "leaves have maps of all columns"),
    (
        Additive,
        Line,
        "what is linear in a column is in its own part",
    ),
    (
        Additive,
        Parts,
        "all rows say which columns have a part; name them: --map fourier[0]+fourier[1]",
    ),
    (
        Leaves,
        Parts,
        "they read the rows once for each level of the tree",
    ),
    (
        Search,
        Parts,
        "it reads the rows again, which parts read once",
    ),
    (
        Folds,
        Parts,
        "each fold is a fit to rows that are read again",
    ),
];

/// Conflict between options of a job.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Refused {
    /// The option in conflict.
    pub choice: Choice,
    /// The other option; `None` if the conflict is with the learner.
    pub beside: Option<Choice>,
    /// Reason, and an alternative if there is one.
    pub why: &'static str,
}

impl fmt::Display for Choice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Weights => "weights of rows",
            HalfLife => "half-life",
            ClassWeights => "class weights",
            PenalisedIntercept => "a penalised intercept",
            Probabilities => "probabilities",
            Intervals => "intervals",
            Search => "a search",
            Leaves => "leaves",
            Rescaled => "logarithms or ranks of targets",
            Line => "linear part",
            Bent => "clipped or ranked columns",
            Additive => "an additive model",
            Parts => "sums of parts of the rows",
            Folds => "cross-validation",
        })
    }
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            choice,
            beside,
            why,
        } = self;
        match beside {
            Some(beside) => write!(
                f,
                "{choice} and {beside} do not go together: {why}, or leave one of both out"
            ),
            None => write!(f, "this learner takes no {choice}: {why}"),
        }
    }
}

/// Returns the first conflict between requested options.
fn apart(asked: &[(Choice, bool)]) -> Option<Refused> {
    let is_asked = |choice| asked.contains(&(choice, true));
    let apart = APART.iter().find(|(a, b, _)| is_asked(*a) && is_asked(*b));
    apart.map(|&(choice, beside, why)| Refused {
        choice,
        beside: Some(beside),
        why,
    })
}

impl Refused {
    fn of_learner(choice: Choice, why: &'static str) -> Self {
        Self {
            choice,
            beside: None,
            why,
        }
    }

    fn error(self) -> Error {
        Error::unsupported(self.to_string())
    }
}

/// Errors with [`Error::Unsupported`] if rows are `weighted` and the learner ignores weights.
pub fn check_weights(learner: &dyn Fit, weighted: bool) -> Result<()> {
    if weighted && !learner.takes_weights() {
        Err(UNWEIGHTED.error())
    } else {
        Ok(())
    }
}

/// Reason why a learner has no half-life.
const UNFORGETTING: &str =
    "it counts all rows alike, or takes a small weight for much noise (processes take counts)";

/// Conflict of weights with a learner that ignores them.
const UNWEIGHTED: Refused = Refused {
    choice: Weights,
    beside: None,
    why: "all rows count alike to it",
};

impl Job<&dyn Fit> {
    /// Errors with [`Error::Unsupported`] if options exclude each other. `weighted` is whether rows
    /// have weights.
    pub fn check(&self, weighted: bool) -> Result<()> {
        let around = Around {
            weighted,
            ..Around::default()
        };
        self.half_life.map_or(Ok(()), check_half_life)?;
        self.refused(around)
            .map_or(Ok(()), |refused| Err(refused.error()))
    }

    /// Checks as [`Self::check`] does, for rows that are summed in parts.
    #[doc(hidden)]
    pub fn check_parts(&self, weighted: bool) -> Result<()> {
        let refused = self.refused(Around {
            weighted,
            parts: true,
            folds: false,
        });
        let refused = refused.filter(|refused| (refused.choice, refused.beside) != (Parts, None));
        refused.map_or(Ok(()), |refused| Err(refused.error()))
    }

    /// Returns the first conflict, including options around the job; `None` if there is none.
    #[doc(hidden)]
    pub fn refused(&self, around: Around) -> Option<Refused> {
        let Around {
            weighted,
            parts,
            folds,
        } = around;
        if let Some(refused) = self.refused_by_learner(weighted) {
            return Some(refused);
        }
        let penalised = self.learner.penalised();
        let rescaled = self.is_rescaled();
        let asked = [
            (Weights, weighted),
            (
                ClassWeights,
                self.class_weights != learn::ClassWeights::Equal,
            ),
            (
                PenalisedIntercept,
                penalised.is_some_and(|fit| fit.intercept() == Intercept::Penalised),
            ),
            (Probabilities, self.probabilities),
            (Intervals, self.calibrate.is_some()),
            (Search, self.search.is_some()),
            (Leaves, self.leaves.is_some()),
            (Rescaled, rescaled),
            (Line, self.linear == Linear::Yes),
            (Bent, self.preparation.standardize.bends()),
            (Additive, self.additive != features::Additive::No),
            (Parts, parts),
            (Folds, folds),
        ];
        let sums = !parts || self.learner.of_sums().is_some();
        apart(&asked)
            .or_else(|| (!sums).then(|| Refused::of_learner(Parts, "it needs all rows at once")))
    }

    /// Whether another scale of the target is requested.
    fn is_rescaled(&self) -> bool {
        matches!(self.target_scale, TargetScale::Log | TargetScale::Rank)
    }

    /// Returns an option that the learner or the map does not support.
    fn refused_by_learner(&self, weighted: bool) -> Option<Refused> {
        if weighted && !self.learner.takes_weights() {
            return Some(UNWEIGHTED);
        }
        let penalised = self.learner.penalised().is_some();
        let only_ridge = "only ridge regression on features does";
        let refusals = [
            (
                HalfLife,
                self.half_life.is_some() && !self.learner.takes_half_life(),
                UNFORGETTING,
            ),
            (Search, self.search.is_some() && !penalised, only_ridge),
            (Leaves, self.leaves.is_some() && !penalised, only_ridge),
            (
                Rescaled,
                self.is_rescaled() && !self.learner.is_least_squares(),
                "ridge regression, kernel ridge and Falkon do",
            ),
            (
                Line,
                self.linear == Linear::Yes && !self.learner.takes_line(),
                "ridge regression, logistic regression and support vectors do",
            ),
            (
                Additive,
                self.additive != features::Additive::No
                    && !AdditiveMap::takes(self.preparation.map.as_ref()),
                NO_PARTS,
            ),
        ];
        let first = refusals.into_iter().find(|(_, refused, _)| *refused);
        first.map(|(choice, _, why)| Refused::of_learner(choice, why))
    }
}

#[cfg(test)]
mod tests;
