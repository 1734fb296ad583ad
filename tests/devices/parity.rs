//! Every op compared with its f64 reference, on the CPU and on every adapter: the checks of
//! `bochner::registry`, which `bochner bench --check` runs as well, each with its negative control.

use crate::common::{devices, normal};
use bochner::{
    Device, Matrix,
    check::Extent,
    data::Rows,
    device::CpuDevice,
    features::{Affine, FeatureMap, Fourier},
    form::{Registers, Way, tuning},
    kernels::Gaussian,
    ops::gram::{self, GramAccumulator, GramSums},
    registry::REGISTRY,
    seed::Seed,
    solve::{Cholesky, NormalEquations},
};
use ndarray::{Array2, Axis, s};

fn agrees(op: &str) {
    devices().iter().for_each(|device| agrees_on(op, device));
}

fn agrees_on(op: &str, device: &Device) {
    let row = REGISTRY.iter().find(|row| row.op == op);
    let row = row.expect("an op of that name");
    let outcome = (row.check)(device, Extent::of_tests()).expect("runs");
    println!("{op} on {device:?}: {outcome:?}");
    assert!(outcome.passed(), "{op} on {device:?}: {outcome:?}");
    // A fault that is barely detected here may be missed elsewhere.
    assert!(outcome.control > 4.0, "{op} on {device:?}: {outcome:?}");
}

/// Threads share rows if these are many, and columns if they are few; also with more threads than
/// cores.
#[test]
fn ops_agree_with_f64_on_any_number_of_threads() {
    for threads in [1, 3, 5] {
        let device = Device::Cpu(CpuDevice::with_threads(threads).expect("starts"));
        for op in [
            "projection",
            "gram",
            "predict",
            "product",
            "few",
            "binning",
            "complex-product",
            "additive-chi2",
        ] {
            agrees_on(op, &device);
        }
    }
}

#[test]
fn projection_agrees_with_f64_on_devices() {
    agrees("projection");
}

#[test]
fn gram_agrees_with_f64_on_devices() {
    agrees("gram");
}

#[test]
fn fused_predict_agrees_with_f64_on_devices() {
    agrees("predict");
}

#[test]
fn product_agrees_with_f64_on_devices() {
    agrees("product");
}

#[test]
fn few_rows_agree_with_f64_on_devices() {
    agrees("few");
}

#[test]
fn walsh_hadamard_agrees_with_f64_on_devices() {
    agrees("walsh-hadamard");
}

#[test]
fn structured_maps_agree_with_f64_on_devices() {
    agrees("structured");
}

/// Adapters of either kind also use the form for few rows of the other kind.
#[test]
fn rows_agree_with_f64_however_registers_are_used_on_devices() {
    // Uses separate devices, since other tests query the choices of the shared ones.
    for device in Device::all_gpus().expect("every adapter opens") {
        let Device::Gpu(gpu) = &device else { continue };
        let other = if gpu.is_software() {
            Registers::Few
        } else {
            Registers::Many
        };
        tuning::force(gpu, Some(other.name())).expect("is known");
        for op in ["walsh-hadamard", "structured"] {
            agrees_on(op, &device);
        }
    }
}

#[test]
fn kernel_blocks_agree_with_the_exact_kernel_on_devices() {
    agrees("kernel-block");
}

#[test]
fn binning_agrees_in_every_bit_on_devices() {
    agrees("binning");
}

#[test]
fn moved_blocks_agree_with_f64_on_devices() {
    agrees("place");
}

#[test]
fn complex_products_agree_with_f64_on_devices() {
    agrees("complex-product");
}

#[test]
fn additive_chi2_agrees_with_f64_on_devices() {
    agrees("additive-chi2");
}

#[test]
fn ceilings_agree_with_f64_on_devices() {
    agrees("ceiling");
}

#[test]
fn every_op_has_its_test() {
    let tested = [
        "projection",
        "gram",
        "predict",
        "product",
        "few",
        "walsh-hadamard",
        "structured",
        "kernel-block",
        "binning",
        "place",
        "complex-product",
        "additive-chi2",
        "ceiling",
    ];
    let suites: Vec<_> = REGISTRY.iter().map(|row| row.op).collect();
    assert_eq!(suites, tested);
}

#[test]
fn gram_of_a_million_rows_stays_within_1e_6_on_devices() {
    let (chunk, chunks, d) = (8192, 123, 4);
    for device in devices() {
        let z = normal(chunk, d, 6).mapv(|v| v.abs() + 0.1);
        let z_nd = Matrix::upload(device, z.view()).expect("fits");
        let y_nt = Matrix::upload(device, z.slice(s![.., ..1])).expect("fits");
        let mut sums = GramAccumulator::new(device, d, 1).expect("fits");
        for _ in 0..chunks {
            sums.add(&z_nd, &y_nt).expect("runs");
        }
        let sums = sums.finish().expect("reads back");
        let one = gram::reference(z.view(), z.slice(s![.., ..1]));
        for ((i, j), &g) in sums.gram_dd.indexed_iter() {
            let exact = one.gram_dd[[i, j]] * f64::from(chunks);
            assert!(
                (g - exact).abs() <= 1e-6 * exact.abs(),
                "{i} {j} on {device:?}: {g} {exact}"
            );
        }
    }
}

