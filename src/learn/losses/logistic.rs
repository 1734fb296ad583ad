//! Logistic regression, binary and multinomial.

mod laplace;

use crate::{
    Error, Result,
    clock::Instant,
    features::FeatureMap,
    learn::{
        ClassWeights, Fit, FitData, Stopping,
        fit::passes::pair_bytes,
        losses::{
            classes::ClassScores,
            minimise::{AnyLoss, Objective, absolute, bounded, minimises},
        },
    },
    model::{LinearModel, Probabilities},
    settings::Settings,
    solve::{Separable, loss::Logistic, risk::RowLoss},
};

/// Options of [`LogisticRegression`](crate::models::LogisticRegression).
///
/// It minimises `sum_i w_i loss_i / sum_i w_i + lambda/2 |beta|^2 + l1 |beta|_1`. For two classes
/// the loss is `log(1 + exp(-y s))` of a single score, y = +-1; for more it is `log sum_k
/// exp(s_k) - s_c` with a score per class (multinomial). scikit-learn's `C` is `1 / (n lambda)`.
#[derive(Debug, Clone, PartialEq)]
pub struct LogisticOptions {
    /// The L2 penalty, > 0; may be 0 with `l1` or `bound`.
    pub lambda: f64,
    /// The L1 penalty, which sets coefficients to zero; 0 for none.
    pub l1: f64,
    /// Bound on each coefficient: `|beta_j| <= bound / sqrt(D)`, as in Rahimi & Recht (2008,
    /// "Weighted sums of random kitchen sinks") for features of the size `1 / sqrt(D)`.
    pub bound: Option<f64>,
    /// Whether to fit an intercept, which is not penalised.
    pub intercept: bool,
    /// Weights of the classes.
    pub class_weights: ClassWeights,
    /// Stopping rule of the solver.
    pub stopping: Stopping,
    /// Whether to average probabilities over the (Laplace-approximated) posterior of the
    /// coefficients.
    pub laplace: bool,
}

impl Default for LogisticOptions {
    /// lambda = 1e-5 without l1, an intercept, equal classes; a gradient tolerance of 1e-4 in at
    /// most 1000 passes; probabilities from the point estimate.
    fn default() -> Self {
        Self {
            lambda: 1e-5,
            l1: 0.0,
            bound: None,
            intercept: true,
            class_weights: ClassWeights::Equal,
            stopping: Stopping {
                tolerance: 1e-4,
                max_passes: 1000,
            },
            laplace: false,
        }
    }
}

impl LogisticOptions {
    /// The separable penalty or bound of the coefficients, if any.
    fn cost(&self, features: usize) -> Result<Option<Separable>> {
        match (self.bound, self.l1 == 0.0) {
            (None, _) => absolute(self.lambda, self.l1),
            (bound, true) => bounded(bound, self.lambda, features),
            (Some(_), false) => Err(Error::parameter(
                "there are both l1 and a bound of coefficients; give one of them",
            )),
        }
    }
}

/// Bytes per pair of features; the resident size of fits of two classes gave 42.
const CURVED_BYTES: u32 = 44;

impl Fit for LogisticOptions {
    minimises!();

    fn settings(&self) -> Settings {
        Settings::of_learner("logistic")
            .number("lambda", self.lambda)
            .maybe("l1", (self.l1 > 0.0).then_some(self.l1))
            .maybe("bound", self.bound)
            .flag("no-intercept", !self.intercept)
            .text("class-weights", &self.class_weights)
            .number("tolerance", self.stopping.tolerance)
            .text("iterations", self.stopping.max_passes)
            .flag("laplace", self.laplace)
    }

    /// The covariance of the features and its factor, and the temporary curvature matrix at the
    /// scores.
    fn square_bytes(&self, features: usize) -> u32 {
        match pair_bytes(features) {
            0 => 0,
            _ => CURVED_BYTES,
        }
    }

    /// Errors with [`Error::Parameter`] on options outside their domain and with
    /// [`Error::Unsupported`] on real targets, for l1 or `laplace` on maps whose features cannot be
    /// stored, and for `laplace` with l1 or a bound.
    fn fit(&self, map: Box<dyn FeatureMap>, data: FitData<'_>) -> Result<LinearModel> {
        // The difference between the scores of both classes is the log odds.
        let classes = ClassScores::for_targets(&data.targets, 0.5)?;
        if self.laplace {
            laplace::check(self, map.as_ref())?;
        }
        let objective = Objective {
            loss: if classes.is_one() {
                AnyLoss::smooth(Logistic)
            } else {
                AnyLoss::Smooth(RowLoss::Multinomial)
            },
            lambda: self.lambda,
            cost: self.cost(map.output_dim())?,
            intercept: self.intercept,
            weights: &self.class_weights,
            stopping: self.stopping,
            start: classes.start(data.start),
            quiet: false,
        };
        let targets = data.targets.clone();
        let FitData { source, run, .. } = data;
        let data = FitData {
            source: &mut *source,
            ..data
        };
        let mut model = objective.minimise("logistic", map, data, Some(targets))?;
        if self.laplace {
            let start = Instant::now();
            laplace::approximate(&mut model, source, self, run)?;
            if let Some(times) = &mut model.times {
                times.solve += start.elapsed();
            }
        }
        classes.spread(&mut model);
        model.probabilities = Some(if self.laplace {
            Probabilities::Averaged
        } else {
            Probabilities::Softmax
        });
        Ok(model)
    }
}
