//! Which columns the fields of a file become.

use super::Batches;
use crate::data::files::table::{short, shortened};
use crate::error::{Error, Remedy, Result};
use crate::limits::{COLUMNS as MOST, NAMES_BYTES};
use arrow_array::{Array, cast::AsArray};
use arrow_schema::{DataType, Field, SchemaRef};
use std::path::Path;

/// The columns of a file.
pub(super) struct Layout {
    pub(super) names: Vec<String>,
    /// Of each column where it comes from.
    pub(super) places: Vec<ColumnSource>,
    /// Of each field how many columns it becomes.
    pub(super) widths: Vec<usize>,
    schema: SchemaRef,
}

/// Where a column comes from.
#[derive(Debug, Clone, Copy)]
pub(super) struct ColumnSource {
    pub(super) field: usize,
    /// Which of the values of a list.
    pub(super) element: Option<usize>,
}

impl Layout {
    /// Columns of `schema`. Lists that may have any length are as long as the first that holds a
    /// value: `rows` reads some fields from the first row on.
    ///
    /// Errors with [`Error::Data`] if there are too many, and as `rows` does.
    pub(super) fn from_schema(
        path: &Path,
        schema: &SchemaRef,
        rows: impl Fn(&[usize]) -> Result<Batches>,
    ) -> Result<Self> {
        let mut layout = Self {
            names: Vec::new(),
            places: Vec::new(),
            widths: Vec::new(),
            schema: schema.clone(),
        };
        let mut bytes = 0_usize;
        for (k, field) in schema.fields().iter().enumerate() {
            let name = match field.name().trim() {
                "" => k.to_string(),
                name => name.to_owned(),
            };
            let width = match field.data_type() {
                _ if problem(field.data_type()).is_some() => None,
                DataType::FixedSizeList(_, width) => Some(usize::try_from(*width).unwrap_or(0)),
                DataType::List(_) | DataType::LargeList(_) => Some(first_length(rows(&[k])?)?),
                _ => None,
            };
            let many = layout.names.len().saturating_add(width.unwrap_or(1));
            if many > MOST {
                let problem = format!(
                    "has {many} columns or more, and {MOST} can be read; is it a table of samples \
                     in rows?"
                );
                return Err(Error::data(path, problem));
            }
            bytes = bytes.saturating_add(bytes_of_names(&name, width));
            if bytes > NAMES_BYTES {
                let problem = format!(
                    "has columns whose names take {bytes} bytes or more, and {NAMES_BYTES} can be \
                     read; shorten {}",
                    short(&name)
                );
                return Err(Error::data(path, problem));
            }
            // Lists without a value are a column all the same, which is not read.
            layout.widths.push(width.unwrap_or(1).max(1));
            match width {
                None | Some(0) => layout.push(name, k, None),
                Some(width) => {
                    for element in 0..width {
                        layout.push(format!("{name}[{element}]"), k, Some(element));
                    }
                }
            }
        }
        if layout.names.is_empty() {
            return Err(Error::data(path, "has no columns; give it at least one"));
        }
        Ok(layout)
    }

    fn push(&mut self, name: String, field: usize, element: Option<usize>) {
        self.names.push(name);
        self.places.push(ColumnSource { field, element });
    }

    /// The names of the columns that the lists called so become.
    pub(super) fn parts(&self, name: &str) -> Option<Vec<String>> {
        let mut fields = self.schema.fields().iter();
        let field = fields.position(|field| field.name().trim() == name)?;
        let parts = self.places.iter().zip(&self.names);
        let parts = parts.filter(|(place, _)| place.field == field && place.element.is_some());
        let parts: Vec<_> = parts.map(|(_, name)| name.clone()).collect();
        (!parts.is_empty()).then_some(parts)
    }

    /// Errors with [`Error::Data`] unless the values of column `j` are read.
    pub(super) fn require_readable(&self, path: &Path, j: usize) -> Result<()> {
        let field = &self.schema.fields()[self.places[j].field];
        let empty = || {
            let lists = is_list(field.data_type()) && self.places[j].element.is_none();
            lists.then(|| "no list with a value".to_owned())
        };
        let Some(what) = problem(field.data_type()).or_else(empty) else {
            return Ok(());
        };
        let name = short(&self.names[j]);
        let problem = format!("column {name} holds {what}, which is not read");
        let help = Remedy::words("leave it out, or save its parts as columns of their own");
        Err(Error::data(path, problem).help(help))
    }
}

/// Bytes of the names of the columns that one field becomes, which is called `name`.
fn bytes_of_names(name: &str, width: Option<usize>) -> usize {
    match width {
        None | Some(0) => name.len(),
        Some(width) => {
            let index = "[]".len() + (width - 1).to_string().len();
            width.saturating_mul(name.len() + index)
        }
    }
}

