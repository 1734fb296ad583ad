//! What `bochner fit` learns: `--model` and the options of each.

use super::{
    chosen::{Chosen, Takes},
    kernel_machines::KernelMachineArgs,
    lambda::LambdaArgs,
    losses::{LossArgs, Shared},
    rows::RowsArgs,
    stages::StageArgs,
};
use crate::{
    args::{at_least_one, positive},
    report::{Console, Usage},
};
use anyhow::Result;
use bochner::{
    models::{
        self, FalkonOptions, Fit, GaussianProcessOptions, Lambda, Lengthscales, RidgeOptions,
    },
    solve::ConjugateGradients,
};
use clap::{Args, ValueEnum};

/// What is learnt, and how.
#[derive(Debug, Args)]
#[command(next_help_heading = "Learner options")]
pub(super) struct LearnerArgs {
    /// What is learnt on the features
    #[arg(long, value_enum, default_value_t = Name::Ridge)]
    model: Name,
    #[command(flatten)]
    lambda: LambdaArgs,
    /// Fit without an intercept
    #[arg(long)]
    no_intercept: bool,
    /// Of ridge: `cholesky` of the normal equations, `dual` (for fewer rows than features, which it
    /// holds in memory), `cg` (conjugate gradients, which stores no Gram matrix and featurizes
    /// again in every iteration), or `auto`: the cheaper one that fits into memory
    #[arg(long, value_enum, default_value_t = Solver::Auto)]
    solver: Solver,
    /// Iterations end at this relative residual [default: 1e-6 of ridge and lasso, 1e-5 of falkon,
    /// 1e-4 of logistic, else 1e-3]
    #[arg(long, value_name = "T", value_parser = positive, allow_hyphen_values = true)]
    tolerance: Option<f64>,
    /// Most iterations; each but those of lasso reads the rows [default: 1000 of ridge, 200 of
    /// logistic, svm and svr, 500 of falkon and one-class, 100000 of lasso]
    #[arg(long, value_name = "N", value_parser = at_least_one, allow_hyphen_values = true)]
    iterations: Option<usize>,
    /// Give a classifier probabilities, by a second fit to four fifths of the rows; logistic has
    /// them anyway
    #[arg(long)]
    probabilities: bool,
    /// Standard deviation of the noise, with --model gaussian-process [default: the likeliest]
    #[arg(long, value_name = "S", value_parser = positive)]
    #[arg(allow_hyphen_values = true)]
    noise: Option<f64>,
    /// Standard deviation of the function, with --model gaussian-process [default: the likeliest]
    #[arg(long, value_name = "S", value_parser = positive)]
    #[arg(allow_hyphen_values = true)]
    signal: Option<f64>,
    /// Lengthscales that --model gaussian-process finds by the gradient of the likelihood, from
    /// those of --gamma or --sigma on; --map fourier
    #[arg(long, value_enum, default_value_t = Scales::Fixed)]
    lengthscales: Scales,
    #[command(flatten)]
    loss: LossArgs,
    #[command(flatten)]
    kernel: KernelMachineArgs,
    #[command(flatten)]
    stages: StageArgs,
    #[command(flatten)]
    rows: RowsArgs,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Name {
    /// Least squares with a penalty, of amounts or of classes
    Ridge,
    /// Ridge regression without features, by the kernel of all rows: the reference for few
    KernelRidge,
    /// Ridge regression on the kernel with landmark rows, by preconditioned conjugate gradients
    Falkon,
    /// The best few features of a pool, one a step
    Greedy,
    /// Blocks of features fitted to what is left, until rows held out say when to stop
    Boosting,
    /// Gaussian process regression: predictions with a deviation; finds its own penalty
    GaussianProcess,
    /// Logistic regression of classes, with probabilities
    Logistic,
    /// Linear support vector machine, of classes
    Svm,
    /// Support vector regression, Huber's, quantiles
    Svr,
    /// Sparse least squares
    Lasso,
    /// Novelty detection: 1 for rows like those seen, -1 for others
    OneClass,
    /// Density of rows without targets, by the mean of their kernels
    Density,
    /// Principal components of rows without targets
    Pca,
    /// Independent components of rows without targets
    Ica,
    /// Clusters of rows without targets, around centres
    Kmeans,
    /// Coordinates in which neighbours stay neighbours, of rows without targets
    Spectral,
    /// Clusters of rows without targets, of any shape
    SpectralClustering,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Solver {
    Auto,
    Cholesky,
    Dual,
    Cg,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Scales {
    /// None
    Fixed,
    /// One factor for all columns
    One,
    /// One for each column: those that say nothing grow
    PerColumn,
}

/// What a learner stands on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ground {
    /// The features of a map.
    Features,
    /// The kernel of all rows.
    AllRows,
    /// The kernel of so many rows.
    Landmarks(usize),
}

impl LearnerArgs {
    /// Whether an intercept is fitted.
    pub(super) fn intercept(&self) -> bool {
        !self.no_intercept
    }

    /// What the model stands on, which decides what is drawn for it.
    pub(super) fn ground(&self) -> Ground {
        match self.model {
            Name::KernelRidge => Ground::AllRows,
            Name::Falkon => Ground::Landmarks(self.kernel.landmarks()),
            _ => Ground::Features,
        }
    }

    /// The model as it is spelled.
    pub(super) fn name(&self) -> String {
        let name = self.model.to_possible_value();
        name.map_or(String::new(), |value| value.get_name().to_owned())
    }

    /// Errors on options that the model does not take.
    fn check(&self) -> Result<()> {
        let name = self.name();
        let name = name.as_str();
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
            ("--noise", self.noise.is_some(), &["gaussian-process"]),
            ("--signal", self.signal.is_some(), &["gaussian-process"]),
            (
                "--lengthscales",
                self.lengthscales != Scales::Fixed,
                &["gaussian-process"],
            ),
        ]);
        for (option, given, takers) in options {
            if given && !takers.contains(&name) {
                let takers = takers.join(", ");
                let problem =
                    format!("{option} belongs to --model {takers}, not to --model {name}");
                return Err(Usage(problem).into());
            }
        }
        let takes_zero = match self.model {
            Name::Ridge => matches!(self.solver, Solver::Auto | Solver::Dual),
            Name::Logistic => self.loss.is_separable(),
            model => matches!(model, Name::KernelRidge | Name::Lasso),
        };
        if self.lambda.is_zero() && !takes_zero {
            let problem = "--lambda is 0; it must be positive, but for --model kernel-ridge, and \
                for --model ridge with --solver dual";
            return Err(Usage(problem.into()).into());
        }
        Ok(())
    }

