//! Amounts or labels: what the targets are taken for.

use super::Args;
use crate::report::Console;
use bochner::data::{Survey, TargetStats};
use clap::ValueEnum;

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum Task {
    Auto,
    Regression,
    Classification,
}

/// A column of at most so many whole numbers is taken for labels, and of at most so many wherever
/// they lie and however often they come.
const MOST_CLASSES: usize = 32;
const FEW_CLASSES: usize = 10;
/// Labels that are numbers have at least so many rows each in the mean.
const ROWS_OF_A_CLASS: f64 = 3.0;
/// And the variance of numbers that come equally often, at least so much of it.
const LEAST_VARIANCE: f64 = 0.75;
/// Where one label has most rows it is seldom one in the middle: this share of the span around it.
const MIDDLE: f64 = 0.2;

/// Whether whole numbers are counts and grades, not labels, which come about equally often: there
/// are more than a few of them, and hardly any has rows, or those in the middle come most often.
fn are_amounts(target: &TargetStats, values: &[f64], rows: u64) -> bool {
    let count = values.len() as f64;
    let mean = values.iter().sum::<f64>() / count;
    let variance = values.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / count;
    let middle = (target.max + target.min) / 2.0;
    let is_peaked = target.variance < LEAST_VARIANCE * variance
        && (target.mean - middle).abs() < MIDDLE * (target.max - target.min);
    let are_rare = (rows as f64) < ROWS_OF_A_CLASS * count;
    values.len() > FEW_CLASSES && (are_rare || is_peaked)
}

impl Args {
    /// Whether to classify; says so if nobody asked for it. A target of text has so many kinds.
    pub(super) fn classifies(
        &self,
        survey: &Survey,
        text: Option<usize>,
        console: &Console,
    ) -> bool {
        let few = match survey.targets.as_slice() {
            [only] if only.whole => {
                let values = only.distinct.as_ref();
                let few = values.filter(|values| values.len() <= MOST_CLASSES);
                few.map(|values| (values.len(), are_amounts(only, values, survey.rows)))
            }
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

#[cfg(test)]
mod tests {
    use super::are_amounts;
    use bochner::data::{MemorySource, Survey};
    use ndarray::Array2;

    /// Of `rows` values.
    fn lie_as_amounts(rows: usize, value: impl Fn(usize) -> f64) -> bool {
        let y = Array2::from_shape_fn((rows, 1), |(i, _)| value(i));
        let source = MemorySource::new(Array2::<f64>::zeros((rows, 1)), Some(y));
        let mut source = source.expect("a source");
        let survey = Survey::of(&mut source, 0, 0).expect("surveys");
        let target = &survey.targets[0];
        are_amounts(target, target.distinct.as_ref().expect("few"), survey.rows)
    }

    /// Letters of the alphabet, digits, codes with gaps and labels of which the first has most rows
    /// are labels; points of a test and counts of few rows are amounts.
    #[test]
    fn counts_and_grades_are_no_labels() {
        let wave = |i: usize, k: usize| i.wrapping_mul(2_654_435_761) / 7 % k;
        assert!(!lie_as_amounts(2600, |i| wave(i, 26) as f64));
        assert!(!lie_as_amounts(150, |i| (i % 10).pow(2) as f64));
        let dice = |i: usize| i % 6 + i / 6 % 6 + i / 36 % 6;
        assert!(lie_as_amounts(2600, |i| dice(i) as f64));
        assert!(lie_as_amounts(30, |i| wave(i, 14) as f64));
        let codes = [2, 3, 4, 6, 7, 8, 9, 10, 12, 13, 14];
        assert!(!lie_as_amounts(120, |i| f64::from(codes[wave(i, 11)])));
        assert!(!lie_as_amounts(500, |i| (i % 2 * wave(i, 13)) as f64));
    }
}
