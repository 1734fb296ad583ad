//! Arrow's arrays as columns of a table.

use crate::data::files::table::{Column, Texts};
use arrow_array::{
    Array, ArrowPrimitiveType, PrimitiveArray,
    cast::AsArray,
    types::{
        Date32Type, Date64Type, Decimal32Type, Decimal64Type, Decimal128Type, Decimal256Type,
        DecimalType, DurationMicrosecondType, DurationMillisecondType, DurationNanosecondType,
        DurationSecondType, Float16Type, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type,
        Int64Type, Time32MillisecondType, Time32SecondType, Time64MicrosecondType,
        Time64NanosecondType, TimestampMicrosecondType, TimestampMillisecondType,
        TimestampNanosecondType, TimestampSecondType, UInt8Type, UInt16Type, UInt32Type,
        UInt64Type,
    },
};
use arrow_schema::{
    DataType,
    TimeUnit::{self, Microsecond, Millisecond, Nanosecond, Second},
};
use std::fmt::Display;

/// Why an array is no column: a row, and what is wrong with it.
type Failed = (usize, String);

/// The values of an array as a column.
///
/// Whole numbers are numbers while f64 holds all of them, and else text, so that whoever asks for
/// their last digits finds them.
pub(super) fn column(array: &dyn Array) -> Result<Column, Failed> {
    use DataType::*;
    Ok(match array.data_type() {
        Null => Column::Numbers(vec![f64::NAN; array.len()]),
        Boolean => Column::Booleans(array.as_boolean().iter().collect()),
        Int8 => numbers::<Int8Type>(array, f64::from),
        Int16 => numbers::<Int16Type>(array, f64::from),
        Int32 => numbers::<Int32Type>(array, f64::from),
        UInt8 => numbers::<UInt8Type>(array, f64::from),
        UInt16 => numbers::<UInt16Type>(array, f64::from),
        UInt32 => numbers::<UInt32Type>(array, f64::from),
        Int64 => whole::<Int64Type>(array, |v| (v as f64, v.unsigned_abs())),
        UInt64 => whole::<UInt64Type>(array, |v| (v as f64, v)),
        Float16 => numbers::<Float16Type>(array, |v| v.to_f64()),
        Float32 => numbers::<Float32Type>(array, f64::from),
        Float64 => numbers::<Float64Type>(array, |v| v),
        Decimal32(..) => decimals::<Decimal32Type>(array)?,
        Decimal64(..) => decimals::<Decimal64Type>(array)?,
        Decimal128(..) => decimals::<Decimal128Type>(array)?,
        Decimal256(..) => decimals::<Decimal256Type>(array)?,
        Date32 => dates::<Date32Type>(array, f64::from),
        Date64 => dates::<Date64Type>(array, |v| days(v, Millisecond)),
        Timestamp(Second, _) => dates::<TimestampSecondType>(array, |v| days(v, Second)),
        Timestamp(Millisecond, _) => {
            dates::<TimestampMillisecondType>(array, |v| days(v, Millisecond))
        }
        Timestamp(Microsecond, _) => {
            dates::<TimestampMicrosecondType>(array, |v| days(v, Microsecond))
        }
        Timestamp(Nanosecond, _) => {
            dates::<TimestampNanosecondType>(array, |v| days(v, Nanosecond))
        }
        Time32(Second) => numbers::<Time32SecondType>(array, |v| days(v.into(), Second)),
        Time32(_) => numbers::<Time32MillisecondType>(array, |v| days(v.into(), Millisecond)),
        Time64(Microsecond) => numbers::<Time64MicrosecondType>(array, |v| days(v, Microsecond)),
        Time64(_) => numbers::<Time64NanosecondType>(array, |v| days(v, Nanosecond)),
        Duration(Second) => numbers::<DurationSecondType>(array, |v| days(v, Second)),
        Duration(Millisecond) => {
            numbers::<DurationMillisecondType>(array, |v| days(v, Millisecond))
        }
        Duration(Microsecond) => {
            numbers::<DurationMicrosecondType>(array, |v| days(v, Microsecond))
        }
        Duration(Nanosecond) => numbers::<DurationNanosecondType>(array, |v| days(v, Nanosecond)),
        Utf8 => texts(array, array.as_string::<i32>().iter()),
        LargeUtf8 => texts(array, array.as_string::<i64>().iter()),
        Utf8View => texts(array, array.as_string_view().iter()),
        Dictionary(..) => dictionary(array)?,
        other => {
            return Err((
                0,
                format!("has values of the type {other}, which is not read"),
            ));
        }
    })
}

