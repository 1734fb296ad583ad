//! Options that several commands share: data, run.

use crate::{
    drivers::quietly,
    interrupt::Interruptible,
    names::{Names, names},
    report::{Console, OutputArgs, Report, Usage, counted},
};
use anyhow::Result;
use bochner::{
    Device, DeviceChoice, Error, Run,
    data::{
        ChunkSource, ColumnChoice, Format, Missing, OpenOptions, TableOptions, TargetUse, open,
        parts,
    },
    device::CpuDevice,
    models::LinearModel,
};
use clap::Args;
use indicatif::BinaryBytes;
use std::{
    path::{Path, PathBuf},
    str::FromStr,
};

/// Where the targets are.
#[derive(Debug, Args)]
#[command(next_help_heading = "Data options")]
pub(crate) struct DataArgs {
    /// Target column of a .csv; several in a comma list or by repeating the option. A name with a
    /// comma stands in double quotes, in this list as in the others
    #[arg(long, value_name = "COLUMN", value_parser = names)]
    target: Vec<Names>,
    /// Targets of a .npy input: [rows] or [rows, targets]
    #[arg(long, value_name = "FILE.npy")]
    targets: Option<PathBuf>,
    /// Columns of a .csv that are features, in this order, instead of all that are no target
    #[arg(long, value_name = "COLUMN,..", value_parser = names, conflicts_with = "ignore")]
    columns: Vec<Names>,
    /// Columns of a .csv that are neither features nor targets and are not read
    #[arg(long, value_name = "COLUMN,..", value_parser = names)]
    ignore: Vec<Names>,
    /// What stands for missing values of features (empty, NA, NaN, null, ?): `error` (nothing),
    /// `mean`, `median`, or `indicator`, a column that says where they are missing
    #[arg(long, value_name = "WHAT", default_value_t, value_parser = str::parse::<Missing>)]
    missing: Missing,
    /// Columns whose values are names of categories though they look like numbers or dates
    #[arg(long, value_name = "COLUMN,..", value_parser = names)]
    categorical: Vec<Names>,
    /// A column of text becomes one column per category up to so many, and beyond it this many by
    /// hashing [default: 64]
    #[arg(long, value_name = "N", value_parser = at_least_one)]
    most_categories: Option<usize>,
    /// The column that says what each row counts for, which `fit` has an option for.
    #[arg(skip)]
    pub(crate) weight: Option<String>,
    /// What the input is, where its name does not say: csv, libsvm, npy or npz
    #[arg(long, value_name = "FORMAT", value_parser = format)]
    format: Option<Format>,
    /// What separates the columns of a .csv: a character or `tab` [default: what its first line has
    /// most of]
    #[arg(long, value_name = "CHAR", value_parser = delimiter)]
    delimiter: Option<char>,
    /// Columns of a .libsvm, where its rows have not all of them [default: its largest index]
    #[arg(long, value_name = "D", value_parser = at_least_one)]
    width: Option<usize>,
    /// Indices of a .libsvm count from 0, and not from 1
    #[arg(long)]
    zero_based: bool,
}

impl DataArgs {
    /// The file of targets, which is read beside the input.
    pub(crate) fn targets(&self) -> Option<&Path> {
        self.targets.as_deref()
    }

    /// Opens a source; with targets required it must have some.
    pub(crate) fn open(&self, input: &Path, target_use: TargetUse) -> Result<Box<dyn ChunkSource>> {
        self.open_beside(input, self.targets.as_deref(), (target_use, None), None)
    }

    /// Opens rows for a model: columns by the names that it knows, or those that are asked for.
    pub(crate) fn open_for(
        &self,
        model: &LinearModel,
        input: &Path,
        target_use: TargetUse,
    ) -> Result<Box<dyn ChunkSource>> {
        if self.table() != TableOptions::default() {
            let problem = "--missing, --categorical and --most-categories are for `fit`: a model \
                           reads files as its fit did";
            return Err(Usage(problem.into()).into());
        }
        let asked = self.choice();
        let columns = match (asked, &model.schema) {
            (ColumnChoice::All, _) => model.columns(),
            (_, Some(_)) => {
                let problem = "--columns and --ignore are for `fit`: this model takes its columns \
                               by their names";
                return Err(Usage(problem.into()).into());
            }
            (asked, None) => asked,
        };
        let width = Some(model.map.input_dim());
        let targets = self.targets.as_deref();
        self.open_beside(input, targets, (target_use, Some(columns)), width)
    }

    /// The columns that are asked for.
    fn choice(&self) -> ColumnChoice {
        match (&self.columns[..], &self.ignore[..]) {
            ([], []) => ColumnChoice::All,
            ([], ignore) => ColumnChoice::AllBut(Names::of(ignore)),
            (columns, _) => ColumnChoice::These(Names::of(columns)),
        }
    }

    /// How cells are read.
    fn table(&self) -> TableOptions {
        let default = TableOptions::default();
        TableOptions {
            missing: self.missing,
            categorical: Names::of(&self.categorical),
            most_categories: self.most_categories.unwrap_or(default.most_categories),
            weight: self.weight.clone(),
        }
    }

