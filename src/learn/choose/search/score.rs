//! What the sums of one map give: coefficients of several penalties, and their errors on rows held
//! out.

use super::loss;
use crate::{
    Error, Result, Run,
    data::ChunkSource,
    model::{Coefficients, LinearModel, Targets},
    normal::NormalEquations,
    solve::Cholesky,
};
use ndarray::{Array1, Array2, s};

/// Rows that are predicted together.
pub(super) const CHUNK: usize = 2048;
/// Several penalties must leave so much room below them: the fit to all rows takes one of them, and
/// must not fail where the trial just did not.
const ROOM: f64 = 0.1;
/// Penalties that have that room: far above the rounding of sums of f32.
pub(super) const AMPLE: f64 = 1e-6;

/// Penalties, ascending, that can be solved for, and their coefficients side by side.
pub(super) fn solve(
    sums: &NormalEquations,
    lambdas: &[f64],
    intercept: bool,
) -> Result<(Vec<f64>, Coefficients)> {
    let (mut kept, mut solved, mut refused) = (Vec::new(), Vec::new(), None);
    let at = |lambda: f64| (Cholesky { lambda, intercept }).solve(sums);
    let mut has_room = match lambdas {
        [several, _, ..] if *several < AMPLE => at(ROOM * several).is_ok(),
        _ => true,
    };
    for &lambda in lambdas {
        match at(lambda) {
            Ok(one) if has_room => {
                kept.push(lambda);
                solved.push(one);
            }
            Ok(_) => has_room = true,
            Err(error) => refused = Some(error),
        }
    }
    if solved.is_empty() {
        let none = || Error::numerical("no penalty is large enough for these features");
        return Err(refused.unwrap_or_else(none));
    }
    Ok((kept, Coefficients::side_by_side(&solved)?))
}

/// Which errors are the least, of those that are finite.
pub(super) fn least(errors: &[(f64, f64)]) -> Result<(usize, (f64, f64))> {
    let ranked = errors.iter().enumerate();
    let losses = ranked.filter(|(_, errors)| errors.1.is_finite());
    let losses = losses.map(|(at, &(error, squared))| (at, loss(error, squared)));
    let best = losses.min_by(|(_, a), (_, b)| a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1)));
    best.map(|(at, _)| (at, errors[at]))
        .ok_or_else(|| Error::numerical("no penalty has a finite held-out error"))
}

/// Error and squared error of each penalty on rows held out, whose outputs `model` has side by
/// side.
pub(super) fn errors(
    model: &LinearModel,
    source: &mut dyn ChunkSource,
    (targets, variance_t): (&Targets, &[f64]),
    run: &Run,
) -> Result<Vec<(f64, f64)>> {
    let outputs = targets.outputs();
    let penalties = model.coefficients.intercept_t.len() / outputs;
    let mut squared = Array2::<f64>::zeros((penalties, outputs));
    let mut wrong = Array1::<f64>::zeros(penalties);
    let mut total = 0.0;
    let plain = match targets {
        Targets::Real { columns, .. } => Targets::Real {
            columns: *columns,
            shift: vec![0.0; *columns],
        },
        classes => classes.clone(),
    };
    let mut predictor = model.on(run)?;
    while let Some(chunk) = source.next_chunk(CHUNK)? {
        let scores = predictor.scores(&chunk.x)?;
        let y_nt = plain.encode(chunk.y.view())?;
        for (i, (scores, y)) in scores.rows().into_iter().zip(y_nt.rows()).enumerate() {
            let weight = chunk.weights.as_ref().map_or(1.0, |weights| weights[i]);
            total += weight;
            for penalty in 0..penalties {
                let own = scores.slice(s![penalty * outputs..(penalty + 1) * outputs]);
                for (sum, (score, y)) in
                    (squared.row_mut(penalty).iter_mut()).zip(own.iter().zip(y))
                {
                    *sum += weight * (score - y).powi(2);
                }
                let largest = (1..outputs).fold(0, |b, k| if own[k] > own[b] { k } else { b });
                if y[largest] < 0.0 {
                    wrong[penalty] += weight;
                }
            }
        }
    }
    let squared = squared / total;
    Ok((0..penalties)
        .map(|penalty| {
            let row = squared.row(penalty);
            match targets {
                Targets::Classes(_) => (wrong[penalty] / total, row.sum() / outputs as f64),
                Targets::Real { .. } => {
                    let relative = row.iter().zip(variance_t).map(|(s, v)| s / v).sum::<f64>();
                    let mean = relative / outputs as f64;
                    (mean.sqrt(), mean)
                }
            }
        })
        .collect())
}
