//! Kernel machines: exact on all rows, or on landmarks.

pub(super) mod falkon;
pub(super) mod gaussian_process;
pub(super) mod kernel_ridge;
pub(super) mod pathwise;
