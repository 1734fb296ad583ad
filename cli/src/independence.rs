//! `bochner independence`: whether columns of a file depend on each other, and whether they still
//! do when others are given.

use crate::{
    args::{self, LayoutArgs, RunArgs, at_least_one, positive},
    became, flags,
    interrupt::Interruptible,
    map::{Drawing, KernelArgs, MapOption, TuningArgs},
    names::{Names, names},
    page::head,
    report::{Report, Usage},
    verdict::{NullOption, TestArgs},
};
use anyhow::Result;
use bochner::{
    Error, Run, Step,
    data::{
        ChunkSource, ColumnChoice, Format, Missing, NanRows, OpenOptions, Survey, TableOptions,
        open,
    },
    error::Remedy,
    features::{Form, Fourier, MapSpec, Standardize},
    hypothesis::{ConditionalIndependence, Independence, Null, Outcome, Variant, outer_features},
    job::Preparation,
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
    /// With --given: features of x and of y, phase Fourier features of the kernel [default: 5 for
    /// each column of the larger, at most 30]
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
    // A table of texts and dates makes up its mind about them on the way.
    let rows = usize::try_from(Survey::new(source, 0, 0)?.rows).unwrap_or(usize::MAX);
    // Cosines and sines come in pairs.
    Ok(FEATURES.min(rows / 4 * 2).max(2))
}

/// Finds the columns, tests, prints.
pub(crate) fn run(args: &Args) -> Result<()> {
    let console = args.run.start()?;
    let mut spec = args.spec()?;
    let null = args.null()?;
    let (mut source, found, places) = args.open()?;
    let [x, y, given] = &found;
    if args.features.is_none() && !given.is_empty() {
        spec.features = features_for(&mut source)?;
    }
    let run = args.run.open(&console)?;
    let bar = console.bar("test", source.rows().map(|rows| rows as u64));
    let hear = move |step| match step {
        Step::Survey(rows) | Step::Map(rows) | Step::Rows(rows) => bar.set_position(rows),
        _ => {}
    };
    let (kernel, features) = (spec.kernel.clone(), spec.features);
    let (tested, seconds) =
        console.timed(|| args.try_on(&mut source, &places, spec, null, &run, hear))?;
    let mut report = Report::default();
    report.seconds("test", seconds);
    report.line("test", tested.how);
    report.set("test", tested.how);
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
    report.throughput(tested.rows, seconds);
    report.device(&run.device);
    let verdicts = if given.is_empty() {
        ["x and y depend on each other", "no dependence found"]
    } else {
        [
            "x and y depend on each other given z",
            "no dependence found given z",
        ]
    };
    args.test
        .describe(&tested.outcome, ("dependent", verdicts), &mut report);
    args::describe_gaps(&args.nan, &mut report);
    report.about("data", head::file(&args.input));
    args.run.print(&report)
}

/// What a test found.
struct Tested {
    outcome: Outcome,
    rows: u64,
    /// Its name.
    how: &'static str,
}

/// A file of rows.
type Opened = Interruptible<Box<dyn ChunkSource>>;
/// The columns x, y and z.
type Three = [Vec<usize>; 3];

impl Args {
    /// How p-values are found.
    fn null(&self) -> Result<Null> {
        let null = self.test.null(NullOption::Asymptotic)?;
        if null != Null::Asymptotic && !self.given.is_empty() {
            let problem = "--given goes with --null asymptotic: no rows can be exchanged where z \
                           is given";
            return Err(Usage(problem.into()).into());
        }
        Ok(null)
    }

    /// The rows, the columns that are asked for, and where these are among what is read.
    fn open(&self) -> Result<(Opened, Three, Three)> {
        let options = OpenOptions {
            format: self.format,
            layout: self.layout.layout(),
            nan: self.nan.clone(),
            // Filled values would depend on the other rows.
            table: TableOptions {
                missing: Missing::Error,
                ..TableOptions::default()
            },
            ..OpenOptions::default()
        };
        let source = open(&self.input, &options)?;
        let all = |flag, names: &[Names]| {
            columns(flag, &Names::flatten(names), source.as_ref(), &self.input)
        };
        let found = [
            all("--x", &self.x)?,
            all("--y", &self.y)?,
            all("--given", &self.given)?,
        ];
        apart(&["--x", "--y", "--given"], &found)?;
        let (options, places) = alone(source.as_ref(), &found, options);
        // What comes from standard input is held until it is open again.
        let again = open(&self.input, &options)?;
        drop(source);
        Ok((Interruptible(again), found, places))
    }

    /// Tests by features of `spec`.
    fn try_on(
        &self,
        source: &mut dyn ChunkSource,
        [x, y, given]: &Three,
        spec: MapSpec,
        null: Null,
        run: &Run,
        hear: impl Fn(Step) + Send + Sync + 'static,
    ) -> Result<Tested> {
        let outer = Fourier::new(spec.kernel.clone()).form(Form::Phase);
        let preparation = Preparation {
            bandwidth: Some(self.kernel.bandwidth()),
            standardize: self.kernel.standardize().unwrap_or(Standardize::Auto),
            seed: Some(Seed(self.kernel.seed)),
            ..Preparation::new(spec)
        };
        if given.is_empty() {
            let test = Independence::prepared_by(preparation).null(null);
            let test = test.device(&run.device).memory(run.memory).progress(hear);
            let found = test.test_columns(source, x, y).map_err(of_numbers)?;
            return Ok(Tested {
                outcome: found.outcome,
                rows: found.rows,
                how: "HSIC",
            });
        }
        let (variant, how) = match self.variant.unwrap_or(VariantOption::Rcot) {
            VariantOption::Rcot => (Variant::Rcot, "RCoT"),
            VariantOption::Rcit => (Variant::Rcit, "RCIT"),
        };
        let usual = || outer_features(x.len().max(y.len()));
        let features = self.outer_features.unwrap_or_else(usual);
        let test = ConditionalIndependence::prepared_by(preparation).variant(variant);
        let test = test.device(&run.device).memory(run.memory).progress(hear);
        let test = test
            .outer(outer.features(features))
            .lambda(self.lambda.unwrap_or(1e-10));
        let found = test.test_columns(source, [x, y, given]);
        let found = found.map_err(of_numbers)?;
        Ok(Tested {
            outcome: found.outcome,
            rows: found.rows,
            how,
        })
    }
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
fn alone(source: &dyn ChunkSource, found: &Three, options: OpenOptions) -> (OpenOptions, Three) {
    let Some(names) = source.column_names() else {
        return (options, found.clone());
    };
    // In the order of the file.
    let mut read = found.concat();
    read.sort_unstable();
    read.dedup();
    let place = |j: &usize| read.partition_point(|other| other < j);
    let places = found.each_ref();
    let places = places.map(|own| own.iter().map(place).collect());
    let columns = read.iter().map(|&j| names[j].clone()).collect();
    let options = OpenOptions {
        columns: ColumnChoice::These(columns),
        ..options
    };
    (options, places)
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
