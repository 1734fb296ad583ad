//! What waits for what on the road, and buffers that stay.

use super::*;
use crate::{
    Device, Matrix,
    data::{MemorySource, NpyWriter, OpenOptions, open},
    features::{Affine, DenseFeatures, Fourier},
    kernels::Gaussian,
};
use std::{path::Path, time::Instant};

fn fourier(columns: usize, features: usize) -> DenseFeatures {
    let map = Fourier::new(Gaussian).features(features);
    map.build(Affine::identity(columns)).expect("builds")
}

#[test]
fn a_gpu_works_on_one_chunk_while_the_host_takes_the_one_before_on_devices() {
    let map = fourier(3, 16);
    let mut devices = crate::under_test::gpus();
    devices.push(Device::cpu());
    for device in devices {
        let x = crate::check::normal(96, 3, 1);
        let mut source = MemorySource::new(x, None).expect("a source");
        // Chunks of 32 rows.
        let branches = vec![Branch::features(&map).expect("dense")];
        let mut featurizer = Featurizer::new(branches, 0, Destination::Host, &device);
        let featurizer = featurizer.as_mut().expect("plans");
        featurizer.portions = Portions::new(32);
        let events = std::cell::RefCell::new(Vec::new());
        let (sent, mut taken) = (std::cell::Cell::new(0), 0);
        let with = |_: &Chunk, range: Range<usize>| {
            assert_eq!(range, 0..32);
            let count = sent.replace(sent.get() + 1);
            events.borrow_mut().push(format!("sent {count}"));
            count
        };
        featurizer
            .on_host(&mut source, with, |z, sent| {
                assert_eq!((z[0].dim(), sent), ((32, 16), taken));
                events.borrow_mut().push(format!("took {taken}"));
                taken += 1;
                Ok(())
            })
            .expect("runs");
        let expected = match device.as_gpu() {
            Some(_) => ["sent 0", "sent 1", "took 0", "sent 2", "took 1", "took 2"],
            None => ["sent 0", "took 0", "sent 1", "took 1", "sent 2", "took 2"],
        };
        assert_eq!(*events.borrow(), expected, "{device:?}");
    }
}

#[test]
fn buffers_stay_for_rows_that_fit_and_double_for_more() {
    let map = fourier(3, 16);
    let branches = vec![Branch::features(&map).expect("dense")];
    let cpu = Device::cpu();
    let mut featurizer = Featurizer::new(branches, 0, Destination::Host, &cpu).expect("plans");
    featurizer.portions = Portions::new(64);
    for (rows, capacity) in [
        (1, 1),
        (1, 1),
        (5, 5),
        (2, 5),
        (6, 10),
        (11, 20),
        (50, 50),
        (90, 64),
    ] {
        let x = Rows::from(crate::check::normal(rows, 3, 1));
        let mut taken = 0;
        let take = |z: &[ArrayView2<'_, f32>], range: Range<usize>| {
            assert_eq!((range.start, range.len()), (taken, z[0].nrows()));
            taken = range.end;
            Ok(())
        };
        featurizer.rows(&x, take).expect("runs");
        assert_eq!(taken, rows);
        let buffers = featurizer.work.buffers().expect("there");
        assert_eq!(buffers.capacity(), capacity, "{rows} rows");
    }
}

/// Seconds of each stage when one waits for the other: read, prepare and upload, compute, read
/// back, write.
fn stages(map: &dyn FeatureMap, device: &Device, input: &Path, chunk: usize) -> [f64; 5] {
    let mut source = open(input, &OpenOptions::default()).expect("opens");
    let mut loaded = map.load(device).expect("loads");
    let mut x_nd = Matrix::new(device, chunk, map.input_dim()).expect("fits");
    let mut z_nd = Matrix::new(device, chunk, map.output_dim()).expect("fits");
    let output = input.with_extension("stages.npy");
    let mut writer = NpyWriter::<f32>::create(&output, map.output_dim()).expect("creates");
    let mut seconds = [0.0; 5];
    let mut start = Instant::now();
    let mut lap = |stage: usize| {
        seconds[stage] += start.elapsed().as_secs_f64();
        start = Instant::now();
    };
    while let Some(data) = source.next_chunk(chunk).expect("reads") {
        lap(0);
        map.input().load(&data.x, &mut x_nd).expect("uploads");
        device.synchronize().expect("uploads");
        lap(1);
        z_nd.set_rows(x_nd.rows()).expect("fits");
        loaded.featurize(&x_nd, &mut z_nd).expect("runs");
        device.synchronize().expect("runs");
        lap(2);
        let z = z_nd.download().expect("reads back");
        lap(3);
        writer.write_rows(z.view()).expect("writes");
        lap(4);
    }
    writer.finish().expect("writes");
    lap(4);
    seconds
}

#[test]
#[ignore = "a measurement: cargo test --release --lib stages_and_stream -- --ignored \
 --nocapture"]
fn stages_and_stream() {
    let folder = tempfile::tempdir().expect("a folder");
    for (d, features, rows) in [(32, 512, 65_536), (784, 1024, 8192)] {
        let input = folder.path().join("x.npy");
        let mut writer = NpyWriter::<f32>::create(&input, d).expect("creates");
        let x = crate::check::normal(rows, d, 3);
        writer.write_rows(x.view()).expect("writes");
        writer.finish().expect("writes");
        let map = Fourier::new(Gaussian).features(features);
        let map = map.build(Affine::identity(d)).expect("builds");
        for device in crate::under_test::gpus() {
            println!("{rows} x {d} to {features}, {}", device.describe());
            let mut ratios = Vec::new();
            for round in 0..12 {
                let mut parts = 0;
                let mut chunk = 0;
                let mut source = open(&input, &OpenOptions::default()).expect("opens");
                let output = input.with_extension("stream.npy");
                let mut writer = NpyWriter::<f32>::create(output, features).expect("creates");
                let start = Instant::now();
                featurize(&map, &mut source, Run::on(&device).memory(32 << 20), |z| {
                    parts += 1;
                    chunk = chunk.max(z.nrows());
                    writer.write_rows(z)
                })
                .expect("runs");
                writer.finish().expect("writes");
                let total = start.elapsed().as_secs_f64();
                let stages = stages(&map, &device, &input, chunk);
                let sum: f64 = stages.iter().sum();
                let ms = stages.map(|s| (1e3 * s).round());
                println!(
                    "  {round}: {parts} chunks, {:.0} ms, stages {ms:?} ms",
                    1e3 * total
                );
                if round > 0 {
                    // The first round compiles.
                    ratios.push(total / sum);
                }
            }
            ratios.sort_by(f64::total_cmp);
            println!(
                "  ratios {ratios:.2?}, median {:.2}",
                ratios[ratios.len() / 2]
            );
        }
    }
}
