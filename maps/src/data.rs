//! Rows in: a [`ChunkSource`] yields a dataset chunk by chunk, so that memory does not grow with
//! rows.
//!
//! [`open`] picks the source by the file's extension: [`NpySource`], [`NpzSource`], [`CsrSource`],
//! [`CsvSource`] or [`LibsvmSource`]; [`MemorySource`] holds arrays, and [`SparseRows`] rows that
//! are mostly zeros. [`Split`] yields the training or the test part of any source, [`Folds`] those
//! of cross-validation. [`Survey`] reads a source once and returns what standardisation and
//! bandwidth rules need. A [`Table`] has columns of text and truth values too, a [`CsvTable`] being
//! one; a [`Schema`] says what numbers they become, and a [`TableSource`] yields these.
//! [`AtomicFile`], [`NpyWriter`] and [`CsvWriter`] write results.
//!
//! Rows and columns of arrays are counted from 0 in every message; a CSV file is described by the
//! line (the first line of the file is 1) and the column's name.

mod arrays;
mod checked;
mod counted_rows;
mod curve;
#[cfg(feature = "files")]
mod files;
mod folds;
mod forgetting;
#[doc(hidden)]
pub mod grouped;
mod kept_rows;
#[cfg(feature = "files")]
#[doc(hidden)]
pub mod kinds;
mod memory;
#[cfg(not(feature = "files"))]
mod no_schema;
mod observations;
mod parting;
mod ranks;
mod read_ahead;
mod repeats;
mod rescale;
mod rows;
#[cfg(feature = "files")]
mod schema;
mod sparse;
mod split;
mod survey;
mod table_column;

pub use self::arrays::{Number, ToRows, ToTargets};
pub(crate) use self::checked::next_checked;
pub use self::counted_rows::CountedRows;
pub use self::curve::Curve;
#[cfg(feature = "files")]
pub use self::files::*;
pub use self::folds::Folds;
pub use self::forgetting::Forgetting;
#[doc(hidden)]
pub use self::forgetting::{check_half_life, kept_of};
pub use self::grouped::Grouped;
#[doc(hidden)]
pub use self::kept_rows::{Keeping, KeptRows, hash as hash_of_contents, hash_of_row};
pub use self::memory::MemorySource;
#[cfg(not(feature = "files"))]
pub use self::no_schema::Schema;
#[doc(hidden)]
pub use self::observations::{DistinctRow, Observations};
pub use self::parting::Part;
#[doc(hidden)]
pub use self::parting::hash as row_hash;
#[doc(hidden)]
pub use self::ranks::ranks;
#[doc(hidden)]
pub use self::read_ahead::{for_each_chunk, watch_chunks};
#[doc(hidden)]
pub use self::repeats::Repeats;
pub use self::rescale::{Rescale, Rescaled, RescaledTargets};
#[cfg(feature = "files")]
#[doc(hidden)]
pub use self::schema::date_text;
#[cfg(feature = "files")]
pub use self::schema::{
    DateFormat, DateParts, Dates, Field, Kind, Marks, Missing, NumericImputation, Schema,
    TableOptions, TargetMeans, Words,
};
pub use self::sparse::SparseRows;
pub use self::split::Split;
#[doc(hidden)]
pub use self::survey::RowSample;
pub use self::survey::{
    RowOrder, Survey, SurveyPart, TargetStats, median_distance, nearest_distance, typical_distance,
};
#[doc(hidden)]
pub use self::table_column::TableColumn;

use crate::error::{Error, Result};
use ndarray::{Array1, Array2};
use std::sync::Arc;

/// Consecutive rows `[rows, d]`, row-major, in the precision in which the source holds them: values
/// that f32 holds exactly (f32, f16, 8- and 16-bit integers, booleans) as f32, everything else as
/// f64. Centring and scaling happen in f64 before anything is rounded to f32, so a column of large
/// values with a small spread keeps its digits.
#[derive(Debug, Clone, PartialEq)]
pub enum Rows {
    /// Single precision.
    F32(Array2<f32>),
    /// Double precision.
    F64(Array2<f64>),
}

/// A chunk of a dataset: `x` is `[rows, d]`, `y` is `[rows, targets]` (`targets` may be zero).
#[derive(Debug, Clone, PartialEq)]
pub struct Chunk {
    /// The features.
    pub x: Rows,
    /// The targets: real values, or class labels as numbers.
    pub y: Array2<f64>,
    /// What each row counts for, `[rows]`, finite and not negative, from a source that
    /// [`ChunkSource::is_weighted`]; 1 without them.
    pub weights: Option<Array1<f64>>,
}

