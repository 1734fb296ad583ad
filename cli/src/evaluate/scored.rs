//! What predictions scored, for people and for programs.

use super::{Judged, coverage::Held, seen::Seen};
use crate::report::{Report, Value, counted, six_digits};
use bochner::{
    job::FoldScores,
    models::{AmountScores, LabelScores, Score, Scores},
};
use indicatif::HumanCount;
use serde_json::{Map, json};
use std::fmt::Write;

/// Classes that are listed one by one, at most.
const LISTED: usize = 40;
/// A class is rare up to this share of the rows.
const RARE: f64 = 0.1;
/// Fewer rows do not tell how good a model is, nor that it is worse than the mean.
const ENOUGH: u64 = 10;
/// By how much predictions may be worse than the mean before it is said: little is noise.
const NOISE: f64 = 0.02;
/// Rows of a rare class from which on what is missed of it is told.
const TELLING: u64 = 10;

/// Scores of a model, with what they are scores of.
#[derive(Debug)]
pub(crate) struct Scored {
    pub(super) scores: Scores,
    pub(super) more: More,
    pub(super) seen: Seen,
    pub(super) held: Option<Held>,
    /// What targets are called, if they have names.
    pub(super) targets: Option<Vec<String>>,
    /// What classes are called.
    pub(super) classes: Vec<String>,
    /// Whether the order of rows is that of probabilities.
    pub(super) probable: bool,
    /// The level of the quantile that is predicted: no mean is meant then.
    pub(super) quantile: Option<f64>,
}

/// Scores by what was predicted.
#[derive(Debug)]
pub(super) enum More {
    Amounts(AmountScores),
    Labels(LabelScores),
}

/// A number with its deviation, where one is known.
fn said(score: Score) -> String {
    let value = six_digits(score.value);
    if score.deviation.is_nan() {
        return value;
    }
    format!("{value} +- {:.1e}", score.deviation)
}

/// A share likewise.
fn share(score: Score) -> String {
    if score.deviation.is_nan() {
        return format!("{:.4}", score.value);
    }
    format!("{:.4} +- {:.4}", score.value, score.deviation)
}

