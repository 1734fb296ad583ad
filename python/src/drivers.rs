//! Suppression of messages that graphics drivers write to stderr ("XDG_RUNTIME_DIR is invalid",
//! twice when a device is opened). Output of other threads is buffered meanwhile, and written
//! afterwards.

/// Prefix of driver messages that do not concern a device.
#[cfg(target_os = "linux")]
const NOISE: &[u8] = b"error: XDG_RUNTIME_DIR";

/// Runs `work`, which opens devices, without the noise of drivers on stderr.
#[cfg(not(target_os = "linux"))]
pub(crate) fn quietly<T>(work: impl FnOnce() -> T) -> T {
    work()
}

/// Runs `work`, which opens devices, without the noise of drivers on stderr.
#[cfg(target_os = "linux")]
pub(crate) fn quietly<T>(work: impl FnOnce() -> T) -> T {
    use std::sync::{Mutex, PoisonError};
    /// One redirection at a time.
    static ONE: Mutex<()> = Mutex::new(());
    let _one = ONE.lock().unwrap_or_else(PoisonError::into_inner);
    // If the system refuses, the messages reach stderr as before.
    let _kept = redirect::Kept::begin().ok();
    work()
}

#[cfg(target_os = "linux")]
mod redirect {
    use super::NOISE;
    use rustix::fs::{MemfdFlags, memfd_create};
    use std::{
        fs::File,
        io::{self, Read, Seek, Write},
        os::fd::{AsFd, OwnedFd},
    };

    /// Redirects stderr of the process to memory until it is dropped, which writes all lines but
    /// the noise to stderr.
    pub(super) struct Kept {
        stderr: OwnedFd,
        words: File,
    }

    impl Kept {
        pub(super) fn begin() -> io::Result<Self> {
            let stderr = io::stderr().as_fd().try_clone_to_owned()?;
            let words = File::from(memfd_create("stderr", MemfdFlags::CLOEXEC)?);
            rustix::stdio::dup2_stderr(&words)?;
            Ok(Self { stderr, words })
        }

        fn say(&mut self) -> io::Result<()> {
            let mut words = Vec::new();
            self.words.rewind()?;
            self.words.read_to_end(&mut words)?;
            words
                .split_inclusive(|&byte| byte == b'\n')
                .filter(|line| !line.starts_with(NOISE))
                .try_for_each(|line| io::stderr().write_all(line))
        }
    }

    impl Drop for Kept {
        fn drop(&mut self) {
            if rustix::stdio::dup2_stderr(&self.stderr).is_ok() {
                // An error of stderr cannot be reported.
                let _ = self.say();
            }
        }
    }
}