/// A dataset read in order, chunk by chunk, as often as needed.
///
/// Every value a source yields is finite: a NaN or an infinity is an error that names its row and
/// column. Who reads the chunks of a source of your own sees to it, and to their shapes. Every
/// source of this module has at least one row and one feature column.
pub trait ChunkSource: Send {
    /// Number of feature columns, d.
    fn columns(&self) -> usize;
    /// Number of target columns; zero when the source has none.
    fn targets(&self) -> usize;
    /// Whether every chunk has [`Chunk::weights`]: a row of weight 2 is one that is there twice.
    fn is_weighted(&self) -> bool {
        false
    }
    /// Number of rows where it is known without reading (not for CSV). It is a hint for sizes and
    /// progress: rows are read until there are none.
    fn rows(&self) -> Option<usize>;
    /// Names of the feature columns, where the source has any.
    fn column_names(&self) -> Option<Vec<String>> {
        None
    }
    /// Names of the target columns, where the source has any.
    fn target_names(&self) -> Option<Vec<String>> {
        None
    }
    /// The next at most `max_rows` rows; `None` at the end. Never an empty chunk;
    /// [`Error::Parameter`] for `max_rows` = 0.
    fn next_chunk(&mut self, max_rows: usize) -> Result<Option<Chunk>>;
    /// Back to the first row.
    fn rewind(&mut self) -> Result<()>;
    /// Makes up its mind about columns that are not numbers, by a pass over the rows that `takes`
    /// says yes to, which is asked of each in order. [`Survey::new`] calls it before its pass, and
    /// again with `failed` when that ends with an [`Error::Data`]. Returns whether a pass from the
    /// first row may now come further, with other [`Self::columns`]. A source of numbers has
    /// nothing to decide.
    fn settle(&mut self, failed: bool, takes: &mut dyn FnMut(u64) -> bool) -> Result<bool> {
        let _ = (failed, takes);
        Ok(false)
    }
    /// What its columns are made of, once that is settled; `None` where they are numbers as they
    /// are.
    fn schema(&self) -> Option<&Schema> {
        None
    }
    /// A number for each row, where some are to be left out together ([`Grouped`]): those of one
    /// number, and before others those of the numbers next to it. Rows that are held out have the
    /// largest numbers, and folds are runs of numbers.
    fn groups(&self) -> Option<Arc<[u32]>> {
        None
    }
    /// Whether the source itself refuses values that are not finite, as those of this module do, so
    /// that nobody looks twice.
    fn is_checked(&self) -> bool {
        false
    }
}

/// Chunks of no rows would never reach the end.
fn require_rows(max_rows: usize) -> Result<()> {
    if max_rows == 0 {
        return Err(Error::parameter(
            "chunks of 0 rows never reach the end; ask for at least 1 row",
        ));
    }
    Ok(())
}

/// All that a source says of itself, by another: what one that changes the chunks of `$source`
/// alone leaves to it, for the inside of its `impl ChunkSource`.
#[doc(hidden)]
#[macro_export]
macro_rules! as_its_source {
    ($self:ident => $source:expr) => {
        $crate::as_its_source!($self => $source, but its groups);
        fn groups(&$self) -> Option<std::sync::Arc<[u32]>> {
            $source.groups()
        }
    };
    ($self:ident => $source:expr, but its groups) => {
        fn columns(&$self) -> usize {
            $source.columns()
        }
        fn targets(&$self) -> usize {
            $source.targets()
        }
        fn is_weighted(&$self) -> bool {
            $source.is_weighted()
        }
        fn rows(&$self) -> Option<usize> {
            $source.rows()
        }
        fn column_names(&$self) -> Option<Vec<String>> {
            $source.column_names()
        }
        fn target_names(&$self) -> Option<Vec<String>> {
            $source.target_names()
        }
        fn settle(
            &mut $self,
            failed: bool,
            takes: &mut dyn FnMut(u64) -> bool,
        ) -> $crate::Result<bool> {
            $source.settle(failed, takes)
        }
        fn schema(&$self) -> Option<&$crate::data::Schema> {
            $source.schema()
        }
        fn is_checked(&$self) -> bool {
            $source.is_checked()
        }
    };
}

macro_rules! forward {
    ($($pointer:ty),*) => {$(
        impl<S: ChunkSource + ?Sized> ChunkSource for $pointer {
            as_its_source!(self => (**self));
            fn next_chunk(&mut self, max_rows: usize) -> Result<Option<Chunk>> {
                (**self).next_chunk(max_rows)
            }
            fn rewind(&mut self) -> Result<()> {
                (**self).rewind()
            }
        }
    )*};
}
forward!(Box<S>, &mut S);
