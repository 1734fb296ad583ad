//! `--keep`: columns of the input that stand before the predictions of their rows.

use super::Args;
use crate::{names::Names, report::Usage};
use anyhow::Result;
use bochner::{
    Error,
    data::{CsvTable, Format, Table, parts},
};
use std::{
    collections::VecDeque,
    path::{Path, PathBuf},
};

/// Cells of some columns of a table, read a second time in step with its predictions.
pub(super) struct Kept {
    names: Vec<String>,
    files: VecDeque<PathBuf>,
    table: Box<dyn Table>,
    open: Open,
}

type Open = Box<dyn Fn(&Path) -> bochner::Result<Box<dyn Table>>>;

impl Kept {
    /// The columns that are asked for, if any are. Errors with one that there is not, and where the
    /// input is no table.
    pub(super) fn from_args(args: &Args) -> Result<Option<Self>> {
        let names = Names::flatten(&args.keep);
        if names.is_empty() {
            return Ok(None);
        }
        let refuse = |problem: &str| Err(Usage(format!("--keep {problem}")).into());
        if args.steps.checkpoint.is_some() {
            return refuse("does not go with --checkpoint; leave one of them out");
        }
        if args.input == Path::new("-") {
            return refuse("reads the input a second time, which stdin is not; name a file");
        }
        let mut files = VecDeque::from(parts(&args.input)?);
        let Some(first) = files.pop_front() else {
            return refuse("found no file to read");
        };
        let format = args.format.or_else(|| Format::from_path(&first));
        let layout = args.layout.layout();
        let open: Open = match format {
            Some(Format::Csv) => {
                Box::new(move |path| Ok(Box::new(CsvTable::open_with(path, &layout)?)))
            }
            #[cfg(feature = "parquet")]
            Some(format @ (Format::Parquet | Format::Arrow)) => Box::new(move |path| {
                Ok(Box::new(bochner::data::ColumnarTable::open(path, format)?))
            }),
            #[cfg(any(feature = "excel", feature = "sqlite"))]
            Some(format @ (Format::Excel | Format::Sqlite)) => Box::new(move |path| {
                let table = bochner::data::CellTable::open(path, format, &layout)?;
                Ok(Box::new(table))
            }),
            _ => return refuse("takes columns of tables: .csv, .parquet and .arrow"),
        };
        let table = selected(open(&first)?, &names)?;
        Ok(Some(Self {
            names,
            files,
            table,
            open,
        }))
    }

    pub(super) fn names(&self) -> &[String] {
        &self.names
    }

    /// The cells of the next rows, each row's with commas between and behind them. Errors where
    /// there are fewer, and as the table does.
    pub(super) fn next(&mut self, rows: usize) -> bochner::Result<Vec<String>> {
        let mut found = Vec::with_capacity(rows);
        while found.len() < rows {
            let Some(batch) = self.table.next_batch(rows - found.len())? else {
                let Some(file) = self.files.pop_front() else {
                    let problem = "has fewer rows than when it was read for its predictions; it \
                                   must not change while it is in use";
                    return Err(Error::data(self.table.path(), problem));
                };
                self.table = selected((self.open)(&file)?, &self.names)?;
                continue;
            };
            let columns: Vec<_> = batch.columns.iter().map(|column| column.cells()).collect();
            found.extend((0..batch.rows).map(|i| {
                let cells = columns.iter().map(|column| column[i].as_str());
                cells.flat_map(|cell| [cell, ","]).collect::<String>()
            }));
        }
        Ok(found)
    }
}

/// The table with these columns alone.
fn selected(mut table: Box<dyn Table>, names: &[String]) -> bochner::Result<Box<dyn Table>> {
    let place = |name: &String| {
        let found = table.names().iter().position(|own| own == name.trim());
        found.ok_or_else(|| {
            let problem = format!("has no column {name:?} to keep");
            Error::data(table.path(), problem)
        })
    };
    let places: bochner::Result<Vec<usize>> = names.iter().map(place).collect();
    table.select(&places?)?;
    Ok(table)
}
