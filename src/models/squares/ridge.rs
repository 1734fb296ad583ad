//! Ridge regression and ridge classification on random features.

mod choice;
mod solver;
mod sums;
#[cfg(test)]
mod tests;

use choice::WALK_BYTES;
pub(in crate::models) use choice::relative;
pub use solver::{FitOptions, FitTimes, Solver};
pub use sums::RidgeSums;

use crate::models::{
    Fit, FitAnySums, FitData, HeldOut, Labels, Lambda, Learner, LinearModel, Numbers, Search,
    choose::metric::MetricOptions, squares::dual, squares::lambda, sums::growing::fit_sums,
};
use crate::{
    Error, Result,
    data::{KeptRows, Survey},
    features::{FeatureMap, require_dense},
    linalg::eigen::EIGEN_BYTES,
    normal::{SUM_BYTES, Targets},
    settings::Settings,
    solve::Intercept,
};

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
    /// Whether an intercept is fitted.
    pub intercept: bool,
    /// Whether it has the penalty of the coefficients, as if it were that of a feature that is 1.
    pub penalised: bool,
    /// How coefficients are found.
    pub solver: Solver,
}

impl RidgeOptions {
    /// The intercept.
    pub(in crate::models) fn added(&self) -> Intercept {
        match (self.intercept, self.penalised) {
            (false, _) => Intercept::None,
            (true, false) => Intercept::Free,
            (true, true) => Intercept::Penalised,
        }
    }
}

impl Default for RidgeOptions {
    /// [`Lambda::Usual`] with an intercept, [`Solver::Auto`].
    fn default() -> Self {
        Self {
            lambda: Lambda::Usual,
            intercept: true,
            penalised: false,
            solver: Solver::Auto,
        }
    }
}

impl<T> Learner<RidgeOptions, T> {
    /// The penalty per sample, a number or [`Lambda`]; [`Lambda::Usual`] until said
    /// otherwise.
    pub fn lambda(mut self, lambda: impl Into<Lambda>) -> Self {
        self.job.learner.lambda = lambda.into();
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
        self.job.search = Some(search);
        self
    }

    /// Parts the rows by a tree until at most so many are left in each leaf, which has a model of
    /// its own: [`Leaves`](crate::models::Leaves), with what [`Self::search`] names chosen inside
    /// each leaf.
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
        self.job.leaves = Some(rows);
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

    /// Whether an intercept is fitted, a `bool` or [`Intercept`]; it is, and no penalty holds it
    /// back, until said otherwise. One that is penalised is solved by sums alone.
    ///
    /// ```
    /// use bochner::{prelude::*, solve::Intercept};
    /// let x = ndarray::Array::from_shape_fn((200, 1), |(i, _)| i as f64 / 20.0);
    /// let y: Vec<_> = x.iter().map(|x| 5.0 + x.sin()).collect();
    /// let ridge = Ridge::on(Fourier::new(Gaussian).features(64)).lambda(1.0);
    /// let intercept = |of| {
    ///     let model = ridge.clone().intercept(of).fit((&x, &y))?;
    ///     Ok::<_, bochner::Error>(model.linear().coefficients.intercept_t[0])
    /// };
    /// assert!(intercept(Intercept::Penalised)? < intercept(Intercept::Free)?);
    /// # Ok::<(), bochner::Error>(())
    /// ```
    pub fn intercept(mut self, intercept: impl Into<Intercept>) -> Self {
        let intercept = intercept.into();
        self.job.learner.intercept = intercept != Intercept::None;
        self.job.learner.penalised = intercept == Intercept::Penalised;
        self
    }

    /// How coefficients are found; [`Solver::Auto`] until said otherwise.
    pub fn solver(mut self, solver: Solver) -> Self {
        self.job.learner.solver = solver;
        self
    }
}

impl Fit for RidgeOptions {
    fn takes_line(&self) -> bool {
        true
    }

    fn is_least_squares(&self) -> bool {
        true
    }

    fn penalties(&self) -> Option<&[f64]> {
        self.lambda.given()
    }

