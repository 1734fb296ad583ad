//! .parquet files.

mod footer;
mod pages;
mod thrift;

use super::Batches;
use crate::data::files::table::short;
use crate::device::memory_left;
use crate::error::{Error, Remedy, Result};
use arrow_schema::{DataType, Field, FieldRef, Schema, SchemaRef, TimeUnit};
use parquet::{
    arrow::{
        ProjectionMask,
        arrow_reader::{ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReaderBuilder},
    },
    basic::Type,
    column::page::PageReader,
    errors::ParquetError,
    file::serialized_reader::SerializedPageReader,
};
use std::{fs::File, path::Path, sync::Arc};

/// Values that a batch has, so that its size does not hang on the width of rows.
pub(super) const VALUES: usize = 1 << 16;
/// Rows that a batch has.
const ROWS: usize = 1 << 13;

/// What the end of a file says about it.
pub(super) struct Opened {
    metadata: ArrowReaderMetadata,
}

impl Opened {
    /// Reads the end of the file.
    ///
    /// Errors with [`Error::Data`] if it is no whole .parquet.
    pub(super) fn new(path: &Path, file: &File) -> Result<Self> {
        footer::require_flat(path, file)?;
        let metadata = guarded(path, || {
            let metadata = ArrowReaderMetadata::load(file, ArrowReaderOptions::new())?;
            with_early_times(metadata)
        })?;
        let groups = metadata.metadata().row_groups();
        let said = metadata.metadata().file_metadata().num_rows();
        let sum = groups.iter().try_fold(0_i64, |sum, group| {
            let rows = group.num_rows();
            sum.checked_add(rows).filter(|_| rows >= 0)
        });
        if sum != Some(said) {
            let problem = "is damaged: its groups of rows have not as many as it says; write it \
                           again";
            return Err(Error::data(path, problem));
        }
        Ok(Self { metadata })
    }

    pub(super) fn schema(&self) -> SchemaRef {
        self.metadata.schema().clone()
    }

    pub(super) fn rows(&self) -> u64 {
        self.metadata
            .metadata()
            .file_metadata()
            .num_rows()
            .unsigned_abs()
    }

    /// Rows of some fields, read page by page.
    pub(super) fn batches(
        &self,
        path: &Path,
        file: &File,
        fields: &[usize],
        width: usize,
    ) -> Result<Batches> {
        let file = file.try_clone().map_err(|error| Error::io(path, error))?;
        let metadata = self.metadata.clone();
        let rows = (VALUES / width.max(1)).clamp(1, ROWS);
        let mask = ProjectionMask::roots(metadata.parquet_schema(), fields.iter().copied());
        let held = guarded(path, || {
            require_levels(&Arc::new(file.try_clone()?), &metadata, &mask)
        })?;
        require_room(path, &held)?;
        let mut batches = guarded(path, move || {
            let builder = ParquetRecordBatchReaderBuilder::new_with_metadata(file, metadata);
            builder.with_projection(mask).with_batch_size(rows).build()
        })?;
        let path = path.to_owned();
        let mut failed = false;
        Ok(Box::new(std::iter::from_fn(move || {
            if failed {
                return None;
            }
            let next = guarded(&path, || Ok(batches.next().transpose()?)).transpose();
            failed = matches!(next, Some(Err(_)));
            next
        })))
    }
}

/// The same file with INT96 timestamps, as Spark and Hive write them, in microseconds: nanoseconds
/// since 1970 in 64 bits end in 1677 and in 2262, and wrap around without an error.
fn with_early_times(
    metadata: ArrowReaderMetadata,
) -> std::result::Result<ArrowReaderMetadata, ParquetError> {
    let leaves = metadata.parquet_schema();
    let holds_int96 = |root: usize| {
        let mut own = (0..leaves.num_columns()).filter(|&k| leaves.get_column_root_idx(k) == root);
        own.any(|leaf| leaves.column(leaf).physical_type() == Type::INT96)
    };
    let schema = metadata.schema();
    let fields = schema.fields().iter().enumerate();
    let fields: Vec<FieldRef> = fields
        .map(|(root, field)| match holds_int96(root) {
            true => in_microseconds(field),
            false => field.clone(),
        })
        .collect();
    if fields[..] == schema.fields()[..] {
        return Ok(metadata);
    }
    let schema = Schema::new_with_metadata(fields, schema.metadata().clone());
    let options = ArrowReaderOptions::new().with_schema(Arc::new(schema));
    ArrowReaderMetadata::try_new(metadata.metadata().clone(), options)
}

