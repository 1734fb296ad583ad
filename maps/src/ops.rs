//! The ops: everything that computes on a device. An op is a folder here (parameters and f64
//! `reference`, then cpu.rs and gpu.rs) and the shader of the same stem. Its check.rs compares it
//! with the reference, on parameters drawn there: maps are made of ops, not ops of maps.

pub mod additive_chi2;
pub mod binning;
pub mod complex_product;
pub(crate) mod dispatch;
pub mod few;
pub(crate) mod few_check;
pub mod gram;
pub mod kernel_block;
mod loaded;
mod nonlinearity;
pub mod place;
pub mod predict;
pub mod product;
pub mod projection;
pub mod structured;
mod units;
pub mod walsh_hadamard;

pub(crate) use crate::device::gpu::op::{Binding, Op, Variant};
pub(crate) use loaded::Loaded;
pub use nonlinearity::{Nonlinearity, Pointwise};
