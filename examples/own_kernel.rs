//! A kernel that the library does not have: `cargo run --release --example own_kernel`.
//!
//! k(x, y) = prod_j sinc(x_j - y_j), the band-limited kernel: its spectral measure is uniform on
//! the cube [-1, 1]^d, because the mean of cos(w t) over w in [-1, 1] is sin(t) / t.

use bochner::{
    kernels::{Norm, SpectralMeasure},
    prelude::*,
    seed::Draws,
};
use ndarray::{Array1, Array2};

#[derive(Debug)]
struct Sinc;

impl Kernel for Sinc {
    fn spec(&self) -> String {
        "sinc".into()
    }

    fn evaluate(&self, x: &[f64], y: &[f64]) -> f64 {
        let sinc = |t: f64| if t.abs() < 1e-8 { 1.0 } else { t.sin() / t };
        x.iter().zip(y).map(|(x, y)| sinc(x - y)).product()
    }

    fn spectrum(&self) -> Option<&dyn SpectralMeasure> {
        Some(self)
    }

    fn lengthscale_of_gamma(&self, _gamma: f64) -> Result<f64> {
        Err(Error::unsupported("sinc is written with a lengthscale"))
    }

    fn norm(&self) -> Norm {
        Norm::L2
    }
}

impl SpectralMeasure for Sinc {
    fn draw(&self, draws: &mut Draws, omega: &mut [f64]) {
        omega.fill_with(|| 2.0 * draws.uniform() - 1.0);
    }

    // One coordinate of the cube for each column: every quasi-Monte Carlo sampling works, too.
    fn cube_dim(&self, d: usize) -> Option<usize> {
        Some(d)
    }

    fn map_cube(&self, t: &[f64], omega: &mut [f64]) {
        for (omega, t) in omega.iter_mut().zip(t) {
            *omega = 2.0 * t - 1.0;
        }
    }

    // Not isotropic.
    fn radius(&self, _d: usize, _draws: &mut Draws) -> Option<f64> {
        None
    }
}

fn main() -> Result<()> {
    let x = Array2::from_shape_fn((300, 2), |(i, j)| ((i * (13 * j + 7)) % 101) as f64 / 20.0);
    // The features estimate the kernel.
    let features = Features::on(Fourier::new(Sinc).features(4096))
        .bandwidth(Bandwidth::Sigma(1.0))
        .standardize(Standardize::No)
        .fit(&x)?;
    let z = features.transform(&x)?.mapv(f64::from);
    let mut worst = 0.0_f64;
    for i in 0..50 {
        let exact = Sinc.evaluate(&x.row(0).to_vec(), &x.row(i).to_vec());
        worst = worst.max((z.row(0).dot(&z.row(i)) - exact).abs());
    }
    println!("largest error of 50 kernel values from 4096 features: {worst:.3}");
    assert!(worst < 0.08, "{worst}");

    // And serve every learner.
    let y: Array1<f64> = x
        .rows()
        .into_iter()
        .map(|x| x[0].sin() + 0.5 * x[1].cos())
        .collect();
    let model = Ridge::on(Fourier::new(Sinc).features(400))
        .bandwidth(Bandwidth::Sigma(0.5))
        .fit((&x, &y))?;
    let error = (&model.predict(&x)? - &y)
        .mapv(|e| e * e)
        .mean()
        .unwrap_or(0.0)
        .sqrt();
    println!("rmse of a fit: {error:.1e}");
    assert!(error < 0.01, "{error}");
    Ok(())
}
