//! What `bochner fit` learns: `--model` and the options of each.

mod check;
mod names;
mod ridge;

pub(crate) use self::names::meant;
use self::names::{Name, Scales, Solver};
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
use bochner::models::{
    ClassWeights, DensityOptions, Fit, GaussianProcessOptions, KernelIcaOptions, Lengthscales,
    RowWeights, SpectralClusteringOptions, SpectralEmbeddingOptions, Usual,
};
use clap::{Args, ValueEnum};

/// What is learnt, and how.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Learner options")]
pub(super) struct LearnerArgs {
    /// Model that is fitted to the features [default: ridge]
    #[arg(long, value_enum)]
    model: Option<Name>,
    /// Whether weights count rows, to a model that may take them otherwise: those of a half-life
    /// do.
    #[arg(skip)]
    pub(super) counts_rows: bool,
    #[command(flatten)]
    lambda: LambdaArgs,
    /// Fit without an intercept
    #[arg(long)]
    no_intercept: bool,
    /// Of ridge: give the intercept the penalty of the coefficients, as if it were that of a
    /// feature that is 1; by `--solver cholesky` and without binning
    #[arg(long, conflicts_with = "no_intercept")]
    penalised_intercept: bool,
    /// Of ridge: `cholesky` of the normal equations, `dual` (for fewer rows than features: it holds
    /// the products of all rows with each other), `cg` (conjugate gradients, which stores no Gram
    /// matrix and featurizes again in every iteration), or `auto`: the cheaper one that fits into
    /// memory
    #[arg(long, value_enum, default_value_t = Solver::Auto)]
    solver: Solver,
    /// Iterations end at this relative residual [default: 1e-6 of ridge and lasso, 1e-5 of falkon,
    /// 1e-4 of smooth losses, 1e-3 of those with a kink and of one-class]
    #[arg(long, value_name = "T", value_parser = positive, allow_hyphen_values = true)]
    tolerance: Option<f64>,
    /// Most iterations; each but those of lasso reads the rows [default: 1000 of ridge,
    /// logistic, svm and svr, 500 of falkon and one-class, 100000 of lasso]
    #[arg(long, value_name = "N", value_parser = at_least_one, allow_hyphen_values = true)]
    iterations: Option<usize>,
    /// Give a classifier probabilities, which logistic has anyway
    ///
    /// They come of a second fit to four fifths of the rows; of ridge, which has them by rows that
    /// it leaves out in turn, only where it leaves out none.
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

/// What a learner stands on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ModelBasis {
    /// The features of a map.
    Features,
    /// The kernel of all rows.
    AllRows,
    /// The kernel of so many rows.
    Landmarks(usize),
}

impl LearnerArgs {
    fn model(&self) -> Name {
        self.model.unwrap_or(Name::Ridge)
    }

    /// Whether no option names a learner, a penalty, or how it is solved for.
    pub(super) fn is_open(&self) -> bool {
        let lambda = &self.lambda;
        let is_penalised = lambda.is_given() || lambda.is_by_given() || lambda.is_folds_given();
        self.model.is_none()
            && !is_penalised
            && !self.penalised_intercept
            && self.solver == Solver::Auto
            && self.tolerance.is_none()
            && self.iterations.is_none()
            && self.loss.class_weights() == ClassWeights::Equal
    }

    /// Whether an intercept is fitted.
    pub(super) fn intercept(&self) -> bool {
        !self.no_intercept
    }

    /// What the model stands on, which decides what is drawn for it.
    pub(super) fn basis(&self) -> ModelBasis {
        match self.model() {
            Name::KernelRidge => ModelBasis::AllRows,
            Name::Falkon => ModelBasis::Landmarks(self.kernel.landmarks()),
            _ => ModelBasis::Features,
        }
    }

    /// Whether what it stands on hangs on nothing but what was given.
    pub(super) fn is_basis_given(&self) -> bool {
        match self.basis() {
            ModelBasis::Features => true,
            ModelBasis::AllRows => false,
            ModelBasis::Landmarks(_) => self.kernel.is_given(),
        }
    }

    /// So many landmarks of so many rows: where no number was given, no more than there are.
    pub(super) fn landmarks_among(&self, landmarks: usize, rows: u64) -> usize {
        if self.kernel.is_given() {
            landmarks
        } else {
            landmarks.min(usize::try_from(rows).unwrap_or(landmarks))
        }
    }