    /// As [`Self::open`], with another file of targets, columns by their names instead of those
    /// that were asked for, and of so many columns, where the file does not say.
    pub(crate) fn open_beside(
        &self,
        input: &Path,
        targets: Option<&Path>,
        (target_use, columns): (TargetUse, Option<ColumnChoice>),
        width: Option<usize>,
    ) -> Result<Box<dyn ChunkSource>> {
        let options = OpenOptions {
            format: self.format,
            targets: targets.map(Path::to_owned),
            target: Names::of(&self.target),
            target_use,
            columns: columns.unwrap_or_else(|| self.choice()),
            table: self.table(),
            delimiter: self.delimiter,
            width: width.or(self.width),
            zero_based: self.zero_based,
        };
        let source = open(input, &options)?;
        if target_use == TargetUse::Required && source.targets() == 0 {
            let first = |files: Vec<PathBuf>| files.first().and_then(Format::of);
            let named = || parts(input).ok().and_then(first);
            let remedy = match self.format.or_else(named) {
                None if input == Path::new("-") => "name a column with --target COLUMN",
                Some(Format::Csv) => "name a column with --target COLUMN",
                Some(Format::Npz) => "save them in it as array y",
                _ => "give them with --targets FILE.npy (--test-targets for a test input)",
            };
            return Err(Error::data(input, format!("has no targets; {remedy}")).into());
        }
        Ok(Box::new(Interruptible(source)))
    }
}

/// Where to run.
#[derive(Debug, Args)]
#[command(next_help_heading = "Run options")]
pub(crate) struct DeviceArgs {
    /// `auto` (the best GPU, else the CPU), `cpu`, `gpu` (never the CPU), or a part of an adapter's
    /// name
    #[arg(long, value_name = "DEVICE", default_value = "auto")]
    device: DeviceChoice,
    /// Threads on the CPU, no more than there are cores [default: one per core]
    #[arg(long, value_name = "N", value_parser = at_least_one)]
    threads: Option<usize>,
}

/// Where and how to run, and what to print.
#[derive(Debug, Args)]
#[command(next_help_heading = "Run options")]
pub(crate) struct RunArgs {
    #[command(flatten)]
    device: DeviceArgs,
    /// Memory for chunk buffers, in bytes or with K, M, G (powers of 1024; KB, MB, GB are powers
    /// of 1000)
    #[arg(long, value_name = "BYTES", default_value = "128M", value_parser = bytes)]
    memory: u64,
    #[command(flatten)]
    output: OutputArgs,
}

impl DeviceArgs {
    /// Sets the threads, before anything uses them. More than there are cores only wait for each
    /// other, so they are cut: a script that was written for a larger machine still runs.
    pub(crate) fn start(&self, console: &Console) -> Result<()> {
        let Some(asked) = self.threads else {
            return Ok(());
        };
        let threads = asked.min(CpuDevice::cores());
        if threads < asked {
            let cores = counted(threads as u64, "core");
            console.note(&format!(
                "--threads {asked}: this machine has {cores}, which is how many are started"
            ));
        }
        Ok(CpuDevice::set_shared_threads(threads)?)
    }

    /// Opens the device; says once if it is not the one hoped for, and in detail what there was to
    /// choose from.
    pub(crate) fn open(&self, console: &Console) -> Result<Device> {
        if console.is_verbose() {
            let listing = Device::report();
            for adapter in &listing.adapters {
                let refusal = adapter.refusal.as_ref();
                let note = refusal.map_or_else(String::new, |why| format!(", too small: {why}"));
                console.detail(&format!("adapter: {}{note}", adapter.describe()));
            }
            if let Some(reason) = &listing.reason {
                console.detail(&format!("no adapter: {reason}"));
            }
            if self.device == DeviceChoice::Auto {
                let (taken, why) = &listing.auto;
                console.detail(&format!("auto takes {taken}: {why}"));
            }
        }
        let (device, note) = quietly(|| Device::open(&self.device))?;
        if let Some(note) = note {
            console.note(&format!("{note}; use --device gpu to make this an error"));
        }
        console.detail(&format!("device: {}", device.describe()));
        Ok(device)
    }
}

impl RunArgs {
    /// Sets the threads, before anything uses them; where notes and bars go.
    pub(crate) fn start(&self) -> Result<Console> {
        let console = Console::new(&self.output);
        self.device.start(&console)?;
        console.detail(&format!("memory for chunks: {}", BinaryBytes(self.memory)));
        Ok(console)
    }

    /// What to print.
    pub(crate) fn output(&self) -> &OutputArgs {
        &self.output
    }

    /// Opens the device; says once if it is not the one hoped for.
    pub(crate) fn open(&self, console: &Console) -> Result<Run> {
        Ok(Run::on(&self.device.open(console)?).memory(self.memory))
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

/// A format by the extension of its files.
pub(crate) fn format(text: &str) -> Result<Format, String> {
    let known = Format::of(format!("input.{}", text.trim()));
    known.ok_or_else(|| "must be csv, libsvm, npy or npz".into())
}

/// One character, or the name of the tab, which shells make hard to type.
pub(crate) fn delimiter(text: &str) -> Result<char, String> {
    let mut characters = text.chars();
    match (text, characters.next(), characters.next()) {
        ("tab" | "\\t", ..) => Ok('\t'),
        (_, Some(one), None) => Ok(one),
        _ => Err("must be one character, or tab".into()),
    }
}

/// A positive finite number.
pub(crate) fn positive(text: &str) -> Result<f64, String> {
    match text.trim().parse::<f64>() {
        Ok(value) if value > 0.0 && value.is_finite() => Ok(value),
        _ => Err("must be a positive number".into()),
    }
}

/// A whole number.
pub(crate) fn whole<T: FromStr>(text: &str) -> Result<T, String> {
    let problem = |_| "must be a whole number from 0 to 2^64 - 1".into();
    text.trim().parse().map_err(problem)
}

/// A whole number from 1 on.
pub(crate) fn at_least_one(text: &str) -> Result<usize, String> {
    match text.trim().parse() {
        Ok(count) if count > 0 => Ok(count),
        _ => Err("must be a whole number, 1 or more".into()),
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

    #[test]
    fn bytes_with_and_without_suffixes() {
        for (text, value) in [
            ("1", 1),
            ("4096", 4096),
            ("64K", 64 << 10),
            ("128m", Run::DEFAULT_MEMORY),
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
