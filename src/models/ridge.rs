//! Ridge regression and ridge classification on random features.

use super::{
    Learner, LinearModel, Listener, Model, Step,
    iterative::{self, IterativeOptions},
    train::{LabelledData, TrainingData},
};
use crate::{
    Device, Error, Result,
    data::{ChunkSource, Survey},
    features::{FeatureMap, require_dense},
    flow::DEFAULT_MEMORY,
    normal::{NormalEquations, Targets},
    solve::{Cholesky, ConjugateGradients},
};
use std::{
    marker::PhantomData,
    time::{Duration, Instant},
};

/// How coefficients are found.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
#[non_exhaustive]
pub enum Solver {
    /// Conjugate gradients for maps whose features cannot be stored (binning), else Cholesky.
    #[default]
    Auto,
    /// A Cholesky factor of the normal equations: one pass over the rows, `8 D^2` bytes.
    Cholesky,
    /// Conjugate gradients, which form no Gram matrix and featurize all rows in every iteration.
    ConjugateGradients {
        /// Done at this relative residual.
        tolerance: f64,
        /// Most iterations.
        max_iterations: usize,
    },
}

impl Solver {
    /// Conjugate gradients to a relative residual of 1e-6, in 1000 iterations at most.
    pub fn conjugate_gradients() -> Self {
        let default = ConjugateGradients::default();
        Self::ConjugateGradients {
            tolerance: default.tolerance,
            max_iterations: default.max_iterations,
        }
    }
}

/// How [`LinearModel::fit`] fits.
#[derive(Debug, Clone)]
pub struct FitOptions {
    /// Where.
    pub device: Device,
    /// Bytes for chunk buffers. Conjugate gradients hold targets (8 bytes a row and output) and
    /// bins (4 bytes a row and grid) beside them.
    pub memory: u64,
    /// The penalty per sample, lambda > 0.
    pub lambda: f64,
    /// Whether an intercept is fitted.
    pub intercept: bool,
    /// How coefficients are found.
    pub solver: Solver,
    /// Who hears of it.
    pub progress: Listener,
}

impl FitOptions {
    /// lambda = 1e-6 with an intercept, [`Solver::Auto`], [`DEFAULT_MEMORY`] and silence, on
    /// `device`.
    pub fn on(device: &Device) -> Self {
        let Cholesky { lambda, intercept } = Cholesky::default();
        Self {
            device: device.clone(),
            memory: DEFAULT_MEMORY,
            lambda,
            intercept,
            solver: Solver::Auto,
            progress: Listener::default(),
        }
    }
}

/// How long each stage of a fit took.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FitTimes {
    /// Reading, featurizing and summing.
    pub accumulate: Duration,
    /// The solver.
    pub solve: Duration,
}

impl LinearModel {
    /// Least squares with a penalty on the features of `map`: approximate kernel ridge regression.
    /// [`Ridge`] does this with the map, too.
    ///
    /// Errors as [`NormalEquations::accumulate`] and the solvers do: with [`Error::Numerical`] when
    /// the iteration does not converge, with [`Error::Unsupported`] when [`Solver::Cholesky`] is
    /// asked of a map whose features cannot be stored.
    pub fn fit(
        map: Box<dyn FeatureMap>,
        source: &mut dyn ChunkSource,
        targets: Targets,
        options: &FitOptions,
    ) -> Result<Self> {
        let FitOptions {
            device,
            memory,
            lambda,
            intercept,
            solver,
            progress,
        } = options;
        let (lambda, intercept) = (*lambda, *intercept);
        let solver = match solver {
            Solver::Auto if require_dense(map.as_ref()).is_err() => Solver::conjugate_gradients(),
            other => *other,
        };
        if let Solver::ConjugateGradients {
            tolerance,
            max_iterations,
        } = solver
        {
            let options = IterativeOptions {
                device: device.clone(),
                solver: ConjugateGradients {
                    lambda,
                    intercept,
                    tolerance,
                    max_iterations,
                },
                memory: *memory,
            };
            return iterative::fit(map, source, targets, &options, &mut |step| {
                progress.say(step);
            });
        }
        let start = Instant::now();
        let mut say = |rows| progress.say(Step::Rows(rows));
        let sums =
            NormalEquations::accumulate(map.as_ref(), source, &targets, device, *memory, &mut say)?;
        let accumulate = start.elapsed();
        let start = Instant::now();
        let coefficients = Cholesky { lambda, intercept }.solve(&sums)?;
        let times = FitTimes {
            accumulate,
            solve: start.elapsed(),
        };
        Ok(Self {
            map,
            coefficients,
            times: Some(times),
            targets,
            class_names: None,
            lambda,
            rows: sums.rows,
            device: device.describe(),
        })
    }
}

impl Targets {
    /// Real targets, whose means by `survey` are taken out before rounding to f32.
    pub fn real(survey: &Survey) -> Self {
        Self::Real {
            columns: survey.targets.len(),
            shift: survey.targets.iter().map(|t| t.mean).collect(),
        }
    }

    /// The different labels that `survey` found, as classes, each fitted as +-1 against all others.
    ///
    /// Errors when there is not exactly one column of labels, or fewer than two classes, or more
    /// than the survey keeps.
    pub fn classes(survey: &Survey) -> Result<Self> {
        let [labels] = survey.targets.as_slice() else {
            return Err(Error::shape(format!(
                "a classifier takes one column of labels, the data has {}",
                survey.targets.len()
            )));
        };
        let problem = match &labels.distinct {
            Some(classes) if classes.len() >= 2 => return Ok(Self::Classes(classes.clone())),
            Some(_) => "all labels are the same; a classifier needs two classes",
            None => "the labels take more than a thousand values; this is a regression",
        };
        Err(Error::data("y", problem))
    }
}

