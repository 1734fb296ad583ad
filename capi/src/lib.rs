//! The C library: load a model, predict rows, hear what went wrong. `include/bochner.h` is made of
//! this file by `cargo xtask header`; `docs/c.md` has an example.
//!
//! Every function that can fail returns a [`Status`] and leaves its text with the thread that
//! called. A panic of the library becomes [`Status::Internal`].

#![expect(unsafe_code, reason = "what C hands over are pointers")]

mod model;
mod status;

pub use model::Model;
pub use status::Status;

use bochner::{Error, Result};
use ndarray::{Array2, ArrayView2};
use std::{
    ffi::{CStr, c_char},
    path::Path,
    ptr, slice,
};

/// Reads a model from a file and loads it on a device: "cpu", "gpu", "auto" (a GPU if there is one
/// that is no software renderer, else the CPU; also what NULL means), or part of an adapter's name.
/// On success `*model` is to be freed by `bochner_model_free`; else it is NULL.
///
/// # Safety
/// `path` and `device` are NULL or end in a zero byte; `model` is NULL or can be written to.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bochner_model_load(
    path: *const c_char,
    device: *const c_char,
    model: *mut *mut Model,
) -> Status {
    // SAFETY: the caller's promise is this function's own.
    status::status_of(|| unsafe {
        hand_over(model, || {
            let path = text(path, "path")?
                .ok_or_else(|| Error::parameter("path is NULL; give that of a model file"))?;
            Model::load(Path::new(path), text(device, "device")?)
        })
    })
}

/// As `bochner_model_load`, of a model file's `length` bytes in memory, which may be freed after
/// the call.
///
/// # Safety
/// `bytes` is NULL or points to `length` bytes; `device` and `model` as for `bochner_model_load`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bochner_model_from_bytes(
    bytes: *const u8,
    length: usize,
    device: *const c_char,
    model: *mut *mut Model,
) -> Status {
    // SAFETY: the caller's promise is this function's own.
    status::status_of(|| unsafe {
        hand_over(model, || {
            let bytes = values(bytes, length, "bytes")?;
            Model::from_bytes(bytes, text(device, "device")?)
        })
    })
}

/// Frees a model, which no other thread may be using. NULL is nothing to free.
///
/// # Safety
/// `model` is NULL, or of `bochner_model_load` or `bochner_model_from_bytes` and not yet freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bochner_model_free(model: *mut Model) {
    if !model.is_null() {
        // SAFETY: it came from a box, and nobody else has it.
        let model = unsafe { Box::from_raw(model) };
        status::status_of(|| {
            drop(model);
            Ok(())
        });
    }
}

/// Columns of a row that the model takes; 0 if `model` is NULL.
///
/// # Safety
/// `model` is NULL or a model that is not yet freed, as for all functions below.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bochner_model_columns(model: *const Model) -> usize {
    // SAFETY: as promised.
    unsafe { model.as_ref() }.map_or(0, Model::columns)
}

/// Numbers that `bochner_predict` writes for a row: 1 for a classifier, else one for each target.
///
/// # Safety
/// As for `bochner_model_columns`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bochner_model_predictions(model: *const Model) -> usize {
    // SAFETY: as promised.
    unsafe { model.as_ref() }.map_or(0, Model::predictions)
}

/// Numbers that `bochner_scores` writes for a row: one for each class or target.
///
/// # Safety
/// As for `bochner_model_columns`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bochner_model_outputs(model: *const Model) -> usize {
    // SAFETY: as promised.
    unsafe { model.as_ref() }.map_or(0, Model::outputs)
}

/// Classes of a classifier; 0 for other models.
///
/// # Safety
/// As for `bochner_model_columns`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bochner_model_classes(model: *const Model) -> usize {
    // SAFETY: as promised.
    unsafe { model.as_ref() }.map_or(0, |model| model.classes().len())
}

