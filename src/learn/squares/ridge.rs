//! Ridge regression and ridge classification on random features.

mod choice;
mod solver;
mod sums;
#[cfg(test)]
mod tests;

use choice::WALK_BYTES;
pub use solver::{FitOptions, Solver};

use crate::{
    Error, Result,
    data::{ChunkSource, KeptRows, Survey, grouped},
    features::{FeatureMap, require_dense},
    learn::{
        Fit, FitAnySums, FitData, FitPenalised, Lambda,
        fit::{fit_sums::fit_sums, lambda::rows_left_out, left_out::require_groups_left_out},
        squares::{dual, lambda},
    },
    linalg::eigen::EIGEN_BYTES,
    model::{HeldOut, LinearModel, Targets},
    normal::SUM_BYTES,
    settings::Settings,
    solve::Intercept,
};

impl Targets {
    /// Real targets; their means, from `survey`, are subtracted before rounding to f32.
    pub fn real(survey: &Survey) -> Self {
        Self::Real {
            columns: survey.targets.len(),
            shift: survey.targets.iter().map(|t| t.mean).collect(),
        }
    }

    /// Classes: the distinct labels in `survey`, each fitted as +-1 against all others.
    ///
    /// Errors if there is not exactly one label column, if there are fewer than two classes, or
    /// more than the survey keeps.
    pub fn classes(survey: &Survey) -> Result<Self> {
        let [labels] = survey.targets.as_slice() else {
            return Err(Error::shape(format!(
                "a classifier takes one column of labels, the data has {}",
                survey.targets.len()
            )));
        };
        let problem = match &labels.distinct {
            Some(classes) if classes.len() >= 2 => return Ok(Self::Classes(classes.clone())),
            Some(_) => "all labels are the same; a classifier needs two classes",
            None => "the labels take more than a thousand values; this is a regression",
        };
        Err(Error::data("y", problem))
    }
}

/// Options of [`Ridge`](crate::models::Ridge) and
/// [`RidgeClassifier`](crate::models::RidgeClassifier).
#[derive(Debug, Clone, PartialEq)]
pub struct RidgeOptions {
    /// The penalty per sample, lambda > 0, or how it is chosen. 0 is allowed in the dual, for fewer
    /// rows than features, and on the columns themselves ([`Identity`](crate::features::Identity)):
    /// the least-squares solution of least norm.
    pub lambda: Lambda,
    /// Whether to fit an intercept.
    pub intercept: bool,
    /// Whether the intercept is penalised like the coefficient of a feature that is 1.
    pub penalised: bool,
    /// The solver.
    pub solver: Solver,
}

impl Default for RidgeOptions {
    /// [`Lambda::Usual`] with an intercept, [`Solver::Auto`].
    fn default() -> Self {
        Self {
            lambda: Lambda::Usual,
            intercept: true,
            penalised: false,
            solver: Solver::Auto,
        }
    }
}

impl RidgeOptions {
    /// Cross-validation by whole groups, if rows have groups and hold-out errors choose the
    /// penalty: leave-one-out errors do not hold for unseen groups.
    fn by_groups(&self, source: &dyn ChunkSource) -> Option<Lambda> {
        let of = self.lambda.by_rows()?;
        let by = HeldOut::Folds(grouped::choosing(&source.groups()?)?.len());
        Some(Lambda::Best { of, by })
    }
}

impl Fit for RidgeOptions {
    fn takes_line(&self) -> bool {
        true
    }

    fn is_least_squares(&self) -> bool {
        true
    }

    fn penalties(&self) -> Option<&[f64]> {
        self.lambda.given()
    }

    fn settings(&self) -> Settings {
        let settings = self.lambda.said(Settings::of_learner("ridge"));
        let settings = settings
            .flag("no-intercept", !self.intercept)
            .flag("penalised-intercept", self.penalised);
        match self.solver {
            Solver::Auto => settings.text("solver", "auto"),
            Solver::Cholesky => settings.text("solver", "cholesky"),
            Solver::Dual => settings.text("solver", "dual"),
            Solver::ConjugateGradients {
                tolerance,
                max_iterations,
            } => settings
                .text("solver", "cg")
                .number("tolerance", tolerance)
                .text("iterations", max_iterations),
        }
    }

    fn of_sums(&self) -> Option<&dyn FitAnySums> {
        Some(self)
    }

    fn takes_weights(&self) -> bool {
        true
    }

    /// Bytes for the sums, or for the eigenvectors of a penalty path. Conjugate gradients keep
    /// targets and products.
    fn row_bytes(&self, outputs: usize) -> usize {
        match self.solver {
            Solver::ConjugateGradients { .. } => 16 * outputs.max(1),
            _ => 0,
        }
    }

