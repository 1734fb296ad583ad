//! The penalty of ridge regression: one that is given, or the best of some by held-out errors.

use crate::clock::Instant;
use crate::models::{FitTimes, LinearModel, predict::worse};
use crate::{
    Error, Result,
    data::{ChunkSource, KeptRows},
    device::room,
    error::Remedy,
    features::FeatureMap,
    flow::Run,
    linalg::eigen::EIGEN_BYTES,
    normal::{NormalEquations, Targets},
    settings::Settings,
    solve::{FoldSums, Intercept, LambdaPath, LeftOut},
    store::Store,
};
use ndarray::{Array1, Array2};
use std::collections::BTreeMap;

/// Rows that are left out in turn where nobody says how many.
const ROWS: usize = 4096;
/// Residuals that are enough to tell penalties apart: rows of many targets need not be as many.
const RESIDUALS: usize = 1 << 18;
/// Bytes of kept rows, unless that would be too few of them.
const BYTES: usize = 64 << 20;
/// The fewest rows for either.
const LEAST_ROWS: usize = 256;

/// The penalty per sample of ridge regression and of kernel machines.
#[derive(Debug, Clone, PartialEq, Default)]
#[non_exhaustive]
pub enum Lambda {
    /// The best of [`Self::auto`] by leave-one-out errors of some rows, at most 4096, which are
    /// kept as the rows are summed: no row is read again, and sums of parts choose what those of
    /// all rows would. Up to 2048 features one eigendecomposition gives the errors at every
    /// penalty; of more features a walk factors a matrix for each penalty that it looks at.
    ///
    /// Of fewer rows than features all are left out, by a walk in their dual. Rows that are equal
    /// are left out together, as one row of their weight.
    ///
    /// Kernel machines, of which it is the default too, keep at most 2048 rows and go by the kernel
    /// of these.
    ///
    /// It is 1e-6 where nothing is stored to choose by: for conjugate gradients, maps with binning,
    /// a dual whose features are computed again, and beside a [`Search`](crate::models::Search) and
    /// leaves.
    #[default]
    Usual,
    /// This one.
    Fixed(f64),
    /// The one of these with the smallest error on rows that its fit has not seen: all of them
    /// from one eigendecomposition (leave-one-out) or one a fold.
    Best {
        /// The penalties to choose from.
        of: Vec<f64>,
        /// Whose errors decide.
        by: HeldOut,
    },
}

impl Lambda {
    /// The penalty where none is given or chosen.
    pub const USUAL: f64 = 1e-6;

    /// The best of 1e-9, 10^-8.5, ..., 1e-1.
    pub fn auto(by: HeldOut) -> Self {
        Self::Best {
            of: (-18..=-2)
                .map(|i| 10_f64.powf(f64::from(i) / 2.0))
                .collect(),
            by,
        }
    }

    /// With what `fit --lambda` and its kin would say; nothing of the usual choice.
    pub(in crate::models) fn said(&self, settings: Settings) -> Settings {
        let (of, by) = match self {
            Self::Usual => return settings,
            Self::Fixed(lambda) => return settings.number("lambda", *lambda),
            Self::Best { of, by } => (of, by),
        };
        let settings = match *self == Self::auto(*by) {
            true => settings.text("lambda", "auto"),
            false => settings.numbers("lambda", of),
        };
        match by {
            HeldOut::Folds(folds) => settings.text("lambda-by", "kfold").text("folds", folds),
            _ => settings,
        }
    }

    /// What is given, or the usual penalty where one is to be chosen and cannot be.
    pub(crate) fn settled(&self) -> Self {
        match self {
            Self::Usual => Self::Fixed(Self::USUAL),
            given => given.clone(),
        }
    }

    /// The penalties that were given, if any were.
    pub(crate) fn given(&self) -> Option<&[f64]> {
        match self {
            Self::Usual => None,
            Self::Fixed(lambda) => Some(std::slice::from_ref(lambda)),
            Self::Best { of, .. } => Some(of),
        }
    }

    /// The penalties that a trial of a search takes.
    pub(in crate::models) fn tried(&self) -> Vec<f64> {
        match self.settled() {
            Self::Best { of, .. } => of,
            Self::Fixed(lambda) => vec![lambda],
            Self::Usual => vec![Self::USUAL],
        }
    }

