//! Cross-validation errors for many penalties, from sums alone.

use super::{Intercept, LambdaPath, LookedAt, looked_at::each_row};
use crate::{
    Error, Result,
    data::{ChunkSource, Keeping, KeptRows, Repeats, Split},
    device::memory_left,
    features::FeatureMap,
    flow::{RowNeeds, Run},
    linalg::entries,
    model::{CalibratedOn, Coefficients, LeftOutScores, Targets},
    normal::NormalEquations,
};
use ndarray::{Array1, Array2, Axis, Zip, concatenate, s};
use std::sync::Arc;

/// Sums of k folds: the sums of all other rows are a difference, so that no fit of cross-validation
/// reads the rows again.
#[derive(Debug, Clone)]
pub struct FoldSums {
    folds: Vec<NormalEquations>,
    total: NormalEquations,
    /// Sampled rows of each fold.
    kept: Vec<KeptRows>,
    /// Seed of the folds.
    seed: u64,
    /// Repeated rows, whose copies are all in one fold.
    repeats: Arc<Repeats>,
}

impl FoldSums {
    /// Sums each of `folds` folds, which [`Split::fold`] draws from `seed`, with all copies of a
    /// row in one of them. The features of each row are computed once, and the source is read
    /// `folds + 1` times. `8 (k + 1) D^2` bytes.
    ///
    /// Errors with [`Error::Parameter`] on fewer than 2 folds or an empty one, and as
    /// [`NormalEquations::accumulate`] does.
    pub fn accumulate(
        map: &dyn FeatureMap,
        source: &mut dyn ChunkSource,
        targets: &Targets,
        by: (usize, u64),
        run: impl Into<Run>,
    ) -> Result<Self> {
        Self::keeping((map, targets), (source, 0), by, &run.into())
    }

    /// As [`Self::accumulate`], and keeps at most `rows` rows, equally many of each fold.
    pub(crate) fn keeping(
        (map, targets): (&dyn FeatureMap, &Targets),
        (source, most): (&mut dyn ChunkSource, usize),
        (folds, seed): (usize, u64),
        run: &Run,
    ) -> Result<Self> {
        let features = map.output_dim();
        // All folds and their sum, and the triangle that is being summed.
        let entry = u32::try_from(folds.saturating_add(2).saturating_mul(8)).unwrap_or(u32::MAX);
        let what = || format!("the Gram matrices of {features} features in {folds} folds");
        memory_left::require_square(features, entry, what)?;
        let mut total = NormalEquations::zero(map.output_dim(), targets.outputs());
        let (mut parts, mut kept) = (Vec::with_capacity(folds), Vec::with_capacity(folds));
        let columns = source.columns() + source.targets();
        let repeats = Repeats::find(source, RowNeeds::read(columns).rows_of(run)?)?;
        for k in 0..folds {
            let part = Split::fold(&mut *source, (k, folds), seed)?;
            let mut part = part.keep_copies_together(&repeats);
            let mut part = Keeping::new(&mut part, most / folds);
            let sums = NormalEquations::accumulate(map, &mut part, targets, run)?;
            total.merge(&sums)?;
            parts.push(sums);
            kept.push(part.into_kept());
        }
        match folds {
            0 | 1 => Err(Error::parameter(format!(
                "there are {folds} folds; use at least 2"
            ))),
            _ => Ok(Self {
                folds: parts,
                total,
                kept,
                seed,
                repeats,
            }),
        }
    }

    /// Scores of the kept rows, each fold by a fit to the others; `None` if rounding leaves one of
    /// these fits without a factor. `rows` describes the kept rows.
    pub(crate) fn scores<'a>(
        &'a self,
        lambda: f64,
        intercept: Intercept,
        rows: &dyn Fn(&'a KeptRows) -> LookedAt<'a>,
    ) -> Result<Option<LeftOutScores>> {
        let targets = self.total.y_sum_t.len();
        let (mut ids, mut counts, mut weights) = (Vec::new(), Vec::new(), Vec::new());
        let (mut y, mut error) = (Vec::new(), Vec::new());
        for (fold, kept) in self.folds.iter().zip(&self.kept) {
            let mut rest = self.total.clone();
            rest.subtract(fold)?;
            let fit = match intercept.coefficients(lambda, &rest) {
                Err(Error::Numerical(_)) => return Ok(None),
                fit => fit?,
            };
            ids.extend(kept.hashes());
            counts.extend(kept.observations().count_m);
            rows(kept).for_each_portion(|portion| {
                let mut z_md = Array2::zeros(portion.z_md.raw_dim());
                entries::widen(z_md.view_mut(), portion.z_md);
                let fitted_mt = z_md.dot(&fit.beta_dt) + &fit.intercept_t;
                error.extend(&portion.y_mt - &fitted_mt);
                y.extend(portion.y_mt);
                weights.extend(portion.weights_m);
            })?;
        }
        let on = CalibratedOn::Folds(self.folds.len());
        LeftOutScores::new((ids, counts, weights), (y, error, Vec::new()), targets, on).map(Some)
    }

