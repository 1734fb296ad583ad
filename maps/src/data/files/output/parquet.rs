//! .parquet files, row by row.

use super::AtomicFile;
use crate::error::{Error, Result};
use arrow_array::{
    Array, ArrayRef, FixedSizeListArray, Float32Array, Float64Array, RecordBatch, StringArray,
};
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use ndarray::{ArrayView2, Axis};
use parquet::{
    arrow::ArrowWriter,
    basic::Compression,
    errors::ParquetError,
    file::properties::{EnabledStatistics, WriterProperties},
};
use std::{path::PathBuf, sync::Arc};

/// Values of a group of rows, which is held until it is full.
const VALUES: usize = 1 << 20;
/// Values of vectors that are written at a time.
const PIECE: usize = 1 << 16;
/// Rows of one, at most.
const ROWS: usize = 1 << 17;

/// Writes rows to a .parquet file as they come.
///
/// Vectors of f32 are one column of lists of that length, which numpy, polars and pyarrow take as a
/// matrix again; other values have a column each. The file appears when [`Self::finish`] succeeds,
/// and a failed run leaves an older one untouched: see [`AtomicFile`].
///
/// ```
/// use bochner::data::{AtomicFile, OpenOptions, ParquetWriter, open};
/// let folder = tempfile::tempdir().expect("a folder");
/// let path = folder.path().join("z.parquet");
/// let mut writer = ParquetWriter::vectors(AtomicFile::create(&path)?, "z", 2)?;
/// writer.write_vectors(ndarray::array![[1.0_f32, 2.0], [3.0, 4.0]].view())?;
/// assert_eq!(writer.finish()?, 2);
/// let rows = open(&path, &OpenOptions::default())?;
/// assert_eq!(rows.column_names().expect("names"), ["z[0]", "z[1]"]);
/// # Ok::<(), bochner::Error>(())
/// ```
#[derive(Debug)]
pub struct ParquetWriter {
    path: PathBuf,
    writer: ArrowWriter<AtomicFile>,
    schema: SchemaRef,
    rows: u64,
}

impl ParquetWriter {
    /// One column of lists of so many f32.
    ///
    /// Errors with [`Error::Parameter`] on lists longer than the format takes, and with
    /// [`Error::Io`].
    pub fn vectors(file: AtomicFile, name: &str, length: usize) -> Result<Self> {
        let width = i32::try_from(length).map_err(|_| {
            Error::parameter(format!(
                "lists of {length} values are too long for a .parquet"
            ))
        })?;
        let item = Arc::new(Field::new_list_field(DataType::Float32, false));
        let list = DataType::FixedSizeList(item, width);
        Self::new(file, vec![Field::new(name, list, false)], length)
    }

    /// A column of f64 under each name. Errors with [`Error::Io`].
    pub fn numbers(file: AtomicFile, names: &[impl AsRef<str>]) -> Result<Self> {
        let field = |name: &_| Field::new(AsRef::<str>::as_ref(name), DataType::Float64, false);
        Self::new(file, names.iter().map(field).collect(), names.len())
    }

    /// One column of text. Errors with [`Error::Io`].
    pub fn texts(file: AtomicFile, name: &str) -> Result<Self> {
        Self::new(file, vec![Field::new(name, DataType::Utf8, true)], 1)
    }

    fn new(file: AtomicFile, fields: Vec<Field>, width: usize) -> Result<Self> {
        let schema = Arc::new(Schema::new(fields));
        let is_text = matches!(schema.field(0).data_type(), DataType::Utf8);
        let properties = WriterProperties::builder()
            .set_max_row_group_row_count(Some((VALUES / width.max(1)).clamp(1, ROWS)))
            // Labels repeat; features and predictions do not, and do not pack.
            .set_dictionary_enabled(is_text)
            .set_compression(Compression::UNCOMPRESSED)
            .set_statistics_enabled(EnabledStatistics::None)
            .set_offset_index_disabled(true)
            .build();
        let path = file.path().to_owned();
        let writer = ArrowWriter::try_new(file, schema.clone(), Some(properties));
        Ok(Self {
            writer: writer.map_err(|error| failed(&path, &error))?,
            path,
            schema,
            rows: 0,
        })
    }