/// Scores by name, where there are any.
fn named<const N: usize>(scores: [(&'static str, Option<Score>); N]) -> Vec<(&'static str, Score)> {
    let all = scores.into_iter();
    all.filter_map(|(name, score)| Some((name, score?)))
        .collect()
}

/// Values and deviations of scores, as objects.
fn objects(scores: &[(&'static str, Score)]) -> (Map<String, Value>, Value) {
    let of = |f: fn(&Score) -> f64| {
        let pairs = scores
            .iter()
            .map(|(name, score)| ((*name).to_owned(), json!(f(score))));
        pairs.collect::<Map<_, _>>()
    };
    let deviations = of(|score| score.deviation);
    (of(|score| score.value), Value::Object(deviations))
}

impl Scored {
    /// Rows seen.
    pub(crate) fn rows(&self) -> u64 {
        self.scores.rows()
    }

    /// What is said of scores of a few rows.
    pub(super) fn of_few(&self) -> Option<String> {
        let rows = self.rows();
        (rows < ENOUGH).then(|| {
            format!(
                "scores of {} tell little of others; give {ENOUGH} or more",
                counted(rows, "row")
            )
        })
    }

    /// The same as scores of a fold, whose model was fitted to so many rows.
    pub(crate) fn of_fold(&self, train_rows: u64) -> FoldScores {
        match &self.more {
            More::Amounts(amounts) => FoldScores::of_amounts(train_rows, amounts, self.quantile),
            More::Labels(labels) => FoldScores::of_labels(train_rows, labels),
        }
    }

    /// What is said of labels that are named worse than by one name for all, by more than the
    /// deviation of the accuracy.
    fn worse_than_one(&self, labels: &LabelScores, of: &Judged<'_>) -> Option<String> {
        let Judged { rows, advice, .. } = of;
        let (base_rate, most) = labels.base_rate();
        let Score { value, deviation } = labels.accuracy()?;
        let most = self.classes.get(most)?;
        (labels.rows() >= ENOUGH && value + deviation < base_rate).then(|| {
            format!(
                "accuracy {value:.3} on the {rows}, and {base_rate:.3} of them are {most}: worse \
                 than to name that always; {advice}"
            )
        })
    }

    /// What is said of predictions that are worse than one for all: of amounts, than the mean of
    /// their targets, of the worst target, if rows are enough to tell.
    pub(super) fn worse_than_mean(&self, of: &Judged<'_>) -> Option<String> {
        let Judged { rows, advice, .. } = of;
        let amounts = match &self.more {
            More::Amounts(amounts) => amounts,
            More::Labels(labels) => return self.worse_than_one(labels, of),
        };
        if self.quantile.is_some() {
            return None;
        }
        let of = |target: usize| Some((amounts.of_target(target)?.r2?.value, target));
        let all = (0..amounts.targets()).filter_map(of);
        let (r2, target) = all.min_by(|a, b| a.0.total_cmp(&b.0))?;
        let of_target = match amounts.targets() {
            1 => String::new(),
            _ => format!(" of {}", self.target(target)),
        };
        (amounts.rows() >= ENOUGH && r2 < -NOISE).then(|| {
            format!(
                "R2 {r2:.2}{of_target} on the {rows}: worse than the mean of their targets; \
                 {advice}"
            )
        })
    }

    /// What was scored, over `what`.
    pub(crate) fn describe(&self, report: &mut Report, what: &str) {
        let over = format!("{} {what}", HumanCount(self.rows()));
        match &self.more {
            More::Labels(labels) => self.labels(labels, report, &over),
            More::Amounts(amounts) => self.amounts(amounts, report, &over),
        }
        if let Some(held) = &self.held {
            held.describe(report);
        }
        for (key, value) in self.seen.numbers() {
            report.set(key, value);
        }
        for (key, value) in self.seen.pictured() {
            report.picture(key, value);
        }
    }

    fn amounts(&self, amounts: &AmountScores, report: &mut Report, over: &str) {
        report.set("rmse", self.scores.rmse());
        report.set("relative_error", self.scores.relative_error());
        let of = |target: usize| amounts.named(target, self.quantile);
        match (amounts.targets(), of(0)) {
            (1, scores) => {
                for &(name, score) in &scores {
                    report.set(name, score.value);
                    let text = match name {
                        "rmse" | "pinball_loss" => format!("{} on {over}", said(score)),
                        "coverage" => {
                            let level = self.quantile.unwrap_or_default();
                            format!(
                                "{} of targets are at or below, {level} are meant",
                                said(score)
                            )
                        }
                        _ => said(score),
                    };
                    report.line(name.replace('_', " "), text);
                }
                report.set("deviations", objects(&scores).1);
            }
            (targets, _) => {
                let text = format!("{} on {over}", six_digits(self.scores.rmse()));
                report.line("rmse", text);
                let all = (0..targets).map(|target| (self.target(target), of(target)));
                let mut list = Vec::new();
                for (name, scores) in all {
                    let texts = scores.iter().map(|(what, score)| {
                        format!("{} {}", what.replace('_', " "), said(*score))
                    });
                    report.line(name.clone(), texts.collect::<Vec<_>>().join(", "));
                    let (mut object, deviations) = objects(&scores);
                    object.insert("target".into(), name.into());
                    object.insert("deviations".into(), deviations);
                    list.push(Value::Object(object));
                }
                report.set("target_scores", list);
            }
        }
        if self.quantile.is_none() {
            report.line("relative error", six_digits(self.scores.relative_error()));
        }
    }

    /// What a target is called.
    fn target(&self, target: usize) -> String {
        let named = self.targets.as_ref().and_then(|names| names.get(target));
        named.cloned().unwrap_or_else(|| format!("target {target}"))
    }

    fn labels(&self, labels: &LabelScores, report: &mut Report, over: &str) {
        let (base_rate, most) = labels.base_rate();
        let most = self.classes.get(most).map_or("", String::as_str);
        let scores = labels.named();
        let rarer = labels
            .rarer()
            .and_then(|class| self.classes.get(class))
            .cloned();
        // Means over rows that are summed in another order differ in the last digit.
        report.set("accuracy", self.scores.accuracy());
        for &(name, score) in &scores {
            report.set(name, score.value);
            let text = match name {
                "accuracy" => {
                    format!("{} on {over}; {base_rate:.4} are {most}", share(score))
                }
                _ => said(score),
            };
            let of = match name {
                "average_precision" => rarer
                    .as_ref()
                    .map_or(String::new(), |class| format!(" of {class}")),
                _ => String::new(),
            };
            report.line(format!("{}{of}", name.replace('_', " ")), text);
        }
        report.set("average_precision_of", rarer);
        report.set("base_rate", base_rate);
        report.set("deviations", objects(&scores).1);
        self.by_class(labels, report);
        self.rare(labels, report);
    }

    /// Precision, recall and F1 of each class.
    fn by_class(&self, labels: &LabelScores, report: &mut Report) {
        let all = labels.classes();
        let mut table = String::new();
        let mut list = Vec::new();
        for (score, name) in all.iter().zip(&self.classes) {
            let scores = named([
                ("precision", score.precision),
                ("recall", score.recall),
                ("f1", score.f1),
            ]);
            let (mut object, deviations) = objects(&scores);
            object.insert("class".into(), name.as_str().into());
            object.insert("rows".into(), score.rows.into());
            object.insert("deviations".into(), deviations);
            list.push(Value::Object(object));
            let column = |score: Option<Score>| score.map_or_else(|| "-".into(), share);
            // Writing to a string does not fail.
            let _ = writeln!(
                table,
                "{name:>16} {:>9} {:>17} {:>17} {:>17}",
                score.rows,
                column(score.precision),
                column(score.recall),
                column(score.f1)
            );
        }
        report.set("class_scores", list);
        if all.len() <= LISTED {
            let head = ["class", "rows", "precision", "recall", "F1"];
            let [class, rows, precision, recall, f1] = head;
            report.table_below(format!(
                "\n{class:>16} {rows:>9} {precision:>17} {recall:>17} {f1:>17}\n{table}"
            ));
        }
    }

    /// Says what is missed of a rare class, which the accuracy hides, and from where on more of it
    /// is found.
    fn rare(&self, labels: &LabelScores, report: &mut Report) {
        let all = labels.classes();
        for (class, (score, name)) in all.iter().zip(&self.classes).enumerate() {
            let recall = score.recall.map_or(1.0, |recall| recall.value);
            let is_rare = (score.rows as f64) < RARE * self.rows() as f64;
            if !is_rare || score.rows < TELLING || recall >= 0.5 {
                continue;
            }
            let missed = ((1.0 - recall) * score.rows as f64).round() as u64;
            let mut text = format!("{missed} of {} rows of {name} are missed", score.rows);
            let best = labels.best_threshold(class);
            let own = score.f1.map_or(0.0, |f1| f1.value);
            if let (2, 1, true, Some((f1, from))) = (all.len(), class, self.probable, best)
                && f1 > own
            {
                // Not above the row that it stands for.
                let said = (from * 1e6).floor() / 1e6;
                text += &format!("; with --threshold {said} F1 is {f1:.4}, now {own:.4}");
                report.set("best_threshold", json!({"threshold": from, "f1": f1}));
            }
            report.line("rare class", text);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bochner::models::Targets;
    use ndarray::{Array2, Axis};

    #[test]
    fn labels_are_held_to_the_most_frequent() {
        let labels = [0.0, 1.0, 2.0];
        let said = |wrong: usize, rows: usize| {
            // Two of three rows are of the second class.
            let y = Array2::from_shape_fn((rows, 1), |(i, _)| [1.0, 1.0, 0.0][i % 3]);
            let found =
                Array2::from_shape_fn(
                    (rows, 1),
                    |(i, _)| if i % 10 < wrong { 2.0 } else { y[[i, 0]] },
                );
            let mut scores = LabelScores::new(&labels);
            let raw = Array2::zeros((rows, 3));
            scores
                .add(found.view(), raw.view(), y.view())
                .expect("adds");
            let scored = Scored {
                scores: Scores::default(),
                more: More::Labels(scores),
                seen: Seen::for_targets(&Targets::Classes(labels.to_vec()), None),
                held: None,
                targets: None,
                classes: ["a", "b", "c"].map(String::from).to_vec(),
                probable: false,
                quantile: None,
            };
            scored.worse_than_mean(&Judged::rows())
        };
        assert_eq!(said(3, 300), None);
        let worse = said(5, 300).expect("worse");
        assert!(
            worse.starts_with("accuracy 0.500") && worse.contains("0.667 of them are b"),
            "{worse}"
        );
        assert_eq!(said(5, 9), None);
    }

    #[test]
    fn predictions_are_held_to_the_mean() {
        let y = Array2::from_shape_fn((40, 2), |(i, k)| 1e6 + (i * (k + 3) % 7) as f64);
        let mean_t = y.mean_axis(Axis(0)).expect("rows");
        // Farther from the mean by this factor, on the other side: 1 - (1 + times)^2.
        let said = |times: f64, rows: usize| {
            let predicted = &mean_t - &((&y - &mean_t) * times);
            let part = ndarray::s![..rows, ..];
            let mut amounts = AmountScores::new(2);
            amounts
                .add(predicted.slice(part), y.slice(part))
                .expect("adds");
            let targets = Targets::Real {
                columns: 2,
                shift: vec![0.0; 2],
            };
            let scored = Scored {
                scores: Scores::default(),
                more: More::Amounts(amounts),
                seen: Seen::for_targets(&targets, None),
                held: None,
                targets: Some(vec!["a".into(), "b".into()]),
                classes: Vec::new(),
                probable: false,
                quantile: None,
            };
            scored.worse_than_mean(&Judged::rows())
        };
        assert_eq!(said(0.0, 40), None);
        assert_eq!(said(-0.5, 40), None);
        let worse = said(0.03, 40).expect("worse");
        assert!(
            worse.contains("R2 -0.06 of ") && !worse.contains('\n'),
            "{worse}"
        );
        assert!(said(1.0, 40).expect("worse").contains("R2 -3.00"));
        assert_eq!(said(1.0, 9), None);
    }
}
