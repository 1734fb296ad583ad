//! Support vector machines: classification and regression with losses that leave good rows alone.

mod penalty;
#[cfg(test)]
mod tests;
mod width;

use crate::models::{
    ClassWeights, Fit, FitData, LinearModel, Stopping,
    fit::centred,
    fit::returning::{loss_bytes, pair_bytes},
    losses::logistic::require_classes,
    losses::minimise::{AnyLoss, Objective, both_sides, bounded, not_negative, one_side, positive},
};
use crate::{
    Error, Result,
    features::FeatureMap,
    normal::Targets,
    settings::Settings,
    solve::{
        OwnLoss, Separable,
        loss::{
            EpsilonInsensitive, Hinge, Huber, Pinball, SmoothLoss, SquaredEpsilonInsensitive,
            SquaredHinge,
        },
        own_loss::{OfMargin, OfResidual},
        risk::RowLoss,
    },
};
use penalty::Chosen;

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
    pub fn stopping(self) -> Stopping {
        stopping(self == Self::SquaredHinge)
    }
}

fn stopping(smooth: bool) -> Stopping {
    Stopping {
        tolerance: if smooth { 1e-4 } else { 1e-3 },
        max_passes: 1000,
    }
}

impl Fit for SupportVectorOptions {
    fn takes_line(&self) -> bool {
        true
    }

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

    fn row_bytes(&self, outputs: usize) -> usize {
        loss_bytes(outputs)
    }

    fn square_bytes(&self, features: usize) -> u32 {
        pair_bytes(features)
    }

    fn takes_weights(&self) -> bool {
        true
    }

    fn takes_start(&self) -> bool {
        true
    }

    /// Errors with [`Error::Parameter`] on options outside their domain and with
    /// [`Error::Unsupported`] on amounts.
    fn fit(&self, map: Box<dyn FeatureMap>, data: FitData<'_>) -> Result<LinearModel> {
        let classes = require_classes(&data.targets)?;
        let cost = bounded(self.bound, self.lambda, map.output_dim())?;
        let kinked = |loss, slope: f64| AnyLoss::Kinked {
            loss,
            stiffness: slope,
            tilt: 0.0,
        };
        let objective = Objective {
            loss: match self.loss {
                MarginLoss::SquaredHinge => smooth(SquaredHinge),
                MarginLoss::Hinge => kinked(Box::new(Hinge), 1.0),
                MarginLoss::Own(own) => {
                    own.check()?;
                    kinked(Box::new(OfMargin(own)), own.slope())
                }
            },
            lambda: self.lambda,
            cost,
            intercept: self.intercept,
            weights: &self.class_weights,
            stopping: self.stopping.unwrap_or(self.loss.stopping()),
            start: data.start.map(|start| match classes {
                2 => one_side(start, 1.0),
                _ => start.clone(),
            }),
            quiet: false,
        };
        let targets = data.targets.clone();
        let mut model = objective.minimise("svm", map, data, Some(targets))?;
        if classes == 2 {
            model.coefficients = both_sides(&model.coefficients, 1.0);
        }
        Ok(model)
    }
}

fn smooth(loss: impl SmoothLoss + 'static) -> AnyLoss {
    AnyLoss::Smooth(RowLoss::Each(Box::new(loss)))
}

/// What a residual `r = s - y` costs; epsilon and widths are in the unit of the targets.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub enum ResidualLoss {
    /// `max(0, |r| - epsilon)`; absolute deviations at 0.
    EpsilonInsensitive(f64),
    /// `max(0, |r| - epsilon)^2`.
    SquaredEpsilonInsensitive(f64),
    /// `r^2 / 2` up to this width, and straight beyond. A width of 0 stands for the usual one:
    /// 1.345 robust deviations, `median |r| / 0.6745`, of the residuals of least absolute
    /// deviations on rows held out (Huber 1964; Holland & Welsch 1977).
    Huber(f64),
    /// The quantile of this level, between 0 and 1: `level max(0, -r) + (1 - level) max(0, r)`.
    Quantile(f64),
    /// Any convex loss of r whose slope is bounded.
    Own(OwnLoss),
}

/// What [`SupportVectorRegressor`](crate::models::SupportVectorRegressor) has of its own.
///
/// It minimises `mean loss(s_i - y_i) + lambda/2 |beta|^2` for each target. scikit-learn's `C` is
/// `1 / (n lambda)`; its LinearSVR penalises the intercept, which this does not.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ResidualOptions {
    /// The loss; without one `EpsilonInsensitive` at a tenth of the standard deviation of the
    /// targets (of several, the mean).
    pub loss: Option<ResidualLoss>,
    /// The penalty of squares, > 0; with `bound` it may be 0. `None`: the one with the least mean
    /// loss on a fifth of the rows (of 10,000 of them where there are more), among
    /// 1, 10^-0.5, .. 10^-7 times what suits the size of the targets; 1e-5 beside a bound, and of
    /// fewer than 20 rows.
    pub lambda: Option<f64>,
    /// Where every coefficient has to stay: `|beta_j| <= bound / sqrt(D)`, in the unit of the
    /// targets (Rahimi & Recht 2008, "Weighted sums of random kitchen sinks").
    pub bound: Option<f64>,
    /// Whether an intercept is fitted, which is never penalised.
    pub intercept: bool,
    /// When the solver ends; without it as [`ResidualLoss::stopping`] says.
    pub stopping: Option<Stopping>,
}

