//! Maps that are checked, and how far their features may be off.

use crate::{
    check::{EPS, normal},
    ops::{Nonlinearity, projection::DenseMap},
};
use ndarray::Array2;

/// A map of normal frequencies.
pub(in crate::ops) fn dense(
    d: usize,
    s: usize,
    nonlinearity: Nonlinearity,
    scale: f32,
) -> DenseMap {
    let outputs = s * nonlinearity.outputs();
    let amplitude = |l| (2.0 / outputs as f32).sqrt() * (1.0 + l as f32 / s as f32);
    DenseMap {
        w_ds: normal(d, s, 2) * scale,
        phase_s: normal(1, s, 3).iter().map(|p| p.abs().fract()).collect(),
        amplitude_s: (0..s).map(amplitude).collect(),
        nonlinearity,
    }
}

/// The allowed error of a feature: the rounding of a product of depth d, through a slope of at most
/// 2 pi.
pub(in crate::ops) fn bound(map: &DenseMap, x: &Array2<f32>) -> Array2<f64> {
    // Sum of |x||w| bounds every partial sum.
    let absolute = |m: &Array2<f32>| m.mapv(|v| f64::from(v.abs()));
    let sums = absolute(x).dot(&absolute(&map.w_ds));
    let s = map.freqs();
    Array2::from_shape_fn((x.nrows(), map.outputs()), |(i, j)| {
        let l = j % s;
        let size = 1.0 + sums[[i, l]] + f64::from(map.phase_s[l]);
        let slope = match &map.nonlinearity {
            Nonlinearity::CosSin | Nonlinearity::Cos => 6.3,
            // Of the custom ones only one whose slope is 1 at most is checked.
            Nonlinearity::Step
            | Nonlinearity::Relu
            | Nonlinearity::Identity
            | Nonlinearity::Custom(_) => 1.0,
            Nonlinearity::ReluSquared => 2.0 * size,
        };
        f64::from(map.amplitude_s[l]) * slope * 4.0 * EPS * size
    })
}

/// Steps jump where the projection is zero: a reference within rounding of the jump says nothing.
pub(in crate::ops) fn away_from_jumps(map: &DenseMap, x: &mut Array2<f32>) {
    if map.nonlinearity == Nonlinearity::Step {
        x.mapv_inplace(|v| (v * 4.0).round() / 4.0 + 0.123);
    }
}
