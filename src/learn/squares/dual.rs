//! Fits in the dual, for fewer rows than features: either the features of all rows are held in
//! memory, or only their products with each other, with features computed again in each pass.

mod all_rows;

use crate::{
    Error, Result,
    clock::Instant,
    data::{ChunkSource, grouped},
    device::memory_left,
    error::Remedy,
    features::FeatureMap,
    flow::Run,
    learn::{
        fit::left_out::{calibrates_on_rows, keep_left_out},
        squares::{iterative::read, lambda},
    },
    model::{Coefficients, FitTimes, HeldOut, LinearModel, Targets},
    progress::Step,
    solve::{Dual, LeftOutFolds, StreamedRows, WeightedRows, dense_kernel},
    text::counted,
};
use all_rows::{hold, known_by};
use ndarray::{Array1, ArrayView1};

/// Bytes per pair of rows if features are computed again: the products, and the blocks in which
/// they are summed.
pub(in crate::learn) const PAIR_BYTES: u32 = 10;

const NO_TARGETS: &str = "the data has no targets to fit";

/// Bytes of the features of `rows` rows and of their products with each other.
pub(in crate::learn) fn held_bytes(rows: u64, features: usize) -> u64 {
    8u64.saturating_mul(rows)
        .saturating_mul(rows.saturating_add(features as u64))
}

/// Whether the dual is cheaper and fits: with the features in the memory of the run, or with the
/// products alone on this machine. The latter takes several passes, which pays off from twice as
/// many features as rows.
pub(in crate::learn) fn suits(rows: u64, features: usize, run: &Run) -> bool {
    let fewer = |times: u64| times.saturating_mul(rows) <= features as u64;
    (rows < features as u64 && held_bytes(rows, features) <= run.memory)
        || (fewer(2) && has_room(rows).is_ok())
}

/// Errors with [`Error::HostMemory`] unless the products of `rows` rows fit.
fn has_room(rows: u64) -> Result<()> {
    let rows = usize::try_from(rows).unwrap_or(usize::MAX);
    let what = || format!("the products of {} with each other", counted(rows, "row"));
    let other = Remedy::words("use the Cholesky solver");
    memory_left::require_square(rows, PAIR_BYTES, what)
        .map_err(|error| error.instead(&Remedy::FewerFeatures, Some(other)))
}

/// Coefficients, effective dimension and number of rows.
type Solved = (Coefficients, f64, u64);

/// Whether the features of all rows and twice their products fit into the memory of the run.
pub(in crate::learn) fn has_room_to_choose(rows: u64, features: usize, run: &Run) -> bool {
    let again = 8u64.saturating_mul(rows).saturating_mul(rows);
    held_bytes(rows, features).saturating_add(again) <= run.memory
}

