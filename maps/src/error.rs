//! The one error type of the library: what is wrong and where, in words, and what helps, as data.

mod remedy;

pub use remedy::Remedy;

use std::{
    fmt,
    path::{Path, PathBuf},
};

/// What went wrong, where, and what to do about it, in one line.
///
/// `Display` says what to do in this library's methods. [`Error::explain`] says it in other words,
/// and [`Error::remedies`] has it as data:
///
/// ```
/// use bochner::{Error, error::Remedy};
/// let error = Error::numerical("the matrix is singular").help(Remedy::LargerLambda);
/// assert_eq!(error.to_string(), "the matrix is singular; use a larger .lambda(..)");
/// assert_eq!(error.explain(|_| "use lambda=1".into()), "the matrix is singular; use lambda=1");
/// ```
#[derive(Debug)]
#[non_exhaustive]
pub enum Error {
    /// A matrix, row or vector does not have the shape that is needed.
    Shape(Problem),
    /// A hyper-parameter is outside its domain.
    Parameter(Problem),
    /// Two choices that cannot go together, with the reason.
    Unsupported(Problem),
    /// Something that is needed is not there: targets, a name that nobody registered, an entry of a
    /// file.
    Missing(Problem),
    /// Bytes that are not what they should be: truncated, foreign, of a later version, damaged.
    Format(Problem),
    /// No device of the kind asked for, or a device that failed.
    Device(Problem),
    /// A shader that the driver of a device does not compile.
    Shader(Problem),
    /// A request beyond what a device can address.
    Limit {
        /// What was asked for.
        what: String,
        /// How much it needs, with its unit.
        needed: String,
        /// How much there is, with its unit.
        allowed: String,
        /// What to do.
        remedies: Vec<Remedy>,
    },
    /// The host has not the memory for something; it was not begun.
    HostMemory {
        /// What was asked for.
        what: String,
        /// How much it needs, with its unit.
        needed: String,
        /// How much is free, with its unit.
        free: String,
        /// The number of features, or of what else there is too much of, that would fit; `None`
        /// where that does not follow from the memory alone.
        enough_for: Option<u64>,
        /// What to do.
        remedies: Vec<Remedy>,
    },
    /// A device has no room for a buffer, even after what was kept for reuse is freed. Streams have
    /// then tried with a quarter of the rows; nothing is counted twice or left out.
    OutOfMemory {
        /// What was asked for.
        what: String,
        /// How much it needs, with its unit.
        needed: String,
        /// How much this program holds on the device already, with its unit.
        held: String,
    },
    /// A device was lost (driver reset, unplugged). It stays so: open it again, or use another.
    DeviceLost {
        /// The driver's reason.
        reason: String,
        /// Rows whose sums are kept, the first of the source; see
        /// `NormalEquations::resume`.
        rows_kept: u64,
    },
    /// The contents of a data file cannot be used.
    Data {
        /// The file.
        path: PathBuf,
        /// What is wrong, at which row and column, and what to do.
        problem: Problem,
    },
    /// A file could not be opened, read or written.
    Io {
        /// The file.
        path: PathBuf,
        /// The system's reason.
        source: std::io::Error,
    },
    /// A model file is truncated, foreign, or of another version.
    Model {
        /// The file.
        path: PathBuf,
        /// What is wrong and what to do.
        problem: Problem,
    },
    /// A numerical method could not reach a result.
    Numerical(Problem),
}

/// `Result` with this library's [`Error`].
pub type Result<T> = std::result::Result<T, Error>;

/// What is wrong and where, in words, and what helps. `Display` says the words alone.
#[derive(Debug, Clone, PartialEq)]
pub struct Problem {
    text: String,
    remedies: Vec<Remedy>,
}

