//! Exact kernel ridge regression, if the kernel matrix of all rows fits into memory.

mod choice;
mod distinct;

pub(in crate::learn) use choice::{Choice, Chosen};

use self::distinct::DistinctFeatures;
use crate::{
    Error, Result,
    clock::Instant,
    data::{ChunkSource, Rows},
    error::Remedy,
    features::{FeatureMap, KernelColumnsMap, Structure},
    flow::{RowNeeds, Run, watch_chunks},
    learn::{Fit, FitData, Lambda},
    model::{FitTimes, LinearModel, Targets},
    progress::Step,
    settings::Settings,
    solve::weighted_kernel_ridge,
    text::{counted, human_bytes},
};
use ndarray::{Array1, Array2, Axis};

/// Options of [`KernelRidge`](crate::models::KernelRidge) and
/// [`KernelRidgeClassifier`](crate::models::KernelRidgeClassifier).
#[derive(Debug, Clone, PartialEq)]
pub struct KernelRidgeOptions {
    /// The penalty per sample, lambda >= 0, or how it is chosen; 0 interpolates.
    ///
    /// [`Lambda::Usual`] is the best of [`Lambda::auto`] by exact leave-one-out errors, with one
    /// factorisation for each penalty that a search evaluates. With more than 2048 rows, or with
    /// too little memory for two kernel matrices, a sample of rows decides by its own kernel
    /// matrix, at the same `lambda n`. Rows of a group are left out together.
    pub lambda: Lambda,
    /// Whether to fit an intercept, which is not penalised.
    pub intercept: bool,
}

impl Default for KernelRidgeOptions {
    /// The best penalty by leave-one-out errors, with an intercept.
    fn default() -> Self {
        Self {
            lambda: Lambda::Usual,
            intercept: true,
        }
    }
}

/// Downcasts a map to kernel columns. Errors on any other map.
pub(in crate::learn) fn columns_of<'m>(
    map: &'m dyn FeatureMap,
    learner: &str,
) -> Result<&'m KernelColumnsMap> {
    match map.structure() {
        Structure::Kernel(columns) => Ok(columns),
        _ => Err(Error::unsupported(format!(
            "{learner} takes a kernel and no features, not a {} map; use KernelColumns",
            map.name()
        ))),
    }
}

impl Fit for KernelRidgeOptions {
    fn is_least_squares(&self) -> bool {
        true
    }

    fn penalties(&self) -> Option<&[f64]> {
        self.lambda.given()
    }

    fn settings(&self) -> Settings {
        (self.lambda)
            .said(Settings::of_learner("kernel-ridge"))
            .flag("no-intercept", !self.intercept)
    }

    fn takes_weights(&self) -> bool {
        true
    }

