//! Map options: from arguments to a [`MapSpec`], and to a map once the data is known.

use crate::{
    args::{at_least_one, positive},
    report::{Console, Report, Usage, Value, json, six_digits},
};
use anyhow::Result;
use bochner::{
    Device, Error,
    data::{ChunkSource, Survey},
    features::{
        Affine, Bandwidth, FeatureMap, Form, Landmarks, LeverageSpec, MapChoice, MapKind, MapSpec,
        Radii,
    },
    kernels::{self, Kernel},
    sampling::Sampling,
    seed::Seed,
};
use clap::Args;
use ndarray::Array2;
use std::{fmt, str::FromStr, sync::Arc};

/// Which kernel, on what scale, and the seed.
#[derive(Debug, Args)]
#[command(next_help_heading = "Map options")]
pub(crate) struct KernelArgs {
    /// gaussian, laplacian, exponential, matern32, matern52, cauchy, rational-quadratic, arc-cosine:ORDER; an unknown name
    /// lists all [default: gaussian; laplacian with binning, arc-cosine:1 with arc-cosine]
    #[arg(long, value_name = "KERNEL", value_parser = kernels::parse)]
    kernel: Option<Arc<dyn Kernel>>,
    /// Gamma of the kernel's formula, exp(-gamma |x-y|^2) for the Gaussian: a number, `median` or `scale`
    /// [default: scale]
    #[arg(
        long,
        value_name = "G",
        conflicts_with = "sigma",
        allow_hyphen_values = true
    )]
    #[arg(value_parser = Bandwidth::from_gamma)]
    gamma: Option<Bandwidth>,
    /// Lengthscale: a number, a comma list with one for each column, `median` or `scale`
    #[arg(long, value_name = "S", allow_hyphen_values = true, value_parser = Bandwidth::from_sigma)]
    sigma: Option<Bandwidth>,
    /// Seed of everything random: frequencies, split, sample of rows
    #[arg(
        long,
        value_name = "N",
        default_value_t = 0,
        allow_hyphen_values = true
    )]
    pub(crate) seed: u64,
    /// Centre every column and divide it by its standard deviation on the training rows
    #[arg(long)]
    standardize: bool,
}

/// Rows that the `median` rule looks at.
const MEDIAN_ROWS: usize = 2000;

/// The scale of the columns, resolved.
#[derive(Debug)]
pub(crate) struct Scale {
    pub(crate) input: Affine,
    lengthscales: Vec<f64>,
    gamma: Option<f64>,
}

impl KernelArgs {
    /// The kernel given, or what suits the map.
    pub(crate) fn kernel_of(&self, map: &MapChoice) -> Arc<dyn Kernel> {
        let suitable = || -> Arc<dyn Kernel> {
            match () {
                () if map.has(MapKind::ArcCosine) => match kernels::ArcCosine::new(1) {
                    Ok(kernel) => Arc::new(kernel),
                    Err(_) => Arc::new(kernels::Gaussian),
                },
                () if map.has(MapKind::Binning) => Arc::new(kernels::Laplacian),
                () => Arc::new(kernels::Gaussian),
            }
        };
        self.kernel.clone().unwrap_or_else(suitable)
    }

    fn bandwidth(&self) -> Bandwidth {
        let given = self.gamma.as_ref().or(self.sigma.as_ref());
        given.cloned().unwrap_or(Bandwidth::Scale)
    }

    /// Errors of the bandwidth that need no data.
    pub(crate) fn check(&self, kernel: &dyn Kernel) -> Result<()> {
        let fixed = self.bandwidth().fixed(kernel);
        fixed.map_err(|error| Usage(error.to_string()))?;
        Ok(())
    }

    /// Whether [`Self::scale`] needs a survey.
    fn needs_survey(&self) -> bool {
        self.standardize || matches!(self.bandwidth(), Bandwidth::Scale | Bandwidth::Median)
    }

    /// How many rows the survey samples for the bandwidth.
    pub(crate) fn sample_rows(&self) -> usize {
        match self.bandwidth() {
            Bandwidth::Median => MEDIAN_ROWS,
            _ => 0,
        }
    }

    /// Reads the source once.
    pub(crate) fn survey(
        &self,
        source: &mut dyn ChunkSource,
        sample_rows: usize,
        console: &Console,
    ) -> Result<(Survey, f64)> {
        let bar = console.bar("survey", source.rows().map(|rows| rows as u64));
        console.timed(|| {
            Survey::of(source, sample_rows, self.seed, &mut |rows| {
                bar.set_position(rows);
            })
        })
    }

