//! Training and hold-out rows of a search.

use crate::{
    Result,
    data::{ChunkSource, Part, Repeats, Split},
};
use std::sync::Arc;

/// Rule that divides rows: by their contents, which ignores their order, or by their numbers.
/// Groups, and copies of a row, stay together.
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
