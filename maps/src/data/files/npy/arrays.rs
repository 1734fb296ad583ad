//! An array of features and one of targets, read in step.

use super::array::ArrayReader;
use crate::{
    data::{Chunk, require_rows},
    error::Result,
    text::counted,
};
use ndarray::Array2;

/// Features and, perhaps, targets, read in step.
#[derive(Debug)]
pub(in crate::data) struct Arrays {
    x: ArrayReader,
    y: Option<ArrayReader>,
}

impl Arrays {
    pub(in crate::data) fn new(x: ArrayReader, y: Option<ArrayReader>) -> Result<Self> {
        if let Some(y) = &y
            && y.rows() != x.rows()
        {
            let problem = format!(
                "has {}, but the features have {}; give one row of targets for each row of \
                 features",
                counted(y.rows(), "row"),
                x.rows()
            );
            return Err(y.place().problem(problem));
        }
        Ok(Self { x, y })
    }

    /// Takes NaN and infinities, too.
    pub(in crate::data) fn any_values(mut self) -> Self {
        self.x = self.x.any_values();
        self.y = self.y.map(ArrayReader::any_values);
        self
    }

    pub(in crate::data) fn columns(&self) -> usize {
        self.x.columns()
    }

    pub(in crate::data) fn targets(&self) -> usize {
        self.y.as_ref().map_or(0, ArrayReader::columns)
    }

    pub(in crate::data) fn rows(&self) -> usize {
        self.x.rows()
    }

    pub(in crate::data) fn next_chunk(&mut self, max_rows: usize) -> Result<Option<Chunk>> {
        require_rows(max_rows)?;
        let rows = max_rows.min(self.x.left());
        if rows == 0 {
            return Ok(None);
        }
        let x = self.x.read_features(rows)?;
        let y = match &mut self.y {
            Some(y) => y.read_targets(rows)?,
            None => Array2::zeros((rows, 0)),
        };
        Ok(Some(Chunk {
            x,
            y,
            weights: None,
        }))
    }

    pub(in crate::data) fn rewind(&mut self) -> Result<()> {
        self.x.rewind()?;
        self.y.as_mut().map_or(Ok(()), ArrayReader::rewind)
    }
}
