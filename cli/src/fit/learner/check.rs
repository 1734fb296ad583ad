//! Which learner takes which options.

use super::{LearnerArgs, Name, Scales, Solver};
use crate::report::Usage;
use anyhow::Result;

/// Classifiers that can have probabilities.
const PROBABLE: &[&str] = &[
    "ridge",
    "kernel-ridge",
    "falkon",
    "greedy",
    "boosting",
    "logistic",
    "svm",
    "lasso",
];
/// Models with a penalty of squares that is not found otherwise.
const PENALISED: &[&str] = &[
    "ridge",
    "kernel-ridge",
    "falkon",
    "boosting",
    "logistic",
    "svm",
    "svr",
    "lasso",
];
/// Models with an intercept.
const WITH_INTERCEPT: &[&str] = &[
    "ridge",
    "kernel-ridge",
    "falkon",
    "greedy",
    "boosting",
    "gaussian-process",
    "logistic",
    "svm",
    "svr",
    "lasso",
];

/// What takes no penalty, and what does not.
const ZERO: &str = "--lambda is 0; it must be positive, but for --model kernel-ridge, and for \
    --model ridge with --solver dual or --map none";

impl LearnerArgs {
    /// Errors on options that the model does not take.
    pub(super) fn check(&self) -> Result<()> {
        let name = self.name();
        let name = name.as_str();
        for (option, given, takers) in self.options() {
            if given && !takers.contains(&name) {
                let takers = takers.join(", ");
                let problem =
                    format!("{option} belongs to --model {takers}, not to --model {name}");
                return Err(Usage(problem).into());
            }
        }
        let takes_zero = match self.model() {
            Name::Ridge => self.solver != Solver::Cg,
            Name::Logistic | Name::Svm | Name::Svr => self.loss.is_separable(),
            model => matches!(model, Name::KernelRidge | Name::Lasso),
        };
        if self.lambda.is_zero() && !takes_zero {
            return Err(Usage(ZERO.into()).into());
        }
        Ok(())
    }

    /// Errors where factors of sums of drawn features are to be had without a penalty: of columns
    /// as they are, which are `plain`, there is a solution of least norm.
    pub(in crate::fit) fn check_zero(&self, plain: bool) -> Result<()> {
        let factors = matches!(self.model(), Name::Ridge) && self.solver == Solver::Cholesky;
        if self.lambda.is_zero() && factors && !plain {
            return Err(Usage(ZERO.into()).into());
        }
        Ok(())
    }

    /// Options that some models take, whether each is given, and those models.
    fn options(&self) -> Vec<(&'static str, bool, &'static [&'static str])> {
        let mut options = self.loss.given();
        options.extend(self.rows.given());
        options.extend(self.kernel.given());
        options.extend(self.stages.given());
        let ridge: &[_] = &["ridge"];
        let process: &[_] = &["gaussian-process"];
        let scales = self.lengthscales != Scales::Fixed;
        options.extend([
            ("--solver", self.solver != Solver::Auto, ridge),
            ("--probabilities", self.probabilities, PROBABLE),
            ("--lambda", self.lambda.is_given(), PENALISED),
            ("--lambda-by", self.lambda.is_by_given(), ridge),
            ("--folds", self.lambda.is_folds_given(), ridge),
            ("--no-intercept", self.no_intercept, WITH_INTERCEPT),
            ("--penalised-intercept", self.penalised_intercept, ridge),
            ("--noise", self.noise.is_some(), process),
            ("--signal", self.signal.is_some(), process),
            ("--lengthscales", scales, process),
        ]);
        options
    }
}
