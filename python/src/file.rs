//! File source whose targets and weights may come from Python.

use crate::calls::interrupted;
use bochner::{
    Error, Result,
    data::{Chunk, ChunkSource, DataFile, Schema},
};
use ndarray::{Array1, ArrayView1, ArrayView2, s};
use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

/// File source. Targets and weights from Python, if set, replace the file's. It fails once `stop`
/// is set.
pub(crate) struct FileSource<'a> {
    file: Box<dyn ChunkSource>,
    pub(crate) y: Option<ArrayView2<'a, f64>>,
    pub(crate) weights: Option<ArrayView1<'a, f64>>,
    stop: Arc<AtomicBool>,
    next: usize,
    any_columns: bool,
}

impl FileSource<'_> {
    pub(crate) fn open(file: &DataFile, stop: Arc<AtomicBool>) -> Result<Self> {
        Ok(Self {
            file: file.open()?,
            y: None,
            weights: None,
            stop,
            next: 0,
            any_columns: false,
        })
    }

    /// Also accepts columns that are not numbers, such as text, and encodes them.
    pub(crate) fn of_any_columns(mut self) -> Self {
        self.any_columns = true;
        self
    }

    /// Errors unless targets and weights have at least `rows` rows, and exactly that many if the
    /// file has ended.
    fn check(&self, rows: usize, ended: bool) -> Result<()> {
        let y = self.y.map(|y| ("y", y.nrows()));
        let weights = self.weights.map(|w| ("sample_weight", w.len()));
        for (name, there) in [y, weights].into_iter().flatten() {
            if there < rows || (ended && there != rows) {
                let least = if ended { "" } else { "at least " };
                return Err(Error::shape(format!(
                    "{name} has {there} rows, the file {least}{rows}"
                )));
            }
        }
        Ok(())
    }
}

impl ChunkSource for FileSource<'_> {
    fn columns(&self) -> usize {
        self.file.columns()
    }
    fn targets(&self) -> usize {
        self.y.map_or_else(|| self.file.targets(), |y| y.ncols())
    }
    fn rows(&self) -> Option<usize> {
        self.file.rows()
    }
    fn column_names(&self) -> Option<Vec<String>> {
        self.file.column_names()
    }
    fn target_names(&self) -> Option<Vec<String>> {
        self.y.is_none().then(|| self.file.target_names())?
    }
    fn is_weighted(&self) -> bool {
        self.weights.is_some() || self.file.is_weighted()
    }
    fn settle(&mut self, failed: bool, takes: &mut dyn FnMut(u64) -> bool) -> Result<bool> {
        if !self.any_columns {
            return Ok(false);
        }
        let settled = self.file.settle(failed, takes)?;
        if settled {
            self.next = 0;
        }
        Ok(settled)
    }
    fn schema(&self) -> Option<&Schema> {
        self.file.schema()
    }
    fn next_chunk(&mut self, max_rows: usize) -> Result<Option<Chunk>> {
        if self.stop.load(Ordering::Relaxed) {
            return Err(interrupted());
        }
        let Some(mut chunk) = self.file.next_chunk(max_rows)? else {
            self.check(self.next, true)?;
            return Ok(None);
        };
        let rows = self.next..self.next + chunk.x.nrows();
        self.check(rows.end, false)?;
        self.next = rows.end;
        if let Some(y) = self.y {
            chunk.y = y.slice(s![rows.clone(), ..]).to_owned();
        }
        if let Some(weights) = self.weights {
            let weights: Array1<f64> = weights.slice(s![rows]).to_owned();
            chunk.weights = Some(weights);
        }
        Ok(Some(chunk))
    }
    fn rewind(&mut self) -> Result<()> {
        self.next = 0;
        self.file.rewind()
    }
    fn is_checked(&self) -> bool {
        // Targets from Python were validated there.
        self.file.is_checked()
    }
}
