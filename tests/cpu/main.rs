//! Tests that do not depend on a device: draws, distributions, formulas, the text of shaders.

#[path = "../common/mod.rs"]
mod common;
#[path = "../common/walk.rs"]
mod walk;

mod alone;
mod bits;
mod door;
mod formula;
mod indices;
mod left_out;
mod sampling;
mod shaders;
mod soak;
mod spirv;
mod statistics;
mod streams;
mod structured_statistics;
mod unlabelled;
