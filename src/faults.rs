//! Tests of devices that are full or lost during work, on every adapter. `maps/src/faults.rs` has
//! those that need matrices alone.

use crate::{
    Device, Error, Matrix,
    data::{Chunk, ChunkSource, MemorySource, Survey},
    device::GpuDevice,
    features::{Affine, DenseFeatures, FeatureMap, Fourier, featurize},
    flow::Run,
    kernels::Gaussian,
    learn::FitOptions,
    model::{LinearModel, Targets},
    normal::{Accumulation, COPY_EVERY, NormalEquations},
    seed::{Seed, Stream},
    solve::{FeatureProducts, StreamedRows},
};
use ndarray::{Array2, ArrayView2, Axis, s};

fn gpus() -> impl Iterator<Item = (Device, GpuDevice)> {
    let all = bochner_maps::under_test::gpus().into_iter();
    all.map(|device| {
        let gpu = device.gpu().expect("a GPU").clone();
        (device, gpu)
    })
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

/// Runs `work` with device memory limited to `bytes` more than is in use now.
fn within<R>(gpu: &GpuDevice, bytes: u64, work: impl FnOnce() -> R) -> R {
    gpu.limit_memory(Some(gpu.bytes_in_use() + bytes));
    let result = work();
    gpu.limit_memory(None);
    result
}

fn is_full(error: &Error) {
    let text = error.to_string();
    assert!(matches!(error, Error::OutOfMemory { .. }), "{text}");
    for part in ["needs", "B, beside", "already in use", "less .memory"] {
        assert!(text.contains(part), "no {part:?} in {text:?}");
    }
}

#[test]
fn features_come_in_smaller_chunks_from_a_full_device() {
    // One chunk of 9,000 rows is 9.2 MB of features on the device and as much on their way back;
    // one of 2,048 is 2.1 MB.
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
            let rows = featurize(&map, &mut source, &device, sink)?;
            assert_eq!(rows, 9000);
            Ok((parts, all))
        };
        let (parts, whole) = run().expect("there is room");
        assert_eq!(parts, [9000]);
        // The first limit fails when the features are allocated, the second only at the readback.
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
    // 20,000 rows of 64 features are 5.1 MB; a quarter in whole blocks, 4,096 rows, takes 4 MB less
    // and is summed in the same blocks. The sums themselves take 25 MB on a GPU of 132 cores, and
    // four times that if tuning chose tiles of 128 x 128.
    let map = fourier(4, 64);
    let targets = Targets::Real {
        columns: 1,
        shift: vec![3.0],
    };
    for (device, gpu) in gpus() {
        let run = || {
            let mut source = source(20_000, 4);
            NormalEquations::accumulate(&map, &mut source, &targets, &device)
        };
        let whole = run().expect("there is room");
        assert_eq!(whole.rows, 20_000);
        // The smallest limit that works is below the memory of all rows at once.
        let mut rooms = (1..256).map(|room| within(&gpu, room << 20, run));
        let parts = rooms.find_map(Result::ok).expect("a quarter fits");
        assert!(parts == whole, "other sums on {device:?}");
        is_full(&within(&gpu, 1_200_000, run).expect_err("a quarter does not fit either"));
    }
}

