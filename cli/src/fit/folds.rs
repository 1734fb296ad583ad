//! `--cv`: which fold each row is in.

use super::{Args, Fitting, fitting::Prepared};
use anyhow::Result;
use bochner::{
    data::{Folds, TargetUse},
    models::Targets,
    seed::Seed,
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
    /// Column of a table that is no feature: rows that have one value there are held out together
    ///
    /// They are in one fold of --cv and in one part of --test and --calibrate, and preparation,
    /// bandwidth and penalty are chosen by groups left out.
    #[arg(long, value_name = "COLUMN", conflicts_with = "cv_time")]
    pub(super) group: Option<String>,
    /// Column of numbers or dates by which folds of --cv follow each other: each is predicted from
    /// the rows before it. Blocks of time are left out in choices, too. It stays a feature unless
    /// --ignore names it
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

    /// Whether something says which rows are held out together.
    pub(super) fn part_rows(&self) -> bool {
        self.group.is_some() || self.cv_time.is_some()
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

impl Args {
    /// Which rows are in one fold, and are left out together in all that is chosen, where groups or
    /// times say so.
    pub(super) fn part_rows(&mut self) -> Result<()> {
        if self.held_out.is_some() || !self.folds.part_rows() {
            return Ok(());
        }
        // Without --cv two are as good as any number.
        let count = self.folds.cv.unwrap_or(2);
        self.parted = Some(match &self.folds.cv_time {
            Some(column) => Folds::in_time(&self.data.times(&self.input, column)?, count)?,
            None => {
                let seed = Seed(self.map.kernel.seed);
                Folds::of_groups(&self.data.groups(&self.input)?, count, seed)?
            }
        });
        Ok(())
    }
}

impl Fitting {
    /// Which fold each row is in, if folds are asked for.
    pub(super) fn folds(&self, at: &Prepared) -> Result<Option<Folds>> {
        let (args, data) = (&self.args, &self.args.data);
        let Some(count) = args.folds.cv else {
            return Ok(None);
        };
        if let Some(parted) = &args.parted {
            return Ok(Some(parted.clone()));
        }
        let seed = Seed(args.map.kernel.seed);
        let mut source = data.open(&args.input, TargetUse::Required)?;
        let folds = match at.targets {
            Targets::Classes(_) => Folds::stratified(source.as_mut(), count, seed),
            Targets::Real { .. } => Folds::dealt(source.as_mut(), count, seed),
        };
        Ok(Some(folds?))
    }
}