    /// The one penalty. Errors with [`Error::Unsupported`] where several are given.
    pub(in crate::models) fn fixed(&self) -> Result<f64> {
        match self.settled() {
            Self::Fixed(lambda) => Ok(lambda),
            _ => Err(Error::unsupported("this takes one penalty, not several")),
        }
    }

    /// Whether sums, with rows that are kept beside them, are all that it takes.
    pub(in crate::models) fn goes_by_sums(&self) -> bool {
        let by_rows = |by: &HeldOut| matches!(by, HeldOut::LeaveSomeOut(_));
        !matches!(self, Self::Best { by, .. } if !by_rows(by))
    }

    /// The penalties that are chosen among, if there are several.
    pub(in crate::models) fn candidates(&self) -> Option<Vec<f64>> {
        match self {
            Self::Fixed(_) => None,
            Self::Best { of, .. } => Some(of.clone()),
            Self::Usual => Self::auto(HeldOut::LeaveOneOut).candidates(),
        }
    }

    /// How many rows are kept to choose by, of so many columns and outputs.
    pub(in crate::models) fn rows_kept(&self, (columns, outputs): (usize, usize)) -> Option<usize> {
        match self {
            Self::Usual => {
                let enough = RESIDUALS / outputs.max(1);
                let fitting = BYTES / KeptRows::row_bytes((columns, outputs));
                Some(enough.min(fitting).clamp(LEAST_ROWS, ROWS))
            }
            Self::Best {
                by: HeldOut::LeaveSomeOut(most),
                ..
            } => Some(*most),
            _ => None,
        }
    }
}

impl From<f64> for Lambda {
    fn from(lambda: f64) -> Self {
        Self::Fixed(lambda)
    }
}

/// Which rows are held out to choose a penalty.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum HeldOut {
    /// Each row in turn, by its leverage: a second pass over the rows.
    #[default]
    LeaveOneOut,
    /// Each of so many rows in turn, which are drawn uniformly and kept as the rows go by: no
    /// second pass. Rows that are equal are left out together, as one row of their weight.
    LeaveSomeOut(usize),
    /// Each of so many folds in turn, by the sums alone: a Gram matrix in memory for each.
    Folds(usize),
}

/// The errors by which a penalty was chosen.
#[derive(Debug, Clone, PartialEq)]
pub struct LambdaCurve {
    /// Which rows were held out.
    pub by: HeldOut,
    /// One for each penalty, in ascending order, but for those whose error rounding hides.
    pub points: Vec<LambdaPoint>,
}

/// A penalty and what it gave.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LambdaPoint {
    /// The penalty per sample.
    pub lambda: f64,
    /// Mean squared error on held-out rows over the variance of the targets, mean of the targets:
    /// 1 is what their means would give. Classes are targets of -1 and 1.
    pub error: f64,
    /// Effective dimension of all rows at this penalty.
    pub effective_dimension: f64,
}

impl LambdaCurve {
    /// The point with the smallest error; of several the one with the largest penalty.
    pub fn best(&self) -> LambdaPoint {
        let mut points = self.points.iter().rev();
        let first = points.next().expect("a curve has points");
        *points.fold(first, |a, b| if b.error < a.error { b } else { a })
    }

    /// Of the places where a walk over penalties looked.
    pub(in crate::models) fn of_walk(
        by: HeldOut,
        lambdas: &[f64],
        found: &BTreeMap<usize, (f64, LeftOut)>,
    ) -> Self {
        let points = found.iter().map(|(&place, (error, one))| LambdaPoint {
            lambda: lambdas[place],
            error: *error,
            effective_dimension: one.effective_dimension,
        });
        let points = points.collect();
        Self { by, points }
    }

    pub(in crate::models) fn write(&self, store: &mut Store) {
        let points = Array2::from_shape_fn((self.points.len(), 3), |(i, j)| {
            let point = &self.points[i];
            [point.lambda, point.error, point.effective_dimension][j]
        });
        store.put_f64("lambda_curve", points.view());
        let (folds, rows) = match self.by {
            HeldOut::LeaveOneOut => (0, None),
            HeldOut::LeaveSomeOut(rows) => (0, Some(rows)),
            HeldOut::Folds(folds) => (folds, None),
        };
        store.set("lambda_curve.folds", folds);
        if let Some(rows) = rows {
            store.set("lambda_curve.rows", rows);
        }
    }

