//! Leave-one-out errors on a sample of rows, and the penalty that minimises them, with one
//! factorisation per penalty: the alternative to an eigendecomposition for many features.

use super::{
    Cholesky, Intercept,
    intercept::{beside_ones, without_ones},
    looked_at::{LookedAt, unseen},
};
use crate::{
    Result,
    linalg::{cholesky::Lower, entries},
    model::{CalibratedOn, Coefficients, LeftOutScores},
    normal::NormalEquations,
};
use ndarray::{Array1, Array2, ArrayView1, ArrayView2, s};
use std::{borrow::Cow, collections::BTreeMap};

/// Rows whose leverages are computed at a time.
const BLOCK: usize = 256;

/// A fit, with leave-one-out errors of a sample of its rows.
#[derive(Debug, Clone)]
pub(crate) struct LeftOut {
    /// The fit to all rows.
    pub(crate) coefficients: Coefficients,
    /// Mean squared error of each target.
    pub(crate) errors_t: Array1<f64>,
    /// `tr Z'Z (Z'Z + lambda n I)^-1`, from the leverages of these rows.
    pub(crate) effective_dimension: f64,
    /// Leave-one-out score of each of them, by single observations.
    pub(crate) scores: LeftOutScores,
}

impl LeftOut {
    /// Ridge regression by a Cholesky factor of the sums, and by the same factor the leverages `h =
    /// w |L^-1 z|^2` of a sample of rows: a row with residual r has the leave-one-out residual `r /
    /// (1 - h)` (Golub, Heath & Wahba 1979). It takes `D^3 / 3 + m D^2` operations.
    ///
    /// Errors as [`Cholesky::solve`] does.
    pub(crate) fn solve(
        sums: &NormalEquations,
        rows: LookedAt<'_>,
        lambda: f64,
        intercept: Intercept,
    ) -> Result<Self> {
        Ok(Self::by_factor(sums, rows, lambda, intercept)?.0)
    }

    /// As [`Self::solve`], with the effective dimension of all rows if
    /// [`Cholesky::solve_with_dimension`] computes it.
    pub(crate) fn solve_with_dimension(
        sums: &NormalEquations,
        rows: LookedAt<'_>,
        lambda: f64,
        intercept: Intercept,
    ) -> Result<(Self, Option<f64>)> {
        let (one, factor) = Self::by_factor(sums, rows, lambda, intercept)?;
        Ok((one, Cholesky::dimension(&factor, lambda * sums.weight)))
    }

    fn by_factor(
        sums: &NormalEquations,
        rows: LookedAt<'_>,
        lambda: f64,
        intercept: Intercept,
    ) -> Result<(Self, Lower)> {
        let mut all = Cow::Borrowed(sums);
        if intercept == Intercept::Penalised {
            all = Cow::Owned(beside_ones(sums)?);
        }
        let free = intercept == Intercept::Free;
        let cholesky = Cholesky {
            lambda,
            intercept: free,
        };
        let (fit, factor) = cholesky.factor_and_solve(Lower::from_matrix(&all.gram_dd), &all)?;
        let n = all.weight;
        let of_intercept = if free { 1.0 / n } else { 0.0 };
        let targets = sums.y_sum_t.len();
        let mut squares_t = Array1::zeros(targets);
        let mut leverages = 0.0;
        let mut each = Each::of(&rows);
        let weight = rows.for_each_portion(|portion| {
            for from in (0..portion.y_mt.nrows()).step_by(BLOCK) {
                let block = s![from..portion.y_mt.nrows().min(from + BLOCK), ..];
                let z_md = widened(portion.z_md.slice(block), intercept);
                let fitted_mt = z_md.dot(&fit.beta_dt) + &fit.intercept_t;
                let y_mt = portion.y_mt.slice(block);
                let residual_mt = &y_mt - &fitted_mt;
                let centred_md = if free { z_md - &all.z_sum_d / n } else { z_md };
                let mut along_dm = centred_md.reversed_axes().as_standard_layout().into_owned();
                factor.solve(&mut along_dm);
                let leverage_m = entries::column_squares(along_dm.view());
                for (i, residual_t) in residual_mt.rows().into_iter().enumerate() {
                    let w = portion.weights_m[from + i];
                    let leverage = leverage_m[i] + of_intercept;
                    let left = 1.0 - portion.left_out_m[from + i] * leverage;
                    each.push(y_mt.row(i), residual_t, (left, w));
                    squares_t.zip_mut_with(&residual_t, |sum: &mut f64, r| {
                        *sum += w * unseen(*r, left).powi(2);
                    });
                    leverages += w * leverage_m[i];
                }
            }
        })?;
        let coefficients = match intercept {
            Intercept::Penalised => without_ones(&fit.beta_dt),
            _ => fit,
        };
        let one = Self {
            coefficients,
            errors_t: squares_t / weight,
            effective_dimension: leverages * n / weight,
            scores: each.scores(targets)?,
        };
        Ok((one, factor))
    }
}