/// Solves with the best penalty by leave-one-out errors if there [is room](has_room_to_choose).
/// Equal rows count as one row of their total weight and are left out together; groups of the
/// source are left out by folds.
///
/// Errors as [`fit`] does.
pub(in crate::learn) fn choose(
    map: Box<dyn FeatureMap>,
    source: &mut dyn ChunkSource,
    targets: &Targets,
    (lambdas, intercept): (&[f64], bool),
    run: &Run,
) -> Result<LinearModel> {
    if source.targets() == 0 {
        return Err(Error::missing(NO_TARGETS).help(Remedy::NameTargets));
    }
    let start = Instant::now();
    let held = hold(map.as_ref(), source, targets, run)?;
    let mut held = held.ok_or_else(|| Error::shape("there are more rows than were surveyed"))?;
    held.groups_n = source.groups().map(|groups| groups.to_vec());
    let rows = held.z_nd.nrows() as u64;
    let accumulate = start.elapsed();
    let start = Instant::now();
    let (held, observations) = held.merged();
    let weights_n = held.weights();
    if weights_n.is_empty() {
        return Err(Error::data("weights", "all rows have weight 0"));
    }
    let variances_t = held.variances();
    let relative = |errors_t: &Array1<f64>| lambda::relative(errors_t, &variances_t);
    let folds = held.groups_n.as_deref().and_then(grouped::choosing);
    let by = match &folds {
        Some(folds) => HeldOut::Folds(folds.len()),
        None => HeldOut::LeaveOneOut,
    };
    let relative = &relative as &dyn Fn(&Array1<f64>) -> f64;
    let how = (lambdas, lambda::place_of_usual(lambdas), relative);
    let groups = held.groups_n.as_deref();
    let folds = folds.as_deref().map(|folds| LeftOutFolds {
        folds,
        scores_rows: calibrates_on_rows(targets, groups),
    });
    let data = (held.z_nd, held.y_nt);
    let weighted = WeightedRows {
        weights_n: weights_n.view(),
        observations: &observations,
    };
    let (best, mut found) = Dual::choose(intercept, data, weighted, how, folds)?;
    let curve = lambda::curve_of_walk(by, lambdas, &found);
    let none = || Error::numerical("no penalty has a finite held-out error");
    let (_, one) = found.remove(&best).ok_or_else(none)?;
    let targets = targets.clone();
    let mut model = LinearModel {
        times: Some(FitTimes {
            accumulate,
            solve: start.elapsed(),
        }),
        lambda: lambdas[best],
        rows,
        ..LinearModel::new(map, one.coefficients, targets, &run.device)
    };
    model.facts.insert("rows_in_memory".into(), rows as f64);
    lambda::keep(&mut model, curve);
    keep_left_out(&mut model, known_by(one.scores, &held.id_n))?;
    Ok(model)
}

/// Solves. Reads `source` once if the memory of the run holds the features of all rows. Errors with
/// [`Error::HostMemory`] if the machine has too little memory for their products.
pub(in crate::learn) fn fit(
    map: Box<dyn FeatureMap>,
    source: &mut dyn ChunkSource,
    targets: Targets,
    dual: Dual,
    run: &Run,
) -> Result<LinearModel> {
    if source.targets() == 0 {
        return Err(Error::missing(NO_TARGETS).help(Remedy::NameTargets));
    }
    let start = Instant::now();
    let held = hold(map.as_ref(), source, &targets, run)?;
    let accumulate = start.elapsed();
    let start = Instant::now();
    // Errors of rows that are left out alone do not apply to new groups.
    let groups = source.groups();
    let on_rows = groups.is_none() || calibrates_on_rows(&targets, groups.as_deref());
    let leaves_out = dual.lambda > 0.0 && on_rows;
    let ((coefficients, dimension, rows), left_out) = match held {
        Some(held) if leaves_out && held.can_be_left_out(run) => held.left_out(dual)?,
        Some(held) => {
            let rows = held.z_nd.nrows() as u64;
            let weights_n = held.weights_n.as_ref().map(|w| w.view());
            let (coefficients, dimension) = dual.solve(held.z_nd, held.y_nt, weights_n)?;
            ((coefficients, dimension, rows), None)
        }
        None => (stream(map.as_ref(), source, &targets, dual, run)?, None),
    };
    let mut model = LinearModel {
        times: Some(FitTimes {
            accumulate,
            solve: start.elapsed(),
        }),
        lambda: dual.lambda,
        rows,
        ..LinearModel::new(map, coefficients, targets, &run.device)
    };
    let facts = [
        ("effective_dimension", dimension),
        ("rows_in_memory", rows as f64),
    ];
    model
        .facts
        .extend(facts.map(|(name, v)| (name.to_owned(), v)));
    if let Some(left_out) = left_out {
        keep_left_out(&mut model, left_out)?;
    }
    Ok(model)
}

