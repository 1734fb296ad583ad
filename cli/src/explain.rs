//! `bochner explain`: what a model goes by.

mod found;
mod object;

use crate::{
    args::{DataArgs, RunArgs, at_least_one, named, whole},
    evaluate::check_targets,
    interrupt::writing,
    page::{self, head},
    predict::{beyond::Watched, check_columns},
    report::{Report, Usage},
};
use anyhow::Result;
use bochner::{
    Error, Run,
    data::{AtomicFile, ChunkSource},
    explain::{ExplainOptions, Explainer},
    models::LinearModel,
    seed::Seed,
};
use clap::builder::Resettable;
use found::Found;
use std::{
    io::Write,
    path::{Path, PathBuf},
};

/// Columns that are looked along where none are named.
const DRAWN: usize = 6;

/// Arguments of `bochner explain`.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples: bochner explain price.model table.csv -o explained.html\n          \
     bochner explain price.model table.csv --columns area,rooms --rows 5 --json"
)]
#[command(mut_arg("columns", |arg| arg
    .help("Columns to look along, by the names that the table has, instead of the six that matter \
           most")
    .long_help(None)
    .help_heading(None)
    .conflicts_with(Resettable::Reset)))]
pub(crate) struct Args {
    /// A model of a regressor or a classifier that `bochner fit` wrote
    model: PathBuf,
    /// Rows to explain it on, best those that the fit did not see; with targets, if they have some
    input: PathBuf,
    /// What was found: a page, .html, or all numbers, .json
    #[arg(long, short, value_name = "OUT", value_parser = named())]
    output: Option<PathBuf>,
    /// Rows whose predictions are explained by Shapley values, evenly spread; 0 for none
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = whole::<usize>)]
    rows: usize,
    /// How often each column is exchanged between rows
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = at_least_one)]
    repeats: usize,
    /// Rows that are looked at, at most; of more a sample is taken
    #[arg(long, value_name = "N", default_value_t = 5000, value_parser = at_least_one)]
    sample: usize,
    /// What all sampling follows from
    #[arg(long, value_name = "SEED", default_value_t = 0, value_parser = whole::<u64>)]
    seed: u64,
    #[command(flatten)]
    data: DataArgs,
    #[command(flatten)]
    pub(crate) run: RunArgs,
}

/// What a file of results holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Written {
    Page,
    Numbers,
}

/// Explains a model on a file.
pub(crate) fn run(mut args: Args) -> Result<()> {
    let named = args.data.take_columns();
    let output = args.written()?;
    let console = args.run.start()?;
    let model = LinearModel::load(&args.model)?;
    let source = args
        .data
        .open_for(&model, &args.input, args.data.target_use())?;
    check_columns(&model, source.as_ref(), &args.input)?;
    if source.targets() > 0 {
        check_targets(&model, source.as_ref(), &args.input)?;
    }
    let run = args.run.open(&console)?;
    let mut watched = Watched::with_scores(source, &model);
    let (mut explainer, read) =
        console.timed(|| Explainer::new(&model, &mut watched, args.options(), &run))?;
    let columns = named.iter().map(|name| explainer.place_of(name));
    let columns: Vec<usize> = columns.collect::<bochner::Result<_>>()?;
    let drawn = if columns.is_empty() {
        DRAWN
    } else {
        columns.len()
    };
    let planned = explainer.planned_rows(drawn, args.rows);
    let bar = console.bar("explain", Some(planned));
    explainer.progress(bar.follow());
    let (found, seconds) = console.timed(|| Found::of(&mut explainer, columns, args.rows))?;
    if let Some(note) = watched.note() {
        console.note(&note);
    }
    let mut report = Report::default();
    found.describe(&explainer, &mut report);
    args.data.describe_gaps(&mut report);
    report.seconds("read", read);
    report.seconds("explain", seconds);
    report.device(&run.device);
    report.set("seed", args.seed);
    report.set("model", args.model.display().to_string());
    report.set("map", model.map.describe());
    report.line("map", model.map.describe());
    head::of_model(&args.input, &model, &mut report);
    if let Some((path, kind)) = output {
        write(path, kind, &report)?;
        report.output("written", path);
    }
    args.run.print(&report)
}

/// Draws the functions of a model that is a sum of such, on these rows; of others nothing.
pub(crate) fn draw_parts(
    model: &LinearModel,
    source: &mut dyn ChunkSource,
    run: &Run,
    report: &mut Report,
) -> bochner::Result<()> {
    let mut explainer = Explainer::new(model, source, ExplainOptions::default(), run)?;
    if explainer.is_additive() {
        let shapes = explainer.shapes()?;
        report.line("additive", found::in_words(&shapes));
        object::of_shapes(&shapes, &explainer, report);
    }
    Ok(())
}

impl Args {
    fn options(&self) -> ExplainOptions {
        ExplainOptions {
            seed: Seed(self.seed),
            rows: self.sample,
            repeats: self.repeats,
            ..ExplainOptions::default()
        }
    }

    /// The output with what it is, by its name. Errors where it cannot be written, before the work.
    fn written(&self) -> Result<Option<(&Path, Written)>> {
        let Some(path) = self.output.as_deref() else {
            return Ok(None);
        };
        let extension = path.extension().and_then(|extension| extension.to_str());
        let kind = match extension.map(str::to_ascii_lowercase).as_deref() {
            Some("html" | "htm") => Written::Page,
            Some("json") => Written::Numbers,
            _ => {
                let problem = format!(
                    "{}: what is found is written as .html or .json; name a file of one of them",
                    path.display()
                );
                return Err(Usage(problem).into());
            }
        };
        drop(AtomicFile::create(path)?);
        Ok(Some((path, kind)))
    }
}

fn write(path: &Path, kind: Written, report: &Report) -> Result<()> {
    let _writing = writing();
    if kind == Written::Page {
        return page::write(path, report);
    }
    let mut file = AtomicFile::create(path)?;
    file.write_all(report.text(true).as_bytes())
        .map_err(|error| Error::io(path, error))?;
    Ok(file.finish()?)
}
