//! Rows with their targets, and the losses of their scores.

use crate::{
    Result,
    linalg::{eigen::eigen, entries},
    solve::loss::SmoothLoss,
};
use ndarray::{Array2, ArrayViewMut2};
use std::ops::Range;

/// Targets of rows.
#[derive(Debug)]
pub(crate) enum RowTargets {
    /// Class of each row. Two classes have a single output, +1 for the second and -1 for the first;
    /// more classes have one output each, +1 for the class and -1 for the others.
    Classes { class_n: Vec<u32>, classes: usize },
    /// `[t, n]`.
    Real(Array2<f64>),
    /// No targets: a single output.
    None,
}

impl RowTargets {
    /// Number of outputs.
    pub(crate) fn outputs(&self) -> usize {
        match self {
            Self::Classes { classes: 2, .. } | Self::None => 1,
            Self::Classes { classes, .. } => *classes,
            Self::Real(y_tn) => y_tn.nrows(),
        }
    }

    /// Target of output k for row i.
    pub(crate) fn value(&self, k: usize, i: usize) -> f64 {
        let sign = |yes| if yes { 1.0 } else { -1.0 };
        match self {
            Self::Classes { class_n, classes } if *classes == 2 => sign(class_n[i] == 1),
            Self::Classes { class_n, .. } => sign(class_n[i] == k as u32),
            Self::Real(y_tn) => y_tn[[k, i]],
            Self::None => 0.0,
        }
    }
}

/// Rows with their targets and weights.
#[derive(Debug)]
pub(crate) struct FittedRows {
    pub(crate) targets: RowTargets,
    /// Weight of each row; `None` if all are 1.
    pub(crate) weight_n: Option<Vec<f64>>,
    pub(crate) rows: usize,
}

impl FittedRows {
    pub(crate) fn weight(&self, i: usize) -> f64 {
        self.weight_n.as_ref().map_or(1.0, |w| w[i])
    }

    /// The sum of weights.
    pub(crate) fn total(&self) -> f64 {
        let weights = self.weight_n.as_ref();
        weights.map_or(self.rows as f64, |w| w.iter().sum())
    }
}

/// Smooth loss over all outputs of a row.
#[derive(Debug)]
pub(crate) enum RowLoss {
    /// A loss of each output separately.
    Each(Box<dyn SmoothLoss>),
    /// `log sum_k exp(s_k) - s_c` for class c.
    Multinomial,
}

impl RowLoss {
    /// Upper bound of the curvature in every direction; for the multinomial loss by Boehning
    /// (1992).
    pub(crate) fn curvature(&self) -> f64 {
        match self {
            Self::Each(loss) => loss.curvature(),
            Self::Multinomial => 0.5,
        }
    }

    /// Curvature at equal scores, in every direction that changes the loss: for the multinomial
    /// loss `(I - 11'/K) / K`.
    pub(crate) fn curvature_at_zero(&self, outputs: usize) -> f64 {
        match self {
            Self::Each(loss) => loss.curvature(),
            Self::Multinomial => 1.0 / outputs as f64,
        }
    }

    /// Groups of outputs that are minimised independently.
    pub(super) fn blocks(&self, outputs: usize) -> Vec<Range<usize>> {
        match self {
            Self::Each(_) => (0..outputs).map(|k| k..k + 1).collect(),
            Self::Multinomial => std::iter::once(0..outputs).collect(),
        }
    }

    /// Replaces the scores `[t, m]` of rows `row0 ..` in outputs `first ..` by weighted slopes, and
    /// adds the weighted losses to those outputs.
    pub(super) fn slopes(
        &self,
        rows: &FittedRows,
        (first, row0): (usize, usize),
        mut s_tm: ArrayViewMut2<'_, f64>,
        loss_t: &mut [f64],
    ) {
        match (self, &rows.targets) {
            (Self::Each(loss), targets) => {
                let outputs = s_tm.rows_mut().into_iter().zip(loss_t).enumerate();
                for (k, (scores, sum)) in outputs {
                    for (i, s) in scores.into_iter().enumerate() {
                        let i = row0 + i;
                        let (value, slope) = loss.value_and_slope(targets.value(first + k, i), *s);
                        *sum += rows.weight(i) * value;
                        *s = rows.weight(i) * slope;
                    }
                }
            }
            (Self::Multinomial, RowTargets::Classes { class_n, .. }) => {
                for (i, mut scores) in s_tm.columns_mut().into_iter().enumerate() {
                    let i = row0 + i;
                    let (class, weight) = (class_n[i] as usize, rows.weight(i));
                    let own = scores[class];
                    let top = scores.fold(f64::NEG_INFINITY, |m, &s| m.max(s));
                    entries::exp_below(scores.view_mut(), top);
                    let sum = scores.sum();
                    loss_t[0] += weight * (sum.ln() + top - own);
                    scores *= weight / sum;
                    scores[class] -= weight;
                }
            }
            (Self::Multinomial, _) => unreachable!("a multinomial loss is of classes"),
        }
    }

    /// Replaces the scores `[t, n]` of all rows by weighted second derivatives along directions
    /// among the outputs; returns these directions as columns. `None` if there are no reliable
    /// derivatives.
    ///
    /// Independent outputs are their own directions. For the multinomial loss, with Hessian
    /// `diag(p) - p p'`, directions are the eigenvectors V of its mean over the rows, so that they
    /// are uncoupled on average: `v'(diag(p) - p p')v`.
    pub(super) fn bends(
        &self,
        rows: &FittedRows,
        s_tn: &mut Array2<f64>,
    ) -> Result<Option<Array2<f64>>> {
        let outputs = s_tn.nrows();
        match self {
            Self::Each(loss) => {
                for ((k, i), s) in s_tn.indexed_iter_mut() {
                    match loss.bend(rows.targets.value(k, i), *s) {
                        Some(bend) => *s = rows.weight(i) * bend,
                        None => return Ok(None),
                    }
                }
                Ok(Some(Array2::eye(outputs)))
            }
            Self::Multinomial => {
                let mut mean = Array2::zeros((outputs, outputs));
                for (i, mut p) in s_tn.columns_mut().into_iter().enumerate() {
                    let top = p.fold(f64::NEG_INFINITY, |m, &s| m.max(s));
                    entries::exp_below(p.view_mut(), top);
                    p /= p.sum();
                    for (k, l) in (0..outputs).flat_map(|k| (0..=k).map(move |l| (k, l))) {
                        mean[[k, l]] += rows.weight(i) * p[k] * (f64::from(k == l) - p[l]);
                    }
                }
                let turn_tt = eigen(&mean)?.vectors_nn;
                let squares = turn_tt.mapv(entries::square);
                for (i, mut p) in s_tn.columns_mut().into_iter().enumerate() {
                    let along = p.dot(&turn_tt);
                    let bends = p.dot(&squares) - &along * &along;
                    p.assign(&bends.mapv(|b| rows.weight(i) * b.max(0.0)));
                }
                Ok(Some(turn_tt))
            }
        }
    }
}
