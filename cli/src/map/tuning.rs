//! How frequencies are drawn, and the options of single maps.

use super::landmark_kernel::{LandmarkRows, landmark_kernel, landmark_rows};
use crate::args::{at_least_one, positive};
use crate::flags;
use anyhow::Result;
use bochner::{
    Error,
    features::{
        Entries, Form, Landmarks, LeverageSpec, MapChoice, MapKind, MapSpec, Precomputed, Radii,
    },
    kernels::Kernel,
    sampling::Sampling,
    seed::Seed,
};
use clap::Args;
use ndarray::Array2;
use std::{fmt, str::FromStr, sync::Arc};

/// A sampling, or leverage scores on top of Monte Carlo.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Drawing {
    Plain(Sampling),
    Leverage,
}

impl fmt::Display for Drawing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Plain(sampling) => sampling.fmt(f),
            Self::Leverage => f.write_str("leverage"),
        }
    }
}

impl FromStr for Drawing {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.trim() {
            "leverage" => Ok(Self::Leverage),
            other => match other.parse() {
                Ok(sampling) => Ok(Self::Plain(sampling)),
                Err(error) => Err(format!("{error}, leverage")),
            },
        }
    }
}

/// Maps by name, or the cheapest on the device.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum MapOption {
    Auto,
    Named(MapChoice),
}

impl MapOption {
    /// The map; for `auto` one that stands for all its candidates until there are a device and
    /// columns.
    pub(crate) fn named(&self) -> MapChoice {
        match self {
            Self::Auto => MapKind::Fourier.into(),
            Self::Named(map) => map.clone(),
        }
    }
}

impl FromStr for MapOption {
    type Err = Error;

    fn from_str(text: &str) -> bochner::Result<Self> {
        match text.trim() {
            "auto" => Ok(Self::Auto),
            named => Ok(Self::Named(named.parse()?)),
        }
    }
}

/// Options of single maps.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Options of single maps")]
pub(crate) struct TuningArgs {
    /// Nystrom: how landmarks are chosen: uniform, uniform-with-replacement, column-norm, diagonal,
    /// leverage[:LAMBDA], pivoted-cholesky, k-means, or a .npy file of rows [m, d], raw as the data
    /// [default: uniform]
    #[arg(long, value_name = "CHOICE", value_parser = landmarks)]
    landmarks_choice: Option<Landmarks>,
    /// Precomputed: the kernel of the landmarks with each other, [m, m]
    #[arg(long, value_name = "K.npy", value_parser = landmark_kernel)]
    #[arg(conflicts_with = "landmark_rows")]
    pub(super) landmark_kernel: Option<Precomputed>,
    /// Precomputed: the rows of the input that are the landmarks, one for each column and in
    /// their order: rows counted from 0 and ranges (0-99,200), a .npy of them, or `all` of a
    /// square kernel matrix
    #[arg(long, value_name = "ROWS", value_parser = landmark_rows)]
    pub(super) landmark_rows: Option<LandmarkRows>,
    /// Nystrom and precomputed: keep the R largest eigenvalues of the landmarks' kernel [default:
    /// all]
    #[arg(long, value_name = "R", value_parser = at_least_one)]
    rank: Option<usize>,
    /// Projection: entries of the random matrix, gaussian, sparse:S (one in S is not 0) or sparse
    /// (S the root of the columns) [default: gaussian]
    #[arg(long, value_name = "ENTRIES")]
    entries: Option<Entries>,
    /// Additive chi-squared: distance of the samples of the spectrum [default: what suits their
    /// number]
    #[arg(long, value_name = "L", value_parser = positive)]
    sample_interval: Option<f64>,
    /// SORF: norms of the frequencies, `drawn` from the kernel's law or the paper's `constant`
    /// [default: drawn]
    #[arg(long, value_name = "RADII")]
    sorf_radii: Option<Radii>,
    /// Leverage sampling: ridge penalty per sample of the scores [default: 0.001]
    #[arg(long, value_name = "L", value_parser = positive)]
    leverage_lambda: Option<f64>,
    /// Leverage sampling: frequencies to choose from [default: four times those kept]
    #[arg(long, value_name = "POOL", value_parser = at_least_one)]
    leverage_pool: Option<usize>,
}

