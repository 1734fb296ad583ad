//! What a source promises of its chunks, seen to in one place.

use super::rows::{first_non_finite, not_finite, not_finite_at};
use super::{Chunk, ChunkSource};
use crate::error::{Error, Result};
use ndarray::Array1;
use std::path::Path;

/// The next chunk of a source of which `row0` rows were read: of the shape that the source
/// announces, and finite.
pub(crate) fn next_checked(
    source: &mut dyn ChunkSource,
    max_rows: usize,
    row0: usize,
) -> Result<Option<Chunk>> {
    let Some(chunk) = source.next_chunk(max_rows)? else {
        return Ok(None);
    };
    let (rows, columns, targets) = (chunk.x.nrows(), source.columns(), source.targets());
    if !(1..=max_rows).contains(&rows)
        || chunk.x.ncols() != columns
        || chunk.y.dim() != (rows, targets)
    {
        return Err(Error::shape(format!(
            "a chunk from row {row0} on has x [{rows}, {}] and y {:?}; the source promises {columns} columns, {targets} \
             targets, and 1 to {max_rows} rows of both: mend the source",
            chunk.x.ncols(),
            chunk.y.dim()
        )));
    }
    let weights = chunk.weights.as_ref().map(Array1::len);
    if weights != source.is_weighted().then_some(rows) {
        let promise = if source.is_weighted() {
            format!("one for each of its {rows} rows")
        } else {
            "none".into()
        };
        return Err(Error::shape(format!(
            "a chunk from row {row0} on has {} weights, the source promises {promise}: mend the \
             source",
            weights.unwrap_or(0)
        )));
    }
    if source.is_checked() {
        return Ok(Some(chunk));
    }
    if let Some((i, j, value)) = chunk.x.first_non_finite() {
        let names = source.column_names().unwrap_or_default();
        return Err(match names.get(j) {
            Some(name) => not_finite_at(
                Path::new("X"),
                &format!("row {}, column '{name}'", row0 + i),
                value,
            ),
            None => not_finite(Path::new("X"), "", row0 + i, j, value),
        });
    }
    if let Some((i, j, value)) = first_non_finite(&chunk.y, f64::is_finite) {
        return Err(not_finite(Path::new("y"), "", row0 + i, j, value));
    }
    if let Some(weights) = &chunk.weights {
        require_weights(weights, row0)?;
    }
    Ok(Some(chunk))
}

/// Errors at the first weight that is negative or not finite, of rows from `row0` on.
pub(super) fn require_weights(weights: &Array1<f64>, row0: usize) -> Result<()> {
    match weights.iter().position(|w| !(*w >= 0.0 && w.is_finite())) {
        None => Ok(()),
        Some(i) => Err(Error::data(
            "weights",
            format!(
                "row {} has weight {}; weights are finite and not negative",
                row0 + i,
                weights[i]
            ),
        )),
    }
}
