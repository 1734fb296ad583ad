//! Support vector machines: classification with margin losses.

use crate::{
    Result,
    features::FeatureMap,
    learn::{
        ClassWeights, Fit, FitData, Stopping,
        fit::passes::pair_bytes,
        losses::{
            classes::ClassScores,
            minimise::{AnyLoss, Objective, bounded, minimises},
        },
    },
    model::LinearModel,
    settings::Settings,
    solve::{
        OwnLoss,
        loss::{Hinge, SquaredHinge},
        own_loss::OfMargin,
    },
};

/// Loss of the margin `y s`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum MarginLoss {
    /// `max(0, 1 - y s)^2`.
    #[default]
    SquaredHinge,
    /// `max(0, 1 - y s)`.
    Hinge,
    /// Any convex loss of `y s` whose slope is bounded.
    Own(OwnLoss),
}

/// Options of [`SupportVectorClassifier`](crate::models::SupportVectorClassifier).
///
/// It minimises `sum_i w_i loss(y_i, s_i) / sum_i w_i + lambda/2 |beta|^2`, y = +-1, for each
/// class. scikit-learn's `C` is `1 / (n lambda)`; its LinearSVC penalises the intercept, which this
/// does not.
#[derive(Debug, Clone, PartialEq)]
pub struct SupportVectorOptions {
    /// The loss.
    pub loss: MarginLoss,
    /// The L2 penalty, > 0; may be 0 with `bound`.
    pub lambda: f64,
    /// Bound on each coefficient: `|beta_j| <= bound / sqrt(D)` (Rahimi & Recht 2008, "Weighted
    /// sums of random kitchen sinks").
    pub bound: Option<f64>,
    /// Whether to fit an intercept, which is not penalised.
    pub intercept: bool,
    /// Weights of the classes, applied to each row by its class in all one-against-all problems.
    pub class_weights: ClassWeights,
    /// Stopping rule of the solver; `None` uses [`MarginLoss::stopping`].
    pub stopping: Option<Stopping>,
}

impl Default for SupportVectorOptions {
    /// The squared hinge, lambda = 1e-5, an intercept, equal classes.
    fn default() -> Self {
        Self {
            loss: MarginLoss::SquaredHinge,
            lambda: 1e-5,
            bound: None,
            intercept: true,
            class_weights: ClassWeights::Equal,
            stopping: None,
        }
    }
}

impl MarginLoss {
    /// Default stopping rule: a tolerance of 1e-4 for the squared hinge (1e-3 would leave several
    /// per cent of the objective at small penalties), 1e-3 for the hinge and custom losses, and at
    /// most 1000 passes.
    #[doc(hidden)]
    pub fn stopping(self) -> Stopping {
        Stopping::usual(self == Self::SquaredHinge)
    }
}

impl Fit for SupportVectorOptions {
    minimises!();

    fn settings(&self) -> Settings {
        let loss = match self.loss {
            MarginLoss::SquaredHinge => "squared-hinge",
            MarginLoss::Hinge => "hinge",
            MarginLoss::Own(_) => "custom",
        };
        let stopping = self.stopping.unwrap_or(self.loss.stopping());
        Settings::of_learner("svm")
            .text("loss", loss)
            .number("lambda", self.lambda)
            .maybe("bound", self.bound)
            .flag("no-intercept", !self.intercept)
            .text("class-weights", &self.class_weights)
            .number("tolerance", stopping.tolerance)
            .text("iterations", stopping.max_passes)
    }

    fn square_bytes(&self, features: usize) -> u32 {
        pair_bytes(features)
    }

    /// Errors with [`Error::Parameter`](crate::Error::Parameter) on options outside their domain
    /// and with [`Error::Unsupported`](crate::Error::Unsupported) on real targets.
    fn fit(&self, map: Box<dyn FeatureMap>, data: FitData<'_>) -> Result<LinearModel> {
        let classes = ClassScores::for_targets(&data.targets, 1.0)?;
        let cost = bounded(self.bound, self.lambda, map.output_dim())?;
        let objective = Objective {
            loss: match self.loss {
                MarginLoss::SquaredHinge => AnyLoss::smooth(SquaredHinge),
                MarginLoss::Hinge => AnyLoss::kinked(Hinge, 1.0),
                MarginLoss::Own(own) => {
                    own.check()?;
                    AnyLoss::kinked(OfMargin(own), own.slope())
                }
            },
            lambda: self.lambda,
            cost,
            intercept: self.intercept,
            weights: &self.class_weights,
            stopping: self.stopping.unwrap_or(self.loss.stopping()),
            start: classes.start(data.start),
            quiet: false,
        };
        let targets = data.targets.clone();
        let mut model = objective.minimise("svm", map, data, Some(targets))?;
        classes.spread(&mut model);
        Ok(model)
    }
}