    /// All distinct rows become landmarks of the model, whatever landmarks the map has. Rows with
    /// the same features are merged into one with their total weight and the weighted mean of their
    /// targets, which has the same solution. Unmerged, each would have a coefficient of its
    /// residual over the penalty, and these would cancel in f32 only up to rounding.
    ///
    /// Errors with [`Error::Unsupported`] on a map other than
    /// [`KernelColumns`](crate::features::KernelColumns), with [`Error::Limit`] if the kernel
    /// matrix of all rows does not fit into the memory of the run, and as [`weighted_kernel_ridge`]
    /// does.
    fn fit(&self, map: Box<dyn FeatureMap>, data: FitData<'_>) -> Result<LinearModel> {
        let columns = columns_of(map.as_ref(), "kernel ridge regression")?;
        let start = Instant::now();
        // Checks the penalties before rows are read.
        Choice::from_penalties(&self.lambda, 0)?;
        let (x, y_nt, weights_n) = read(data.source, &data.targets, data.run)?;
        let groups_n = data.source.groups();
        let rows = y_nt.nrows() as u64;
        let own = 8 * rows * rows;
        // With memory for a copy of the kernel matrix all rows decide.
        let room = match data.run.memory.saturating_sub(own) {
            left if left >= own => u64::MAX,
            left => left,
        };
        let choice = Choice::from_penalties(&self.lambda, room)?;
        let choice = choice.map(|of| {
            let deciding = of.among(&x, y_nt.view(), &weights_n, groups_n.as_deref());
            (deciding, of)
        });
        let mut map = columns.with_all(&x)?;
        let distinct = DistinctFeatures::find(&x);
        let k_nn = map.gram()?;
        let accumulate = start.elapsed();
        let start = Instant::now();
        let chosen = match choice {
            Some((deciding, of)) => of.choose((&k_nn, &y_nt), &deciding, self.intercept)?,
            None => Chosen::given(self.lambda.fixed()?),
        };
        let (mut k_nn, mut y_nt, mut weights_n) = (k_nn, y_nt, weights_n);
        if let Some(distinct) = distinct.filter(|_| chosen.lambda > 0.0) {
            map = columns.with_all(&x.select(&distinct.places))?;
            (k_nn, y_nt, weights_n) = distinct.merge(&k_nn, &y_nt, &weights_n);
        }
        drop(x);
        let solved = weighted_kernel_ridge(
            k_nn,
            y_nt.view(),
            weights_n.view(),
            chosen.lambda,
            self.intercept,
        )?;
        let mut coefficients = solved.coefficients;
        coefficients.beta_dt = map.lift(coefficients.beta_dt);
        let mut model = LinearModel {
            learner: "kernel-ridge".into(),
            lambda: chosen.lambda,
            rows,
            times: Some(FitTimes {
                accumulate,
                solve: start.elapsed(),
            }),
            ..LinearModel::new(Box::new(map), coefficients, data.targets, &data.run.device)
        };
        chosen.keep(&mut model);
        let dimension = solved.effective_dimension;
        model.facts.insert("effective_dimension".into(), dimension);
        Ok(model)
    }
}

/// All rows with their targets, in f64, and their weights. Errors as soon as they exceed the
/// memory.
pub(in crate::learn) fn read(
    source: &mut dyn ChunkSource,
    targets: &Targets,
    run: &Run,
) -> Result<(Rows, Array2<f64>, Array1<f64>)> {
    if source.targets() == 0 {
        return Err(Error::missing("the data has no targets to fit").help(Remedy::NameTargets));
    }
    let most = ((run.memory / 8) as f64).sqrt() as u64;
    let chunk = RowNeeds::read(source.columns() + source.targets()).rows_of(run)?;
    let columns = source.columns();
    let refuse = |rows: u64| Error::Limit {
        what: format!(
            "the kernel matrix of more than {}",
            counted(most as usize, "row")
        ),
        needed: format!("more than {}", human_bytes(8 * rows * rows)),
        allowed: human_bytes(run.memory),
        remedies: vec![
            Remedy::MoreMemory,
            Remedy::words("use Falkon, which holds the kernel of its landmarks alone"),
        ],
    };
    if let Some(rows) = source.rows().map(|rows| rows as u64).filter(|&n| n > most) {
        return Err(refuse(rows));
    }
    let (mut x, mut y, mut weights) = (Vec::new(), Vec::new(), Vec::new());
    let hear = |rows| run.say(Step::Rows(rows));
    let mut seen = 0;
    let rows = watch_chunks(source, chunk, hear, |chunk| {
        seen += chunk.x.nrows() as u64;
        if seen > most {
            return Err(refuse(seen));
        }
        let encoded = targets.encode(chunk.y.view())?;
        let shift: Array1<f64> = (0..targets.outputs()).map(|k| targets.shift(k)).collect();
        y.extend(encoded + &shift.insert_axis(Axis(0)));
        weights.extend(match chunk.weights {
            Some(weights) => weights,
            None => Array1::ones(chunk.x.nrows()),
        });
        x.extend(chunk.x.into_f64());
        Ok(())
    })?;
    let rows = rows as usize;
    let shape = |e: ndarray::ShapeError| Error::shape(e.to_string());
    let x = Array2::from_shape_vec((rows, columns), x).map_err(shape)?;
    let y_nt = Array2::from_shape_vec((rows, targets.outputs()), y).map_err(shape)?;
    Ok((Rows::F64(x), y_nt, weights.into()))
}
