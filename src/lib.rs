//! Random features and kernel machines on any GPU.

pub mod data;
pub mod error;
pub mod kernels;
pub mod sampling;
pub mod seed;
mod special;

pub use error::{Error, Result};