    /// Number of columns.
    #[doc(hidden)]
    pub fn columns(&self) -> usize {
        self.schema.fields().len()
    }

    /// Appends vectors `[n, length]`. Errors with [`Error::Shape`] if they are of another length,
    /// and with [`Error::Io`].
    pub fn write_vectors(&mut self, rows: ArrayView2<'_, f32>) -> Result<()> {
        let DataType::FixedSizeList(item, width) = self.schema.field(0).data_type().clone() else {
            return Err(self.mismatch("vectors", rows.ncols()));
        };
        if rows.ncols() != width as usize {
            return Err(self.mismatch("vectors", rows.ncols()));
        }
        // Whoever writes lists holds several copies of what it is given.
        let piece = (PIECE / rows.ncols().max(1)).max(1);
        for rows in rows.axis_chunks_iter(Axis(0), piece) {
            let values: Float32Array = rows.iter().copied().collect::<Vec<_>>().into();
            let lists = FixedSizeListArray::try_new(item.clone(), width, Arc::new(values), None);
            let lists = lists.map_err(|error| failed(&self.path, &error.into()))?;
            self.write(vec![Arc::new(lists)], rows.nrows())?;
        }
        Ok(())
    }

    /// Appends numbers `[n, names]`. Errors with [`Error::Shape`] if there are not as many columns
    /// as names, and with [`Error::Io`].
    pub fn write_rows(&mut self, rows: ArrayView2<'_, f64>) -> Result<()> {
        let is_number = |field: &Arc<Field>| field.data_type() == &DataType::Float64;
        if rows.ncols() != self.schema.fields().len() || !self.schema.fields().iter().all(is_number)
        {
            return Err(self.mismatch("numbers", rows.ncols()));
        }
        let column = |j: usize| Arc::new(Float64Array::from(rows.column(j).to_vec())) as ArrayRef;
        self.write((0..rows.ncols()).map(column).collect(), rows.nrows())
    }

    /// Appends texts, some of which may be missing. Errors with [`Error::Shape`] if the file has
    /// numbers, and with [`Error::Io`].
    pub fn write_texts<'a>(
        &mut self,
        rows: impl IntoIterator<Item = Option<&'a str>>,
    ) -> Result<()> {
        if self.schema.field(0).data_type() != &DataType::Utf8 {
            return Err(self.mismatch("texts", 1));
        }
        let texts = StringArray::from_iter(rows);
        let count = texts.len();
        self.write(vec![Arc::new(texts)], count)
    }

    fn write(&mut self, columns: Vec<ArrayRef>, rows: usize) -> Result<()> {
        let fail = |error: ParquetError| failed(&self.path, &error);
        let batch = RecordBatch::try_new(self.schema.clone(), columns);
        let batch = batch.map_err(|error| fail(error.into()))?;
        self.writer.write(&batch).map_err(fail)?;
        self.rows += rows as u64;
        Ok(())
    }

    fn mismatch(&self, what: &str, columns: usize) -> Error {
        Error::shape(format!(
            "{}: {columns} columns of {what} do not go into what the file was begun for; write \
             rows of one kind",
            self.path.display()
        ))
    }

    /// Writes the end of the file, gives it its name and returns the number of rows.
    ///
    /// Errors with [`Error::Io`]; then nothing of the new file remains.
    pub fn finish(self) -> Result<u64> {
        let file = self.writer.into_inner();
        file.map_err(|error| failed(&self.path, &error))?.finish()?;
        Ok(self.rows)
    }
}

/// What the crate says of a write that failed: the system's own words where it has some.
fn failed(path: &std::path::Path, error: &ParquetError) -> Error {
    let mut cause: Option<&(dyn std::error::Error + 'static)> = Some(error);
    while let Some(error) = cause {
        if let Some(io) = error.downcast_ref::<std::io::Error>() {
            return Error::io(
                path,
                match io.raw_os_error() {
                    Some(code) => std::io::Error::from_raw_os_error(code),
                    None => io.kind().into(),
                },
            );
        }
        cause = error.source();
    }
    Error::io(path, std::io::Error::other(error.to_string()))
}