    /// Models that did not choose, and older files, have none.
    pub(in crate::models) fn read(store: &Store) -> Result<Option<Self>> {
        if !store.has("lambda_curve") {
            return Ok(None);
        }
        let points = store.f64("lambda_curve")?;
        if points.ncols() != 3 || points.nrows() == 0 {
            return Err(Error::format("a curve of penalties has three columns"));
        }
        let points = points.rows().into_iter().map(|row| LambdaPoint {
            lambda: row[0],
            error: row[1],
            effective_dimension: row[2],
        });
        Ok(Some(Self {
            by: match store.get("lambda_curve.folds")? {
                0 if store.has_property("lambda_curve.rows") => {
                    HeldOut::LeaveSomeOut(store.get("lambda_curve.rows")?)
                }
                0 => HeldOut::LeaveOneOut,
                folds => HeldOut::Folds(folds),
            },
            points: points.collect(),
        }))
    }
}

/// Penalties in ascending order, each once. Errors when there are none, or one that no held-out
/// error is defined for.
pub(in crate::models) fn ascending(of: &[f64]) -> Result<Vec<f64>> {
    if let Some(bad) = of.iter().find(|l| !(**l > 0.0 && l.is_finite())) {
        return Err(Error::parameter(format!(
            "lambda is {bad}; it must be positive and finite"
        )));
    }
    if of.is_empty() {
        return Err(Error::parameter("there is no lambda to choose; give one"));
    }
    let mut lambdas = of.to_vec();
    lambdas.sort_by(f64::total_cmp);
    lambdas.dedup();
    Ok(lambdas)
}

/// Where a walk begins among penalties that ascend: at the usual one.
pub(in crate::models) fn place_of_usual(lambdas: &[f64]) -> usize {
    lambdas.partition_point(|&lambda| lambda < 0.99 * Lambda::USUAL)
}

