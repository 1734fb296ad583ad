//! Learners of rows alone, without targets, and their options.

use super::chosen::{Chosen, Takes};
use crate::args::{at_least_one, positive};
use bochner::models::{
    Components, KMeansOptions, KernelIcaOptions, KernelPcaOptions, SpectralClusteringOptions,
    SpectralEmbeddingOptions,
};
use clap::Args;

/// What they have of their own.
#[derive(Debug, Args)]
#[command(next_help_heading = "Learner options")]
pub(super) struct RowsArgs {
    /// pca, ica, spectral: so many components, sources or coordinates [default: with pca as many as
    /// explain 0.95 of the variance, else 2]
    #[arg(long, value_name = "K", value_parser = at_least_one)]
    #[arg(allow_hyphen_values = true)]
    components: Option<usize>,
    /// pca: the fewest components that explain this share of the variance
    #[arg(long, value_name = "SHARE", value_parser = positive, conflicts_with = "components")]
    #[arg(allow_hyphen_values = true)]
    explained: Option<f64>,
    /// kmeans, spectral-clustering: so many clusters [default: 8]
    #[arg(long, value_name = "K", value_parser = at_least_one)]
    #[arg(allow_hyphen_values = true)]
    clusters: Option<usize>,
    /// kmeans, spectral-clustering: so many seedings, the best of which is taken [default: 1 and
    /// 10]
    #[arg(long, value_name = "N", value_parser = at_least_one)]
    #[arg(allow_hyphen_values = true)]
    starts: Option<usize>,
}

impl RowsArgs {
    /// The options that are there, each with the models that take it.
    pub(super) fn given(&self) -> [(&'static str, bool, &'static [&'static str]); 4] {
        let (components, clusters) = (
            &["pca", "ica", "spectral"],
            &["kmeans", "spectral-clustering"],
        );
        [
            ("--components", self.components.is_some(), components),
            ("--explained", self.explained.is_some(), &["pca"]),
            ("--clusters", self.clusters.is_some(), clusters),
            ("--starts", self.starts.is_some(), clusters),
        ]
    }

    pub(super) fn pca(&self) -> Chosen {
        let components = match (self.components, self.explained) {
            (Some(count), _) => Components::Count(count),
            (None, Some(share)) => Components::Variance(share),
            (None, None) => KernelPcaOptions::default().components,
        };
        Chosen {
            fit: Box::new(KernelPcaOptions { components }),
            takes: Takes::Rows("components"),
            iterates: false,
            solver: "covariance",
            probabilities: false,
        }
    }

    pub(super) fn kmeans(&self) -> Chosen {
        let default = KMeansOptions::default();
        Chosen {
            fit: Box::new(KMeansOptions {
                clusters: self.clusters.unwrap_or(default.clusters),
                starts: self.starts.unwrap_or(default.starts),
                ..default
            }),
            takes: Takes::Rows("clusters"),
            iterates: true,
            solver: "lloyd",
            probabilities: false,
        }
    }

    pub(super) fn ica(&self) -> Chosen {
        let default = KernelIcaOptions::default();
        Chosen {
            fit: Box::new(KernelIcaOptions {
                components: self.components.unwrap_or(default.components),
                ..default
            }),
            takes: Takes::Rows("sources"),
            iterates: true,
            solver: "fast-ica",
            probabilities: false,
        }
    }

    pub(super) fn spectral(&self) -> Chosen {
        let default = SpectralEmbeddingOptions::default();
        Chosen {
            fit: Box::new(SpectralEmbeddingOptions {
                dimensions: self.components.unwrap_or(default.dimensions),
            }),
            takes: Takes::Rows("coordinates"),
            iterates: false,
            solver: "laplacian",
            probabilities: false,
        }
    }

    pub(super) fn spectral_clustering(&self) -> Chosen {
        let default = SpectralClusteringOptions::default().kmeans;
        let kmeans = KMeansOptions {
            clusters: self.clusters.unwrap_or(default.clusters),
            starts: self.starts.unwrap_or(default.starts),
            ..default
        };
        Chosen {
            fit: Box::new(SpectralClusteringOptions { kmeans }),
            takes: Takes::Rows("clusters"),
            iterates: true,
            solver: "laplacian",
            probabilities: false,
        }
    }
}
