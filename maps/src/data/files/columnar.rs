//! .parquet and Arrow files as tables of types.

mod arrays;
mod ipc;
mod layout;
mod parquet;
#[cfg(test)]
mod tests;

use self::layout::{ColumnSource, Layout};
use super::guarded::guarded;
use super::input::{Stamp, open_file};
use super::table::{Batch, Column, Table, require_columns};
use super::{Format, require_rows};
use crate::error::{Error, Result};
use crate::limits::{HELD_BYTES, PACKED_RATIO, SMALL_BYTES};
use arrow_array::{Array, RecordBatch};
use arrow_schema::SchemaRef;
use std::fs::File;
use std::path::{Path, PathBuf};

/// A .parquet file, or one of Arrow's: .arrow, .feather (version 2) and .ipc, and .arrows, which
/// are streams.
///
/// Numbers of every width, truth values, text, dates and times are read as what they are; a column
/// of dictionary codes as what they stand for; a column of lists of one length as so many columns,
/// `name[0]`, `name[1]` and so on. Columns of other types may be there, but not be selected. Only
/// columns that are selected are unpacked.
///
/// ```
/// use bochner::data::{Column, ColumnarTable, Format, Table};
/// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/fixtures/columnar/flats.parquet");
/// let mut flats = ColumnarTable::open(path, Format::Parquet)?;
/// assert_eq!(flats.names(), ["rooms", "city", "lift", "let_since", "at[0]", "at[1]"]);
/// flats.select(&[1])?;
/// let batch = flats.next_batch(3)?.expect("rows");
/// let Column::Text(cities) = &batch.columns[0] else { panic!("text") };
/// assert_eq!(cities.iter().collect::<Vec<_>>(), [Some("Bern"), Some("Basel"), None]);
/// # Ok::<(), bochner::Error>(())
/// ```
pub struct ColumnarTable {
    path: PathBuf,
    file: File,
    stamp: Stamp,
    container: Container,
    layout: Layout,
    selected: Vec<usize>,
    batches: Option<Batches>,
    /// The batch at work, and how many of its rows were taken.
    pending: Option<(RecordBatch, usize)>,
    /// Rows that were taken in all.
    taken: u64,
}

/// Batches of some columns, one after the other.
type Batches = Box<dyn Iterator<Item = Result<RecordBatch>> + Send>;

enum Container {
    Parquet(parquet::Opened),
    Arrow(ipc::Opened),
}

impl std::fmt::Debug for ColumnarTable {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "ColumnarTable({})", self.path.display())
    }
}

impl ColumnarTable {
    /// Opens the file at `path`, which is [`Format::Parquet`] or [`Format::Arrow`].
    ///
    /// Errors with [`Error::Io`] if it cannot be opened, with [`Error::Data`] if it is damaged or
    /// has no rows, and with [`Error::Unsupported`] on another format.
    pub fn open(path: impl AsRef<Path>, format: Format) -> Result<Self> {
        let path = path.as_ref();
        let file = open_file(path)?;
        let stamp = Stamp::from_file(&file).map_err(|error| Error::io(path, error))?;
        let container = match format {
            Format::Parquet => Container::Parquet(parquet::Opened::new(path, &file)?),
            Format::Arrow => Container::Arrow(ipc::Opened::new(path, &file)?),
            _ => {
                let problem = format!("{}: is no .parquet and no .arrow", path.display());
                return Err(Error::unsupported(problem));
            }
        };
        let schema = container.schema();
        let layout = Layout::from_schema(path, &schema, |fields| {
            // A few rows tell how long lists are, which may be long.
            container.batches(path, &file, fields, parquet::VALUES / 8)
        })?;
        let table = Self {
            path: path.to_owned(),
            file,
            stamp,
            container,
            selected: (0..layout.names.len()).collect(),
            layout,
            batches: None,
            pending: None,
            taken: 0,
        };
        if table.container.rows() == 0 {
            return Err(Error::data(path, "has no rows; add at least one"));
        }
        Ok(table)
    }

    /// The fields that the selected columns come from, ascending.
    fn fields(&self) -> Vec<usize> {
        let selected = self.selected.iter();
        let mut fields: Vec<_> = selected.map(|&j| self.layout.places[j].field).collect();
        fields.sort_unstable();
        fields.dedup();
        fields
    }

    /// Makes sure that there is a batch with rows to take; false at the end.
    fn fetch(&mut self) -> Result<bool> {
        if let Some((batch, done)) = &self.pending
            && *done < batch.num_rows()
        {
            return Ok(true);
        }
        self.pending = None;
        let fields = self.fields();
        let batches = match &mut self.batches {
            Some(batches) => batches,
            None => {
                let width = self.selected.len();
                let made = (self.container).batches(&self.path, &self.file, &fields, width)?;
                self.batches.insert(made)
            }
        };
        loop {
            match batches.next().transpose()? {
                Some(batch) if batch.num_rows() > 0 => {
                    self.pending = Some((batch, 0));
                    return Ok(true);
                }
                Some(_) => {}
                None => break,
            }
        }
        let now = Stamp::from_file(&self.file).map_err(|error| Error::io(&self.path, error))?;
        now.require(&self.stamp, &self.path)?;
        let said = self.container.rows();
        if said != self.taken {
            let problem = format!(
                "is damaged: it says that it has {said} rows and holds {}; write it again",
                self.taken
            );
            return Err(Error::data(&self.path, problem));
        }
        Ok(false)
    }

