//! Regression with robust, epsilon-insensitive or quantile losses of the residuals.

mod penalty;
#[cfg(test)]
mod tests;
mod width;

use crate::{
    Error, Result,
    features::FeatureMap,
    learn::{
        ClassWeights, Fit, FitData, Stopping,
        fit::{centred, passes::pair_bytes},
        losses::minimise::{AnyLoss, Objective, bounded, minimises, not_negative, positive},
    },
    model::{LinearModel, Targets},
    settings::Settings,
    solve::{
        OwnLoss, Separable,
        loss::{EpsilonInsensitive, Huber, Pinball, SquaredEpsilonInsensitive},
        own_loss::OfResidual,
    },
};
use penalty::Chosen;

/// Loss of a residual `r = s - y`; epsilon and widths are in the unit of the targets.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub enum ResidualLoss {
    /// `max(0, |r| - epsilon)`; absolute deviations at 0.
    EpsilonInsensitive(f64),
    /// `max(0, |r| - epsilon)^2`.
    SquaredEpsilonInsensitive(f64),
    /// `r^2 / 2` up to this width, linear beyond. A width of 0 chooses the default: 1.345 robust
    /// deviations, `median |r| / 0.6745`, of the residuals of least absolute deviations on held-out
    /// rows (Huber 1964; Holland & Welsch 1977).
    Huber(f64),
    /// The quantile of this level, between 0 and 1: `level max(0, -r) + (1 - level) max(0, r)`.
    Quantile(f64),
    /// Any convex loss of r whose slope is bounded.
    Own(OwnLoss),
}

/// Options of [`SupportVectorRegressor`](crate::models::SupportVectorRegressor).
///
/// It minimises `mean loss(s_i - y_i) + lambda/2 |beta|^2` for each target. scikit-learn's `C` is
/// `1 / (n lambda)`; its LinearSVR penalises the intercept, which this does not.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ResidualOptions {
    /// The loss; `None` is `EpsilonInsensitive` with a tenth of the standard deviation of the
    /// targets (their mean for several targets).
    pub loss: Option<ResidualLoss>,
    /// The L2 penalty, > 0; may be 0 with `bound`. `None` chooses the one with the least mean loss
    /// on a fifth of the rows (of a sample of 10,000 if there are more), among 1, 10^-0.5, .. 10^-7
    /// times a unit that depends on the size of the targets; with a bound, or with fewer than 20
    /// rows, it is 1e-5.
    pub lambda: Option<f64>,
    /// Bound on each coefficient: `|beta_j| <= bound / sqrt(D)`, in the unit of the targets (Rahimi
    /// & Recht 2008, "Weighted sums of random kitchen sinks").
    pub bound: Option<f64>,
    /// Whether to fit an intercept, which is not penalised.
    pub intercept: bool,
    /// Stopping rule of the solver; `None` uses [`ResidualLoss::stopping`].
    pub stopping: Option<Stopping>,
}

impl Default for ResidualOptions {
    /// The epsilon-insensitive loss, the penalty chosen by hold-out loss, an intercept.
    fn default() -> Self {
        Self {
            loss: None,
            lambda: None,
            bound: None,
            intercept: true,
            stopping: None,
        }
    }
}

impl ResidualLoss {
    /// Default stopping rule: a tolerance of 1e-4 for smooth losses, 1e-3 for losses with a kink
    /// (epsilon-insensitive, quantile) and custom losses, and at most 1000 passes.
    #[doc(hidden)]
    pub fn stopping(self) -> Stopping {
        let smooth = matches!(self, Self::SquaredEpsilonInsensitive(_) | Self::Huber(_));
        Stopping::usual(smooth)
    }

    /// The loss for targets of about this size.
    fn scaled_to(self, size: f64) -> Result<AnyLoss> {
        let epsilon = |epsilon| not_negative("epsilon", epsilon).map(|()| epsilon);
        Ok(match self {
            Self::EpsilonInsensitive(e) => {
                let epsilon = epsilon(e)?;
                AnyLoss::kinked(EpsilonInsensitive { epsilon }, 1.0 / size)
            }
            Self::SquaredEpsilonInsensitive(e) => AnyLoss::smooth(SquaredEpsilonInsensitive {
                epsilon: epsilon(e)?,
            }),
            Self::Huber(width) => {
                positive("the width of Huber's loss", width)?;
                AnyLoss::smooth(Huber { width })
            }
            Self::Own(own) => {
                own.check()?;
                AnyLoss::kinked(OfResidual(own), own.slope() / size)
            }
            Self::Quantile(level) if level > 0.0 && level < 1.0 => {
                AnyLoss::kinked(Pinball { level }, 1.0 / size)
            }
            Self::Quantile(level) => {
                return Err(Error::parameter(format!(
                    "the quantile is {level}; it must lie between 0 and 1"
                )));
            }
        })
    }
}

impl Fit for ResidualOptions {
    minimises!();

