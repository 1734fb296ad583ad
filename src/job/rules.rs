//! What goes with what: one table for every door.

use super::{Job, TargetScale};
use crate::{
    Error, Result,
    data::check_half_life,
    features::{self, AdditiveMap, Linear, NO_PARTS},
    learn::{self, Fit},
    solve::Intercept,
};
use std::fmt;

/// Something that was asked for and does not go with everything.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Choice {
    /// Rows count by weights of their own.
    Weights,
    /// Rows count for less the older they are.
    HalfLife,
    /// Classes count by weights.
    ClassWeights,
    /// The intercept has the penalty of the coefficients.
    PenalisedIntercept,
    /// Probabilities of a classifier that has none of its own.
    Probabilities,
    /// Rows are kept back for intervals.
    Intervals,
    /// Rows held out choose before the fit.
    Search,
    /// A tree with a model in each leaf.
    Leaves,
    /// Amounts are fitted on another scale than their own.
    Rescaled,
    /// The columns themselves stand beside the features of the map.
    Line,
    /// Columns are clipped, or taken by their ranks.
    Bent,
    /// A small map looks at each column.
    Additive,
    /// Rows are summed in parts: checkpoints, shards, rows that come later.
    Parts,
    /// Folds of the rows are held out in turn.
    Folds,
}
use Choice::*;

/// What is asked for around a job, beside what it says itself.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Around {
    /// Whether rows have weights.
    pub weighted: bool,
    /// Whether rows are summed in parts.
    pub parts: bool,
    /// Whether folds of them are held out in turn.
    pub folds: bool,
}

/// Two choices that do not go together, and why.
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

/// Why a job is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Refused {
    /// What does not go,
    pub choice: Choice,
    /// beside this; beside the learner if there is nothing.
    pub beside: Option<Choice>,
    /// Why, and what to do but to leave it out.
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

/// The first two of what is asked for that do not go together.
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

/// Errors with [`Error::Unsupported`] where rows are `weighted` and the learner counts all alike.
pub fn check_weights(learner: &dyn Fit, weighted: bool) -> Result<()> {
    if weighted && !learner.takes_weights() {
        Err(UNWEIGHTED.error())
    } else {
        Ok(())
    }
}

/// Why a learner forgets no rows.
const UNFORGETTING: &str =
    "it counts all rows alike, or takes a small weight for much noise (processes take counts)";

/// What a learner says that counts all rows alike.
const UNWEIGHTED: Refused = Refused {
    choice: Weights,
    beside: None,
    why: "all rows count alike to it",
};

impl Job<&dyn Fit> {
    /// Errors with [`Error::Unsupported`] where choices do not go together, with the words of the
    /// one table of that. `weighted` says whether rows have weights.
    pub fn check(&self, weighted: bool) -> Result<()> {
        let around = Around {
            weighted,
            ..Around::default()
        };
        self.half_life.map_or(Ok(()), check_half_life)?;
        self.refused(around)
            .map_or(Ok(()), |refused| Err(refused.error()))
    }

    /// As [`Self::check`], where rows come in parts to a learner that is known to sum them.
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

    /// As [`Self::check`], with all that is asked for around the job; `None` where all goes
    /// together.
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

    /// Whether amounts are to be fitted on another scale, whatever rows left out say.
    fn is_rescaled(&self) -> bool {
        matches!(self.target_scale, TargetScale::Log | TargetScale::Rank)
    }

    /// What is asked for and the learner, or the map, does not take.
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
