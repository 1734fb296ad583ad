//! Selects penalties by hold-out errors.

use crate::{
    Error, Result,
    error::Remedy,
    learn::fit::worse,
    model::{HeldOut, LambdaCurve, LambdaPoint, LinearModel},
    solve::LeftOut,
};
use ndarray::Array1;
use std::collections::BTreeMap;

/// Variances of the targets over all rows; 1 for a constant, so that its errors are absolute.
pub(in crate::learn) fn variances(
    (y_sum_t, y_square_t): (&Array1<f64>, &Array1<f64>),
    weight: f64,
) -> Array1<f64> {
    let mean_t = y_sum_t / weight;
    let mean_square_t = y_square_t / weight;
    let rounding_t = &mean_square_t * 1e-14;
    let variance_t = mean_square_t - &mean_t * &mean_t;
    let mut of = variance_t;
    for (v, rounding) in of.iter_mut().zip(&rounding_t) {
        if *v <= *rounding {
            *v = 1.0;
        }
    }
    of
}

/// The errors at the penalties that a search evaluated.
pub(in crate::learn) fn curve_of_walk(
    by: HeldOut,
    lambdas: &[f64],
    found: &BTreeMap<usize, (f64, LeftOut)>,
) -> LambdaCurve {
    let points = found.iter().map(|(&place, (error, one))| LambdaPoint {
        lambda: lambdas[place],
        error: *error,
        effective_dimension: one.effective_dimension,
    });
    let points = points.collect();
    LambdaCurve { by, points }
}

/// A penalty below rounding must have an error below this share of the smallest error above
/// rounding. Errors below rounding differ by up to 7 % if weights are multiplied by a constant,
/// which changes only the rounding.
const CLEAR_SHARE: f64 = 0.8;

/// The point with the smallest error. A penalty of at most `rounding` must be clearly better than
/// all above it, since errors there are partly rounding, and better than the mean; otherwise the
/// best above `rounding` is taken. Errors if no point is left.
pub(in crate::learn) fn trusted(curve: &LambdaCurve, rounding: f64) -> Result<LambdaPoint> {
    let best = curve.best();
    let above = |p: &&LambdaPoint| p.lambda > rounding && p.error.is_finite();
    let above = curve.points.iter().rev().filter(above);
    let smallest = above.min_by(|a, b| a.error.total_cmp(&b.error));
    let is_clear = match smallest {
        Some(above) => best.lambda > rounding || best.error < CLEAR_SHARE * above.error,
        None => true,
    };
    if best.error <= 1.0 && is_clear {
        return Ok(best);
    }
    smallest.copied().ok_or_else(|| {
        let problem = format!(
            "no penalty predicts better than the means do, and the normal equations are rounding \
             alone at every lambda up to {rounding:e}"
        );
        Error::numerical(problem)
            .help(Remedy::Standardize)
            .help(Remedy::LargerLambda)
    })
}

/// Stores in a model the error curve of its penalty and the resulting estimate of its quality.
pub(in crate::learn) fn keep(model: &mut LinearModel, mut curve: LambdaCurve) {
    curve.points.retain(|point| point.error.is_finite());
    let chosen = curve.points.iter().find(|p| p.lambda == model.lambda);
    if let Some(chosen) = chosen {
        worse::than_mean(chosen.error, model.rows, "penalty");
        let facts = [
            ("effective_dimension", chosen.effective_dimension),
            ("held_out_r2", 1.0 - chosen.error),
        ];
        let facts = facts.map(|(name, value)| (name.to_owned(), value));
        model.facts.extend(facts);
    }
    model.lambda_curve = Some(curve);
}

/// Mean over targets of the errors divided by the variances.
pub(in crate::learn) fn relative(errors_t: &Array1<f64>, variances_t: &Array1<f64>) -> f64 {
    (errors_t / variances_t).mean().unwrap_or(f64::NAN)
}
