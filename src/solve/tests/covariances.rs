//! Means and covariances of features compared with their definitions.

use crate::solve::{
    NormalEquations,
    preconditioner::{Covariance, Spread},
};
use ndarray::{Array2, Axis, stack};

fn features() -> Array2<f64> {
    Array2::from_shape_fn((30, 3), |(i, j)| {
        2.0 + ((7 * i + 3 * j * i) % 11) as f64 / 3.0
    })
}

#[test]
fn covariances_are_about_the_means_if_there_is_an_intercept() {
    let z = features();
    let sums = || NormalEquations {
        rows: 30,
        weight: 30.0,
        gram_dd: z.t().dot(&z),
        z_sum_d: z.sum_axis(Axis(0)),
        ..NormalEquations::zero(3, 0)
    };
    let squares = z.mapv(|z| z * z).sum_axis(Axis(0));
    let moments = stack![Axis(0), z.sum_axis(Axis(0)), squares];
    for intercept in [true, false] {
        let centred = if intercept {
            &z - &z.mean_axis(Axis(0)).expect("rows")
        } else {
            z.clone()
        };
        let expected = centred.t().dot(&centred) / 30.0;
        let pairs = Covariance::of_sums(sums(), intercept);
        let alone = Covariance::of_moments(&moments, 30.0, intercept);
        let (Spread::Pairs(pairs), Spread::Alone(alone)) = (pairs.spread, alone.spread) else {
            panic!("pairs from sums, and variances from moments")
        };
        for i in 0..3 {
            assert!((alone[i] / expected[[i, i]] - 1.0).abs() < 1e-12, "{alone}");
            // Only the lower triangle is defined.
            for j in 0..=i {
                let off = pairs[[i, j]] - expected[[i, j]];
                assert!(off.abs() < 1e-12, "{pairs} {expected}");
            }
        }
    }
}
