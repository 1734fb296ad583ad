//! Chooses the penalty by leave-one-out errors, from sums and the rows kept with them.

use crate::{
    Error, Result,
    data::KeptRows,
    device::memory_left,
    features::FeatureMap,
    flow::Run,
    learn::{
        FitPenalised, RidgeOptions, Solver,
        fit::left_out::keep_left_out,
        squares::lambda::{self, ascending, relative, trusted, variances},
    },
    linalg::eigen::EIGEN_BYTES,
    model::{Coefficients, HeldOut, LambdaCurve, LambdaPoint, LeftOutScores, LinearModel},
    normal::NormalEquations,
    solve::{Intercept, LambdaPath, LeftOut, LookedAt, descend},
    sums::ModelContext,
};

/// Maximum number of features for one eigendecomposition of all penalties, which takes some
/// seconds. For more features, a search factors a matrix for each penalty that it evaluates.
const FEW_FEATURES: usize = 2048;
/// Rows for the leave-one-out errors of such a search: computing their leverages takes at most
/// twice as long as the factor.
const ROWS_OF_WALK: usize = 2048;
/// Bytes per pair of features for the sums and a factor of them.
pub(super) const WALK_BYTES: u32 = 16;
/// The chosen penalty with its results.
pub(super) struct Chosen {
    lambda: f64,
    coefficients: Coefficients,
    curve: LambdaCurve,
    /// Whether a matrix was factored for each point of the curve.
    walked: bool,
    /// Leave-one-out scores.
    scores: LeftOutScores,
}

impl Chosen {
    /// Builds the model, whose facts include the hold-out quality.
    pub(super) fn model(
        self,
        map: Box<dyn FeatureMap>,
        rows: u64,
        known: ModelContext<'_>,
    ) -> Result<LinearModel> {
        let targets = known.targets.clone();
        let mut model = LinearModel {
            lambda: self.lambda,
            rows,
            ..LinearModel::new(map, self.coefficients, targets, &known.run.device)
        };
        if self.walked {
            let tried = self.curve.points.len() as f64;
            model.facts.insert("penalties_tried".into(), tried);
        }
        lambda::keep(&mut model, self.curve);
        keep_left_out(&mut model, self.scores)?;
        Ok(model)
    }
}

/// Chooses among penalties. Errors with [`Error::Parameter`] on invalid penalties, with
/// [`Error::Numerical`] if none can be solved for, and as maps and devices do.
pub(super) fn choose(
    map: &dyn FeatureMap,
    (sums, kept): (&NormalEquations, &KeptRows),
    (options, of): (&RidgeOptions, &[f64]),
    known: ModelContext<'_>,
) -> Result<Chosen> {
    let (lambdas, intercept) = (ascending(of)?, options.intercept());
    let features = map.output_dim();
    // An explicitly requested Cholesky solver always uses factors.
    let few = options.solver == Solver::Auto && features <= FEW_FEATURES;
    let few = few && has_room(features, known.run);
    let some = (!few).then(|| kept.first(ROWS_OF_WALK));
    let kept = some.as_ref().unwrap_or(kept);
    let rows = LookedAt {
        kept,
        map,
        targets: known.targets,
        run: known.run,
    };
    if few {
        by_eigenvectors(sums, rows, (&lambdas, intercept))
    } else {
        by_factors(sums, rows, (&lambdas, intercept))
    }
}

/// Whether the memory of chunks, which is free by now, suffices for the eigenvectors in addition to
/// the sums and a factor.
fn has_room(features: usize, run: &Run) -> bool {
    let more = u64::from(EIGEN_BYTES - WALK_BYTES);
    more.saturating_mul((features as u64).pow(2)) <= run.memory
}

/// The kind of hold-out errors: on all rows or on a sample.
fn left_out(kept: &KeptRows) -> HeldOut {
    if kept.are_all() {
        HeldOut::LeaveOneOut
    } else {
        HeldOut::LeaveSomeOut(kept.len())
    }
}

fn by_eigenvectors(
    sums: &NormalEquations,
    rows: LookedAt<'_>,
    (lambdas, intercept): (&[f64], Intercept),
) -> Result<Chosen> {
    let features = rows.map.output_dim();
    let what = || format!("a path of penalties of {features} features");
    memory_left::require_square(features, EIGEN_BYTES, what)?;
    let path = LambdaPath::new(sums, intercept)?;
    let errors_lt = path.errors_of(lambdas, rows)?;
    let variances_t = variances((&sums.y_sum_t, &sums.y_square_t), sums.weight);
    let point = |(&lambda, errors_t): (&f64, ndarray::ArrayView1<'_, f64>)| {
        Ok(LambdaPoint {
            lambda,
            error: relative(&errors_t.to_owned(), &variances_t),
            effective_dimension: path.effective_dimension(lambda)?,
        })
    };
    let points = lambdas.iter().zip(errors_lt.rows()).map(point);
    let curve = LambdaCurve {
        by: left_out(rows.kept),
        points: points.collect::<Result<_>>()?,
    };
    let best = trusted(&curve, path.resolution())?;
    let some = rows.kept.first(ROWS_OF_WALK);
    let rows = LookedAt {
        kept: &some,
        ..rows
    };
    let (coefficients, scores) = path.solved_left_out(best.lambda, (sums, rows), intercept)?;
    Ok(Chosen {
        lambda: best.lambda,
        coefficients,
        curve,
        walked: false,
        scores,
    })
}

fn by_factors(
    sums: &NormalEquations,
    rows: LookedAt<'_>,
    (lambdas, intercept): (&[f64], Intercept),
) -> Result<Chosen> {
    let variances_t = variances((&sums.y_sum_t, &sums.y_square_t), sums.weight);
    let mut refused = None;
    let usual = lambda::place_of_usual(lambdas);
    let (best, mut found) = descend(lambdas.len(), usual, |place| {
        let one = match LeftOut::solve(sums, rows, lambdas[place], intercept) {
            Err(error @ Error::Numerical(_)) => {
                refused = Some(error);
                return Ok(None);
            }
            one => one?,
        };
        let error = relative(&one.errors_t, &variances_t);
        Ok(error.is_finite().then_some((error, one)))
    })?;
    let none = || Error::numerical("no penalty has a finite held-out error");
    let best = best.ok_or_else(|| refused.unwrap_or_else(none))?;
    let curve = lambda::curve_of_walk(left_out(rows.kept), lambdas, &found);
    let (_, one) = found.remove(&best).ok_or_else(none)?;
    Ok(Chosen {
        lambda: lambdas[best],
        coefficients: one.coefficients,
        curve,
        walked: true,
        scores: one.scores,
    })
}
