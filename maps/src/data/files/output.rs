//! Results out: files that appear whole or not at all.

mod csv;
mod npy;
#[cfg(feature = "parquet")]
mod parquet;
mod raw;
mod write_behind;

pub use self::csv::CsvWriter;
pub use self::npy::{NpyValue, NpyWriter};
#[cfg(feature = "parquet")]
pub use self::parquet::ParquetWriter;
pub use self::raw::RawWriter;
pub use self::write_behind::{RowWriter, WriteBehind};
pub use crate::atomic_file::{AtomicFile, Done, has_own_file, open_own_file};
