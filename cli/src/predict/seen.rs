//! What a picture of predictions shows, gathered while they are written.

use super::way::{What, class_names};
use crate::{
    report::{Report, six_digits},
    sample::Sample,
};
use bochner::models::{LinearModel, Targets};
use ndarray::ArrayView2;
use serde_json::{Value, json};

/// Amounts that are kept, at most: enough for bins.
const KEPT: usize = 4096;

/// How the first column of what is predicted is distributed.
pub(super) enum Seen {
    /// Labels as numbers, what they are called, and how many rows each was predicted for.
    Labels(Vec<(f64, String, u64)>),
    Amounts(Sample<f64>),
    /// The level of sets of classes, and how many rows have a set of each size.
    Sets(f64, Vec<u64>),
}

impl Seen {
    /// Nothing yet of what a model gives.
    pub(super) fn for_model(what: What, model: &LinearModel) -> Self {
        match (&model.targets, what) {
            (_, What::Sets(level)) => Self::Sets(level, vec![0; model.targets.outputs() + 1]),
            (Targets::Classes(labels), _) if what.is_labels(model) => {
                let named = labels.iter().zip(class_names(model));
                Self::Labels(named.map(|(&label, name)| (label, name, 0)).collect())
            }
            _ => Self::Amounts(Sample::new(KEPT)),
        }
    }

    /// Takes a chunk of predictions `[n, columns]`.
    pub(super) fn add(&mut self, found: ArrayView2<'_, f64>) {
        if let Self::Sets(_, sizes) = self {
            for row in found.rows() {
                sizes[row.iter().filter(|is_in| **is_in == 1.0).count()] += 1;
            }
            return;
        }
        for value in found.column(0) {
            match self {
                Self::Labels(labels) => {
                    if let Some(label) = labels.iter_mut().find(|label| label.0 == *value) {
                        label.2 += 1;
                    }
                }
                Self::Amounts(sample) => sample.add(*value),
                Self::Sets(..) => {}
            }
        }
    }

    /// How many classes sets have.
    pub(super) fn describe(&self, report: &mut Report) {
        let Self::Sets(level, sizes) = self else {
            return;
        };
        let rows: u64 = sizes.iter().sum();
        let classes: u64 = (0..).zip(sizes).map(|(size, rows)| size * rows).sum();
        let mean = classes as f64 / rows.max(1) as f64;
        report.set("set_level", *level);
        report.set("set_size", mean);
        report.set("set_sizes", sizes.clone());
        let text = format!("of {} classes on the average", six_digits(mean));
        report.line(format!("{:.0} % sets", 100.0 * level), text);
    }

    /// What the picture shows.
    pub(super) fn pictured(self) -> Value {
        match self {
            Self::Labels(mut labels) => {
                let rows: u64 = labels.iter().map(|label| label.2).sum();
                labels.sort_by_key(|label| std::cmp::Reverse(label.2));
                let labels = labels.into_iter().filter(|label| label.2 > 0);
                let labels = labels.map(|(_, name, rows)| json!({"label": name, "rows": rows}));
                json!({"rows": rows, "labels": labels.collect::<Vec<_>>()})
            }
            Self::Sets(_, sizes) => {
                let rows: u64 = sizes.iter().sum();
                let sizes = sizes.iter().enumerate().filter(|(_, rows)| **rows > 0);
                let labels =
                    sizes.map(|(size, rows)| json!({"label": size.to_string(), "rows": rows}));
                json!({"rows": rows, "labels": labels.collect::<Vec<_>>()})
            }
            Self::Amounts(sample) => json!({"rows": sample.seen(), "kept": sample.kept()}),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::array;

    #[test]
    fn labels_are_counted_and_amounts_kept() {
        let names = [
            (0.0, "no".into(), 0),
            (2.0, "yes".into(), 0),
            (3.0, "never".into(), 0),
        ];
        let mut seen = Seen::Labels(names.to_vec());
        seen.add(array![[2.0], [0.0], [2.0]].view());
        let labels = json!([{"label": "yes", "rows": 2}, {"label": "no", "rows": 1}]);
        assert_eq!(seen.pictured(), json!({"rows": 3, "labels": labels}));
        let mut seen = Seen::Amounts(Sample::new(8));
        // A prediction between its bounds.
        seen.add(array![[2.0, 1.0, 3.0], [5.0, 4.0, 6.0]].view());
        assert_eq!(seen.pictured(), json!({"rows": 2, "kept": [2.0, 5.0]}));
    }
}
