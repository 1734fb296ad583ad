//! Graphics drivers write on stderr of their own accord ("XDG_RUNTIME_DIR is invalid", twice a
//! run). Their words are for those who ask for them, with `-v`.

use std::{
    fs::File,
    io::{self, Write},
    sync::{Mutex, PoisonError},
};
#[cfg(unix)]
use std::{
    fs::OpenOptions,
    os::fd::{AsFd, OwnedFd},
};

/// Where our own words go while the process's stderr leads nowhere.
static OURS: Mutex<Option<File>> = Mutex::new(None);

/// Writes to the stderr that people read, whatever drivers are given for theirs.
pub(crate) fn stderr(bytes: &[u8]) -> io::Result<()> {
    let ours = OURS.lock().unwrap_or_else(PoisonError::into_inner);
    match ours.as_ref() {
        Some(mut file) => file.write_all(bytes),
        None => io::stderr().lock().write_all(bytes),
    }
}

/// Writes a line there. If even that fails there is nobody left to tell.
pub(crate) fn to_stderr(line: &str) {
    let _ = stderr(format!("{line}\n").as_bytes());
}

/// Runs `work`, which talks to drivers for the first time, while what they write on stderr is
/// dropped; or heard, with `-v`.
pub(crate) fn quietly<T>(work: impl FnOnce() -> T) -> T {
    #[cfg(unix)]
    let _hush = if log::log_enabled!(log::Level::Info) {
        None
    } else {
        // Where the system refuses, the words are heard: a nuisance and no fault.
        Hush::begin().ok()
    };
    work()
}

/// While it lives, stderr of the process leads to /dev/null and [`stderr`] to where it led before.
#[cfg(unix)]
struct Hush(OwnedFd);

#[cfg(unix)]
impl Hush {
    fn begin() -> io::Result<Self> {
        let kept = io::stderr().as_fd().try_clone_to_owned()?;
        let ours = kept.try_clone()?;
        let nowhere = OpenOptions::new().write(true).open("/dev/null")?;
        let mut place = OURS.lock().unwrap_or_else(PoisonError::into_inner);
        rustix::stdio::dup2_stderr(&nowhere)?;
        *place = Some(ours.into());
        Ok(Self(kept))
    }
}

#[cfg(unix)]
impl Drop for Hush {
    fn drop(&mut self) {
        let mut place = OURS.lock().unwrap_or_else(PoisonError::into_inner);
        // If it fails, our words still have their way.
        if rustix::stdio::dup2_stderr(&self.0).is_ok() {
            *place = None;
        }
    }
}
