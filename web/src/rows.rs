//! Rows between a page's arrays and the library's.

use crate::errors::wrong;
use bochner::data::Rows;
use js_sys::{Array, Float32Array, Float64Array};
use ndarray::Array2;
use wasm_bindgen::{JsCast, JsValue};

/// Numbers that lie row after row, of so many columns each. Errors on part of a row, and on what is
/// no finite number.
pub(crate) fn rows(numbers: &JsValue, columns: usize) -> Result<Rows, JsValue> {
    if let Some(array) = numbers.dyn_ref::<Float32Array>() {
        let values = array.to_vec();
        check(values.iter().map(|&v| v.into()), columns)?;
        return Ok(shaped(values, columns)?.into());
    }
    let values = floats(numbers)?;
    check(values.iter().copied(), columns)?;
    Ok(shaped(values, columns)?.into())
}

/// The numbers of a typed array or an array.
pub(crate) fn floats(numbers: &JsValue) -> Result<Vec<f64>, JsValue> {
    if let Some(array) = numbers.dyn_ref::<Float64Array>() {
        return Ok(array.to_vec());
    }
    if let Some(array) = numbers.dyn_ref::<Float32Array>() {
        return Ok(array.to_vec().into_iter().map(f64::from).collect());
    }
    let no = || wrong("rows are no array of numbers; give a Float64Array or a Float32Array");
    let array = numbers.dyn_ref::<Array>().ok_or_else(no)?;
    array
        .iter()
        .map(|value| value.as_f64().ok_or_else(no))
        .collect()
}

fn check(values: impl Iterator<Item = f64>, columns: usize) -> Result<(), JsValue> {
    for (at, value) in values.enumerate() {
        if !value.is_finite() {
            let what = if value.is_nan() { "NaN" } else { "infinite" };
            let (row, column) = (at / columns.max(1), at % columns.max(1));
            return Err(wrong(&format!(
                "X: row {row}, column {column} is {what}; give finite numbers"
            )));
        }
    }
    Ok(())
}

fn shaped<T>(values: Vec<T>, columns: usize) -> Result<Array2<T>, JsValue> {
    let len = values.len();
    if columns == 0 || !len.is_multiple_of(columns) {
        return Err(wrong(&format!(
            "{len} numbers are no rows of {columns} columns; give whole rows"
        )));
    }
    Array2::from_shape_vec((len / columns, columns), values).map_err(|e| wrong(&e.to_string()))
}
