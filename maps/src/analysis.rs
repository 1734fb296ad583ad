//! How good an approximation is: measured errors of a kernel matrix, bounds before anything is
//! drawn, variances beside their closed forms, and the box discrepancy of a set of frequencies.

mod bounds;
mod kernel_error;
mod needed;
mod variance;

pub use crate::sampling::box_discrepancy;
pub use bounds::{
    BinningBound, Bound, NystromNorm, failure_probability, features_for, nystrom_excess,
    nystrom_landmarks, rudi_rosasco,
};
pub use kernel_error::{
    ErrorSummary, ExactKernel, KernelError, approximate_gram, features_of, kernel_error,
    kernel_errors,
};
pub use needed::expected_features;
pub use variance::{Estimates, estimates, variance};
