//! Learners that grow feature by feature or block by block, beside a fit to all features at once.

use super::{Fit, FitData, FitTimes, Labels, Learner, LinearModel, Numbers};
use crate::{
    Error, Result,
    data::{ChunkSource, Part, Split},
    features::FeatureMap,
    normal::NormalEquations,
    solve::{Boosting, Greedy, Stagewise},
};
use std::time::Instant;

/// A greedy fit to the features of a map (Jones 1992; Barron 1993): step by step the feature that
/// leaves least takes its place beside what was fitted so far, and both are weighed anew. Where
/// [`Ridge`](super::Ridge) fits all features, this takes the best few of a pool.
///
/// ```
/// use bochner::{models::GreedyRegressor, prelude::*};
/// let x = ndarray::Array::from_shape_fn((300, 1), |(i, _)| i as f64 / 60.0);
/// let y = x.column(0).mapv(f64::sin);
/// let pool = Fourier::new(Gaussian).features(400);
/// let model = GreedyRegressor::on(pool).steps(40).fit((&x, &y))?;
/// assert!(model.linear().facts["nonzero_features"] <= 40.0);
/// assert!((model.predict(&x)? - &y).iter().all(|r| r.abs() < 0.1));
/// # Ok::<(), bochner::Error>(())
/// ```
pub type GreedyRegressor = Learner<GreedyOptions, Numbers>;

/// One [`GreedyRegressor`] against +-1 per class, on the same features; the class of the largest
/// value wins.
pub type GreedyClassifier = Learner<GreedyOptions, Labels>;

/// What [`GreedyRegressor`] and [`GreedyClassifier`] have of their own: [`Greedy`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct GreedyOptions {
    /// Most steps, and so the most features with a coefficient.
    pub steps: usize,
    /// Share of the rows that is held out: the step with the least error on them is taken. 0 takes
    /// the last.
    pub held_out: f64,
    /// Whether an intercept is fitted.
    pub intercept: bool,
}

impl Default for GreedyOptions {
    /// 200 steps on all rows, with an intercept.
    fn default() -> Self {
        Self {
            steps: 200,
            held_out: 0.0,
            intercept: true,
        }
    }
}

impl<T> Learner<GreedyOptions, T> {
    /// Most steps; 200 until said otherwise.
    pub fn steps(mut self, steps: usize) -> Self {
        self.own.steps = steps;
        self
    }

    /// Holds out this share of the rows to say when to stop; none, until said otherwise.
    pub fn held_out(mut self, share: f64) -> Self {
        self.own.held_out = share;
        self
    }

    /// Whether an intercept is fitted; it is, until said otherwise.
    pub fn intercept(mut self, intercept: bool) -> Self {
        self.own.intercept = intercept;
        self
    }
}

/// Boosting of squared errors with blocks of random features for weak learners (Friedman 2001;
/// Buhlmann & Yu 2003): what Rahimi & Recht 2008 set their weighted sums beside, for squares. Rows
/// that are held out say when to stop.
///
/// ```
/// use bochner::{models::BoostingRegressor, prelude::*};
/// let x = ndarray::Array::from_shape_fn((300, 1), |(i, _)| i as f64 / 60.0);
/// let y = x.column(0).mapv(f64::sin);
/// let map = Fourier::new(Gaussian).features(200);
/// let model = BoostingRegressor::on(map).block(20).shrinkage(0.3).fit((&x, &y))?;
/// assert!((model.predict(&x)? - &y).iter().all(|r| r.abs() < 0.1));
/// # Ok::<(), bochner::Error>(())
/// ```
pub type BoostingRegressor = Learner<BoostingOptions, Numbers>;

/// One [`BoostingRegressor`] against +-1 per class, on the same blocks; the class of the largest
/// value wins.
pub type BoostingClassifier = Learner<BoostingOptions, Labels>;

/// What [`BoostingRegressor`] and [`BoostingClassifier`] have of their own: [`Boosting`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BoostingOptions {
    /// Features of a block.
    pub block: usize,
    /// How much of a weak learner is added, in (0, 1].
    pub shrinkage: f64,
    /// The penalty per sample of a weak learner, lambda > 0.
    pub lambda: f64,
    /// Most stages.
    pub stages: usize,
    /// Share of the rows that is held out: the stage with the least error on them is taken. 0 takes
    /// the last.
    pub held_out: f64,
    /// Whether an intercept is fitted.
    pub intercept: bool,
}

impl Default for BoostingOptions {
    /// Blocks of 50 features, a tenth of each added, lambda = 1e-6, at most 2000 stages, a fifth of
    /// the rows held out, with an intercept.
    fn default() -> Self {
        Self {
            block: 50,
            shrinkage: 0.1,
            lambda: 1e-6,
            stages: 2000,
            held_out: 0.2,
            intercept: true,
        }
    }
}

impl<T> Learner<BoostingOptions, T> {
    /// Features of a block; 50 until said otherwise.
    pub fn block(mut self, features: usize) -> Self {
        self.own.block = features;
        self
    }

