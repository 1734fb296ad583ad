//! Amounts or labels: what the targets are taken for.

use super::Args;
use crate::report::Console;
use bochner::data::Survey;
use clap::ValueEnum;

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum Task {
    Auto,
    Regression,
    Classification,
}

/// A column of at most so many whole numbers is taken for labels.
const MOST_CLASSES: usize = 32;

impl Args {
    /// Whether to classify; says so if nobody asked for it. A target of text has so many kinds.
    pub(super) fn classifies(
        &self,
        survey: &Survey,
        text: Option<usize>,
        console: &Console,
    ) -> bool {
        let few = match survey.targets.as_slice() {
            [only] if only.whole => only
                .distinct
                .as_ref()
                .map(Vec::len)
                .filter(|&n| n <= MOST_CLASSES),
            _ => None,
        };
        match (self.task, few) {
            (Task::Regression, _) => false,
            (Task::Classification, _) => true,
            (Task::Auto, _) if text.is_some() => {
                let classes = text.unwrap_or(0);
                console.note(&format!(
                    "classification: the target is text of {classes} kinds"
                ));
                true
            }
            (Task::Auto, Some(classes)) => {
                console.note(&format!(
                    "classification: the target has {classes} values, all whole numbers, of which \
                     one is predicted (--task regression if they are amounts: predicts what lies \
                     between, too)"
                ));
                true
            }
            (Task::Auto, None) => {
                console.note(
                    "regression: the targets are not a few whole numbers (--task \
                     classification if they are labels)",
                );
                false
            }
        }
    }
}