/// Landmarks by name, or the rows of a file.
fn landmarks(text: &str) -> Result<Landmarks, String> {
    if !text.ends_with(".npy") {
        return text
            .parse()
            .map_err(|error| format!("{error}, or FILE.npy"));
    }
    let read = || -> bochner::Result<Array2<f64>> {
        let mut source = bochner::data::open(text, &bochner::data::OpenOptions::default())?;
        let mut rows = Vec::new();
        while let Some(chunk) = source.next_chunk(1 << 16)? {
            rows.extend(chunk.x.into_f64());
        }
        let shape = (rows.len() / source.columns(), source.columns());
        Array2::from_shape_vec(shape, rows).map_err(|error| Error::shape(error.to_string()))
    };
    read().map(Landmarks::Rows).map_err(|e| flags::explain(&e))
}

impl TuningArgs {
    /// A spec with these options.
    pub(crate) fn spec(
        &self,
        map: MapChoice,
        kernel: Arc<dyn Kernel>,
        features: usize,
        form: Form,
        drawing: Drawing,
        seed: u64,
    ) -> MapSpec {
        let mut spec = MapSpec::new(map, kernel);
        spec.features = features;
        spec.form = form;
        spec.seed = Seed(seed);
        match drawing {
            Drawing::Plain(sampling) => spec.sampling = sampling,
            Drawing::Leverage => {
                spec.leverage = Some(LeverageSpec {
                    lambda: self.leverage_lambda.unwrap_or(1e-3),
                    pool: self.leverage_pool,
                });
            }
        }
        spec.entries = self.entries.unwrap_or_default();
        spec.interval = self.sample_interval;
        spec.radii = self.sorf_radii.unwrap_or_default();
        spec.landmarks = self.landmarks_choice();
        spec.rank = self.rank;
        spec.precomputed = self.landmark_kernel.clone();
        spec
    }

    /// How landmarks are chosen.
    pub(super) fn landmarks_choice(&self) -> Landmarks {
        self.landmarks_choice.clone().unwrap_or_default()
    }

    /// Options that a learner on the kernel itself does not take, and whether they are given; it
    /// may have landmarks.
    pub(super) fn idle_of_columns(&self, landmarks: bool) -> [(&'static str, bool); 9] {
        let choice = self.landmarks_choice.is_some() && !landmarks;
        [
            ("--landmarks-choice", choice),
            ("--rank", self.rank.is_some()),
            ("--landmark-kernel", self.landmark_kernel.is_some()),
            ("--landmark-rows", self.landmark_rows.is_some()),
            ("--entries", self.entries.is_some()),
            ("--sample-interval", self.sample_interval.is_some()),
            ("--sorf-radii", self.sorf_radii.is_some()),
            ("--leverage-lambda", self.leverage_lambda.is_some()),
            ("--leverage-pool", self.leverage_pool.is_some()),
        ]
    }

    /// The options given that concern none of the maps.
    pub(super) fn idle(&self, map: &MapChoice, leverage: bool) -> Vec<&'static str> {
        let (nystrom, sorf) = (map.has(MapKind::Nystrom), map.has(MapKind::Sorf));
        let options = [
            (
                self.landmarks_choice.is_some() && !nystrom,
                "--landmarks-choice",
            ),
            (
                self.rank.is_some() && !nystrom && !map.has(MapKind::Precomputed),
                "--rank",
            ),
            (
                self.entries.is_some() && !map.has(MapKind::Projection),
                "--entries",
            ),
            (
                self.sample_interval.is_some() && !map.has(MapKind::AdditiveChi2),
                "--sample-interval",
            ),
            (self.sorf_radii.is_some() && !sorf, "--sorf-radii"),
            (
                self.leverage_lambda.is_some() && !leverage,
                "--leverage-lambda",
            ),
            (self.leverage_pool.is_some() && !leverage, "--leverage-pool"),
        ];
        let idle = options.into_iter().filter(|(idle, _)| *idle);
        idle.map(|(_, name)| name).collect()
    }
}
