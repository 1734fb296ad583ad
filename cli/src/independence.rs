//! `bochner independence`: whether columns of a file depend on each other, and whether they still
//! do when others are given.

use crate::{
    args::{self, LayoutArgs, RunArgs, at_least_one, positive},
    became, flags,
    interrupt::Interruptible,
    map::{Drawing, KernelArgs, MapOption, TuningArgs},
    names::{Names, names},
    outputs::keep_apart,
    page::head,
    report::{Report, Usage},
    verdict::{NullOption, TestArgs},
};
use anyhow::Result;
use bochner::{
    Error, Step,
    data::{ChunkSource, ColumnChoice, Format, NanRows, OpenOptions, open},
    error::Remedy,
    features::{Form, Fourier, MapSpec, Standardize},
    hypothesis::{ConditionalIndependence, Independence, Null, Variant},
    sampling::Sampling,
    seed::Seed,
};
use clap::ValueEnum;
use std::path::{Path, PathBuf};

/// Arguments of `bochner independence`.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples: bochner independence flats.csv --x size --y price\n          \
     bochner independence flats.csv --x size --y price --given rooms,year\n\
     The exit status is 0 whatever the verdict; --json has it as \"dependent\"."
)]
pub(crate) struct Args {
    /// Rows: .npy, .npz or .csv
    input: PathBuf,
    /// Columns x, by name or counted from 0, in a comma list
    #[arg(long, value_name = "COLUMN,...", value_parser = names, required = true)]
    x: Vec<Names>,
    /// Columns y
    #[arg(long, value_name = "COLUMN,...", value_parser = names, required = true)]
    y: Vec<Names>,
    /// Columns z that are given: tests independence of x and y where z is the same
    #[arg(long, value_name = "COLUMN,...", value_parser = names)]
    given: Vec<Names>,
    /// What the input is, where its name does not say: csv, libsvm, npy or npz
    #[arg(long, value_name = "FORMAT", value_parser = args::format)]
    format: Option<Format>,
    #[command(flatten)]
    layout: LayoutArgs,
    /// For rows with values that are not finite: error, drop
    ///
    /// What becomes of rows in which a value is NaN, infinite, or missing; `drop` leaves them out
    /// and counts them.
    #[arg(long, value_name = "WHAT", default_value_t, value_parser = str::parse::<NanRows>)]
    nan: NanRows,
    #[command(flatten)]
    test: TestArgs,
    /// With --given: rcot, or rcit, which takes features of x and z together
    #[arg(long, value_name = "TEST", requires = "given")]
    variant: Option<VariantOption>,
    /// With --given: features of x and of y, phase Fourier features of the kernel [default: 5]
    #[arg(long, value_name = "D", requires = "given", value_parser = at_least_one)]
    outer_features: Option<usize>,
    /// With --given: ridge penalty of the regression on features of z [default: 1e-10]
    #[arg(long, value_name = "L", requires = "given", value_parser = positive)]
    lambda: Option<f64>,
    /// fourier, fastfood, sorf, arc-cosine, nystrom, or several side by side
    #[arg(long, value_name = "MAP", default_value = "fourier")]
    map: MapOption,
    /// Features of x and of y; with --given of z [default: 100, and with --given at most half as
    /// many as rows]
    #[arg(long, value_name = "D", value_parser = at_least_one)]
    features: Option<usize>,
    /// `paired` or `phase` [default: paired]
    #[arg(long, value_name = "FORM")]
    form: Option<Form>,
    /// How frequencies are drawn [default: monte-carlo]
    #[arg(long, value_name = "SAMPLING")]
    sampling: Option<Drawing>,
    #[command(flatten)]
    kernel: KernelArgs,
    #[command(flatten)]
    tuning: TuningArgs,
    #[command(flatten)]
    pub(crate) run: RunArgs,
}

/// Features where nobody says how many.
const FEATURES: usize = 100;

#[derive(Debug, Clone, Copy, ValueEnum)]
enum VariantOption {
    Rcot,
    Rcit,
}

