//! Results out: files that appear whole or not at all.

mod atomic;
mod csv;
mod npy;
#[cfg(unix)]
mod stale;

pub use self::atomic::{AtomicFile, Done};
pub use self::csv::CsvWriter;
pub use self::npy::{NpyValue, NpyWriter};