/// What `bochner_predict` writes for the class whose scores and probabilities stand at `index` in a
/// row; NaN where there is none.
///
/// # Safety
/// As for `bochner_model_columns`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bochner_model_class(model: *const Model, index: usize) -> f64 {
    // SAFETY: as promised.
    let model = unsafe { model.as_ref() };
    model
        .and_then(|model| model.classes().get(index).copied())
        .unwrap_or(f64::NAN)
}

/// The text that a prediction stands for, where the labels of a classifier are text; NULL where
/// they are the numbers themselves. It lives as long as the model.
///
/// # Safety
/// As for `bochner_model_columns`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bochner_model_label(
    model: *const Model,
    prediction: f64,
) -> *const c_char {
    // SAFETY: as promised.
    let model = unsafe { model.as_ref() };
    let label = model.and_then(|model| model.label(prediction));
    label.map_or(ptr::null(), CStr::as_ptr)
}

/// Predicts `rows` rows of `columns` numbers each, one row after the other in `x`, and writes
/// `rows` times `bochner_model_predictions` numbers to `out`, which has room for `length`: values,
/// or for a classifier the number of the class. Any number of threads may predict by one model at
/// once.
///
/// # Safety
/// `x` points to `rows` times `columns` floats, `out` to `length` doubles that nobody else uses
/// meanwhile, and `model` is as for `bochner_model_columns`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bochner_predict(
    model: *const Model,
    x: *const f32,
    rows: usize,
    columns: usize,
    out: *mut f64,
    length: usize,
) -> Status {
    // SAFETY: the caller's promise is this function's own.
    status::status_of(|| unsafe {
        let model = some(model)?;
        write(model.predictions(), rows, (out, length), || {
            model.predict(matrix(x, rows, columns)?)
        })
    })
}

/// As `bochner_predict`, with the raw scores of all classes, or the values of all targets before
/// what the model makes of them: `bochner_model_outputs` numbers a row.
///
/// # Safety
/// As for `bochner_predict`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bochner_scores(
    model: *const Model,
    x: *const f32,
    rows: usize,
    columns: usize,
    out: *mut f64,
    length: usize,
) -> Status {
    // SAFETY: the caller's promise is this function's own.
    status::status_of(|| unsafe {
        let model = some(model)?;
        write(model.outputs(), rows, (out, length), || {
            model.scores(matrix(x, rows, columns)?)
        })
    })
}

/// As `bochner_predict`, with the probabilities of all classes: `bochner_model_classes` numbers a
/// row, of sum 1. Fails with `BOCHNER_STATUS_UNSUPPORTED` or `BOCHNER_STATUS_MISSING` if the model
/// was fitted without.
///
/// # Safety
/// As for `bochner_predict`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bochner_probabilities(
    model: *const Model,
    x: *const f32,
    rows: usize,
    columns: usize,
    out: *mut f64,
    length: usize,
) -> Status {
    // SAFETY: the caller's promise is this function's own.
    status::status_of(|| unsafe {
        let model = some(model)?;
        write(model.classes().len(), rows, (out, length), || {
            model.probabilities(matrix(x, rows, columns)?)
        })
    })
}

/// What went wrong in the last call of this thread that failed, in one line of UTF-8; empty if none
/// did. It lives until the thread's next call that fails.
#[unsafe(no_mangle)]
pub extern "C" fn bochner_last_error() -> *const c_char {
    status::last_text()
}

/// The version of this library, such as "0.1.0".
#[unsafe(no_mangle)]
pub extern "C" fn bochner_version() -> *const c_char {
    concat!(env!("CARGO_PKG_VERSION"), "\0").as_ptr().cast()
}

/// Puts a model in a box for C.
unsafe fn hand_over(to: *mut *mut Model, make: impl FnOnce() -> Result<Model>) -> Result<()> {
    if to.is_null() {
        return Err(Error::parameter("model is NULL; give where it is to go"));
    }
    // SAFETY: the caller says that it can be written to.
    unsafe { to.write(ptr::null_mut()) };
    let model = Box::into_raw(Box::new(make()?));
    // SAFETY: as above.
    unsafe { to.write(model) };
    Ok(())
}

