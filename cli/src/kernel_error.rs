//! `bochner kernel-error`: how close maps come to the exact kernel.

mod comparison;
mod lines;

use crate::{
    args::{DataArgs, RunArgs, at_least_one},
    map::{Drawing, KernelArgs, MapOption, Scale, TuningArgs},
    page::head,
    report::{Console, Report, Usage, counted},
};
use anyhow::Result;
use bochner::{
    analysis::ExactKernel,
    data::{ChunkSource, Rows, TargetUse},
    features::{Form, MapChoice, MapKind, Standardize},
    kernels::Kernel,
};
use comparison::Comparison;
use ndarray::{Array2, Axis};
use std::{path::PathBuf, sync::Arc};

/// Arguments of `bochner kernel-error`.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Example: bochner kernel-error data/digits.csv --target label --sigma median \
     --features 100,800 --map all"
)]
pub(crate) struct Args {
    /// Rows to compare on; target columns are left out
    input: PathBuf,
    /// Rows sampled from the input; time and memory grow with their square
    #[arg(long, value_name = "N", default_value_t = 1000, value_parser = at_least_one)]
    rows: usize,
    /// Seeds to draw every map from: --seed and those after it
    #[arg(long, value_name = "K", default_value_t = 10, value_parser = at_least_one)]
    seeds: usize,
    /// Numbers of features in a comma list; landmarks for nystrom, grids for binning
    #[arg(
        long,
        value_name = "D,...",
        value_delimiter = ',',
        default_value = "100,800"
    )]
    #[arg(value_parser = at_least_one)]
    features: Vec<usize>,
    /// Maps in a comma list, spelled as for `fit`, `auto` too, or `all` that go with the kernel
    #[arg(long, value_name = "MAP,...", default_value = "all")]
    map: Listed<MapOption>,
    /// Samplings in a comma list, or `all` that go with the kernel; for fourier and arc-cosine
    #[arg(long, value_name = "SAMPLING,...", default_value = "all")]
    sampling: Listed<Drawing>,
    /// `paired` or `phase` [default: paired, and for fourier by monte-carlo both]
    #[arg(long, value_name = "FORM")]
    form: Option<Form>,
    #[command(flatten)]
    kernel: KernelArgs,
    #[command(flatten)]
    tuning: TuningArgs,
    #[command(flatten)]
    data: DataArgs,
    #[command(flatten)]
    pub(crate) run: RunArgs,
}

/// Some by name, or all.
#[derive(Debug, Clone)]
enum Listed<T> {
    All,
    Some(Vec<T>),
}

impl<T: std::str::FromStr> std::str::FromStr for Listed<T> {
    type Err = T::Err;

    fn from_str(text: &str) -> Result<Self, T::Err> {
        match text.trim() {
            "all" => Ok(Self::All),
            list => Ok(Self::Some(
                list.split(',').map(str::parse).collect::<Result<_, _>>()?,
            )),
        }
    }
}

/// Kernel matrices of more rows do not fit common machines.
const MOST_ROWS: usize = 20_000;

/// Samples rows, computes the exact kernel once, and compares.
pub(crate) fn run(args: &Args) -> Result<()> {
    let console = args.run.start()?;
    let mut report = Report::default();
    let kernel = args.exact()?;
    let (lines, left_out) = args.lines(&kernel)?;
    let mut source = args.data.open(&args.input, TargetUse::Ignored)?;
    let run = args.run.open(&console)?;
    if !left_out.is_empty() {
        let spec = kernel.spec();
        console.note(&format!(
            "left out, because they cannot serve the kernel {spec}: {}",
            left_out.join("; ")
        ));
    }
    let (rows, scale) = args.sample(source.as_mut(), kernel.as_ref(), &console, &mut report)?;
    let (exact, seconds) =
        console.timed(|| ExactKernel::new(kernel.as_ref(), &scale.input, &Rows::from(&rows)))?;
    report.seconds("exact", seconds);

    let comparison = Comparison {
        args,
        exact,
        rows,
        input: scale.input.clone(),
        run: &run,
    };
    report.set("rows", comparison.rows.nrows());
    report.set("seeds", args.seeds);
    report.line(
        "compared",
        format!(
            "Z Z' with the exact {} kernel on {}; mean and standard deviation over seeds, {} in \
             all",
            kernel.spec(),
            counted(comparison.rows.nrows() as u64, "row"),
            args.seeds
        ),
    );
    args.kernel.describe(kernel.as_ref(), &scale, &mut report);
    report.device(&run.device);
    let ((results, table), seconds) = console.timed(|| comparison.run(&lines, &console))?;
    report.seconds("compare", seconds);
    report.set("results", results);
    report.table(table);
    report.about("data", head::file(&args.input));
    args.run.print(&report)
}

impl Args {
    /// The kernel that maps are compared with: the one given, or what suits the first map. Errors
    /// on options that do not go with it.
    fn exact(&self) -> Result<Arc<dyn Kernel>> {
        if self.rows < 2 || self.rows > MOST_ROWS {
            let problem = format!("--rows {}: use 2 to {MOST_ROWS}", self.rows);
            return Err(Usage(problem).into());
        }
        if let Listed::Some(maps) = &self.map
            && let Some(map) = maps
                .iter()
                .map(MapOption::named)
                .find(MapChoice::has_columns)
        {
            let problem = format!(
                "--map {map} looks at some of the columns, and is compared with the kernel of all; \
                 leave out the names and give those columns as --columns"
            );
            return Err(Usage(problem).into());
        }
        let first = match &self.map {
            Listed::Some(maps) => maps[0].named(),
            Listed::All => MapKind::Fourier.into(),
        };
        let kernel = self.kernel.kernel_of(&first);
        self.kernel.refuse_auto()?;
        self.kernel.check(kernel.as_ref())?;
        Ok(kernel)
    }

    /// The rows that are compared on, and the scale of their columns.
    fn sample(
        &self,
        source: &mut dyn ChunkSource,
        kernel: &dyn Kernel,
        console: &Console,
        report: &mut Report,
    ) -> Result<(Array2<f64>, Scale)> {
        let sample = self.rows.max(self.kernel.sample_rows());
        let (survey, seconds) = self.kernel.survey(source, sample, console)?;
        report.seconds("survey", seconds);
        let scale = self.kernel.scale(
            kernel,
            kernel.is_shift_invariant(),
            source.columns(),
            Some(&survey),
            Standardize::No,
        )?;
        scale.hint(console);
        let rows = spread(&survey.sample, self.rows);
        if rows.nrows() < self.rows {
            let there = counted(rows.nrows() as u64, "row");
            console.note(&format!("the data has {there} only"));
        }
        Ok((rows, scale))
    }
}

/// `count` rows spread evenly over a sample.
fn spread(sample: &Array2<f64>, count: usize) -> Array2<f64> {
    let (rows, taken) = (sample.nrows(), count.min(sample.nrows()));
    let places: Vec<usize> = (0..taken).map(|i| i * rows / taken).collect();
    sample.select(Axis(0), &places)
}
