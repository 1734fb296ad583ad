//! Fits probabilities of classes to scores.

mod tempered;
#[cfg(test)]
mod tests;

use crate::model::Probabilities;
use ndarray::{Array2, ArrayView1, Axis};

/// Range of logits per standard deviation of the scores if held-out rows do not confirm the order
/// of the scores: probabilities are then the class shares within one per cent, with the ranking
/// kept.
const UNCONFIRMED_LOGITS: f64 = 0.01;

/// Probabilities, and whether held-out rows confirm the order of the scores.
pub(crate) struct Calibration {
    pub(crate) probabilities: Probabilities,
    pub(crate) confirms_order: bool,
}

impl Probabilities {
    /// Fits probabilities to scores `[n, t]` of rows that the fit has not seen, with their classes
    /// and weights: sigmoids for two classes, one softmax for more. (Separate sigmoids for many
    /// classes would, after normalization, count the evidence against the other classes twice.)
    /// `observations` is the number of rows that these represent: weights determine class shares,
    /// the number of observations the weight of the prior of the calibration.
    ///
    /// If the scores rank these rows against their own classes, as leave-one-out scores of an
    /// uninformative fit do, probabilities are the class shares with a slope of
    /// [`UNCONFIRMED_LOGITS`], which keeps the order of the scores.
    pub(crate) fn fitted(
        scores_nt: &Array2<f64>,
        (class_n, weight_n): (&[usize], &[f64]),
        observations: f64,
    ) -> Calibration {
        let mean = weight_n.iter().sum::<f64>() / observations;
        let counts: Vec<f64> = weight_n.iter().map(|weight| weight / mean).collect();
        if scores_nt.ncols() == 2 {
            return Self::sigmoids(scores_nt, (class_n, &counts));
        }
        let of = (class_n, counts.as_slice());
        let (slope, offset_t) = tempered::tempered(scores_nt, of);
        if slope > 0.0 {
            return Calibration {
                probabilities: Self::Tempered { slope, offset_t },
                confirms_order: true,
            };
        }
        let (_, offset_t) = tempered::tempered(&Array2::zeros(scores_nt.dim()), of);
        let slope = unconfirmed_slope(scores_nt.iter().copied());
        Calibration {
            probabilities: Self::Tempered { slope, offset_t },
            confirms_order: false,
        }
    }

    fn sigmoids(scores_nt: &Array2<f64>, (class_n, counts): (&[usize], &[f64])) -> Calibration {
        let columns = scores_nt.axis_iter(Axis(1)).enumerate();
        let (mut slope_t, mut offset_t): (Vec<f64>, Vec<f64>) = columns
            .map(|(k, scores)| platt(scores, |i| class_n[i] == k, counts))
            .unzip();
        let confirms_order = slope_t.iter().all(|slope| *slope > 0.0);
        if !confirms_order {
            for (k, scores) in scores_nt.axis_iter(Axis(1)).enumerate() {
                slope_t[k] = unconfirmed_slope(scores.iter().copied());
                let logit = slope_t[k] * scores.mean().unwrap_or(0.0);
                offset_t[k] = class_logit(|i| class_n[i] == k, counts) - logit;
            }
        }
        Calibration {
            probabilities: Self::Sigmoids { slope_t, offset_t },
            confirms_order,
        }
    }

    /// Moves the offsets until the weighted mean probability of each class equals its share
    /// `share_t`, for scores `[n, t]`; a class with share 0 is not moved.
    pub(crate) fn match_shares(
        &mut self,
        scores_nt: &Array2<f64>,
        weight_n: &[f64],
        share_t: &[f64],
    ) {
        const STEPS: usize = 200;
        const RELATIVE_TOLERANCE: f64 = 1e-5;
        let total = weight_n.iter().sum::<f64>();
        for _ in 0..STEPS {
            let p_nt = self.apply(scores_nt.clone());
            let mean_t = ndarray::ArrayView1::from(weight_n).dot(&p_nt) / total;
            let logs = share_t.iter().zip(&mean_t);
            let step = logs.map(|(&share, &mean)| match share > 0.0 && mean > 0.0 {
                true => (share / mean).ln(),
                false => 0.0,
            });
            let step_t: Vec<f64> = step.collect();
            let (Self::Sigmoids { offset_t, .. } | Self::Tempered { offset_t, .. }) = self else {
                return;
            };
            for (offset, step) in offset_t.iter_mut().zip(&step_t) {
                *offset += step;
            }
            if step_t.iter().all(|step| step.abs() < RELATIVE_TOLERANCE) {
                return;
            }
        }
    }
}

