//! Batches of a table as the numbers that a schema makes of them.

mod impute;

pub(in crate::data) use impute::fill_note;

use super::{
    Field, Kind, MissingRule, Schema, date,
    hashed::place_of,
    later,
    means::{self, OutOfFold, TargetMeans},
    places::Places,
    reading::Reading as Written,
    survey::{
        cell::{self, Cell, text_of},
        weight,
    },
};
use crate::data::{
    Batch, Chunk, Column, Rows, Table,
    files::csv::{BEYOND, ROUNDED, number},
    files::table::short,
};
use crate::error::{Error, Remedy, Result};
use ndarray::{Array1, Array2, ArrayViewMut2, s};

/// What helps where a cell is not written as those of the fit were.
const WRITE_SO: &str = "write it so, leave the row out, or fit with it as no value";

/// Makes chunks of batches.
#[derive(Debug)]
pub(in crate::data) struct Encoder {
    schema: Schema,
    places: Places,
    /// What the rows have that the schema was learnt from, if it has means of their targets.
    training: Option<OutOfFold>,
    /// Whether notes were logged: unknown category, unknown label, rounded number, missing value in
    /// a column without missing training values.
    said: [bool; 4],
}

const UNKNOWN: &str = "is a category that the fit did not see, so it counts as none of them";
const UNSEEN: &str = "is a text that the fit did not see, so it counts as the mean of all";

impl Encoder {
    /// For a table whose columns are at these places.
    pub(in crate::data) fn new(schema: Schema, places: Places) -> Self {
        Self {
            schema,
            places,
            training: None,
            said: [false; 4],
        }
    }

    /// For the table that the schema was learnt from.
    pub(in crate::data) fn of_training(self, training: Option<OutOfFold>) -> Self {
        Self { training, ..self }
    }

    /// One that says nothing of what it meets.
    pub(in crate::data) fn silent(self) -> Self {
        Self {
            said: [true; 4],
            ..self
        }
    }

    pub(in crate::data) fn schema(&self) -> &Schema {
        &self.schema
    }

    pub(in crate::data) fn places(&self) -> &Places {
        &self.places
    }

    /// The numbers of a batch of the selected columns, whose first row has the number `first` in
    /// the table.
    ///
    /// Errors with [`Error::Data`] at a value that the schema makes nothing of.
    pub(in crate::data) fn chunk(
        &mut self,
        table: &dyn Table,
        batch: &Batch,
        first: u64,
    ) -> Result<Chunk> {
        let rows = batch.rows;
        let mut x = Array2::zeros((rows, self.schema.width()));
        let mut y = Array2::zeros((rows, self.places.targets.len()));
        let mut columns = batch.columns.iter();
        let mut at = 0;
        let read = Reading {
            table,
            marks: self.schema.said_marks(),
            rule: self.schema.no_value.rule(table.is_typed()),
            first,
        };
        let features = self.schema.features.iter().zip(&self.places.features);
        for (k, (field, &j)) in features.enumerate() {
            let Some(column) = columns.next() else { break };
            let end = at + field.width();
            let out_nw = x.slice_mut(s![.., at..end]);
            match &field.kind {
                Kind::Means(means) => {
                    let means = (&**means, self.training.as_ref(), k);
                    read.means((field, means), j, column, &mut self.said, out_nw)?;
                }
                _ => read.feature(field, j, column, &mut self.said, out_nw)?,
            }
            at = end;
        }
        for (k, &j) in self.places.targets.iter().enumerate() {
            let Some(column) = columns.next() else { break };
            let field = &self.schema.targets[k];
            read.target(field, j, column, &mut self.said, |i, value| {
                y[[i, k]] = value
            })?;
        }
        let mut weights = None;
        if let (Some(j), Some(column)) = (self.places.weight, columns.next()) {
            let mut found = Array1::zeros(rows);
            let by = self.schema.weight_reading.as_ref();
            cell::for_each_cell(column, read.rule, |i, cell| {
                found[i] = weight::read_weight(cell, by).map_err(|says| read.fault(i, j, says))?;
                Ok::<_, Error>(())
            })?;
            weights = Some(found);
        }
        Ok(Chunk {
            x: Rows::F64(x),
            y,
            weights,
        })
    }
}