/// Variances of the targets over all rows; 1 for a constant, whose errors are absolute then.
pub(in crate::models) fn variances(
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

/// The best point, unless it is of no use: below rounding a penalty may still be the best, as
/// errors on rows tell, but one that is worse than the means there is rounding itself. The best
/// above rounding stands in for it: few rows whose targets nothing tells have a model, too. Errors
/// when all penalties are below, or have errors that rounding hides.
pub(in crate::models) fn trusted(curve: &LambdaCurve, rounding: f64) -> Result<LambdaPoint> {
    let best = curve.best();
    if best.error <= 1.0 || (best.error.is_finite() && best.lambda > rounding) {
        return Ok(best);
    }
    let above = |p: &&LambdaPoint| p.lambda > rounding && p.error.is_finite();
    let above = curve.points.iter().rev().filter(above);
    let smallest = above.min_by(|a, b| a.error.total_cmp(&b.error));
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

/// Keeps in a model by what its penalty was chosen, and what it is worth.
pub(in crate::models) fn keep(model: &mut LinearModel, mut curve: LambdaCurve) {
    curve.points.retain(|point| point.error.is_finite());
    let chosen = curve.points.iter().find(|p| p.lambda == model.lambda);
    if let Some(chosen) = chosen {
        worse::than_mean(chosen.error, model.rows);
        let facts = [
            ("effective_dimension", chosen.effective_dimension),
            ("held_out_r2", 1.0 - chosen.error),
        ];
        let facts = facts.map(|(name, value)| (name.to_owned(), value));
        model.facts.extend(facts);
    }
    model.lambda_curve = Some(curve);
}

/// Fits with the best of some penalties by errors on all rows: each left out in turn, in a second
/// pass, or by folds, which are drawn.
pub(in crate::models) fn fit(
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
    room::ask_square(features, EIGEN_BYTES, what)?;
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
    let path = LambdaPath::of(&sums, intercept)?;
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
    let coefficients = path.coefficients(best.lambda)?;
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::prelude::*;
    use ndarray::Axis;

    /// A curve with a valley is found by both ways of holding out, kept in the model and in its
    /// file, and its best is what a fit with that penalty gives.
    #[test]
    fn the_best_penalty_is_chosen_and_its_curve_kept() {
        let x = Array2::from_shape_fn((120, 1), |(i, _)| i as f64 / 12.0);
        let noise = |i: usize| ((i * 7919) % 101) as f64 / 101.0 - 0.5;
        let y: Vec<f64> = (0..120).map(|i| x[[i, 0]].sin() + noise(i)).collect();
        let ridge = || {
            let map = Fourier::new(Gaussian).features(60);
            Ridge::on(map)
                .bandwidth(Bandwidth::Sigma(0.2))
                .device(&Device::cpu())
        };
        for by in [HeldOut::LeaveOneOut, HeldOut::Folds(5)] {
            let model = ridge()
                .lambda(Lambda::auto(by))
                .fit((&x, &y))
                .expect("fits");
            let linear = model.linear();
            let curve = linear.lambda_curve.as_ref().expect("a curve");
            assert_eq!((curve.by, curve.points.len()), (by, 17));
            let (first, last) = (curve.points[0], curve.points[16]);
            let best = curve.best();
            assert_eq!(best.lambda, linear.lambda);
            assert!(
                best.error < 0.95 * first.error && best.error < 0.8 * last.error,
                "{curve:?}"
            );
            assert!(first.effective_dimension > last.effective_dimension);
            let one = ridge().lambda(best.lambda).fit((&x, &y)).expect("fits");
            let beta = |model: &LinearModel| model.coefficients.beta_dt.clone();
            let apart = beta(linear) - beta(one.linear());
            assert!(apart.iter().all(|b| b.abs() < 1e-4));
            let fact = |model: &LinearModel| model.facts["effective_dimension"];
            assert!((fact(linear) - fact(one.linear())).abs() < 1e-3);

            let folder = tempfile::tempdir().expect("a folder");
            let path = folder.path().join("m");
            model.save(&path).expect("saves");
            let loaded = LinearModel::load(&path).expect("loads");
            assert_eq!(loaded.lambda_curve, linear.lambda_curve);
        }
        for (bad, says) in [(&[][..], "no lambda"), (&[1e-3, 0.0], "lambda is 0")] {
            let message = ridge()
                .lambdas(bad)
                .fit((&x, &y))
                .expect_err("refused")
                .to_string();
            assert!(message.contains(says), "{message}");
        }
    }
    /// Some rows left out tell what all do, to the noise of a sample; some that are all are all.
    #[test]
    fn some_rows_tell_what_all_do() {
        let x = Array2::from_shape_fn((6000, 1), |(i, _)| (i * 37 % 6000) as f64 / 600.0);
        let noise = |i: usize| ((i * 7919) % 101) as f64 / 101.0 - 0.5;
        let y: Vec<f64> = (0..6000)
            .map(|i| x[[i, 0]].sin() + 2.0 * noise(i))
            .collect();
        let fit = |by| {
            let map = Fourier::new(Gaussian).features(60);
            let ridge = Ridge::on(map).lambda(Lambda::auto(by));
            let ridge = ridge.bandwidth(Bandwidth::Sigma(0.2));
            ridge.device(&Device::cpu()).fit((&x, &y)).expect("fits")
        };
        let curve = |by| fit(by).linear().lambda_curve.clone().expect("a curve");
        let all = curve(HeldOut::LeaveOneOut);
        let every = curve(HeldOut::LeaveSomeOut(6000));
        assert_eq!(every.by, HeldOut::LeaveOneOut);
        for (every, all) in every.points.iter().zip(&all.points) {
            let apart = every.error / all.error - 1.0;
            assert!(
                apart.abs() < 1e-9,
                "the same rows in another order: {apart:e}"
            );
        }
        let model = fit(HeldOut::LeaveSomeOut(2000));
        let some = model.linear().lambda_curve.clone().expect("a curve");
        assert_eq!(some.by, HeldOut::LeaveSomeOut(2000));
        for (some, all) in some.points.iter().zip(&all.points) {
            assert_eq!(some.effective_dimension, all.effective_dimension);
            let ratio = some.error / all.error;
            assert!(ratio != 1.0 && (ratio - 1.0).abs() < 0.05, "{ratio}");
        }
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("m");
        model.save(&path).expect("saves");
        let loaded = LinearModel::load(&path).expect("loads");
        assert_eq!(loaded.lambda_curve, Some(some));
    }

    /// Where rounding is larger than every penalty there is no choice to make.
    #[test]
    fn a_penalty_below_rounding_is_refused() {
        let x = Array2::from_shape_fn((300, 1), |(i, _)| 1e8 + (i * 7 % 300) as f64 / 60.0);
        let y: Vec<f64> = (0..300)
            .map(|i| (1.2 * f64::from(i * 7 % 300) / 60.0).sin())
            .collect();
        let map = ArcCosine::new().features(50);
        let ridge = Ridge::on(map).lambda(Lambda::auto(HeldOut::LeaveOneOut));
        let ridge = ridge.standardize(Standardize::No).device(&Device::cpu());
        let message = ridge.fit((&x, &y)).expect_err("refused").to_string();
        assert!(message.contains("rounding alone"), "{message}");
        assert!(message.contains("standardize"), "{message}");
    }

    /// A penalty that is worse than the means and below rounding gives way to the best above it;
    /// one that is better than the means does not.
    #[test]
    fn a_penalty_below_rounding_gives_way() {
        let curve = |errors: [f64; 3]| LambdaCurve {
            by: HeldOut::LeaveOneOut,
            points: Vec::from_iter(errors.iter().zip([1e-9, 1e-5, 1e-1]).map(
                |(&error, lambda)| LambdaPoint {
                    lambda,
                    error,
                    effective_dimension: 1.0,
                },
            )),
        };
        let taken = |errors, rounding| {
            let curve = curve(errors);
            trusted(&curve, rounding).map(|point| point.lambda)
        };
        assert_eq!(taken([1.01, 1.3, 1.2], 1e-8).ok(), Some(1e-1));
        assert_eq!(taken([1.01, 1.1, 1.2], 1e-8).ok(), Some(1e-5));
        assert_eq!(taken([1.01, 1.2, 1.2], 1e-8).ok(), Some(1e-1));
        assert_eq!(taken([1.01, 1.3, 1.2], 1e-10).ok(), Some(1e-9));
        assert_eq!(taken([0.99, 1.3, 1.2], 1e-8).ok(), Some(1e-9));
        assert_eq!(taken([f64::NAN, 1.3, 1.01], 1.0).ok(), None);
    }

    /// Leave-one-out takes the penalty that as many fits as there are rows take, and has their
    /// errors.
    #[test]
    fn leave_one_out_chooses_as_refitting_does() {
        const N: usize = 50;
        let x = Array2::from_shape_fn((N, 1), |(i, _)| i as f64 / 5.0);
        let noise = |i: usize| ((i * 7919) % 101) as f64 / 101.0 - 0.5;
        let y = Array1::from_shape_fn(N, |i| x[[i, 0]].sin() + noise(i));
        let ridge = || {
            let map = Fourier::new(Gaussian).features(30);
            Ridge::on(map)
                .bandwidth(Bandwidth::Sigma(0.3))
                .standardize(Standardize::No)
                .device(&Device::cpu())
        };
        let lambdas = [1e-5, 1e-4, 1e-3, 3e-3, 1e-2, 3e-2, 1e-1, 1.0];
        let model = ridge().lambdas(&lambdas).fit((&x, &y)).expect("fits");
        let refitted = lambdas.map(|lambda| {
            let errors = (0..N).map(|left| {
                let rest: Vec<usize> = (0..N).filter(|&i| i != left).collect();
                let rows = (x.select(Axis(0), &rest), y.select(Axis(0), &rest));
                // The same penalty as with all rows.
                let lambda = lambda * N as f64 / rest.len() as f64;
                let fit = ridge()
                    .lambda(lambda)
                    .fit((&rows.0, &rows.1))
                    .expect("fits");
                let own = x.select(Axis(0), &[left]);
                (fit.predict(&own).expect("predicts")[0] - y[left]).powi(2)
            });
            errors.sum::<f64>() / N as f64
        });
        let ranked = lambdas.iter().zip(refitted);
        let best = ranked
            .min_by(|(_, a), (_, b)| a.total_cmp(b))
            .expect("some")
            .0;
        let linear = model.linear();
        assert_eq!(linear.lambda, *best, "{refitted:?}");
        assert!(lambdas[0] < *best && *best < lambdas[7], "{refitted:?}");
        let curve = linear.lambda_curve.as_ref().expect("a curve");
        let of_variance = y.var(0.0);
        for (point, refitted) in curve.points.iter().zip(refitted) {
            let ratio = point.error * of_variance / refitted;
            assert!((ratio - 1.0).abs() < 1e-2, "{point:?}: {ratio}");
        }
    }
}