    /// The model as it is spelled.
    pub(super) fn name(&self) -> String {
        let name = self.model().to_possible_value();
        name.map_or(String::new(), |value| value.get_name().to_owned())
    }

    /// What stands before it where nobody says so.
    pub(super) fn usual(&self) -> Usual {
        match self.model() {
            Name::Density => DensityOptions::default().usual(),
            Name::Ica => KernelIcaOptions::default().usual(),
            Name::Spectral => SpectralEmbeddingOptions::default().usual(),
            Name::SpectralClustering => SpectralClusteringOptions::default().usual(),
            _ => Usual::default(),
        }
    }

    /// The learner that the options ask for, on a map whose features can be stored or not.
    pub(super) fn choose(&self, dense: bool, console: &Console) -> Result<Chosen> {
        self.check()?;
        let shared = self.shared()?;
        let (loss, either) = (&self.loss, Takes::NumbersOrLabels);
        let kinked = loss.has_a_kink();
        let chosen = match self.model() {
            Name::Ridge => return self.ridge(dense, console),
            Name::KernelRidge => {
                let fit = KernelMachineArgs::kernel_ridge(self.lambda.of_ridge()?, shared);
                Chosen::new(fit, either, "cholesky")
            }
            Name::Falkon => {
                let fit = KernelMachineArgs::falkon(self.lambda.of_ridge()?, shared);
                Chosen::new(fit, either, "preconditioned cg").iterating()
            }
            Name::Greedy => Chosen::new(self.stages.greedy(shared), either, "greedy"),
            Name::Boosting => Chosen::new(self.stages.boosting(shared), either, "boosting"),
            Name::GaussianProcess => self.gaussian_process(dense, console)?,
            Name::Density => self.rows.density(),
            Name::Pca => self.rows.pca()?,
            Name::Ica => self.rows.ica(),
            Name::Kmeans => self.rows.kmeans(),
            Name::Spectral => self.rows.spectral(),
            Name::SpectralClustering => self.rows.spectral_clustering(),
            Name::Logistic => {
                Chosen::new(loss.logistic(shared), Takes::Labels, loss.solver(false)).iterating()
            }
            Name::Svm => {
                let solver = loss.solver(kinked == Some(true));
                Chosen::new(loss.support_vectors(shared)?, Takes::Labels, solver).iterating()
            }
            Name::Svr => {
                let solver = loss.solver(kinked != Some(false));
                Chosen::new(loss.residuals(shared)?, Takes::Numbers, solver).iterating()
            }
            Name::Lasso => Chosen::new(loss.lasso(shared), either, "coordinate descent"),
            Name::OneClass => {
                Chosen::new(loss.one_class(shared), Takes::Rows("novelties"), "admm").iterating()
            }
        };
        Ok(Chosen {
            lambda_given: self.lambda.is_given(),
            probabilities: self.probabilities,
            class_weights: self.class_weights(),
            ..chosen
        })
    }

    /// What most learners share.
    fn shared(&self) -> Result<Shared> {
        Ok(Shared {
            lambda: match self.model() {
                Name::Ridge | Name::KernelRidge | Name::Falkon => None,
                _ => self.lambda.only()?,
            },
            intercept: self.intercept(),
            tolerance: self.tolerance,
            iterations: self.iterations,
        })
    }

    /// What classes count, of learners that do not weigh them themselves.
    fn class_weights(&self) -> ClassWeights {
        match self.model() {
            Name::Logistic | Name::Svm => ClassWeights::Equal,
            _ => self.loss.class_weights(),
        }
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
        let options = GaussianProcessOptions {
            noise: self.noise.map(|deviation| deviation * deviation),
            signal: self.signal.map(|deviation| deviation * deviation),
            intercept: self.intercept(),
            lengthscales: match self.lengthscales {
                Scales::Fixed => Lengthscales::Fixed,
                Scales::One => Lengthscales::One,
                Scales::PerColumn => Lengthscales::PerColumn,
            },
            weights: if self.counts_rows {
                RowWeights::Counts
            } else {
                RowWeights::Precisions
            },
        };
        Ok(Chosen::new(Box::new(options), Takes::Numbers, "eigen"))
    }
}
