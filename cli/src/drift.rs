//! `bochner drift`: whether two files hold rows of one law, and which columns differ.

mod of_sums;

use crate::{
    args::{DataArgs, RunArgs, at_least_one},
    became,
    map::MapArgs,
    page::head,
    report::{Report, Usage, Value, six_digits},
    show::few,
    verdict::{NullOption, TestArgs, watched},
};
use anyhow::Result;
use bochner::{
    data::{Alike, Kind, Schema, TargetUse},
    features::Standardize,
    hypothesis::{ColumnShift, Outcome, Pooled, TwoSampleOptions, TwoSampleOutcome, column_shifts},
    job::warn_of_odd_cells,
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
    /// The first sample: rows, or sums that `fit --shard` or a learner that grows wrote
    a: PathBuf,
    /// The second sample: the same columns, any number of rows; of sums one on the same map
    b: PathBuf,
    #[command(flatten)]
    test: TestArgs,
    /// Columns that are listed, those that differ most first
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = at_least_one)]
    listed: usize,
    #[command(flatten)]
    map: MapArgs,
    #[command(flatten)]
    data: DataArgs,
    #[command(flatten)]
    pub(crate) run: RunArgs,
}

/// Surveys both files as one, draws the map, tests, and looks at single columns.
pub(crate) fn run(mut args: Args) -> Result<()> {
    if of_sums::are_sums(&args.a, &args.b)? {
        return of_sums::run(&args);
    }
    let console = args.run.start()?;
    let (data, a) = (&args.data, &args.a);
    args.map.settle(None, || data.open(a, TargetUse::Ignored))?;
    if !args.map.check(&console)?.is_dense() {
        let problem = "the columns of binning are too many for a test; use another --map";
        return Err(Usage(problem.into()).into());
    }
    let null = args.test.null(NullOption::Permutation)?;
    let Alike { sources, schema } = args.data.open_alike([&args.a, &args.b])?;
    let [mut a, mut b] = sources;
    let mut report = Report::default();
    let run = args.run.open(&console)?;
    let mut pooled = Pooled::new(&mut a, &mut b)?;
    let (mut survey, seconds) = args.map.survey(&mut pooled, &console)?;
    if let Some(schema) = &schema {
        schema.keep_scales_of_texts(&mut survey);
    }
    report.seconds("survey", seconds);
    warn_of_odd_cells(&survey, &mut [a.as_mut(), b.as_mut()])?;
    let mut pooled = Pooled::new(&mut a, &mut b)?;
    let (built, seconds) = args.map.build(
        &mut pooled,
        Some(&survey),
        &run,
        &console,
        Standardize::Auto,
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
    args.describe(&found, &mut report);
    match &schema {
        None => became::describe_numbers(a.as_ref(), &mut report),
        Some(schema) => {
            became::describe(schema, &console, &mut report);
            texts_of_one(&shifts, schema, &mut report);
        }
    }
    columns(&shifts, args.listed, &mut report);
    args.data.describe_gaps(&mut report);
    report.about("first sample", head::file(&args.a));
    report.about("second sample", head::file(&args.b));
    args.run.print(&report)
}

impl Args {
    /// Whether the samples differ, and by how much.
    fn describe(&self, found: &TwoSampleOutcome, report: &mut Report) {
        report.set("rows_a", found.rows[0]);
        report.set("rows_b", found.rows[1]);
        self.verdict((found.unbiased, found.biased), &found.outcome, report);
    }

    /// The squared distance without bias and with it, and what it says.
    fn verdict(&self, (unbiased, biased): (f64, f64), outcome: &Outcome, report: &mut Report) {
        report.set("mmd2", unbiased);
        report.set("mmd2_biased", biased);
        let both = format!("{} (biased {})", six_digits(unbiased), six_digits(biased));
        report.line("mmd squared", both);
        let verdicts = ["the samples differ", "no difference found"];
        self.test.describe(outcome, ("drift", verdicts), report);
    }
}

/// The categories that one sample has and the other has not.
fn texts_of_one(shifts: &[ColumnShift], schema: &Schema, report: &mut Report) {
    let fields = schema.features().iter();
    let categories = fields.flat_map(|field| {
        let are = matches!(field.kind(), Kind::Categories(_));
        // The column that says where they are missing is none.
        (0..field.width())
            .map(move |k| are && k < field.width() - usize::from(field.has_indicator()))
    });
    let categories: Vec<bool> = categories.collect();
    let mut of_one = [Vec::new(), Vec::new()];
    for shift in shifts.iter().filter(|shift| categories[shift.column]) {
        let name = shift.name.clone().unwrap_or_default();
        // A column without a 1 in the sample that lacks the category.
        match (shift.mean_difference, shift.deviation_ratio) {
            (apart, ratio) if apart < 0.0 && (ratio == 0.0 || apart.is_infinite()) => {
                of_one[0].push(name);
            }
            (apart, ratio) if apart > 0.0 && (ratio.is_infinite() || apart.is_infinite()) => {
                of_one[1].push(name);
            }
            _ => {}
        }
    }
    let says = ["in the first alone", "in the second alone"].into_iter();
    let keys = ["texts_of_a_alone", "texts_of_b_alone"].into_iter();
    for ((says, key), mut names) in says.zip(keys).zip(of_one) {
        names.sort_unstable();
        if !names.is_empty() {
            report.line(says, few(&names));
        }
        report.set(key, names);
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
