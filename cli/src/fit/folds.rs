//! `--cv`: which fold each row is in.

use super::{Fitting, fitting::Prepared};
use anyhow::Result;
use bochner::{
    data::{Folds, TargetUse},
    seed::Seed,
    solve::Targets,
};

/// How rows are parted into folds.
#[derive(Debug, Clone, clap::Args)]
pub(super) struct FoldArgs {
    /// Also score by so many folds, each held out in turn
    ///
    /// Each is held out from a fit to the others, which chooses all that it chooses by these alone.
    /// Of labels each class is spread evenly.
    #[arg(long, value_name = "FOLDS", conflicts_with_all = ["test", "test_input"])]
    #[arg(value_parser = folds, allow_hyphen_values = true)]
    cv: Option<usize>,
    /// Column of a table that is no feature: rows that have one value there are in one fold of --cv
    #[arg(
        long,
        value_name = "COLUMN",
        requires = "cv",
        conflicts_with = "cv_time"
    )]
    pub(super) group: Option<String>,
    /// Column of numbers or dates by which folds of --cv follow each other: each is predicted from
    /// the rows before it. It stays a feature unless --ignore names it
    #[arg(long, value_name = "COLUMN", requires = "cv")]
    cv_time: Option<String>,
}

fn folds(text: &str) -> Result<usize, String> {
    match text.trim().parse() {
        Ok(count) if count > 1 => Ok(count),
        _ => Err("must be a whole number, 2 or more".into()),
    }
}

impl FoldArgs {
    /// Whether folds are asked for.
    pub(super) fn is_asked(&self) -> bool {
        self.cv.is_some()
    }

    /// Whether there are folds whose rows are parted by chance alone.
    pub(super) fn are_at_random(&self) -> bool {
        self.is_asked() && self.group.is_none() && self.cv_time.is_none()
    }

    /// What rows are parted by, for programs and for people.
    pub(super) fn by(&self, targets: &Targets) -> (&'static str, &'static str) {
        match (&self.group, &self.cv_time, targets) {
            (Some(_), ..) => ("groups", "each group in one of them"),
            (_, Some(_), _) => ("time", "each predicted from the rows before it"),
            (.., Targets::Classes(_)) => ("classes", "each class spread evenly"),
            (.., Targets::Real { .. }) => ("rows", "dealt by the seed"),
        }
    }
}

impl Fitting {
    /// Which fold each row is in, if folds are asked for.
    pub(super) fn folds(&self, at: &Prepared) -> Result<Option<Folds>> {
        let (args, data) = (&self.args, &self.args.data);
        let Some(count) = args.folds.cv else {
            return Ok(None);
        };
        let seed = Seed(args.map.kernel.seed);
        let folds = match (&args.folds.group, &args.folds.cv_time) {
            (Some(_), _) => Folds::of_groups(&data.groups(&args.input)?, count, seed),
            (_, Some(column)) => Folds::in_time(&data.times(&args.input, column)?, count),
            (None, None) => {
                let mut source = data.open(&args.input, TargetUse::Required)?;
                match at.targets {
                    Targets::Classes(_) => Folds::stratified(source.as_mut(), count, seed),
                    Targets::Real { .. } => Folds::dealt(source.as_mut(), count, seed),
                }
            }
        };
        Ok(Some(folds?))
    }
}
