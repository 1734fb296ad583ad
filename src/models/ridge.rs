//! Ridge regression and ridge classification on random features.

use super::{
    Fit, FitAnySums, FitData, HeldOut, Labels, Lambda, Learner, LinearModel, Numbers, Search, dual,
    iterative::{self, Way},
    lambda,
    metric::MetricOptions,
};
use crate::clock::Instant;
use crate::{
    Error, Result,
    data::{ChunkSource, Survey},
    features::{FeatureMap, require_dense},
    flow::Run,
    linalg::eigen::EIGEN_BYTES,
    normal::{NormalEquations, SUM_BYTES, Targets},
    solve::{Cholesky, ConjugateGradients, Dual},
};
use std::time::Duration;

/// How coefficients are found.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
#[non_exhaustive]
pub enum Solver {
    /// A Cholesky factor, or the dual for fewer rows than features that fit into the memory of the
    /// run; for maps whose features cannot be stored (binning) conjugate gradients, unless a factor
    /// is cheaper: of a Gram matrix of at most 1 GiB, or of products of rows of at most 2 GiB.
    #[default]
    Auto,
    /// A Cholesky factor of the normal equations: one pass over the rows, `8 D^2` bytes. Binned
    /// rows are summed on the host, exactly.
    Cholesky,
    /// The features of all rows in memory, `8 n (n + D)` bytes, and a Cholesky factor of their
    /// products with each other ([`Dual`]). It takes lambda = 0, too: the smallest coefficients
    /// that interpolate. Of binned rows bins are counted instead, in `8 n^2` bytes.
    Dual,
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
    /// Where, with how much memory, and who hears of it. Conjugate gradients hold targets (8 bytes
    /// a row and output) and bins (4 bytes a row and grid) beside the chunks.
    pub run: Run,
    /// The penalty per sample, lambda > 0, or 0 with [`Solver::Dual`].
    pub lambda: f64,
    /// Whether an intercept is fitted.
    pub intercept: bool,
    /// How coefficients are found.
    pub solver: Solver,
}

