//! Tests of what happens when a device is full or lost in the middle of work, on every adapter.

use crate::{
    Device, Error,
    data::{ChunkSource, MemorySource, Survey},
    device::GpuDevice,
    features::{Affine, DenseFeatures, Fourier, featurize},
    kernels::Gaussian,
    models::{FitOptions, RidgeRegressor},
    normal::{NormalEquations, Targets},
    plan::DEFAULT_MEMORY,
    seed::{Seed, Stream},
    solve::{FeatureProducts, StreamedRows},
};
use ndarray::{Array2, ArrayView2, Axis};

/// Every adapter, opened for one test alone. Under BOCHNER_REQUIRE_GPU=1 no adapter is a failure.
fn gpus() -> Vec<(Device, GpuDevice)> {
    let all = Device::all_gpus().expect("every usable adapter opens");
    assert!(
        !all.is_empty() || std::env::var("BOCHNER_REQUIRE_GPU").as_deref() != Ok("1"),
        "no adapter, though BOCHNER_REQUIRE_GPU=1"
    );
    let both = all.into_iter().map(|device| {
        println!("device under test: {}", device.describe());
        let gpu = device.gpu().expect("a GPU").clone();
        (device, gpu)
    });
    both.collect()
}

fn normal(rows: usize, columns: usize) -> Array2<f64> {
    let mut draws = Seed(7).stream(Stream::Sample, 0);
    Array2::from_shape_simple_fn((rows, columns), || draws.normal())
}

/// Rows of `columns` normal values with one smooth target.
fn source(rows: usize, columns: usize) -> MemorySource {
    let x = normal(rows, columns);
    let y = x
        .map_axis(Axis(1), |x| 3.0 + x[0].sin())
        .insert_axis(Axis(1));
    MemorySource::new(&x, Some(y)).expect("a source")
}

fn fourier(columns: usize, features: usize) -> DenseFeatures {
    let map = Fourier::new(Gaussian).features(features).seed(Seed(1));
    map.build(Affine::identity(columns)).expect("a map")
}

/// Limits the device to `bytes` beyond what is in use, and hears what `work` says then.
fn within<R>(gpu: &GpuDevice, bytes: u64, work: impl FnOnce() -> R) -> R {
    gpu.limit_memory(Some(gpu.bytes_in_use() + bytes));
    let result = work();
    gpu.limit_memory(None);
    result
}

fn is_full(error: &Error) {
    let text = error.to_string();
    assert!(matches!(error, Error::OutOfMemory { .. }), "{text}");
    for part in ["needs", "B, beside", "already in use", "--memory"] {
        assert!(text.contains(part), "no {part:?} in {text:?}");
    }
}

#[test]
fn features_come_in_smaller_chunks_from_a_full_device() {
    // One chunk of 9,000 rows is 9.2 MB of features on the device and as much on their way back; one of 2,048 is 2.1 MB.
    let map = fourier(8, 256);
    for (device, gpu) in gpus() {
        let run = || -> crate::Result<(Vec<usize>, Vec<f32>)> {
            let (mut parts, mut all) = (Vec::new(), Vec::new());
            let sink = |z: ArrayView2<'_, f32>| {
                parts.push(z.nrows());
                all.extend(z);
                Ok(())
            };
            let mut source = source(9000, 8);
            let rows = featurize(
                &map,
                &mut source,
                &device,
                DEFAULT_MEMORY,
                &mut |_| {},
                sink,
            )?;
            assert_eq!(rows, 9000);
            Ok((parts, all))
        };
        let (parts, whole) = run().expect("there is room");
        assert_eq!(parts, [9000]);
        // Full when the features are allocated, and full only when they are to be read back.
        for room in [8_000_000, 14_000_000] {
            let (parts, all) = within(&gpu, room, run).expect("a quarter fits");
            assert_eq!(parts, [2048, 2048, 2048, 2048, 808]);
            assert!(all == whole, "other bits with {room} bytes on {device:?}");
        }
        is_full(&within(&gpu, 2_000_000, run).expect_err("a quarter does not fit either"));
        assert_eq!(run().expect("there is room again").0, [9000]);
    }
}

#[test]
fn a_fit_counts_every_row_once_on_a_full_device() {
    // 20,000 rows of 64 features are 5.1 MB; a quarter in whole blocks, 4,096 rows, is summed in the same blocks.
    let map = fourier(4, 64);
    let targets = Targets::Real {
        columns: 1,
        shift: vec![3.0],
    };
    for (device, gpu) in gpus() {
        let run = || {
            let mut source = source(20_000, 4);
            NormalEquations::accumulate(
                &map,
                &mut source,
                &targets,
                &device,
                DEFAULT_MEMORY,
                &mut |_| {},
            )
        };
        let whole = run().expect("there is room");
        assert_eq!(whole.rows, 20_000);
        let parts = within(&gpu, 3_000_000, run).expect("a quarter fits");
        assert!(parts == whole, "other sums on {device:?}");
        is_full(&within(&gpu, 1_200_000, run).expect_err("a quarter does not fit either"));
    }
}

#[test]
fn predictions_come_in_smaller_chunks_from_a_full_device() {
    let (rows, columns) = (9000, 64);
    let mut train = source(500, columns);
    let survey = Survey::of(&mut train, 100, 0, &mut |_| {}).expect("a survey");
    let map = Box::new(fourier(columns, 64));
    let options = FitOptions::on(&Device::cpu());
    let model = RidgeRegressor::fit(map, &mut train, &survey, &options, &mut |_| {}).expect("fits");
    for (device, gpu) in gpus() {
        let run = || -> crate::Result<(Vec<usize>, Vec<f64>)> {
            let mut predictor = model.on(&device, DEFAULT_MEMORY)?;
            let (mut parts, mut all) = (Vec::new(), Vec::new());
            predictor.stream(&mut source(rows, columns), &mut |_| {}, |predicted, y| {
                assert_eq!(predicted.dim(), y.dim());
                parts.push(predicted.nrows());
                all.extend(predicted);
                Ok(())
            })?;
            Ok((parts, all))
        };
        let (parts, whole) = run().expect("there is room");
        assert_eq!(parts, [9000]);
        // X takes 2.3 MB.
        let (parts, all) = within(&gpu, 1_500_000, run).expect("a quarter fits");
        assert!(parts.len() > 1 && all == whole, "{parts:?} on {device:?}");
        is_full(&within(&gpu, 200_000, run).expect_err("a quarter does not fit either"));
    }
}

#[test]
fn products_with_streamed_features_are_the_same_on_a_full_device() {
    let map = fourier(4, 64);
    let rows = 20_000;
    let beta_td = normal(1, 64);
    for (device, gpu) in gpus() {
        let run = || -> crate::Result<(Array2<f64>, Array2<f64>)> {
            let mut source = source(rows, 4);
            let source: &mut dyn ChunkSource = &mut source;
            let maps = [(&map as &dyn crate::features::FeatureMap, 0, 1.0)];
            let mut features = StreamedRows::new(&maps, source, rows, &device, DEFAULT_MEMORY)?;
            let (mut r, mut out) = (Array2::zeros((1, rows)), Array2::zeros((1, 64)));
            features.round_trip(beta_td.view(), &mut r, &mut out)?;
            Ok((r, out))
        };
        let whole = run().expect("there is room");
        assert!(whole.0.iter().any(|&r| r != 0.0));
        let parts = within(&gpu, 4_000_000, run).expect("a quarter fits");
        assert!(parts == whole, "other products on {device:?}");
        is_full(&within(&gpu, 1_000_000, run).expect_err("a quarter does not fit either"));
    }
}
