//! Sums on matrix units are tried before they are used.

use crate::{
    Device, Matrix, Result,
    check::{normal, poisoned},
    device::GpuDevice,
    ops::{
        gram::{BLOCK_ROWS, GramAccumulator, Panels, reference, tiles::Form},
        units::Fragments,
    },
};
use ndarray::{Array2, ArrayView2, Axis};

/// Rows and features: two blocks and a rest, more than two tiles, and no multiple of anything.
const ROWS: usize = 1_101;
const FEATURES: usize = 261;

/// All tiles in one panel, added or split.
const CUTS: [Panels; 2] = [
    Panels::WHOLE,
    Panels {
        bytes: u64::MAX,
        wave: 1000,
    },
];

/// The first size of subgroups with which Gram sums, however they are cut, err no more than those
/// of tiles, or what was seen instead.
pub(super) fn probe(
    gpu: &GpuDevice,
    all: &[Fragments],
) -> Result<std::result::Result<u32, String>> {
    let z = features();
    let exact = reference(z.view(), Array2::zeros((ROWS, 1)).view()).gram_dd;
    let f32s = error(&plain(z.view()), &exact);
    let mut seen = Vec::new();
    for &fragments in all {
        let mut errors = Vec::new();
        for panels in CUTS {
            match gram(gpu, &z, fragments, panels) {
                Ok(gram_dd) => errors.push(error(&gram_dd, &exact)),
                // A driver that does not take the shader has no units to use.
                Err(e) => return Ok(Err(format!("their shader fails: {e}"))),
            }
        }
        // A NaN is no number that is small enough.
        if errors.iter().all(|own| *own <= f32s) {
            return Ok(Ok(fragments.size));
        }
        let errors: Vec<_> = errors.iter().map(|own| format!("{own:.1e}")).collect();
        let errors = errors.join(" and ");
        seen.push(format!("{errors} with subgroups of {}", fragments.size));
    }
    Ok(Err(format!(
        "the error of their sums is {}, that of f32 is {f32s:.1e}",
        seen.join(", ")
    )))
}

/// Columns of both signs and of one, of any size, in blocks of any size.
fn features() -> Array2<f32> {
    let mut z = normal(ROWS, FEATURES, 8);
    for (j, mut column) in z.columns_mut().into_iter().enumerate() {
        if j % 3 == 0 {
            column.mapv_inplace(f32::abs);
        }
        column *= [1.0, 3e-5, 70.0, 0.03][j % 4];
    }
    for (i, mut row) in z.rows_mut().into_iter().enumerate() {
        row *= [1.0, 1e3, 1e-2][i / BLOCK_ROWS];
    }
    z
}

/// The lower triangle of `Z'Z` by an adapter.
pub(super) fn gram(
    gpu: &GpuDevice,
    z: &Array2<f32>,
    fragments: Fragments,
    panels: Panels,
) -> Result<Array2<f64>> {
    let device = Device::Gpu(gpu.clone());
    let (rows, d) = z.dim();
    let mut sums = GramAccumulator::from_parts(gpu, (d, 1), Form::Units(fragments), panels)?;
    // What lies beside z is no number.
    let mut z_nd = poisoned(&device, rows, d)?;
    z_nd.write(z.view())?;
    let y_nt = Matrix::upload(&device, Array2::zeros((rows, 1)).view())?;
    sums.add(&z_nd, &y_nt)?;
    Ok(sums.finish()?.gram_dd)
}

/// The lower triangle as tiles have it: blocks in f32, one product after another.
pub(super) fn plain(z_nd: ArrayView2<'_, f32>) -> Array2<f64> {
    let d = z_nd.ncols();
    let mut gram_dd = Array2::zeros((d, d));
    for block in z_nd.axis_chunks_iter(Axis(0), BLOCK_ROWS) {
        let z_dn = block.t().as_standard_layout().into_owned();
        for ((i, j), g) in gram_dd.indexed_iter_mut().filter(|((i, j), _)| i >= j) {
            let pairs = z_dn.row(i).into_iter().zip(z_dn.row(j));
            *g += f64::from(pairs.fold(0.0_f32, |sum, (a, b)| a.mul_add(*b, sum)));
        }
    }
    gram_dd
}

/// The root of the mean square of the errors, each over the norms of its columns; NaN where one is.
fn error(gram_dd: &Array2<f64>, exact_dd: &Array2<f64>) -> f64 {
    let square = gram_dd.indexed_iter().map(|((i, j), g)| {
        let norms = exact_dd[[i, i]] * exact_dd[[j, j]];
        (g - exact_dd[[i, j]]).powi(2) / norms
    });
    (square.sum::<f64>() / gram_dd.len() as f64).sqrt()
}
