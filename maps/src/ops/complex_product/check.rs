//! Complex products: few and many factors, sizes that are even and odd, rows around a workgroup.

use crate::{
    Device, Matrix, Result,
    check::{EPS, Extent, Outcome, normal, poisoned, worst},
    ops::complex_product::{self, complex_product, real_parts},
};
use ndarray::Array2;

/// Rows, s and factors.
const SIZES: [(usize, usize, usize); 9] = [
    (1, 1, 1),
    (3, 1, 3),
    (2, 2, 2),
    (7, 3, 2),
    (8, 64, 1),
    (9, 127, 2),
    (17, 128, 3),
    (65, 129, 2),
    (5, 250, 5),
];

pub(crate) fn run(device: &Device, _: Extent) -> Result<Outcome> {
    let mut outcome = Outcome::new();
    for (rows, s, factors) in SIZES {
        let t = normal(rows, factors * s, 1);
        let t_nf = Matrix::upload(device, t.view())?;
        let mut z_ns = poisoned(device, rows, s)?;
        complex_product(&t_nf, factors, &mut z_ns)?;
        let z = z_ns.download()?;
        let sizes = sizes_of(&t, s, factors);
        // Three roundings of each part of a product, of numbers that are no larger than its size.
        let allowed = |i: usize, j: usize| 4.0 * factors as f64 * EPS * sizes[[i, j]] + 1e-30;
        let ratio = |t: &Array2<f32>| {
            let reference = complex_product::reference(t.view(), factors);
            worst(z.view(), reference.view(), allowed)
        };
        let name = || format!("{rows} x {s} of {factors}");
        outcome.case(ratio(&t), name);
        // Negative controls.
        let mut wrong = t.clone();
        wrong[[rows - 1, factors * s - 1]] *= 1.001;
        outcome.control(ratio(&wrong), || format!("1 per mille off in {}", name()));
        if s > 2 {
            let mut conjugate = t.clone();
            conjugate[[0, real_parts(s)]] *= -1.0;
            outcome.control(ratio(&conjugate), || format!("a conjugate in {}", name()));
        }
    }
    Ok(outcome)
}

/// The product of the absolute values of what is multiplied for each number.
fn sizes_of(t: &Array2<f32>, s: usize, factors: usize) -> Array2<f64> {
    let real = real_parts(s);
    Array2::from_shape_fn((t.nrows(), s), |(i, j)| {
        let f = if j < real { j } else { j - real + 1 };
        let complex = f > 0 && f <= s - real;
        let factor = |k: usize| {
            let part = |at: usize| f64::from(t[[i, k * s + at]]);
            let imaginary = if complex { part(real + f - 1) } else { 0.0 };
            part(f).hypot(imaginary)
        };
        (0..factors).map(factor).product()
    })
}