/// A batch in its table.
struct Reading<'a> {
    table: &'a dyn Table,
    /// Marks of plain numbers, of which somebody said that they have them.
    marks: (Option<char>, Option<char>),
    rule: MissingRule<'a>,
    first: u64,
}

impl Reading<'_> {
    fn fault(&self, i: usize, j: usize, says: &str) -> Error {
        self.table.fault(self.first + i as u64, j, says)
    }

    fn warn(&self, (i, j): (usize, usize), said: &mut bool, says: &str) {
        if !std::mem::replace(said, true) {
            let place = self.table.place(self.first + i as u64, j);
            log::warn!("{}, {place}: {says}", self.table.path().display());
        }
    }

    /// The finite number of a cell of a feature or of a target, if it is one.
    fn number(
        &self,
        (i, j): (usize, usize),
        (cell, field, is_feature): (Cell<'_>, &Field, bool),
        said: &mut bool,
    ) -> Result<f64> {
        let reading = field.reading.as_ref();
        let whole =
            reading.filter(|r| matches!(r, Written::Amount(_) | Written::Time | Written::Clock));
        if let (Cell::Text(text), Some(reading)) = (cell, whole) {
            let other = || later::amount(reading.amount()?, text);
            return reading.value(text).or_else(other).ok_or_else(|| {
                let says = format!("{} is none of {reading}, as in the fit", short(text));
                let error = self.fault(i, j, &says).help(Remedy::words(WRITE_SO));
                later::advised(error, reading, text)
            });
        }
        let written: String;
        let cell = match (cell, field.marks()) {
            (Cell::Text(text), Some(marks)) => {
                let Some(plain) = later::plain(marks, text) else {
                    let says = format!("{} is no number as in {marks}, as in the fit", short(text));
                    let error = self.fault(i, j, &says).help(Remedy::words(WRITE_SO));
                    return Err(later::advised(error, &Written::Number(marks), text));
                };
                written = plain;
                Cell::Text(&written)
            }
            (cell, _) => cell,
        };
        let says = match cell {
            Cell::Number(value) if value.is_finite() => return Ok(value),
            Cell::Number(_) => {
                return Err(cell::infinite(self.fault(i, j, "is infinite"), is_feature));
            }
            Cell::Boolean(value) => return Ok(f64::from(u8::from(value))),
            Cell::Missing(text) => {
                let error = self.fault(i, j, &cell::missing(text));
                return Err(cell::refused(error, is_feature));
            }
            Cell::Date(_) => "is a date, and was a number in the fit; write it as one",
            Cell::Text(text) => match number(text.as_bytes()) {
                Ok((value, exact)) => {
                    if !exact {
                        self.warn((i, j), said, ROUNDED);
                    }
                    return Ok(value);
                }
                Err(wrong) => {
                    let fault = || wrong.error(is_feature, |says| self.fault(i, j, says));
                    let found = later::among_plain(text, self.marks);
                    return found.ok_or_else(fault);
                }
            },
        };
        Err(self.fault(i, j, says))
    }

    /// Writes what becomes of a feature into its columns, which are all 0.
    fn feature(
        &self,
        field: &Field,
        j: usize,
        column: &Column,
        said: &mut [bool; 4],
        mut out_nw: ArrayViewMut2<'_, f64>,
    ) -> Result<()> {
        if matches!(field.kind, Kind::Id | Kind::Copy(_)) {
            return Ok(());
        }
        let [unknown, _, rounded, filled] = said;
        cell::for_each_cell(column, self.rule, |i, cell| {
            if let Some(text) = self.missing(cell, field) {
                return self.fill((i, j), (text, field), filled, out_nw.row_mut(i));
            }
            let (at, value) = match &field.kind {
                Kind::Number => (0, self.number((i, j), (cell, field, true), rounded)?),
                Kind::Date(parts) => {
                    let days = self.date((i, j), (cell, field))?;
                    let parts = parts.columns(days).enumerate();
                    parts.for_each(|(k, value)| out_nw[[i, 1 + k]] = value);
                    (0, days)
                }
                Kind::Boolean => (0, self.boolean((i, j), cell)?),
                Kind::Categories(_) => match text_of(cell, |text| field.place_of(text)) {
                    Some(at) => (at, 1.0),
                    None => {
                        text_of(cell, |text| {
                            self.warn((i, j), unknown, &format!("{} {UNKNOWN}", short(text)));
                        });
                        return Ok(());
                    }
                },
                Kind::Hashed(count) => text_of(cell, |text| place_of(text, *count)),
                Kind::Words(words) => {
                    text_of(cell, |text| {
                        words.put(text, out_nw.slice_mut(s![i, ..words.width()]))
                    });
                    return Ok(());
                }
                Kind::Means(_) | Kind::Empty | Kind::Id | Kind::Copy(_) => return Ok(()),
            };
            out_nw[[i, at]] = value;
            Ok(())
        })
    }

    /// Writes what texts become by means of the target.
    fn means(
        &self,
        (field, (means, training, k)): (&Field, (&TargetMeans, Option<&OutOfFold>, usize)),
        j: usize,
        column: &Column,
        said: &mut [bool; 4],
        mut out_nw: ArrayViewMut2<'_, f64>,
    ) -> Result<()> {
        let [unknown, _, _, filled] = said;
        cell::for_each_cell(column, self.rule, |i, cell| {
            if let Cell::Missing(text) = cell {
                return self.fill((i, j), (text, field), filled, out_nw.row_mut(i));
            }
            let row = self.first + i as u64;
            text_of(cell, |text| {
                match means::effects_in((means, training), (row, k), text) {
                    Some(effects) => {
                        for (at, &effect) in effects.iter().enumerate() {
                            out_nw[[i, at]] = effect;
                        }
                    }
                    None => {
                        self.warn((i, j), unknown, &format!("{} {UNSEEN}", short(text)));
                    }
                }
            });
            Ok(())
        })
    }

    fn date(&self, (i, j): (usize, usize), (cell, field): (Cell<'_>, &Field)) -> Result<f64> {
        let format = field.date_format();
        let found = match (cell, format) {
            (Cell::Number(value) | Cell::Date(value), _) => Some(value).filter(|v| v.is_finite()),
            (Cell::Text(text), Some(format)) => format.days(text).or_else(|| date::days(text)),
            (Cell::Text(text), None) => date::days(text),
            _ => None,
        };
        found.ok_or_else(|| {
            let how = format.map_or_else(|| "2024-12-31".into(), ToString::to_string);
            let says = format!("is no date, as it was in the fit; write it as {how}");
            self.fault(i, j, &says)
        })
    }

    fn boolean(&self, (i, j): (usize, usize), cell: Cell<'_>) -> Result<f64> {
        let found = match cell {
            Cell::Boolean(value) => Some(value),
            Cell::Text(text) => cell::boolean(text),
            _ => None,
        };
        let found = found.ok_or_else(|| {
            let says = "is neither true nor false, as it was in the fit; write one of them";
            self.fault(i, j, says)
        })?;
        Ok(f64::from(u8::from(found)))
    }

    /// Hands over what becomes of a target.
    fn target(
        &self,
        field: &Field,
        j: usize,
        column: &Column,
        said: &mut [bool; 4],
        mut put: impl FnMut(usize, f64),
    ) -> Result<()> {
        let [_, unknown, ..] = said;
        cell::for_each_cell(column, self.rule, |i, cell| {
            if let Some(text) = self.missing(cell, field) {
                let error = self.fault(i, j, &cell::missing(text));
                return Err(cell::refused(error, false));
            }
            let value = match &field.kind {
                Kind::Categories(all) => {
                    let none = || {
                        text_of(cell, |text| {
                            let says = "is none of the classes of the model";
                            self.warn((i, j), unknown, &format!("{} {says}", short(text)));
                        });
                        all.len()
                    };
                    text_of(cell, |text| field.place_of(text)).unwrap_or_else(none) as f64
                }
                Kind::Date(_) => self.date((i, j), (cell, field))?,
                _ => self.exact((i, j), (cell, field))?,
            };
            put(i, value);
            Ok(())
        })
    }

    /// A number that f64 holds: labels that it rounds would be told apart no more.
    fn exact(&self, at: (usize, usize), (cell, field): (Cell<'_>, &Field)) -> Result<f64> {
        let mut rounded = true;
        let value = self.number(at, (cell, field, false), &mut rounded)?;
        if let (Cell::Text(text), None) = (cell, field.marks())
            && number(text.as_bytes()).is_ok_and(|(_, exact)| !exact)
        {
            return Err(self.fault(at.0, at.1, BEYOND));
        }
        Ok(value)
    }
}