    fn settings(&self) -> Settings {
        let settings = self.lambda.said(Settings::of_learner("ridge"));
        let settings = settings
            .flag("no-intercept", !self.intercept)
            .flag("penalised-intercept", self.penalised);
        match self.solver {
            Solver::Auto => settings.text("solver", "auto"),
            Solver::Cholesky => settings.text("solver", "cholesky"),
            Solver::Dual => settings.text("solver", "dual"),
            Solver::ConjugateGradients {
                tolerance,
                max_iterations,
            } => settings
                .text("solver", "cg")
                .number("tolerance", tolerance)
                .text("iterations", max_iterations),
        }
    }

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
            (_, lambda) if lambda.goes_by_sums() => WALK_BYTES,
            _ => EIGEN_BYTES,
        }
    }

    fn kept_bytes(&self, size: (usize, usize), rows: Option<usize>) -> u64 {
        let kept = self.lambda.rows_kept(size).unwrap_or(0);
        let kept = kept.min(rows.unwrap_or(kept));
        (kept * KeptRows::row_bytes(size)) as u64
    }

    fn solves_few_rows(&self) -> bool {
        let solver = matches!(self.solver, Solver::Auto | Solver::Dual);
        let settles = matches!(self.lambda, Lambda::Fixed(_) | Lambda::Usual);
        solver && !self.penalised && settles
    }

    fn ridge(&self) -> Option<&RidgeOptions> {
        Some(self)
    }

    /// As [`LinearModel::fit`]; with [`Lambda::Best`] errors also with [`Error::Unsupported`] when
    /// the features cannot be stored or conjugate gradients are asked for, which give no path.
    fn fit(&self, map: Box<dyn FeatureMap>, data: FitData<'_>) -> Result<LinearModel> {
        let (intercept, mut solver) = (self.added(), self.solver);
        let features = map.output_dim();
        if intercept == Intercept::Penalised {
            let direct = matches!(solver, Solver::Auto | Solver::Cholesky);
            if !direct || require_dense(map.as_ref()).is_err() {
                return Err(Error::unsupported(
                    "a penalised intercept takes the Cholesky solver and a map without binning; \
                     use these, or an intercept that is not penalised",
                ));
            }
            solver = Solver::Cholesky;
        }
        let dense = require_dense(map.as_ref()).is_ok();
        let suits = || dual::suits(data.survey.rows, features, data.run);
        let chooses = || dual::has_room_to_choose(data.survey.rows, features, data.run);
        if solver == Solver::Auto && dense && suits() {
            solver = Solver::Dual;
        }
        let direct = matches!(solver, Solver::Auto | Solver::Cholesky);
        let lambda = match &self.lambda {
            Lambda::Usual if dense && direct => return fit_sums(self, map, data),
            Lambda::Usual if dense && solver == Solver::Dual && chooses() => {
                let lambdas = lambda::ascending(&self.lambda.candidates().unwrap_or_default())?;
                let how = (lambdas.as_slice(), self.intercept);
                return dual::choose(map, data.source, &data.targets, how, data.run);
            }
            Lambda::Fixed(_) | Lambda::Usual => self.lambda.fixed()?,
            Lambda::Best { .. } if !direct && solver != Solver::Dual => {
                return Err(Error::unsupported(
                    "conjugate gradients solve for one lambda; a choice of several needs the Gram \
                     matrix",
                ));
            }
            lambda @ Lambda::Best { .. } if lambda.goes_by_sums() => {
                return fit_sums(self, map, data);
            }
            Lambda::Best { of, by } => {
                let how = (of.as_slice(), *by, intercept);
                return lambda::fit(map, data.source, data.targets, how, data.run);
            }
        };
        if intercept == Intercept::Penalised {
            let (source, targets) = (data.source, data.targets);
            return LinearModel::fit_by_sums(map, source, targets, (lambda, intercept), data.run);
        }
        let options = FitOptions {
            lambda,
            intercept: self.intercept,
            solver,
            ..FitOptions::on(data.run)
        };
        LinearModel::fit(map, data.source, data.targets, &options)
    }
}
