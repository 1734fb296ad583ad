//! Units are tried before they are used: what a driver makes of them is seen, not believed.

use super::{arithmetic::HalfColumns, gpu::Units};
use crate::{
    Device, Matrix, Result,
    check::{normal, poisoned},
    device::GpuDevice,
    linalg::entries,
    ops::{
        Nonlinearity,
        projection::{self, DenseMap, resident::Resident},
        units::Fragments,
    },
    sampling::round_to_11_bits,
};
use ndarray::Array2;

/// Rows, depth and frequencies: more than a tile of each, two flushes and a rest, and no multiple
/// of anything.
const ROWS: usize = 133;
const DEPTH: usize = 611;
const FREQS: usize = 137;

/// The first size of subgroups with which features of this nonlinearity err no more than those of
/// plain sums in f32, or what was seen instead.
pub(super) fn probe(
    gpu: &GpuDevice,
    all: &[Fragments],
    f: &Nonlinearity,
    whole: bool,
) -> Result<std::result::Result<u32, String>> {
    let freqs = if whole { FREQS + 3 } else { FREQS };
    let map = map(freqs, f);
    let x = rows();
    let exact = projection::reference(&map, x.view());
    let plain = error(&in_f32(&map, &x), &exact);
    let half = HalfColumns::from_frequencies(map.w_ds.view()).expect("11 bits");
    let mut seen = Vec::new();
    for &fragments in all {
        let units = Units::upload(gpu, fragments, &half)?;
        let own = match features(gpu, &map, &x, units) {
            Ok(z) => error(&z, &exact),
            // A driver that does not take the shader has no units to use.
            Err(e) => return Ok(Err(format!("their shader fails: {e}"))),
        };
        // A NaN is no number that is small enough.
        if own <= plain {
            return Ok(Ok(fragments.size));
        }
        seen.push(format!("{own:.1e} with subgroups of {}", fragments.size));
    }
    Ok(Err(format!(
        "their error is {}, that of f32 is {plain:.1e}",
        seen.join(", ")
    )))
}

/// A map on 11 bits whose phases are some turns.
pub(super) fn map(freqs: usize, f: &Nonlinearity) -> DenseMap {
    let small = |w: f32| round_to_11_bits(f64::from(w) / 16.0);
    DenseMap {
        w_ds: normal(DEPTH, freqs, 5).mapv(small),
        phase_s: (0..freqs).map(|l| l as f32 / freqs as f32).collect(),
        amplitude_s: vec![1.0; freqs],
        nonlinearity: f.clone(),
    }
}

fn rows() -> Array2<f32> {
    normal(ROWS, DEPTH, 6)
}

fn features(gpu: &GpuDevice, map: &DenseMap, x: &Array2<f32>, units: Units) -> Result<Array2<f32>> {
    let device = Device::Gpu(gpu.clone());
    let resident = Resident::upload(gpu, map)?;
    let x_nd = Matrix::upload(&device, x.view())?;
    let mut z_nd = poisoned(&device, x.nrows(), map.outputs())?;
    units.run(&resident, &x_nd, &mut z_nd)?;
    z_nd.download()
}

/// The features with sums in f32, one product after another.
fn in_f32(map: &DenseMap, x: &Array2<f32>) -> Array2<f32> {
    let t_ns = Array2::from_shape_fn((x.nrows(), map.freqs()), |(i, l)| {
        let pairs = x.row(i).into_iter().zip(map.w_ds.column(l));
        let sum = pairs.fold(0.0_f32, |sum, (&x, &w)| x.mul_add(w, sum));
        f64::from(sum + map.phase_s[l])
    });
    let ones = vec![1.0; map.freqs()].into();
    projection::applied(&map.nonlinearity, &t_ns, &ones).mapv(entries::narrow)
}

/// The root of the mean square of the errors.
fn error(z: &Array2<f32>, exact: &Array2<f64>) -> f64 {
    let square = |(&z, e): (&f32, &f64)| (f64::from(z) - e).powi(2);
    let sum: f64 = z.iter().zip(exact).map(square).sum();
    (sum / z.len() as f64).sqrt()
}
