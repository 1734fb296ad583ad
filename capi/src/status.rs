//! What a call says when it fails: a code, and a text that the thread keeps.

use bochner::{Error, Result};
use std::{
    cell::RefCell,
    ffi::{CString, c_char},
    panic::{AssertUnwindSafe, catch_unwind},
};

/// What became of a call.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Status {
    /// It did what it was asked to.
    Ok = 0,
    /// An argument is NULL, or outside its domain.
    Argument = 1,
    /// Rows, columns or the room for results do not have the shape that is needed.
    Shape = 2,
    /// The model cannot do this.
    Unsupported = 3,
    /// Something that is needed is not there.
    Missing = 4,
    /// The bytes are no model: truncated, foreign, damaged, or of a later version.
    Format = 5,
    /// A file could not be read.
    Io = 6,
    /// There is no such device, or it failed.
    Device = 7,
    /// The host or the device has no room.
    Memory = 8,
    /// Values that are not finite, in or out.
    Numerical = 9,
    /// A fault of this library.
    Internal = 10,
}

thread_local! {
    static LAST: RefCell<CString> = RefCell::default();
}

/// What C is told of `work`, whose error stays with the thread.
pub(crate) fn status_of(work: impl FnOnce() -> Result<()>) -> Status {
    match catch_unwind(AssertUnwindSafe(work)) {
        Ok(Ok(())) => Status::Ok,
        Ok(Err(error)) => {
            keep(&error.to_string());
            code(&error)
        }
        Err(panic) => {
            let text = panic.downcast_ref::<String>().map(String::as_str);
            let text = text.or_else(|| panic.downcast_ref::<&str>().copied());
            keep(&format!("internal: {}", text.unwrap_or("a panic")));
            Status::Internal
        }
    }
}

/// The text of the last error of this thread.
pub(crate) fn last_text() -> *const c_char {
    LAST.with_borrow(|text| text.as_ptr())
}

fn keep(text: &str) {
    let text = c_text(text);
    // A thread that is ending has nobody to read it.
    let _ = LAST.try_with(|last| last.replace(text));
}

/// A text without zero bytes.
pub(crate) fn c_text(text: &str) -> CString {
    CString::new(text.replace('\0', "\u{fffd}")).unwrap_or_default()
}

fn code(error: &Error) -> Status {
    match error {
        Error::Shape(_) => Status::Shape,
        Error::Parameter(_) => Status::Argument,
        Error::Unsupported(_) => Status::Unsupported,
        Error::Missing(_) => Status::Missing,
        Error::Format(_) | Error::Model { .. } => Status::Format,
        Error::Io { .. } => Status::Io,
        Error::Device(_) | Error::Shader(_) | Error::DeviceLost { .. } => Status::Device,
        Error::Limit { .. } | Error::HostMemory { .. } | Error::OutOfMemory { .. } => {
            Status::Memory
        }
        Error::Data { .. } | Error::Numerical(_) => Status::Numerical,
        // One that this library does not know yet.
        _ => Status::Internal,
    }
}
