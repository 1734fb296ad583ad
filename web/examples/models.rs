//! Models of every map, rows of the digits, and what the models must give for them, for the tests
//! in a browser: `cargo run --release -p bochner-web --example models -- FOLDER`.
//!
//! Scores are those of the map's formula in f64, of maps that have none those of the CPU here. The
//! bound of an output is 4e-6 of the largest sum of |z_j beta_j| over its row.

#[cfg(not(target_family = "wasm"))]
#[path = "models/native.rs"]
mod native;

#[cfg(not(target_family = "wasm"))]
fn main() -> bochner::Result<()> {
    native::write()
}

#[cfg(target_family = "wasm")]
fn main() {}
