//! The dense feature map.

use super::{EPS, Outcome, SIZES, in_turn, menu, normal, poisoned, worst};
use crate::{
    Device, Matrix, Result,
    form::{Form, tile},
    ops::{
        Nonlinearity,
        projection::{self, DenseMap, Projection},
    },
};
use ndarray::Array2;

pub(crate) fn run(device: &Device) -> Result<Outcome> {
    let mut outcome = Outcome::new();
    for &tile in menu(device, tile::MENU) {
        for (at, &(rows, d, s)) in SIZES.iter().enumerate() {
            for f in in_turn(device, &Nonlinearity::ALL, at) {
                let map = dense(d, s, f, 0.3);
                let mut x = normal(rows, d, 1);
                away_from_jumps(&map, &mut x);
                let z = featurize(device, &map, &x, tile.into())?;
                let bound = bound(&map, &x);
                let reference = projection::reference(&map, x.view());
                let ratio = worst(z.view(), reference.view(), |i, j| bound[[i, j]]);
                outcome.case(ratio, || format!("{rows} x {d} -> {s} {f:?} {}", tile.name));
            }
        }
        controls(device, tile.into(), &mut outcome)?;
    }
    Ok(outcome)
}

/// A bandwidth 1 per mille off, a lost phase and two swapped frequencies must all be noticed.
fn controls(device: &Device, form: Form, outcome: &mut Outcome) -> Result<()> {
    let map = dense(16, 64, Nonlinearity::CosSin, 0.3);
    let x = normal(9, 16, 1);
    let bound = bound(&map, &x);
    let z = featurize(device, &map, &x, form)?;
    let mut wrongs = [
        ("a bandwidth 1 per mille off", map.clone()),
        ("a lost phase", map.clone()),
        ("two swapped frequencies", map),
    ];
    wrongs[0].1.w_ds *= 1.001;
    wrongs[1].1.phase_s[63] = 0.0;
    wrongs[2].1.w_ds.swap([0, 0], [0, 1]);
    for (what, wrong) in &wrongs {
        let reference = projection::reference(wrong, x.view());
        let ratio = worst(z.view(), reference.view(), |i, j| bound[[i, j]]);
        outcome.control(ratio, || (*what).to_owned());
    }
    Ok(())
}

pub(super) fn featurize(
    device: &Device,
    map: &DenseMap,
    x: &Array2<f32>,
    form: Form,
) -> Result<Array2<f32>> {
    let op = Projection::load_with(device, map, form)?;
    let x_nd = Matrix::upload(device, x.view())?;
    let mut z_nd = poisoned(device, x.nrows(), op.outputs())?;
    op.run(&x_nd, &mut z_nd)?;
    z_nd.download()
}

pub(super) fn dense(d: usize, s: usize, nonlinearity: Nonlinearity, scale: f32) -> DenseMap {
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
pub(super) fn bound(map: &DenseMap, x: &Array2<f32>) -> Array2<f64> {
    // Sum of |x||w| bounds every partial sum.
    let absolute = |m: &Array2<f32>| m.mapv(|v| f64::from(v.abs()));
    let sums = absolute(x).dot(&absolute(&map.w_ds));
    let s = map.freqs();
    Array2::from_shape_fn((x.nrows(), map.outputs()), |(i, j)| {
        let l = j % s;
        let size = 1.0 + sums[[i, l]] + f64::from(map.phase_s[l]);
        let slope = match map.nonlinearity {
            Nonlinearity::CosSin | Nonlinearity::Cos => 6.3,
            Nonlinearity::Step | Nonlinearity::Relu => 1.0,
            Nonlinearity::ReluSquared => 2.0 * size,
        };
        f64::from(map.amplitude_s[l]) * slope * 4.0 * EPS * size
    })
}

/// Steps jump where the projection is zero: a reference within rounding of the jump says nothing.
pub(super) fn away_from_jumps(map: &DenseMap, x: &mut Array2<f32>) {
    if map.nonlinearity == Nonlinearity::Step {
        x.mapv_inplace(|v| (v * 4.0).round() / 4.0 + 0.123);
    }
}
