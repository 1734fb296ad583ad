//! `bochner featurize`: the feature matrix.

mod output;

use crate::{
    args::{DataArgs, RunArgs},
    checkpoint::{CheckpointArgs, Progress},
    columnar, given,
    interrupt::{steps, writing},
    map::{BuiltMap, MapArgs},
    page::head,
    progress::Bar,
    report::{Console, Report, Usage},
};
use anyhow::Result;
use bochner::{
    Error, Run,
    data::{
        AtomicFile, ChunkSource, Done, MemorySource, Pieces, Refill, RowWriter, Survey, TargetUse,
        WriteBehind,
    },
    features::{self, FeatureMap, Standardize},
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
    let (format, refill) = args.check(&console)?;
    let mut report = Report::default();
    let mut source = args.data.open(&args.input, TargetUse::Ignored)?;
    let run = args.plan(source.columns(), &console)?;
    let survey = args.survey(&mut source, &console, &mut report)?;
    let (built, seconds) = args.map.build(
        &mut source,
        survey.as_ref(),
        &run,
        &console,
        Standardize::No,
    )?;
    report.seconds("map", seconds);
    let _writing = writing();
    let mut kept = args.kept(&built, &run)?;
    let (file, done) = args.begin(kept.as_ref(), &console)?;
    let columns = built.drawn.map.output_dim();
    let known = survey.map(|survey| survey.rows);
    let known = known.or(source.rows().map(|rows| rows as u64));
    let _steps = kept.as_ref().map(|_| steps());
    let written = Written {
        map: built.drawn.map.as_ref(),
        writer: Writer::create(format, file, done, columns)?,
        rows: done.rows,
        refill,
        kept: kept.as_mut(),
    };
    let bar = Arc::new(console.bar("featurize", known));
    let step = args.steps.step();
    let (rows, seconds) = console.timed(|| written.stream(&mut source, step, &run, &bar))?;
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

/// Features on their way into a file.
struct Written<'a> {
    map: &'a dyn FeatureMap,
    writer: Writer,
    rows: u64,
    /// The places of rows that are left out, which are written as none.
    refill: Option<Refill>,
    kept: Option<&'a mut Progress>,
}

impl Written<'_> {
    /// Writes the features of all rows behind those that are written, and keeps what is done after
    /// each step; gives the number of rows in the file.
    fn stream(
        self,
        source: &mut dyn ChunkSource,
        step: u64,
        run: &Run,
        bar: &Arc<Bar>,
    ) -> Result<u64> {
        let Self {
            map,
            mut writer,
            mut rows,
            mut refill,
            mut kept,
        } = self;
        let mut pieces = Pieces::new(source)?;
        loop {
            let run = run.clone().progress(bar.follow_from(rows));
            let mut piece = pieces.piece(rows, step);
            let more;
            (writer, more) = write(map, &mut piece, run, writer, refill.as_mut())?;
            rows += more;
            if let Some(kept) = &mut kept {
                kept.keep(vec![writer.mark()?])?;
            }
            if more < step {
                break;
            }
        }
        if let Some(refill) = &mut refill {
            let none = ArrayView2::from_shape((0, map.output_dim()), &[])?;
            writer.write_rows(Refill::filled(none, &refill.rest(), f32::NAN).view())?;
        }
        Ok(writer.finish()?)
    }
}

/// Writes the features of `source` while the next are computed; gives their number.
fn write(
    map: &dyn FeatureMap,
    source: &mut dyn ChunkSource,
    run: Run,
    writer: Writer,
    refill: Option<&mut Refill>,
) -> Result<(Writer, u64)> {
    let mut behind = WriteBehind::new(writer)?;
    let rows = match refill {
        None => features::featurize_behind(map, source, run, &mut behind)?,
        Some(refill) => {
            let sink = |z: ArrayView2<'_, f32>| match refill.places(z.nrows()) {
                None => behind.write_rows(z),
                Some(places) => behind.write_rows(Refill::filled(z, &places, f32::NAN).view()),
            };
            features::featurize(map, source, run, sink)?
        }
    };
    Ok((behind.into_inner()?, rows))
}

impl Args {
    /// Errors where what is asked for does not go together, before a row is read. What the file
    /// is, and where rows are left out.
    fn check(&mut self, console: &Console) -> Result<(Format, Option<Refill>)> {
        let (data, input) = (&self.data, &self.input);
        self.map
            .settle(None, || data.open(input, TargetUse::Ignored))?;
        if !self.map.check(console)?.is_dense() {
            let problem = "the columns of binning are too many to write; use another --map";
            return Err(Usage(problem.into()).into());
        }
        let format = Format::from_path(&self.output)?;
        let gaps = self.data.list_gaps();
        if gaps.is_some() && self.steps.checkpoint.is_some() {
            let problem = "--nan drop does not go with --checkpoint; remove the rows first";
            return Err(Usage(problem.into()).into());
        }
        columnar::require_one_run(&self.output, self.steps.checkpoint.as_deref())?;
        Ok((format, gaps.map(|gaps| Refill::new(Some(gaps)))))
    }

    /// Where the work runs, with what the map and what is written behind leave for chunks.
    fn plan(&self, columns: usize, console: &Console) -> Result<Run> {
        let run = self.run.open(console)?;
        let plan = MemoryPlan::of_features(&self.map.spec(), columns, &run);
        plan.require_map()?;
        let chunks = self.run.within(|bytes| plan.within(bytes))?;
        console.detail(&format!("plan: {plan}"));
        Ok(run.memory(plan.without_copies(chunks)))
    }

    /// Reads the rows once, if the map needs it.
    fn survey(
        &self,
        source: &mut dyn ChunkSource,
        console: &Console,
        report: &mut Report,
    ) -> Result<Option<Survey>> {
        if !self.map.needs_survey() {
            note_far(source)?;
            return Ok(None);
        }
        let (survey, seconds) = self.map.survey(source, console)?;
        report.seconds("survey", seconds);
        Ok(Some(survey))
    }

    /// The output, and what is done of it.
    fn begin(&self, kept: Option<&Progress>, console: &Console) -> Result<(AtomicFile, Done)> {
        let Some(kept) = kept else {
            return Ok((AtomicFile::create(&self.output)?, Done::default()));
        };
        // A place that cannot be written is better known now than at the end.
        drop(AtomicFile::create(&self.output)?);
        kept.note(console);
        Ok(kept.output(0, &self.output)?)
    }

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
        Err(Error::Data { path, problem }) => {
            if source.settle(true, &mut |_| true)? {
                source.next_chunk(rows)?
            } else {
                return Err(Error::Data { path, problem }.into());
            }
        }
        first => first?,
    };
    if let Some(first) = first {
        let mut first = MemorySource::new(first.x, None)?;
        let survey = Survey::new(&mut first, 0, 0)?;
        Standardize::No.decide(&survey, false);
    }
    Ok(source.rewind()?)
}
