//! The one column of rows that have no other, kept while they stream by: predictions are drawn
//! along it.

use super::seen::KEPT;
use crate::sample::Sample;
use bochner::{
    Result,
    data::{Chunk, ChunkSource, Rows},
};

/// A source whose first column is looked at.
pub(super) struct Along<'a> {
    source: &'a mut dyn ChunkSource,
    column: Sample<f64>,
}

impl<'a> Along<'a> {
    pub(super) fn new(source: &'a mut dyn ChunkSource) -> Self {
        let column = Sample::new(KEPT);
        Self { source, column }
    }

    /// What the column is called, and its values; none of rows with several.
    pub(super) fn column(self) -> Option<(String, Sample<f64>)> {
        let name = |names: Vec<String>| names.into_iter().next();
        let name = self.source.column_names().and_then(name);
        (self.source.columns() == 1).then(|| (name.unwrap_or_else(|| "column".into()), self.column))
    }
}

impl ChunkSource for Along<'_> {
    bochner::as_its_source!(self => self.source);
    fn next_chunk(&mut self, max_rows: usize) -> Result<Option<Chunk>> {
        let chunk = self.source.next_chunk(max_rows)?;
        if let Some(chunk) = chunk.as_ref().filter(|_| self.source.columns() == 1) {
            match &chunk.x {
                Rows::F32(x) => x.iter().for_each(|&x| self.column.add(x.into())),
                Rows::F64(x) => x.iter().for_each(|&x| self.column.add(x)),
            }
        }
        Ok(chunk)
    }
    fn rewind(&mut self) -> Result<()> {
        self.column = Sample::new(KEPT);
        self.source.rewind()
    }
}