/// Least squares with a penalty, on random features: approximate kernel ridge regression, of one
/// target or of several.
///
/// ```
/// use bochner::prelude::*;
/// use ndarray::Array;
/// let x = Array::from_shape_fn((300, 2), |(i, j)| ((i * (3 * j + 7)) % 31) as f64 / 31.0);
/// let y = x.rows().into_iter().map(|x| (3.0 * x[0]).sin() + x[1]).collect::<Vec<_>>();
///
/// let map = Fourier::new(Gaussian).features(200);
/// let model = Ridge::on(map).bandwidth(Bandwidth::Median).fit((&x, &y))?;
/// let predicted = model.predict(&x)?;
/// assert!(predicted.iter().zip(&y).all(|(p, y)| (p - y).abs() < 0.02));
/// # Ok::<(), bochner::Error>(())
/// ```
pub type Ridge = Learner<RidgeOf<Numbers>>;

/// One [`Ridge`] regression against +-1 per class; the class of the largest value wins. Labels are
/// text, whole numbers, floats or booleans, and come back as they went in.
///
/// ```
/// use bochner::prelude::*;
/// let x = ndarray::array![[0.0], [0.1], [2.0], [2.2]];
/// let labels = ["low", "low", "high", "high"];
/// let model = RidgeClassifier::on(Fourier::new(Gaussian)).fit((&x, labels))?;
/// assert_eq!(model.predict(&x)?, ["low", "low", "high", "high"]);
/// # Ok::<(), bochner::Error>(())
/// ```
pub type RidgeClassifier = Learner<RidgeOf<Classes>>;

/// What [`Ridge`] and [`RidgeClassifier`] have of their own: penalty, intercept, solver.
#[derive(Debug, Clone)]
pub struct RidgeOf<T> {
    lambda: f64,
    intercept: bool,
    solver: Solver,
    targets: PhantomData<T>,
}

/// Targets are amounts.
#[derive(Debug, Clone, Copy)]
pub struct Numbers;

/// Targets are labels.
#[derive(Debug, Clone, Copy)]
pub struct Classes;

impl<T> Default for RidgeOf<T> {
    fn default() -> Self {
        let Cholesky { lambda, intercept } = Cholesky::default();
        Self {
            lambda,
            intercept,
            solver: Solver::Auto,
            targets: PhantomData,
        }
    }
}

impl<T> Learner<RidgeOf<T>> {
    /// The penalty per sample; 1e-6 until said otherwise.
    pub fn lambda(mut self, lambda: f64) -> Self {
        self.own.lambda = lambda;
        self
    }

    /// Whether an intercept is fitted, which is never penalised; it is, until said otherwise.
    pub fn intercept(mut self, intercept: bool) -> Self {
        self.own.intercept = intercept;
        self
    }

    /// How coefficients are found; [`Solver::Auto`] until said otherwise.
    pub fn solver(mut self, solver: Solver) -> Self {
        self.own.solver = solver;
        self
    }

    fn linear(
        &self,
        source: &mut dyn ChunkSource,
        targets: impl FnOnce(&Survey) -> Result<Targets>,
    ) -> Result<(LinearModel, Device)> {
        let RidgeOf {
            lambda,
            intercept,
            solver,
            ..
        } = self.own;
        let prepared = self.setup.prepare(source)?;
        let options = FitOptions {
            memory: self.setup.memory,
            progress: self.setup.progress.clone(),
            lambda,
            intercept,
            solver,
            ..FitOptions::on(&prepared.device)
        };
        let targets = targets(&prepared.survey)?;
        let model = LinearModel::fit(prepared.map, source, targets, &options)?;
        Ok((model, prepared.device))
    }
}

impl Ridge {
    /// Fits to arrays `(&x, &y)`, a [`DataFile`](crate::data::DataFile), or `&mut source` of a
    /// [`ChunkSource`]. y of one dimension gives predictions of one.
    ///
    /// Errors when x and y differ in their rows or hold values that are not finite, when the map
    /// cannot be drawn, and as [`LinearModel::fit`] does.
    pub fn fit<D: TrainingData>(&self, data: D) -> Result<Model<D::Predicted>> {
        let mut source = data.into_source()?;
        let (linear, device) = self.linear(source.as_mut(), |survey| Ok(Targets::real(survey)))?;
        Ok(Model::new(linear, device, self.setup.memory))
    }
}

impl RidgeClassifier {
    /// Fits to arrays `(&x, &labels)`, a [`DataFile`](crate::data::DataFile), or `&mut source` of a
    /// [`ChunkSource`]; files and sources have numbers for labels.
    ///
    /// Errors as [`Ridge::fit`] does, and when there are fewer than two classes or more than a
    /// thousand.
    pub fn fit<D: LabelledData>(&self, data: D) -> Result<Model<Vec<D::Label>>> {
        let (mut source, names) = data.into_labelled()?;
        let (mut linear, device) = self.linear(source.as_mut(), Targets::classes)?;
        linear.class_names = names;
        Ok(Model::new(linear, device, self.setup.memory))
    }
}
