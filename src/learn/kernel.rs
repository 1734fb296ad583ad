//! Learners on the kernel itself, of all rows or of landmarks.

pub(super) mod falkon;
pub(super) mod gaussian_process;
pub(super) mod kernel_ridge;
pub(super) mod pathwise;
