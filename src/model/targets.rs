//! What the columns mean that a model predicts.

/// What the target columns mean.
#[derive(Debug, Clone, PartialEq)]
pub enum Targets {
    /// Real values, one column each.
    Real {
        /// Number of target columns.
        columns: usize,
        /// Subtracted before anything is rounded to f32, and added again; the mean is a good
        /// choice. `[columns]`.
        shift: Vec<f64>,
    },
    /// One column of class labels, fitted one against all as +-1.
    Classes(Vec<f64>),
}

impl Targets {
    /// Columns that are fitted: one per target, or one per class.
    pub fn outputs(&self) -> usize {
        match self {
            Self::Real { columns, .. } => *columns,
            Self::Classes(labels) => labels.len(),
        }
    }

    /// No targets: nothing but features is summed, and a source may have targets or not.
    pub fn none() -> Self {
        Self::Real {
            columns: 0,
            shift: Vec::new(),
        }
    }
}
