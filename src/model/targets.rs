//! Kinds of targets.

/// Kind of the target columns.
#[derive(Debug, Clone, PartialEq)]
pub enum Targets {
    /// Real values, one column each.
    Real {
        /// Number of target columns.
        columns: usize,
        /// Subtracted before rounding to f32, and added again; the mean is a good choice.
        /// `[columns]`.
        shift: Vec<f64>,
    },
    /// One column of class labels, fitted one against all as +-1.
    Classes(Vec<f64>),
}

impl Targets {
    /// Number of fitted columns: one per target, or one per class.
    pub fn outputs(&self) -> usize {
        match self {
            Self::Real { columns, .. } => *columns,
            Self::Classes(labels) => labels.len(),
        }
    }

    /// No targets: only features are summed; targets of a source are ignored.
    pub fn none() -> Self {
        Self::Real {
            columns: 0,
            shift: Vec::new(),
        }
    }
}
