//! Labels of rows that come later, numbered as those that came first.

use crate::{
    Error, Result,
    data::{Chunk, ChunkSource},
    door::train::LabelledData,
};

/// Rows with labels, numbered as the `known` names if the labels are text. Errors on a label that
/// is none of them.
pub(super) fn renumbered<'a, D: LabelledData + 'a>(
    data: D,
    known: Option<&[String]>,
) -> Result<Box<dyn ChunkSource + 'a>> {
    let (source, names) = data.into_labelled()?;
    let (Some(known), Some(names)) = (known, names) else {
        return Ok(source);
    };
    let place = |name: &String| {
        let place = known.iter().position(|k| k == name).map(|i| i as f64);
        place.ok_or_else(|| {
            let problem = format!("label {name:?} is none of the classes {known:?}");
            Error::data("y", problem)
        })
    };
    let codes = names.iter().map(place).collect::<Result<_>>()?;
    Ok(Box::new(Renumbered { source, codes }))
}

/// Labels that count names in their own order, as numbers of other names.
struct Renumbered<'a> {
    source: Box<dyn ChunkSource + 'a>,
    codes: Vec<f64>,
}

impl ChunkSource for Renumbered<'_> {
    fn columns(&self) -> usize {
        self.source.columns()
    }
    fn targets(&self) -> usize {
        self.source.targets()
    }
    fn groups(&self) -> Option<std::sync::Arc<[u32]>> {
        self.source.groups()
    }
    fn rows(&self) -> Option<usize> {
        self.source.rows()
    }
    fn next_chunk(&mut self, max_rows: usize) -> Result<Option<Chunk>> {
        let Some(mut chunk) = self.source.next_chunk(max_rows)? else {
            return Ok(None);
        };
        chunk.y.mapv_inplace(|code| self.codes[code as usize]);
        Ok(Some(chunk))
    }
    fn rewind(&mut self) -> Result<()> {
        self.source.rewind()
    }
    fn is_weighted(&self) -> bool {
        self.source.is_weighted()
    }
    fn is_checked(&self) -> bool {
        self.source.is_checked()
    }
}
