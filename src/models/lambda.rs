//! The penalty of ridge regression: one that is given, or the best of some by held-out errors.

use super::{FitTimes, LinearModel};
use crate::{
    Error, Result,
    data::ChunkSource,
    device::room,
    features::FeatureMap,
    flow::Run,
    normal::{NormalEquations, Targets},
    solve::{FoldSums, LambdaPath},
    store::Store,
};
use ndarray::{Array1, Array2};
use std::time::Instant;

/// The penalty per sample.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Lambda {
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
    /// The best of 1e-9, 10^-8.5, ..., 1e-1.
    pub fn auto(by: HeldOut) -> Self {
        Self::Best {
            of: (-18..=-2)
                .map(|i| 10_f64.powf(f64::from(i) / 2.0))
                .collect(),
            by,
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
    /// Each of so many folds in turn, by the sums alone: a Gram matrix in memory for each.
    Folds(usize),
}

/// The errors by which a penalty was chosen.
#[derive(Debug, Clone, PartialEq)]
pub struct LambdaCurve {
    /// Which rows were held out.
    pub by: HeldOut,
    /// One for each penalty, in ascending order.
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

    pub(super) fn write(&self, store: &mut Store) {
        let points = Array2::from_shape_fn((self.points.len(), 3), |(i, j)| {
            let point = &self.points[i];
            [point.lambda, point.error, point.effective_dimension][j]
        });
        store.put_f64("lambda_curve", points.view());
        let folds = match self.by {
            HeldOut::LeaveOneOut => 0,
            HeldOut::Folds(folds) => folds,
        };
        store.set("lambda_curve.folds", folds);
    }

    /// Models that did not choose, and older files, have none.
    pub(super) fn read(store: &Store) -> Result<Option<Self>> {
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
                0 => HeldOut::LeaveOneOut,
                folds => HeldOut::Folds(folds),
            },
            points: points.collect(),
        }))
    }
}

/// Penalties in ascending order, each once. Errors when there are none, or one that no held-out
/// error is defined for.
fn ascending(of: &[f64]) -> Result<Vec<f64>> {
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

/// Variances of the targets over all rows; 1 for a constant, whose errors are absolute then.
fn variances(sums: &NormalEquations) -> Array1<f64> {
    let mean_t = &sums.y_sum_t / sums.weight;
    let mean_square_t = &sums.y_square_t / sums.weight;
    let rounding_t = &mean_square_t * 1e-14;
    let variance_t = mean_square_t - &mean_t * &mean_t;
    let mut of = variance_t;
    of.zip_mut_with(&rounding_t, |v, &rounding| {
        if *v <= rounding {
            *v = 1.0;
        }
    });
    of
}

/// Fits with the best of some penalties. `seed` draws the folds.
pub(super) fn fit(
    map: Box<dyn FeatureMap>,
    source: &mut dyn ChunkSource,
    targets: Targets,
    (of, by, intercept): (&[f64], HeldOut, bool),
    run: &Run,
) -> Result<LinearModel> {
    const SEED: u64 = 0;
    let lambdas = ascending(of)?;
    let features = map.output_dim();
    let what = || format!("a path of penalties of {features} features");
    room::ask_square(features, 24, what)?;
    let start = Instant::now();
    let folds = match by {
        HeldOut::LeaveOneOut => None,
        HeldOut::Folds(folds) => Some(FoldSums::accumulate(
            map.as_ref(),
            source,
            &targets,
            (folds, SEED),
            run,
        )?),
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
    let relative_lt = errors_lt / &variances(&sums);
    let mut points = Vec::with_capacity(lambdas.len());
    for (&lambda, errors_t) in lambdas.iter().zip(relative_lt.rows()) {
        points.push(LambdaPoint {
            lambda,
            error: errors_t.mean().unwrap_or(f64::NAN),
            effective_dimension: path.effective_dimension(lambda)?,
        });
    }
    let curve = LambdaCurve { by, points };
    let best = curve.best();
    if !best.error.is_finite() {
        return Err(Error::numerical("no penalty has a finite held-out error"));
    }
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
    let facts = [
        ("effective_dimension", best.effective_dimension),
        ("held_out_relative_error", best.error.sqrt()),
    ];
    model
        .facts
        .extend(facts.map(|(name, value)| (name.to_owned(), value)));
    model.lambda_curve = Some(curve);
    Ok(model)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::prelude::*;

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
}
