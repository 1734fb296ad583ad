//! How sure a prediction is: a Gaussian process, and a ridge regression whose intervals are
//! calibrated on rows that it did not see.

use bochner::{models::Intervals, prelude::*, seed::Stream};
use ndarray::{Array1, Array2};

/// A wave with noise of deviation 0.2.
fn wave(rows: usize, seed: u64) -> (Array2<f64>, Array1<f64>) {
    let mut draws = Seed(seed).stream(Stream::Data, 0);
    let x = Array2::from_shape_simple_fn((rows, 1), || 10.0 * draws.uniform());
    let y = x.column(0).mapv(|x| x.sin() + 0.2 * draws.normal());
    (x, y)
}

/// The share of `y` within its bounds.
fn share(intervals: &Intervals, y: &Array1<f64>) -> f64 {
    let bounds = intervals.lower_nt.iter().zip(&intervals.upper_nt);
    let held = bounds.zip(y).filter(|((l, u), y)| (*l..=*u).contains(y));
    held.count() as f64 / y.len() as f64
}

fn main() -> Result<()> {
    let (x, y) = wave(600, 1);
    let (x_new, y_new) = wave(2000, 2);
    let map = || Fourier::new(Gaussian).features(100);

    let process = GaussianProcess::on(map()).fit((&x, &y))?;
    let noise = process.linear().facts["noise_deviation"];
    println!("noise: {noise:.3}, put in: 0.200");
    let ridge = Ridge::on(map()).lambda(1e-4).calibrate(0.3).fit((&x, &y))?;
    for (name, model) in [("Gaussian process", &process), ("calibrated ridge", &ridge)] {
        let share = share(&model.intervals(&x_new, 0.9)?, &y_new);
        println!("{name}: 90 % intervals hold {:.1} %", 100.0 * share);
        assert!((share - 0.9).abs() < 0.05);
    }
    Ok(())
}