/// A text, if there is one. Errs unless it is UTF-8.
unsafe fn text<'a>(text: *const c_char, name: &str) -> Result<Option<&'a str>> {
    if text.is_null() {
        return Ok(None);
    }
    // SAFETY: the caller says that it ends in a zero byte.
    let text = unsafe { CStr::from_ptr(text) }.to_str();
    let problem = |_| Error::parameter(format!("{name} is not UTF-8"));
    text.map(Some).map_err(problem)
}

unsafe fn some<'a>(model: *const Model) -> Result<&'a Model> {
    // SAFETY: the caller says that it is there or NULL.
    let model = unsafe { model.as_ref() };
    model.ok_or_else(|| Error::parameter("model is NULL; load one"))
}

/// `length` values. Errs on NULL unless there are none.
unsafe fn values<'a, T>(at: *const T, length: usize, name: &str) -> Result<&'a [T]> {
    if length == 0 {
        return Ok(&[]);
    }
    if at.is_null() {
        return Err(Error::parameter(format!("{name} is NULL")));
    }
    if !at.is_aligned() || length > isize::MAX as usize / size_of::<T>() {
        let problem = format!("{name} is not an array of {length} values");
        return Err(Error::parameter(problem));
    }
    // SAFETY: the caller says that so many are there.
    Ok(unsafe { slice::from_raw_parts(at, length) })
}

/// The rows at `x`.
unsafe fn matrix<'a>(x: *const f32, rows: usize, columns: usize) -> Result<ArrayView2<'a, f32>> {
    let shape = || Error::shape(format!("{rows} rows of {columns} columns are too many"));
    let length = rows.checked_mul(columns).ok_or_else(shape)?;
    // SAFETY: the caller says that so many are there.
    let values = unsafe { values(x, length, "x") }?;
    ArrayView2::from_shape((rows, columns), values).map_err(|_| shape())
}

/// Writes `width` numbers for each row.
unsafe fn write(
    width: usize,
    rows: usize,
    (out, length): (*mut f64, usize),
    compute: impl FnOnce() -> Result<Array2<f64>>,
) -> Result<()> {
    let needed = rows.checked_mul(width);
    if needed.is_none_or(|needed| needed > length) {
        return Err(Error::shape(format!(
            "out has room for {length} numbers, and {rows} rows take {width} each"
        )));
    }
    let computed = compute()?;
    // Another count would put numbers into the wrong rows.
    assert_eq!(computed.dim(), (rows, width), "rows and numbers of each");
    if computed.is_empty() {
        return Ok(());
    }
    if out.is_null() || !out.is_aligned() {
        return Err(Error::parameter("out is NULL or no array of doubles"));
    }
    for (i, value) in computed.iter().enumerate() {
        // SAFETY: `i` is below `rows * width`, which is at most `length`, and the caller has room
        // for that. C need not have written there before, so no reference is made.
        unsafe { out.add(i).write(*value) };
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What becomes of room for two numbers of each of two rows, and one beyond.
    fn written(computed: Array2<f64>) -> (Status, [f64; 5]) {
        let mut out = [42.0; 5];
        let to = (out.as_mut_ptr(), out.len());
        // SAFETY: there is room for five numbers.
        let status = status::status_of(|| unsafe { write(2, 2, to, || Ok(computed)) });
        (status, out)
    }

    #[test]
    fn numbers_of_another_count_are_a_fault() {
        let numbers = |columns: usize| Array2::from_elem((2, columns), 1.0);
        let (status, out) = written(numbers(2));
        assert!(matches!(status, Status::Ok));
        assert_eq!(out, [1.0, 1.0, 1.0, 1.0, 42.0]);
        for columns in [0, 1, 3] {
            let (status, out) = written(numbers(columns));
            assert!(matches!(status, Status::Internal), "{columns}");
            assert_eq!(out, [42.0; 5], "{columns}");
        }
    }
}