impl Default for ResidualOptions {
    /// The epsilon-insensitive loss, the penalty that rows held out choose, an intercept.
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
    /// When the solver ends if nothing else is said: smooth losses at a share of 1e-4, those with a
    /// kink (epsilon-insensitive, quantile) and own losses at 1e-3, after 1000 passes at most.
    pub fn stopping(self) -> Stopping {
        let smooth = matches!(self, Self::SquaredEpsilonInsensitive(_) | Self::Huber(_));
        stopping(smooth)
    }

    /// The loss of targets of about this size.
    fn of(self, size: f64) -> Result<AnyLoss> {
        let steep = |loss, slope: f64| AnyLoss::Kinked {
            loss,
            stiffness: slope / size,
            tilt: 0.0,
        };
        let kinked = |loss| steep(loss, 1.0);
        let epsilon = |epsilon| not_negative("epsilon", epsilon).map(|()| epsilon);
        Ok(match self {
            Self::EpsilonInsensitive(e) => kinked(Box::new(EpsilonInsensitive {
                epsilon: epsilon(e)?,
            })),
            Self::SquaredEpsilonInsensitive(e) => smooth(SquaredEpsilonInsensitive {
                epsilon: epsilon(e)?,
            }),
            Self::Huber(width) => {
                positive("the width of Huber's loss", width)?;
                smooth(Huber { width })
            }
            Self::Own(own) => {
                own.check()?;
                steep(Box::new(OfResidual(own)), own.slope())
            }
            Self::Quantile(level) if level > 0.0 && level < 1.0 => {
                kinked(Box::new(Pinball { level }))
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
    fn takes_line(&self) -> bool {
        true
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
            // Whoever fits so again finds the usual width again.
            Some(ResidualLoss::Huber(0.0)) => settings.text("loss", "huber"),
            Some(ResidualLoss::Huber(width)) => {
                settings.text("loss", "huber").number("epsilon", width)
            }
            Some(ResidualLoss::Quantile(of)) => {
                settings.text("loss", "quantile").number("quantile", of)
            }
            Some(ResidualLoss::Own(_)) => settings.text("loss", "custom"),
        };
        // Without a loss it is one of this kind, of a width that the targets tell.
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

    fn row_bytes(&self, outputs: usize) -> usize {
        loss_bytes(outputs)
    }

    fn square_bytes(&self, features: usize) -> u32 {
        pair_bytes(features)
    }

    fn takes_weights(&self) -> bool {
        true
    }

    fn takes_start(&self) -> bool {
        true
    }

    /// Errors with [`Error::Parameter`] on options outside their domain and with
    /// [`Error::Unsupported`] on labels.
    fn fit(&self, map: Box<dyn FeatureMap>, data: FitData<'_>) -> Result<LinearModel> {
        if let Targets::Classes(_) = data.targets {
            let problem = "this learner is a regression, and the targets are labels";
            return Err(Error::unsupported(problem));
        }
        // What is wrong with a bound is known before the rows are read.
        self.cost(self.lambda.unwrap_or(penalty::USUAL), map.as_ref())?;
        let fit = |map, data: FitData<'_>| self.fit_centred(map, data);
        centred::fit(self.intercept, map, data, fit)
    }
}

impl ResidualOptions {
    fn cost(&self, lambda: f64, map: &dyn FeatureMap) -> Result<Option<Separable>> {
        bounded(self.bound, lambda, map.output_dim())
    }

    /// To targets that do not lie far from 0.
    fn fit_centred(&self, map: Box<dyn FeatureMap>, mut data: FitData<'_>) -> Result<LinearModel> {
        let deviations = data.survey.targets.iter().map(|t| t.variance.sqrt());
        let mean = deviations.sum::<f64>() / data.survey.targets.len().max(1) as f64;
        // Targets that are all the same have no size of their own.
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

    /// With this loss of targets of this size, and this penalty.
    fn fit_with(
        &self,
        map: Box<dyn FeatureMap>,
        data: FitData<'_>,
        (loss, size, lambda): (ResidualLoss, f64, f64),
        quiet: bool,
    ) -> Result<LinearModel> {
        let objective = Objective {
            loss: loss.of(size)?,
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
