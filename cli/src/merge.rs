//! `bochner merge`: from the sums of shards to the model of all rows.

use crate::{
    args::{RunArgs, named},
    fit,
    interrupt::writing,
    report::{Report, Usage, counted},
};
use anyhow::Result;
use bochner::{
    Error,
    data::AtomicFile,
    models::{AnySums, Partial, Sums},
};
use std::path::{Path, PathBuf};

/// Arguments of `bochner merge`.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Example: bochner fit x.csv --target y --shard 1/2 --partial 1.sums; the same \
     with 2/2; bochner merge 1.sums 2.sums -o x.model"
)]
pub(crate) struct Args {
    /// Sums that `fit --shard` wrote, all of them
    #[arg(required = true)]
    partial: Vec<PathBuf>,
    /// The model of all rows
    #[arg(long, short, value_name = "MODEL", value_parser = named())]
    output: PathBuf,
    #[command(flatten)]
    pub(crate) run: RunArgs,
}

/// Adds the sums in the order of their rows, whatever that of the files, and solves.
pub(crate) fn run(args: &Args) -> Result<()> {
    let console = args.run.start()?;
    drop(AtomicFile::create(&args.output)?);
    let mut report = Report::default();
    let (all, seconds) = console.timed(|| merged(&args.partial))?;
    report.seconds("merge", seconds);
    let in_files = |error: Error| Error::data(&args.partial[0], error.to_string());
    let run = args.run.open(&console)?;
    let mut model = fit::of_sums(&all, &run, &console, &mut report).map_err(|error| match error
        .downcast::<Error>(
    ) {
        Ok(error) => in_files(error).into(),
        Err(error) => error,
    })?;
    model.rows = all.sums.rows();
    let _writing = writing();
    model.save(&args.output)?;
    let shards = args.partial.len() as u64;
    report.set("shards", shards);
    report.set("rows", all.sums.rows());
    let rows = counted(all.sums.rows(), "row");
    report.line("rows", format!("{rows} of {}", counted(shards, "shard")));
    report.device(&run.device);
    report.output("model", &args.output);
    args.run.print(&report)
}

/// The sums of all files, which are all shards of the rows.
fn merged(paths: &[PathBuf]) -> Result<Partial<AnySums>> {
    let mut parts = Vec::new();
    let mut first: Option<(Partial<AnySums>, &Path)> = None;
    for path in paths {
        // Held one at a time, in the order of their rows: which that is says the file itself.
        let partial = Partial::<AnySums>::load(path)?;
        let shard = shard_of(&partial, path)?;
        parts.push((shard, path));
        match &first {
            None => first = Some((partial, path)),
            Some((other, of)) => {
                if let Some(difference) = other.basis.difference(&partial.basis)? {
                    let problem = format!(
                        "was not summed as {} was: {difference}; sum all shards with the same \
                         options and data",
                        of.display()
                    );
                    return Err(Error::data(path, problem).into());
                }
            }
        }
    }
    parts.sort();
    let twice = parts.windows(2).find(|pair| pair[0].0 == pair[1].0);
    if let Some([(shard, one), (_, other)]) = twice {
        let problem = format!(
            "has shard {shard}, as {} has; name each shard once",
            one.display()
        );
        return Err(Error::data(other, problem).into());
    }
    let count = parts.first().map_or(1, |(shard, _)| shard.count);
    let missing = (1..=count).find(|i| !parts.iter().any(|(shard, _)| shard.index == *i));
    if let Some(index) = missing {
        let problem = format!("shard {index}/{count} is missing; name the sums of all shards");
        return Err(Usage(problem).into());
    }
    let mut all: Option<Partial<AnySums>> = None;
    for (_, path) in parts {
        let partial = Partial::load(path)?;
        match &mut all {
            None => all = Some(partial),
            Some(all) => all
                .merge(&partial)
                .map_err(|error| Error::data(path, error.to_string()))?,
        }
    }
    all.ok_or_else(|| Usage("name the sums of all shards".into()).into())
}

/// The shard that a file has.
fn shard_of(partial: &Partial<AnySums>, path: &Path) -> bochner::Result<fit::Shard> {
    let shard = match partial.parts.as_slice() {
        [one] => one.parse().ok(),
        _ => None,
    };
    shard.ok_or_else(|| Error::data(path, "has no sums of `fit --shard`; name others"))
}