/// Coefficients at each penalty that can be solved for, side by side; `None` if memory does not
/// hold the features of all rows. Also returns these penalties, and the number of rows.
///
/// Errors as [`fit`] does, and with [`Error::Numerical`] if no penalty is large enough.
pub(in crate::learn) fn solve_each(
    map: &dyn FeatureMap,
    source: &mut dyn ChunkSource,
    targets: &Targets,
    (lambdas, intercept): (&[f64], bool),
    run: &Run,
) -> Result<Option<(Vec<f64>, Coefficients, u64)>> {
    let Some(held) = hold(map, source, targets, run)? else {
        return Ok(None);
    };
    let (rows, weights_n) = (held.z_nd.nrows() as u64, held.weights());
    let data = (held.z_nd, held.y_nt);
    let solved = Dual::solve_each(intercept, data, weights_n.view(), lambdas)?;
    let solved = lambdas.iter().zip(solved);
    let (kept, all): (Vec<f64>, Vec<Coefficients>) = solved
        .filter_map(|(&lambda, one)| Some((lambda, one?)))
        .unzip();
    if kept.is_empty() {
        let problem = "no penalty is large enough for these features";
        return Err(Error::numerical(problem));
    }
    Ok(Some((kept, Coefficients::side_by_side(&all)?, rows)))
}

/// Solves with the products of all rows, computing features again in each pass: one pass for each
/// group of rows, and three more.
fn stream(
    map: &dyn FeatureMap,
    source: &mut dyn ChunkSource,
    targets: &Targets,
    dual: Dual,
    run: &Run,
) -> Result<Solved> {
    let held = read(map, source, targets, &run.silent())?;
    let rows = held.y_tn.ncols();
    has_room(rows as u64)?;
    // The memory left by the chunks, at least twice the square of the rows, which is small compared
    // with the products.
    let half = run.memory / 2;
    let group = half.max(2 * (rows as u64).pow(2));
    let place = [(map, 0, 1.0)];
    let mut features = StreamedRows::new(&place, source, rows, run.silent().memory(half))?;
    let hear = |rows| run.say(Step::Rows(rows as u64));
    let weights_n = held.weights_n.as_ref().map(|w| w.view());
    let error = harmless(dual.lambda, rows, weights_n);
    let kernel_nn = dense_kernel(&mut features, group, error, &hear)?;
    let (coefficients, dimension) =
        dual.solve_kernel(&mut features, kernel_nn, held.y_tn.view(), weights_n)?;
    Ok((coefficients, dimension, rows as u64))
}

/// Tolerated error of each entry of a kernel matrix. Independent errors of deviation e, times the
/// roots of weights w, are a matrix whose norm is at most `2 e sqrt(max w sum w)` up to small terms
/// (Bandeira & van Handel 2016); a hundredth of the penalty, `lambda sum w`, is allowed.
fn harmless(lambda: f64, rows: usize, weights_n: Option<ArrayView1<'_, f64>>) -> f64 {
    let shares = match weights_n {
        Some(w) => w.sum() / w.fold(0.0, |m: f64, &w| m.max(w)),
        None => rows as f64,
    };
    lambda * shares.sqrt() / 200.0
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::Array2;

    #[test]
    fn harmless_errors_are_a_hundredth_of_the_penalty() {
        let weights = Array1::from_shape_fn(300, |i| [0.0, 0.5, 2.0][i % 3]);
        let roots = weights.mapv(f64::sqrt);
        for weights_n in [None, Some(weights.view())] {
            let error = harmless(1e-3, 300, weights_n);
            let mut draws = crate::seed::Seed(4).stream(crate::seed::Stream::Sample, 0);
            let mut errors = Array2::zeros((300, 300));
            for i in 0..300 {
                for j in 0..=i {
                    let root = weights_n.map_or(1.0, |_| roots[i] * roots[j]);
                    errors[[i, j]] = error * draws.normal() * root;
                    errors[[j, i]] = errors[[i, j]];
                }
            }
            let eigen = crate::linalg::eigen::eigen(&errors).expect("symmetric");
            let norm = eigen.values_n.fold(0.0, |m: f64, v| m.max(v.abs()));
            let penalty = 1e-3 * weights_n.map_or(300.0, |w| w.sum());
            let share = norm / penalty;
            assert!(share < 0.0115 && share > 0.005, "{share}");
        }
        assert_eq!(harmless(0.0, 300, None), 0.0);
    }
}