impl Args {
    fn spec(&self) -> Result<MapSpec> {
        let map = self.map.named();
        let sampling = self.sampling.unwrap_or(Drawing::Plain(Sampling::default()));
        let spec = self.tuning.spec(
            map.clone(),
            self.kernel.kernel_of(&map),
            self.features.unwrap_or(FEATURES),
            self.form.unwrap_or_default(),
            sampling,
            self.kernel.seed,
        );
        self.kernel.refuse_auto()?;
        self.kernel.check(spec.kernel.as_ref())?;
        spec.check().map_err(|error| match error {
            Error::Parameter(_) => Usage(format!("--features: {}", flags::explain(&error))),
            _ => Usage(flags::explain(&error)),
        })?;
        if self.map == MapOption::Auto || !spec.is_dense() {
            let problem = "--map auto and binning do not serve this test; name another";
            return Err(Usage(problem.into()).into());
        }
        Ok(spec)
    }
}

/// Features of z for these rows: residuals need twice as many rows. The source is at its first row
/// again.
fn features_for(source: &mut dyn ChunkSource) -> Result<usize> {
    let mut rows = 0;
    while rows < 2 * FEATURES
        && let Some(chunk) = source.next_chunk(2 * FEATURES)?
    {
        rows += chunk.x.nrows();
    }
    source.rewind()?;
    // Cosines and sines come in pairs.
    Ok(FEATURES.min(rows / 4 * 2).max(2))
}

/// Finds the columns, tests, prints.
pub(crate) fn run(args: &Args) -> Result<()> {
    keep_apart([args.run.page()], [Some(args.input.as_path())])?;
    let console = args.run.start()?;
    let mut spec = args.spec()?;
    let null = args.test.null(NullOption::Asymptotic)?;
    if null != Null::Asymptotic && !args.given.is_empty() {
        let problem = "--given goes with --null asymptotic: no rows can be exchanged where z is \
                       given";
        return Err(Usage(problem.into()).into());
    }
    let options = OpenOptions {
        format: args.format,
        layout: args.layout.layout(),
        nan: args.nan.clone(),
        ..OpenOptions::default()
    };
    let source = open(&args.input, &options)?;
    let groups = [("--x", &args.x), ("--y", &args.y), ("--given", &args.given)];
    let mut found = Vec::new();
    for (flag, names) in groups {
        found.push(columns(
            flag,
            &Names::of(names),
            source.as_ref(),
            &args.input,
        )?);
    }
    let [x, y, given] = [&found[0], &found[1], &found[2]];
    apart(&groups.map(|(flag, _)| flag), &found)?;
    let (options, places) = alone(source.as_ref(), &found, options);
    let [x_read, y_read, given_read] = [&places[0], &places[1], &places[2]];
    // What comes from standard input is held until it is open again.
    let again = open(&args.input, &options)?;
    drop(source);
    let mut source = Interruptible(again);
    if args.features.is_none() && !given.is_empty() {
        spec.features = features_for(&mut source)?;
    }
    let run = args.run.open(&console)?;
    let bar = console.bar("test", source.rows().map(|rows| rows as u64));
    let hear = move |step| match step {
        Step::Survey(rows) | Step::Map(rows) | Step::Rows(rows) => bar.set_position(rows),
        _ => {}
    };
    let seed = Seed(args.kernel.seed);
    let standardize = args.kernel.standardize().unwrap_or(Standardize::Auto);
    let mut report = Report::default();
    let (kernel, features) = (spec.kernel.clone(), spec.features);
    let ((outcome, rows, how), seconds) = console.timed(|| -> Result<_> {
        if given.is_empty() {
            let test = Independence::on(spec)
                .bandwidth(args.kernel.bandwidth())
                .standardize(standardize)
                .seed(seed)
                .device(&run.device)
                .memory(run.memory)
                .progress(hear)
                .null(null);
            let found = test
                .test_columns(&mut source, x_read, y_read)
                .map_err(of_numbers)?;
            return Ok((found.outcome, found.rows, "HSIC"));
        }
        let (variant, how) = match args.variant.unwrap_or(VariantOption::Rcot) {
            VariantOption::Rcot => (Variant::Rcot, "RCoT"),
            VariantOption::Rcit => (Variant::Rcit, "RCIT"),
        };
        let outer = Fourier::of(spec.kernel.clone()).form(Form::Phase);
        let test = ConditionalIndependence::on(spec)
            .bandwidth(args.kernel.bandwidth())
            .standardize(standardize)
            .seed(seed)
            .device(&run.device)
            .memory(run.memory)
            .progress(hear)
            .variant(variant)
            .outer(outer.features(args.outer_features.unwrap_or(5)))
            .lambda(args.lambda.unwrap_or(1e-10));
        let found = test.test_columns(&mut source, [x_read, y_read, given_read]);
        let found = found.map_err(of_numbers)?;
        Ok((found.outcome, found.rows, how))
    })?;
    report.seconds("test", seconds);
    report.line("test", how);
    report.set("test", how);
    report.set("kernel", kernel.spec());
    report.set("features", features);
    report.set("seed", args.kernel.seed);
    for (key, columns) in [("x", x), ("y", y), ("given", given)] {
        report.set(key, columns.as_slice());
    }
    match source.schema() {
        Some(schema) => became::describe(schema, &console, &mut report),
        None => became::describe_numbers(&source, &mut report),
    }
    report.throughput(rows, seconds);
    report.device(&run.device);
    let verdicts = match given.is_empty() {
        true => ["x and y depend on each other", "no dependence found"],
        false => [
            "x and y depend on each other given z",
            "no dependence found given z",
        ],
    };
    args.test
        .describe(&outcome, ("dependent", verdicts), &mut report);
    args::describe_gaps(&args.nan, &mut report);
    report.about("data", head::file(&args.input));
    args.run.print(&report)
}

