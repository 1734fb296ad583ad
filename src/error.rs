//! The one error type of the library.

use std::path::{Path, PathBuf};

/// What went wrong, where, and what to do about it, in one line.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A matrix, row or vector does not have the shape that is needed.
    #[error("{0}")]
    Shape(String),
    /// A hyper-parameter is outside its domain.
    #[error("{0}")]
    Parameter(String),
    /// Two choices that cannot go together, with the reason.
    #[error("{0}")]
    Unsupported(String),
    /// No device of the kind asked for, or a device that failed.
    #[error("{0}")]
    Device(String),
    /// A shader that the driver of a device does not compile.
    #[error("{0}; a newer driver may, or use --device cpu")]
    Shader(String),
    /// A request beyond what a device can address.
    #[error("{what} needs {needed}; this device allows {allowed}; {remedy}")]
    Limit {
        /// What was asked for.
        what: String,
        /// How much it needs, with its unit.
        needed: String,
        /// How much there is, with its unit.
        allowed: String,
        /// What to do.
        remedy: String,
    },
    /// A device has no room for a buffer, even after what was kept for reuse is freed. Streams have then tried with a quarter
    /// of the rows; nothing is counted twice or left out.
    #[error(
        "the device is out of memory: {what} needs {needed}, beside {held} already in use by this program; use less --memory, fewer features, or --device cpu"
    )]
    OutOfMemory {
        /// What was asked for.
        what: String,
        /// How much it needs, with its unit.
        needed: String,
        /// How much this program holds on the device already, with its unit.
        held: String,
    },
    /// A device was lost (driver reset, unplugged). It stays so: open it again, or use another.
    #[error("the device was lost: {reason}{}; run again, or with --device cpu", kept(*rows_kept))]
    DeviceLost {
        /// The driver's reason.
        reason: String,
        /// Rows whose sums are kept, the first of the source; see [`NormalEquations::resume`](crate::normal::NormalEquations::resume).
        rows_kept: u64,
    },
    /// The contents of a data file cannot be used.
    #[error("{}: {problem}", path.display())]
    Data {
        /// The file.
        path: PathBuf,
        /// What is wrong, at which row and column, and what to do.
        problem: String,
    },
    /// A file could not be opened, read or written.
    #[error("{}: {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// The system's reason.
        source: std::io::Error,
    },
    /// A model file is truncated, foreign, or of another version.
    #[error("{}: {problem}", path.display())]
    Model {
        /// The file.
        path: PathBuf,
        /// What is wrong and what to do.
        problem: String,
    },
    /// A numerical method could not reach a result.
    #[error("{0}")]
    Numerical(String),
}

fn kept(rows: u64) -> String {
    match rows {
        0 => String::new(),
        rows => format!(" (the sums of the first {rows} rows are kept)"),
    }
}

/// `Result` with this library's [`Error`].
pub type Result<T> = std::result::Result<T, Error>;

impl Error {
    /// An input or output failure at `path`.
    pub fn io(path: impl AsRef<Path>, source: std::io::Error) -> Self {
        Self::Io {
            path: path.as_ref().to_owned(),
            source,
        }
    }

    /// Data at `path` that cannot be used.
    pub fn data(path: impl AsRef<Path>, problem: impl Into<String>) -> Self {
        Self::Data {
            path: path.as_ref().to_owned(),
            problem: problem.into(),
        }
    }
}
