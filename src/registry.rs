//! All ops that have a shader. Tests walk [`REGISTRY`]: each shader is expanded, parsed and
//! validated for every variant without a GPU.

use crate::{
    bench::{baseline, ceiling},
    ops::{
        Op, binning, few, gram, kernel_block, place, predict, product, projection, structured,
        walsh_hadamard,
    },
};

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
