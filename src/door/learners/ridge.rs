//! Builders of ridge regression.

use crate::{
    door::learner::{Labels, Learner, Numbers},
    learn::{Lambda, RidgeOptions, Search, Solver, metric::MetricOptions},
    model::HeldOut,
    solve::Intercept,
};

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

impl<T> Learner<RidgeOptions, T> {
    /// The penalty per sample, a number or [`Lambda`]; [`Lambda::Usual`] until said
    /// otherwise.
    pub fn lambda(mut self, lambda: impl Into<Lambda>) -> Self {
        self.job.learner.lambda = lambda.into();
        self
    }

    /// Fits with the best of these penalties by leave-one-out errors, which
    /// [`LinearModel::lambda_curve`](crate::models::LinearModel::lambda_curve) keeps;
    /// [`Lambda::Best`] chooses by others.
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
    /// a metric ([`LinearModel::metric`](crate::models::LinearModel::metric)). What it does not
    /// name stays as it is here.
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