/// Sums of rows in plain f32, accumulated in f64 over blocks of `rows` rows.
fn in_blocks(z: &Array2<f32>, y: &Array2<f32>, rows: usize) -> GramSums {
    let mut sums = gram::reference(z.slice(s![..0, ..]), y.slice(s![..0, ..]));
    let blocks = z.axis_chunks_iter(Axis(0), rows);
    for (z, y) in blocks.zip(y.axis_chunks_iter(Axis(0), rows)) {
        let (mut gram, mut zty) = (
            sums.gram_dd.mapv(|_| 0.0_f32),
            sums.zty_dt.mapv(|_| 0.0_f32),
        );
        for (z, y) in z.rows().into_iter().zip(y.rows()) {
            for (i, &zi) in z.iter().enumerate() {
                let row = gram.row_mut(i).into_iter();
                row.zip(z)
                    .take(i + 1)
                    .for_each(|(g, &zj)| *g = zi.mul_add(zj, *g));
                let row = zty.row_mut(i).into_iter();
                row.zip(y).for_each(|(g, &yk)| *g = zi.mul_add(yk, *g));
            }
        }
        sums.gram_dd += &gram.mapv(f64::from);
        sums.zty_dt += &zty.mapv(f64::from);
    }
    sums
}

/// Rounding errors of sums become errors of coefficients, amplified by the condition number of the
/// fit's matrix, 1e5 here. Errors of sums and coefficients of a GPU are at most twice as large as
/// on the CPU.
#[test]
fn sums_of_any_device_err_at_most_twice_as_much_as_those_of_the_cpu() {
    let (rows, features, draws) = (12_000, 64, 4);
    let ridge = Cholesky {
        lambda: 1e-5,
        intercept: false,
    };
    let fit = |sums: &GramSums| {
        let sums = NormalEquations {
            rows: rows as u64,
            weight: rows as f64,
            gram_dd: sums.gram_dd.clone(),
            zty_dt: sums.zty_dt.clone(),
            ..NormalEquations::zero(features, 3)
        };
        ridge.solve(&sums).expect("is positive definite").beta_dt
    };
    let data: Vec<_> = (0..draws)
        .map(|draw| {
            let x = normal(rows, 3, draw);
            let map = Fourier::new(Gaussian).features(features).seed(Seed(draw));
            let input = Affine::identity(3).lengthscale(3.0).expect("positive");
            let map = map.build(input.clone()).expect("builds");
            let mut loaded = map.load(&Device::cpu()).expect("loads");
            let mut x_nd = Matrix::new(&Device::cpu(), rows, 3).expect("fits");
            input.load(&Rows::from(&x), &mut x_nd).expect("loads");
            let mut z_nd = Matrix::new(&Device::cpu(), rows, features).expect("fits");
            loaded.featurize(&x_nd, &mut z_nd).expect("runs");
            let z = z_nd.download().expect("reads");
            let exact = gram::reference(z.view(), x.view());
            let beta = fit(&exact);
            (z, x, exact, beta)
        })
        .collect();
    // The root mean squares of the errors of Z'Z and of coefficients.
    let errors = |sums_of: &dyn Fn(&Array2<f32>, &Array2<f32>) -> GramSums| {
        let norm = |b: &Array2<f64>| b.iter().map(|v| v * v).sum::<f64>().sqrt();
        let each = data.iter().map(|(z, y, exact, beta)| {
            let sums = sums_of(z, y);
            let gram = norm(&(&sums.gram_dd - &exact.gram_dd)) / norm(&exact.gram_dd);
            [gram, norm(&(fit(&sums) - beta)) / norm(beta)]
        });
        let squares = each.fold([0.0; 2], |s, e| [s[0] + e[0] * e[0], s[1] + e[1] * e[1]]);
        squares.map(|s| (s / draws as f64).sqrt())
    };
    let on = |device: &Device| {
        let errors = errors(&|z, y| {
            let z_nd = Matrix::upload(device, z.view()).expect("fits");
            let y_nt = Matrix::upload(device, y.view()).expect("fits");
            let mut sums = GramAccumulator::new(device, features, 3).expect("fits");
            sums.add(&z_nd, &y_nt).expect("runs");
            sums.finish().expect("reads back")
        });
        println!("{errors:?} on {device:?}");
        errors
    };
    let allowed = on(&Device::cpu()).map(|error| 2.0 * error);
    for device in devices() {
        let errors = on(device);
        let holds = errors[0] <= allowed[0] && errors[1] <= allowed[1];
        assert!(holds, "{errors:?} of {allowed:?} on {device:?}");
    }
    // Negative control: plain f32 over 4,096 rows.
    let control = errors(&|z, y| in_blocks(z, y, 4096));
    println!("{control:?} in blocks of 4,096");
    let noticed = control[0] > 2.0 * allowed[0] && control[1] > 2.0 * allowed[1];
    assert!(noticed, "{control:?} of {allowed:?}");
}
