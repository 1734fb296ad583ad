//! The road that rows take: read ahead, checked, cut to what a device has room for, worked on, and
//! read back behind.
//!
//! What lies on the road is not known here: [`Featurizer`](crate::features) takes maps along it,
//! random binning its grids. Read `read` (chunks, one ahead), `plan` (rows of a chunk), `portions`
//! (fewer rows for a full device) and `behind` (results, one late) in the order in which rows meet
//! them.

mod behind;
mod plan;
mod portions;
mod read;

pub(crate) use behind::ReadBehind;
pub use plan::DEFAULT_MEMORY;
pub(crate) use plan::RowNeeds;
pub(crate) use portions::Portions;
pub use read::for_each_chunk;

/// What long work calls after each chunk with the number of rows done so far.
pub type Progress<'a> = &'a mut dyn FnMut(u64);
