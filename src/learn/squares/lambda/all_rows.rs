//! The best of some penalties by errors on all rows.

use super::{ascending, keep, trusted, variances};
use crate::{
    Result,
    clock::Instant,
    data::ChunkSource,
    device::memory_left,
    features::FeatureMap,
    flow::Run,
    linalg::eigen::EIGEN_BYTES,
    model::{FitTimes, HeldOut, LambdaCurve, LambdaPoint, LinearModel, Targets},
    normal::NormalEquations,
    solve::{FoldSums, Intercept, LambdaPath},
};

/// Fits with the best of some penalties by errors on all rows: each left out in turn, in a second
/// pass, or by folds, which are drawn.
pub(in crate::learn) fn fit(
    map: Box<dyn FeatureMap>,
    source: &mut dyn ChunkSource,
    targets: Targets,
    (of, by, intercept): (&[f64], HeldOut, Intercept),
    run: &Run,
) -> Result<LinearModel> {
    const SEED: u64 = 0;
    let lambdas = ascending(of)?;
    let features = map.output_dim();
    let what = || format!("a path of penalties of {features} features");
    memory_left::require_square(features, EIGEN_BYTES, what)?;
    let start = Instant::now();
    let folds = match by {
        HeldOut::Folds(folds) => Some(FoldSums::accumulate(
            map.as_ref(),
            source,
            &targets,
            (folds, SEED),
            run,
        )?),
        _ => None,
    };
    let sums = match &folds {
        Some(folds) => folds.total().clone(),
        None => NormalEquations::accumulate(map.as_ref(), source, &targets, run)?,
    };
    let accumulate = start.elapsed();
    let start = Instant::now();
    let path = LambdaPath::new(&sums, intercept)?;
    let errors_lt = match &folds {
        Some(folds) => folds.errors(&lambdas, intercept)?,
        None => path.leave_one_out(&lambdas, map.as_ref(), source, &targets, run.silent())?,
    };
    let variances_t = variances((&sums.y_sum_t, &sums.y_square_t), sums.weight);
    let relative_lt = errors_lt / &variances_t;
    let mut points = Vec::with_capacity(lambdas.len());
    for (&lambda, errors_t) in lambdas.iter().zip(relative_lt.rows()) {
        points.push(LambdaPoint {
            lambda,
            error: errors_t.mean().unwrap_or(f64::NAN),
            effective_dimension: path.effective_dimension(lambda)?,
        });
    }
    let curve = LambdaCurve { by, points };
    let best = trusted(&curve, path.rounding())?;
    let coefficients = path.solved(best.lambda, &sums, intercept)?;
    let mut model = LinearModel {
        times: Some(FitTimes {
            accumulate,
            solve: start.elapsed(),
        }),
        lambda: best.lambda,
        rows: sums.rows,
        ..LinearModel::new(map, coefficients, targets, &run.device)
    };
    keep(&mut model, curve);
    Ok(model)
}
