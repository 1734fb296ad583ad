//! The road that rows take: read ahead, checked, cut to what a device has room for, worked on, and
//! read back behind.
//!
//! What lies on the road is not known here: [`Featurizer`](crate::features) takes maps along it,
//! random binning its grids. Read [`watch_chunks`] (chunks, one ahead), `plan` (rows of a chunk),
//! `portions` (fewer rows for a full device) and `read_behind` (results, one late) in the order in
//! which rows meet them.

mod plan;
mod portions;
mod read_behind;
mod run;

pub use crate::data::{for_each_chunk, watch_chunks};
pub use plan::RowNeeds;
pub(crate) use portions::Portions;
pub(crate) use read_behind::{ReadBehind, Take};
pub use run::Run;
pub use run::RunSettings;
