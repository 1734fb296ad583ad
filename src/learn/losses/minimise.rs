//! Shared solver setup of learners with a loss: from a loss and a penalty to a model.

use crate::{
    Error, Result,
    clock::Instant,
    features::{FeatureMap, require_dense},
    flow::Run,
    learn::{ClassWeights, FitData, fit::passes::Passes},
    model::{Coefficients, FitTimes, LinearModel, Targets},
    progress::Step,
    solve::{
        Accelerated, Admm, Quadratic, QuasiNewton, Reached, Separable,
        loss::{KinkedLoss, SmoothLoss},
        preconditioner::{Covariance, Spread},
        risk::{Risk, RowLoss, centred},
    },
};
use ndarray::Array1;

/// Methods of [`Fit`](crate::learn::Fit) shared by all learners that minimise a loss plus an L2
/// penalty.
macro_rules! minimises {
    () => {
        fn takes_line(&self) -> bool {
            true
        }

        fn takes_weights(&self) -> bool {
            true
        }

        fn takes_start(&self) -> bool {
            true
        }

        fn row_bytes(&self, outputs: usize) -> usize {
            $crate::learn::fit::passes::loss_bytes(outputs)
        }
    };
}
pub(in crate::learn) use minimises;

/// Stopping rule of a solver.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Stopping {
    /// Relative tolerance: the gradient for smooth losses, the primal and dual residuals for losses
    /// with a kink, each relative to its start.
    pub tolerance: f64,
    /// Maximum number of passes over the rows. A solver that has not converged by then logs a
    /// warning and returns its current coefficients.
    pub max_passes: usize,
}

impl Stopping {
    /// Default: at most 1000 passes and a tolerance of 1e-4 for smooth losses (1e-3 would leave
    /// several per cent of the objective at small penalties), 1e-3 for others.
    pub(super) fn usual(smooth: bool) -> Self {
        Self {
            tolerance: if smooth { 1e-4 } else { 1e-3 },
            max_passes: 1000,
        }
    }

    pub(in crate::learn) fn check(&self) -> Result<()> {
        positive("the tolerance", self.tolerance)?;
        match self.max_passes {
            0 => Err(Error::parameter(
                "the number of passes is 0; use at least 1",
            )),
            _ => Ok(()),
        }
    }
}

/// Errors unless a parameter is positive and finite.
pub(in crate::learn) fn positive(name: &str, value: f64) -> Result<()> {
    if value > 0.0 && value.is_finite() {
        Ok(())
    } else {
        Err(Error::parameter(format!(
            "{name} is {value}; it must be positive and finite"
        )))
    }
}

/// Errors unless a parameter is 0 or positive, and finite.
pub(in crate::learn) fn not_negative(name: &str, value: f64) -> Result<()> {
    if value >= 0.0 && value.is_finite() {
        Ok(())
    } else {
        Err(Error::parameter(format!(
            "{name} is {value}; it must be 0 or positive, and finite"
        )))
    }
}

/// Bound on the coefficients of D features of the size `1 / sqrt(D)`, if any; without one the L2
/// penalty must be positive.
pub(in crate::learn) fn bounded(
    bound: Option<f64>,
    lambda: f64,
    features: usize,
) -> Result<Option<Separable>> {
    let Some(bound) = bound else {
        return positive("lambda", lambda).map(|()| None);
    };
    positive("the bound", bound)?;
    not_negative("lambda", lambda)?;
    Ok(Some(Separable::Bound(bound / (features as f64).sqrt())))
}

/// The L1 penalty, if any; without one the L2 penalty must be positive.
pub(in crate::learn) fn absolute(lambda: f64, l1: f64) -> Result<Option<Separable>> {
    if l1 == 0.0 {
        return positive("lambda", lambda).map(|()| None);
    }
    positive("l1", l1)?;
    not_negative("lambda", lambda).map(|()| Some(Separable::Absolute(l1)))
}