/// Accumulates leave-one-out results of rows, in the order in which they are kept.
pub(super) struct Each {
    id_m: Vec<u64>,
    count_m: Vec<f64>,
    weight_m: Vec<f64>,
    y: Vec<f64>,
    error: Vec<f64>,
    residual: Vec<f64>,
}

impl Each {
    pub(super) fn of(rows: &LookedAt<'_>) -> Self {
        Self {
            id_m: rows.kept.hashes(),
            count_m: rows.kept.observations().count_m,
            weight_m: Vec::new(),
            y: Vec::new(),
            error: Vec::new(),
            residual: Vec::new(),
        }
    }

    /// Adds the next row: its residuals, the share `1 - h` for one left-out observation, and the
    /// weight of all its copies.
    pub(super) fn push(
        &mut self,
        y_t: ArrayView1<'_, f64>,
        residual_t: ArrayView1<'_, f64>,
        (left, weight): (f64, f64),
    ) {
        self.weight_m.push(weight);
        self.y.extend(y_t);
        self.error
            .extend(residual_t.iter().map(|&r| unseen(r, left)));
        self.residual.extend(residual_t);
    }

    pub(super) fn scores(self, targets: usize) -> Result<LeftOutScores> {
        let of = (self.id_m, self.count_m, self.weight_m);
        let scores = (self.y, self.error, self.residual);
        LeftOutScores::new(of, scores, targets, CalibratedOn::LeftOut)
    }
}

/// Features in f64, followed by a column of ones for a penalised intercept.
fn widened(z_md: ArrayView2<'_, f32>, intercept: Intercept) -> Array2<f64> {
    let (rows, features) = z_md.dim();
    let ones = usize::from(intercept == Intercept::Penalised);
    let mut z_mp = Array2::ones((rows, features + ones));
    entries::widen(z_mp.slice_mut(s![.., ..features]), z_md);
    z_mp
}

/// Results of a search at each index that it evaluated, with their errors.
pub(crate) type Found<T> = BTreeMap<usize, (f64, T)>;

