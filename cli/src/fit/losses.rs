//! Options of the learners with a loss.

use crate::{
    args::{fraction, positive},
    report::Usage,
};
use anyhow::Result;
use bochner::models::{
    ClassWeights, Fit, LassoOptions, LogisticOptions, MarginLoss, OneClassOptions, ResidualLoss,
    ResidualOptions, Stopping, SupportVectorOptions,
};
use clap::{Args, ValueEnum};
use std::str::FromStr;

/// What a loss is, beside its penalty.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Learner options")]
pub(super) struct LossArgs {
    /// Of svm `squared-hinge` or `hinge`; of svr `epsilon`, `squared-epsilon`, `huber` or
    /// `quantile` [default: squared-hinge, epsilon]
    #[arg(long, value_enum)]
    loss: Option<Loss>,
    /// Of svr: residuals up to this cost nothing, or with `huber` their square; `squared-epsilon`
    /// needs it [default: a tenth of the targets' standard deviation; of huber 1.345 robust
    /// deviations of residuals on rows held out]
    #[arg(long, value_name = "E", value_parser = positive, allow_hyphen_values = true)]
    epsilon: Option<f64>,
    /// Of svr with `--loss quantile`: which [default: 0.5, the median]
    #[arg(long, value_name = "Q", value_parser = fraction, allow_hyphen_values = true)]
    quantile: Option<f64>,
    /// Of logistic and lasso: penalty of absolute values, which makes coefficients zero [default of
    /// lasso: the best of a path by generalised cross-validation]
    #[arg(long, value_name = "L", value_parser = positive, allow_hyphen_values = true)]
    l1: Option<f64>,
    /// Of logistic, svm and svr: every coefficient stays within this over the root of the number of
    /// features; of svr in the unit of the targets
    #[arg(long, value_name = "C", value_parser = positive, allow_hyphen_values = true)]
    #[arg(conflicts_with = "l1")]
    bound: Option<f64>,
    /// Of logistic: average probabilities over the posterior of the coefficients, by the Laplace
    /// approximation, and report the marginal likelihood
    #[arg(long, conflicts_with_all = ["l1", "bound"])]
    laplace: bool,
    /// Of one-class: about the share of rows that are left outside [default: 0.1]
    #[arg(long, value_name = "SHARE", value_parser = fraction, allow_hyphen_values = true)]
    nu: Option<f64>,
    /// Of classifiers, but kernel-ridge: what a row of each class counts: `equal`, `balanced`, or a
    /// number for each class in order, as in 1,5 [default: equal]
    #[arg(long, value_name = "WEIGHTS")]
    class_weights: Option<Weights>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Loss {
    SquaredHinge,
    Hinge,
    Epsilon,
    SquaredEpsilon,
    Huber,
    Quantile,
}

#[derive(Debug, Clone)]
struct Weights(ClassWeights);

impl FromStr for Weights {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        Ok(Self(match text {
            "equal" => ClassWeights::Equal,
            "balanced" => ClassWeights::Balanced,
            list => ClassWeights::Of(list.split(',').map(positive).collect::<Result<_, _>>()?),
        }))
    }
}

/// What learners with a loss share.
#[derive(Debug, Clone, Copy)]
pub(super) struct Shared {
    pub(super) lambda: Option<f64>,
    pub(super) intercept: bool,
    pub(super) tolerance: Option<f64>,
    pub(super) iterations: Option<usize>,
}

impl Shared {
    fn stopping(&self, default: Stopping) -> Stopping {
        Stopping {
            tolerance: self.tolerance.unwrap_or(default.tolerance),
            max_passes: self.iterations.unwrap_or(default.max_passes),
        }
    }
}

impl LossArgs {
    /// The options that are there, each with the models that take it.
    pub(super) fn given(&self) -> Vec<(&'static str, bool, &'static [&'static str])> {
        vec![
            ("--loss", self.loss.is_some(), &["svm", "svr"]),
            ("--epsilon", self.epsilon.is_some(), &["svr"]),
            ("--quantile", self.quantile.is_some(), &["svr"]),
            ("--l1", self.l1.is_some(), &["logistic", "lasso"]),
            ("--bound", self.bound.is_some(), &["logistic", "svm", "svr"]),
            ("--laplace", self.laplace, &["logistic"]),
            ("--nu", self.nu.is_some(), &["one-class"]),
            (
                "--class-weights",
                self.class_weights.is_some(),
                &[
                    "ridge", "falkon", "greedy", "boosting", "logistic", "svm", "lasso",
                ],
            ),
        ]
    }

    /// Whether the loss that was named has a kink; `None` without a name.
    pub(super) fn has_a_kink(&self) -> Option<bool> {
        let kinked = |loss| matches!(loss, Loss::Hinge | Loss::Epsilon | Loss::Quantile);
        self.loss.map(kinked)
    }

    /// Whether coefficients have costs or bounds of their own.
    pub(super) fn is_separable(&self) -> bool {
        self.l1.is_some() || self.bound.is_some()
    }

    /// What minimises a loss, which may have a kink.
    pub(super) fn solver(&self, kinked: bool) -> &'static str {
        match (kinked, self.is_separable()) {
            (true, _) => "admm",
            (false, true) => "accelerated",
            (false, false) => "quasi-newton",
        }
    }

