//! The ops: everything that runs on a device. An op is one file here (parameters, f64 `reference`,
//! CPU path, GPU dispatch) and the shader of the same stem. Ops are the only code that knows there
//! are two kinds of device.

pub mod binning;
pub(crate) mod dispatch;
pub mod few;
pub mod gram;
pub mod kernel_block;
mod nonlinearity;
pub mod place;
pub mod predict;
pub mod product;
pub mod projection;
pub mod structured;
pub mod walsh_hadamard;

pub use crate::device::gpu::op::{Binding, Op};
pub use nonlinearity::Nonlinearity;
