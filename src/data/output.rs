//! Results out: files that appear whole or not at all.

mod atomic;
mod behind;
mod csv;
mod npy;
#[cfg(feature = "parquet")]
mod parquet;
mod raw;
#[cfg(unix)]
mod stale;

pub use self::atomic::{AtomicFile, Done};
pub use self::behind::{RowWriter, WriteBehind};
pub use self::csv::CsvWriter;
pub use self::npy::{NpyValue, NpyWriter};
#[cfg(feature = "parquet")]
pub use self::parquet::ParquetWriter;
pub use self::raw::RawWriter;
#[cfg(unix)]
pub(super) use self::stale::sweep;

/// How the name of a temporary file or folder begins, before the number of the process.
pub(super) const PREFIX: &str = ".bochner-";
/// How it ends.
pub(super) const SUFFIX: &str = ".tmp";
/// How the name of a copy of standard input begins, in such a folder.
pub(super) const COPY: &str = "standard input.";
