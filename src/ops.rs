//! The ops: everything that runs on a device. An op is one file here (parameters, f64 `reference`, CPU path, GPU dispatch)
//! and the shader of the same stem. Ops are the only code that knows there are two kinds of device.
//!
//! Tests walk [`REGISTRY`]: each shader is expanded, parsed and validated for every variant without a GPU.

pub mod baseline;
pub mod binning;
pub mod ceiling;
pub mod cos2pi;
pub mod few;
pub mod gram;
pub(crate) mod host;
pub mod kernel_block;
pub mod place;
pub mod predict;
pub mod product;
pub mod projection;
pub mod structured;
pub mod tile;
pub mod tuning;
pub mod walsh_hadamard;

pub use crate::device::gpu::op::{Binding, Op};

/// All ops that have a shader.
pub const REGISTRY: &[&Op] = &[
    &projection::OP,
    &gram::OP,
    &predict::OP,
    &product::OP,
    &few::OP,
    &few::SUM_OP,
    &kernel_block::OP,
    &walsh_hadamard::OP,
    &walsh_hadamard::SUBGROUP_OP,
    &structured::OP,
    &structured::STAGE_OP,
    &binning::OP,
    &place::OP,
    &baseline::NAIVE,
    &ceiling::COPY,
    &ceiling::FMA,
];
