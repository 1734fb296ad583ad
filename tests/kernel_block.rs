//! Kernel blocks against the exact kernel in f64, on the CPU and on every adapter, at sizes around every tile edge, with
//! equal and opposite rows among them. Outputs hold NaN before each run; wrong references must fail.

mod common;

use bochner::{
    Device, Matrix,
    kernels::{BlockForm, Kernel, parse},
    ops::kernel_block::{self, KernelBlock},
};
use common::{devices, gpus, normal, worst};
use ndarray::{Array2, s};

const EPS: f64 = 1.0 / 16_777_216.0;

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

const SIZES: &[(usize, usize, usize)] = &[
    // rows, d, m
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

/// Rows and landmarks at distances where the kernel is neither 0 nor 1; the first landmark is the first row, the last its
/// opposite.
fn rows(kernel: &dyn Kernel, (n, d, m): (usize, usize, usize)) -> (Array2<f32>, Array2<f32>) {
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

/// The error that f32 allows an entry: every gathered sum is right to d + 10 units in its last place, which acts through the
/// slope of the kernel, and the kernel's own value to 10 units of 1. Products of d factors carry an error each.
fn allowed(kernel: &dyn Kernel, x: &Array2<f32>, y: &Array2<f32>) -> Array2<f64> {
    let d = x.ncols() as f64;
    let k = kernel_block::reference(kernel, x.view(), y.view());
    let norms = |a: &Array2<f32>| -> Vec<f64> {
        let rows = a.rows().into_iter();
        rows.map(|r| r.iter().map(|&v| f64::from(v).powi(2)).sum::<f64>().sqrt())
            .collect()
    };
    let (nx, ny) = (norms(x), norms(y));
    let further = kernel_block::reference(kernel, (x * 1.001).view(), (y * 1.001).view());
    Array2::from_shape_fn(k.dim(), |(i, j)| {
        let slope = (further[[i, j]] - k[[i, j]]).abs() / 0.001;
        let size = match kernel.block_form() {
            // The angle is right to d + 10 units of 1; d k / d theta and the two lengths make up the factor.
            Some(BlockForm::ArcCosine { order }) => {
                let factor = [1.0, 3.0, 8.0][order as usize];
                factor * (d + 10.0) * (nx[i] * ny[j]).powi(order as i32)
            }
            Some(BlockForm::Cauchy | BlockForm::Hat) => {
                (d + 10.0) * slope + 4.0 * d * k[[i, j]] + 10.0
            }
            _ => (d + 10.0) * slope + 10.0,
        };
        EPS * size
    })
}

fn poisoned(device: &Device, rows: usize, cols: usize) -> Matrix {
    Matrix::upload(device, Array2::from_elem((rows, cols), f32::NAN).view()).expect("fits")
}

#[test]
fn blocks_agree_with_the_exact_kernel() {
    for device in devices() {
        let mut tightest = 0.0_f64;
        for &tile in kernel_block::MENU {
            for name in KERNELS {
                let kernel = parse(name).expect("known");
                for &size in SIZES {
                    let (x, y) = rows(kernel.as_ref(), size);
                    let op = KernelBlock::load_with(device, kernel.clone(), y.view(), tile)
                        .expect("loads");
                    let x_nd = Matrix::upload(device, x.view()).expect("fits");
                    let mut k_nm = poisoned(device, size.0, size.2);
                    op.run(&x_nd, &mut k_nm).expect("runs");
                    let k = k_nm.download().expect("reads back");
                    let bound = allowed(kernel.as_ref(), &x, &y);
                    let check = |y: &Array2<f32>| {
                        let reference =
                            kernel_block::reference(kernel.as_ref(), x.view(), y.view());
                        worst(k.view(), reference.view(), |i, j| bound[[i, j]])
                    };
                    let ratio = check(&y);
                    tightest = tightest.max(ratio);
                    let what = format!("{name} {size:?} {} on {device:?}", tile.name);
                    assert!(ratio < 1.0, "{what}: {ratio}");
                    // Negative controls: two landmarks swapped; one coordinate 1 per cent off.
                    if size.2 > 2 {
                        let mut wrong = y.clone();
                        wrong.row_mut(0).assign(&y.row(1));
                        assert!(check(&wrong) > 1.0, "a swapped landmark passes: {what}");
                        if size.1 > 1 {
                            let mut wrong = y.clone();
                            wrong.slice_mut(s![.., 0]).mapv_inplace(|v| 1.01 * v);
                            assert!(check(&wrong) > 1.0, "a wrong coordinate passes: {what}");
                        }
                    }
                }
            }
            if matches!(device, Device::Cpu(_)) {
                break;
            }
        }
        println!(
            "{}: worst {tightest:.2} of what is allowed",
            device.describe()
        );
    }
}

/// The block and the product behind it, with the padding of the block left for the product to read.
#[test]
fn times_is_block_then_product() {
    let kernel = parse("gaussian").expect("known");
    for device in devices() {
        let mut scratch = None;
        // The last is more than a GPU keeps at a time.
        for (n, d, m, t) in [
            (70, 6, 67, 3),
            (130, 6, 67, 40),
            (1, 6, 67, 1),
            (300, 1, 32_768, 1),
        ] {
            // Terms that are summed one after another.
            let terms = if t > 16 { m } else { m / 16 + 40 };
            let unit = (terms + d + 20) as f64 * EPS;
            let (x, y) = rows(kernel.as_ref(), (n, d, m));
            let b = normal(m, t, 3).mapv(f32::abs);
            let op = KernelBlock::load(device, kernel.clone(), y.view()).expect("loads");
            let x_nd = Matrix::upload(device, x.view()).expect("fits");
            let b_mt = Matrix::upload(device, b.view()).expect("fits");
            let mut out = poisoned(device, n, t);
            op.times(&x_nd, &b_mt, &mut out, &mut scratch)
                .expect("runs");
            let out = out.download().expect("reads back");
            let k = kernel_block::reference(kernel.as_ref(), x.view(), y.view());
            let b = b.mapv(f64::from);
            let size = b.mapv(f64::abs).sum_axis(ndarray::Axis(0));
            let ratio = worst(out.view(), k.dot(&b).view(), |_, j| unit * size[j]);
            assert!(ratio < 1.0, "{n} {t} on {device:?}: {ratio}");
            let ratio = worst(out.view(), (k * 1.001).dot(&b).view(), |_, j| {
                unit * size[j]
            });
            assert!(ratio > 1.0, "a wrong kernel passes on {device:?}");
        }
    }
}

#[test]
fn kernels_without_a_closed_form_run_on_the_cpu() {
    for name in ["matern:0.75", "mixture:0.5*gaussian@1+0.5*laplacian@2"] {
        let kernel = parse(name).expect("known");
        let (x, y) = rows(kernel.as_ref(), (9, 4, 7));
        let device = Device::cpu();
        let op = KernelBlock::load(&device, kernel.clone(), y.view()).expect("loads");
        let x_nd = Matrix::upload(&device, x.view()).expect("fits");
        let mut k_nm = poisoned(&device, 9, 7);
        op.run(&x_nd, &mut k_nm).expect("runs");
        let k = k_nm.download().expect("reads back");
        let reference = kernel_block::reference(kernel.as_ref(), x.view(), y.view());
        assert!(
            worst(k.view(), reference.view(), |_, _| EPS) <= 1.0,
            "{name}"
        );
        for device in gpus() {
            let error = KernelBlock::load(device, kernel.clone(), y.view()).expect_err("no shader");
            assert!(error.to_string().contains("--device cpu"), "{error}");
        }
    }
}
