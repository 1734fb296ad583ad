//! Scores of classes: two classes share one score, whose sign decides; more classes have one each.

use crate::{
    Error, Result,
    model::{Coefficients, LinearModel, Targets},
};
use ndarray::{Array1, Array2, Axis, concatenate, s};

/// Layout of the scores of `count` classes.
#[derive(Debug, Clone, Copy)]
pub(super) struct ClassScores {
    count: usize,
    /// For two classes, the factor from the single score to that of each class, with both signs.
    factor: f64,
}

impl ClassScores {
    /// Layout for these targets. Errors with [`Error::Unsupported`] on real targets.
    pub(super) fn for_targets(targets: &Targets, factor: f64) -> Result<Self> {
        match targets {
            Targets::Classes(labels) => Ok(Self {
                count: labels.len(),
                factor,
            }),
            Targets::Real { .. } => Err(Error::unsupported(
                "this learner classifies, and the targets are amounts",
            )),
        }
    }

    /// Whether a single score decides between the classes.
    pub(super) fn is_one(self) -> bool {
        self.count == 2
    }

    /// Warm start from the coefficients of a model.
    pub(super) fn start(self, model: Option<&Coefficients>) -> Option<Coefficients> {
        model.map(|model| {
            if self.is_one() {
                one_side(model, self.factor)
            } else {
                model.clone()
            }
        })
    }

    /// Expands the coefficients of a model to one score per class.
    pub(super) fn spread(self, model: &mut LinearModel) {
        if self.is_one() {
            model.coefficients = both_sides(&model.coefficients, self.factor);
        }
    }
}

/// Expands one column of coefficients, whose score decides between two classes, to one per class:
/// `-factor` and `factor` times it.
pub(in crate::learn) fn both_sides(one: &Coefficients, factor: f64) -> Coefficients {
    let beta: Array2<f64> = &one.beta_dt * factor;
    let intercept: Array1<f64> = &one.intercept_t * factor;
    let negative = (-&beta, -&intercept);
    Coefficients {
        beta_dt: concatenate![Axis(1), negative.0, beta],
        intercept_t: concatenate![Axis(0), negative.1, intercept],
    }
}

/// Inverts [`both_sides`].
fn one_side(both: &Coefficients, factor: f64) -> Coefficients {
    let half = 0.5 / factor;
    let column = |k: usize| both.beta_dt.slice(s![.., k..=k]);
    Coefficients {
        beta_dt: (&column(1) - &column(0)) * half,
        intercept_t: Array1::from_elem(1, (both.intercept_t[1] - both.intercept_t[0]) * half),
    }
}