    /// From raw columns to unit lengthscale.
    pub(crate) fn scale(
        &self,
        kernel: &dyn Kernel,
        columns: usize,
        survey: Option<&Survey>,
    ) -> Result<Scale> {
        let bandwidth = self.bandwidth();
        let lengthscales = match (survey, bandwidth.fixed(kernel)?) {
            (_, Some(fixed)) => fixed,
            (Some(survey), None) => bandwidth.lengthscales(kernel, survey, self.standardize)?,
            (None, None) => unreachable!("a rule needs a survey"),
        };
        let gamma = match (&bandwidth, lengthscales.as_slice()) {
            (Bandwidth::Gamma(gamma), _) => Some(*gamma),
            (_, &[lengthscale]) => kernel.gamma_of_lengthscale(lengthscale),
            _ => None,
        };
        let input = match survey {
            Some(survey) if self.standardize => Affine::standardize(survey),
            _ => Affine::identity(columns),
        };
        Ok(Scale {
            input: input.lengthscales(&lengthscales)?,
            lengthscales,
            gamma,
        })
    }

    /// What kernel and scale came to.
    pub(crate) fn describe(&self, kernel: &dyn Kernel, scale: &Scale, report: &mut Report) {
        let rule = self.bandwidth();
        let origin = match rule {
            Bandwidth::Median | Bandwidth::Scale => format!(" ({rule})"),
            _ => String::new(),
        };
        match (scale.gamma, scale.lengthscales.as_slice()) {
            (Some(gamma), _) => report.line("gamma", format!("{}{origin}", six_digits(gamma))),
            (None, [one]) => report.line("lengthscale", format!("{}{origin}", six_digits(*one))),
            (None, all) => report.line("lengthscales", format!("{}", all.len())),
        }
        let lengthscale: Value = match scale.lengthscales.as_slice() {
            &[one] => json(one),
            all => json(all),
        };
        report.set("kernel", kernel.spec());
        report.set("columns", scale.input.columns());
        report.set("bandwidth", rule.to_string());
        report.set("lengthscale", lengthscale);
        report.set("gamma", scale.gamma);
        report.set("standardize", self.standardize);
        report.set("seed", self.seed);
    }
}

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

/// Options of single maps.
#[derive(Debug, Args)]
#[command(next_help_heading = "Options of single maps")]
pub(crate) struct TuningArgs {
    /// Nystrom: how landmarks are chosen: uniform, uniform-with-replacement, column-norm, diagonal, leverage[:LAMBDA],
    /// pivoted-cholesky, k-means, or a .npy file of rows [m, d], raw as the data [default: uniform]
    #[arg(long, value_name = "CHOICE", value_parser = landmarks)]
    landmarks_choice: Option<Landmarks>,
    /// Nystrom: keep the R largest eigenvalues of the landmarks' kernel [default: all]
    #[arg(long, value_name = "R", value_parser = at_least_one)]
    rank: Option<usize>,
    /// SORF: norms of the frequencies, `drawn` from the kernel's law or the paper's `constant` [default: drawn]
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
        Array2::from_shape_vec(shape, rows).map_err(|error| Error::Shape(error.to_string()))
    };
    read().map(Landmarks::Rows).map_err(|e| e.to_string())
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
        spec.radii = self.sorf_radii.unwrap_or_default();
        spec.landmarks = self.landmarks_choice.clone().unwrap_or_default();
        spec.rank = self.rank;
        spec
    }

    /// The options given that concern none of the maps.
    fn idle(&self, map: &MapChoice, leverage: bool) -> Vec<&'static str> {
        let (nystrom, sorf) = (map.has(MapKind::Nystrom), map.has(MapKind::Sorf));
        let options = [
            (
                self.landmarks_choice.is_some() && !nystrom,
                "--landmarks-choice",
            ),
            (self.rank.is_some() && !nystrom, "--rank"),
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

/// Which feature map.
#[derive(Debug, Args)]
#[command(next_help_heading = "Map options")]
pub(crate) struct MapArgs {
    /// fourier, fastfood, sorf, arc-cosine, nystrom, binning, or several side by side: binning+fourier,
    /// 0.3*binning:200+0.7*fourier (weight, map, features)
    #[arg(long, value_name = "MAP", default_value = "fourier")]
    map: MapChoice,
    /// Number of features, real output columns: for nystrom of landmarks, chosen among ten times as many sampled rows (at
    /// least 2,000, at most 20,000), for binning of grids; maps side by side share them evenly
    #[arg(
        long,
        value_name = "D",
        default_value_t = 1000,
        allow_hyphen_values = true
    )]
    features: usize,
    /// `paired` (cosine and sine of D/2 frequencies) or `phase` (cosine with a random phase of D); fourier, fastfood, sorf
    /// [default: paired]
    #[arg(long, value_name = "FORM")]
    form: Option<Form>,
    /// How frequencies are drawn: monte-carlo, orthogonal, halton, sobol, lattice, digital-net, and for fourier leverage
    /// [default: monte-carlo]
    #[arg(long, value_name = "SAMPLING")]
    sampling: Option<Drawing>,
    #[command(flatten)]
    pub(crate) kernel: KernelArgs,
    #[command(flatten)]
    tuning: TuningArgs,
}

