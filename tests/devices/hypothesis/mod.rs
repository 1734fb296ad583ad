//! Hypothesis tests: they keep their level, detect alternatives, and converge to the exact kernel
//! statistics.

mod conditional;
mod independence;
mod laws;
mod mixed;
mod two_sample;

use bochner::seed::{Seed, Stream};
use ndarray::Array2;

/// Rows of independent standard normal numbers.
pub(crate) fn normals(rows: usize, columns: usize, seed: u64) -> Array2<f64> {
    let mut draws = Seed(seed).stream(Stream::Data, 0);
    Array2::from_shape_simple_fn((rows, columns), || draws.normal())
}

/// Repetitions for measuring the rate of false alarms.
pub(crate) const REPETITIONS: u64 = 500;
/// The nominal rate.
pub(crate) const LEVEL: f64 = 0.05;

/// Checks that a test rejects a true null hypothesis at the rate of its level: within four standard
/// deviations of a binomial count, 6 to 44 of 500.
pub(crate) fn assert_level(what: &str, rejects: impl Fn(u64) -> bool) {
    assert_level_of(what, REPETITIONS, rejects);
}

/// As [`assert_level`], with `repetitions` repetitions.
pub(crate) fn assert_level_of(what: &str, repetitions: u64, rejects: impl Fn(u64) -> bool) {
    let alarms = (0..repetitions).filter(|&seed| rejects(seed)).count() as f64;
    let n = repetitions as f64;
    let deviation = (n * LEVEL * (1.0 - LEVEL)).sqrt();
    println!("{what}: {alarms} of {n} at {LEVEL}");
    assert!(
        (alarms - n * LEVEL).abs() < 4.0 * deviation,
        "{what}: {alarms} of {n} at level {LEVEL}"
    );
}

/// Rows in another order.
pub(crate) fn shuffled(x: &Array2<f64>, seed: u64) -> Array2<f64> {
    let order = Seed(seed).stream(Stream::Data, 1).permutation(x.nrows());
    x.select(ndarray::Axis(0), &order)
}
