//! Choices by hold-out error before a fit: kernels, bandwidths, metrics, leaves.

pub(super) mod leaves;
pub mod metric;
pub(super) mod search;
