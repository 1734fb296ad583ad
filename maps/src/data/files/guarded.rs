//! Panics of crates that read files, as errors.

use crate::error::{Error, Result};
use std::cell::Cell;
use std::path::Path;

thread_local! {
    /// How many calls of [`guarded`] this thread is in.
    static GUARDED: Cell<usize> = const { Cell::new(0) };
}

/// What `read` says; where the crates give up on what a file holds, it is damaged.
pub(super) fn guarded<T>(path: &Path, read: impl FnOnce() -> Result<T>) -> Result<T> {
    GUARDED.set(GUARDED.get() + 1);
    // What was at work when it gave up is not used again.
    let result = std::panic::catch_unwind(std::panic::AssertUnwindSafe(read));
    GUARDED.set(GUARDED.get() - 1);
    let damaged = |_| {
        let problem = "is damaged; copy or write the file again";
        Err(Error::data(path, problem))
    };
    result.unwrap_or_else(damaged)
}

/// Whether a panic of this thread will become an error about a file, so that a hook need not say
/// more.
#[doc(hidden)]
pub fn is_guarded() -> bool {
    GUARDED.get() > 0
}
