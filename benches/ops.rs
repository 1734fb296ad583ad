//! Every op on the CPU beside its floor: `cargo bench --bench ops`.
//!
//! The floor is what the op would take at this machine's measured rates of a plain matrix product
//! and of a copy; it is printed first, so that a time can be read against it. `bochner bench` does
//! the same on any device, without criterion.

use bochner::{
    Device, Matrix,
    bench::{Ceilings, OpBench, Prepared, Shape},
    ops::product::product,
    registry,
};
use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use ndarray::Array2;
use std::{hint::black_box, time::Instant};

/// Op, rows, d, D.
const CASES: &[(&str, usize, usize, usize)] = &[
    ("projection-paired", 1024, 784, 2048),
    ("projection-phase", 1024, 784, 2048),
    ("projection-phase", 8192, 32, 1024),
    ("projection-phase", 1, 784, 4096),
    ("gram", 4096, 0, 1024),
    ("predict", 1024, 784, 2048),
    ("product", 1024, 784, 1024),
    ("cholesky", 0, 0, 1024),
];

fn ops(criterion: &mut Criterion) {
    let device = Device::cpu();
    let gemm = gemm_rate(&device);
    let ceilings = Ceilings::measure(&device, 1.0).expect("measures");
    println!(
        "floors: plain product {:.0} GFLOP/s, copy {:.1} GB/s ({})",
        gemm / 1e9,
        ceilings.copy_bytes_per_second() / 1e9,
        device.describe()
    );
    let mut group = criterion.benchmark_group("ops");
    group.sample_size(10);
    for &(name, rows, dim, features) in CASES {
        let op: &OpBench = registry::bench(name).expect("an op");
        let shape: Shape = op.shape(rows, dim, features);
        let work = (op.work)(shape);
        let floor = (work.flops / gemm).max(work.bytes / ceilings.copy_rate(work.bytes));
        println!("floor of {name} {shape}: {:.3} ms", 1e3 * floor);
        let mut case = Prepared::new(&device, op, shape).expect("fits");
        group.throughput(Throughput::Elements(work.flops as u64));
        group.bench_function(BenchmarkId::new(name, shape), |bencher| {
            bencher.iter_custom(|times| {
                let times = usize::try_from(times).expect("few");
                let seconds: f64 = case.time_exactly(times, 1).expect("runs").iter().sum();
                std::time::Duration::from_secs_f64(seconds)
            });
        });
    }
    group.finish();
}

/// Operations per second of the best of several plain products.
fn gemm_rate(device: &Device) -> f64 {
    let n = 1024;
    let ones = Array2::ones((n, n));
    let a = Matrix::upload(device, ones.view()).expect("fits");
    let mut c = Matrix::new(device, n, n).expect("fits");
    let seconds = (0..10).map(|_| {
        let start = Instant::now();
        product(&a, &a, &mut c).expect("runs");
        black_box(&c);
        start.elapsed().as_secs_f64()
    });
    2.0 * (n as f64).powi(3) / seconds.fold(f64::INFINITY, f64::min)
}

criterion_group!(benches, ops);
criterion_main!(benches);
