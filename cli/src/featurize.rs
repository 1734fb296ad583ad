//! `bochner featurize`: the feature matrix.

use crate::{
    args::{DataArgs, RunArgs},
    checkpoint::{CheckpointArgs, Progress},
    given,
    interrupt::{steps, writing},
    map::{BuiltMap, MapArgs},
    outputs::keep_apart,
    report::{Report, Usage},
};
use anyhow::Result;
use bochner::{
    Error, Run,
    data::{AtomicFile, ChunkSource, Done, MemorySource, NpyWriter, Pieces, Survey, TargetUse},
    features::{self, Standardize},
};
use ndarray::ArrayView2;
use std::{path::PathBuf, sync::Arc};

/// Arguments of `bochner featurize`.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Rows to featurize; target columns are left out
    input: PathBuf,
    /// The feature matrix [rows, D], f32
    #[arg(long, short, value_name = "Z.npy")]
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
pub(crate) fn run(args: &Args) -> Result<()> {
    let console = args.run.start()?;
    if !args.map.check(&console)?.is_dense() {
        let problem = "the columns of binning are too many to write; use another --map";
        return Err(Usage(problem.into()).into());
    }
    if !args
        .output
        .extension()
        .is_some_and(|e| e.eq_ignore_ascii_case("npy"))
    {
        let problem = format!(
            "{}: features are written as .npy; name such a file",
            args.output.display()
        );
        return Err(Usage(problem).into());
    }
    let read = [Some(args.input.as_path()), args.data.targets()];
    keep_apart([Some(args.output.as_path())], read)?;
    let mut report = Report::default();
    let mut source = args.data.open(&args.input, TargetUse::Ignored)?;
    let run = args.run.open(&console)?;
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
    let columns = Some(built.map.output_dim());
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
    let mut writer = NpyWriter::<f32>::go_on(file, columns, done)?;
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
            let sink = |z: ArrayView2<'_, f32>| writer.write_rows(z);
            let more = features::featurize(built.map.as_ref(), &mut piece, run, sink)?;
            rows += more;
            if let Some(kept) = &mut kept {
                kept.keep(vec![writer.mark()?])?;
            }
            if more < step {
                break;
            }
        }
        writer.finish().map_err(anyhow::Error::new)
    })?;
    if let Some(kept) = kept {
        kept.finish();
    }
    report.seconds("featurize", seconds);
    report.throughput(rows, seconds);
    report.device(&run.device);
    args.map.describe(&built, &mut report);
    report.output("features", &args.output);
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
        given.insert("map".into(), built.map.describe());
        given.insert("device".into(), run.device.describe());
        Ok(Some(Progress::open(folder, given, 1)?))
    }
}

/// Rows that tell whether columns lie far from 0.
const FIRST_ROWS: usize = 1000;

/// A map of a fixed bandwidth is the same for every file, so its columns are not centred: the
/// library warns where that costs digits, as far as the first rows tell. They also tell whether
/// columns are numbers.
fn note_far(source: &mut dyn ChunkSource) -> Result<()> {
    source.settle(false, &mut |_| true)?;
    let first = match source.next_chunk(FIRST_ROWS) {
        Err(Error::Data { path, problem }) => match source.settle(true, &mut |_| true)? {
            true => source.next_chunk(FIRST_ROWS)?,
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
