//! Runs in steps, what is done of which is kept: `--checkpoint` and `--every`.

mod state;

use crate::{
    args::named,
    given::{self, Given},
    interrupt,
    report::{Console, Usage, counted},
};
use anyhow::Result;
use bochner::{
    Error,
    data::{AtomicFile, Done, has_own_file, open_own_file},
};
use state::State;
use std::{
    fs::{File, TryLockError},
    io::{Read, Write},
    path::{Path, PathBuf},
};

/// Rows between two checkpoints where nobody says.
const EVERY: u64 = 100_000;
/// The file whose lock a run holds. It is empty.
const LOCK: &str = ".bochner-lock";
/// A state has few words; a file that is longer is none.
const LONGEST: u64 = 1 << 20;

/// How often what is done is kept, and where.
#[derive(Debug, Clone, clap::Args)]
#[command(next_help_heading = "Run options")]
pub(crate) struct CheckpointArgs {
    /// Keep what is done in this folder: a run that ends early, in whatever way, goes on when the
    /// same command is given again, and writes the same to the last bit
    #[arg(long, value_name = "DIR", value_parser = named())]
    pub(crate) checkpoint: Option<PathBuf>,
    /// Rows between two checkpoints [default: 100000]
    #[arg(long, value_name = "N", value_parser = rows, requires = "checkpoint")]
    #[arg(allow_hyphen_values = true)]
    every: Option<u64>,
}

fn rows(text: &str) -> Result<u64, String> {
    let rows = crate::args::at_least_one(text)?;
    u64::try_from(rows).map_err(|error| error.to_string())
}

impl CheckpointArgs {
    /// Rows of a step: all of them where nothing is kept.
    pub(crate) fn step(&self) -> u64 {
        match self.checkpoint {
            Some(_) => self.every.unwrap_or(EVERY),
            None => u64::MAX,
        }
    }

    /// The folder, made and locked; `None` where nothing is kept.
    pub(crate) fn open(&self) -> Result<Option<Folder>> {
        let Some(path) = &self.checkpoint else {
            return Ok(None);
        };
        Ok(Some(Folder::open(path)?))
    }
}

/// A folder of one run at a time.
#[derive(Debug)]
pub(crate) struct Folder {
    path: PathBuf,
    lock: File,
}

impl Folder {
    fn open(path: &Path) -> Result<Self> {
        let fail = |error| Error::io(path, error);
        if !path.is_dir() {
            std::fs::create_dir(path).map_err(fail)?;
        }
        let at = path.join(LOCK);
        let lock = open_own_file(&at)?;
        if lock.metadata().map_err(fail)?.len() > 0 {
            let problem = "holds something, so no run made it; name another folder";
            return Err(Error::data(at, problem).into());
        }
        if let Err(TryLockError::WouldBlock) = lock.try_lock() {
            let problem = "is used by a run that has not ended; wait for it, or name another";
            return Err(Error::data(path, problem).into());
        }
        Ok(Self {
            path: path.to_owned(),
            lock,
        })
    }

    /// A file in it, which may be there or not. Errors if something else has its name, such as a
    /// link: the folder may come from somebody else.
    pub(crate) fn at(&self, name: &str) -> bochner::Result<PathBuf> {
        let path = self.path.join(name);
        has_own_file(&path)?;
        Ok(path)
    }

    /// Whether a file is in it. Errors as [`Self::at`] does.
    pub(crate) fn has(&self, name: &str) -> bochner::Result<bool> {
        has_own_file(self.path.join(name))
    }

    /// After a step: what an interrupted run says from now on, and its end if it is interrupted.
    pub(crate) fn stepped(&self, rows: u64) -> Result<()> {
        interrupt::keeps(Some(format!(
            "{} are done and kept in {}: the same command goes on",
            counted(rows, "row"),
            self.path.display()
        )));
        match interrupt::status() {
            Some(_) => Err(interrupt::error().into()),
            None => Ok(()),
        }
    }

    /// Says where a run goes on.
    pub(crate) fn note(&self, rows: u64, console: &Console) {
        if rows > 0 {
            let (rows, path) = (counted(rows, "row"), self.path.display());
            console.note(&format!("goes on after {rows}, which {path} has"));
        }
    }

