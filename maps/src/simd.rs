//! Matrix products on the CPU: operands packed into panels, a tile of accumulators in registers, an
//! epilogue per row.
//!
//! pulp gives the vector types, and `instructions` the one of AVX-512, AVX2, NEON and plain code
//! that runs; all is safe Rust but for two hints to the memory system and the matrix unit of some
//! processors (AMX), each in a file of its own. An element is always summed in the same order,
//! whatever the batch, the thread count or the tile that happens to hold it, so a row gives the
//! same bits in every batch.

#[cfg(target_arch = "x86_64")]
mod amx;
#[cfg(target_arch = "x86_64")]
mod bf16_codes;
#[cfg(target_arch = "x86_64")]
mod bf16_pieces;
pub(crate) mod cos2pi;
pub(crate) mod f16;
pub(crate) mod fused;
#[cfg(target_arch = "x86_64")]
mod half;
mod hint;
#[cfg(target_arch = "aarch64")]
mod lanes;
pub mod mixed;
mod outer;
mod pack;
mod rows;
mod sparse;
pub(crate) mod swap;
mod tile;
mod triangle;

#[cfg(target_arch = "x86_64")]
pub(crate) use bf16_pieces::Bf16Panels;
pub(crate) use fused::{Fused, sum_and_lost};
#[cfg(target_arch = "x86_64")]
pub(crate) use half::HalfPanels;
pub(crate) use hint::{PastCache, Sink, ThroughCache, Upcoming, prefetch};
pub use outer::HeldRows;
pub(crate) use pack::{Panels, PanelsView, Parts};
pub(crate) use rows::{Epilogue, for_each_row, rows_per_block};
pub(crate) use sparse::{Entries, for_each_sparse_row};
pub(crate) use triangle::Triangle;
