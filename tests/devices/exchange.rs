//! Transforms by subgroup shuffles perform the same additions in the same order as those through
//! workgroup memory: on drivers that do not reorder operations, such as software adapters, results
//! are bit-identical. Parity tests check every adapter.

use crate::common::gpus;
use bochner::{
    Device, Error, Matrix,
    check::normal,
    device::GpuDevice,
    form::{Exchange, Way, tuning},
    ops::walsh_hadamard::WalshHadamard,
};
use ndarray::Array2;

/// The adapters with subgroups; prints those without, and checks that they report so.
fn shuffling() -> impl Iterator<Item = (&'static Device, &'static GpuDevice)> {
    gpus().filter_map(|device| {
        let Device::Gpu(gpu) = device else {
            return None;
        };
        match (gpu.subgroup(), Exchange::SubgroupShuffles.check(gpu)) {
            (Some(size), Ok(())) => println!("{device:?} shuffles in subgroups of {size}"),
            (None, Err(Error::Unsupported(why))) => {
                println!("not tested: {why}");
                return None;
            }
            other => panic!("{device:?}: {other:?}"),
        }
        Some((device, gpu))
    })
}

fn transform(n: usize) -> WalshHadamard {
    WalshHadamard::new(n).expect("a power of two")
}

/// `H x` into another matrix; must equal the result in place.
fn run(device: &Device, op: WalshHadamard, x: &Array2<f32>) -> Array2<f32> {
    let mut x_nd = Matrix::upload(device, x.view()).expect("fits");
    let nan = Array2::from_elem(x.dim(), f32::NAN);
    let mut y_nd = Matrix::upload(device, nan.view()).expect("fits");
    op.run_into(&x_nd, &mut y_nd).expect("runs");
    op.run(&mut x_nd).expect("runs");
    let y = y_nd.download().expect("reads back");
    assert_eq!(x_nd.download().expect("reads back"), y);
    y
}

#[test]
fn every_exchange_gives_the_same_bits_on_devices() {
    for (device, gpu) in shuffling().filter(|(_, gpu)| gpu.is_software()) {
        for n in [32, 64, 128, 256, 512, 1024] {
            // Row counts around whole workgroups, which hold two to 128 rows.
            for rows in [1, 2, 3, 31, 33, 65] {
                let x = normal(rows, n, 1);
                let [memory, shuffles] = [Exchange::WorkgroupMemory, Exchange::SubgroupShuffles]
                    .map(|e| run(device, transform(n).with_exchange(e), &x));
                assert!(memory == shuffles, "{rows} x {n} on {}", gpu.describe());
                // Negative control: the same sums in another order have other bits.
                let turned = Array2::from_shape_fn(x.dim(), |(i, j)| x[[i, (j + 1) % n]]);
                let turned = run(device, transform(n), &turned);
                let sums = memory.column(0) != turned.column(0);
                assert!(sums || rows < 31, "{rows} x {n} on {}", gpu.describe());
            }
        }
    }
}

#[test]
fn an_exchange_is_taken_where_there_is_a_choice_on_devices() {
    // Uses separate devices, since other tests query the choices of the shared ones.
    for device in Device::all_gpus().expect("every adapter opens") {
        let Device::Gpu(gpu) = &device else { continue };
        let able = gpu.subgroup().is_some();
        for exchange in Exchange::ALL {
            tuning::force(gpu, Some(exchange.name())).expect("is known");
            let expected = if able {
                *exchange
            } else {
                Exchange::WorkgroupMemory
            };
            for n in [32, 1024] {
                assert_eq!(transform(n).exchange(&device, 5), Some(expected));
            }
            for n in [16, 2048] {
                assert_eq!(transform(n).exchange(&device, 5), None);
            }
        }
        tuning::force(gpu, None).expect("is known");
        let shuffles = transform(64).with_exchange(Exchange::SubgroupShuffles);
        let mut x_nd = Matrix::new(&device, 5, 64).expect("fits");
        match (able, shuffles.run(&mut x_nd)) {
            (true, Ok(())) | (false, Err(Error::Unsupported(_))) => {}
            other => panic!("{device:?}: {other:?}"),
        }
    }
}