    /// An error that says in what a checkpoint is of another run.
    pub(crate) fn differs(&self, difference: &str) -> anyhow::Error {
        let problem = format!(
            "{}: is of another run: {difference}; give the same, or name another folder",
            self.path.display()
        );
        Usage(problem).into()
    }

    /// All is done: these files go, and with them the folder if nothing else is there.
    pub(crate) fn finish(self, names: &[&str]) {
        // What stays does no harm but to take room.
        for name in names.iter().chain(&[LOCK]) {
            let _ = std::fs::remove_file(self.path.join(name));
        }
        drop(self.lock);
        let _ = std::fs::remove_dir(&self.path);
        interrupt::keeps(None);
    }
}

/// How far outputs are that are written row after row.
#[derive(Debug)]
pub(crate) struct Progress {
    folder: Folder,
    state: State,
}

/// The state in the folder.
const STATE: &str = "state.json";

/// The name of what is written of an output.
fn part(output: usize) -> String {
    format!("output-{output}.part")
}

impl Progress {
    /// Goes on where the folder says, or begins: for so many outputs of a run that was given this.
    pub(crate) fn open(folder: Folder, given: Given, outputs: usize) -> Result<Self> {
        let has = |output| folder.has(&part(output));
        let there: Vec<bool> = (0..outputs).map(has).collect::<bochner::Result<_>>()?;
        let kept = match folder.has(STATE)? {
            true => Some(read(&folder.at(STATE)?, outputs)?),
            false => None,
        };
        if let (None, Some(output)) = (&kept, there.iter().position(|is| *is)) {
            let problem = "is there without the state.json of a run; remove it, or name another \
                           folder";
            return Err(Error::data(folder.at(&part(output))?, problem).into());
        }
        let mut progress = Self {
            folder,
            state: State {
                given,
                done: vec![Done::default(); outputs],
            },
        };
        if let Some(kept) = kept.filter(|kept| kept.done.iter().any(|done| done.rows > 0)) {
            if let Some(difference) = given::difference(&kept.given, &progress.state.given) {
                return Err(progress.folder.differs(&difference));
            }
            // A part without its file was finished and got its name.
            if there.iter().all(|is| *is) {
                progress.state.done = kept.done;
            }
        }
        // Parts are made after a state, which tells them from files that no run made.
        progress.write()?;
        Ok(progress)
    }

    /// Rows that are done.
    pub(crate) fn rows(&self) -> u64 {
        self.state.done.first().map_or(0, |done| done.rows)
    }

    /// Says where the run goes on.
    pub(crate) fn note(&self, console: &Console) {
        self.folder.note(self.rows(), console);
    }

    /// An output where it was left.
    pub(crate) fn output(&self, output: usize, path: &Path) -> bochner::Result<(AtomicFile, Done)> {
        let done = self.state.done.get(output).copied().unwrap_or_default();
        let file = AtomicFile::keep(path, self.folder.at(&part(output))?, done.bytes)?;
        Ok((file, done))
    }

    /// Keeps how far all outputs are, which are on the disk. Errors when the run is interrupted.
    pub(crate) fn keep(&mut self, done: Vec<Done>) -> Result<()> {
        self.state.done = done;
        self.write()?;
        self.folder.stepped(self.rows())
    }

    /// Writes the state.
    fn write(&self) -> bochner::Result<()> {
        let path = self.folder.at(STATE)?;
        let mut file = AtomicFile::create(&path)?;
        file.write_all(self.state.text().as_bytes())
            .map_err(|e| Error::io(&path, e))?;
        file.finish()
    }

    /// All outputs have their names.
    pub(crate) fn finish(self) {
        self.folder.finish(&[STATE]);
    }
}

/// A state that [`Progress::keep`] wrote. Errors with [`Error::Data`] on anything else.
fn read(path: &Path, outputs: usize) -> bochner::Result<State> {
    let fail = |error| Error::io(path, error);
    let none = || Error::data(path, "is no checkpoint; remove the folder to begin again");
    let mut text = Vec::new();
    let file = File::open(path).map_err(fail)?;
    file.take(LONGEST)
        .read_to_end(&mut text)
        .map_err(|_| none())?;
    let state = State::read(&text).filter(|state| state.done.len() == outputs);
    state.ok_or_else(none)
}
