//! One pass over the cells of a table.

use super::{NoValue, Places, Reading, cell, tally::Tally, weight};
use crate::data::Table;
use crate::error::{Error, Result};

/// Rows that are read at a time, and values.
const ROWS: usize = 4096;
const VALUES: usize = 1 << 18;

/// Reads all rows once, and hands each cell to the tally of its column.
pub(super) fn pass(
    table: &mut dyn Table,
    (places, no_value, by): (&Places, &NoValue, Option<&Reading>),
    tallies: &mut [Tally],
    takes: &mut dyn FnMut(u64) -> bool,
) -> Result<()> {
    let rule = no_value.rule(table.is_typed());
    let all = places.all();
    let (features, targets) = (places.features.len(), places.targets.len());
    table.select(&all)?;
    let (mut first, mut any) = (0_u64, false);
    let rows = (VALUES / all.len().max(1)).clamp(1, ROWS);
    while let Some(batch) = table.next_batch(rows)? {
        // Of several files a batch holds rows of one.
        let in_file = table.row_in_file(first);
        let mut weights = vec![0.0; batch.rows];
        for (i, weight) in weights.iter_mut().enumerate() {
            if takes(first + i as u64) {
                *weight = 1.0;
                any = true;
            }
        }
        let taken = weights.clone();
        if let Some(j) = places.weight {
            cell::for_each_cell(&batch.columns[features + targets], rule, |i, cell| {
                let row = first + i as u64;
                let weight =
                    weight::read_weight(cell, by).map_err(|says| table.fault(row, j, says))?;
                weights[i] *= weight;
                Ok::<_, Error>(())
            })?;
        }
        for (k, tally) in tallies[..features + targets].iter_mut().enumerate() {
            let counts = if k < features { &weights } else { &taken };
            cell::for_each_cell(&batch.columns[k], rule, |i, cell| {
                if counts[i] == 0.0 {
                    return Ok(());
                }
                let row = first + i as u64;
                if tally.add((row, in_file + i as u64), cell, counts[i]) {
                    Ok(())
                } else {
                    let error = table.fault(row, all[k], "is infinite");
                    Err(cell::infinite(error, tally.is_feature))
                }
            })?;
        }
        for tally in tallies.iter_mut() {
            tally.see_total(&batch, first);
        }
        first += batch.rows as u64;
    }
    table.rewind()?;
    if !any {
        return Err(Error::shape("the data has no rows; give at least one"));
    }
    Ok(())
}
