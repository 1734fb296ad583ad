//! What people read on stderr while work goes on: notes and progress.

use super::one_line;
use crate::{drivers, progress::Bar};
use anyhow::Result;
use std::{
    collections::HashSet,
    io::{self, Write},
    sync::{
        Mutex,
        atomic::{AtomicUsize, Ordering::Relaxed},
    },
    time::{Duration, Instant},
};

/// What to print.
#[derive(Debug, Clone, clap::Args)]
#[command(next_help_heading = "Run options")]
pub(crate) struct OutputArgs {
    /// Print one JSON object on stdout and nothing else there
    #[arg(long)]
    pub(crate) json: bool,
    /// Nothing on stderr but errors: no notes and no progress
    #[arg(long, short)]
    pub(crate) quiet: bool,
    /// Where stderr is no terminal, say every so many seconds how far long work is; 0 for each step
    #[arg(long, value_name = "SECONDS", default_value_t = 10)]
    pub(crate) progress_every: u32,
    /// Say how the work is done
    ///
    /// Device and why, map, chunks, solver; drivers speak, too.
    #[arg(long, short, conflicts_with = "quiet")]
    pub(crate) verbose: bool,
}

/// Notes and progress.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Console {
    quiet: bool,
    verbose: bool,
    /// Between lines of progress.
    every: Duration,
}

/// Makes notes of what the library warns of, and with `-v` shows all that it says of its work.
/// `RUST_LOG` chooses otherwise.
pub(crate) fn log(output: Option<&OutputArgs>) {
    let (quiet, verbose) = output.map_or((false, false), |o| (o.quiet, o.verbose));
    // wgpu and naga warn about what the user can do nothing about.
    let levels = match (quiet, verbose) {
        (true, _) => "error,wgpu_hal=off",
        (_, false) => "warn,wgpu=error,wgpu_core=error,wgpu_hal=off,naga=error",
        (_, true) => "info,wgpu_core=warn,bochner=debug",
    };
    let warned = Mutex::new(HashSet::new());
    env_logger::Builder::from_env(env_logger::Env::default().default_filter_or(levels))
        .target(env_logger::Target::Pipe(Box::new(Stderr)))
        .format(move |out, record| {
            let text = one_line(&record.args().to_string());
            let fresh = warned
                .lock()
                .is_ok_and(|mut said| said.insert(text.clone()));
            match record.level() {
                log::Level::Error | log::Level::Warn if !fresh => Ok(()),
                log::Level::Error | log::Level::Warn => match FOLD.load(Relaxed) {
                    0 => writeln!(out, "note: {text}"),
                    k => writeln!(out, "note: in the fit of fold {k}: {text}"),
                },
                _ if record.target().starts_with("bochner") => writeln!(out, "{text}"),
                level => writeln!(out, "{level} {}: {text}", record.target()),
            }
        })
        .init();
    if quiet {
        log::set_max_level(log::LevelFilter::Error);
    }
}

/// The fold whose fit is at work, from 1; 0 while none is.
static FOLD: AtomicUsize = AtomicUsize::new(0);

/// While it lives, what the library warns of is said to be of a fold.
#[derive(Debug)]
pub(crate) struct InFold(());

impl InFold {
    /// Of the fold `k`, from 1.
    pub(crate) fn new(k: usize) -> Self {
        FOLD.store(k, Relaxed);
        Self(())
    }
}

impl Drop for InFold {
    fn drop(&mut self) {
        FOLD.store(0, Relaxed);
    }
}

/// [`drivers::stderr`] for who wants a writer.
struct Stderr;

impl Write for Stderr {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        drivers::stderr(bytes)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Console {
    /// A console that says nothing if `quiet`, and how the work is done if `verbose`.
    pub(crate) fn new(output: &OutputArgs) -> Self {
        Self {
            quiet: output.quiet,
            verbose: output.verbose,
            every: Duration::from_secs(output.progress_every.into()),
        }
    }

    /// The same for work whose steps nobody is to hear of: errors only.
    pub(crate) fn silent(self) -> Self {
        Self {
            quiet: true,
            verbose: false,
            ..self
        }
    }

    /// Whether [`Self::detail`] is heard.
    pub(crate) fn is_verbose(&self) -> bool {
        self.verbose
    }

    /// One line for who wants to know how the work is done.
    pub(crate) fn detail(&self, text: &str) {
        if self.verbose {
            drivers::to_stderr(&one_line(text));
        }
    }

    /// One line for people.
    pub(crate) fn note(&self, text: &str) {
        if !self.quiet {
            drivers::to_stderr(&format!("note: {}", one_line(text)));
        }
    }

    /// A bar over rows, or a spinner where their number is not known. Elsewhere than on a
    /// terminal it is a line now and then. It goes when dropped.
    pub(crate) fn bar(&self, stage: &'static str, rows: Option<u64>) -> Bar {
        if self.quiet {
            return Bar::silent();
        }
        Bar::rows(stage, rows, self.every)
    }

    /// A bar over `total` steps that says what it is at, or a spinner. Elsewhere than on a
    /// terminal it is a line now and then. It goes when dropped.
    pub(crate) fn steps(&self, stage: &'static str, total: Option<u64>) -> Bar {
        if self.quiet {
            return Bar::silent();
        }
        Bar::steps(stage, total, self.every)
    }

    /// The result of `work` and the seconds it took.
    pub(crate) fn timed<T, E: Into<anyhow::Error>>(
        &self,
        work: impl FnOnce() -> Result<T, E>,
    ) -> Result<(T, f64)> {
        let start = Instant::now();
        let result = work().map_err(Into::into)?;
        Ok((result, start.elapsed().as_secs_f64()))
    }
}