/// The values of lists, one column for each place in them; a list that is missing misses each.
pub(super) fn elements(array: &dyn Array, width: usize) -> Result<Vec<Column>, Failed> {
    let (values, places) = match array.data_type() {
        DataType::FixedSizeList(..) => {
            let lists = array.as_fixed_size_list();
            // Values of a slice are those of its rows alone.
            let length = lists.value_length() as usize;
            let places = (0..array.len()).map(|i| (i * length, length));
            (lists.values(), places.collect::<Vec<_>>())
        }
        DataType::LargeList(_) => {
            let lists = array.as_list::<i64>();
            let offsets = lists.offsets().windows(2);
            let place = |pair: &[i64]| (pair[0] as usize, (pair[1] - pair[0]) as usize);
            (lists.values(), offsets.map(place).collect())
        }
        _ => {
            let lists = array.as_list::<i32>();
            let offsets = lists.offsets().windows(2);
            let place = |pair: &[i32]| (pair[0] as usize, (pair[1] - pair[0]) as usize);
            (lists.values(), offsets.map(place).collect())
        }
    };
    let mut starts = Vec::with_capacity(array.len());
    for (i, (from, length)) in places.into_iter().enumerate() {
        if array.is_null(i) {
            starts.push(None);
        } else if length == width {
            starts.push(Some(from));
        } else {
            let says = format!(
                "is a list of {length} values, and the first that is not empty has {width}; lists \
                 of one length become columns"
            );
            return Err((i, says));
        }
    }
    // What the rows hold, and not what lies before and behind them.
    let first = starts.iter().flatten().min().copied().unwrap_or(0);
    let end = starts
        .iter()
        .flatten()
        .max()
        .map_or(first, |&last| last + width);
    let all = column(values.slice(first, end - first).as_ref())?;
    let places = |k: usize| {
        let places = starts
            .iter()
            .map(|start| start.map(|start| start - first + k));
        places.collect::<Vec<_>>()
    };
    Ok((0..width).map(|k| gathered(&all, &places(k))).collect())
}

/// `more` below `column`, of the same field.
pub(super) fn joined(columns: Vec<Column>, more: Vec<Column>) -> Vec<Column> {
    let pairs = columns.into_iter().zip(more);
    pairs
        .map(|pair| match pair {
            (Column::Numbers(mut a), Column::Numbers(b)) => {
                a.extend(b);
                Column::Numbers(a)
            }
            (Column::Dates(mut a), Column::Dates(b)) => {
                a.extend(b);
                Column::Dates(a)
            }
            (Column::Booleans(mut a), Column::Booleans(b)) => {
                a.extend(b);
                Column::Booleans(a)
            }
            // Whole numbers that f64 does not hold came in one of them.
            (a, b) => {
                let mut all = Texts::default();
                push_all(&mut all, &a);
                push_all(&mut all, &b);
                Column::Text(all)
            }
        })
        .collect()
}

/// Adds each value as text.
fn push_all(texts: &mut Texts, column: &Column) {
    let mut push = |text: Option<&dyn Display>| match text {
        Some(text) => texts.push(&text.to_string()),
        None => texts.push_missing(),
    };
    match column {
        Column::Numbers(values) | Column::Dates(values) => values
            .iter()
            .for_each(|v| push((!v.is_nan()).then_some(v as &dyn Display))),
        Column::Booleans(values) => values
            .iter()
            .for_each(|v| push(v.as_ref().map(|v| v as &dyn Display))),
        Column::Text(all) => {
            all.iter().for_each(|text| match text {
                Some(text) => texts.push(text),
                None => texts.push_missing(),
            });
        }
    }
}

/// The values at these places, of which some are missing.
fn gathered(column: &Column, places: &[Option<usize>]) -> Column {
    let number = |values: &[f64]| {
        let at = |place: &Option<usize>| place.map_or(f64::NAN, |i| values[i]);
        places.iter().map(at).collect()
    };
    match column {
        Column::Numbers(values) => Column::Numbers(number(values)),
        Column::Dates(values) => Column::Dates(number(values)),
        Column::Booleans(values) => Column::Booleans(
            places
                .iter()
                .map(|place| place.and_then(|i| values[i]))
                .collect(),
        ),
        Column::Text(texts) => {
            let all: Vec<_> = texts.iter().collect();
            let mut found = Texts::default();
            for place in places {
                match place.and_then(|i| all[i]) {
                    Some(text) => found.push(text),
                    None => found.push_missing(),
                }
            }
            Column::Text(found)
        }
    }
}

