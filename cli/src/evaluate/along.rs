//! The one column of rows that have no other, kept while they stream by: predictions are drawn
//! along it.

use super::seen::KEPT;
use crate::sample::Sample;
use bochner::{
    Result,
    data::{Chunk, ChunkSource, Rows, Schema},
};

/// A source whose first column is looked at.
pub(super) struct Along<'a> {
    source: &'a mut dyn ChunkSource,
    column: Sample<f64>,
}

impl<'a> Along<'a> {
    pub(super) fn of(source: &'a mut dyn ChunkSource) -> Self {
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
    fn columns(&self) -> usize {
        self.source.columns()
    }
    fn targets(&self) -> usize {
        self.source.targets()
    }
    fn rows(&self) -> Option<usize> {
        self.source.rows()
    }
    fn column_names(&self) -> Option<Vec<String>> {
        self.source.column_names()
    }
    fn target_names(&self) -> Option<Vec<String>> {
        self.source.target_names()
    }
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
    fn is_weighted(&self) -> bool {
        self.source.is_weighted()
    }
    fn settle(&mut self, failed: bool, takes: &mut dyn FnMut(u64) -> bool) -> Result<bool> {
        self.source.settle(failed, takes)
    }
    fn schema(&self) -> Option<&Schema> {
        self.source.schema()
    }
    fn is_checked(&self) -> bool {
        self.source.is_checked()
    }
}
