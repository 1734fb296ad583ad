//! The ops: everything that computes on a device. An op is a folder here (parameters and f64
//! `reference`, then cpu.rs and gpu.rs) and the shader of the same stem. Its check.rs compares it
//! with the reference, on parameters drawn there: maps are made of ops, not ops of maps.

#[doc(hidden)]
pub mod additive_chi2;
#[doc(hidden)]
pub mod binning;
#[doc(hidden)]
pub mod complex_product;
pub(crate) mod dispatch;
#[doc(hidden)]
pub mod few;
pub(crate) mod few_check;
#[doc(hidden)]
pub mod gram;
#[doc(hidden)]
pub mod kernel_block;
mod loaded;
mod nonlinearity;
#[doc(hidden)]
pub mod place;
#[doc(hidden)]
pub mod predict;
pub mod product;
#[doc(hidden)]
pub mod projection;
#[doc(hidden)]
pub mod structured;
mod units;
#[doc(hidden)]
pub mod walsh_hadamard;

pub(crate) use crate::device::gpu::op::{Binding, Op, Variant};
pub(crate) use loaded::Loaded;
pub use nonlinearity::{Nonlinearity, Pointwise};