    /// The selected columns of rows `rows` of a batch of `fields`, whose first row has the number
    /// `first`.
    fn convert(
        &self,
        batch: &RecordBatch,
        (start, count): (usize, usize),
        first: u64,
    ) -> Result<Vec<Column>> {
        let fields = self.fields();
        let mut made: Vec<Option<Vec<Column>>> = fields.iter().map(|_| None).collect();
        let mut columns = Vec::with_capacity(self.selected.len());
        for &j in &self.selected {
            let ColumnSource { field, element } = self.layout.places[j];
            let Ok(k) = fields.binary_search(&field) else {
                continue;
            };
            let array = batch.column(k).slice(start, count);
            let failed = |(row, says): (usize, String)| self.fault(first + row as u64, j, &says);
            columns.push(match element {
                None => arrays::column(array.as_ref()).map_err(failed)?,
                Some(element) => {
                    let all = match &mut made[k] {
                        Some(all) => all,
                        unmade => {
                            let width = self.layout.widths[field];
                            unmade.insert(arrays::elements(&array, width).map_err(failed)?)
                        }
                    };
                    all[element].clone()
                }
            });
        }
        Ok(columns)
    }
}

impl Container {
    fn schema(&self) -> SchemaRef {
        match self {
            Self::Parquet(opened) => opened.schema(),
            Self::Arrow(opened) => opened.schema(),
        }
    }

    fn rows(&self) -> u64 {
        match self {
            Self::Parquet(opened) => opened.rows(),
            Self::Arrow(opened) => opened.rows(),
        }
    }

    /// The fields with these numbers, ascending, of which `width` columns are made, from the first
    /// row on.
    fn batches(&self, path: &Path, file: &File, fields: &[usize], width: usize) -> Result<Batches> {
        let batches = match self {
            Self::Parquet(opened) => opened.batches(path, file, fields, width)?,
            Self::Arrow(opened) => opened.batches(path, file, fields)?,
        };
        // Neither is asked for more after its end.
        Ok(Box::new(batches.fuse()))
    }
}

impl Table for ColumnarTable {
    fn path(&self) -> &Path {
        &self.path
    }
    fn names(&self) -> &[String] {
        &self.layout.names
    }
    fn rows(&self) -> Option<usize> {
        self.container.rows().try_into().ok()
    }
    fn parts(&self, name: &str) -> Option<Vec<String>> {
        self.layout.parts(name)
    }
    fn select(&mut self, columns: &[usize]) -> Result<()> {
        require_columns(columns, self.layout.names.len())?;
        for &j in columns {
            self.layout.require_readable(&self.path, j)?;
        }
        self.selected = columns.to_vec();
        self.rewind()
    }
    fn next_batch(&mut self, max_rows: usize) -> Result<Option<Batch>> {
        require_rows(max_rows)?;
        let (mut rows, mut columns) = (0, Vec::new());
        while rows < max_rows && self.fetch()? {
            let Some((batch, done)) = self.pending.take() else {
                break;
            };
            let count = (batch.num_rows() - done).min(max_rows - rows);
            let more = self.convert(&batch, (done, count), self.taken)?;
            if columns.is_empty() {
                columns = more
            } else {
                columns = arrays::joined(columns, more)
            }
            self.pending = Some((batch, done + count));
            self.taken += count as u64;
            rows += count;
        }
        Ok((rows > 0).then_some(Batch { rows, columns }))
    }
    fn rewind(&mut self) -> Result<()> {
        let now = Stamp::from_file(&self.file).map_err(|error| Error::io(&self.path, error))?;
        now.require(&self.stamp, &self.path)?;
        (self.batches, self.pending, self.taken) = (None, None, 0);
        Ok(())
    }
}

/// The most bytes that are unpacked from `packed` bytes of a file and held together.
fn most_held(packed: u64) -> u64 {
    let more = packed.saturating_mul(PACKED_RATIO);
    SMALL_BYTES.saturating_add(more).min(HELD_BYTES)
}

/// The error about contents that cannot be read, in one line.
fn damage(path: &Path, error: &(dyn std::error::Error + 'static)) -> Error {
    let mut cause = Some(error);
    while let Some(error) = cause {
        if let Some(io) = error.downcast_ref::<std::io::Error>()
            && let Some(code) = io.raw_os_error()
        {
            return Error::io(path, std::io::Error::from_raw_os_error(code));
        }
        cause = error.source();
    }
    let says = error.to_string();
    let says = says.lines().next().unwrap_or_default();
    let says: String = says.chars().take(200).collect();
    Error::data(
        path,
        format!("cannot be read ({says}); copy or write the file again"),
    )
}
