#![doc = include_str!("../README.md")]

pub mod analysis;
pub mod bench;
pub mod check;
pub mod data;
pub mod device;
pub mod error;
#[cfg(test)]
mod faults;
pub mod features;
pub mod flow;
pub mod form;
pub mod kernels;
mod linalg;
pub mod models;
pub mod normal;
pub mod ops;
#[cfg(test)]
mod padding;
pub mod registry;
pub mod sampling;
pub mod seed;
pub(crate) mod simd;
pub mod solve;
mod special;
pub mod store;
mod text;
#[cfg(test)]
mod under_test;

pub use device::{Device, DeviceChoice, Matrix};
pub use error::{Error, Result};
