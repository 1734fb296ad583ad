//! Repeated rows in the source of a fit.

use crate::{
    Result,
    data::{ChunkSource, Repeats},
    flow::{RowNeeds, Run},
};
use std::sync::Arc;

/// Finds rows with equal contents, which a split by contents would assign together, in chunks that
/// fit into the memory of the run; rewinds the source. Errors as [`Repeats::find`] does.
pub(in crate::learn) fn find_repeats(
    source: &mut dyn ChunkSource,
    run: &Run,
) -> Result<Arc<Repeats>> {
    let columns = source.columns() + source.targets();
    Repeats::find(source, RowNeeds::read(columns).rows_of(run)?)
}
