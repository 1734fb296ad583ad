//! Fits in the dual, where rows are fewer than features: the features of all rows in memory, or
//! their products with each other alone, of features that are computed again.

use crate::{
    Error, Result,
    clock::Instant,
    data::{Chunk, ChunkSource, grouped},
    device::memory_left,
    error::Remedy,
    features::{Branch, Destination, FeatureMap, Featurizer},
    flow::Run,
    learn::squares::{iterative::read, lambda},
    linalg::entries,
    model::{Coefficients, FitTimes, HeldOut, LinearModel, Targets},
    normal::double::input_of,
    progress::Step,
    solve::{Dual, StreamedRows, dense_kernel},
    text::counted,
};
use ndarray::{Array1, Array2, ArrayView1, Axis, s};
use std::{
    collections::HashMap,
    hash::{DefaultHasher, Hasher},
};

/// Bytes of each pair of rows where features are computed again: of the products, and of the groups
/// that they are summed by.
pub(in crate::learn) const PAIR_BYTES: u32 = 10;

const NO_TARGETS: &str = "the data has no targets to fit";

/// What features of so many rows, and their products with each other, take.
pub(in crate::learn) fn held_bytes(rows: u64, features: usize) -> u64 {
    8u64.saturating_mul(rows)
        .saturating_mul(rows.saturating_add(features as u64))
}

/// Whether the dual is the cheaper way, and fits: with the features in the memory of the run, or
/// with products alone on this machine. These take several passes, which pay where features are
/// twice as many as rows.
pub(in crate::learn) fn suits(rows: u64, features: usize, run: &Run) -> bool {
    let fewer = |times: u64| times.saturating_mul(rows) <= features as u64;
    (rows < features as u64 && held_bytes(rows, features) <= run.memory)
        || (fewer(2) && has_room(rows).is_ok())
}

/// Errors with [`Error::HostMemory`] unless products of so many rows fit.
fn has_room(rows: u64) -> Result<()> {
    let rows = usize::try_from(rows).unwrap_or(usize::MAX);
    let what = || format!("the products of {} with each other", counted(rows, "row"));
    let other = Remedy::words("use the Cholesky solver");
    memory_left::require_square(rows, PAIR_BYTES, what)
        .map_err(|error| error.instead(&Remedy::FewerFeatures, Some(other)))
}

/// Coefficients, the effective dimension, and how many rows there were.
type Solved = (Coefficients, f64, u64);

/// Whether the features of all rows and twice their products fit into the memory of the run.
pub(in crate::learn) fn has_room_to_choose(rows: u64, features: usize, run: &Run) -> bool {
    let again = 8u64.saturating_mul(rows).saturating_mul(rows);
    held_bytes(rows, features).saturating_add(again) <= run.memory
}

/// Solves with the best of some penalties by errors on each row left out in turn, where there
/// [is room](has_room_to_choose). Rows that are equal are one row of their weight, and are left out
/// together; of a source that has groups, by folds of these.
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
    let held = held.merged();
    let weights_n = held.weights();
    if weights_n.is_empty() {
        return Err(Error::data("weights", "all rows have weight 0"));
    }
    let variances_t = held.variances();
    let relative = |errors_t: &Array1<f64>| lambda::relative(errors_t, &variances_t);
    let usual = lambda::place_of_usual(lambdas);
    let folds = held.groups_n.as_deref().and_then(grouped::choosing);
    let by = match &folds {
        Some(folds) => HeldOut::Folds(folds.len()),
        None => HeldOut::LeaveOneOut,
    };
    let relative = &relative as &dyn Fn(&Array1<f64>) -> f64;
    let how = (lambdas, usual, relative, folds.as_deref());
    let data = (held.z_nd, held.y_nt);
    let (best, mut found) = Dual::choose(intercept, data, weights_n.view(), how)?;
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
    Ok(model)
}

/// Solves. Reads `source` once where the memory of the run has room for the features of all rows.
/// Errors with [`Error::HostMemory`] where the machine has none for their products.
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
    let (coefficients, dimension, rows) = match held {
        Some(AllRows {
            z_nd,
            y_nt,
            weights_n,
            ..
        }) => {
            let rows = z_nd.nrows() as u64;
            let (coefficients, dimension) =
                dual.solve(z_nd, y_nt, weights_n.as_ref().map(|w| w.view()))?;
            (coefficients, dimension, rows)
        }
        None => stream(map.as_ref(), source, &targets, dual, run)?,
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
    Ok(model)
}

/// Coefficients at each of some penalties, side by side, of those that can be solved for; `None`
/// where memory does not hold the features of all rows. Gives the penalties, and the number of
/// rows.
///
/// Errors as [`fit`] does, and with [`Error::Numerical`] where no penalty is large enough.
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

/// All rows.
struct AllRows {
    z_nd: Array2<f64>,
    y_nt: Array2<f64>,
    weights_n: Option<Array1<f64>>,
    /// Which are left out together, where that is known.
    groups_n: Option<Vec<u32>>,
}

