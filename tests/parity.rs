//! Every op against its f64 reference, on the CPU and on every adapter: the checks of
//! `bochner::registry`, which `bochner bench --check` runs as well, each with its negative control.

mod common;

use bochner::{
    Device, Matrix,
    device::CpuDevice,
    form::{Registers, Way, tuning},
    ops::gram::{self, GramAccumulator},
    registry::REGISTRY,
};
use common::{devices, normal};

fn agrees(op: &str) {
    devices().iter().for_each(|device| agrees_on(op, device));
}

fn agrees_on(op: &str, device: &Device) {
    let row = REGISTRY.iter().find(|row| row.op == op);
    let row = row.expect("an op of that name");
    let outcome = (row.check)(device).expect("runs");
    println!("{op} on {device:?}: {outcome:?}");
    assert!(outcome.passed(), "{op} on {device:?}: {outcome:?}");
    // A fault that is noticed by a hair here may go unnoticed elsewhere.
    assert!(outcome.control > 4.0, "{op} on {device:?}: {outcome:?}");
}

/// Threads share rows where these are many, and columns where they are few: more of them than there
/// are cores, too.
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
fn projection_agrees_with_f64() {
    agrees("projection");
}

#[test]
fn gram_agrees_with_f64() {
    agrees("gram");
}

#[test]
fn fused_predict_agrees_with_f64() {
    agrees("predict");
}

#[test]
fn product_agrees_with_f64() {
    agrees("product");
}

#[test]
fn few_rows_agree_with_f64() {
    agrees("few");
}

#[test]
fn walsh_hadamard_agrees_with_f64() {
    agrees("walsh-hadamard");
}

#[test]
fn structured_maps_agree_with_f64() {
    agrees("structured");
}

/// Adapters of either kind take the other form of rows as well as their own.
#[test]
fn rows_agree_with_f64_however_registers_are_used() {
    // Devices of its own: other tests ask theirs for what they choose.
    for device in Device::all_gpus().expect("every adapter opens") {
        let Device::Gpu(gpu) = &device else { continue };
        let other = match gpu.is_software() {
            true => Registers::Few,
            false => Registers::Many,
        };
        tuning::force(gpu, Some(other.name())).expect("is known");
        for op in ["walsh-hadamard", "structured"] {
            agrees_on(op, &device);
        }
    }
}

#[test]
fn kernel_blocks_agree_with_the_exact_kernel() {
    agrees("kernel-block");
}

#[test]
fn binning_agrees_in_every_bit() {
    agrees("binning");
}

#[test]
fn moved_blocks_agree_with_f64() {
    agrees("place");
}

#[test]
fn complex_products_agree_with_f64() {
    agrees("complex-product");
}

#[test]
fn additive_chi2_agrees_with_f64() {
    agrees("additive-chi2");
}

#[test]
fn ceilings_agree_with_f64() {
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
fn gram_of_a_million_rows_stays_within_1e_6() {
    let (chunk, chunks, d) = (8192, 123, 4);
    for device in devices() {
        let z = normal(chunk, d, 6).mapv(|v| v.abs() + 0.1);
        let z_nd = Matrix::upload(device, z.view()).expect("fits");
        let y_nt = Matrix::upload(device, z.slice(ndarray::s![.., ..1])).expect("fits");
        let mut sums = GramAccumulator::new(device, d, 1).expect("fits");
        for _ in 0..chunks {
            sums.add(&z_nd, &y_nt).expect("runs");
        }
        let sums = sums.finish().expect("reads back");
        let one = gram::reference(z.view(), z.slice(ndarray::s![.., ..1]));
        for ((i, j), &g) in sums.gram_dd.indexed_iter() {
            let exact = one.gram_dd[[i, j]] * f64::from(chunks);
            assert!(
                (g - exact).abs() <= 1e-6 * exact.abs(),
                "{i} {j} on {device:?}: {g} {exact}"
            );
        }
    }
}
