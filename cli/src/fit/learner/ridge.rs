//! Ridge regression and what solves for it.

use super::{Chosen, LearnerArgs, Name, Solver, Takes};
use crate::report::{Console, Usage};
use anyhow::Result;
use bochner::{
    models::{self, FalkonOptions, Lambda, RidgeOptions},
    solve::ConjugateGradients,
};

impl LearnerArgs {
    pub(super) fn ridge(&self, dense: bool, console: &Console) -> Result<Chosen> {
        let lambda = self.lambda.of_ridge()?;
        let solver = self.solver(dense, console);
        let iterates = matches!(solver, models::Solver::ConjugateGradients { .. });
        if matches!(lambda, Lambda::Best { .. }) && (iterates || !dense) {
            let problem = "a choice among several penalties needs the Gram matrix of a map without \
                           binning, by --solver cholesky; use one --lambda";
            return Err(Usage(problem.into()).into());
        }
        let options = RidgeOptions {
            lambda,
            intercept: self.intercept(),
            penalised: self.penalised_intercept,
            solver,
        };
        let fit = Box::new(options.clone());
        Ok(Chosen {
            iterates: iterates || !dense,
            ridge: Some(options),
            lambda_given: self.lambda.is_given() && !self.lambda.is_auto(),
            probabilities: self.probabilities,
            class_weights: self.class_weights(),
            ..Chosen::new(fit, Takes::NumbersOrLabels, "cholesky")
        })
    }

    /// When conjugate gradients end: at this residual, or after so many.
    fn stops(&self) -> (f64, usize) {
        let default = ConjugateGradients::default();
        let tolerance = self.tolerance.unwrap_or(default.tolerance);
        (tolerance, self.iterations.unwrap_or(default.max_iterations))
    }

    /// The residual at which the iterations of ridge regression end; those of others end at other
    /// measures.
    pub(in crate::fit) fn residual(&self) -> Option<f64> {
        match self.model() {
            Name::Ridge => Some(self.stops().0),
            Name::Falkon => {
                let default = FalkonOptions::default().tolerance;
                Some(self.tolerance.unwrap_or(default))
            }
            _ => None,
        }
    }

    /// What finds the coefficients. Who says when to stop wants to iterate where there is a choice.
    fn solver(&self, dense: bool, console: &Console) -> models::Solver {
        let told = self.tolerance.is_some() || self.iterations.is_some();
        let (solver, detail) = match (self.solver, dense) {
            (Solver::Auto, true) => (
                models::Solver::Auto,
                "solver: Cholesky of the normal equations, or the dual for fewer rows than features",
            ),
            (Solver::Dual, _) => (
                models::Solver::Dual,
                "solver: the dual, from the products of all rows with each other",
            ),
            (Solver::Cholesky, true) => (
                models::Solver::Cholesky,
                "solver: Cholesky of the normal equations, which are summed in one pass",
            ),
            (Solver::Cholesky, false) => (
                models::Solver::Cholesky,
                "solver: Cholesky of the sums of all bins",
            ),
            (Solver::Auto, false) if !told => (
                models::Solver::Auto,
                "solver: Cholesky of the sums of all bins or the products of all rows, or conjugate \
                 gradients if cheaper",
            ),
            _ => {
                let (tolerance, max_iterations) = self.stops();
                (
                    models::Solver::ConjugateGradients {
                        tolerance,
                        max_iterations,
                    },
                    "solver: conjugate gradients, which featurize the rows in every iteration",
                )
            }
        };
        console.detail(detail);
        solver
    }
}
