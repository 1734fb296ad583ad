//! What pictures of predictions show, gathered while rows stream by.

use crate::sample::Sample;
use bochner::models::{Intervals, Targets};
use ndarray::ArrayView2;
use serde_json::{Value, json};

/// More classes make no picture that anybody reads.
const CLASSES: usize = 40;
/// Parts of equal width that probabilities are divided into.
const PARTS: usize = 10;
/// Rows that are drawn, at most.
pub(super) const KEPT: usize = 800;

/// Which labels were taken for which, how often probabilities came true, and a sample of residuals.
#[derive(Debug)]
pub(crate) enum Seen {
    Labels(Labels),
    Numbers(Numbers),
}

/// Of a classifier.
#[derive(Debug)]
pub(crate) struct Labels {
    /// The labels as numbers, and what they are called.
    labels: Vec<f64>,
    names: Vec<String>,
    /// Rows of a label (one more for labels that are no class) by what was predicted; none where
    /// there are too many classes.
    confusion: Vec<Vec<u64>>,
    /// Of equal width, from 0 to 1.
    parts: Vec<Part>,
}

/// Rows whose likeliest class has about the same probability.
#[derive(Debug, Default, Clone, Copy)]
struct Part {
    rows: u64,
    probability: f64,
    right: u64,
}

/// Of a regression: the first target of rows evenly spread over those that were seen.
#[derive(Debug)]
pub(crate) struct Numbers {
    /// What was predicted, and what it lacks of the target.
    pairs: Sample<(f64, f64)>,
    /// The ends of the intervals of the same rows, where there are any.
    bounds: Sample<(f64, f64)>,
    /// What pictures show along the only column.
    along: Option<Value>,
}

impl Seen {
    /// Nothing seen of a model with these targets, whose labels may have names.
    pub(crate) fn for_targets(targets: &Targets, names: Option<&[String]>) -> Self {
        match targets {
            Targets::Classes(labels) => Self::Labels(Labels::new(labels, names)),
            Targets::Real { .. } => Self::Numbers(Numbers {
                pairs: Sample::new(KEPT),
                bounds: Sample::new(KEPT),
                along: None,
            }),
        }
    }

    /// Takes a chunk of predictions and targets `[n, targets]`.
    pub(crate) fn add(&mut self, predicted: ArrayView2<'_, f64>, y: ArrayView2<'_, f64>) {
        let pairs = predicted.column(0).into_iter().zip(y.column(0));
        match self {
            Self::Labels(seen) => pairs.for_each(|(&p, &y)| seen.add(p, y)),
            Self::Numbers(seen) => pairs.for_each(|(&p, &y)| seen.pairs.add((p, y - p))),
        }
    }

    /// Takes the intervals of the first target of a chunk.
    pub(crate) fn add_bounds(&mut self, intervals: &Intervals) {
        if let Self::Numbers(seen) = self {
            let (lower, upper) = (intervals.lower_nt.column(0), intervals.upper_nt.column(0));
            let ends = lower.into_iter().zip(upper);
            ends.for_each(|(&lower, &upper)| seen.bounds.add((lower, upper)));
        }
    }

    /// Takes the only column of all rows that were seen, by its name.
    pub(crate) fn draw_along(&mut self, name: String, column: &Sample<f64>) {
        if let Self::Numbers(seen) = self
            && column.seen() == seen.pairs.seen()
        {
            let bounds = seen.bounds.kept();
            let ends = |i: usize| bounds.get(i).map(|(lower, upper)| [*lower, *upper]);
            let rows = column.kept().iter().zip(seen.pairs.kept()).enumerate();
            let row = |(i, (x, (p, lack))): (usize, (&f64, &(f64, f64)))| json!({"x": x, "target": p + lack, "prediction": p, "ends": ends(i)});
            let rows: Vec<Value> = rows.map(row).collect();
            seen.along = Some(json!({"column": name, "rows": rows}));
        }
    }

    /// Takes probabilities `[n, classes]` of a chunk, with its labels.
    pub(crate) fn add_probabilities(&mut self, p_nt: ArrayView2<'_, f64>, y: ArrayView2<'_, f64>) {
        let Self::Labels(seen) = self else {
            return;
        };
        for (p, y) in p_nt.rows().into_iter().zip(y.column(0)) {
            let likeliest = p.iter().enumerate().max_by(|a, b| a.1.total_cmp(b.1));
            let Some((class, &p)) = likeliest else {
                continue;
            };
            let part = &mut seen.parts[((p * PARTS as f64) as usize).min(PARTS - 1)];
            part.rows += 1;
            part.probability += p;
            part.right += u64::from(seen.labels.get(class) == Some(y));
        }
    }

    /// What programs read of it, by key.
    pub(crate) fn numbers(&self) -> Vec<(&'static str, Value)> {
        match self {
            Self::Labels(seen) => seen.numbers(),
            Self::Numbers(_) => Vec::new(),
        }
    }

    /// What pictures show beside that.
    pub(crate) fn pictured(&self) -> Vec<(&'static str, Value)> {
        let Self::Numbers(seen) = self else {
            return Vec::new();
        };
        let residuals = json!({"rows": seen.pairs.seen(), "kept": seen.pairs.kept()});
        let along = seen.along.iter().map(|along| ("along", along.clone()));
        along.chain([("residuals", residuals)]).collect()
    }
}