    /// The learner that the options ask for, on a map whose features can be stored or not.
    pub(super) fn choose(&self, dense: bool, console: &Console) -> Result<Chosen> {
        self.check()?;
        let shared = Shared {
            lambda: match self.model {
                Name::Ridge => None,
                _ => self.lambda.only()?,
            },
            intercept: self.intercept(),
            tolerance: self.tolerance,
            iterations: self.iterations,
        };
        let kinked = self.loss.has_a_kink();
        let (fit, takes, solver) = match self.model {
            Name::Ridge => return self.ridge(dense, console),
            Name::KernelRidge => {
                let fit = KernelMachineArgs::kernel_ridge(shared);
                (fit, Takes::NumbersOrLabels, "cholesky")
            }
            Name::Falkon => (
                Box::new(KernelMachineArgs::falkon(shared)) as Box<dyn Fit>,
                Takes::NumbersOrLabels,
                "preconditioned cg",
            ),
            Name::Greedy => (self.stages.greedy(shared), Takes::NumbersOrLabels, "greedy"),
            Name::Boosting => (
                self.stages.boosting(shared),
                Takes::NumbersOrLabels,
                "boosting",
            ),
            Name::GaussianProcess => return self.gaussian_process(dense, console),
            Name::Density => return Ok(self.rows.density()),
            Name::Pca => return self.rows.pca(),
            Name::Ica => return Ok(self.rows.ica()),
            Name::Kmeans => return Ok(self.rows.kmeans()),
            Name::Spectral => return Ok(self.rows.spectral()),
            Name::SpectralClustering => return Ok(self.rows.spectral_clustering()),
            Name::Logistic => {
                let fit = self.loss.logistic(shared);
                let solver = match self.loss.is_separable() {
                    true => "accelerated",
                    false => "quasi-newton",
                };
                (fit, Takes::Labels, solver)
            }
            Name::Svm => {
                let solver = if kinked == Some(true) {
                    "admm"
                } else {
                    "quasi-newton"
                };
                (self.loss.support_vectors(shared)?, Takes::Labels, solver)
            }
            Name::Svr => {
                let solver = if kinked == Some(false) {
                    "quasi-newton"
                } else {
                    "admm"
                };
                (self.loss.residuals(shared)?, Takes::Numbers, solver)
            }
            Name::Lasso => (
                self.loss.lasso(shared),
                Takes::NumbersOrLabels,
                "coordinate descent",
            ),
            Name::OneClass => (
                self.loss.one_class(shared),
                Takes::Rows("novelties"),
                "admm",
            ),
        };
        Ok(Chosen {
            fit,
            takes,
            iterates: !matches!(
                self.model,
                Name::Lasso | Name::KernelRidge | Name::Greedy | Name::Boosting
            ),
            solver,
            ridge: None,
            lambda_given: self.lambda.is_given(),
            probabilities: self.probabilities,
        })
    }

