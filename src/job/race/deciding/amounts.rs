//! Amounts beside what is predicted of them, if targets are these or what a scale makes of them.

use crate::data::Rescale;
use ndarray::{Array1, ArrayView1};
use std::f64::consts::TAU;

/// Errors that a prediction of ranks is smeared over, at most.
const SMEARED: usize = 256;

/// How near amounts are to what was predicted of them, row by row.
pub(in crate::job::race) struct Amounts {
    /// Squares of their errors, of means, over their variance.
    pub(in crate::job::race) squares_m: Array1<f64>,
    /// ln of the density that the prediction gives to each amount, with normal errors of the
    /// targets: amounts, or what a scale makes of them, whose density is that of the amount over
    /// the slope of the scale.
    pub(in crate::job::race) log_density_m: Array1<f64>,
}

impl Amounts {
    /// From targets and their errors, with weights of mean 1.
    pub(super) fn new(
        (off_m, y_m): (&Array1<f64>, &Array1<f64>),
        weights_m: ArrayView1<'_, f64>,
        rescale: Option<&Rescale>,
    ) -> Self {
        let mean = |of_m: &Array1<f64>| (&weights_m * of_m).sum() / weights_m.sum();
        let variance_of = |of_m: &Array1<f64>| {
            let middle = mean(of_m);
            mean(&of_m.mapv(|v| (v - middle) * (v - middle)))
        };
        let variance = mean(&off_m.mapv(|e| e * e));
        let normal_m = off_m.mapv(|e| -0.5 * (e * e / variance + (TAU * variance).ln()));
        let as_they_are = |ln_slope: f64| Self {
            squares_m: off_m.mapv(|e| e * e) / variance_of(y_m) * weights_m,
            log_density_m: (&normal_m + ln_slope) * weights_m,
        };
        let rescale = match rescale {
            None => return as_they_are(0.0),
            Some(Rescale::Unit(unit)) => return as_they_are(-unit.ln()),
            Some(rescale) => rescale,
        };
        let predicted_m = (y_m - off_m).mapv(|seen| match rescale {
            Rescale::Logarithms | Rescale::Unit(_) => rescale.amount(seen),
            // Not all of many: those that stand for them.
            Rescale::Ranks(_) => {
                let step = off_m.len().div_ceil(SMEARED);
                let some = off_m.iter().step_by(step).map(|e| rescale.amount(seen + e));
                some.sum::<f64>() / off_m.len().div_ceil(step) as f64
            }
        });
        let smear = match rescale {
            Rescale::Logarithms => mean(&off_m.mapv(f64::exp)),
            Rescale::Ranks(_) | Rescale::Unit(_) => 1.0,
        };
        let amounts_m = y_m.mapv(|seen| rescale.amount(seen));
        let variance = variance_of(&amounts_m);
        let squares_m = (amounts_m - smear * predicted_m).mapv(|e| e * e) / variance;
        let log_density_m = normal_m + y_m.mapv(|seen| rescale.ln_slope(seen));
        Self {
            squares_m: squares_m * weights_m,
            log_density_m: log_density_m * weights_m,
        }
    }
}
