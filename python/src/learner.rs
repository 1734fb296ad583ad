//! Learners by name, and their options from Python options.

use crate::{calls::exception, options::Options};
use bochner::Error;
use bochner::features::Additive;
use bochner::job::Job;
use bochner::models::{
    ClassWeights, Fit, GaussianProcessOptions, HeldOut, KMeansOptions, Lambda, LassoOptions,
    Lengthscales, LogisticOptions, MarginLoss, ResidualLoss, ResidualOptions, RidgeOptions,
    RowWeights, Solver, SpectralClusteringOptions, Stopping, SupportVectorOptions,
};
use bochner::solve::Intercept;
use pyo3::{exceptions::PyValueError, prelude::*};

/// One penalty, several candidates, or a word.
#[derive(FromPyObject)]
enum Penalty {
    One(f64),
    Several(Vec<f64>),
    Word(String),
}

/// Value of `additive`: a boolean, or a word.
#[derive(FromPyObject)]
enum AskedParts {
    Whether(bool),
    Which(String),
}

fn wrong<T>(problem: String) -> PyResult<T> {
    Err(PyValueError::new_err(problem))
}

/// Intercept from `fit_intercept` and `penalize_intercept`.
pub(crate) fn intercept_of(fitted: bool, penalised: bool) -> Intercept {
    if penalised && fitted {
        Intercept::Penalised
    } else {
        fitted.into()
    }
}

impl Options<'_, '_> {
    pub(crate) fn intercept(&self) -> PyResult<bool> {
        Ok(self.get("fit_intercept")?.unwrap_or(true))
    }

    pub(crate) fn one_penalty(&self, default: f64) -> PyResult<f64> {
        Ok(self.get("penalty")?.unwrap_or(default))
    }

    pub(crate) fn stopping(&self, default: Stopping) -> PyResult<Stopping> {
        Ok(Stopping {
            tolerance: self.get("tol")?.unwrap_or(default.tolerance),
            max_passes: self.get("max_iter")?.unwrap_or(default.max_passes),
        })
    }

    /// The penalty, or how to select it.
    pub(crate) fn lambda(&self) -> PyResult<Lambda> {
        let by = match self.get("folds")? {
            None => HeldOut::LeaveOneOut,
            Some(folds) => HeldOut::Folds(folds),
        };
        Ok(match self.get("penalty")? {
            None => Lambda::default(),
            Some(Penalty::One(lambda)) => Lambda::Fixed(lambda),
            Some(Penalty::Several(of)) => Lambda::Best { of, by },
            Some(Penalty::Word(word)) if word == "auto" => Lambda::auto(by),
            Some(Penalty::Word(word)) => {
                return wrong(format!(
                    "penalty is {word:?}; use a number, several, or 'auto'"
                ));
            }
        })
    }

    pub(crate) fn ridge(&self) -> PyResult<RidgeOptions> {
        let lambda = self.lambda()?;
        let solver: Option<String> = self.get("solver")?;
        let solver = match solver.as_deref() {
            None | Some("auto") => Solver::Auto,
            Some("cholesky") => Solver::Cholesky,
            Some("dual") => Solver::Dual,
            Some("cg") => Solver::conjugate_gradients(),
            Some(other) => {
                return wrong(format!(
                    "solver is {other:?}; use 'auto', 'cholesky', 'dual' or 'cg'"
                ));
            }
        };
        let penalised = self.get("penalize_intercept")?.unwrap_or(false);
        let intercept = intercept_of(self.intercept()?, penalised);
        Ok(RidgeOptions {
            lambda,
            intercept: intercept != Intercept::None,
            penalised: intercept == Intercept::Penalised,
            solver,
        })
    }

    fn logistic(&self) -> PyResult<LogisticOptions> {
        let default = LogisticOptions::default();
        Ok(LogisticOptions {
            lambda: self.one_penalty(default.lambda)?,
            l1: self.get("l1")?.unwrap_or(default.l1),
            bound: self.get("bound")?,
            intercept: self.intercept()?,
            class_weights: ClassWeights::Equal,
            stopping: self.stopping(default.stopping)?,
            laplace: self.get("laplace")?.unwrap_or(default.laplace),
        })
    }

    fn support_vectors(&self) -> PyResult<SupportVectorOptions> {
        let default = SupportVectorOptions::default();
        let loss: Option<String> = self.get("loss")?;
        let loss = match loss.as_deref() {
            None | Some("squared_hinge") => MarginLoss::SquaredHinge,
            Some("hinge") => MarginLoss::Hinge,
            Some(other) => {
                return wrong(format!("loss is {other:?}; use 'squared_hinge' or 'hinge'"));
            }
        };
        Ok(SupportVectorOptions {
            loss,
            lambda: self.one_penalty(default.lambda)?,
            bound: self.get("bound")?,
            intercept: self.intercept()?,
            class_weights: ClassWeights::Equal,
            stopping: Some(self.stopping(loss.stopping())?),
        })
    }