    fn gaussian_process(&self, dense: bool, console: &Console) -> Result<Chosen> {
        if !dense {
            let problem = "--model gaussian-process needs a Gram matrix, for which binning has too \
                many columns; use another --map";
            return Err(Usage(problem.into()).into());
        }
        console.detail(
            "variances of signal and noise: by the marginal likelihood, from one eigendecomposition",
        );
        Ok(Chosen {
            fit: Box::new(GaussianProcessOptions {
                noise: self.noise.map(|deviation| deviation * deviation),
                signal: self.signal.map(|deviation| deviation * deviation),
                intercept: self.intercept(),
                lengthscales: match self.lengthscales {
                    Scales::Fixed => Lengthscales::Fixed,
                    Scales::One => Lengthscales::One,
                    Scales::PerColumn => Lengthscales::PerColumn,
                },
            }),
            takes: Takes::Numbers,
            iterates: false,
            solver: "eigen",
            ridge: None,
            lambda_given: false,
            probabilities: false,
        })
    }

    fn ridge(&self, dense: bool, console: &Console) -> Result<Chosen> {
        let lambda = self.lambda.of_ridge()?;
        let solver = self.solver(dense, console);
        let iterates = matches!(solver, models::Solver::ConjugateGradients { .. });
        let direct = match lambda {
            Lambda::Fixed(_) => "cholesky",
            _ if iterates || !dense => {
                let problem = "a choice among several penalties needs the Gram matrix of a map \
                    without binning, by --solver cholesky; use one --lambda";
                return Err(Usage(problem.into()).into());
            }
            _ => "eigen",
        };
        let options = RidgeOptions {
            lambda,
            intercept: self.intercept(),
            solver,
        };
        Ok(Chosen {
            fit: Box::new(options.clone()),
            takes: Takes::NumbersOrLabels,
            iterates: iterates || !dense,
            solver: direct,
            ridge: Some(options),
            lambda_given: self.lambda.is_given() && !self.lambda.is_auto(),
            probabilities: self.probabilities,
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
    pub(super) fn residual(&self) -> Option<f64> {
        match self.model {
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
                "solver: the dual, with the features of all rows in memory",
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
                "solver: Cholesky of the sums of all bins, or conjugate gradients if cheaper",
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
