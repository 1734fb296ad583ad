//! What does not go together, in the words of the command line: the library's table, with flags.

use crate::report::Usage;
use bochner::job::{Choice, Refused};

/// What asks for it.
fn flags(choice: Choice) -> &'static str {
    match choice {
        Choice::Weights => "--weight",
        Choice::HalfLife => "--half-life",
        Choice::ClassWeights => "--class-weights",
        Choice::PenalisedIntercept => "--penalised-intercept",
        Choice::Probabilities => "--probabilities",
        Choice::Intervals => "--calibrate",
        Choice::Search => {
            "a search (--auto, --metric, --kernel auto, --sigma auto, --features auto)"
        }
        Choice::Leaves => "--leaves",
        Choice::Rescaled => "--target-scale log (or rank)",
        Choice::Line => "--linear yes",
        Choice::Bent => "--standardize=robust (or rank)",
        Choice::Additive => "--additive",
        Choice::Folds => "--cv",
        Choice::Parts => "a fit in parts (--checkpoint, --shard)",
        _ => "an option",
    }
}

/// The error about it; `model` is the learner as it is spelled.
pub(super) fn usage(refused: Refused, model: &str) -> Usage {
    let Refused { beside, why, .. } = refused;
    let choice = flags(refused.choice);
    Usage(match beside {
        Some(beside) => {
            let beside = flags(beside);
            // Some say what else to do.
            let or = if why.contains("; ") { ", or" } else { ";" };
            format!("{choice} and {beside} do not go together: {why}{or} leave one of both out")
        }
        None if matches!(refused.choice, Choice::Search | Choice::Leaves) => {
            format!("{choice} is for --model ridge, not for --model {model}; leave one of both out")
        }
        None => format!("{choice} is not for --model {model}: {why}; leave one of both out"),
    })
}
