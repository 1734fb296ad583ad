//! What an options object says.

use crate::errors::wrong;
use js_sys::Reflect;
use wasm_bindgen::JsValue;

/// The value of one option; `None` where it is not given.
fn given(options: &JsValue, name: &str) -> Option<JsValue> {
    let value = Reflect::get(options, &name.into()).ok()?;
    (!value.is_undefined() && !value.is_null()).then_some(value)
}

/// A number.
pub(crate) fn number(options: &JsValue, name: &str) -> Result<Option<f64>, JsValue> {
    let Some(value) = given(options, name) else {
        return Ok(None);
    };
    match value.as_f64().filter(|number| number.is_finite()) {
        Some(number) => Ok(Some(number)),
        None => Err(wrong(&format!("{name} is no number; give one"))),
    }
}

/// A whole number from `least` on.
pub(crate) fn count(options: &JsValue, name: &str, least: u32) -> Result<Option<u32>, JsValue> {
    match number(options, name)? {
        None => Ok(None),
        Some(n) if n.fract() == 0.0 && n >= least.into() && n <= u32::MAX.into() => {
            Ok(Some(n as u32))
        }
        Some(n) => Err(wrong(&format!(
            "{name} is {n}; give a whole number from {least} on"
        ))),
    }
}

/// Yes or no.
pub(crate) fn truth(options: &JsValue, name: &str) -> Result<Option<bool>, JsValue> {
    match given(options, name) {
        None => Ok(None),
        Some(value) => match value.as_bool() {
            Some(truth) => Ok(Some(truth)),
            None => Err(wrong(&format!("{name} is neither true nor false"))),
        },
    }
}

/// Text.
pub(crate) fn text(options: &JsValue, name: &str) -> Result<Option<String>, JsValue> {
    match given(options, name) {
        None => Ok(None),
        Some(value) => match value.as_string() {
            Some(text) => Ok(Some(text)),
            None => Err(wrong(&format!("{name} is no text"))),
        },
    }
}
