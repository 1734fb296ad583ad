//! Kernel blocks, with equal and opposite rows among them.

use crate::{
    Device, Matrix, Result,
    check::{EPS, Extent, Outcome, menu, normal, norms, poisoned, worst},
    form::tile::{self, Tile},
    kernels::{BlockForm, Kernel, parse},
    ops::kernel_block::{self, KernelBlock, Level},
};
use ndarray::{Array2, s};

const KERNELS: [&str; 12] = [
    "gaussian",
    "laplacian",
    "exponential",
    "matern32",
    "matern52",
    "cauchy",
    "hat",
    "rational-quadratic:0.5",
    "rational-quadratic:500",
    "arc-cosine:0",
    "arc-cosine:1",
    "arc-cosine:2",
];

/// Rows, d, landmarks.
const SHAPES: [(usize, usize, usize); 10] = [
    (1, 1, 1),
    (1, 784, 2),
    (3, 5, 15),
    (4, 17, 16),
    (5, 16, 17),
    (63, 15, 31),
    (64, 33, 64),
    (65, 4, 65),
    (131, 101, 67),
    (9, 3, 130),
];

pub(crate) fn run(device: &Device, extent: Extent) -> Result<Outcome> {
    let mut outcome = Outcome::new();
    let short = extent.is_short_on(device);
    for (number, name) in KERNELS.into_iter().enumerate() {
        let kernel = parse(name)?;
        let levels: &[Level] = if !kernel.is_shift_invariant() {
            &[Level::Zero]
        } else if !short {
            &[Level::Zero, Level::Top]
        } else if number % 2 == 0 {
            // Short: each kernel at one of the two, in turn.
            &[Level::Zero]
        } else {
            &[Level::Top]
        };
        let cases = SHAPES
            .iter()
            .flat_map(|s| levels.iter().map(move |l| (*s, *l)));
        for (shape, level) in cases {
            let (x, y) = block_rows(kernel.as_ref(), shape);
            let bound = allowed(kernel.as_ref(), &x, &y, level);
            let reference = |y: &Array2<f32>| {
                kernel_block::reference_from(kernel.as_ref(), x.view(), y.view(), level)
            };
            let exact = reference(&y);
            let mut wrongs = Vec::new();
            if shape.2 > 2 {
                let mut wrong = y.clone();
                wrong.row_mut(0).assign(&y.row(1));
                wrongs.push(("a swapped landmark", reference(&wrong)));
                if shape.1 > 1 {
                    let mut wrong = y.clone();
                    wrong.slice_mut(s![.., 0]).mapv_inplace(|v| 1.01 * v);
                    wrongs.push(("a coordinate 1 per cent off", reference(&wrong)));
                }
            }
            for tile in shapes(device, extent) {
                let op = KernelBlock::load_with(device, kernel.clone(), y.view(), level, tile)?;
                let x_nd = Matrix::upload(device, x.view())?;
                let mut k_nm = poisoned(device, shape.0, op.columns())?;
                op.run(&x_nd, &mut k_nm)?;
                let k = k_nm.download()?;
                let ratio =
                    |exact: &Array2<f64>| worst(k.view(), exact.view(), |i, j| bound[[i, j]]);
                let case = || format!("{name} {shape:?} {level:?} {}", tile.name);
                outcome.case(ratio(&exact), case);
                for (what, wrong) in &wrongs {
                    outcome.control(ratio(wrong), || format!("{what} of {}", case()));
                }
            }
        }
    }
    Ok(outcome)
}

/// The tile shapes to check. Through workgroup memory [`tile::BRANCHES`] has one of this menu, with
/// four rows and columns in registers: a short check takes one with eight of both, which is more
/// text.
fn shapes(device: &Device, extent: Extent) -> Vec<Tile> {
    if extent.is_short_on(device) {
        vec![tile::SHARED_64, tile::DIRECT_8X64]
    } else {
        menu(device, extent, kernel_block::MENU)
    }
}

/// Rows and landmarks at distances where the kernel is neither 0 nor 1; the first landmark is the
/// first row, the last its opposite.
pub fn block_rows(
    kernel: &dyn Kernel,
    (n, d, m): (usize, usize, usize),
) -> (Array2<f32>, Array2<f32>) {
    let spread = match kernel.block_form() {
        Some(BlockForm::Laplacian) => 1.0 / d as f32,
        Some(BlockForm::Hat) => 0.2 / d as f32,
        _ => 1.0 / (d as f32).sqrt(),
    };
    let x = normal(n, d, 1) * spread;
    let mut y = normal(m, d, 2) * spread;
    y.row_mut(m - 1).assign(&x.row(0).mapv(|v| -v));
    y.row_mut(0).assign(&x.row(0));
    (x, y)
}

/// The error that f32 allows an entry: the d roundings of a gathered sum have no common sign, so
/// that it is right to sqrt(d) + 10 units in its last place, which act through the slope of the
/// kernel, and the kernel's own value to 10 units of 1. Products of d factors carry an error each,
/// likewise. From the top the units are those of k - 1, but for Matern kernels, where terms of the
/// size of z nearly cancel.
fn allowed(kernel: &dyn Kernel, x: &Array2<f32>, y: &Array2<f32>, level: Level) -> Array2<f64> {
    let terms = (x.ncols() as f64).sqrt();
    let k = kernel_block::reference(kernel, x.view(), y.view());
    let (nx, ny) = (norms(x), norms(y));
    let further = kernel_block::reference(kernel, (x * 1.001).view(), (y * 1.001).view());
    let columns = level.columns(y.nrows());
    Array2::from_shape_fn((x.nrows(), columns), |(i, j)| {
        if j == y.nrows() {
            return EPS;
        }
        let unit = match level {
            Level::Zero => 1.0,
            // With what f64 leaves of a difference.
            Level::Top => 1e-8 + (1.0 - k[[i, j]]).abs(),
        };
        let slope = (further[[i, j]] - k[[i, j]]).abs() / 0.001;
        let size = match kernel.block_form() {
            // The angle is right to sqrt(d) + 10 units of 1; d k / d theta and the two lengths make
            // up the factor.
            Some(BlockForm::ArcCosine { order }) => {
                let factor = [1.0, 3.0, 8.0][order as usize];
                factor * (terms + 10.0) * (nx[i] * ny[j]).powi(order as i32)
            }
            Some(BlockForm::Cauchy | BlockForm::Hat) => {
                (terms + 10.0) * slope + 4.0 * terms * k[[i, j]].min(unit) + 10.0 * unit
            }
            Some(BlockForm::Matern32 | BlockForm::Matern52) if level == Level::Top => {
                // z = sqrt(5) |x - y| at most.
                let square = |c| f64::from(x[[i, c]] - y[[j, c]]).powi(2);
                let z = (5.0 * (0..x.ncols()).map(square).sum::<f64>()).sqrt();
                (terms + 10.0) * slope + 10.0 * unit + 4.0 * z.min(1.0)
            }
            _ => (terms + 10.0) * slope + 10.0 * unit,
        };
        EPS * size
    })
}