impl Labels {
    fn new(labels: &[f64], names: Option<&[String]>) -> Self {
        // Text labels are counted by their names.
        let name = |label: &f64| match names.and_then(|names| names.get(*label as usize)) {
            Some(name) => name.clone(),
            None => label.to_string(),
        };
        let few = labels.len() <= CLASSES;
        Self {
            labels: labels.to_vec(),
            names: labels.iter().map(name).collect(),
            confusion: if few {
                vec![vec![0; labels.len()]; labels.len() + 1]
            } else {
                Vec::new()
            },
            parts: vec![Part::default(); PARTS],
        }
    }

    fn add(&mut self, predicted: f64, y: f64) {
        let place = |label| self.labels.iter().position(|l| *l == label);
        let (row, column) = (place(y).unwrap_or(self.labels.len()), place(predicted));
        if let Some(count) = column.and_then(|j| self.confusion.get_mut(row)?.get_mut(j)) {
            *count += 1;
        }
    }

    fn numbers(&self) -> Vec<(&'static str, Value)> {
        let mut numbers = Vec::new();
        if let Some((others, known)) = self.confusion.split_last() {
            // Labels that are no class have a row where there are any.
            let any = others.iter().any(|count| *count > 0);
            let rows = if any { &self.confusion } else { known };
            numbers.push(("classes", json!(self.names)));
            numbers.push(("confusion", json!(rows)));
        }
        let parts: Vec<Value> = self
            .parts
            .iter()
            .filter(|part| part.rows > 0)
            .map(|part| {
                let rows = part.rows as f64;
                json!({"rows": part.rows, "probability": part.probability / rows,
                       "right": part.right as f64 / rows})
            })
            .collect();
        if !parts.is_empty() {
            numbers.push(("calibration", json!(parts)));
        }
        numbers
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::{Array2, array};

    #[test]
    fn labels_are_counted_by_what_they_were_taken_for() {
        let targets = Targets::Classes(vec![0.0, 2.0]);
        let names = ["no", "maybe", "yes"].map(String::from);
        let mut seen = Seen::for_targets(&targets, Some(&names));
        let y = array![[0.0], [0.0], [2.0], [2.0], [2.0]];
        seen.add(array![[0.0], [2.0], [2.0], [2.0], [2.0]].view(), y.view());
        let p = array![
            [0.75, 0.25],
            [0.35, 0.65],
            [0.0, 1.0],
            [0.25, 0.75],
            [0.75, 0.25]
        ];
        seen.add_probabilities(p.view(), y.view());
        let numbers = seen.numbers();
        assert_eq!(numbers[0], ("classes", json!(["no", "yes"])));
        assert_eq!(numbers[1], ("confusion", json!([[1, 1], [0, 3]])));
        assert_eq!(
            numbers[2].1,
            json!([{"rows": 1, "probability": 0.65, "right": 0.0},
                   {"rows": 3, "probability": 0.75, "right": 2.0 / 3.0},
                   {"rows": 1, "probability": 1.0, "right": 1.0}])
        );
        // A label that is no class.
        seen.add(array![[0.0]].view(), array![[1.0]].view());
        assert_eq!(seen.numbers()[1].1, json!([[1, 1], [0, 3], [1, 0]]));
    }

    fn numbers() -> Seen {
        let (columns, shift) = (1, vec![]);
        Seen::for_targets(&Targets::Real { columns, shift }, None)
    }

    /// What stands beside each other is of one row, however many there were.
    #[test]
    fn predictions_lie_along_their_own_column() {
        let (mut seen, mut column) = (numbers(), Sample::new(KEPT));
        let n = 3 * KEPT;
        let x = Array2::from_shape_fn((n, 1), |(i, _)| i as f64);
        x.iter().for_each(|&x| column.add(x));
        seen.add((&x * 2.0).view(), (&x * 3.0).view());
        seen.add_bounds(&Intervals {
            predicted_nt: &x * 2.0,
            lower_nt: &x - 1.0,
            upper_nt: &x + 1.0,
            deviation_nt: None,
        });
        seen.draw_along("x".into(), &column);
        let pictured = seen.pictured();
        let (name, along) = &pictured[0];
        let rows = along["rows"].as_array().expect("a list");
        assert_eq!((*name, rows.len()), ("along", n / 4));
        for (i, row) in rows.iter().enumerate() {
            let x = 4.0 * i as f64;
            let ends = [x - 1.0, x + 1.0];
            let whole = json!({"x": x, "target": 3.0 * x, "prediction": 2.0 * x, "ends": ends});
            assert_eq!(*row, whole);
        }
        // Rows that were seen by one alone are not paired.
        column.add(0.0);
        let mut seen = numbers();
        seen.draw_along("x".into(), &column);
        assert_eq!(seen.pictured().len(), 1);
    }

    #[test]
    fn residuals_are_of_rows_spread_evenly() {
        let mut seen = numbers();
        let n = 5 * KEPT;
        let predicted = Array2::from_shape_fn((n, 1), |(i, _)| i as f64);
        seen.add(predicted.view(), (&predicted + 0.5).view());
        let pictured = seen.pictured();
        let [(_, drawn)] = &pictured[..] else {
            panic!("something else is kept");
        };
        assert_eq!(drawn["rows"], n);
        let kept = drawn["kept"].as_array().expect("a list");
        assert_eq!(kept.len(), n / 8);
        for (i, pair) in kept.iter().enumerate() {
            assert_eq!(*pair, json!([8.0 * i as f64, 0.5]));
        }
    }
}
