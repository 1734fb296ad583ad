//! Least squares with a penalty of absolute values, which most coefficients do not outweigh.

use super::{
    Fit, FitAnySums, FitData, FitSums, Known, Labels, Learner, LinearModel, Numbers, Summed,
    growing::fit_sums, logistic::absolute, minimise::positive,
};
use crate::{
    Error, Result,
    features::{FeatureMap, require_dense},
    normal::{NormalEquations, SUM_BYTES},
    settings::Settings,
    solve::{
        Quadratic, Separable,
        metric::{Covariance, Point},
        risk::coefficients,
    },
};

/// Sparse least squares on random features, of one target or of several: the lasso (Tibshirani
/// 1996), and with `lambda` beside it the elastic net (Zou & Hastie 2005). One pass over the rows;
/// coordinate descent on the sums finds the rest, and [`Learner::start`] keeps them.
///
/// ```
/// use bochner::prelude::*;
/// use bochner::models::Lasso;
/// let x = ndarray::Array::from_shape_fn((200, 1), |(i, _)| i as f64 / 40.0);
/// let y = x.column(0).mapv(f64::sin);
/// let model = Lasso::on(Fourier::new(Gaussian).features(200)).l1(1e-3).fit((&x, &y))?;
/// let used = model.linear().facts["nonzero_coefficients"];
/// assert!(used < 100.0 && (model.predict(&x)? - &y).iter().all(|r| r.abs() < 0.1));
/// # Ok::<(), bochner::Error>(())
/// ```
pub type Lasso = Learner<LassoOptions, Numbers>;

/// One [`Lasso`] against +-1 per class; the class of the largest value wins.
pub type LassoClassifier = Learner<LassoOptions, Labels>;

/// What [`Lasso`] and [`LassoClassifier`] have of their own.
///
/// It minimises `|y - Z beta - b|^2 / (2 n) + l1 |beta|_1 + lambda/2 |beta|^2`, as scikit-learn's
/// Lasso does with `alpha` for l1.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LassoOptions {
    /// The penalty of absolute values, > 0.
    pub l1: f64,
    /// The penalty of squares, 0 or more.
    pub lambda: f64,
    /// Whether an intercept is fitted, which is never penalised.
    pub intercept: bool,
    /// Done when a sweep over all coefficients changes no slope by more than this share of the
    /// first.
    pub tolerance: f64,
    /// Most sweeps over the coefficients. They are cheap, and need no rows.
    pub max_sweeps: usize,
}

impl Default for LassoOptions {
    /// l1 = 1e-3 without lambda, an intercept, tolerance 1e-6 in 100,000 sweeps at most.
    fn default() -> Self {
        Self {
            l1: 1e-3,
            lambda: 0.0,
            intercept: true,
            tolerance: 1e-6,
            max_sweeps: 100_000,
        }
    }
}

impl<T> Learner<LassoOptions, T> {
    /// The penalty of absolute values; 1e-3 until said otherwise.
    pub fn l1(mut self, l1: f64) -> Self {
        self.job.learner.l1 = l1;
        self
    }

    /// The penalty of squares; 0 until said otherwise.
    pub fn lambda(mut self, lambda: f64) -> Self {
        self.job.learner.lambda = lambda;
        self
    }

    /// Whether an intercept is fitted; it is, until said otherwise.
    pub fn intercept(mut self, intercept: bool) -> Self {
        self.job.learner.intercept = intercept;
        self
    }

    /// The change of slopes at which sweeps end, as a share of the first; 1e-6 until said
    /// otherwise.
    pub fn tolerance(mut self, tolerance: f64) -> Self {
        self.job.learner.tolerance = tolerance;
        self
    }

    /// Most sweeps over the coefficients; 100,000 until said otherwise.
    pub fn max_sweeps(mut self, sweeps: usize) -> Self {
        self.job.learner.max_sweeps = sweeps;
        self
    }
}

