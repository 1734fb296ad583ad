//! Independent frequencies, each from a stream of its own (Rahimi & Recht 2007, algorithm 1).

use crate::{
    kernels::SpectralMeasure,
    parallel,
    seed::{Seed, Stream},
};

/// `s` independent frequencies of length `d`, row by row.
pub(super) fn draw(measure: &dyn SpectralMeasure, d: usize, s: usize, seed: Seed) -> Vec<f64> {
    let mut omega = vec![0.0; s * d];
    parallel::usual().chunks(&mut omega, d, &|l, row| {
        measure.draw(&mut seed.stream(Stream::Frequencies, l as u64), row);
    });
    omega
}
