//! Tests on all devices.

#[path = "../common/mod.rs"]
mod common;

mod additive;
mod bent;
mod binning;
mod chi2;
mod density;
mod edges;
mod estimates;
mod exchange;
mod extremes;
mod growing;
mod growth;
mod hadamard_sketches;
mod hypothesis;
mod identity;
mod intervals;
mod invariants;
mod kernel_block;
mod kernel_machines;
mod matrix_free;
mod metric;
mod nonlinearity;
mod nystrom;
mod offset;
mod parity;
mod projections;
mod randomized;
mod search;
mod sketches;
mod some_columns;
mod spectral;
mod structured;
mod tiles;
mod units;
mod unsupervised;
mod warm;
