//! Tables that are drawn, and how they are written.

mod kinds;

pub(super) use kinds::KINDS;

use anyhow::Result;
use bochner::{
    data::AtomicFile,
    seed::{Draws, Seed, Stream},
};
use ndarray::{Array1, Array2};
use std::{fmt::Write, io::Write as _, path::Path};

/// A kind of table.
pub(super) struct Kind {
    pub(super) name: &'static str,
    /// Rows that train.
    pub(super) rows: usize,
    /// Whether targets are labels.
    pub(super) labels: bool,
    columns: usize,
    /// Columns from draws.
    column: fn(&mut Draws, usize) -> f64,
    /// The target of a row.
    target: fn(&[f64], &mut Draws) -> f64,
    /// How columns are written down in the end, which the target does not know.
    written: fn(usize, f64) -> f64,
}

/// Rows of a table, with their targets.
pub(super) struct Table {
    pub(super) x: Array2<f64>,
    pub(super) y: Array1<f64>,
}

impl Table {
    /// Writes it as CSV without a header, the target last.
    pub(super) fn write(&self, path: &Path) -> Result<()> {
        let mut text = String::new();
        for (x, y) in self.x.rows().into_iter().zip(&self.y) {
            x.iter().try_for_each(|value| write!(text, "{value:e},"))?;
            writeln!(text, "{y:e}")?;
        }
        let mut file = AtomicFile::create(path)?;
        file.write_all(text.as_bytes())?;
        Ok(file.finish()?)
    }
}

impl Kind {
    /// So many rows, of a seed and a block of draws.
    pub(super) fn draw(&self, rows: usize, seed: Seed, block: u64) -> Table {
        let mut draws = seed.stream(Stream::Data, block);
        let mut x = Array2::zeros((rows, self.columns));
        let mut y = Array1::zeros(rows);
        let mut row = vec![0.0; self.columns];
        for i in 0..rows {
            for (j, value) in row.iter_mut().enumerate() {
                *value = (self.column)(&mut draws, j);
            }
            y[i] = (self.target)(&row, &mut draws);
            for (j, &value) in row.iter().enumerate() {
                x[[i, j]] = (self.written)(j, value);
            }
        }
        Table { x, y }
    }
}
