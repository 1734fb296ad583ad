//! `bochner drift`: whether two files hold rows of one law, and which columns differ.

use crate::{
    args::{DataArgs, RunArgs, at_least_one},
    map::MapArgs,
    outputs::keep_apart,
    page::head,
    report::{Report, Usage, Value, six_digits},
    verdict::{NullOption, TestArgs, watched},
};
use anyhow::Result;
use bochner::{
    Error,
    data::TargetUse,
    error::Remedy,
    features::Standardize,
    hypothesis::{ColumnShift, Pooled, TwoSampleOptions, column_shifts},
    seed::Seed,
};
use serde_json::json;
use std::{fmt::Write, path::PathBuf};

/// Arguments of `bochner drift`.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Example: bochner drift january.csv february.csv --target price --features 500\n\
     The exit status is 0 whatever the verdict; --json has it as \"drift\"."
)]
pub(crate) struct Args {
    /// The first sample
    a: PathBuf,
    /// The second sample: the same columns, any number of rows
    b: PathBuf,
    #[command(flatten)]
    test: TestArgs,
    /// Columns that are listed, those that differ most first
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = at_least_one)]
    columns: usize,
    #[command(flatten)]
    map: MapArgs,
    #[command(flatten)]
    data: DataArgs,
    #[command(flatten)]
    pub(crate) run: RunArgs,
}

/// Surveys both files as one, draws the map, tests, and looks at single columns.
pub(crate) fn run(mut args: Args) -> Result<()> {
    let read = [Some(args.a.as_path()), Some(&args.b), args.data.targets()];
    keep_apart([args.run.page()], read)?;
    let console = args.run.start()?;
    args.data.codes = false;
    let (data, a) = (&args.data, &args.a);
    args.map.settle(None, || data.open(a, TargetUse::Ignored))?;
    if !args.map.check(&console)?.is_dense() {
        let problem = "the columns of binning are too many for a test; use another --map";
        return Err(Usage(problem.into()).into());
    }
    let null = args.test.null(NullOption::Permutation)?;
    let open = |path| args.data.open(path, TargetUse::Ignored);
    let (mut a, mut b) = (open(&args.a)?, open(&args.b)?);
    let mut report = Report::default();
    let run = args.run.open(&console)?;
    let mut pooled = Pooled::new(&mut a, &mut b)?;
    let survey = args.map.survey(&mut pooled, &console);
    let (survey, seconds) = survey.map_err(of_numbers)?;
    report.seconds("survey", seconds);
    let (built, seconds) = args.map.build(
        &mut pooled,
        Some(&survey),
        &run,
        (&console, Standardize::Auto),
    )?;
    report.seconds("map", seconds);
    args.map.describe(&built, &mut report);
    let seed = Seed(args.map.kernel.seed);
    let options = TwoSampleOptions { null, seed };
    let (found, seconds) = console.timed(|| {
        let run = watched(&run, "test", &survey, &console);
        options.test(built.drawn.map.as_ref(), &mut pooled, run)
    })?;
    report.seconds("test", seconds);
    report.throughput(survey.rows, seconds);
    report.device(&run.device);
    let (shifts, seconds) = console.timed(|| column_shifts(&mut a, &mut b, seed))?;
    report.seconds("columns", seconds);
    report.set("rows_a", found.rows[0]);
    report.set("rows_b", found.rows[1]);
    report.set("mmd2", found.unbiased);
    report.set("mmd2_biased", found.biased);
    report.line(
        "mmd squared",
        format!(
            "{} (biased {})",
            six_digits(found.unbiased),
            six_digits(found.biased)
        ),
    );
    let verdicts = ["the samples differ", "no difference found"];
    args.test
        .describe(&found.outcome, ("drift", verdicts), &mut report);
    columns(&shifts, args.columns, &mut report);
    args.data.describe_gaps(&mut report);
    report.about("first sample", head::file(&args.a));
    report.about("second sample", head::file(&args.b));
    args.run.print(&report)
}

/// The error with what helps here: this test has columns of numbers alone, of whole rows.
fn of_numbers(error: anyhow::Error) -> anyhow::Error {
    match error.downcast::<Error>() {
        Ok(error) => error.instead(&Remedy::FillMissing, None).into(),
        Err(other) => other,
    }
}

/// The columns that differ most, as a table.
fn columns(shifts: &[ColumnShift], most: usize, report: &mut Report) {
    let label = |shift: &ColumnShift| {
        let number = || format!("column {}", shift.column);
        shift.name.clone().unwrap_or_else(number)
    };
    let shown = &shifts[..shifts.len().min(most)];
    let wide = shown.iter().map(|s| label(s).chars().count()).max();
    let wide = wide.unwrap_or(0).max("column".len());
    let mut table = format!(
        "\n{:wide$}  {:>6}  {:>15}  {:>15}\n",
        "column", "MMD", "mean difference", "deviation ratio"
    );
    for shift in shown {
        let (mean, ratio) = (shift.mean_difference, shift.deviation_ratio);
        // Writing to a string does not fail.
        let _ = writeln!(
            table,
            "{:wide$}  {:>6.3}  {mean:>+15.3}  {ratio:>15.3}",
            label(shift),
            shift.mmd
        );
    }
    report.table(table);
    let finite = |value: f64| value.is_finite().then_some(value);
    let all = shifts.iter().map(|shift| {
        json!({
            "column": shift.column,
            "name": shift.name,
            "mmd": shift.mmd,
            "mean_difference": finite(shift.mean_difference),
            "deviation_ratio": finite(shift.deviation_ratio),
        })
    });
    report.set("columns_by_shift", all.collect::<Vec<Value>>());
}