    fn has_options_in_target_units(&self) -> bool {
        use ResidualLoss::{EpsilonInsensitive, Huber, Own, SquaredEpsilonInsensitive};
        let is_loss = match self.loss {
            None | Some(ResidualLoss::Quantile(_)) => false,
            Some(Own(_)) => true,
            Some(EpsilonInsensitive(width) | SquaredEpsilonInsensitive(width) | Huber(width)) => {
                width != 0.0
            }
        };
        is_loss || self.bound.is_some()
    }

    fn settings(&self) -> Settings {
        let settings = Settings::of_learner("svr");
        let settings = match self.loss {
            None => settings,
            Some(ResidualLoss::EpsilonInsensitive(width)) => {
                settings.text("loss", "epsilon").number("epsilon", width)
            }
            Some(ResidualLoss::SquaredEpsilonInsensitive(width)) => settings
                .text("loss", "squared-epsilon")
                .number("epsilon", width),
            // A width of 0 is kept as such, so that a refit estimates it again.
            Some(ResidualLoss::Huber(0.0)) => settings.text("loss", "huber"),
            Some(ResidualLoss::Huber(width)) => {
                settings.text("loss", "huber").number("epsilon", width)
            }
            Some(ResidualLoss::Quantile(of)) => {
                settings.text("loss", "quantile").number("quantile", of)
            }
            Some(ResidualLoss::Own(_)) => settings.text("loss", "custom"),
        };
        // The default loss is epsilon-insensitive, with a width that depends on the targets.
        let usual = ResidualLoss::EpsilonInsensitive(0.0);
        let stopping = self
            .stopping
            .unwrap_or_else(|| self.loss.unwrap_or(usual).stopping());
        settings
            .maybe("lambda", self.lambda)
            .maybe("bound", self.bound)
            .flag("no-intercept", !self.intercept)
            .number("tolerance", stopping.tolerance)
            .text("iterations", stopping.max_passes)
    }

    fn square_bytes(&self, features: usize) -> u32 {
        pair_bytes(features)
    }

    /// Errors with [`Error::Parameter`] on options outside their domain and with
    /// [`Error::Unsupported`] on classes.
    fn fit(&self, map: Box<dyn FeatureMap>, data: FitData<'_>) -> Result<LinearModel> {
        if let Targets::Classes(_) = data.targets {
            let problem = "this learner is a regression, and the targets are labels";
            return Err(Error::unsupported(problem));
        }
        // Checks a bound before rows are read.
        self.cost(self.lambda.unwrap_or(penalty::USUAL), map.as_ref())?;
        let fit = |map, data: FitData<'_>| self.fit_centred(map, data);
        centred::fit(self.intercept, map, data, fit)
    }
}

impl ResidualOptions {
    fn cost(&self, lambda: f64, map: &dyn FeatureMap) -> Result<Option<Separable>> {
        bounded(self.bound, lambda, map.output_dim())
    }

    /// Fits to centred targets.
    fn fit_centred(&self, map: Box<dyn FeatureMap>, mut data: FitData<'_>) -> Result<LinearModel> {
        let deviations = data.survey.targets.iter().map(|t| t.variance.sqrt());
        let mean = deviations.sum::<f64>() / data.survey.targets.len().max(1) as f64;
        // Constant targets have deviation 0.
        let size = if mean > 0.0 { mean } else { 1.0 };
        let (map, loss) = match self.loss {
            None => (map, ResidualLoss::EpsilonInsensitive(0.1 * mean)),
            Some(ResidualLoss::Huber(0.0)) => {
                let (map, width) = self.usual_width(map, &mut data, size)?;
                (map, ResidualLoss::Huber(width))
            }
            Some(loss) => (map, loss),
        };
        let (map, chosen) = match (self.lambda, self.bound) {
            (None, None) => self.choose(map, &mut data, (loss, size))?,
            (given, _) => (map, Chosen::given(given.unwrap_or(penalty::USUAL))),
        };
        let mut model = self.fit_with(map, data, (loss, size, chosen.lambda), false)?;
        if let Some(least) = chosen.loss {
            model.facts.insert("held_out_loss".into(), least);
        }
        if let (Some(ResidualLoss::Huber(0.0)), ResidualLoss::Huber(width)) = (self.loss, loss) {
            model.facts.insert("huber_width".into(), width);
        }
        Ok(model)
    }

    /// Fits with this loss, target size and penalty.
    fn fit_with(
        &self,
        map: Box<dyn FeatureMap>,
        data: FitData<'_>,
        (loss, size, lambda): (ResidualLoss, f64, f64),
        quiet: bool,
    ) -> Result<LinearModel> {
        let objective = Objective {
            loss: loss.scaled_to(size)?,
            lambda,
            cost: self.cost(lambda, map.as_ref())?,
            intercept: self.intercept,
            weights: &ClassWeights::Equal,
            stopping: self.stopping.unwrap_or(loss.stopping()),
            start: data.start.cloned(),
            quiet,
        };
        let targets = data.targets.clone();
        objective.minimise("svr", map, data, Some(targets))
    }
}
