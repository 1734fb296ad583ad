//! What the maps of `bochner` need, from files of rows to features on a device: a package of its
//! own, so that work on learners compiles none of it again.
//!
//! **Use `bochner`.** It has all that is for users here, with learners, models and jobs above it.
//! What its documentation does not show is for that package alone and may change in any release.

pub mod analysis;
#[doc(hidden)]
pub mod atomic_file;
#[doc(hidden)]
pub mod bench;
#[doc(hidden)]
pub mod check;
#[doc(hidden)]
pub mod clock;
pub mod data;
pub mod device;
pub mod error;
#[cfg(test)]
mod faults;
pub mod features;
#[doc(hidden)]
pub mod flow;
#[doc(hidden)]
pub mod form;
#[doc(hidden)]
pub mod instructions;
pub mod kernels;
#[doc(hidden)]
pub mod limits;
#[doc(hidden)]
pub mod linalg;
pub mod ops;
#[doc(hidden)]
pub mod order;
#[cfg(test)]
mod padding;
#[doc(hidden)]
pub mod parallel;
#[doc(hidden)]
pub mod progress;
#[doc(hidden)]
pub mod registry;
pub mod sampling;
pub mod seed;
#[doc(hidden)]
pub mod settings;
#[doc(hidden)]
pub mod simd;
#[doc(hidden)]
pub mod special;
#[doc(hidden)]
pub mod store;
#[doc(hidden)]
pub mod text;
#[doc(hidden)]
pub mod under_test;
#[doc(hidden)]
pub mod wait;

pub use device::{Device, DeviceChoice, Matrix};
pub use error::{Error, Result};
pub use flow::Run;
pub use progress::Step;
