//! Error measures for permutation importance.

use crate::model::{LinearModel, Targets};
use ndarray::{Array2, ArrayView1, ArrayView2};

/// Error measure of permutation importance. All are means over rows, and over targets if there are
/// several.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Measure {
    /// `(y - p)^2`, for real targets.
    SquaredError,
    /// `level max(0, y - p) + (1 - level) max(0, p - y)`, for a model of this quantile.
    PinballLoss(f64),
    /// `-log p` of the label, for classifiers with probabilities.
    LogLoss,
    /// The share of wrong labels, for other classifiers.
    WrongLabels,
    /// Without targets: root mean square change of the predictions over their standard deviation.
    Moved,
}

impl Measure {
    /// Name, for example `squared error` or `log loss`.
    pub fn name(&self) -> &'static str {
        match self {
            Self::SquaredError => "squared error",
            Self::PinballLoss(_) => "pinball loss",
            Self::LogLoss => "log loss",
            Self::WrongLabels => "share of wrong labels",
            Self::Moved => "how far predictions move",
        }
    }

    /// The measure that suits a model, with or without targets.
    pub(super) fn of_model(model: &LinearModel, has_targets: bool) -> Self {
        match &model.targets {
            _ if !has_targets => Self::Moved,
            Targets::Real { .. } => match model.quantile() {
                Some(level) => Self::PinballLoss(level),
                None => Self::SquaredError,
            },
            Targets::Classes(_) if model.probabilities.is_some() => Self::LogLoss,
            Targets::Classes(_) => Self::WrongLabels,
        }
    }
}

/// Reference for outputs `[n, t]`.
pub(super) struct Judge<'a> {
    pub(super) measure: Measure,
    /// The labels of classes, in the order of the outputs.
    pub(super) labels: &'a [f64],
    /// Targets `[n, t]`, or without targets the outputs of the unchanged rows.
    pub(super) wanted_nt: Array2<f64>,
}

impl Judge<'_> {
    /// The error of outputs `[n, t]` of the same rows.
    pub(super) fn error(&self, found_nt: &Array2<f64>) -> f64 {
        match self.measure {
            Measure::SquaredError => self.mean(found_nt, |p, y| (y - p).powi(2)),
            Measure::PinballLoss(level) => self.mean(found_nt, |p, y| {
                level * (y - p).max(0.0) + (1.0 - level) * (p - y).max(0.0)
            }),
            Measure::LogLoss => self.of_labels(found_nt, |p, own| {
                // Clamps the probability, so that one row cannot make the mean infinite.
                -own.map_or(0.0, |own| p[own]).max(f64::EPSILON).ln()
            }),
            Measure::WrongLabels => self.of_labels(found_nt, |scores, own| {
                let best =
                    (1..scores.len()).fold(0, |b, k| if scores[k] > scores[b] { k } else { b });
                f64::from(u8::from(own != Some(best)))
            }),
            Measure::Moved => {
                let moved = self.mean(found_nt, |p, y| (y - p).powi(2));
                let spread = spread(self.wanted_nt.view());
                if spread > 0.0 {
                    (moved / spread).sqrt()
                } else {
                    0.0
                }
            }
        }
    }

    fn mean(&self, found_nt: &Array2<f64>, of: impl Fn(f64, f64) -> f64) -> f64 {
        let pairs = found_nt.iter().zip(&self.wanted_nt);
        pairs.map(|(&p, &y)| of(p, y)).sum::<f64>() / found_nt.len() as f64
    }

    fn of_labels(
        &self,
        found_nt: &Array2<f64>,
        of: impl Fn(ArrayView1<'_, f64>, Option<usize>) -> f64,
    ) -> f64 {
        let place = |y: f64| self.labels.iter().position(|&label| label == y);
        let pairs = found_nt.rows().into_iter().zip(self.wanted_nt.column(0));
        pairs.map(|(row, &y)| of(row, place(y))).sum::<f64>() / found_nt.nrows() as f64
    }
}

/// Mean over outputs of their variances.
fn spread(outputs_nt: ArrayView2<'_, f64>) -> f64 {
    let of = |column: ArrayView1<'_, f64>| {
        let mean = column.mean().unwrap_or(0.0);
        column.iter().map(|p| (p - mean).powi(2)).sum::<f64>()
    };
    outputs_nt.columns().into_iter().map(of).sum::<f64>() / outputs_nt.len() as f64
}
