//! The rows of a table as chunks, by a schema.

use super::totals::Totals;
use crate::data::{Chunk, Rows, Table, schema::Encoder};
use crate::error::{Error, Result};
use ndarray::{Array1, Array2};

/// Values of a batch: few beside those of a chunk, for they are there as text and as numbers.
const VALUES: usize = 1 << 16;

/// The next rows, at most so many: a batch at a time, so that little is there twice. The first has
/// the number `first`; `expected` is how many there were last. `totals` sees them, if it is to.
pub(super) fn encoded(
    encoder: &mut Encoder,
    table: &mut dyn Table,
    first: u64,
    (max_rows, expected): (usize, usize),
    totals: &mut Option<Totals>,
) -> Result<Option<Chunk>> {
    let (width, targets) = (encoder.schema().width(), encoder.places().targets.len());
    let step = (VALUES / (width + targets).max(1)).clamp(1, max_rows);
    let expected = expected.min(max_rows);
    let mut x = Vec::with_capacity(expected * width);
    let mut y = Vec::with_capacity(expected * targets);
    let (mut weights, mut rows) = (None, 0);
    while rows < max_rows {
        let Some(batch) = table.next_batch(step.min(max_rows - rows))? else {
            break;
        };
        let chunk = encoder.chunk(table, &batch, first + rows as u64)?;
        totals
            .iter_mut()
            .for_each(|totals| totals.see(&chunk, Some(&batch)));
        match chunk.x {
            Rows::F64(more) => x.extend(more),
            Rows::F32(more) => x.extend(more.iter().map(|&v| f64::from(v))),
        }
        y.extend(chunk.y);
        if let Some(more) = chunk.weights {
            weights.get_or_insert_with(Vec::new).extend(more);
        }
        rows += batch.rows;
    }
    if rows == 0 {
        return Ok(None);
    }
    let array = |values, columns| {
        Array2::from_shape_vec((rows, columns), values)
            .map_err(|error| Error::data(table.path(), error.to_string()))
    };
    Ok(Some(Chunk {
        x: Rows::F64(array(x, width)?),
        y: array(y, targets)?,
        weights: weights.map(Array1::from),
    }))
}
