//! Builders of ridge regression.

use crate::{
    door::learner::{Labels, Learner, Numbers},
    learn::{Lambda, RidgeOptions, Search, Solver, metric::MetricOptions},
    model::HeldOut,
    solve::Intercept,
};

/// Approximate kernel ridge regression: ridge regression on random features, for one or several
/// targets.
///
/// It minimises, for each target,
///
/// ```text
/// sum_i w_i (y_i - z(x_i)'beta - b)^2 / sum_i w_i + lambda |beta|^2
/// ```
///
/// where z is the feature map and w_i are the weights of the rows. By default the intercept b is
/// not penalised, and lambda is selected by leave-one-out errors ([`Lambda::Usual`]).
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

/// Ridge classification: for each class a [`Ridge`] regression whose targets are 1 for rows of the
/// class and -1 for others. It predicts the class with the largest value. Labels are text,
/// integers, floats or booleans, and predictions have the same type.
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

impl<T> Learner<RidgeOptions, T> {
    /// Penalty lambda of the squared coefficients, per sample: a positive number, or [`Lambda`] for
    /// its selection. Default: [`Lambda::Usual`].
    pub fn lambda(mut self, lambda: impl Into<Lambda>) -> Self {
        self.job.learner.lambda = lambda.into();
        self
    }

    /// Selects the penalty from these candidates by leave-one-out errors, which
    /// [`LinearModel::lambda_curve`](crate::models::LinearModel::lambda_curve) stores.
    /// [`Lambda::Best`] can select by other validation errors.
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

    /// Selects hyperparameters on a hold-out set before the fit: kernel, bandwidth, penalty or
    /// metric ([`LinearModel::metric`](crate::models::LinearModel::metric)), as `search` specifies.
    /// Others keep the values of this builder. Default: no search.
    pub fn search(mut self, search: Search) -> Self {
        self.job.search = Some(search);
        self
    }

    /// Partitions the rows by a tree with at most `rows` rows in each leaf, and fits a model in
    /// each leaf ([`Leaves`](crate::models::Leaves)), with the hyperparameters of [`Self::search`]
    /// selected per leaf. Default: no tree.
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

    /// Alternates between learning a metric from the gradients of the fit, and fitting with a
    /// kernel of that metric, as long as the hold-out error decreases: recursive feature machines
    /// (Radhakrishnan, Beaglehole, Pandit & Belkin 2024). Bandwidth and penalty are selected again
    /// each time; use [`Self::search`] instead to fix them.
    ///
    /// ```
    /// use bochner::{models::Metric, prelude::*};
    /// use ndarray::Array;
    /// let places = |(i, j)| ((7 * i) % [97, 101, 103, 107][j]) as f64 / 100.0;
    /// let x = Array::from_shape_fn((400, 4), places);
    /// let noise = (0..400).map(|i| (i * 29 % 23) as f64 / 110.0 - 0.1);
    /// let wave = |(x, noise): (ndarray::ArrayView1<f64>, f64)| (6.0 * x[2]).sin() + noise;
    /// let y: Vec<f64> = x.rows().into_iter().zip(noise).map(wave).collect();
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

    /// Whether to fit an intercept, as a `bool` or [`Intercept`]. Default: an intercept without a
    /// penalty. A penalised intercept requires [`Solver::Auto`] or [`Solver::Cholesky`], and a map
    /// without binning.
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

    /// Solver of the normal equations. Default: [`Solver::Auto`].
    pub fn solver(mut self, solver: Solver) -> Self {
        self.job.learner.solver = solver;
        self
    }
}