    fn residuals(&self) -> PyResult<ResidualOptions> {
        let loss: Option<String> = self.get("loss")?;
        let epsilon: Option<f64> = self.get("epsilon")?;
        let width = || match epsilon {
            Some(epsilon) => Ok(epsilon),
            None => wrong("this loss takes its width from epsilon; give it".into()),
        };
        let loss = match loss.as_deref() {
            None | Some("epsilon_insensitive") => epsilon.map(ResidualLoss::EpsilonInsensitive),
            Some("squared_epsilon_insensitive") => {
                Some(ResidualLoss::SquaredEpsilonInsensitive(width()?))
            }
            Some("huber") => Some(ResidualLoss::Huber(epsilon.unwrap_or(0.0))),
            Some("quantile") => Some(ResidualLoss::Quantile(self.get("quantile")?.unwrap_or(0.5))),
            Some(other) => {
                return wrong(format!(
                    "loss is {other:?}; use 'epsilon_insensitive', \
                     'squared_epsilon_insensitive', 'huber' or 'quantile'"
                ));
            }
        };
        // Without a loss it is epsilon-insensitive, with a width that the targets determine.
        let stopping = loss
            .unwrap_or(ResidualLoss::EpsilonInsensitive(0.0))
            .stopping();
        Ok(ResidualOptions {
            loss,
            lambda: self.get("penalty")?,
            bound: self.get("bound")?,
            intercept: self.intercept()?,
            stopping: Some(self.stopping(stopping)?),
        })
    }

    fn lasso(&self) -> PyResult<LassoOptions> {
        let default = LassoOptions::default();
        Ok(LassoOptions {
            l1: self.get("l1")?,
            lambda: self.one_penalty(default.lambda)?,
            intercept: self.intercept()?,
            tolerance: self.get("tol")?.unwrap_or(default.tolerance),
            max_sweeps: self.get("max_iter")?.unwrap_or(default.max_sweeps),
        })
    }

    fn gaussian_process(&self) -> PyResult<GaussianProcessOptions> {
        let which: Option<String> = self.get("which_lengthscales")?;
        let lengthscales = match which.as_deref() {
            None | Some("fixed") => Lengthscales::Fixed,
            Some("one") => Lengthscales::One,
            Some("per-column") => Lengthscales::PerColumn,
            Some(other) => {
                return wrong(format!(
                    "lengthscales is {other:?}; use 'fixed', 'one' or 'per-column'"
                ));
            }
        };
        let weights: Option<String> = self.get("weights")?;
        let weights = match weights.as_deref() {
            None | Some("precisions") => RowWeights::Precisions,
            Some("counts") => RowWeights::Counts,
            Some(other) => {
                return wrong(format!(
                    "weights is {other:?}; use 'counts' or 'precisions'"
                ));
            }
        };
        Ok(GaussianProcessOptions {
            noise: self.get("noise_variance")?,
            signal: self.get("signal_variance")?,
            intercept: self.intercept()?,
            lengthscales,
            weights,
        })
    }

    /// Whether the model is additive in columns, or in columns and pairs.
    pub(crate) fn additive(&self) -> PyResult<Additive> {
        let asked = self.get::<AskedParts>("additive")?;
        Ok(match asked {
            None | Some(AskedParts::Whether(false)) => Additive::No,
            Some(AskedParts::Whether(true)) => Additive::Columns,
            Some(AskedParts::Which(which)) => which.parse().map_err(|e: Error| exception(&e))?,
        })
    }

    /// The job of this learner, without a search.
    pub(crate) fn job<'a>(&self, learner: &'a dyn Fit) -> PyResult<Job<&'a dyn Fit>> {
        let preparation = self.preparation()?;
        let job = Job::new(learner, preparation.map.clone());
        Ok(Job {
            preparation,
            probabilities: self.get("probability")?.unwrap_or(false),
            calibrate: self.get("calibrate")?,
            leaves: self.get("leaves")?,
            half_life: self.get("half_life")?,
            target_scale: self.parse("target_scale")?.unwrap_or_default(),
            linear: self.parse("linear")?.unwrap_or_default(),
            additive: self.additive()?,
            ..job
        })
    }

    /// The learner of this name, as in `bochner fit --model`.
    pub(crate) fn learner(&self, name: &str) -> PyResult<Box<dyn Fit>> {
        Ok(match name {
            "ridge" => Box::new(self.ridge()?),
            "logistic" => Box::new(self.logistic()?),
            "svm" => Box::new(self.support_vectors()?),
            "svr" => Box::new(self.residuals()?),
            "lasso" => Box::new(self.lasso()?),
            "gaussian-process" => Box::new(self.gaussian_process()?),
            "kernel-ridge" => Box::new(self.kernel_ridge()?),
            "falkon" => Box::new(self.falkon()?),
            "greedy" => Box::new(self.greedy()?),
            "boosting" => Box::new(self.boosting()?),
            "density" => Box::new(self.density()?),
            "pca" => Box::new(self.pca()?),
            "ica" => Box::new(self.ica()?),
            "kmeans" => Box::new(self.kmeans(KMeansOptions::default())?),
            "spectral" => Box::new(self.spectral()?),
            "spectral-clustering" => {
                let kmeans = self.kmeans(SpectralClusteringOptions::default().kmeans)?;
                Box::new(SpectralClusteringOptions { kmeans })
            }
            "one-class" => Box::new(self.one_class()?),
            other => return wrong(format!("there is no learner {other:?}")),
        })
    }
}
