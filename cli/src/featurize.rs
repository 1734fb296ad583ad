//! `bochner featurize`: the feature matrix.

use crate::{
    args::{DataArgs, RunArgs},
    interrupt::writing,
    map::MapArgs,
    outputs::keep_apart,
    report::{Report, Usage},
};
use anyhow::Result;
use bochner::{
    data::{ChunkSource, MemorySource, NpyWriter, Survey, TargetUse},
    features::{self, Standardize},
};
use std::path::PathBuf;

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
    let mut writer = NpyWriter::<f32>::create(&args.output, built.map.output_dim())?;
    let known = survey.map(|survey| survey.rows);
    let known = known.or(source.rows().map(|rows| rows as u64));
    let bar = console.bar("featurize", known);
    let (rows, seconds) = console.timed(|| {
        let rows = features::featurize(
            built.map.as_ref(),
            &mut source,
            run.clone().progress(bar.follow()),
            |z| writer.write_rows(z),
        )?;
        writer.finish().map(|_| rows)
    })?;
    report.seconds("featurize", seconds);
    report.throughput(rows, seconds);
    report.device(&run.device);
    args.map.describe(&built, &mut report);
    report.output("features", &args.output);
    args.run.print(&report)
}

/// Rows that tell whether columns lie far from 0.
const FIRST_ROWS: usize = 1000;

/// A map of a fixed bandwidth is the same for every file, so its columns are not centred: the
/// library warns where that costs digits, as far as the first rows tell.
fn note_far(source: &mut dyn ChunkSource) -> Result<()> {
    if let Some(first) = source.next_chunk(FIRST_ROWS)? {
        let mut first = MemorySource::new(first.x, None)?;
        let survey = Survey::of(&mut first, 0, 0)?;
        Standardize::No.decide(&survey, false);
    }
    Ok(source.rewind()?)
}
