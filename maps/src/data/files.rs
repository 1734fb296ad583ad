//! Files of rows, in every format: what opens, reads and writes them, and tables of columns that
//! have names.

mod alike;
#[cfg(any(feature = "excel", feature = "sqlite"))]
mod cells;
pub(super) mod choice;
#[cfg(feature = "parquet")]
mod columnar;
mod container;
mod csr;
pub(super) mod csv;
mod cures;
mod file;
mod format;
mod gaps;
#[cfg(any(feature = "excel", feature = "parquet"))]
mod guarded;
pub(super) mod input;
mod joined;
mod keys;
mod libsvm;
mod npy;
mod npz;
mod open;
mod options;
mod output;
mod parts;
mod pieces;
mod stacked;
mod stdin;
pub(super) mod table;
mod table_source;

pub use alike::Alike;
#[doc(hidden)]
pub use alike::require_alike;
#[cfg(any(feature = "excel", feature = "sqlite"))]
pub use cells::CellTable;
#[doc(hidden)]
pub use choice::names_tell;
pub use choice::{ColumnChoice, TargetUse};
#[cfg(feature = "parquet")]
pub use columnar::ColumnarTable;
pub use csr::CsrSource;
pub use csv::{CsvOptions, CsvSource, CsvTable, Header, Layout};
pub use file::{DataFile, TextLabelled};
pub use format::{Format, file_of};
pub use gaps::{Gaps, NanRows, Refill};
#[cfg(any(feature = "excel", feature = "parquet"))]
pub use guarded::is_guarded;
pub use input::encoding::TextEncoding;
#[cfg(target_family = "wasm")]
pub use input::page::PageFile;
pub use keys::{groups, times};
pub use libsvm::{LibsvmOptions, LibsvmSource};
pub use npy::NpySource;
pub use npz::NpzSource;
pub use open::open;
pub use options::OpenOptions;
#[cfg(feature = "parquet")]
pub use output::ParquetWriter;
pub use output::{
    AtomicFile, CsvWriter, Done, NpyValue, NpyWriter, RawWriter, RowWriter, WriteBehind,
    has_own_file, open_own_file,
};
pub use parts::parts;
pub use pieces::{Piece, Pieces};
pub use table::{Batch, Column, Table, Texts};
pub use table_source::TableSource;

// What the files here name of the rows that they read.
use super::*;