impl FitOptions {
    /// lambda = 1e-6 with an intercept and [`Solver::Auto`]. `run` is a `&Device` or a [`Run`].
    pub fn on(run: impl Into<Run>) -> Self {
        let Cholesky { lambda, intercept } = Cholesky::default();
        Self {
            run: run.into(),
            lambda,
            intercept,
            solver: Solver::Auto,
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
    /// the iteration does not converge, with [`Error::Unsupported`] when [`Solver::Cholesky`]
    /// or [`Solver::Dual`] is asked of binning beside other maps, with [`Error::Limit`] when there
    /// is no room for the matrix that they factor.
    pub fn fit(
        map: Box<dyn FeatureMap>,
        source: &mut dyn ChunkSource,
        targets: Targets,
        options: &FitOptions,
    ) -> Result<Self> {
        let FitOptions {
            run,
            lambda,
            intercept,
            solver,
        } = options;
        let (lambda, intercept) = (*lambda, *intercept);
        let default = ConjugateGradients {
            lambda,
            intercept,
            ..ConjugateGradients::default()
        };
        let iterative = match *solver {
            Solver::ConjugateGradients {
                tolerance,
                max_iterations,
            } => {
                let solver = ConjugateGradients {
                    tolerance,
                    max_iterations,
                    ..default
                };
                Some((solver, Way::Iterate))
            }
            Solver::Dual if require_dense(map.as_ref()).is_err() => Some((default, Way::Dual)),
            Solver::Dual => {
                let dual = Dual { lambda, intercept };
                return dual::fit(map, source, targets, dual, run);
            }
            _ if require_dense(map.as_ref()).is_ok() => None,
            Solver::Auto => Some((default, Way::Cheaper)),
            Solver::Cholesky => Some((default, Way::Direct)),
        };
        if let Some((solver, way)) = iterative {
            return iterative::fit(map, source, targets, (&solver, way), run);
        }
        let start = Instant::now();
        let sums = NormalEquations::accumulate(map.as_ref(), source, &targets, run)?;
        let accumulate = start.elapsed();
        let start = Instant::now();
        let solved = Cholesky { lambda, intercept }.solve_with_dimension(&sums)?;
        let times = FitTimes {
            accumulate,
            solve: start.elapsed(),
        };
        let (coefficients, dimension) = solved;
        let mut model = Self {
            times: Some(times),
            lambda,
            rows: sums.rows,
            ..Self::new(map, coefficients, targets, &run.device)
        };
        let name = "effective_dimension".to_owned();
        model
            .facts
            .extend(dimension.map(|dimension| (name, dimension)));
        Ok(model)
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
pub type Ridge = Learner<RidgeOptions, Numbers>;

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
pub type RidgeClassifier = Learner<RidgeOptions, Labels>;

/// What [`Ridge`] and [`RidgeClassifier`] have of their own.
#[derive(Debug, Clone, PartialEq)]
pub struct RidgeOptions {
    /// The penalty per sample, lambda > 0, or how it is chosen; 0 where the dual solves, for fewer
    /// rows than features.
    pub lambda: Lambda,
    /// Whether an intercept is fitted, which is never penalised.
    pub intercept: bool,
    /// How coefficients are found.
    pub solver: Solver,
}

impl Default for RidgeOptions {
    /// lambda = 1e-6 with an intercept, [`Solver::Auto`].
    fn default() -> Self {
        let Cholesky { lambda, intercept } = Cholesky::default();
        Self {
            lambda: Lambda::Fixed(lambda),
            intercept,
            solver: Solver::Auto,
        }
    }
}

impl<T> Learner<RidgeOptions, T> {
    /// The penalty per sample, a number or [`Lambda`]; 1e-6 until said otherwise.
    pub fn lambda(mut self, lambda: impl Into<Lambda>) -> Self {
        self.own.lambda = lambda.into();
        self
    }

    /// Fits with the best of these penalties by leave-one-out errors, which
    /// [`LinearModel::lambda_curve`] keeps; [`Lambda::Best`] chooses by others.
    ///
    /// ```
    /// use bochner::prelude::*;
    /// let x = ndarray::Array::from_shape_fn((200, 1), |(i, _)| i as f64 / 20.0);
    /// let y: Vec<_> = x.iter().enumerate().map(|(i, x)| x.sin() + (i % 7) as f64 / 9.0).collect();
    /// let ridge = Ridge::on(Fourier::new(Gaussian).features(64)).lambdas(&[1e-8, 1e-4, 1.0]);
    /// let model = ridge.fit((&x, &y))?;
    /// assert_eq!(model.linear().lambda, 1e-4);
    /// # Ok::<(), bochner::Error>(())
    /// ```
    pub fn lambdas(self, lambdas: &[f64]) -> Self {
        self.lambda(Lambda::Best {
            of: lambdas.to_vec(),
            by: HeldOut::LeaveOneOut,
        })
    }

    /// Has what `search` names chosen by rows held out before the fit: kernel, bandwidth, penalty,
    /// a metric ([`LinearModel::metric`]). What it does not name stays as it is here.
    pub fn search(mut self, search: Search) -> Self {
        self.setup.search = Some(search);
        self
    }

    /// Parts the rows by a tree until at most so many are left in each leaf, which has a model of
    /// its own: [`Leaves`](super::Leaves), with what [`Self::search`] names chosen inside each
    /// leaf.
    ///
    /// ```
    /// use bochner::{models::{Lambda, Search}, prelude::*};
    /// use ndarray::Array;
    /// let x = Array::from_shape_fn((800, 1), |(i, _)| i as f64 / 100.0 - 4.0);
    /// let wave = |x: &f64| if *x < 0.0 { x.sin() } else { (20.0 * x).sin() };
    /// let y: Vec<f64> = x.iter().map(wave).collect();
    /// let chosen = Search { bandwidth: true, lambda: true, ..Search::default() };
    /// let ridge = Ridge::on(Fourier::new(Gaussian).features(60)).search(chosen);
    /// let model = ridge.leaves(200).device(&Device::cpu()).fit((&x, &y))?;
    /// assert_eq!(model.linear().facts["leaves"], 4.0);
    /// let predicted = model.predict(&x)?;
    /// assert!(predicted.iter().zip(&y).all(|(p, y)| (p - y).abs() < 0.05));
    /// # Ok::<(), bochner::Error>(())
    /// ```
    pub fn leaves(mut self, rows: usize) -> Self {
        self.setup.leaves = Some(rows);
        self
    }

    /// Learns a metric from the gradients of the fit, and fits again with a kernel that compares
    /// rows by it, in turn, as long as rows held out gain: recursive feature machines
    /// (Radhakrishnan, Beaglehole, Pandit & Belkin 2024). Bandwidth and penalty are found anew each
    /// time, unless they are given by [`Self::search`].
    ///
    /// ```
    /// use bochner::{metric::Metric, prelude::*};
    /// use ndarray::Array;
    /// let places = |(i, j)| ((7 * i) % [97, 101, 103, 107][j]) as f64 / 100.0;
    /// let x = Array::from_shape_fn((400, 4), places);
    /// let y: Vec<f64> = x.rows().into_iter().map(|x| (6.0 * x[2]).sin()).collect();
    /// let ridge = Ridge::on(Fourier::new(Gaussian).features(100)).metric(Metric::Diagonal);
    /// let model = ridge.device(&Device::cpu()).fit((&x, &y))?;
    /// let metric = model.linear().metric.as_ref().expect("was asked for");
    /// assert!(metric.importance()[2] > 0.9);
    /// # Ok::<(), bochner::Error>(())
    /// ```
    pub fn metric(self, metric: impl Into<MetricOptions>) -> Self {
        self.search(Search {
            bandwidth: true,
            lambda: true,
            metrics: vec![metric.into()],
            metric_required: true,
            ..Search::default()
        })
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
}

impl Fit for RidgeOptions {
    fn of_sums(&self) -> Option<&dyn FitAnySums> {
        Some(self)
    }

    fn takes_weights(&self) -> bool {
        true
    }

    /// Of the sums, or of the eigenvectors that a path of penalties takes.
    /// Conjugate gradients keep targets and products.
    fn row_bytes(&self, outputs: usize) -> usize {
        match self.solver {
            Solver::ConjugateGradients { .. } => 16 * outputs.max(1),
            _ => 0,
        }
    }

    fn square_bytes(&self, _features: usize) -> u32 {
        match (self.solver, &self.lambda) {
            (Solver::Dual | Solver::ConjugateGradients { .. }, _) => 0,
            (_, Lambda::Fixed(_)) => SUM_BYTES,
            (_, Lambda::Best { .. }) => EIGEN_BYTES,
        }
    }

    fn solves_few_rows(&self) -> bool {
        self.solver == Solver::Auto && matches!(self.lambda, Lambda::Fixed(_))
    }

    fn ridge(&self) -> Option<&RidgeOptions> {
        Some(self)
    }

    /// As [`LinearModel::fit`]; with [`Lambda::Best`] errors also with [`Error::Unsupported`] when
    /// the features cannot be stored or conjugate gradients are asked for, which give no path.
    fn fit(&self, map: Box<dyn FeatureMap>, data: FitData<'_>) -> Result<LinearModel> {
        let (intercept, mut solver) = (self.intercept, self.solver);
        let features = map.output_dim();
        if solver == Solver::Auto
            && require_dense(map.as_ref()).is_ok()
            && dual::suits(data.survey.rows, features, data.run)
        {
            solver = Solver::Dual;
        }
        let lambda = match &self.lambda {
            Lambda::Fixed(lambda) => *lambda,
            Lambda::Best { of, by } => {
                if let Solver::ConjugateGradients { .. } = solver {
                    return Err(Error::unsupported(
                        "conjugate gradients solve for one lambda; a choice of several needs the \
                         Gram matrix",
                    ));
                }
                let how = (of.as_slice(), *by, intercept);
                return lambda::fit(map, data.source, data.targets, how, data.run);
            }
        };
        let options = FitOptions {
            lambda,
            intercept,
            solver,
            ..FitOptions::on(data.run)
        };
        LinearModel::fit(map, data.source, data.targets, &options)
    }
}
