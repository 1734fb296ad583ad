//! Chooses among penalties by errors on all rows.

use super::{ascending, keep, trusted, variances};
use crate::{
    Result,
    clock::Instant,
    data::{ChunkSource, Keeping, KeptRows},
    device::memory_left,
    features::FeatureMap,
    flow::Run,
    learn::fit::{
        lambda::rows_left_out,
        left_out::{calibrates_on_rows, keep_left_out},
    },
    linalg::eigen::EIGEN_BYTES,
    model::{FitTimes, HeldOut, LambdaCurve, LambdaPoint, LinearModel, Targets},
    normal::NormalEquations,
    solve::{FoldSums, Intercept, LambdaPath, LookedAt},
};
use ndarray::{Array2, ArrayView1};

/// Sums of all rows, with sums of folds or a sample of rows for hold-out errors.
struct Summed {
    folds: Option<FoldSums>,
    sums: NormalEquations,
    /// Sample of the rows, used without folds.
    kept: KeptRows,
}

impl Summed {
    fn new(
        (map, targets): (&dyn FeatureMap, &Targets),
        source: &mut dyn ChunkSource,
        by: HeldOut,
        run: &Run,
    ) -> Result<Self> {
        const SEED: u64 = 0;
        let most = rows_left_out((source.columns(), targets.outputs()));
        let folds = match by {
            HeldOut::Folds(folds) => {
                let by = (folds, SEED);
                Some(FoldSums::keeping((map, targets), (source, most), by, run)?)
            }
            _ => None,
        };
        let mut keeping = Keeping::new(source, most);
        let sums = match &folds {
            Some(folds) => folds.total().clone(),
            None => NormalEquations::accumulate(map, &mut keeping, targets, run)?,
        };
        let kept = keeping.into_kept();
        Ok(Self { folds, sums, kept })
    }

    /// Mean squared hold-out errors of each penalty and target, `[L, t]`, by folds or
    /// leave-one-out.
    fn errors(
        &self,
        path: &LambdaPath,
        (lambdas, intercept): (&[f64], Intercept),
        source: &mut dyn ChunkSource,
        rows: LookedAt<'_>,
    ) -> Result<Array2<f64>> {
        let (map, targets, run) = (rows.map, rows.targets, rows.run.silent());
        match &self.folds {
            Some(folds) => folds.errors_of_rows((lambdas, intercept), (map, targets), source, run),
            // Copies of rows can be counted if all distinct rows are kept.
            None if self.kept.are_all() => path.errors_of(lambdas, rows),
            None => path.leave_one_out(lambdas, map, source, targets, run),
        }
    }
}

/// Fits with the best penalty by errors on all rows: leave-one-out errors in a second pass, or
/// random folds.
pub(in crate::learn) fn fit(
    map: Box<dyn FeatureMap>,
    source: &mut dyn ChunkSource,
    targets: Targets,
    (of, by, intercept): (&[f64], HeldOut, Intercept),
    run: &Run,
) -> Result<LinearModel> {
    let lambdas = ascending(of)?;
    let features = map.output_dim();
    let what = || format!("a path of penalties of {features} features");
    memory_left::require_square(features, EIGEN_BYTES, what)?;
    let start = Instant::now();
    let summed = Summed::new((map.as_ref(), &targets), source, by, run)?;
    let accumulate = start.elapsed();
    let start = Instant::now();
    let path = LambdaPath::new(&summed.sums, intercept)?;
    let rows = |kept| LookedAt {
        kept,
        map: map.as_ref(),
        targets: &targets,
        run,
    };
    let errors_lt = summed.errors(&path, (&lambdas, intercept), source, rows(&summed.kept))?;
    let Summed { folds, sums, kept } = &summed;
    let variances_t = variances((&sums.y_sum_t, &sums.y_square_t), sums.weight);
    let relative_lt = errors_lt / &variances_t;
    let points = points_of(&path, &lambdas, &relative_lt)?;
    let curve = LambdaCurve { by, points };
    let best = trusted(&curve, path.resolution())?;
    let on_rows = calibrates_on_rows(&targets, source.groups().as_deref());
    let of_folds = folds.as_ref().filter(|_| !on_rows);
    let (coefficients, scores) = match (of_folds, folds) {
        (Some(folds), _) => {
            let scores = folds.scores(best.lambda, intercept, &rows)?;
            (path.solved(best.lambda, sums, intercept)?, scores)
        }
        (None, folds) => {
            let all = folds.as_ref().map(FoldSums::kept).transpose()?;
            let of = (sums, rows(all.as_ref().unwrap_or(kept)));
            let (fit, scores) = path.solved_left_out(best.lambda, of, intercept)?;
            (fit, Some(scores))
        }
    };
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
    if let Some(scores) = scores {
        keep_left_out(&mut model, scores)?;
    }
    Ok(model)
}

/// The points of the penalty curve, from errors over the variances of the targets, `[l, t]`.
fn points_of(
    path: &LambdaPath,
    lambdas: &[f64],
    relative_lt: &Array2<f64>,
) -> Result<Vec<LambdaPoint>> {
    let point = |(&lambda, errors_t): (&f64, ArrayView1<'_, f64>)| {
        Ok(LambdaPoint {
            lambda,
            error: errors_t.mean().unwrap_or(f64::NAN),
            effective_dimension: path.effective_dimension(lambda)?,
        })
    };
    lambdas.iter().zip(relative_lt.rows()).map(point).collect()
}
