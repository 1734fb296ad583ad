//! `bochner featurize`: the feature matrix.

mod output;

use crate::{
    args::{DataArgs, RunArgs},
    checkpoint::{CheckpointArgs, Progress},
    columnar, given,
    interrupt::{steps, writing},
    map::{BuiltMap, MapArgs},
    outputs::keep_apart,
    page::head,
    report::{Report, Usage},
};
use anyhow::Result;
use bochner::{
    Error, Run,
    data::{
        AtomicFile, ChunkSource, Done, MemorySource, Pieces, Refill, RowWriter, Survey, TargetUse,
        WriteBehind,
    },
    features::{self, Standardize},
    models::MemoryPlan,
};
use ndarray::ArrayView2;
use output::{Format, Writer};
use std::{path::PathBuf, sync::Arc};

/// Arguments of `bochner featurize`.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Rows to featurize; target columns are left out
    input: PathBuf,
    /// The feature matrix [rows, D], f32: .npy, .csv, .parquet or .f32
    ///
    /// A .parquet has one column of lists; .f32 (or .raw) is little-endian numbers row after row.
    #[arg(long, short, value_name = "OUT")]
    output: PathBuf,
    #[command(flatten)]
    map: MapArgs,
    #[command(flatten)]
    data: DataArgs,
    #[command(flatten)]
    steps: CheckpointArgs,
    #[command(flatten)]
    pub(crate) run: RunArgs,
}

/// Streams the input through the map into the output file.
pub(crate) fn run(mut args: Args) -> Result<()> {
    let console = args.run.start()?;
    let (data, input) = (&args.data, &args.input);
    args.map
        .settle(None, || data.open(input, TargetUse::Ignored))?;
    if !args.map.check(&console)?.is_dense() {
        let problem = "the columns of binning are too many to write; use another --map";
        return Err(Usage(problem.into()).into());
    }
    let format = Format::of(&args.output)?;
    let gaps = args.data.list_gaps();
    if gaps.is_some() && args.steps.checkpoint.is_some() {
        let problem = "--nan drop does not go with --checkpoint; remove the rows first";
        return Err(Usage(problem.into()).into());
    }
    let mut refill = Refill::new(gaps);
    columnar::require_one_run(&args.output, args.steps.checkpoint.as_deref())?;
    let read = [Some(args.input.as_path()), args.data.targets()];
    keep_apart([Some(args.output.as_path()), args.run.page()], read)?;
    let mut report = Report::default();
    let mut source = args.data.open(&args.input, TargetUse::Ignored)?;
    let run = args.run.open(&console)?;
    let plan = MemoryPlan::of_features(&args.map.spec(), source.columns(), &run);
    plan.require_map()?;
    let chunks = args.run.within(|bytes| plan.within(bytes))?;
    console.detail(&format!("plan: {plan}"));
    // What is written behind is no part of the chunks that are featurized.
    let run = run.memory(plan.without_copies(chunks));
    let survey = match args.map.needs_survey() {
        true => {
            let (survey, seconds) = args.map.survey(&mut source, &console)?;
            report.seconds("survey", seconds);
            Some(survey)
        }
        false => {
            note_far(&mut source)?;
            None
        }
    };
    let (built, seconds) = args.map.build(
        &mut source,
        survey.as_ref(),
        &run,
        (&console, Standardize::No),
    )?;
    report.seconds("map", seconds);
    let _writing = writing();
    let columns = built.drawn.map.output_dim();
    let mut kept = args.kept(&built, &run)?;
    let (file, done) = match &kept {
        Some(kept) => {
            // A place that cannot be written is better known now than at the end.
            drop(AtomicFile::create(&args.output)?);
            kept.note(&console);
            kept.output(0, &args.output)?
        }
        None => (AtomicFile::create(&args.output)?, Done::default()),
    };
    let mut writer = Writer::create(format, (file, done), columns)?;
    let known = survey.map(|survey| survey.rows);
    let known = known.or(source.rows().map(|rows| rows as u64));
    let bar = Arc::new(console.bar("featurize", known));
    let _steps = kept.as_ref().map(|_| steps());
    let (rows, seconds) = console.timed(|| {
        let (mut rows, step) = (done.rows, args.steps.step());
        let mut pieces = Pieces::of(&mut source)?;
        loop {
            let run = run.clone().progress(bar.follow_from(rows));
            let mut piece = pieces.piece(rows, step);
            let mut behind = WriteBehind::new(writer)?;
            let map = built.drawn.map.as_ref();
            let more = match args.data.drops_rows().is_some() {
                false => features::featurize_behind(map, &mut piece, run, &mut behind)?,
                true => {
                    let sink = |z: ArrayView2<'_, f32>| match refill.places(z.nrows()) {
                        None => behind.write_rows(z),
                        Some(places) => {
                            behind.write_rows(Refill::filled(z, &places, f32::NAN).view())
                        }
                    };
                    features::featurize(map, &mut piece, run, sink)?
                }
            };
            writer = behind.into_inner()?;
            rows += more;
            if let Some(kept) = &mut kept {
                kept.keep(vec![writer.mark()?])?;
            }
            if more < step {
                break;
            }
        }
        let none = ArrayView2::from_shape((0, columns), &[]).map_err(anyhow::Error::new)?;
        writer.write_rows(Refill::filled(none, &refill.rest(), f32::NAN).view())?;
        writer.finish().map_err(anyhow::Error::new)
    })?;
    if let Some(kept) = kept {
        kept.finish();
    }
    report.seconds("featurize", seconds);
    report.throughput(rows, seconds);
    report.device(&run.device);
    args.map.describe(&built, &mut report);
    args.data.describe_gaps(&mut report);
    if format == Format::Raw {
        report.line(
            "shape",
            format!("{rows} x {columns}, little-endian f32, row after row"),
        );
    }
    report.set("shape", vec![rows, columns as u64]);
    report.output("features", &args.output);
    report.about("data", head::file(&args.input));
    args.run.print(&report)
}

impl Args {
    /// What a checkpoint has of this run, if there is to be one.
    fn kept(&self, built: &BuiltMap, run: &Run) -> Result<Option<Progress>> {
        let Some(folder) = self.steps.open()? else {
            return Ok(None);
        };
        let mut given = given::options(&[]);
        given.insert("file".into(), given::file(&self.input)?);
        given.insert("map".into(), built.drawn.map.describe());
        given.insert("device".into(), run.device.describe());
        Ok(Some(Progress::open(folder, given, 1)?))
    }
}

/// Rows that tell whether columns lie far from 0, and values.
const FIRST_ROWS: usize = 1000;
const FIRST_VALUES: usize = 1 << 20;

/// A map of a fixed bandwidth is the same for every file, so its columns are not centred: the
/// library warns where that costs digits, as far as the first rows tell. They also tell whether
/// columns are numbers.
fn note_far(source: &mut dyn ChunkSource) -> Result<()> {
    source.settle(false, &mut |_| true)?;
    let rows = (FIRST_VALUES / source.columns().max(1)).clamp(1, FIRST_ROWS);
    let first = match source.next_chunk(rows) {
        Err(Error::Data { path, problem }) => match source.settle(true, &mut |_| true)? {
            true => source.next_chunk(rows)?,
            false => return Err(Error::Data { path, problem }.into()),
        },
        first => first?,
    };
    if let Some(first) = first {
        let mut first = MemorySource::new(first.x, None)?;
        let survey = Survey::of(&mut first, 0, 0)?;
        Standardize::No.decide(&survey, false);
    }
    Ok(source.rewind()?)
}
