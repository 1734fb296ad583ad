//! Options that several commands share: data, map, run.

use crate::report::{Console, Report, Usage, Value, json, six_digits};
use anyhow::Result;
use bochner::{
    Device, DeviceChoice, Error,
    data::{ChunkSource, OpenOptions, Survey, TargetUse, open},
    device::CpuDevice,
    features::{Affine, Bandwidth, FeatureMap, Form, Fourier},
    kernels::{self, Kernel},
    sampling::Sampling,
    seed::Seed,
};
use clap::{Args, ValueEnum};
use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

/// Where the targets are.
#[derive(Debug, Args)]
#[command(next_help_heading = "Data options")]
pub(crate) struct DataArgs {
    /// Target column of a .csv; several in a comma list or by repeating the option
    #[arg(long, value_name = "COLUMN", value_delimiter = ',')]
    target: Vec<String>,
    /// Targets of a .npy input: [rows] or [rows, targets]
    #[arg(long, value_name = "FILE.npy")]
    targets: Option<PathBuf>,
}

impl DataArgs {
    /// Opens a source; with targets required it must have some.
    pub(crate) fn open(&self, input: &Path, target_use: TargetUse) -> Result<Box<dyn ChunkSource>> {
        self.open_beside(input, self.targets.as_deref(), target_use)
    }

    /// As [`Self::open`], with another file of targets.
    pub(crate) fn open_beside(
        &self,
        input: &Path,
        targets: Option<&Path>,
        target_use: TargetUse,
    ) -> Result<Box<dyn ChunkSource>> {
        let options = OpenOptions {
            targets: targets.map(Path::to_owned),
            target: self.target.clone(),
            target_use,
        };
        let source = open(input, &options)?;
        if target_use == TargetUse::Required && source.targets() == 0 {
            let extension = input.extension().map(|e| e.to_ascii_lowercase());
            let remedy = match extension.as_deref().and_then(|e| e.to_str()) {
                Some("csv") => "name a column with --target COLUMN",
                Some("npz") => "save them in it as array y",
                _ => "give them with --targets FILE.npy (--test-targets for a test input)",
            };
            return Err(Error::data(input, format!("has no targets; {remedy}")).into());
        }
        Ok(source)
    }
}

/// The feature maps there are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum MapName {
    Fourier,
}

/// Which feature map.
#[derive(Debug, Args)]
#[command(next_help_heading = "Map options")]
pub(crate) struct MapArgs {
    /// Feature map
    #[arg(long, value_enum, default_value_t = MapName::Fourier)]
    map: MapName,
    /// gaussian, laplacian, exponential, matern32, matern52, cauchy, rational-quadratic; an unknown name lists all
    #[arg(long, value_name = "KERNEL", default_value = "gaussian", value_parser = kernels::parse)]
    kernel: Arc<dyn Kernel>,
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
    /// Number of features, real output columns
    #[arg(
        long,
        value_name = "D",
        default_value_t = 1000,
        allow_hyphen_values = true
    )]
    features: usize,
    /// `paired` (cosine and sine of D/2 frequencies) or `phase` (cosine with a random phase of D)
    #[arg(long, value_name = "FORM", default_value_t = Form::Paired)]
    form: Form,
    /// How frequencies are drawn: monte-carlo, orthogonal, halton, sobol, lattice, digital-net
    #[arg(long, value_name = "SAMPLING", default_value_t = Sampling::MonteCarlo)]
    sampling: Sampling,
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

/// A map with what was resolved on the way.
#[derive(Debug)]
pub(crate) struct BuiltMap {
    pub(crate) map: Box<dyn FeatureMap>,
    lengthscales: Vec<f64>,
    gamma: Option<f64>,
}

impl MapArgs {
    /// Errors that need no data.
    pub(crate) fn check(&self) -> Result<()> {
        let sizes = self.form.frequencies(self.features).map(|_| ());
        let bandwidth = self.bandwidth().fixed(self.kernel.as_ref()).map(|_| ());
        sizes.map_err(|error| Usage(format!("--features: {error}")))?;
        bandwidth.map_err(|error| Usage(error.to_string()))?;
        Ok(())
    }

    fn bandwidth(&self) -> Bandwidth {
        let given = self.gamma.as_ref().or(self.sigma.as_ref());
        given.cloned().unwrap_or(Bandwidth::Scale)
    }

    /// Whether [`Self::build`] needs a survey.
    pub(crate) fn needs_survey(&self) -> bool {
        self.standardize || matches!(self.bandwidth(), Bandwidth::Scale | Bandwidth::Median)
    }