    /// The kept rows of all folds.
    pub(crate) fn kept(&self) -> Result<KeptRows> {
        let mut all = match self.kept.first() {
            Some(first) => first.none(),
            None => KeptRows::new(0, (0, 0)),
        };
        self.kept.iter().try_for_each(|kept| all.merge(kept))?;
        Ok(all)
    }

    /// The sums of all rows.
    pub fn total(&self) -> &NormalEquations {
        &self.total
    }

    /// The mean squared error of each penalty and target on held-out folds, `[L, t]`: one
    /// eigendecomposition per fold. lambda is PER SAMPLE of the training rows.
    ///
    /// The squares are computed from the sums, whose features are f32: they differ from squared
    /// errors of predictions by some 1e-7 of `|beta|^2`. Infinite at penalties below the rounding
    /// of the sums; [`Self::errors_of_rows`] has no such limit.
    ///
    /// Errors with [`Error::Parameter`] on a lambda that is negative or not finite.
    pub fn errors(&self, lambdas: &[f64], intercept: impl Into<Intercept>) -> Result<Array2<f64>> {
        let intercept = intercept.into();
        let mut squares_lt = Array2::zeros((lambdas.len(), self.total.y_sum_t.len()));
        for fold in &self.folds {
            let mut rest = self.total.clone();
            rest.subtract(fold)?;
            let path = LambdaPath::new(&rest, intercept)?;
            let gram_dd = symmetric(&fold.gram_dd);
            for (&lambda, mut squares_t) in lambdas.iter().zip(squares_lt.rows_mut()) {
                let fit = path.coefficients(lambda)?;
                if lambda > path.rounding() {
                    squares_t += &squares(fold, &gram_dd, &fit);
                } else {
                    squares_t.fill(f64::INFINITY);
                }
            }
        }
        Ok(squares_lt / self.total.weight)
    }

    /// As [`Self::errors`], from predictions of the rows, which takes one more pass. Without
    /// cancellation in sums, it is accurate for large coefficients. `map`, `targets` and the rows
    /// must be the same as for the sums.
    ///
    /// Errors as [`Self::errors`] does, and as sources and devices do.
    pub fn errors_of_rows(
        &self,
        (lambdas, intercept): (&[f64], impl Into<Intercept>),
        (map, targets): (&dyn FeatureMap, &Targets),
        source: &mut dyn ChunkSource,
        run: impl Into<Run>,
    ) -> Result<Array2<f64>> {
        let (intercept, run) = (intercept.into(), run.into());
        let shape = (lambdas.len(), targets.outputs());
        let mut squares_c = Array1::zeros(shape.0 * shape.1);
        for (k, fold) in self.folds.iter().enumerate() {
            let mut rest = self.total.clone();
            rest.subtract(fold)?;
            let path = LambdaPath::new(&rest, intercept)?;
            let fits = lambdas.iter().map(|&lambda| path.coefficients(lambda));
            let (beta_dc, intercept_c) = side_by_side(&fits.collect::<Result<Vec<_>>>()?)?;
            source.rewind()?;
            let part = Split::fold(&mut *source, (k, self.folds.len()), self.seed)?;
            let mut part = part.keep_copies_together(&self.repeats);
            each_row(map, &mut part, targets, &run, |z_md, y_mt, weights_m| {
                let mut wide_md = Array2::zeros(z_md.raw_dim());
                entries::widen(wide_md.view_mut(), z_md);
                let fitted_mc = wide_md.dot(&beta_dc) + &intercept_c;
                let rows = fitted_mc.rows().into_iter().zip(y_mt.rows());
                for ((fitted_c, y_t), weight) in rows.zip(weights_m) {
                    for (c, square) in squares_c.iter_mut().enumerate() {
                        *square += weight * (y_t[c % shape.1] - fitted_c[c]).powi(2);
                    }
                }
            })?;
        }
        source.rewind()?;
        let squares_lt = squares_c.into_shape_with_order(shape);
        Ok(squares_lt.map_err(|e| Error::shape(e.to_string()))? / self.total.weight)
    }
}

