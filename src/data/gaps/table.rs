//! A table without the rows that miss something.

use super::{Gaps, Pass};
use crate::data::schema::{NoValue, says_nothing};
use crate::data::table::{Batch, Column, Table, Texts};
use crate::error::Result;
use std::path::Path;

/// A table without the rows that miss a value, or hold one that is not finite, in a column where
/// nothing stands for it.
pub(in crate::data) struct GaplessTable {
    inner: Box<dyn Table>,
    gaps: Gaps,
    pass: Pass,
    /// Texts that stand for no value, in a table without types.
    no_value: Option<NoValue>,
    /// The columns that every row needs.
    needed: Vec<usize>,
    /// How many columns were selected; those needed come after them.
    selected: usize,
}

impl GaplessTable {
    pub(in crate::data) fn new(
        mut inner: Box<dyn Table>,
        gaps: &Gaps,
        no_value: &NoValue,
        needed: Vec<usize>,
    ) -> Result<Self> {
        let pass = Pass::of(inner.path());
        let all: Vec<usize> = (0..inner.names().len())
            .chain(needed.iter().copied())
            .collect();
        inner.select(&all)?;
        Ok(Self {
            selected: all.len() - needed.len(),
            no_value: (!inner.is_typed()).then(|| no_value.clone()),
            inner,
            gaps: gaps.clone(),
            pass,
            needed,
        })
    }
}

impl Table for GaplessTable {
    fn path(&self) -> &Path {
        self.inner.path()
    }
    fn names(&self) -> &[String] {
        self.inner.names()
    }
    fn is_typed(&self) -> bool {
        self.inner.is_typed()
    }
    fn select(&mut self, columns: &[usize]) -> Result<()> {
        let all: Vec<usize> = columns.iter().chain(&self.needed).copied().collect();
        self.gaps.rewind(&mut self.pass);
        self.selected = columns.len();
        self.inner.select(&all)
    }
    fn next_batch(&mut self, max_rows: usize) -> Result<Option<Batch>> {
        while let Some(mut batch) = self.inner.next_batch(max_rows)? {
            let mut good = vec![true; batch.rows];
            for column in batch.columns.drain(self.selected..) {
                says_nothing(&column, self.no_value.as_ref(), |i| good[i] = false);
            }
            let kept = self.gaps.kept(&mut self.pass, good.iter().copied());
            if kept.len() == batch.rows {
                return Ok(Some(batch));
            }
            if !kept.is_empty() {
                let columns = batch.columns.iter().map(|column| chosen(column, &good));
                return Ok(Some(Batch {
                    rows: kept.len(),
                    columns: columns.collect(),
                }));
            }
        }
        Ok(None)
    }
    fn rewind(&mut self) -> Result<()> {
        self.gaps.rewind(&mut self.pass);
        self.inner.rewind()
    }
    fn place(&self, row: u64, column: usize) -> String {
        let name = self.names().get(column).map_or("", String::as_str);
        format!("row {row} of those that are kept (counted from 0), column {name:?}")
    }
}

/// The good rows.
fn chosen(column: &Column, good: &[bool]) -> Column {
    fn of<T: Copy>(values: &[T], good: &[bool]) -> Vec<T> {
        let both = values.iter().zip(good);
        both.filter(|(_, good)| **good).map(|(v, _)| *v).collect()
    }
    match column {
        Column::Numbers(values) => Column::Numbers(of(values, good)),
        Column::Dates(values) => Column::Dates(of(values, good)),
        Column::Booleans(values) => Column::Booleans(of(values, good)),
        Column::Text(texts) => {
            let mut kept = Texts::default();
            for (text, _) in texts.iter().zip(good).filter(|(_, good)| **good) {
                match text {
                    Some(text) => kept.push(text),
                    None => kept.push_missing(),
                }
            }
            Column::Text(kept)
        }
    }
}
