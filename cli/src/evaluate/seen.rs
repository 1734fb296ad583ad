//! What pictures of predictions show, gathered while rows stream by.

use bochner::solve::Targets;
use ndarray::ArrayView2;
use serde_json::{Value, json};

/// More classes make no picture that anybody reads.
const CLASSES: usize = 40;
/// Parts of equal width that probabilities are divided into.
const PARTS: usize = 10;
/// Residuals that are kept, at most.
const KEPT: usize = 800;

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
    rows: u64,
    /// One row in so many is kept.
    every: u64,
    /// What was predicted, and what it lacks of the target.
    kept: Vec<(f64, f64)>,
}

impl Seen {
    /// Nothing seen of a model with these targets, whose labels may have names.
    pub(crate) fn of(targets: &Targets, names: Option<&[String]>) -> Self {
        match targets {
            Targets::Classes(labels) => Self::Labels(Labels::of(labels, names)),
            Targets::Real { .. } => Self::Numbers(Numbers {
                rows: 0,
                every: 1,
                kept: Vec::new(),
            }),
        }
    }

    /// Takes a chunk of predictions and targets `[n, targets]`.
    pub(crate) fn add(&mut self, predicted: ArrayView2<'_, f64>, y: ArrayView2<'_, f64>) {
        let pairs = predicted.column(0).into_iter().zip(y.column(0));
        match self {
            Self::Labels(seen) => pairs.for_each(|(&p, &y)| seen.add(p, y)),
            Self::Numbers(seen) => pairs.for_each(|(&p, &y)| seen.add(p, y)),
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
    pub(crate) fn pictured(&self) -> Option<(&'static str, Value)> {
        match self {
            Self::Numbers(seen) if !seen.kept.is_empty() => {
                Some(("residuals", json!({"rows": seen.rows, "kept": seen.kept})))
            }
            _ => None,
        }
    }
}

impl Labels {
    fn of(labels: &[f64], names: Option<&[String]>) -> Self {
        // Text labels are counted by their names.
        let name = |label: &f64| match names.and_then(|names| names.get(*label as usize)) {
            Some(name) => name.clone(),
            None => label.to_string(),
        };
        let few = labels.len() <= CLASSES;
        Self {
            labels: labels.to_vec(),
            names: labels.iter().map(name).collect(),
            confusion: match few {
                true => vec![vec![0; labels.len()]; labels.len() + 1],
                false => Vec::new(),
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

impl Numbers {
    fn add(&mut self, predicted: f64, y: f64) {
        if self.rows.is_multiple_of(self.every) {
            if self.kept.len() == KEPT {
                let mut i = 0;
                self.kept.retain(|_| {
                    i += 1;
                    i % 2 == 1
                });
                self.every *= 2;
            }
            if self.rows.is_multiple_of(self.every) {
                self.kept.push((predicted, y - predicted));
            }
        }
        self.rows += 1;
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
        let mut seen = Seen::of(&targets, Some(&names));
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

    #[test]
    fn residuals_are_of_rows_spread_evenly() {
        let mut seen = Seen::of(
            &Targets::Real {
                columns: 1,
                shift: vec![],
            },
            None,
        );
        let n = 5 * KEPT;
        let predicted = Array2::from_shape_fn((n, 1), |(i, _)| i as f64);
        seen.add(predicted.view(), (&predicted + 0.5).view());
        let Some((_, drawn)) = seen.pictured() else {
            panic!("nothing is kept");
        };
        assert_eq!(drawn["rows"], n);
        let kept = drawn["kept"].as_array().expect("a list");
        assert_eq!(kept.len(), n / 8);
        for (i, pair) in kept.iter().enumerate() {
            assert_eq!(*pair, json!([8.0 * i as f64, 0.5]));
        }
    }
}
