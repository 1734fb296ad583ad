//! Kernels that are a product of one function of each column's difference.

use std::fmt::Debug;

/// The function phi of a kernel k(x, y) = prod_j phi(x_j - y_j), at unit scale: even, phi(0) = 1.
///
/// What is integrated over an interval is so by Filon's rule unless a closed form stands in its
/// place: phi is smooth from 0 on, however fast the cosine beside it turns.
pub trait ColumnFactor: Debug + Send + Sync {
    /// phi(delta), for delta >= 0.
    fn value(&self, delta: f64) -> f64;

    /// The shortest distance over which phi changes much: 1 but for kernels made of narrower ones.
    fn finest(&self) -> f64 {
        1.0
    }

    /// The mean of phi(t) cos(omega t) over t in \[0, width\].
    fn mean_cosine(&self, omega: f64, width: f64) -> f64 {
        filon(|t| self.value(t), omega, (width, self.finest()))
    }

    /// The mean of phi(t)^2 over t in \[0, width\].
    fn mean_square(&self, width: f64) -> f64 {
        filon(|t| self.value(t).powi(2), 0.0, (width, self.finest()))
    }
}

/// Filon's rule for the mean of f(t) cos(omega t) over \[0, width\] (Abramowitz & Stegun 25.4.47):
/// f is a parabola over each two steps of 1/64 of `finest`, the cosine exact.
fn filon(f: impl Fn(f64) -> f64, omega: f64, (width, finest): (f64, f64)) -> f64 {
    let pairs = (32.0 * width / finest).ceil().clamp(32.0, 1e6) as usize;
    let h = width / (2 * pairs) as f64;
    let theta = omega * h;
    let (alpha, beta, gamma) = weights(theta);
    let at = |i: usize| {
        let t = i as f64 * h;
        f(t) * libm::cos(omega * t)
    };
    let ends = (at(0) + at(2 * pairs)) / 2.0;
    let even = (1..pairs).map(|i| at(2 * i)).sum::<f64>() + ends;
    let odd: f64 = (0..pairs).map(|i| at(2 * i + 1)).sum();
    let edge = f(width) * libm::sin(omega * width);
    h * (alpha * edge + beta * even + gamma * odd) / width
}

/// alpha, beta and gamma of Filon's rule; by their series where the closed forms cancel.
fn weights(theta: f64) -> (f64, f64, f64) {
    let t2 = theta * theta;
    if theta.abs() < 0.1 {
        return (
            theta * t2 * (2.0 / 45.0 - t2 * (2.0 / 315.0 - t2 * 2.0 / 4725.0)),
            2.0 / 3.0 + t2 * (2.0 / 15.0 - t2 * (4.0 / 105.0 - t2 * 2.0 / 567.0)),
            4.0 / 3.0 - t2 * (2.0 / 15.0 - t2 * (1.0 / 210.0 - t2 / 11340.0)),
        );
    }
    let (sin, cos) = (libm::sin(theta), libm::cos(theta));
    let t3 = theta * t2;
    (
        1.0 / theta + libm::sin(2.0 * theta) / (2.0 * t2) - 2.0 * sin * sin / t3,
        2.0 * ((1.0 + cos * cos) / t2 - libm::sin(2.0 * theta) / t3),
        4.0 * (sin / t3 - cos / t2),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernels::{Cauchy, Gaussian, Kernel, Laplacian, parse};
    use std::sync::Arc;

    /// The midpoint rule with many points.
    fn quadrature(f: impl Fn(f64) -> f64, width: f64) -> f64 {
        let n = 400_000;
        let at = |i: i32| f(width * (f64::from(i) + 0.5) / f64::from(n));
        (0..n).map(at).sum::<f64>() / f64::from(n)
    }

    #[test]
    fn means_are_their_integrals() {
        let kernels: [Arc<dyn Kernel>; 4] = [
            Arc::new(Gaussian),
            Arc::new(Laplacian),
            Arc::new(Cauchy),
            parse("product:gaussian@2*cauchy@0.7*laplacian@3").expect("a product"),
        ];
        for kernel in kernels {
            let factor = kernel.column_factor().expect("a product");
            for delta in [0.0, 0.3, 2.0] {
                let k = kernel.evaluate(&[delta, 1.0], &[0.0, 1.5]);
                let product = factor.value(delta) * factor.value(0.5);
                assert!((k - product).abs() < 1e-15, "{kernel:?} {delta}");
            }
            for width in [0.2, 1.5, 9.0] {
                let square = quadrature(|t| factor.value(t).powi(2), width);
                let error = (factor.mean_square(width) - square).abs();
                assert!(error < 1e-7, "{kernel:?} {width}: {error:e}");
                for omega in [0.0, 0.01, 0.8, -3.0, 40.0, 700.0] {
                    let mean = quadrature(|t| factor.value(t) * (omega * t).cos(), width);
                    let error = (factor.mean_cosine(omega, width) - mean).abs();
                    assert!(error < 1e-6, "{kernel:?} {omega} {width}: {error:e}");
                }
            }
        }
        for spec in [
            "exponential",
            "matern32",
            "product:gaussian@1*exponential@2",
        ] {
            let kernel = parse(spec).expect("a kernel");
            assert!(kernel.column_factor().is_none(), "{spec}");
        }
    }

    #[test]
    fn the_series_meet_the_closed_forms() {
        let (below, above) = (weights(0.1 - 1e-9), weights(0.1 + 1e-9));
        for (a, b) in [(below.0, above.0), (below.1, above.1), (below.2, above.2)] {
            assert!((a - b).abs() < 1e-9, "{a} {b}");
        }
    }
}
