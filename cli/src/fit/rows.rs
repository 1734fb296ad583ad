//! Learners of rows alone, without targets, and their options.

use super::chosen::{Chosen, Takes};
use crate::{
    args::{at_least_one, positive, whole},
    report::Usage,
};
use anyhow::Result;
use bochner::models::{
    Components, DensityOptions, Fit, KMeansOptions, KernelIcaOptions, KernelPcaOptions, PcaSolver,
    SpectralClusteringOptions, SpectralEmbeddingOptions,
};
use clap::{Args, ValueEnum};
use std::str::FromStr;

/// What they have of their own.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Learner options")]
pub(super) struct RowsArgs {
    /// pca, ica, spectral: so many components, sources or coordinates [default: with pca as many as
    /// explain 0.95 of the variance; with ica, of the columns themselves, as many as they vary in
    /// directions; else 2]
    #[arg(long, value_name = "K", value_parser = at_least_one)]
    #[arg(allow_hyphen_values = true)]
    components: Option<usize>,
    /// pca: the fewest components that explain this share of the variance
    #[arg(long, value_name = "SHARE", value_parser = positive, conflicts_with = "components")]
    #[arg(allow_hyphen_values = true)]
    explained: Option<f64>,
    /// pca: by the `covariance` of all features, in 8 D^2 bytes, or `randomized`, from products
    /// with few directions, which takes --components [default: covariance]
    #[arg(long, value_enum, value_name = "SOLVER")]
    pca_solver: Option<PcaWay>,
    /// pca, randomized: directions beside the components [default: 10]
    #[arg(long, value_name = "P", value_parser = whole::<usize>, allow_hyphen_values = true)]
    oversampling: Option<usize>,
    /// pca, randomized: passes over the rows [default: 3]
    #[arg(long, value_name = "N", value_parser = at_least_one, allow_hyphen_values = true)]
    passes: Option<usize>,
    /// kmeans, spectral-clustering: so many clusters [default: 8]
    #[arg(long, value_name = "K", value_parser = at_least_one)]
    #[arg(allow_hyphen_values = true)]
    clusters: Option<usize>,
    /// kmeans, spectral-clustering: so many seedings, the best of which is taken [default: 1 and
    /// 10]
    #[arg(long, value_name = "N", value_parser = at_least_one)]
    #[arg(allow_hyphen_values = true)]
    starts: Option<usize>,
    /// density: multiples of the bandwidth among which least-squares cross-validation chooses, a
    /// comma list, `auto` for a sixteenth to twice, or `none` [default: auto of `--sigma scott` in
    /// one column, else none]
    #[arg(long, value_name = "C,C,..", allow_hyphen_values = true)]
    multiples: Option<Multiples>,
    /// density: predictions are logarithms of the density
    #[arg(long)]
    log_density: bool,
}

/// How principal components are found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum PcaWay {
    Covariance,
    Randomized,
}

/// A list of multiples.
#[derive(Debug, Clone)]
struct Multiples(Vec<f64>);

impl FromStr for Multiples {
    type Err = String;

    fn from_str(text: &str) -> std::result::Result<Self, String> {
        if text == "auto" {
            return Ok(Self(DensityOptions::some_multiples()));
        }
        if text == "none" {
            return Ok(Self(Vec::new()));
        }
        let each = text.split(',').map(|part| positive(part.trim()));
        Ok(Self(each.collect::<std::result::Result<_, _>>()?))
    }
}

impl RowsArgs {
    /// The options that are there, each with the models that take it.
    pub(super) fn given(&self) -> [(&'static str, bool, &'static [&'static str]); 9] {
        let (components, clusters) = (
            &["pca", "ica", "spectral"],
            &["kmeans", "spectral-clustering"],
        );
        [
            ("--components", self.components.is_some(), components),
            ("--pca-solver", self.pca_solver.is_some(), &["pca"]),
            ("--oversampling", self.oversampling.is_some(), &["pca"]),
            ("--passes", self.passes.is_some(), &["pca"]),
            ("--explained", self.explained.is_some(), &["pca"]),
            ("--clusters", self.clusters.is_some(), clusters),
            ("--starts", self.starts.is_some(), clusters),
            ("--multiples", self.multiples.is_some(), &["density"]),
            ("--log-density", self.log_density, &["density"]),
        ]
    }

    pub(super) fn pca(&self) -> Result<Chosen> {
        let components = match (self.components, self.explained) {
            (Some(count), _) => Components::Count(count),
            (None, Some(share)) => Components::Variance(share),
            (None, None) => KernelPcaOptions::default().components,
        };
        let randomized = self.pca_solver == Some(PcaWay::Randomized);
        let (solver, said) = match (randomized, PcaSolver::randomized()) {
            (
                true,
                PcaSolver::Randomized {
                    oversampling,
                    passes,
                },
            ) => {
                let solver = PcaSolver::Randomized {
                    oversampling: self.oversampling.unwrap_or(oversampling),
                    passes: self.passes.unwrap_or(passes),
                };
                (solver, "randomized")
            }
            _ => (PcaSolver::Covariance, "covariance"),
        };
        let problem = match (randomized, components) {
            (true, Components::Variance(_)) => {
                Some("--pca-solver randomized takes a number of --components")
            }
            (false, _) if self.oversampling.or(self.passes).is_some() => {
                Some("--oversampling and --passes belong to --pca-solver randomized")
            }
            _ => None,
        };
        if let Some(problem) = problem {
            return Err(Usage(problem.into()).into());
        }
        let options = KernelPcaOptions { components, solver };
        Ok(found("components", options, said))
    }

    pub(super) fn density(&self) -> Chosen {
        let options = DensityOptions {
            log: self.log_density,
            multiples: self.multiples.as_ref().map(|given| given.0.clone()),
        };
        found("densities", options, "mean")
    }

    pub(super) fn kmeans(&self) -> Chosen {
        let options = self.clusters(KMeansOptions::default());
        found("clusters", options, "lloyd").iterating()
    }

    pub(super) fn ica(&self) -> Chosen {
        let default = KernelIcaOptions::default();
        let options = KernelIcaOptions {
            components: self.components,
            ..default
        };
        found("sources", options, "fast-ica").iterating()
    }

    pub(super) fn spectral(&self) -> Chosen {
        let default = SpectralEmbeddingOptions::default();
        let options = SpectralEmbeddingOptions {
            dimensions: self.components.unwrap_or(default.dimensions),
        };
        found("coordinates", options, "laplacian")
    }

    pub(super) fn spectral_clustering(&self) -> Chosen {
        let kmeans = self.clusters(SpectralClusteringOptions::default().kmeans);
        let options = SpectralClusteringOptions { kmeans };
        found("clusters", options, "laplacian").iterating()
    }

    /// How clusters are found, where it is not said as usual.
    fn clusters(&self, usual: KMeansOptions) -> KMeansOptions {
        KMeansOptions {
            clusters: self.clusters.unwrap_or(usual.clusters),
            starts: self.starts.unwrap_or(usual.starts),
            ..usual
        }
    }
}

/// A learner that finds these in rows without targets.
fn found(what: &'static str, options: impl Fit + 'static, solver: &'static str) -> Chosen {
    Chosen::new(Box::new(options), Takes::Rows(what), solver)
}
