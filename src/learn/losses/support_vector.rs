//! Support vector machines: classification with losses that leave good rows alone.

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

/// What rows on the wrong side of the margin cost.
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

/// What [`SupportVectorClassifier`](crate::models::SupportVectorClassifier) has of its own.
///
/// It minimises `sum_i w_i loss(y_i, s_i) / sum_i w_i + lambda/2 |beta|^2`, y = +-1, for each
/// class. scikit-learn's `C` is `1 / (n lambda)`; its LinearSVC penalises the intercept, which this
/// does not.
#[derive(Debug, Clone, PartialEq)]
pub struct SupportVectorOptions {
    /// The loss.
    pub loss: MarginLoss,
    /// The penalty of squares, > 0; with `bound` it may be 0.
    pub lambda: f64,
    /// Where every coefficient has to stay: `|beta_j| <= bound / sqrt(D)` (Rahimi & Recht 2008,
    /// "Weighted sums of random kitchen sinks").
    pub bound: Option<f64>,
    /// Whether an intercept is fitted, which is never penalised.
    pub intercept: bool,
    /// How much classes count; each machine sees the class of each row.
    pub class_weights: ClassWeights,
    /// When the solver ends; without it as [`MarginLoss::stopping`] says.
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
    /// When the solver ends if nothing else is said: the squared hinge at a share of 1e-4 (what a
    /// thousandth leaves is several per cent of the objective where penalties are small), the hinge
    /// and own losses at 1e-3, after 1000 passes at most.
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
    /// and with [`Error::Unsupported`](crate::Error::Unsupported) on amounts.
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
