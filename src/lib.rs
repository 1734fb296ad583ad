//! Random features and kernel machines on any GPU.

pub mod data;
pub mod error;
pub mod kernels;
pub mod seed;

pub use error::{Error, Result};
