//! Independent frequencies, each from a stream of its own (Rahimi & Recht 2007, algorithm 1).

use crate::{
    kernels::SpectralMeasure,
    seed::{Seed, Stream},
};
use rayon::prelude::*;

/// `s` independent frequencies of length `d`, row by row.
pub(super) fn draw(measure: &dyn SpectralMeasure, d: usize, s: usize, seed: Seed) -> Vec<f64> {
    let mut omega = vec![0.0; s * d];
    omega.par_chunks_mut(d).enumerate().for_each(|(l, row)| {
        measure.draw(&mut seed.stream(Stream::Frequencies, l as u64), row);
    });
    omega
}