    /// How many rows the survey samples.
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
        console: &Console,
    ) -> Result<(Survey, f64)> {
        let bar = console.bar("survey", source.rows().map(|rows| rows as u64));
        console.timed(|| {
            Survey::of(source, self.sample_rows(), self.seed, &mut |rows| {
                bar.set_position(rows);
            })
        })
    }

    /// Draws the map for `columns` columns.
    pub(crate) fn build(&self, columns: usize, survey: Option<&Survey>) -> Result<BuiltMap> {
        let (kernel, bandwidth) = (self.kernel.as_ref(), self.bandwidth());
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
        let input = input.lengthscales(&lengthscales)?;
        let map: Box<dyn FeatureMap> = match self.map {
            MapName::Fourier => Box::new(
                Fourier::of(self.kernel.clone())
                    .features(self.features)
                    .form(self.form)
                    .sampling(self.sampling)
                    .seed(Seed(self.seed))
                    .build(input)?,
            ),
        };
        Ok(BuiltMap {
            map,
            lengthscales,
            gamma,
        })
    }

    /// What the map came to.
    pub(crate) fn describe(&self, built: &BuiltMap, report: &mut Report) {
        let rule = self.bandwidth();
        let origin = match rule {
            Bandwidth::Median | Bandwidth::Scale => format!(" ({rule})"),
            _ => String::new(),
        };
        report.line("map", built.map.describe());
        match (built.gamma, built.lengthscales.as_slice()) {
            (Some(gamma), _) => report.line("gamma", format!("{}{origin}", six_digits(gamma))),
            (None, [one]) => report.line("lengthscale", format!("{}{origin}", six_digits(*one))),
            (None, all) => report.line("lengthscales", format!("{}", all.len())),
        }
        let lengthscale: Value = match built.lengthscales.as_slice() {
            &[one] => json(one),
            all => json(all),
        };
        report.set("map", built.map.describe());
        report.set("kernel", self.kernel.spec());
        report.set("sampling", self.sampling.to_string());
        report.set("features", built.map.output_dim());
        report.set("columns", built.map.input_dim());
        report.set("bandwidth", rule.to_string());
        report.set("lengthscale", lengthscale);
        report.set("gamma", built.gamma);
        report.set("standardize", self.standardize);
        report.set("seed", self.seed);
    }
}

/// Where to run.
#[derive(Debug, Args)]
#[command(next_help_heading = "Run options")]
pub(crate) struct DeviceArgs {
    /// `auto` (the best GPU, else the CPU), `cpu`, `gpu` (never the CPU), or a part of an adapter's name
    #[arg(long, value_name = "DEVICE", default_value = "auto")]
    device: DeviceChoice,
    /// Threads on the CPU [default: one per core]
    #[arg(long, value_name = "N")]
    threads: Option<usize>,
}

/// Where and how to run, and what to print.
#[derive(Debug, Args)]
#[command(next_help_heading = "Run options")]
pub(crate) struct RunArgs {
    #[command(flatten)]
    device: DeviceArgs,
    /// Memory for chunk buffers, in bytes or with K, M, G (powers of 1024; KB, MB, GB are powers of 1000)
    #[arg(long, value_name = "BYTES", default_value = "256M", value_parser = bytes)]
    pub(crate) memory: u64,
    #[command(flatten)]
    output: OutputArgs,
}

/// What to print.
#[derive(Debug, Args)]
#[command(next_help_heading = "Run options")]
pub(crate) struct OutputArgs {
    /// Print one JSON object on stdout and nothing else there
    #[arg(long)]
    pub(crate) json: bool,
    /// No notes and no progress bars; errors only
    #[arg(long, short)]
    pub(crate) quiet: bool,
}

impl DeviceArgs {
    /// Opens the device; says once if it is not the one hoped for.
    pub(crate) fn open(&self, console: &Console) -> Result<Device> {
        if let Some(threads) = self.threads {
            CpuDevice::set_shared_threads(threads).map_err(|error| match error {
                Error::Parameter(_) => anyhow::Error::new(Usage(format!("--threads: {error}"))),
                other => other.into(),
            })?;
        }
        let (device, note) = Device::open(&self.device)?;
        if let Some(note) = note {
            console.note(&note);
        }
        Ok(device)
    }
}

impl RunArgs {
    /// Opens the device; says once if it is not the one hoped for.
    pub(crate) fn open(&self, console: &Console) -> Result<Device> {
        self.device.open(console)
    }

    /// Where notes and bars go.
    pub(crate) fn console(&self) -> Console {
        Console::new(self.output.quiet)
    }

    /// Prints the results.
    pub(crate) fn print(&self, report: &Report) -> Result<()> {
        report.print(self.output.json)
    }
}

/// A number of bytes with an optional suffix.
fn bytes(text: &str) -> Result<u64, String> {
    let text = text.trim();
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let (base, power) = match text[digits.len()..].to_ascii_lowercase().as_str() {
        "" | "b" => (1, 0),
        "k" | "kib" => (1024, 1),
        "m" | "mib" => (1024, 2),
        "g" | "gib" => (1024, 3),
        "t" | "tib" => (1024, 4),
        "kb" => (1000, 1),
        "mb" => (1000, 2),
        "gb" => (1000, 3),
        "tb" => (1000, 4),
        _ => (0, 1),
    };
    let unit = f64::from(base).powi(power);
    let value = digits.trim().parse::<f64>().unwrap_or(f64::NAN) * unit;
    if value >= 1.0 && value < 2_f64.powi(63) {
        return Ok(value as u64);
    }
    Err("must be a positive number of bytes, such as 256M or 1.5GiB".into())
}

/// A positive finite number.
pub(crate) fn positive(text: &str) -> Result<f64, String> {
    match text.trim().parse::<f64>() {
        Ok(value) if value > 0.0 && value.is_finite() => Ok(value),
        _ => Err("must be a positive number".into()),
    }
}

/// A number between 0 and 1, both excluded.
pub(crate) fn fraction(text: &str) -> Result<f64, String> {
    match positive(text) {
        Ok(value) if value < 1.0 => Ok(value),
        _ => Err("must lie between 0 and 1, both excluded".into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bochner::plan::DEFAULT_MEMORY;

    #[test]
    fn bytes_with_and_without_suffixes() {
        for (text, value) in [
            ("1", 1),
            ("4096", 4096),
            ("64K", 64 << 10),
            ("256m", DEFAULT_MEMORY),
            ("1.5GiB", 3 << 29),
            ("2 GB", 2_000_000_000),
            ("1T", 1 << 40),
        ] {
            assert_eq!(bytes(text), Ok(value), "{text}");
        }
        for text in ["", "K", "0", "-1M", "1Q", "nan", "inf", "1e30", "M1"] {
            assert!(bytes(text).is_err(), "{text}");
        }
    }
}