    fn square_bytes(&self, _features: usize) -> u32 {
        match (self.solver, &self.lambda) {
            (Solver::Dual | Solver::ConjugateGradients { .. }, _) => 0,
            (_, Lambda::Fixed(_)) => SUM_BYTES,
            (_, lambda) if lambda.goes_by_sums() => WALK_BYTES,
            _ => EIGEN_BYTES,
        }
    }

    fn kept_bytes(&self, size: (usize, usize), rows: Option<usize>) -> u64 {
        if !matches!(self.solver, Solver::Auto | Solver::Cholesky) {
            return 0;
        }
        let kept = self.lambda.rows_kept(size);
        let kept = kept.unwrap_or_else(|| rows_left_out(size));
        let kept = kept.min(rows.unwrap_or(kept));
        (kept * KeptRows::row_bytes(size)) as u64
    }

    fn solves_few_rows(&self) -> bool {
        let solver = matches!(self.solver, Solver::Auto | Solver::Dual);
        let settles = matches!(self.lambda, Lambda::Fixed(_) | Lambda::Usual);
        solver && !self.penalised && settles
    }

    fn penalised(&self) -> Option<&dyn FitPenalised> {
        Some(self)
    }

    fn takes_sketch(&self) -> bool {
        matches!(self.solver, Solver::ConjugateGradients { .. })
    }

    /// As [`LinearModel::fit`], with leave-one-out results. With [`Lambda::Best`] also errors with
    /// [`Error::Unsupported`] if the features cannot be stored, or for conjugate gradients, which
    /// give no path.
    fn fit(&self, map: Box<dyn FeatureMap>, data: FitData<'_>) -> Result<LinearModel> {
        let groups = data.source.groups();
        let mut model = self.fit_rows(map, data)?;
        if let Some(groups) = groups {
            require_groups_left_out(&mut model, &groups);
        }
        Ok(model)
    }
}

impl RidgeOptions {
    fn fit_rows(&self, map: Box<dyn FeatureMap>, data: FitData<'_>) -> Result<LinearModel> {
        let (intercept, mut solver) = (self.intercept(), self.solver);
        let features = map.output_dim();
        if intercept == Intercept::Penalised {
            let direct = matches!(solver, Solver::Auto | Solver::Cholesky);
            if !direct || require_dense(map.as_ref()).is_err() {
                return Err(Error::unsupported(
                    "a penalised intercept takes the Cholesky solver and a map without binning; \
                     use these, or an intercept that is not penalised",
                ));
            }
            solver = Solver::Cholesky;
        }
        let dense = require_dense(map.as_ref()).is_ok();
        let suits = || dual::suits(data.survey.rows, features, data.run);
        let chooses = || dual::has_room_to_choose(data.survey.rows, features, data.run);
        if solver == Solver::Auto && dense && suits() {
            solver = Solver::Dual;
        }
        let direct = matches!(solver, Solver::Auto | Solver::Cholesky);
        // In the dual the default penalty is chosen there, also by groups.
        let is_dual = !direct && self.lambda == Lambda::Usual;
        let by_groups = self.by_groups(data.source).filter(|_| dense && !is_dual);
        let lambda = match by_groups.as_ref().unwrap_or(&self.lambda) {
            Lambda::Usual | Lambda::Fixed(_) if dense && direct => {
                return fit_sums(self, map, data);
            }
            Lambda::Usual if dense && solver == Solver::Dual && chooses() => {
                let lambdas = lambda::ascending(&self.lambda.candidates().unwrap_or_default())?;
                let how = (lambdas.as_slice(), self.intercept);
                return dual::choose(map, data.source, &data.targets, how, data.run);
            }
            Lambda::Fixed(_) | Lambda::Usual => self.lambda.fixed()?,
            Lambda::Best { .. } if !direct && solver != Solver::Dual => {
                return Err(Error::unsupported(
                    "conjugate gradients solve for one lambda; a choice of several needs the Gram \
                     matrix",
                ));
            }
            lambda @ Lambda::Best { .. } if lambda.goes_by_sums() => {
                return fit_sums(self, map, data);
            }
            Lambda::Best { of, by } => {
                let how = (of.as_slice(), *by, intercept);
                return lambda::fit(map, data.source, data.targets, how, data.run);
            }
        };
        let options = FitOptions {
            lambda,
            intercept: self.intercept,
            solver,
            ..FitOptions::on(data.run)
        };
        LinearModel::fit(map, data.source, data.targets, &options)
    }
}

impl FitPenalised for RidgeOptions {
    fn lambda(&self) -> &Lambda {
        &self.lambda
    }

    fn intercept(&self) -> Intercept {
        match (self.intercept, self.penalised) {
            (false, _) => Intercept::None,
            (true, false) => Intercept::Free,
            (true, true) => Intercept::Penalised,
        }
    }

    fn with_lambda(&self, lambda: Lambda) -> Box<dyn FitPenalised> {
        Box::new(Self {
            lambda,
            ..self.clone()
        })
    }
}
