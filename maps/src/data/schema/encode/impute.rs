//! Imputation of missing cells.

use super::{Cell, Field, Reading, cell};
use crate::data::schema::survey::imputation::is_numeric;
use crate::error::Result;
use ndarray::ArrayViewMut1;

/// Note for the first missing value in a column without missing training values.
pub(in crate::data) fn fill_note(says: &str) -> String {
    format!("{says}, and no training row misses a value here; filled with the training mean")
}

impl Reading<'_> {
    /// Text of the cell if it is a missing value.
    pub(super) fn missing<'a>(&self, cell: Cell<'a>, field: &Field) -> Option<&'a str> {
        match cell {
            Cell::Missing(text) => Some(text),
            Cell::Text(text) if is_numeric(&field.kind) && self.rule.is_null_token(text) => {
                Some(text)
            }
            _ => None,
        }
    }

    /// Writes the fill values of a missing cell with this text. Logs a note once for columns
    /// without missing training values.
    pub(super) fn fill(
        &self,
        (i, j): (usize, usize),
        (text, field): (&str, &Field),
        said: &mut bool,
        mut out_w: ArrayViewMut1<'_, f64>,
    ) -> Result<()> {
        let Some(fill) = &field.fill else {
            return Err(cell::refused(self.fault(i, j, &cell::missing(text)), true));
        };
        if !fill.missed {
            self.warn((i, j), said, &fill_note(&cell::missing(text)));
        }
        for (k, &value) in fill.values.iter().enumerate() {
            out_w[k] = value;
        }
        if fill.indicator {
            out_w[field.kind.width()] = 1.0;
        }
        Ok(())
    }
}