/// Loss over all outputs.
pub(in crate::learn) enum AnyLoss {
    Smooth(RowLoss),
    Kinked {
        loss: Box<dyn KinkedLoss>,
        /// Approximate slope of the loss divided by the size of the scores.
        stiffness: f64,
        /// Linear cost of the intercept.
        tilt: f64,
    },
}

impl AnyLoss {
    /// A smooth loss, applied to each output separately.
    pub(super) fn smooth(loss: impl SmoothLoss + 'static) -> Self {
        Self::Smooth(RowLoss::Each(Box::new(loss)))
    }

    /// A loss with a kink, applied to each output separately, and its slope.
    pub(super) fn kinked(loss: impl KinkedLoss + 'static, slope: f64) -> Self {
        Self::Kinked {
            loss: Box::new(loss),
            stiffness: slope,
            tilt: 0.0,
        }
    }
}

/// `mean loss + lambda/2 |beta|^2`, plus an optional separable cost of the coefficients.
pub(in crate::learn) struct Objective<'a> {
    pub(in crate::learn) loss: AnyLoss,
    pub(in crate::learn) lambda: f64,
    pub(in crate::learn) cost: Option<Separable>,
    pub(in crate::learn) intercept: bool,
    pub(in crate::learn) weights: &'a ClassWeights,
    pub(in crate::learn) stopping: Stopping,
    /// Warm start; zero if `None`.
    pub(in crate::learn) start: Option<Coefficients>,
    /// Whether to suppress the warning about too few passes.
    pub(in crate::learn) quiet: bool,
}