/// A field of timestamps or of lists of them, in nanoseconds, with microseconds instead.
fn in_microseconds(field: &FieldRef) -> FieldRef {
    use DataType::*;
    let data_type = match field.data_type() {
        Timestamp(TimeUnit::Nanosecond, zone) => Timestamp(TimeUnit::Microsecond, zone.clone()),
        List(of) => List(in_microseconds(of)),
        LargeList(of) => LargeList(in_microseconds(of)),
        FixedSizeList(of, width) => FixedSizeList(in_microseconds(of), *width),
        other => other.clone(),
    };
    Arc::new(Field::clone(field).with_data_type(data_type))
}

/// Pages that are unpacked together, one of each column.
#[derive(Default)]
struct Held {
    bytes: u64,
    /// Bytes of the file that they are packed in, or more.
    packed: u64,
    /// The column of the largest, and its bytes.
    largest: (u64, String),
}

/// Errors unless pages can be in memory together.
fn require_room(path: &Path, held: &Held) -> Result<()> {
    let help = Remedy::words("read fewer columns, or write the file with smaller pages");
    let (bytes, most) = (held.bytes, super::most_held(held.packed));
    if bytes > most {
        let (of_it, name) = (held.largest.0, short(&held.largest.1));
        let problem = format!(
            "has pages of {bytes} bytes in the columns that are read, one of each at a time \
             ({of_it} in column {name}), and {most} of so few packed bytes can be held"
        );
        return Err(Error::data(path, problem).help(help));
    }
    let what = || format!("{}: a page of each column", path.display());
    memory_left::require(bytes.into(), what)
        .map_err(|error| error.instead(&Remedy::FewerFeatures, Some(help)))
}

/// Errors unless the pages of the columns have as many values as the end of the file says they
/// have: a few bytes of a page that is damaged may claim billions. Only heads of pages are read.
/// Returns the pages of the group of rows whose pages take most.
fn require_levels(
    file: &Arc<File>,
    metadata: &ArrowReaderMetadata,
    mask: &ProjectionMask,
) -> std::result::Result<Held, ParquetError> {
    let fault = || ParquetError::General("pages have not the values that are listed".into());
    let length = file.metadata()?.len();
    let mut held = Held::default();
    for group in metadata.metadata().row_groups() {
        let mut of_group = Held::default();
        let rows = usize::try_from(group.num_rows())?;
        for (leaf, chunk) in group.columns().iter().enumerate() {
            if !mask.leaf_included(leaf) {
                continue;
            }
            let listed = usize::try_from(chunk.num_values())?;
            let is_list = chunk.column_descr().max_rep_level() > 0;
            if listed != rows && !(is_list && listed > rows) {
                return Err(fault());
            }
            let mut pages = SerializedPageReader::new(file.clone(), chunk, rows, None)?;
            let mut levels = 0_usize;
            while let Some(page) = pages.peek_next_page()? {
                levels = levels.saturating_add(page.num_levels.unwrap_or(0));
                pages.skip_next_page()?;
            }
            if levels != listed {
                return Err(fault());
            }
            let range = chunk.byte_range();
            let bytes = pages::unpacked_bytes(file, range).ok_or_else(fault)?;
            of_group.bytes = of_group.bytes.saturating_add(bytes);
            // Columns that share their bytes do not have more of them.
            of_group.packed = of_group.packed.saturating_add(range.1).min(length);
            if bytes >= of_group.largest.0 {
                of_group.largest = (bytes, chunk.column_path().string());
            }
        }
        if of_group.bytes >= held.bytes {
            held = of_group;
        }
    }
    Ok(held)
}

