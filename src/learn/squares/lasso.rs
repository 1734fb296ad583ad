//! Lasso: least squares with an L1 penalty, which sets most coefficients to 0.

mod problem;

use crate::{
    Result,
    data::Repeats,
    features::{FeatureMap, require_dense},
    learn::{
        Fit, FitAnySums, FitData, FitSums,
        fit::{centred, find_repeats, fit_sums::fit_sums},
        losses::minimise::{absolute, positive},
    },
    model::LinearModel,
    normal::{NormalEquations, SUM_BYTES},
    settings::Settings,
    solve::{Separable, risk::coefficients},
    sums::{ModelContext, Resume, RowsToSum},
};
use problem::{Problem, effective_rows, rounding};
use std::sync::Arc;

/// Options of [`Lasso`](crate::models::Lasso) and
/// [`LassoClassifier`](crate::models::LassoClassifier).
///
/// It minimises `|y - Z beta - b|^2 / (2 n) + l1 |beta|_1 + lambda/2 |beta|^2`, as scikit-learn's
/// Lasso does with `alpha` for l1.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LassoOptions {
    /// The L1 penalty, > 0. `None` chooses it from the sums by a path: from the penalty at which
    /// all coefficients are 0, each penalty is three quarters of the last, and the one with the
    /// least generalised cross-validation error is taken. The path goes down to 1e-4 of the first
    /// penalty, and ends if five penalties in a row were no better, or if more than half as many
    /// coefficients as rows are not 0. Each penalty has at most 1000 sweeps and starts from the
    /// coefficients of the one before.
    pub l1: Option<f64>,
    /// The L2 penalty, >= 0.
    pub lambda: f64,
    /// Whether to fit an intercept, which is not penalised.
    pub intercept: bool,
    /// Convergence threshold: the largest change of a slope in a sweep, relative to the first
    /// sweep.
    pub tolerance: f64,
    /// Maximum number of sweeps over the coefficients. They need no pass over the rows.
    pub max_sweeps: usize,
}

impl Default for LassoOptions {
    /// A chosen l1 without L2 penalty, with an intercept, tolerance 1e-6, at most 100,000 sweeps.
    fn default() -> Self {
        Self {
            l1: None,
            lambda: 0.0,
            intercept: true,
            tolerance: 1e-6,
            max_sweeps: 100_000,
        }
    }
}

impl LassoOptions {
    /// Errors with [`Error::Parameter`] on options outside their domain.
    fn check(&self) -> Result<()> {
        let l1 = self.l1.unwrap_or(1.0);
        positive("l1", l1)?;
        positive("the tolerance", self.tolerance)?;
        absolute(self.lambda, l1).map(drop)
    }
}

impl Fit for LassoOptions {
    fn settings(&self) -> Settings {
        Settings::of_learner("lasso")
            .maybe("l1", self.l1)
            .number("lambda", self.lambda)
            .flag("no-intercept", !self.intercept)
            .number("tolerance", self.tolerance)
            .text("iterations", self.max_sweeps)
    }

    fn has_options_in_target_units(&self) -> bool {
        self.l1.is_some()
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

    /// Errors with [`Error::Parameter`](crate::Error::Parameter) on options outside their domain,
    /// with [`Error::Unsupported`](crate::Error::Unsupported) for maps whose features cannot be
    /// stored, and as [`NormalEquations::accumulate`] does. Classes are fitted as +-1, one against
    /// all.
    fn fit(&self, map: Box<dyn FeatureMap>, data: FitData<'_>) -> Result<LinearModel> {
        // Squares of targets far from 0 lose the digits by which the penalty is chosen.
        centred::fit(self.intercept, map, data, |map, data| {
            if self.l1.is_some() {
                return fit_sums(self, map, data);
            }
            let repeats = find_repeats(&mut *data.source, data.run)?;
            Counted(self, repeats).fit(map, data)
        })
    }
}

impl LassoOptions {
    /// Fits sums of `n` observations.
    fn solve(
        &self,
        map: Box<dyn FeatureMap>,
        (sums, n): (NormalEquations, f64),
        known: ModelContext<'_>,
    ) -> Result<LinearModel> {
        self.check()?;
        let rows = sums.rows;
        // A path may end at penalties below the rounding of the sums, where nothing else bounds the
        // coefficients.
        let lambda = match self.l1 {
            Some(_) => self.lambda,
            None => self.lambda.max(rounding(&sums)),
        };
        let problem = Problem::from_sums(sums, n, lambda, self.intercept);
        let mut at = problem.zero();
        let chosen = self.l1.is_none().then(|| problem.choose());
        let l1 = match (&chosen, self.l1) {
            (Some(chosen), _) => {
                at.beta_td.assign(&chosen.beta_td);
                chosen.l1
            }
            (None, given) => given.unwrap_or_default(),
        };
        let stop = (self.tolerance, self.max_sweeps);
        let cost = Separable::Absolute(l1);
        let (most, done) = problem.minimise(cost, &mut at.beta_td, stop);
        // A chosen penalty was evaluated with its coefficients at the limit of sweeps.
        if !done && chosen.is_none() {
            log::warn!("lasso: {most} sweeps did not reach the tolerance");
        }
        let objective = problem.objective(&at.beta_td, l1);
        let coefficients = coefficients(&at, problem.mean_d());
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
        if let Some(chosen) = chosen {
            model.facts.insert("l1".into(), l1);
            let r2 = 1.0 - chosen.error;
            model.facts.insert("estimated_r2".into(), r2);
        }
        Ok(model)
    }
}

impl FitSums for LassoOptions {
    type Sums = NormalEquations;

    fn sum_on(
        &self,
        map: &dyn FeatureMap,
        data: RowsToSum<'_>,
        resume: Resume<'_, NormalEquations>,
    ) -> Result<NormalEquations> {
        // Checks the options before the pass.
        self.check()?;
        require_dense(map)?;
        NormalEquations::of_part(map, data.source, data.targets, data.run, resume)
    }

    fn model(
        &self,
        map: Box<dyn FeatureMap>,
        sums: NormalEquations,
        known: ModelContext<'_>,
    ) -> Result<LinearModel> {
        let n = effective_rows(&sums);
        self.solve(map, (sums, n), known)
    }
}

/// A lasso that counts observations by the known copies and frequencies of rows.
#[derive(Debug)]
struct Counted<'a>(&'a LassoOptions, Arc<Repeats>);

impl Fit for Counted<'_> {
    fn fit(&self, map: Box<dyn FeatureMap>, data: FitData<'_>) -> Result<LinearModel> {
        fit_sums(self, map, data)
    }
}

impl FitSums for Counted<'_> {
    type Sums = NormalEquations;

    fn sum_on(
        &self,
        map: &dyn FeatureMap,
        data: RowsToSum<'_>,
        resume: Resume<'_, NormalEquations>,
    ) -> Result<NormalEquations> {
        self.0.sum_on(map, data, resume)
    }

    fn model(
        &self,
        map: Box<dyn FeatureMap>,
        sums: NormalEquations,
        known: ModelContext<'_>,
    ) -> Result<LinearModel> {
        let n = self.1.effective_rows(sums.weight, effective_rows(&sums));
        self.0.solve(map, (sums, n), known)
    }
}
