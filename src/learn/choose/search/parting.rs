//! Parts of the rows of a search: fitted and held out.

use crate::{
    Result,
    data::{ChunkSource, Part, Repeats, Split},
};
use std::sync::Arc;

/// How rows are parted: by their contents, so that their order changes nothing, or by their
/// numbers; whole groups, and copies of one row together.
pub(super) struct Parting {
    pub(super) repeats: Arc<Repeats>,
    pub(super) by_contents: bool,
}

impl Parting {
    pub(super) fn take<'s>(
        &self,
        source: &'s mut dyn ChunkSource,
        part: Part,
        (share, seed): (f64, u64),
    ) -> Result<Split<&'s mut dyn ChunkSource>> {
        if self.by_contents && source.groups().is_none() {
            Ok(Split::by_contents(source, part, share, seed, &self.repeats))
        } else {
            Ok(Split::new(source, part, share, seed)?.keep_copies_together(&self.repeats))
        }
    }
}
