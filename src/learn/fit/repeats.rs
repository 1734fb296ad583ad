//! Repeated rows of the source of a fit.

use crate::{
    Result,
    data::{ChunkSource, Repeats},
    flow::{RowNeeds, Run},
};
use std::sync::Arc;

/// Finds rows that a split by contents draws one by one, in chunks that the run has room for; the
/// source is at its first row then. Errors as [`Repeats::find`] does.
pub(in crate::learn) fn find_repeats(
    source: &mut dyn ChunkSource,
    run: &Run,
) -> Result<Arc<Repeats>> {
    let columns = source.columns() + source.targets();
    Repeats::find(source, RowNeeds::read(columns).rows_of(run)?)
}