impl Objective<'_> {
    /// Minimises and returns the model under the name of its learner, with one column of
    /// coefficients per output. Without `targets`, only the rows are used.
    pub(in crate::learn) fn minimise(
        self,
        learner: &str,
        map: Box<dyn FeatureMap>,
        data: FitData<'_>,
        targets: Option<Targets>,
    ) -> Result<LinearModel> {
        self.stopping.check()?;
        // These solvers need the full covariance of the features.
        if self.cost.is_some() || matches!(self.loss, AnyLoss::Kinked { .. }) {
            require_dense(map.as_ref())?;
        }
        self.check_start(learner, map.as_ref(), targets.as_ref())?;
        let run = data.run;
        let start = Instant::now();
        let how = (self.intercept, self.weights);
        let mut returning = Passes::open(map.as_ref(), data.source, targets.as_ref(), how, run)?;
        let accumulate = start.elapsed();
        let start = Instant::now();
        let hear = &mut |passes, residual| run.say(Step::Iteration(passes, residual));
        let rows = returning.rows.rows as u64;
        let quiet = self.quiet;
        let reached = self.solve(&mut returning, run, hear)?;
        drop(returning);
        if !reached.converged && !quiet {
            log::warn!(
                "{learner}: {} passes left a relative residual of {:.1e}; the tolerance is {:.1e}",
                reached.passes,
                reached.residual,
                self.stopping.tolerance
            );
        }
        let targets = targets.unwrap_or(data.targets);
        let mut model = LinearModel {
            learner: learner.into(),
            lambda: self.lambda,
            rows,
            times: Some(FitTimes {
                accumulate,
                solve: start.elapsed(),
            }),
            ..LinearModel::new(map, reached.coefficients, targets, &run.device)
        };
        let facts = [
            ("passes", reached.passes as f64),
            ("residual", reached.residual),
            ("objective", reached.objective),
        ];
        model
            .facts
            .extend(facts.map(|(name, v)| (name.to_owned(), v)));
        if self.cost.is_some() {
            let beta = &model.coefficients.beta_dt;
            let kept = beta.iter().filter(|b| **b != 0.0).count();
            model
                .facts
                .insert("nonzero_coefficients".into(), kept as f64);
        }
        Ok(model)
    }

    /// Errors unless the warm start has the shape of the map and outputs, and the solver supports
    /// one.
    fn check_start(
        &self,
        learner: &str,
        map: &dyn FeatureMap,
        targets: Option<&Targets>,
    ) -> Result<()> {
        let Some(start) = &self.start else {
            return Ok(());
        };
        if self.cost.is_some() || matches!(self.loss, AnyLoss::Kinked { .. }) {
            return Err(Error::unsupported(format!(
                "{learner} goes on from a model for smooth losses without l1 or a bound only; fit \
                 all rows anew"
            )));
        }
        let outputs = match targets {
            Some(Targets::Classes(labels)) if labels.len() == 2 => 1,
            targets => targets.map_or(0, Targets::outputs),
        };
        if start.beta_dt.dim() == (map.output_dim(), outputs) {
            Ok(())
        } else {
            Err(Error::shape(format!(
                "a model of {:?} coefficients is no start for {:?}",
                start.beta_dt.dim(),
                (map.output_dim(), outputs)
            )))
        }
    }

    fn solve(
        &self,
        returning: &mut Passes<'_>,
        run: &Run,
        hear: &mut dyn FnMut(usize, f64),
    ) -> Result<Reached> {
        match (&self.loss, self.cost) {
            (AnyLoss::Smooth(loss), None) => self.by_quasi_newton(loss, returning, run, hear),
            (AnyLoss::Smooth(loss), Some(cost)) => {
                self.by_proximal_newton(loss, cost, returning, hear)
            }
            (
                AnyLoss::Kinked {
                    loss,
                    stiffness,
                    tilt,
                },
                cost,
            ) => {
                let Passes {
                    features,
                    covariance,
                    rows,
                } = returning;
                let solver = Admm {
                    lambda: self.lambda,
                    intercept: self.intercept,
                    tilt: *tilt,
                    cost,
                    stiffness: *stiffness,
                    tolerance: self.stopping.tolerance,
                    max_passes: self.stopping.max_passes,
                };
                solver.solve(features, (rows, loss.as_ref()), covariance, hear)
            }
        }
    }

    /// Smooth loss with an L2 penalty only.
    fn by_quasi_newton(
        &self,
        loss: &RowLoss,
        returning: &mut Passes<'_>,
        run: &Run,
        hear: &mut dyn FnMut(usize, f64),
    ) -> Result<Reached> {
        let Passes {
            features,
            covariance,
            rows,
        } = returning;
        let Self {
            lambda, intercept, ..
        } = *self;
        let curvature = loss.curvature_at_zero(rows.targets.outputs());
        let preconditioner = covariance.preconditioner(curvature, lambda)?;
        let start = self.start.as_ref();
        let start = start.map(|start| centred(start, &covariance.mean_d));
        let mut risk = Risk::new(features, rows, loss, covariance, (lambda, intercept));
        let solver = QuasiNewton {
            start,
            tolerance: self.stopping.tolerance,
            max_passes: self.stopping.max_passes,
            device: run.device.clone(),
            // If memory is bounded, chunks use the other half.
            memory: match run.memory {
                Run::DEFAULT_MEMORY => u64::MAX,
                bound => bound / 2,
            },
        };
        solver.solve(&mut risk, &preconditioner, hear)
    }

    /// Smooth loss with a separable cost of the coefficients; consumes the covariance.
    fn by_proximal_newton(
        &self,
        loss: &RowLoss,
        cost: Separable,
        returning: &mut Passes<'_>,
        hear: &mut dyn FnMut(usize, f64),
    ) -> Result<Reached> {
        let Passes {
            features,
            covariance,
            rows,
        } = returning;
        let Self {
            lambda, intercept, ..
        } = *self;
        let means = covariance.mean_d.clone();
        let taken = std::mem::replace(
            covariance,
            Covariance {
                mean_d: means,
                spread: Spread::Alone(Array1::zeros(0)),
            },
        );
        let (quadratic, _) = Quadratic::from_covariance(taken, loss.curvature(), lambda);
        let mut risk = Risk::new(features, rows, loss, covariance, (lambda, intercept));
        let solver = Accelerated {
            cost,
            tolerance: self.stopping.tolerance,
            max_passes: self.stopping.max_passes,
        };
        solver.solve(&mut risk, &quadratic, hear)
    }
}
