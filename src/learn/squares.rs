//! Learners of least squares on features.

pub(super) mod dual;
pub(super) mod iterative;
pub(super) mod lambda;
pub(super) mod lasso;
pub(super) mod ridge;
pub(super) mod stagewise;