impl LassoOptions {
    /// Errors with [`Error::Parameter`] on options outside their domain; what each coefficient
    /// costs.
    fn cost(&self) -> Result<Separable> {
        positive("l1", self.l1)?;
        positive("the tolerance", self.tolerance)?;
        let cost = absolute(self.lambda, self.l1)?;
        cost.ok_or_else(|| Error::parameter("l1 is 0; the lasso needs a penalty"))
    }
}

impl Fit for LassoOptions {
    fn settings(&self) -> Settings {
        Settings::of_learner("lasso")
            .number("l1", self.l1)
            .number("lambda", self.lambda)
            .flag("no-intercept", !self.intercept)
            .number("tolerance", self.tolerance)
            .text("iterations", self.max_sweeps)
    }

    fn square_bytes(&self, _features: usize) -> u32 {
        SUM_BYTES
    }

    fn of_sums(&self) -> Option<&dyn FitAnySums> {
        Some(self)
    }

    fn takes_weights(&self) -> bool {
        true
    }

    /// Errors with [`Error::Parameter`] on options outside their domain, with
    /// [`Error::Unsupported`] for maps whose features cannot be stored, and as
    /// [`NormalEquations::accumulate`] does. Classes are fitted as +-1, one against all.
    fn fit(&self, map: Box<dyn FeatureMap>, data: FitData<'_>) -> Result<LinearModel> {
        fit_sums(self, map, data)
    }
}

impl FitSums for LassoOptions {
    type Sums = NormalEquations;

    fn sum(&self, map: &dyn FeatureMap, data: Summed<'_>) -> Result<NormalEquations> {
        // What is wrong with the options is known before the pass.
        self.cost()?;
        require_dense(map)?;
        NormalEquations::of_part(map, data.source, data.targets, data.run)
    }

    fn model(
        &self,
        map: Box<dyn FeatureMap>,
        sums: NormalEquations,
        known: Known<'_>,
    ) -> Result<LinearModel> {
        let cost = self.cost()?;
        let (rows, n) = (sums.rows, sums.weight);
        let y_mean_t = &sums.y_sum_t / n;
        let y_square_t = &sums.y_square_t / n;
        let mut c_dt = &sums.zty_dt / n;
        let covariance = Covariance::of_sums(sums, self.intercept);
        let (quadratic, mean_d) = Quadratic::of(covariance, 1.0, self.lambda);
        let mut at = Point::zero(c_dt.ncols(), mean_d.len());
        let (mut most, mut objective) = (0, 0.0);
        for (k, mut c) in c_dt.columns_mut().into_iter().enumerate() {
            let mut variance = y_square_t[k];
            if self.intercept {
                at.intercept_t[k] = y_mean_t[k];
                c.scaled_add(-y_mean_t[k], &mean_d);
                variance -= y_mean_t[k] * y_mean_t[k];
            }
            let c = c.to_owned();
            let mut x = at.beta_td.row_mut(k);
            let stop = (self.tolerance, self.max_sweeps);
            let (sweeps, done) = quadratic.minimise(&c, cost, &mut x, stop);
            if !done {
                log::warn!("lasso: {sweeps} sweeps did not reach the tolerance");
            }
            most = most.max(sweeps);
            let x = x.to_owned();
            objective += 0.5 * variance + 0.5 * x.dot(&quadratic.times(&x)) - c.dot(&x)
                + self.l1 * x.iter().map(|x| x.abs()).sum::<f64>();
        }
        let coefficients = coefficients(&at, &mean_d);
        let kept = coefficients.beta_dt.iter().filter(|b| **b != 0.0).count();
        let targets = known.targets.clone();
        let mut model = LinearModel {
            learner: "lasso".into(),
            lambda: self.lambda,
            rows,
            ..LinearModel::new(map, coefficients, targets, &known.run.device)
        };
        let facts = [
            ("sweeps", most as f64),
            ("objective", objective),
            ("nonzero_coefficients", kept as f64),
        ];
        model
            .facts
            .extend(facts.map(|(name, v)| (name.to_owned(), v)));
        Ok(model)
    }
}