    /// How much of a weak learner is added; 0.1 until said otherwise.
    pub fn shrinkage(mut self, shrinkage: f64) -> Self {
        self.own.shrinkage = shrinkage;
        self
    }

    /// The penalty per sample of a weak learner; 1e-6 until said otherwise.
    pub fn lambda(mut self, lambda: f64) -> Self {
        self.own.lambda = lambda;
        self
    }

    /// Most stages; 2000 until said otherwise.
    pub fn stages(mut self, stages: usize) -> Self {
        self.own.stages = stages;
        self
    }

    /// Holds out this share of the rows to say when to stop; 0.2 until said otherwise.
    pub fn held_out(mut self, share: f64) -> Self {
        self.own.held_out = share;
        self
    }

    /// Whether an intercept is fitted; it is, until said otherwise.
    pub fn intercept(mut self, intercept: bool) -> Self {
        self.own.intercept = intercept;
        self
    }
}

/// Steps without a smaller error on rows held out after which there is none to come.
const PATIENCE: usize = 50;

impl Fit for GreedyOptions {
    fn takes_weights(&self) -> bool {
        true
    }

    /// Errors as [`Greedy::solve`] and [`NormalEquations::accumulate`] do, and with
    /// [`Error::Parameter`] on a share to hold out that is none.
    fn fit(&self, map: Box<dyn FeatureMap>, data: FitData<'_>) -> Result<LinearModel> {
        let greedy = Greedy {
            steps: self.steps,
            intercept: self.intercept,
            patience: PATIENCE,
        };
        let solve =
            |sums: &NormalEquations, held: Option<&NormalEquations>| greedy.solve(sums, held);
        fit(("greedy", "steps"), map, data, (self.held_out, 0.0), &solve)
    }
}

impl Fit for BoostingOptions {
    fn takes_weights(&self) -> bool {
        true
    }

    /// Errors as [`Boosting::solve`] and [`NormalEquations::accumulate`] do, and with
    /// [`Error::Parameter`] on a share to hold out that is none.
    fn fit(&self, map: Box<dyn FeatureMap>, data: FitData<'_>) -> Result<LinearModel> {
        let boosting = Boosting {
            block: self.block,
            shrinkage: self.shrinkage,
            lambda: self.lambda,
            stages: self.stages,
            intercept: self.intercept,
            patience: PATIENCE,
        };
        let solve =
            |sums: &NormalEquations, held: Option<&NormalEquations>| boosting.solve(sums, held);
        let shares = (self.held_out, self.lambda);
        fit(("boosting", "stages"), map, data, shares, &solve)
    }
}

/// A solver of sums, and of those of rows held out.
type Solve<'a> = &'a dyn Fn(&NormalEquations, Option<&NormalEquations>) -> Result<Stagewise>;

/// Sums the rows that are fitted and those that are held out, and solves.
fn fit(
    (learner, stages): (&str, &str),
    map: Box<dyn FeatureMap>,
    data: FitData<'_>,
    (held_out, lambda): (f64, f64),
    solve: Solve<'_>,
) -> Result<LinearModel> {
    let FitData {
        source,
        targets,
        seed,
        run,
        ..
    } = data;
    if !(0.0..1.0).contains(&held_out) {
        return Err(Error::parameter(format!(
            "the share of rows to hold out is {held_out}; it must lie between 0 and 1"
        )));
    }
    let start = Instant::now();
    let sum = |source: &mut dyn ChunkSource| {
        NormalEquations::accumulate(map.as_ref(), source, &targets, run)
    };
    let (sums, held) = match held_out > 0.0 {
        false => (sum(source)?, None),
        true => {
            // Other draws than those that split or sample rows with the same seed.
            let seed = seed.0 ^ u64::from_le_bytes(*b"stages..");
            let part = |part, source: &mut dyn ChunkSource| {
                source.rewind()?;
                sum(&mut Split::new(source, part, held_out, seed)?)
            };
            let fitted = part(Part::Train, &mut *source)?;
            (fitted, Some(part(Part::Test, source)?))
        }
    };
    let accumulate = start.elapsed();
    let start = Instant::now();
    let solved = solve(&sums, held.as_ref())?;
    let rows = solved.coefficients.beta_dt.rows().into_iter();
    let used = rows.filter(|b| b.iter().any(|b| *b != 0.0)).count();
    let mut model = LinearModel {
        learner: learner.into(),
        lambda,
        rows: sums.rows,
        times: Some(FitTimes {
            accumulate,
            solve: start.elapsed(),
        }),
        ..LinearModel::new(map, solved.coefficients, targets, &run.device)
    };
    let facts = [
        (stages, Some(solved.stages as f64)),
        ("nonzero_features", Some(used as f64)),
        ("training_error", Some(solved.error)),
        ("held_out_error", solved.held_out_error),
    ];
    let facts = facts.into_iter();
    let facts = facts.filter_map(|(name, v)| v.map(|v| (name.to_owned(), v)));
    model.facts.extend(facts);
    Ok(model)
}