/// What the codes of a dictionary stand for.
fn dictionary(array: &dyn Array) -> Result<Column, Failed> {
    let codes = array.as_any_dictionary();
    let values = codes.values();
    let keys = if values.is_empty() {
        vec![0; array.len()]
    } else {
        codes.normalized_keys()
    };
    let place = |i: usize| {
        let there = !values.is_empty() && codes.keys().is_valid(i);
        there.then_some(keys[i])
    };
    // Text is looked up; all of a large dictionary is not copied for some rows.
    let found = (0..array.len()).map(|i| place(i).filter(|&k| values.is_valid(k)));
    Ok(match values.data_type() {
        DataType::Utf8 => {
            let values = values.as_string::<i32>();
            texts(array, found.map(|k| k.map(|k| values.value(k))))
        }
        DataType::LargeUtf8 => {
            let values = values.as_string::<i64>();
            texts(array, found.map(|k| k.map(|k| values.value(k))))
        }
        DataType::Utf8View => {
            let values = values.as_string_view();
            texts(array, found.map(|k| k.map(|k| values.value(k))))
        }
        _ => {
            let places: Vec<_> = (0..array.len()).map(place).collect();
            gathered(&column(values.as_ref())?, &places)
        }
    })
}

fn texts<'a>(array: &dyn Array, all: impl Iterator<Item = Option<&'a str>>) -> Column {
    debug_assert!(all.size_hint().0 <= array.len());
    let mut texts = Texts::default();
    for text in all {
        match text {
            Some(text) => texts.push(text.trim()),
            None => texts.push_missing(),
        }
    }
    Column::Text(texts)
}

fn values<T: ArrowPrimitiveType>(array: &dyn Array, value: impl Fn(T::Native) -> f64) -> Vec<f64> {
    let array: &PrimitiveArray<T> = array.as_primitive();
    match array.null_count() {
        0 => array.values().iter().map(|&v| value(v)).collect(),
        _ => array.iter().map(|v| v.map_or(f64::NAN, &value)).collect(),
    }
}

fn numbers<T: ArrowPrimitiveType>(array: &dyn Array, value: impl Fn(T::Native) -> f64) -> Column {
    Column::Numbers(values::<T>(array, value))
}

fn dates<T: ArrowPrimitiveType>(array: &dyn Array, value: impl Fn(T::Native) -> f64) -> Column {
    Column::Dates(values::<T>(array, value))
}

/// Whole numbers, of which `parts` are the f64 next to one and its magnitude.
fn whole<T>(array: &dyn Array, parts: impl Fn(T::Native) -> (f64, u64)) -> Column
where
    T: ArrowPrimitiveType,
    T::Native: Display,
{
    let whole: &PrimitiveArray<T> = array.as_primitive();
    let is_held = |v: T::Native| {
        let (value, magnitude) = parts(v);
        // What f64 holds of 64 bits is less than 2^128.
        value.abs() as u128 == u128::from(magnitude)
    };
    if whole.iter().flatten().all(is_held) {
        return numbers::<T>(array, |v| parts(v).0);
    }
    let mut texts = Texts::default();
    for value in whole.iter() {
        match value {
            Some(value) => texts.push(&value.to_string()),
            None => texts.push_missing(),
        }
    }
    Column::Text(texts)
}

/// Numbers of so many decimals, each rounded once.
fn decimals<T: DecimalType>(array: &dyn Array) -> Result<Column, Failed> {
    let decimals: &PrimitiveArray<T> = array.as_primitive();
    let mut values = Vec::with_capacity(decimals.len());
    for i in 0..decimals.len() {
        values.push(if decimals.is_null(i) {
            f64::NAN
        } else {
            let text = decimals.value_as_string(i);
            text.parse()
                .map_err(|_| (i, format!("is {text}, which is no number")))?
        });
    }
    Ok(Column::Numbers(values))
}

/// Days of so many units; whole days and the rest apart, as those of text are.
fn days(value: i64, unit: TimeUnit) -> f64 {
    let second = match unit {
        Second => 1,
        Millisecond => 1_000,
        Microsecond => 1_000_000,
        Nanosecond => 1_000_000_000,
    };
    let day = 86_400 * second;
    let seconds = value.rem_euclid(day) as f64 / second as f64;
    value.div_euclid(day) as f64 + seconds / 86_400.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_days() {
        for (value, unit, expected) in [
            (0, Second, 0.0),
            (86_400, Second, 1.0),
            (-43_200_000, Millisecond, -0.5),
            (
                1_709_214_301_500_000,
                Microsecond,
                19_782.0 + 49_501.5 / 86_400.0,
            ),
            (i64::MIN, Nanosecond, -106_751.991_167_300_64),
        ] {
            let found = days(value, unit);
            assert!(
                (found - expected).abs() < 1e-10,
                "{value} {unit:?}: {found}"
            );
        }
    }
}
