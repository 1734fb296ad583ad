//! Probabilities of classes that are fitted to scores.

mod tempered;
#[cfg(test)]
mod tests;

use crate::model::Probabilities;
use ndarray::{Array2, ArrayView1, Axis};

impl Probabilities {
    /// For scores `[n, t]` of rows that the fit did not see, with their classes and what they count
    /// for: sigmoids of two, one softmax of more. Sigmoids of many classes, each right by itself,
    /// say twice what speaks against a row's other classes when they are brought to a sum of 1.
    ///
    /// Where scores of these rows speak against their own classes, as those of rows left out do of
    /// a fit that tells nothing, probabilities are the shares of the classes.
    pub(crate) fn fitted(scores_nt: &Array2<f64>, class_n: &[usize], weight_n: &[f64]) -> Self {
        let mean = weight_n.iter().sum::<f64>() / class_n.len() as f64;
        let counts: Vec<f64> = weight_n.iter().map(|weight| weight / mean).collect();
        if scores_nt.ncols() == 2 {
            return Self::sigmoids(scores_nt, (class_n, &counts));
        }
        let of = (class_n, counts.as_slice());
        let (slope, offset_t) = tempered::tempered(scores_nt, of);
        if slope >= 0.0 {
            return Self::Tempered { slope, offset_t };
        }
        let (_, offset_t) = tempered::tempered(&Array2::zeros(scores_nt.dim()), of);
        Self::Tempered {
            slope: 0.0,
            offset_t,
        }
    }

    fn sigmoids(scores_nt: &Array2<f64>, (class_n, counts): (&[usize], &[f64])) -> Self {
        let columns = scores_nt.axis_iter(Axis(1)).enumerate();
        let (slope_t, offset_t) = columns
            .map(|(k, scores)| platt(scores, |i| class_n[i] == k, counts))
            .unzip();
        Self::Sigmoids { slope_t, offset_t }
    }
}

/// Slope and offset of the sigmoid with the greatest likelihood (Platt 1999), by Newton's method as
/// Lin, Lin & Weng (2007) have it; targets are drawn in as if one more row of each side had been
/// seen. A slope below 0 is none.
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
    let none = (0.0, ((yes + 1.0) / (no + 1.0)).ln());
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
        // Written so that a slope that is no number ends it, too.
        if !(step >= 1e-10 && next.is_finite()) {
            break;
        }
        (a, b, value) = (a + step * da, b + step * db, next);
    }
    if a < 0.0 { none } else { (a, b) }
}