/// The coefficients of all fits as columns, `[D, L t]`, and their intercepts.
fn side_by_side(fits: &[Coefficients]) -> Result<(Array2<f64>, Array1<f64>)> {
    let beta: Vec<_> = fits.iter().map(|fit| fit.beta_dt.view()).collect();
    let intercept: Vec<_> = fits.iter().map(|fit| fit.intercept_t.view()).collect();
    let joined = |e: ndarray::ShapeError| Error::shape(e.to_string());
    Ok((
        concatenate(Axis(1), &beta).map_err(joined)?,
        concatenate(Axis(0), &intercept).map_err(joined)?,
    ))
}

/// Both triangles.
fn symmetric(lower_dd: &Array2<f64>) -> Array2<f64> {
    let mut full_dd = lower_dd.clone();
    for i in 0..full_dd.nrows() {
        full_dd
            .slice_mut(s![..i, i])
            .assign(&lower_dd.slice(s![i, ..i]));
    }
    full_dd
}

/// `sum (y - Z beta - b)^2` of each target, from the sums of the rows.
fn squares(sums: &NormalEquations, gram_dd: &Array2<f64>, fit: &Coefficients) -> Array1<f64> {
    let Coefficients {
        beta_dt,
        intercept_t,
    } = fit;
    let gram_beta_dt = gram_dd.dot(beta_dt);
    let quadratic_t = (beta_dt * &(gram_beta_dt - &sums.zty_dt * 2.0)).sum_axis(Axis(0));
    let fitted_t = beta_dt.t().dot(&sums.z_sum_d);
    let mut squares_t = &sums.y_square_t + &quadratic_t;
    Zip::from(&mut squares_t)
        .and(intercept_t)
        .and(&fitted_t)
        .and(&sums.y_sum_t)
        .for_each(|square, &b, &fitted, &y| {
            *square += b * (2.0 * (fitted - y) + sums.weight * b);
            // A perfect fit can have a negative sum by rounding.
            *square = square.max(0.0);
        });
    squares_t
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        Device,
        data::MemorySource,
        features::{Affine, Fourier, featurize},
        kernels::Gaussian,
        solve::Cholesky,
    };

    /// Rows.
    const N: usize = 120;

    /// Rows with two targets, and a map of them.
    struct Example {
        x: Array2<f64>,
        y: Array2<f64>,
        map: Box<dyn FeatureMap>,
        targets: Targets,
        cpu: Device,
    }

    impl Example {
        fn new() -> Self {
            let map = Fourier::new(Gaussian).features(20);
            Self {
                x: Array2::from_shape_fn((N, 2), |(i, j)| ((i * (2 * j + 3)) % 41) as f64 / 9.0),
                y: Array2::from_shape_fn((N, 2), |(i, k)| 4.0 + ((i + 3 * k) as f64).sin()),
                map: Box::new(map.build(Affine::identity(2)).expect("builds")),
                targets: Targets::Real {
                    columns: 2,
                    shift: vec![4.0, 3.0],
                },
                cpu: Device::cpu(),
            }
        }

        fn source(&self) -> MemorySource {
            MemorySource::new(&self.x, Some(self.y.clone())).expect("rows")
        }

        fn sums(&self, folds: usize) -> Result<FoldSums> {
            let (map, targets) = (self.map.as_ref(), &self.targets);
            FoldSums::accumulate(map, &mut self.source(), targets, (folds, 7), &self.cpu)
        }

        /// The squared errors on fold `k` of a fit to the others at each penalty, `[l, t]`.
        fn left_out(&self, k: usize, lambdas: &[f64], intercept: bool) -> Array2<f64> {
            let map = self.map.as_ref();
            let mut rest = NormalEquations::zero(20, 2);
            for other in (0..4).filter(|&other| other != k) {
                let mut part = Split::fold(self.source(), (other, 4), 7).expect("a fold");
                let part = NormalEquations::accumulate(map, &mut part, &self.targets, &self.cpu);
                rest.merge(&part.expect("sums")).expect("merges");
            }
            let mut fold = Split::fold(self.source(), (k, 4), 7).expect("a fold");
            let chunk = fold.next_chunk(N).expect("reads").expect("rows");
            let mut z_md = Array2::zeros((0, 20));
            featurize(map, &mut fold, &self.cpu, |z| {
                // A part of a source fills its chunks at least by half.
                z_md.append(Axis(0), z.mapv(f64::from).view())
                    .expect("as wide");
                Ok(())
            })
            .expect("features");
            let mut squares_lt = Array2::zeros((lambdas.len(), 2));
            for (l, &lambda) in lambdas.iter().enumerate() {
                let fit = Cholesky { lambda, intercept }.solve(&rest).expect("solves");
                let error = &chunk.y - &(z_md.dot(&fit.beta_dt) + &fit.intercept_t);
                let squares = error.mapv(|e| e * e).sum_axis(Axis(0));
                squares_lt.row_mut(l).assign(&squares);
            }
            squares_lt
        }
    }

    /// Compared with a refit to the other folds for each fold, and predictions of its rows.
    #[test]
    fn a_fold_left_out_is_a_fit_without_it() {
        let example = Example::new();
        let sums = example.sums(4).expect("sums");
        assert_eq!(sums.total().rows, N as u64);
        let lambdas = [1e-4, 1e-2, 1.0];
        for intercept in [true, false] {
            let fast_lt = sums.errors(&lambdas, intercept).expect("errors");
            let mut slow_lt = Array2::<f64>::zeros((3, 2));
            for k in 0..4 {
                let squares_lt = example.left_out(k, &lambdas, intercept);
                slow_lt.scaled_add(1.0 / N as f64, &squares_lt);
            }
            let worst = (&fast_lt / &slow_lt - 1.0).fold(0.0, |m: f64, v| m.max(v.abs()));
            assert!(worst < 1e-3, "{intercept}: {worst:e}, {fast_lt} {slow_lt}");
            let of = (example.map.as_ref(), &example.targets);
            let rows_lt = sums.errors_of_rows(
                (&lambdas[..], intercept),
                of,
                &mut example.source(),
                &example.cpu,
            );
            let worst =
                (&rows_lt.expect("errors") / &slow_lt - 1.0).fold(0.0, |m: f64, v| m.max(v.abs()));
            assert!(worst < 1e-9, "{intercept}: {worst:e}");
        }
    }

    #[test]
    fn folds_are_two_at_least_and_have_rows() {
        for folds in [0, 1, 1000] {
            let few = Example::new().sums(folds);
            assert!(matches!(few, Err(Error::Parameter(_))), "{folds}");
        }
    }

    #[test]
    fn what_is_taken_away_was_there_and_no_more() {
        let sums = Example::new().sums(4).expect("sums");
        let (mut left, all) = (sums.total().clone(), sums.total());
        left.subtract(&sums.folds[0]).expect("was there");
        assert_eq!(left.rows + sums.folds[0].rows, N as u64);
        let mut others = NormalEquations::zero(20, 2);
        for fold in &sums.folds[1..] {
            others.merge(fold).expect("merges");
        }
        let each = |sums: &NormalEquations| -> Vec<f64> {
            let vectors = sums
                .z_sum_d
                .iter()
                .chain(&sums.y_sum_t)
                .chain(&sums.y_square_t);
            let matrices = sums.gram_dd.iter().chain(&sums.zty_dt);
            vectors
                .chain(matrices)
                .chain([&sums.weight])
                .copied()
                .collect()
        };
        let pairs = each(&left).into_iter().zip(each(&others));
        let off = pairs.map(|(a, b)| (a - b).abs() / (1.0 + b.abs()));
        assert!(off.fold(0.0, f64::max) < 1e-12);
        assert!(matches!(left.subtract(all), Err(Error::Shape(_))));
        assert!(left.subtract(&NormalEquations::zero(3, 2)).is_err());
    }
}
