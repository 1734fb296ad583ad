//! Ctrl-C, requests to end, a terminal that closes. A run that is writing ends at its next chunk,
//! so that no half-written file stays; any other ends at once, and so does any run at the second
//! signal.

use bochner::{
    Error, Result,
    data::{Chunk, ChunkSource},
};
use signal_hook::{consts, flag};
use std::{
    io,
    sync::{
        Arc, Mutex, OnceLock, PoisonError,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
};

#[cfg(unix)]
const SIGNALS: &[i32] = &[
    consts::SIGINT,
    consts::SIGTERM,
    consts::SIGHUP,
    consts::SIGQUIT,
];
#[cfg(not(unix))]
const SIGNALS: &[i32] = &[consts::SIGINT, consts::SIGTERM];

/// What came, and what is to be lost.
#[derive(Debug, Default)]
struct State {
    /// The signal, or zero.
    signal: Arc<AtomicUsize>,
    /// Whether the next signal ends the process there and then.
    at_once: Arc<AtomicBool>,
    /// Outputs that are being written.
    outputs: AtomicUsize,
    /// Whether a step is finished before the run ends.
    steps: AtomicBool,
    /// What is said in place of what was lost.
    kept: Mutex<Option<String>>,
}

fn state() -> &'static State {
    static STATE: OnceLock<State> = OnceLock::new();
    STATE.get_or_init(State::default)
}

/// The exit status of a process that `signal` ended.
fn status_of(signal: usize) -> u8 {
    u8::try_from(128 + signal).unwrap_or(1)
}

/// From now on Ctrl-C, and a request to terminate, go through here. Where the system allows no
/// handlers, all stays as it is.
pub(crate) fn listen() {
    let State {
        signal, at_once, ..
    } = state();
    at_once.store(true, Ordering::SeqCst);
    for &number in SIGNALS {
        if is_ignored(number) {
            continue;
        }
        let value = usize::try_from(number).unwrap_or(1);
        let status = status_of(value).into();
        // In this order: the second signal finds what the first one set.
        let registered = flag::register_conditional_shutdown(number, status, at_once.clone())
            .and_then(|_| flag::register_usize(number, signal.clone(), value))
            .and_then(|_| flag::register(number, at_once.clone()));
        if let Err(e) = registered {
            log::debug!("signal {number} is not handled: {e}");
        }
    }
    // A write beyond the limit on files is an error then, as one to a full disk is, and not the
    // end of the process.
    #[cfg(unix)]
    if let Err(e) = flag::register(consts::SIGXFSZ, Arc::default()) {
        log::debug!("the limit on files is not handled: {e}");
    }
}

/// Whether who started the process has it ignore a signal, as `nohup` does: that stays. Where the
/// system does not tell, a terminal that closes is left alone.
fn is_ignored(number: i32) -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    let Some(mask) = mask else {
        return ![consts::SIGINT, consts::SIGTERM].contains(&number);
    };
    let bit = u32::try_from(number - 1).ok();
    bit.and_then(|bit| mask.checked_shr(bit)).unwrap_or(0) & 1 == 1
}

/// The exit status of a run that was interrupted; `None` if it was not.
pub(crate) fn status() -> Option<u8> {
    match state().signal.load(Ordering::SeqCst) {
        0 => None,
        signal => Some(status_of(signal)),
    }
}

/// While it lives a file is being written, and Ctrl-C waits for the end of a chunk.
#[derive(Debug)]
pub(crate) struct Writing(());

/// A file is about to be written.
pub(crate) fn writing() -> Writing {
    let state = state();
    state.outputs.fetch_add(1, Ordering::SeqCst);
    state.at_once.store(false, Ordering::SeqCst);
    Writing(())
}

impl Drop for Writing {
    fn drop(&mut self) {
        let state = state();
        if state.outputs.fetch_sub(1, Ordering::SeqCst) == 1 {
            state.at_once.store(true, Ordering::SeqCst);
        }
    }
}

/// While it lives a run is made in steps, each of which is finished; who makes them asks
/// [`status`] between two.
#[derive(Debug)]
pub(crate) struct Steps {
    _writing: Writing,
}

/// Steps begin, each of which is kept.
pub(crate) fn steps() -> Steps {
    state().steps.store(true, Ordering::SeqCst);
    Steps {
        _writing: writing(),
    }
}

impl Drop for Steps {
    fn drop(&mut self) {
        state().steps.store(false, Ordering::SeqCst);
    }
}

/// From now on an interrupted run says this.
pub(crate) fn keeps(said: Option<String>) {
    *state().kept.lock().unwrap_or_else(PoisonError::into_inner) = said;
}

/// What an interrupted run says.
pub(crate) fn said() -> String {
    let kept = state().kept.lock().unwrap_or_else(PoisonError::into_inner);
    let kept = kept.as_deref().unwrap_or("no output was written");
    format!("interrupted; {kept}")
}

/// The error of a run that ends because it was interrupted.
pub(crate) fn error() -> Error {
    Error::io("input", io::ErrorKind::Interrupted.into())
}

/// A source that ends with an error once the run is interrupted.
pub(crate) struct Interruptible<S>(pub(crate) S);

impl<S: ChunkSource> ChunkSource for Interruptible<S> {
    bochner::as_its_source!(self => self.0);
    fn next_chunk(&mut self, max_rows: usize) -> Result<Option<Chunk>> {
        match status() {
            Some(_) if !state().steps.load(Ordering::SeqCst) => Err(error()),
            _ => self.0.next_chunk(max_rows),
        }
    }
    fn rewind(&mut self) -> Result<()> {
        self.0.rewind()
    }
}
