//! Errors as a page has them.

use bochner::Error;
use wasm_bindgen::JsValue;

/// JavaScript's error of one line.
pub(crate) fn thrown(error: &Error) -> JsValue {
    let name = match error {
        Error::DeviceLost { .. } => "DeviceLostError",
        _ => "BochnerError",
    };
    named(name, &error.to_string())
}

/// What a page itself got wrong.
pub(crate) fn wrong(text: &str) -> JsValue {
    named("BochnerError", text)
}

fn named(name: &str, text: &str) -> JsValue {
    let error = js_sys::Error::new(text);
    error.set_name(name);
    error.into()
}