/// Errors where two options name a column.
fn apart(flags: &[&str], found: &[Vec<usize>]) -> Result<()> {
    for (k, own) in found.iter().enumerate() {
        for (other, columns) in found.iter().enumerate().take(k) {
            if let Some(j) = own.iter().find(|j| columns.contains(j)) {
                let problem = format!(
                    "column {j} (counted from 0) is in {} and in {}; give each its own columns",
                    flags[other], flags[k]
                );
                return Err(Usage(problem).into());
            }
        }
    }
    Ok(())
}

/// Options that read the columns found alone, where they have names, so that it does not matter
/// what others hold; and where those are among what is read.
fn alone(
    source: &dyn ChunkSource,
    found: &[Vec<usize>],
    options: OpenOptions,
) -> (OpenOptions, Vec<Vec<usize>>) {
    let Some(names) = source.column_names() else {
        return (options, found.to_vec());
    };
    // In the order of the file.
    let mut read = found.concat();
    read.sort_unstable();
    read.dedup();
    let place = |j: &usize| read.partition_point(|other| other < j);
    let places = found.iter().map(|own| own.iter().map(place).collect());
    let columns = read.iter().map(|&j| names[j].clone()).collect();
    let options = OpenOptions {
        columns: ColumnChoice::These(columns),
        ..options
    };
    (options, places.collect())
}

/// The error with what helps here: no option has something stand for a gap.
fn of_numbers(error: Error) -> Error {
    error.instead(&Remedy::FillMissing, None)
}

/// The numbers of columns that are named, or numbered from 0.
fn columns(
    flag: &str,
    names: &[String],
    source: &dyn ChunkSource,
    path: &Path,
) -> Result<Vec<usize>> {
    let known = source.column_names();
    let find = |name: &String| -> Result<usize> {
        let by_name = known
            .as_ref()
            .and_then(|k| k.iter().position(|n| n == name));
        let number = name.parse().ok().filter(|&j: &usize| j < source.columns());
        by_name.or(number).ok_or_else(|| {
            let problem = format!(
                "{flag}: there is no column '{name}'; name one, or number it from 0 to {}",
                source.columns() - 1
            );
            Error::data(path, problem).into()
        })
    };
    names.iter().map(find).collect()
}
