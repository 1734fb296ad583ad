//! Kernel blocks times coefficients compared with the exact kernel in f64, on the CPU and on every
//! adapter, and kernels without a shader. The blocks themselves are tested by a suite of the
//! registry.

use crate::common::{devices, gpus, normal, worst};
use bochner::{
    Device, Matrix,
    error::Remedy,
    kernels::parse,
    ops::kernel_block::{self, KernelBlock, Level, check::block_rows},
};
use ndarray::Array2;

const EPS: f64 = 1.0 / 16_777_216.0;

fn poisoned(device: &Device, rows: usize, cols: usize) -> Matrix {
    Matrix::upload(device, Array2::from_elem((rows, cols), f32::NAN).view()).expect("fits")
}

/// The block followed by the product, which must ignore the padding of the block.
#[test]
fn times_is_block_then_product_on_devices() {
    let kernel = parse("gaussian").expect("known");
    for device in devices() {
        let mut scratch = None;
        // The last one exceeds the block size of a GPU.
        for (n, d, m, t) in [
            (70, 6, 67, 3),
            (130, 6, 67, 40),
            (1, 6, 67, 1),
            (300, 1, 32_768, 1),
        ] {
            // Number of sequential additions.
            let terms = if t > 16 { m } else { m / 16 + 40 };
            let unit = (terms + d + 20) as f64 * EPS;
            let (x, y) = block_rows(kernel.as_ref(), (n, d, m));
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

/// Near its maximum k - 1 is accurate at any size, while k in f32 loses its digits.
#[test]
fn from_the_top_small_distances_keep_their_digits_on_devices() {
    for name in [
        "gaussian",
        "laplacian",
        "exponential",
        "matern32",
        "matern52",
        "cauchy",
        "hat",
        "rational-quadratic:2",
        "matern:0.75",
    ] {
        let kernel = parse(name).expect("known");
        let (x, y) = block_rows(kernel.as_ref(), (37, 6, 21));
        let (x, y) = (x * 3e-3, y * 3e-3);
        let exact = kernel_block::reference_from(kernel.as_ref(), x.view(), y.view(), Level::Top);
        // Terms of size z nearly cancel in these two, whose k - 1 has size z^2.
        let allowed = if ["matern32", "matern52"].contains(&name) {
            1e-3
        } else {
            3e-6
        };
        let wrong = exact.mapv(|v| f64::from((v + 1.0) as f32 - 1.0));
        let devices = match name {
            "matern:0.75" => &devices()[..1],
            _ => devices(),
        };
        for device in devices {
            let op = KernelBlock::load_from(device, kernel.clone(), y.view(), Level::Top);
            let op = op.expect("loads");
            assert_eq!(op.columns(), 22);
            let x_nd = Matrix::upload(device, x.view()).expect("fits");
            let mut k_nm = poisoned(device, 37, 22);
            op.run(&x_nd, &mut k_nm).expect("runs");
            let k = k_nm.download().expect("reads back");
            assert!(
                k.column(21).iter().all(|&v| v == 1.0),
                "{name} on {device:?}"
            );
            let share = |k: &Array2<f64>| {
                let all = k
                    .indexed_iter()
                    .filter(|((i, j), _)| (*i, *j) != (0, 0) && *j < 21);
                all.map(|(at, v)| (v / exact[at] - 1.0).abs())
                    .fold(0.0, f64::max)
            };
            let error = share(&k.mapv(f64::from));
            println!("{name} on {}: {error:.1e}", device.describe());
            assert!(error < allowed, "{name} on {device:?}: {error:e}");
            if name == "gaussian" {
                assert!(share(&wrong) > 100.0 * allowed, "{:e}", share(&wrong));
            }
        }
    }
    let kernel = parse("arc-cosine:1").expect("known");
    let one = Array2::ones((1, 1));
    let none = KernelBlock::load_from(&Device::cpu(), kernel, one.view(), Level::Top);
    assert!(
        none.expect_err("has no top")
            .to_string()
            .contains("measure from zero")
    );
}

#[test]
fn kernels_without_a_closed_form_run_on_the_cpu_on_devices() {
    for name in ["matern:0.75", "mixture:0.5*gaussian@1+0.5*laplacian@2"] {
        let kernel = parse(name).expect("known");
        let (x, y) = block_rows(kernel.as_ref(), (9, 4, 7));
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
            assert_eq!(error.remedies(), [Remedy::UseCpu], "{error}");
        }
    }
}
