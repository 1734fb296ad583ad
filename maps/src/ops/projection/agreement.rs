//! Whether the two halves of a custom nonlinearity, function and expression, are one.

use super::{DenseMap, gpu::Map};
use crate::{
    Device, Error, Matrix, Result,
    device::GpuDevice,
    form::DenseForm,
    ops::nonlinearity::{Nonlinearity, Pointwise},
};
use ndarray::{Array2, array};

/// The arguments lie in `-FURTHEST ..= FURTHEST`, closer to each other near zero.
const FURTHEST: f32 = 128.0;
/// Half of the arguments.
const HALF: i16 = 2048;
/// What the two may differ by, of the value and of the mean size of the values between -4 and 4.
/// WGSL leaves a sine or a cosine 2^-11 and every other function less, of the argument itself no
/// further than the sweep goes; this is twice as much.
const TOLERANCE: f64 = 1.0 / 1024.0;
/// Where features of so large values would leave f32, the two need not agree.
const LARGEST: f32 = 1e30;

/// Cubes, so that half of them lie between -16 and 16 and the least steps are far below 1.
fn sweep() -> Vec<f32> {
    let cube = |i: i16| FURTHEST * (f32::from(i) / f32::from(HALF)).powi(3);
    (-HALF..=HALF).map(cube).collect()
}

/// Errors unless this GPU computes by the expression what the function gives, at every argument of
/// a sweep.
pub(in crate::ops) fn agree(gpu: &GpuDevice, own: &Pointwise) -> Result<()> {
    let text = own.expression()?.as_str();
    let about = format!("the nonlinearity {} and its WGSL `{text}`", own.name());
    let t = sweep();
    let got = by_expression(gpu, own, &t).map_err(|e| match e {
        Error::Shader(why) => Error::shader(format!("{about}: {why}")),
        e => e,
    })?;
    let exact: Vec<f32> = t.iter().map(|&t| own.at(t)).collect();
    match first_difference(&t, &exact, &got) {
        None => Ok(()),
        Some(i) => Err(Error::parameter(format!(
            "{about} differ on {}: at t = {} the function gives {}, the expression {}",
            gpu.describe(),
            t[i],
            exact[i],
            got[i]
        ))),
    }
}

/// The values on the GPU, through the very shader of features: one row, 1, whose frequencies are
/// the arguments.
fn by_expression(gpu: &GpuDevice, own: &Pointwise, t: &[f32]) -> Result<Vec<f32>> {
    let map = DenseMap {
        w_ds: Array2::from_shape_fn((1, t.len()), |(_, l)| t[l]),
        phase_s: vec![0.0; t.len()],
        amplitude_s: vec![1.0; t.len()],
        nonlinearity: Nonlinearity::Custom(own.clone()),
    };
    let device = Device::Gpu(gpu.clone());
    let map = Map::upload(gpu, &map, Some(DenseForm::Few { splits: 1 }))?;
    let x_nd = Matrix::upload(&device, array![[1.0]].view())?;
    let mut z_nd = Matrix::new(&device, 1, t.len())?;
    map.run(&x_nd, &mut z_nd)?;
    Ok(z_nd.download()?.into_raw_vec_and_offset().0)
}

/// The argument nearest to zero at which the two differ.
fn first_difference(t: &[f32], exact: &[f32], got: &[f32]) -> Option<usize> {
    let usable = |v: f32| v.abs() < LARGEST;
    let near = t.iter().zip(exact);
    let near = near.filter(|&(t, &v)| t.abs() <= 4.0 && usable(v));
    let (count, sum) = near.fold((0.0, 0.0), |(count, sum), (_, &v)| {
        (count + 1.0, sum + f64::from(v.abs()))
    });
    let size = if count > 0.0 { sum / count } else { 0.0 };
    let differ = |&i: &usize| {
        let (exact, got) = (f64::from(exact[i]), f64::from(got[i]));
        // A NaN differs from everything.
        let within = (exact - got).abs() <= TOLERANCE * (exact.abs() + size);
        usable(exact as f32) && !within
    };
    let differing = (0..t.len()).filter(differ);
    differing.min_by(|&i, &j| t[i].abs().total_cmp(&t[j].abs()))
}
