//! Novelty detection: the region that contains most rows.

use crate::{
    Error, Result,
    features::FeatureMap,
    learn::{
        ClassWeights, Fit, FitData, FitRows, Stopping,
        fit::passes::{loss_bytes, pair_bytes},
        losses::{
            classes::both_sides,
            minimise::{AnyLoss, Objective},
        },
    },
    model::{LinearModel, Targets},
    settings::Settings,
    solve::loss::Outside,
};

/// Options of [`OneClass`](crate::models::OneClass).
///
/// It minimises `|beta|^2 / 2 + b + sum_i max(0, -(z_i'beta + b)) / (nu n)`. The scores of its
/// model are `-s` for novel and `s` for known, with `s = z(x)'beta + b`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct OneClassOptions {
    /// Approximate share of rows outside the region, above 0 and at most 1.
    pub nu: f64,
    /// Stopping rule of the solver.
    pub stopping: Stopping,
}

impl Default for OneClassOptions {
    /// nu = 0.1; a tolerance of 1e-3, at most 500 passes.
    fn default() -> Self {
        Self {
            nu: 0.1,
            stopping: Stopping {
                tolerance: 1e-3,
                max_passes: 500,
            },
        }
    }
}

impl Fit for OneClassOptions {
    fn settings(&self) -> Settings {
        Settings::of_learner("one-class")
            .number("nu", self.nu)
            .number("tolerance", self.stopping.tolerance)
            .text("iterations", self.stopping.max_passes)
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

    /// Ignores targets. Errors with [`Error::Parameter`] on options outside their domain.
    fn fit(&self, map: Box<dyn FeatureMap>, mut data: FitData<'_>) -> Result<LinearModel> {
        let nu = self.nu;
        if !(nu > 0.0 && nu <= 1.0) {
            return Err(Error::parameter(format!(
                "nu is {nu}; it must be above 0 and at most 1"
            )));
        }
        data.targets = Targets::Classes(vec![-1.0, 1.0]);
        let objective = Objective {
            loss: AnyLoss::Kinked {
                loss: Box::new(Outside { nu }),
                stiffness: 1.0 / nu,
                tilt: 1.0,
            },
            lambda: 1.0,
            cost: None,
            intercept: true,
            weights: &ClassWeights::Equal,
            stopping: self.stopping,
            start: None,
            quiet: false,
        };
        let mut model = objective.minimise("one-class", map, data, None)?;
        model.facts.insert("nu".into(), nu);
        model.coefficients = both_sides(&model.coefficients, 1.0);
        Ok(model)
    }
}

impl FitRows for OneClassOptions {
    type Predicted = Vec<i8>;
}
