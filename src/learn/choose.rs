//! What rows held out choose before a fit: kernels, widths, metrics, leaves.

pub(super) mod leaves;
pub mod metric;
pub(super) mod search;