/// A map with what was resolved on the way.
#[derive(Debug)]
pub(crate) struct BuiltMap {
    pub(crate) map: Box<dyn FeatureMap>,
    kernel: Arc<dyn Kernel>,
    scale: Scale,
}

impl MapArgs {
    /// The map, but for the data.
    pub(crate) fn spec(&self) -> MapSpec {
        self.tuning.spec(
            self.map.clone(),
            self.kernel.kernel_of(&self.map),
            self.features,
            self.form.unwrap_or_default(),
            self.drawing(),
            self.kernel.seed,
        )
    }

    fn drawing(&self) -> Drawing {
        let default = Drawing::Plain(Sampling::default());
        self.sampling.unwrap_or(default)
    }

    /// The spec, unless it has errors that need no data; options without effect are noted.
    pub(crate) fn check(&self, console: &Console) -> Result<MapSpec> {
        let spec = self.spec();
        self.kernel.check(spec.kernel.as_ref())?;
        spec.check().map_err(|error| match error {
            Error::Parameter(_) => Usage(format!("--features: {error}")),
            _ => Usage(error.to_string()),
        })?;
        let kinds = || self.map.parts().iter().map(|part| part.kind);
        let leverage = self.drawing() == Drawing::Leverage;
        if leverage && !self.map.has(MapKind::Fourier) {
            let problem = "--sampling leverage resamples Fourier features; use --map fourier";
            return Err(Usage(problem.into()).into());
        }
        let mut idle = self.tuning.idle(&self.map, leverage);
        if self.form.is_some() && !kinds().any(MapKind::takes_form) {
            idle.push("--form");
        }
        if self.sampling.is_some() && !kinds().any(MapKind::takes_sampling) {
            idle.push("--sampling");
        }
        if !idle.is_empty() {
            let idle = idle.join(", ");
            console.note(&format!("no effect with --map {}: {idle}", self.map));
        }
        Ok(spec)
    }

    /// Whether [`Self::build`] needs a survey.
    pub(crate) fn needs_survey(&self) -> bool {
        self.kernel.needs_survey() || self.spec().sample_rows() > 0
    }

    /// Reads the source once.
    pub(crate) fn survey(
        &self,
        source: &mut dyn ChunkSource,
        console: &Console,
    ) -> Result<(Survey, f64)> {
        let rows = self.kernel.sample_rows().max(self.spec().sample_rows());
        self.kernel.survey(source, rows, console)
    }

    /// Draws the map; binning reads the source once more.
    pub(crate) fn build(
        &self,
        source: &mut dyn ChunkSource,
        survey: Option<&Survey>,
        device: &Device,
        memory: u64,
        console: &Console,
    ) -> Result<(BuiltMap, f64)> {
        let spec = self.spec();
        let columns = source.columns();
        let scale = self.kernel.scale(spec.kernel.as_ref(), columns, survey)?;
        let none = Array2::zeros((0, columns));
        let sample = survey.map_or(&none, |survey| &survey.sample);
        let bar = console.bar("map", survey.map(|survey| survey.rows));
        let (map, seconds) = console.timed(|| {
            let input = scale.input.clone();
            spec.build(input, sample, source, device, memory, &mut |rows| {
                bar.set_position(rows);
            })
        })?;
        let built = BuiltMap {
            map,
            kernel: spec.kernel,
            scale,
        };
        Ok((built, seconds))
    }

    /// What the map came to.
    pub(crate) fn describe(&self, built: &BuiltMap, report: &mut Report) {
        report.line("map", built.map.describe());
        report.set("map", built.map.describe());
        let takes = |what: fn(MapKind) -> bool| self.map.parts().iter().any(|part| what(part.kind));
        let sampling = takes(MapKind::takes_sampling).then(|| self.drawing().to_string());
        report.set("sampling", sampling);
        report.set("features", built.map.output_dim());
        self.kernel
            .describe(built.kernel.as_ref(), &built.scale, report);
    }
}
