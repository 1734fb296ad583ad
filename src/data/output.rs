//! Results out: files that appear whole or not at all.

mod behind;
mod csv;
mod npy;
#[cfg(feature = "parquet")]
mod parquet;
mod raw;

pub use self::behind::{RowWriter, WriteBehind};
pub use self::csv::CsvWriter;
pub use self::npy::{NpyValue, NpyWriter};
#[cfg(feature = "parquet")]
pub use self::parquet::ParquetWriter;
pub use self::raw::RawWriter;
pub use crate::atomic_file::{AtomicFile, Done};