#[test]
fn predictions_come_in_smaller_chunks_from_a_full_device() {
    let (rows, columns) = (9000, 64);
    let mut train = source(500, columns);
    let survey = Survey::new(&mut train, 100, 0).expect("a survey");
    let map = Box::new(fourier(columns, 64));
    let options = FitOptions::on(&Device::cpu());
    let targets = Targets::real(&survey);
    let model = LinearModel::fit(map, &mut train, targets, &options).expect("fits");
    for (device, gpu) in gpus() {
        let run = || -> crate::Result<(Vec<usize>, Vec<f64>)> {
            let mut predictor = model.on(&device)?;
            let (mut parts, mut all) = (Vec::new(), Vec::new());
            predictor.stream(&mut source(rows, columns), |predicted, y| {
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
            let maps = [(&map as &dyn FeatureMap, 0, 1.0)];
            let mut features = StreamedRows::new(&maps, source, rows, &device)?;
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

/// A source that loses its device when chunk `at` is read.
struct Losing {
    rows: MemorySource,
    gpu: GpuDevice,
    at: usize,
    read: usize,
}

impl Losing {
    fn new(rows: MemorySource, gpu: &GpuDevice, at: usize) -> Self {
        let gpu = gpu.clone();
        Self {
            rows,
            gpu,
            at,
            read: 0,
        }
    }
}

impl ChunkSource for Losing {
    fn columns(&self) -> usize {
        self.rows.columns()
    }
    fn targets(&self) -> usize {
        self.rows.targets()
    }
    fn rows(&self) -> Option<usize> {
        self.rows.rows()
    }
    fn next_chunk(&mut self, max_rows: usize) -> crate::Result<Option<Chunk>> {
        if self.read == self.at {
            self.gpu.lose();
        }
        self.read += 1;
        self.rows.next_chunk(max_rows)
    }
    fn rewind(&mut self) -> crate::Result<()> {
        self.rows.rewind()
    }
}

fn is_lost(error: &Error, kept: u64) {
    let text = error.to_string();
    let matches = matches!(error, Error::DeviceLost { rows_kept, .. } if *rows_kept == kept);
    assert!(matches, "{kept} {error:?}");
    assert!(
        text.contains("lost") && text.contains("use Device::cpu()"),
        "{text}"
    );
    assert_eq!(
        text.contains(&format!("first {kept} rows are kept")),
        kept > 0,
        "{text}"
    );
}

/// Memory in bytes for chunks of 256 rows with 4 columns, 64 features and a target.
const SMALL: u64 = 150_000;

/// Rows between readbacks of the sums; ends in the middle of a chunk.
const STRETCH: u64 = 1000;

/// Each stretch is rounded to f64, so the sums of one stretch differ slightly from those of
/// several.
fn assert_near_alone(
    (map, targets, device): (&DenseFeatures, &Targets, &Device),
    whole: &NormalEquations,
    rows: usize,
) {
    let mut alone = NormalEquations::zero(64, 1);
    let run_alone = Accumulation::new(map, targets, Run::on(device), COPY_EVERY);
    run_alone
        .add(&mut source(rows, 4), &mut alone)
        .expect("runs");
    assert_ne!(alone.gram_dd, whole.gram_dd);
    for (a, b) in alone.gram_dd.iter().zip(&whole.gram_dd) {
        // f32 blocks of at most 16 rows start at another row: 1e-5 was observed, and no chain of
        // 512 errs by more than 5e-4. A row adds 1/64 to the diagonal, on average.
        assert!((a - b).abs() <= 1e-4, "{a} {b}");
    }
}

#[test]
fn a_fit_goes_on_to_the_same_bits_after_its_device_is_lost() {
    let (map, rows) = (fourier(4, 64), 5000);
    let targets = Targets::Real {
        columns: 1,
        shift: vec![3.0],
    };
    for ((device, gpu), (other, _)) in gpus().zip(gpus()) {
        let on = |device: &Device| {
            let run = Run::on(device).memory(SMALL);
            Accumulation::new(&map, &targets, run, STRETCH)
        };
        let none = || NormalEquations::zero(64, 1);
        let (mut whole, mut kept) = (none(), none());
        let run = on(&other);
        run.add(&mut source(rows, 4), &mut whole).expect("runs");
        assert_eq!(whole.rows, 5000);
        let mut losing = Losing::new(source(rows, 4), &gpu, 10);
        let error = on(&device).add(&mut losing, &mut kept);
        is_lost(&error.expect_err("the device is lost"), kept.rows);
        // 2,560 rows are read before the loss. One chunk is read ahead, and its successor while it
        // is in work; a reader that has to wait for a core lets all be counted first.
        assert!([1000, 2000].contains(&kept.rows), "{}", kept.rows);
        // The kept sums equal those of the first `n` rows.
        let n = kept.rows as usize;
        let x = normal(rows, 4).slice_move(s![..n, ..]);
        let y = x.map_axis(Axis(1), |x| 3.0 + x[0].sin());
        let mut first = MemorySource::new(&x, Some(y.insert_axis(Axis(1)))).expect("a source");
        let mut same = none();
        run.add(&mut first, &mut same).expect("runs");
        assert!(kept == same, "other sums on {device:?}");
        // On a device of the same kind the remaining rows give the bits of an uninterrupted run.
        run.add(&mut source(rows, 4), &mut kept).expect("goes on");
        assert_eq!(kept.rows, 5000);
        assert!(kept == whole, "other bits on {device:?}");
        assert_near_alone((&map, &targets, &other), &whole, rows);
        // A further call has no rows to add.
        let before = kept.clone();
        run.add(&mut source(rows, 4), &mut kept)
            .expect("nothing to do");
        assert!(kept == before);
        let error = run
            .add(&mut source(4000, 4), &mut kept)
            .expect_err("too few rows");
        assert!(
            error
                .to_string()
                .contains("5000 rows, but the data has 4000"),
            "{error}"
        );
    }
}

#[test]
fn a_lost_device_is_a_typed_error_everywhere() {
    let map = fourier(4, 64);
    let targets = Targets::Real {
        columns: 1,
        shift: vec![3.0],
    };
    let ridge = || {
        let mut train = source(500, 4);
        let survey = Survey::new(&mut train, 100, 0).expect("a survey");
        let options = FitOptions::on(&Device::cpu());
        let map = Box::new(fourier(4, 64));
        LinearModel::fit(map, &mut train, Targets::real(&survey), &options)
    };
    let model = ridge().expect("fits");
    type Work<'a> = &'a dyn Fn(&Device, &mut dyn ChunkSource) -> crate::Result<()>;
    let works: [(&str, Work<'_>); 4] = [
        ("featurize", &|device, source| {
            featurize(&map, source, Run::on(device).memory(SMALL), |_| Ok(())).map(|_| ())
        }),
        ("fit", &|device, source| {
            NormalEquations::accumulate(&map, source, &targets, Run::on(device).memory(SMALL))
                .map(|_| ())
        }),
        ("predict", &|device, source| {
            let mut predictor = model.on(Run::on(device).memory(20_000))?;
            predictor.stream(source, |_, _| Ok(())).map(|_| ())
        }),
        ("products", &|device, source| {
            let maps = [(&map as &dyn FeatureMap, 0, 1.0)];
            let mut features =
                StreamedRows::new(&maps, source, 5000, Run::on(device).memory(SMALL))?;
            let (mut r, mut out) = (Array2::zeros((1, 5000)), Array2::zeros((1, 64)));
            features.round_trip(normal(1, 64).view(), &mut r, &mut out)
        }),
    ];
    for (name, work) in works {
        for (device, gpu) in gpus() {
            work(&device, &mut source(5000, 4)).expect("runs");
            // Lost in the middle, and before anything is read.
            for at in [6, 0] {
                let mut losing = Losing::new(source(5000, 4), &gpu, at);
                let error = work(&device, &mut losing).expect_err(name);
                println!("{name}: {error}");
                is_lost(&error, 0);
            }
            is_lost(&Matrix::new(&device, 3, 3).expect_err("lost"), 0);
            is_lost(&device.synchronize().expect_err("lost"), 0);
        }
    }
}