    /// How much classes count.
    pub(super) fn class_weights(&self) -> ClassWeights {
        let given = self.class_weights.clone();
        given.map_or(ClassWeights::Equal, |weights| weights.0)
    }

    /// The penalty of squares: beside another one there is none, unless it is asked for.
    fn penalty(&self, shared: Shared, default: f64) -> f64 {
        let own = if self.is_separable() { 0.0 } else { default };
        shared.lambda.unwrap_or(own)
    }

    pub(super) fn logistic(&self, shared: Shared) -> Box<dyn Fit> {
        let default = LogisticOptions::default();
        Box::new(LogisticOptions {
            lambda: self.penalty(shared, default.lambda),
            l1: self.l1.unwrap_or(0.0),
            bound: self.bound,
            intercept: shared.intercept,
            class_weights: self.class_weights(),
            stopping: shared.stopping(default.stopping),
            laplace: self.laplace,
        })
    }

    pub(super) fn support_vectors(&self, shared: Shared) -> Result<Box<dyn Fit>> {
        let default = SupportVectorOptions::default();
        let loss = match self.loss {
            None | Some(Loss::SquaredHinge) => MarginLoss::SquaredHinge,
            Some(Loss::Hinge) => MarginLoss::Hinge,
            Some(_) => return Err(other_loss("svm", "squared-hinge or hinge")),
        };
        Ok(Box::new(SupportVectorOptions {
            loss,
            lambda: self.penalty(shared, default.lambda),
            bound: self.bound,
            intercept: shared.intercept,
            class_weights: self.class_weights(),
            stopping: Some(shared.stopping(loss.stopping())),
        }))
    }

    pub(super) fn residuals(&self, shared: Shared) -> Result<Box<dyn Fit>> {
        let epsilon = || {
            let missing = "this loss has no usual width; give --epsilon, in units of the targets";
            self.epsilon.ok_or_else(|| Usage(missing.into()))
        };
        let quantile = self.loss == Some(Loss::Quantile);
        if self.quantile.is_some() && !quantile {
            return Err(
                Usage("--quantile goes with --loss quantile; name that, too".into()).into(),
            );
        }
        if self.epsilon.is_some() && quantile {
            return Err(Usage("--loss quantile takes no --epsilon; leave it out".into()).into());
        }
        let loss = match self.loss {
            None | Some(Loss::Epsilon) => self.epsilon.map(ResidualLoss::EpsilonInsensitive),
            Some(Loss::SquaredEpsilon) => Some(ResidualLoss::SquaredEpsilonInsensitive(epsilon()?)),
            Some(Loss::Huber) => Some(ResidualLoss::Huber(self.epsilon.unwrap_or(0.0))),
            Some(Loss::Quantile) => Some(ResidualLoss::Quantile(self.quantile.unwrap_or(0.5))),
            Some(_) => {
                let its = "epsilon, squared-epsilon, huber or quantile";
                return Err(other_loss("svr", its));
            }
        };
        // Without a loss it is one of this kind, of a width that the targets tell.
        let stopping = loss
            .unwrap_or(ResidualLoss::EpsilonInsensitive(0.0))
            .stopping();
        Ok(Box::new(ResidualOptions {
            loss,
            // Beside a bound there is none, unless it is asked for.
            lambda: shared.lambda.or(self.bound.map(|_| 0.0)),
            bound: self.bound,
            intercept: shared.intercept,
            stopping: Some(shared.stopping(stopping)),
        }))
    }

    pub(super) fn lasso(&self, shared: Shared) -> Box<dyn Fit> {
        let default = LassoOptions::default();
        Box::new(LassoOptions {
            l1: self.l1,
            lambda: shared.lambda.unwrap_or(default.lambda),
            intercept: shared.intercept,
            tolerance: shared.tolerance.unwrap_or(default.tolerance),
            max_sweeps: shared.iterations.unwrap_or(default.max_sweeps),
        })
    }

    pub(super) fn one_class(&self, shared: Shared) -> Box<dyn Fit> {
        let default = OneClassOptions::default();
        Box::new(OneClassOptions {
            nu: self.nu.unwrap_or(default.nu),
            stopping: shared.stopping(default.stopping),
        })
    }
}

fn other_loss(model: &str, its: &str) -> anyhow::Error {
    Usage(format!(
        "--model {model} takes the losses {its}; name one of those"
    ))
    .into()
}
