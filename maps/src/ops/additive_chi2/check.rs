//! Chi-squared features of zeros, and of numbers of all sizes.

use crate::{
    Device, Matrix, Result,
    check::{EPS, Extent, Outcome, normal, poisoned, worst},
    ops::additive_chi2::{self, Samples, additive_chi2},
};
use std::f64::consts::TAU;

/// Rows and columns around a workgroup, and samples.
const SIZES: [(usize, usize, usize); 7] = [
    (1, 1, 1),
    (1, 1, 2),
    (3, 63, 3),
    (4, 64, 2),
    (5, 65, 1),
    (33, 7, 8),
    (130, 130, 2),
];

/// What WGSL promises of `log`: 2^-21 between 1/2 and 2, and 3 ulp elsewhere.
const LOG: f64 = 8.0 * EPS;

pub(crate) fn run(device: &Device, _: Extent) -> Result<Outcome> {
    let mut outcome = Outcome::new();
    for (rows, cols, count) in SIZES {
        let samples = Samples {
            count,
            interval: 0.4,
        };
        // From e^-30 to e^30, and every seventh 0.
        let mut x = normal(rows, cols, 1).mapv(|v| (10.0 * v.clamp(-3.0, 3.0)).exp());
        let zeros = x.iter_mut().skip(6).step_by(7);
        zeros.for_each(|v| *v = 0.0);
        let x_nd = Matrix::upload(device, x.view())?;
        let mut z_nd = poisoned(device, rows, cols * samples.outputs())?;
        additive_chi2(samples, &x_nd, &mut z_nd)?;
        let z = z_nd.download()?;
        let allowed = |i: usize, at: usize| {
            let x = f64::from(x[[i, at % cols]]);
            let j = (at / cols).div_ceil(2);
            if x == 0.0 {
                return 1e-30;
            }
            // The root and the products; the turns, their logarithm and their product.
            let log = x.ln().abs();
            let turns = samples.turns(j) * (LOG * log.max(1.0) + 3.0 * EPS * log);
            samples.amplitude(j) * x.sqrt() * (12.0 * EPS + TAU * turns)
        };
        let ratio = |samples: Samples, x: &ndarray::Array2<f32>| {
            let reference = additive_chi2::reference(samples, x.view());
            worst(z.view(), reference.view(), allowed)
        };
        let name = || format!("{rows} x {cols} with {count} samples");
        outcome.case(ratio(samples, &x), name);
        // Negative controls.
        let closer = Samples {
            interval: 0.399,
            ..samples
        };
        outcome.control(ratio(closer, &x), || {
            format!("another interval of {}", name())
        });
        let mut wrong = x.clone();
        wrong[[rows - 1, 0]] *= 1.001;
        outcome.control(ratio(samples, &wrong), || {
            format!("1 per mille off in {}", name())
        });
    }
    Ok(outcome)
}