impl<T: Into<String>> From<T> for Problem {
    fn from(text: T) -> Self {
        Self {
            text: text.into(),
            remedies: Vec::new(),
        }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

macro_rules! constructors {
    ($($name:ident => $variant:ident),*) => {$(
        #[doc = concat!("[`Error::", stringify!($variant), "`] with this problem, and no remedy \
         but what its words say.")]
        pub fn $name(problem: impl Into<Problem>) -> Self {
            Self::$variant(problem.into())
        }
    )*};
}

impl Error {
    constructors!(
        shape => Shape,
        parameter => Parameter,
        unsupported => Unsupported,
        missing => Missing,
        format => Format,
        device => Device,
        shader => Shader,
        numerical => Numerical
    );

    /// An input or output failure at `path`.
    pub fn io(path: impl AsRef<Path>, source: std::io::Error) -> Self {
        Self::Io {
            path: path.as_ref().to_owned(),
            source,
        }
    }

    /// Data at `path` that cannot be used.
    pub fn data(path: impl AsRef<Path>, problem: impl Into<Problem>) -> Self {
        Self::Data {
            path: path.as_ref().to_owned(),
            problem: problem.into(),
        }
    }

    /// A fault in the contents of the model file at `path`.
    #[doc(hidden)]
    pub fn in_model(path: &Path, fault: &Self) -> Self {
        Self::Model {
            path: path.to_owned(),
            problem: fault.parts(),
        }
    }

    /// The same error with one more remedy. An I/O error, a lost device and a full one have theirs
    /// and take no other.
    #[must_use]
    pub fn help(mut self, remedy: Remedy) -> Self {
        match &mut self {
            Self::Shape(problem)
            | Self::Parameter(problem)
            | Self::Unsupported(problem)
            | Self::Missing(problem)
            | Self::Format(problem)
            | Self::Device(problem)
            | Self::Shader(problem)
            | Self::Numerical(problem)
            | Self::Data { problem, .. }
            | Self::Model { problem, .. } => problem.remedies.push(remedy),
            Self::Limit { remedies, .. } | Self::HostMemory { remedies, .. } => {
                remedies.push(remedy);
            }
            Self::OutOfMemory { .. } | Self::DeviceLost { .. } | Self::Io { .. } => {}
        }
        self
    }

    /// The same error with another remedy in the place of one, or without it: who knows more of the
    /// case than who raised it says what helps there.
    ///
    /// ```
    /// use bochner::{Error, error::Remedy};
    /// let error = Error::numerical("too large").help(Remedy::Standardize);
    /// assert_eq!(error.instead(&Remedy::Standardize, None).to_string(), "too large");
    /// ```
    #[must_use]
    pub fn instead(mut self, of: &Remedy, other: Option<Remedy>) -> Self {
        let remedies = match &mut self {
            Self::Shape(problem)
            | Self::Parameter(problem)
            | Self::Unsupported(problem)
            | Self::Missing(problem)
            | Self::Format(problem)
            | Self::Device(problem)
            | Self::Shader(problem)
            | Self::Numerical(problem)
            | Self::Data { problem, .. }
            | Self::Model { problem, .. } => &mut problem.remedies,
            Self::Limit { remedies, .. } | Self::HostMemory { remedies, .. } => remedies,
            Self::OutOfMemory { .. } | Self::DeviceLost { .. } | Self::Io { .. } => return self,
        };
        if let Some(at) = remedies.iter().position(|remedy| remedy == of) {
            remedies.splice(at..=at, other);
        }
        self
    }

    /// What helps, best first. Some errors say it in their words and have none.
    pub fn remedies(&self) -> Vec<Remedy> {
        self.parts().remedies
    }

    /// What is wrong and where, without [`Self::remedies`].
    pub fn problem(&self) -> String {
        self.parts().text
    }

    /// What each kind says, and what helps against it.
    fn parts(&self) -> Problem {
        let (text, remedies) = match self {
            Self::Shape(problem)
            | Self::Parameter(problem)
            | Self::Unsupported(problem)
            | Self::Missing(problem)
            | Self::Format(problem)
            | Self::Device(problem)
            | Self::Numerical(problem) => return problem.clone(),
            Self::Shader(problem) => {
                let newer = [Remedy::words("use a newer driver"), Remedy::UseCpu];
                let remedies = [&problem.remedies[..], &newer].concat();
                (problem.text.clone(), remedies)
            }
            Self::Data { path, problem } | Self::Model { path, problem } => {
                let text = format!("{}: {problem}", path.display());
                (text, problem.remedies.clone())
            }
            Self::Io { path, source } => (format!("{}: {source}", path.display()), Vec::new()),
            Self::Limit {
                what,
                needed,
                allowed,
                remedies,
            } => {
                let text = format!("{what} needs {needed}; this device allows {allowed}");
                (text, remedies.clone())
            }
            Self::HostMemory {
                what,
                needed,
                free,
                enough_for,
                remedies,
            } => {
                let enough = enough_for.map(|most| format!(", enough for {most}"));
                let enough = enough.unwrap_or_default();
                let text = format!("{what} needs {needed} of memory; {free} is free{enough}");
                (text, remedies.clone())
            }
            Self::OutOfMemory { what, needed, held } => {
                let text = format!(
                    "the device is out of memory: {what} needs {needed}, beside {held} already in \
                     use by this program"
                );
                let less = [Remedy::LessMemory, Remedy::FewerFeatures, Remedy::UseCpu];
                (text, less.into())
            }
            Self::DeviceLost { reason, rows_kept } => {
                let kept = match rows_kept {
                    0 => String::new(),
                    rows => format!(" (the sums of the first {rows} rows are kept)"),
                };
                let text = format!("the device was lost: {reason}{kept}");
                (text, vec![Remedy::words("run again"), Remedy::UseCpu])
            }
        };
        Problem { text, remedies }
    }

    /// [`Self::problem`] and [`Self::remedies`] in one line, each remedy in the words that `say`
    /// has for it, verb included (`use lambda=1`).
    pub fn explain(&self, say: impl Fn(&Remedy) -> String) -> String {
        let Problem { text, remedies } = self.parts();
        match remedy::advice(&remedies, say) {
            advice if advice.is_empty() => text,
            advice => format!("{text}; {advice}"),
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.explain(Remedy::to_string))
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Io { source, .. } => Some(source),
            _ => None,
        }
    }
}
