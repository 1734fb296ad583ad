//! The dense map on matrix units: products of f16 whose sums err no more than f32's.
//!
//! A form of its own and never one of a menu: its bits are others than those of tiles. It is taken
//! where the adapter lists the units and they agree with f64 when they are tried
//! ([`probe`]), for frequencies that f16 holds, and not for shallow maps, whose products are the
//! least of their work.

mod arithmetic;
pub(super) mod check;
mod gpu;
mod probe;

pub(in crate::ops) use gpu::Units;
pub(crate) use gpu::{OP, SCALES_OP};

use crate::{Result, device::GpuDevice};

/// Whether maps go to the matrix units of a GPU: the side of the fragments that are multiplied, or
/// why they do not. Where the adapter lists such units they are tried, against f64. Errors when the
/// device is lost or full.
pub fn verdict(gpu: &GpuDevice) -> Result<std::result::Result<u32, String>> {
    gpu::verdict(gpu)
}
