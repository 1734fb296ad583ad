//! Tests across learners, through the Rust builders.

mod defaults;
mod losses;
mod objectives;
mod units;
mod weights;
