//! Random features and kernel machines on any GPU.

pub mod data;
pub mod device;
pub mod error;
pub mod kernels;
pub mod ops;
pub mod sampling;
pub mod seed;
mod special;

pub use device::{Device, DeviceChoice, Matrix};
pub use error::{Error, Result};