/// Searches a curve of errors downhill from `start`, in steps of two indices and then of one, until
/// no neighbour is better. `at` returns the result and the error at an index, `None` if the penalty
/// is too small to solve with. Of equal errors the last index, the largest penalty, wins.
///
/// Returns the best index, and all results; errors as `at` does, and with `None` if there is no
/// result.
pub(crate) fn descend<T>(
    places: usize,
    start: usize,
    mut at: impl FnMut(usize) -> Result<Option<(f64, T)>>,
) -> Result<(Option<usize>, Found<T>)> {
    let mut found = BTreeMap::new();
    let mut seen = vec![false; places];
    let mut look = |place: usize, found: &mut Found<T>| -> Result<f64> {
        if !seen[place] {
            seen[place] = true;
            if let Some(new) = at(place)? {
                found.insert(place, new);
            }
        }
        Ok(found.get(&place).map_or(f64::INFINITY, |(error, _)| *error))
    };
    let mut best = start.min(places - 1);
    // Moves up while the penalty is too small to solve with.
    while look(best, &mut found)? == f64::INFINITY && best + 1 < places {
        best += 1;
    }
    for step in [2, 1] {
        loop {
            let error = look(best, &mut found)?;
            if best + step < places && look(best + step, &mut found)? <= error {
                best += step;
            } else if best >= step && look(best - step, &mut found)? < error {
                best -= step;
            } else {
                break;
            }
        }
    }
    Ok((found.contains_key(&best).then_some(best), found))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        Device, Run,
        data::{Chunk, KeptRows, MemorySource, Rows},
        features::{Affine, Fourier},
        kernels::Gaussian,
        model::Targets,
        solve::LambdaPath,
    };

    /// Factors agree with eigenvectors for all kinds of intercept, weights and repeated rows.
    #[test]
    fn a_factor_leaves_out_as_eigenvectors_do() {
        const N: usize = 60;
        let x = Array2::from_shape_fn((N, 2), |(i, j)| ((i * (2 * j + 3)) % 61) as f64 / 15.0);
        let y = Array2::from_shape_fn((N, 2), |(i, k)| 4.0 + ((i + 3 * k) as f64).sin());
        let weights = Array1::from_shape_fn(N, |i| 0.5 + (i % 3) as f64);
        let map = Fourier::new(Gaussian).features(20);
        let map = map.build(Affine::identity(2)).expect("builds");
        let targets = Targets::Real {
            columns: 2,
            shift: vec![4.0, 3.0],
        };
        // The first half is repeated, which equals twice the weight.
        let mut kept = KeptRows::new(N, (2, 2));
        for rows in [0..N, 0..N / 2] {
            kept.look_at(&Chunk {
                x: Rows::F64(x.slice(s![rows.clone(), ..]).to_owned()),
                y: y.slice(s![rows.clone(), ..]).to_owned(),
                weights: Some(weights.slice(s![rows]).to_owned()),
            });
        }
        assert!(kept.are_all() && kept.len() == N);
        let both = Array1::from_shape_fn(N, |i| weights[i] * if i < N / 2 { 2.0 } else { 1.0 });
        let source = || {
            let rows = MemorySource::new(&x, Some(y.clone())).expect("rows");
            rows.with_weights(both.clone()).expect("weights")
        };
        let run = Run::on(&Device::cpu());
        let sums = NormalEquations::accumulate(&map, &mut source(), &targets, &run);
        let sums = sums.expect("sums");
        let rows = LookedAt {
            kept: &kept,
            map: &map,
            targets: &targets,
            run: &run,
        };
        for intercept in [Intercept::None, Intercept::Free, Intercept::Penalised] {
            let path = LambdaPath::new(&sums, intercept).expect("decomposes");
            let lambdas = [1e-4, 1e-2, 1.0];
            let every = path.leave_one_out(&lambdas, &map, &mut source(), &targets, &run);
            let every_lt = every.expect("errors");
            let errors_lt = path.errors_of(&lambdas, rows).expect("errors");
            let each = lambdas.iter().zip(every_lt.rows()).zip(errors_lt.rows());
            for ((&lambda, every_t), errors_t) in each {
                let one = LeftOut::solve(&sums, rows, lambda, intercept).expect("solves");
                for errors_t in [errors_t, one.errors_t.view()] {
                    let apart = (&errors_t / &every_t - 1.0).mapv(f64::abs).sum();
                    assert!(apart < 1e-8, "{intercept:?} {lambda}: {apart:e}");
                }
                let fit = path.coefficients(lambda).expect("a lambda");
                let apart = (&fit.beta_dt - &one.coefficients.beta_dt).mapv(f64::abs);
                assert!(apart.iter().all(|apart| *apart < 1e-5), "{apart}");
                let apart = &fit.intercept_t - &one.coefficients.intercept_t;
                assert!(apart.mapv(f64::abs).sum() < 1e-6, "{apart}");
                let dimension = path.effective_dimension(lambda).expect("a lambda");
                let ratio = one.effective_dimension / dimension;
                assert!((ratio - 1.0).abs() < 1e-4, "{intercept:?} {ratio}");
            }
        }
    }

    /// If `1 - h` is lost to rounding, the result is not finite.
    #[test]
    fn what_rounding_hides_is_unknown() {
        assert_eq!(unseen(0.5, 0.25), 2.0);
        assert_eq!(unseen(0.5, 1e-13), f64::INFINITY);
        assert_eq!(unseen(0.5, -1e-13), f64::INFINITY);
        assert_eq!(unseen(0.0, 0.0), 0.0);
    }

    #[test]
    fn a_walk_ends_in_the_valley() {
        for (lowest, start) in [(0, 6), (3, 6), (6, 6), (7, 6), (16, 6), (9, 40), (5, 0)] {
            let mut looks = 0;
            let walk = descend(17, start, |place| {
                looks += 1;
                // Penalties below index 2 cannot be solved for.
                let error = (place as f64 - lowest as f64).abs();
                Ok((place >= 2).then_some((error, ())))
            });
            let (best, found) = walk.expect("walks");
            assert_eq!(best, Some(lowest.max(2)), "from {start}");
            assert!(found.len() <= looks && looks <= 12, "{looks}");
        }
        let (best, _) = descend(5, 2, |_| Ok(Some((1.0, ())))).expect("walks");
        assert_eq!(best, Some(4), "the largest of equals");
        let (best, _) = descend(5, 2, |_| Ok(None::<(f64, ())>)).expect("walks");
        assert_eq!(best, None);
    }
}