/// What `read` reads; what is wrong with the contents of the file is said of the file.
fn guarded<T>(
    path: &Path,
    read: impl FnOnce() -> std::result::Result<T, ParquetError>,
) -> Result<T> {
    super::guarded(path, || read().map_err(|error| super::damage(path, &error)))
}

#[cfg(test)]
mod tests {
    use crate::data::{Column, ColumnarTable, Format, Table};
    use parquet::{
        data_type::{Int96, Int96Type},
        file::writer::SerializedFileWriter,
        schema::parser::parse_message_type,
    };
    use std::{fs::File, path::Path, sync::Arc};

    /// Days since 1970-01-01 of 1000-01-01, 1600-01-01, 2024-01-01 and 9999-12-31, some at noon.
    const DAYS: [f64; 4] = [-354_285.0, -135_140.0, 19_723.5, 2_932_896.5];

    fn int96(days: f64) -> Int96 {
        let nanoseconds = (days.rem_euclid(1.0) * 86_400e9) as u64;
        let day = days.floor() as i64 + 2_440_588;
        let mut value = Int96::new();
        value.set_data(nanoseconds as u32, (nanoseconds >> 32) as u32, day as u32);
        value
    }

    fn write(path: &Path, schema: &str, levels: (Option<&[i16]>, Option<&[i16]>)) {
        let schema = Arc::new(parse_message_type(schema).expect("a schema"));
        let file = File::create(path).expect("a file");
        let mut file = SerializedFileWriter::new(file, schema, Arc::default()).expect("opens");
        let mut group = file.next_row_group().expect("a group");
        let mut column = group.next_column().expect("reads").expect("a column");
        let (definitions, repetitions) = levels;
        let typed = column.typed::<Int96Type>();
        (typed.write_batch(&DAYS.map(int96), definitions, repetitions)).expect("writes");
        column.close().expect("closes");
        group.close().expect("closes");
        file.close().expect("closes");
    }

    fn dates(path: &Path) -> Vec<f64> {
        let mut table = ColumnarTable::open(path, Format::Parquet).expect("opens");
        let batch = table.next_batch(9).expect("reads").expect("rows");
        let each = batch.columns.iter().flat_map(|column| match column {
            Column::Dates(values) => values.clone(),
            other => panic!("{other:?}"),
        });
        each.collect()
    }

    #[test]
    fn int96_holds_dates_of_all_years() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("times.parquet");
        write(&path, "message m { required int96 t; }", (None, None));
        assert_eq!(dates(&path), DAYS);
        let list = "message m { required group t (LIST) { repeated group list \
                    { required int96 element; } } }";
        let levels: (&[i16], &[i16]) = (&[1; 4], &[0, 1, 0, 1]);
        write(&path, list, (Some(levels.0), Some(levels.1)));
        assert_eq!(dates(&path), [DAYS[0], DAYS[2], DAYS[1], DAYS[3]]);
    }

    #[test]
    fn pages_are_held_to_their_limit_and_no_further() {
        use crate::limits::{HELD_BYTES, PACKED_RATIO, SMALL_BYTES};
        for (packed, most) in [
            (0, SMALL_BYTES),
            (1_000, SMALL_BYTES + 1_000 * PACKED_RATIO),
            (HELD_BYTES, HELD_BYTES),
        ] {
            assert_eq!(super::super::most_held(packed), most);
            let room = |bytes| {
                let largest = (bytes, "wide".into());
                let held = super::Held {
                    bytes,
                    packed,
                    largest,
                };
                super::require_room(Path::new("t.parquet"), &held)
            };
            let error = room(most + 1).expect_err("too much").to_string();
            for part in ["t.parquet", "column \"wide\"", "read fewer columns"] {
                assert!(error.contains(part), "{error}");
            }
            if most == SMALL_BYTES {
                room(most).expect("fits");
            }
        }
    }
}
