//! Amounts or labels: what the targets are taken for.

use super::{Args, chosen::Takes};
use crate::report::{Console, Usage};
use anyhow::Result;
use bochner::{
    data::{Survey, TargetStats},
    job::{MOST_CLASSES, few_whole},
    models::Targets,
};
use clap::ValueEnum;

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum Task {
    Auto,
    Regression,
    Classification,
}

impl Task {
    /// The task that these targets were taken for.
    pub(super) fn of_targets(targets: &Targets) -> Self {
        match targets {
            Targets::Real { .. } => Self::Regression,
            Targets::Classes(_) => Self::Classification,
        }
    }
}

/// What to do where a model of classes has amounts.
const OF_AMOUNTS: &str = "--model ridge, svr or gaussian-process predicts amounts";
/// The same where the model takes both.
const AS_AMOUNTS: &str = "--task regression predicts amounts";

impl Args {
    /// Errors where the task is none of the model.
    pub(super) fn check_task(&self, takes: Takes) -> Result<()> {
        let (task, takes, cure) = match (takes, self.task) {
            (Takes::Labels, Task::Regression) => {
                let cure = format!("{OF_AMOUNTS}, --task classification takes them for labels");
                ("regression", "labels", cure)
            }
            (Takes::Numbers, Task::Classification) => {
                let cure = "--model ridge, logistic or svm predicts labels".to_owned();
                ("classification", "amounts", cure)
            }
            _ => return Ok(()),
        };
        let said = self.job.said("--task");
        let said = said.replacen("--task", &format!("--task {task}"), 1);
        let model = self.learner.name();
        let problem = format!("{said} is not for --model {model}, which takes {takes}; {cure}");
        Err(Usage(problem).into())
    }

    /// Errors where a target has more values than there can be classes, and says so where each of
    /// many amounts is a class. Such a target is asked for where a model takes labels alone.
    pub(super) fn check_classes(
        &self,
        survey: &Survey,
        of_labels: bool,
        console: &Console,
    ) -> Result<()> {
        let cure = if of_labels { OF_AMOUNTS } else { AS_AMOUNTS };
        let [target] = survey.targets.as_slice() else {
            return Ok(());
        };
        match &target.distinct {
            None => {
                let most = TargetStats::MOST_DISTINCT;
                let problem = format!(
                    "the target has more than {most} different values, too many for classes; {cure}"
                );
                Err(Usage(problem).into())
            }
            Some(values) if !target.whole && values.len() > MOST_CLASSES => {
                let count = values.len();
                console.note(&format!(
                    "classification: the target has {count} values, not whole numbers, and each \
                     is a class, of which one is predicted; {cure}"
                ));
                Ok(())
            }
            Some(_) => Ok(()),
        }
    }

    /// Whether to classify; says so if nobody asked for it. A target of text has so many kinds.
    pub(super) fn classifies(
        &self,
        survey: &Survey,
        text: Option<usize>,
        console: &Console,
    ) -> bool {
        let few = few_whole(survey).map(|(values, are)| (values.len(), are));
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
            (Task::Auto, Some((values, true))) => {
                console.note(&format!(
                    "regression: the target has {values} whole values, which lie as amounts do \
                     (--task classification if they are labels)"
                ));
                false
            }
            (Task::Auto, Some((classes, false))) => {
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
