//! Which learner takes which options.

use super::{LearnerArgs, Name, Scales, Solver};
use crate::report::Usage;
use anyhow::Result;

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
        let takes_zero = match self.model {
            Name::Ridge => matches!(self.solver, Solver::Auto | Solver::Dual),
            Name::Logistic | Name::Svm | Name::Svr => self.loss.is_separable(),
            model => matches!(model, Name::KernelRidge | Name::Lasso),
        };
        if self.lambda.is_zero() && !takes_zero {
            let problem = "--lambda is 0; it must be positive, but for --model kernel-ridge, and \
                for --model ridge with --solver dual";
            return Err(Usage(problem.into()).into());
        }
        Ok(())
    }

    /// Options that some models take, whether each is given, and those models.
    fn options(&self) -> Vec<(&'static str, bool, &'static [&'static str])> {
        let mut options = self.loss.given();
        options.extend(self.rows.given());
        options.extend(self.kernel.given());
        options.extend(self.stages.given());
        options.extend([
            ("--solver", self.solver != Solver::Auto, &["ridge"] as &[_]),
            (
                "--probabilities",
                self.probabilities,
                &[
                    "ridge",
                    "kernel-ridge",
                    "falkon",
                    "greedy",
                    "boosting",
                    "logistic",
                    "svm",
                    "lasso",
                ],
            ),
            (
                "--lambda",
                self.lambda.is_given(),
                &[
                    "ridge",
                    "kernel-ridge",
                    "falkon",
                    "boosting",
                    "logistic",
                    "svm",
                    "svr",
                    "lasso",
                ],
            ),
            ("--lambda-by", self.lambda.is_by_given(), &["ridge"]),
            ("--folds", self.lambda.is_folds_given(), &["ridge"]),
            (
                "--no-intercept",
                self.no_intercept,
                &[
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
                ],
            ),
            (
                "--penalised-intercept",
                self.penalised_intercept,
                &["ridge"],
            ),
            ("--noise", self.noise.is_some(), &["gaussian-process"]),
            ("--signal", self.signal.is_some(), &["gaussian-process"]),
            (
                "--lengthscales",
                self.lengthscales != Scales::Fixed,
                &["gaussian-process"],
            ),
        ]);
        options
    }
}