/// What a column of this type holds if it is not read.
fn problem(data_type: &DataType) -> Option<String> {
    match data_type {
        DataType::List(of) | DataType::LargeList(of) | DataType::FixedSizeList(of, _) => {
            let scalar = is_scalar(of.data_type());
            (!scalar).then(|| format!("lists of {}", called(of.data_type())))
        }
        DataType::Dictionary(_, of) if is_scalar(of) => None,
        other if is_scalar(other) => None,
        other => Some(called(other)),
    }
}

fn is_list(data_type: &DataType) -> bool {
    use DataType::*;
    matches!(data_type, List(_) | LargeList(_) | FixedSizeList(..))
}

/// Whether values of this type are numbers, truth values, text or times.
fn is_scalar(data_type: &DataType) -> bool {
    use DataType::*;
    let text = matches!(data_type, Utf8 | LargeUtf8 | Utf8View);
    let time = matches!(
        data_type,
        Date32 | Date64 | Timestamp(..) | Time32(_) | Time64(_) | Duration(_)
    );
    data_type.is_numeric() || matches!(data_type, Null | Boolean) || text || time
}

/// A type in few words.
fn called(data_type: &DataType) -> String {
    use DataType::*;
    let names = |fields: Vec<&Field>| {
        let names: Vec<_> = fields.iter().map(|field| field.name()).collect();
        shortened(&names)
    };
    match data_type {
        Struct(fields) => format!(
            "records of {}",
            names(fields.iter().map(|f| &**f).collect())
        ),
        Map(..) => "maps".into(),
        List(_) | LargeList(_) | FixedSizeList(..) => "lists".into(),
        Binary | LargeBinary | BinaryView | FixedSizeBinary(_) => "bytes".into(),
        Interval(_) => "intervals of the calendar".into(),
        Union(..) => "values of several types".into(),
        Dictionary(_, of) => format!("a dictionary of {}", called(of)),
        other => format!("values of the type {}", short(&other.to_string())),
    }
}

/// How long the first list is that holds a value; 0 if none does.
fn first_length(batches: Batches) -> Result<usize> {
    for batch in batches {
        let batch = batch?;
        let array = batch.column(0);
        let length = |i: usize| match array.data_type() {
            _ if array.is_null(i) => 0,
            DataType::LargeList(_) => array.as_list::<i64>().value_length(i) as usize,
            _ => array.as_list::<i32>().value_length(i) as usize,
        };
        if let Some(length) = (0..array.len()).map(length).find(|&length| length > 0) {
            return Ok(length);
        }
    }
    Ok(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow_array::{ListArray, RecordBatch, types::Float32Type};
    use std::sync::Arc;

    /// Lists of one length need no data to be any number of columns.
    #[test]
    fn names_of_places_are_held_to_their_limit_and_no_further() {
        let layout = |name: usize, width: i32| {
            let item = Arc::new(Field::new("item", DataType::Float32, false));
            let list = DataType::FixedSizeList(item, width);
            let field = Field::new("n".repeat(name), list, false);
            let schema = Arc::new(arrow_schema::Schema::new(vec![field]));
            let read = |_: &[usize]| -> Result<Batches> { panic!("no rows are read") };
            Layout::from_schema(Path::new("t.arrow"), &schema, read)
        };
        let made = layout(NAMES_BYTES - 3, 1).expect("fits");
        assert_eq!(made.names[0].len(), NAMES_BYTES);
        for (name, width) in [(NAMES_BYTES - 2, 1), (20_000, 1_000_000)] {
            let error = layout(name, width).err().expect("too long").to_string();
            assert!(error.contains("names take"), "{}", &error[..200]);
        }
        assert_eq!(layout(1, MOST as i32).expect("fits").names.len(), MOST);
        let error = layout(1, MOST as i32 + 1).err().expect("too many");
        assert!(error.to_string().contains("can be read"), "{error}");
    }

    /// Over several batches, the first of which may hold none.
    #[test]
    fn lists_are_as_long_as_the_first_that_holds_a_value() {
        let batch = |lengths: &[Option<usize>]| {
            let lists = lengths.iter().map(|l| l.map(|l| vec![Some(1.0_f32); l]));
            let lists = ListArray::from_iter_primitive::<Float32Type, _, _>(lists);
            let batch = RecordBatch::try_from_iter([("z", Arc::new(lists) as Arc<dyn Array>)]);
            Ok(batch.expect("a batch"))
        };
        for (batches, length) in [
            (vec![batch(&[Some(3), Some(2)])], 3),
            (vec![batch(&[None, Some(3), Some(2)])], 3),
            (vec![batch(&[None, Some(0)]), batch(&[Some(0), Some(2)])], 2),
            (vec![batch(&[None]), batch(&[None, Some(2)])], 2),
            (vec![batch(&[None]), batch(&[Some(0)])], 0),
        ] {
            let found = first_length(Box::new(batches.into_iter()));
            assert_eq!(found.expect("reads"), length);
        }
    }
}