/// Slope that spreads these scores by [`UNCONFIRMED_LOGITS`] per standard deviation; 0 if they are
/// all equal.
fn unconfirmed_slope(scores: impl Iterator<Item = f64>) -> f64 {
    let deviation = ndarray::Array1::from_iter(scores).std(0.0);
    if deviation > 0.0 && deviation.is_finite() {
        UNCONFIRMED_LOGITS / deviation
    } else {
        0.0
    }
}

/// Logit of the share of a class, with one more row on each side as in [`platt`].
fn class_logit(is: impl Fn(usize) -> bool, counts: &[f64]) -> f64 {
    let each = || counts.iter().enumerate();
    let yes: f64 = each().filter(|&(i, _)| is(i)).map(|(_, count)| count).sum();
    let no = each().map(|(_, count)| count).sum::<f64>() - yes;
    ((yes + 1.0) / (no + 1.0)).ln()
}

/// Slope and offset of the sigmoid with the greatest likelihood (Platt 1999), by Newton's method as
/// in Lin, Lin & Weng (2007). Targets are shrunk as if one more row of each side had been seen. A
/// negative slope is replaced by 0.
fn platt(scores: ArrayView1<'_, f64>, is: impl Fn(usize) -> bool, counts: &[f64]) -> (f64, f64) {
    let each = || counts.iter().enumerate();
    let yes: f64 = each().filter(|&(i, _)| is(i)).map(|(_, count)| count).sum();
    let no = each().map(|(_, count)| count).sum::<f64>() - yes;
    let (high, low) = ((yes + 1.0) / (yes + 2.0), 1.0 / (no + 2.0));
    let target = |i| if is(i) { high } else { low };
    // log(1 + exp(-u)) and exp(-u) / (1 + exp(-u)), without overflow.
    let loss = |a: f64, b: f64| -> f64 {
        let rows = scores.iter().enumerate();
        rows.map(|(i, s)| {
            let u = a * s + b;
            counts[i] * ((-u.abs()).exp().ln_1p() + (-u).max(0.0) + (1.0 - target(i)) * u)
        })
        .sum()
    };
    let none = (0.0, class_logit(&is, counts));
    let (mut a, mut b) = none;
    let mut value = loss(a, b);
    for _ in 0..100 {
        let (mut ga, mut gb) = (0.0, 0.0);
        let (mut haa, mut hab, mut hbb) = (1e-12, 0.0, 1e-12);
        for (i, s) in scores.iter().enumerate() {
            let p = 1.0 / (1.0 + (-(a * s + b)).exp());
            let (d, w) = (counts[i] * (p - target(i)), counts[i] * p * (1.0 - p));
            ga += s * d;
            gb += d;
            haa += s * s * w;
            hab += s * w;
            hbb += w;
        }
        if f64::max(ga.abs(), gb.abs()) < 1e-7 {
            break;
        }
        let determinant = haa * hbb - hab * hab;
        let (da, db) = (
            (hab * gb - hbb * ga) / determinant,
            (hab * ga - haa * gb) / determinant,
        );
        let slope = ga * da + gb * db;
        let mut step = 1.0;
        let next = loop {
            let next = loss(a + step * da, b + step * db);
            if next <= value + 1e-4 * step * slope || step < 1e-10 {
                break next;
            }
            step *= 0.5;
        };
        // This form also ends the loop if the slope is NaN.
        if !(step >= 1e-10 && next.is_finite()) {
            break;
        }
        (a, b, value) = (a + step * da, b + step * db, next);
    }
    if a < 0.0 { none } else { (a, b) }
}