impl AllRows {
    /// What each row counts for.
    fn weights(&self) -> Array1<f64> {
        let ones = || Array1::ones(self.z_nd.nrows());
        self.weights_n.clone().unwrap_or_else(ones)
    }

    /// Rows that are equal are one, of the weight of all. Rows that count for nothing go.
    fn merged(self) -> Self {
        let weights_n = self.weights();
        let values = |i: usize| self.z_nd.row(i).into_iter().chain(self.y_nt.row(i));
        let hash = |i: usize| {
            let mut hasher = DefaultHasher::new();
            values(i).for_each(|v| hasher.write_u64(v.to_bits()));
            hasher.finish()
        };
        let (mut first, mut weights) = (Vec::new(), Vec::new());
        let mut places = HashMap::new();
        for i in (0..weights_n.len()).filter(|&i| weights_n[i] > 0.0) {
            let place = *places.entry(hash(i)).or_insert(first.len());
            match first.get(place) {
                Some(&same) if values(same).eq(values(i)) => weights[place] += weights_n[i],
                _ => {
                    first.push(i);
                    weights.push(weights_n[i]);
                }
            }
        }
        let weights_n = Some(Array1::from(weights));
        if first.len() == self.z_nd.nrows() {
            return Self { weights_n, ..self };
        }
        let groups_n = self.groups_n.as_ref();
        Self {
            groups_n: groups_n.map(|groups| first.iter().map(|&i| groups[i]).collect()),
            z_nd: self.z_nd.select(Axis(0), &first),
            y_nt: self.y_nt.select(Axis(0), &first),
            weights_n,
        }
    }

    /// Of the targets; 1 for a constant.
    fn variances(&self) -> Array1<f64> {
        let weights_n = self.weights();
        let weight = weights_n.sum();
        let squares_nt = self.y_nt.mapv(entries::square);
        let (sum_t, square_t) = (weights_n.dot(&self.y_nt), weights_n.dot(&squares_nt));
        lambda::variances((&sum_t, &square_t), weight)
    }
}

/// Reads all rows; `None` as soon as they are more than memory has room for.
fn hold(
    map: &dyn FeatureMap,
    source: &mut dyn ChunkSource,
    targets: &Targets,
    run: &Run,
) -> Result<Option<AllRows>> {
    let features = map.output_dim();
    let branches = vec![Branch::features(map)?];
    let mut featurizer = Featurizer::new(branches, source.targets(), Destination::Host, run)?;
    let (mut z, mut y, mut weights) = (Vec::new(), Vec::new(), Vec::new());
    let (mut seen, mut full) = (0, false);
    // Columns as they are lose no digits.
    let plain = input_of(map, &run.device);
    let with = |chunk: &Chunk, rows: std::ops::Range<usize>| {
        let exact = plain.map(|input| input.apply(&chunk.x.slice(rows.clone())));
        let y = chunk.y.slice(s![rows.clone(), ..]).to_owned();
        let weights = chunk.weights.as_ref().map(|w| w.slice(s![rows]).to_owned());
        (y, weights, exact)
    };
    let read = featurizer.on_host(source, with, |z_nd, (y_nt, weights_n, exact)| {
        seen += y_nt.nrows() as u64;
        if held_bytes(seen, features) > run.memory {
            full = true;
            return Err(Error::shape("there are more rows than memory has room for"));
        }
        match exact {
            Some(exact_nd) => z.extend(exact_nd?),
            None => z.extend(z_nd[0].iter().map(|&z| f64::from(z))),
        }
        // Nothing is rounded to f32 here, so the shift has no use.
        let encoded = targets.encode(y_nt.view())?;
        let shift: Array1<f64> = (0..targets.outputs()).map(|k| targets.shift(k)).collect();
        y.extend(encoded + shift);
        weights.extend(weights_n.into_iter().flatten());
        Ok(())
    });
    if full {
        return Ok(None);
    }
    read?;
    let rows = seen as usize;
    let shape = |e: ndarray::ShapeError| Error::shape(e.to_string());
    Ok(Some(AllRows {
        z_nd: Array2::from_shape_vec((rows, features), z).map_err(shape)?,
        y_nt: Array2::from_shape_vec((rows, targets.outputs()), y).map_err(shape)?,
        weights_n: source.is_weighted().then(|| Array1::from(weights)),
        groups_n: None,
    }))
}

/// Solves with the products of all rows, whose features are computed again in each pass: one for
/// each group of rows, and three more.
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
    // What chunks leave, and what is little beside the products.
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

/// How much the entries of a kernel matrix may err by, each by itself. Errors of deviation e, times
/// the roots of weights w, are a matrix whose norm is at most `2 e sqrt(max w sum w)` but for small
/// terms (Bandeira & van Handel 2016): a hundredth of the penalty, `lambda sum w`, is allowed.
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
