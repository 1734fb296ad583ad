//! Results do not depend on chunk size, thread count, batches of rows, merging, or saving and
//! loading; and a seed always gives the same results.

use crate::common::{devices, normal};
use bochner::{
    Device, Matrix, Result, Run, Step,
    data::{MemorySource, Part, Rows, Split, Survey},
    device::CpuDevice,
    features::{Affine, Fastfood, FeatureMap, Form, Fourier, Mixed, Nystrom},
    kernels::Gaussian,
    models::{FitOptions, LinearModel, Targets},
    seed::Seed,
    solve::NormalEquations,
};
use ndarray::{Array1, Array2, Axis, s};
use safetensors::{Dtype, SafeTensors};

fn map(d: usize, features: usize) -> Box<dyn FeatureMap> {
    let input = Affine::identity(d).lengthscale(2.0).expect("positive");
    let map = Fourier::new(Gaussian).features(features).seed(Seed(5));
    Box::new(map.build(input).expect("builds"))
}

fn featurize(map: &dyn FeatureMap, device: &Device, rows: &Rows) -> Array2<f32> {
    let mut x_nd = Matrix::new(device, rows.nrows(), map.input_dim()).expect("fits");
    let mut z_nd = Matrix::new(device, rows.nrows(), map.output_dim()).expect("fits");
    map.input().load(rows, &mut x_nd).expect("loads");
    let mut loaded = map.load(device).expect("loads");
    loaded.featurize(&x_nd, &mut z_nd).expect("runs");
    z_nd.download().expect("reads")
}

fn largest_difference(a: &Array2<f32>, b: &Array2<f32>) -> f32 {
    (a - b).iter().fold(0.0, |m: f32, v| m.max(v.abs()))
}

#[test]
fn features_do_not_depend_on_batches_threads_or_order_on_devices() {
    let x = normal(203, 13, 1);
    let map = map(13, 150);
    let mut all: Vec<Device> = devices().to_vec();
    all.push(Device::Cpu(CpuDevice::with_threads(1).expect("starts")));
    all.push(Device::Cpu(CpuDevice::with_threads(3).expect("starts")));
    let whole = featurize(map.as_ref(), &Device::cpu(), &Rows::from(&x));
    for device in &all {
        for batch in [1, 7, 64, 203] {
            for from in (0..203).step_by(batch) {
                let to = 203.min(from + batch);
                let part = x.slice(s![from..to;-1, ..]);
                let z = featurize(map.as_ref(), device, &Rows::from(part));
                let expected = whole.slice(s![from..to;-1, ..]).to_owned();
                if matches!(device, Device::Cpu(_)) {
                    assert_eq!(z, expected, "{device:?}, batch {batch}: not the same bits");
                }
                let difference = largest_difference(&z, &expected);
                // Rounding of the projection only: sqrt(2/D) * 2 pi * a few ulp of the phase.
                assert!(
                    difference < 1e-6,
                    "{device:?}, batch {batch}: {difference:e}"
                );
            }
        }
    }
}

/// For one or two rows some machines read frequencies in 16 bits and distribute them over threads:
/// with the same bits still.
#[test]
fn rows_alone_have_the_bits_of_their_batch_on_any_number_of_threads() {
    let x = normal(40, 257, 4);
    let map = map(257, 4110);
    let whole = featurize(map.as_ref(), &Device::cpu(), &Rows::from(&x));
    for threads in [1, 2, 3, 5] {
        let device = Device::Cpu(CpuDevice::with_threads(threads).expect("starts"));
        for rows in 1..=3 {
            let part = x.slice(s![7..7 + rows, ..]);
            let z = featurize(map.as_ref(), &device, &Rows::from(part));
            let expected = whole.slice(s![7..7 + rows, ..]);
            assert_eq!(z, expected, "{rows} rows on {threads} threads");
        }
    }
}

/// Large results are written with streaming stores, with and without whole vectors at the start of
/// rows.
#[test]
fn large_features_have_the_bits_of_small_batches() {
    let x = normal(4200, 9, 3);
    for (features, form) in [
        (1024, Form::Paired),
        (1024, Form::Phase),
        (1030, Form::Phase),
    ] {
        let map = Fourier::new(Gaussian).features(features).form(form);
        let map: &dyn FeatureMap = &map.build(Affine::identity(9)).expect("builds");
        let whole = featurize(map, &Device::cpu(), &Rows::from(&x));
        assert!(4 * whole.len() >= 16 << 20, "not large");
        for from in (0..4200).step_by(300) {
            let part = x.slice(s![from..from + 300, ..]);
            let z = featurize(map, &Device::cpu(), &Rows::from(part));
            assert_eq!(
                z,
                whole.slice(s![from..from + 300, ..]),
                "{features} {form:?}"
            );
        }
    }
}

fn regression(rows: usize) -> (Array2<f32>, Array2<f64>) {
    let x = normal(rows, 5, 2);
    let y = Array2::from_shape_fn((rows, 2), |(i, k)| {
        let u = f64::from(x[[i, 0]]) + 0.5 * f64::from(x[[i, 3]]);
        // A large offset with a small signal, which rounding the targets to f32 would lose.
        [u.sin(), 1e6 + 0.01 * u.sin()][k]
    });
    (x, y)
}

fn equations(x: &Array2<f32>, y: &Array2<f64>, device: &Device, memory: u64) -> NormalEquations {
    let mut source = MemorySource::new(x, Some(y.clone())).expect("finite");
    let targets = Targets::Real {
        columns: 2,
        shift: vec![0.0, 1e6],
    };
    let map = map(5, 100);
    NormalEquations::accumulate(
        map.as_ref(),
        &mut source,
        &targets,
        Run::on(device).memory(memory),
    )
    .expect("accumulates")
}

fn relative(a: &Array2<f64>, b: &Array2<f64>) -> f64 {
    let norm = |m: &Array2<f64>| m.iter().map(|v| v * v).sum::<f64>().sqrt();
    norm(&(a - b)) / norm(b)
}

#[test]
fn sums_do_not_depend_on_chunks_devices_or_parts() {
    let (x, y) = regression(3000);
    let whole = equations(&x, &y, &Device::cpu(), Run::DEFAULT_MEMORY);
    assert_eq!(whole.rows, 3000);
    for device in devices() {
        for memory in [30_000, 300_000, Run::DEFAULT_MEMORY] {
            let sums = equations(&x, &y, device, memory);
            assert_eq!(sums.rows, 3000);
            assert!(
                relative(&sums.gram_dd, &whole.gram_dd) < 1e-6,
                "{device:?} {memory}"
            );
            assert!(
                relative(&sums.zty_dt, &whole.zty_dt) < 1e-6,
                "{device:?} {memory}"
            );
            // Targets are summed in f64 on the host, in the order of the rows.
            assert_eq!(sums.y_sum_t, whole.y_sum_t);
        }
    }
    // Merged parts, in either grouping, equal the whole.
    let part = |from: usize, to: usize| {
        let (x, y) = (
            x.slice(s![from..to, ..]).to_owned(),
            y.slice(s![from..to, ..]).to_owned(),
        );
        equations(&x, &y, &Device::cpu(), Run::DEFAULT_MEMORY)
    };
    let (a, b, c) = (part(0, 700), part(700, 1901), part(1901, 3000));
    let merge = |l: &NormalEquations, r: &NormalEquations| {
        let mut out = l.clone();
        out.merge(r).expect("same shape");
        out
    };
    let (left, right) = (merge(&merge(&a, &b), &c), merge(&a, &merge(&b, &c)));
    assert!(relative(&left.gram_dd, &right.gram_dd) < 1e-15);
    for merged in [&left, &right] {
        assert_eq!(merged.rows, 3000);
        assert!(relative(&merged.gram_dd, &whole.gram_dd) < 1e-6);
        assert!(relative(&merged.zty_dt, &whole.zty_dt) < 1e-6);
        for (sum, whole) in [
            (&merged.z_sum_d, &whole.z_sum_d),
            (&merged.y_sum_t, &whole.y_sum_t),
            (&merged.y_square_t, &whole.y_square_t),
        ] {
            let row = |v: &Array1<f64>| v.clone().insert_axis(Axis(0));
            assert!(relative(&row(sum), &row(whole)) < 1e-6);
        }
    }
    // Sums of the targets, the second of them around 1e6.
    let exact = (y.sum_axis(Axis(0)), (&y * &y).sum_axis(Axis(0)));
    for k in 0..2 {
        assert!((whole.y_sum_t[k] / exact.0[k] - 1.0).abs() < 1e-10);
        assert!((whole.y_square_t[k] / exact.1[k] - 1.0).abs() < 1e-10);
    }
    assert!(a.clone().merge(&NormalEquations::zero(3, 2)).is_err());
}

/// Blocks of rows are counted from the start of the data: chunks that are no multiples of a block,
/// and a last chunk of one row, change no bit of the sums on any device, nor of maps that multiply
/// rows.
#[test]
fn sums_have_the_same_bits_in_chunks_of_any_size_on_devices() {
    let (x, y) = regression(2049);
    let input = || Affine::identity(5).lengthscale(2.0).expect("positive");
    let fastfood = || Fastfood::new(Gaussian).features(60);
    let nystrom = Nystrom::new(Gaussian).features(50);
    let turned = Array2::from_shape_fn((5, 5), |(i, j)| ((3 * i + j) as f64).sin());
    let behind = fastfood().build(input()).expect("builds");
    let maps: [Box<dyn FeatureMap>; 4] = [
        map(5, 100),
        Box::new(fastfood().build(input()).expect("builds")),
        Box::new(nystrom.build(input(), &x).expect("builds")),
        Mixed::compose(Affine::identity(5), &turned, Box::new(behind)).expect("fits"),
    ];
    let weights = Array1::from_shape_fn(2049, |i| (i % 7) as f64 / 3.0);
    for (device, map) in devices()
        .iter()
        .flat_map(|d| maps.iter().map(move |map| (d, map)))
    {
        let source = MemorySource::new(&x, Some(y.clone())).expect("finite");
        let weighted = source.clone().with_weights(weights.clone());
        for mut source in [source, weighted.expect("weights")] {
            let mut in_chunks = |memory| {
                let (heard, steps) = std::sync::mpsc::channel();
                let run = Run::on(device).memory(memory);
                let run = run.progress(move |step| heard.send(step).expect("heard"));
                let targets = Targets::Real {
                    columns: 2,
                    shift: vec![0.0, 1e6],
                };
                let sums = NormalEquations::accumulate(map.as_ref(), &mut source, &targets, run);
                let first = steps.iter().next();
                (sums.expect("accumulates"), first)
            };
            let (whole, rows) = in_chunks(Run::DEFAULT_MEMORY);
            if device.is_gpu() {
                assert_eq!(rows, Some(Step::Rows(2049)));
            }
            let mut sizes = Vec::new();
            for memory in [6_000, 26_000, 90_000, 170_000, 520_000] {
                let (sums, rows) = in_chunks(memory);
                let Some(Step::Rows(rows)) = rows else {
                    panic!("no rows were heard of")
                };
                let name = map.name();
                assert!(
                    sums == whole,
                    "{name}, chunks of {rows} rows on {device:?}: {:e}",
                    relative(&sums.gram_dd, &whole.gram_dd)
                );
                sizes.push(rows);
            }
            sizes.dedup();
            let odd = sizes.iter().filter(|&&rows| 512 % rows != 0);
            assert!(odd.count() > 1 && sizes[0] == 8, "{sizes:?}");
        }
    }
}

#[test]
fn sums_survive_a_file() {
    let (x, y) = regression(50);
    let sums = equations(&x, &y, &Device::cpu(), Run::DEFAULT_MEMORY);
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("sums.safetensors");
    sums.save(&path).expect("saves");
    assert_eq!(NormalEquations::load(&path).expect("loads"), sums);
    let message = LinearModel::load(&path).expect_err("no model").to_string();
    assert!(
        message.contains("holds normal-equations, not model"),
        "{message}"
    );
}

fn fit_regression(device: &Device) -> Result<(LinearModel, Array2<f32>, Array2<f64>)> {
    let (x, y) = regression(2000);
    let mut source = MemorySource::new(&x, Some(y.clone()))?;
    let survey = Survey::new(&mut source, 100, 1)?;
    let options = FitOptions {
        lambda: 1e-6,
        intercept: true,
        ..FitOptions::on(device)
    };
    let model = LinearModel::fit(map(5, 200), &mut source, Targets::real(&survey), &options)?;
    Ok((model, x, y))
}

#[test]
fn a_regression_learns_and_survives_a_file_on_devices() {
    let folder = tempfile::tempdir().expect("a folder");
    for fitted_on in devices() {
        let (model, x, y) = fit_regression(fitted_on).expect("fits");
        let path = folder.path().join("model.safetensors");
        model.save(&path).expect("saves");
        let read = LinearModel::load(&path).expect("loads");
        for device in devices() {
            let predicted = read
                .on(device)
                .and_then(|mut p| p.predict(&Rows::from(&x)))
                .expect("predicts");
            for (k, scale) in [(0, 1.0), (1, 0.01)] {
                let error = (&predicted.column(k) - &y.column(k)).mapv(|v| v * v).mean();
                let rmse = error.expect("not empty").sqrt() / scale;
                assert!(
                    rmse < 0.1,
                    "target {k}, {fitted_on:?} -> {device:?}: {rmse}"
                );
            }
        }
    }
}

#[test]
fn damaged_models_are_refused_in_one_line() {
    let (model, ..) = fit_regression(&Device::cpu()).expect("fits");
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("model.safetensors");
    model.save(&path).expect("saves");
    let bytes = std::fs::read(&path).expect("reads");
    for cut in [0, 7, 8, 100, bytes.len() / 2, bytes.len() - 1] {
        std::fs::write(&path, &bytes[..cut]).expect("writes");
        let message = LinearModel::load(&path).expect_err("truncated").to_string();
        assert!(
            message.contains("model.safetensors: ") && !message.contains('\n'),
            "{message}"
        );
    }
    // The properties are JSON inside a string in the JSON header.
    let version = br#"\"format_version\":\"1"#;
    let mut later = bytes.clone();
    let at = bytes
        .windows(version.len())
        .position(|w| w == version)
        .expect("the header names its version");
    later[at + version.len() - 1] = b'9';
    std::fs::write(&path, &later).expect("writes");
    let message = LinearModel::load(&path).expect_err("newer").to_string();
    assert!(message.contains("format version 9"), "{message}");
    model.save(&path).expect("saves");
    let again = std::fs::read(&path).expect("reads");
    assert!(again == bytes, "the same model is the same file");
}

/// Invalid values in the last element of each array of a model, for every kind of map.
#[test]
fn values_that_are_not_finite_are_refused_by_the_name_of_their_array_on_devices() {
    let (x, y) = regression(60);
    let mut source = MemorySource::new(&x, Some(y)).expect("finite");
    let survey = Survey::new(&mut source, 60, 1).expect("surveys");
    let input = || Affine::identity(5).lengthscale(2.0).expect("positive");
    let fourier = Fourier::new(Gaussian).features(10).form(Form::Phase);
    let fastfood = Fastfood::new(Gaussian).features(10).form(Form::Phase);
    let nystrom = Nystrom::new(Gaussian).features(10);
    let maps: [Box<dyn FeatureMap>; 3] = [
        Box::new(fourier.build(input()).expect("builds")),
        Box::new(fastfood.build(input()).expect("builds")),
        Box::new(nystrom.build(input(), &x).expect("builds")),
    ];
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("model.safetensors");
    for map in maps {
        let name = map.name();
        let options = FitOptions::on(&devices()[0]);
        let model = LinearModel::fit(map, &mut source, Targets::real(&survey), &options);
        model.expect("fits").save(&path).expect("saves");
        let bytes = std::fs::read(&path).expect("reads");
        let (size, header) = SafeTensors::read_metadata(&bytes).expect("its own format");
        let start = 8 + size;
        let mut floats = 0;
        for (array, info) in header.tensors() {
            let (from, to) = info.data_offsets;
            let bad: &[&[u8]] = match info.dtype {
                Dtype::F32 => &[&f32::NAN.to_le_bytes(), &f32::NEG_INFINITY.to_le_bytes()],
                Dtype::F64 => &[&f64::NAN.to_le_bytes(), &f64::INFINITY.to_le_bytes()],
                _ => continue,
            };
            for value in bad {
                let mut bytes = bytes.clone();
                assert!(from < to, "{array} is empty");
                bytes[start + to - value.len()..start + to].copy_from_slice(value);
                std::fs::write(&path, &bytes).expect("writes");
                let message = LinearModel::load(&path)
                    .expect_err("not finite")
                    .to_string();
                // Maps name their arrays, and a model adds a prefix to arrays of its map.
                let named = message.split('"').nth(1).expect("a name");
                assert!(
                    message.contains("model.safetensors: ")
                        && array.ends_with(named)
                        && message.contains("not finite"),
                    "{name}, {array}: {message}"
                );
            }
            floats += usize::from(info.dtype == Dtype::F32);
        }
        assert!(floats > 0, "{name} has no f32 array");
    }
}

#[test]
fn a_classifier_learns_on_devices() {
    // Rings, which no linear classifier separates.
    let x = normal(1500, 2, 3);
    let label = |i: usize| match f64::from(x[[i, 0]]).hypot(f64::from(x[[i, 1]])) {
        r if r < 0.8 => -3.0,
        r if r < 1.5 => 10.0,
        _ => 11.0,
    };
    let y = Array2::from_shape_fn((1500, 1), |(i, _)| label(i));
    for device in devices() {
        let source = MemorySource::new(&x, Some(y.clone())).expect("finite");
        let mut train = Split::new(source.clone(), Part::Train, 0.3, 1).expect("splits");
        let mut test = Split::new(source, Part::Test, 0.3, 1).expect("splits");
        let survey = Survey::new(&mut train, 100, 1).expect("surveys");
        let options = FitOptions::on(device);
        let classes = Targets::classes(&survey).expect("labels");
        let model = LinearModel::fit(map(2, 200), &mut train, classes, &options).expect("fits");
        assert_eq!(model.targets, Targets::Classes(vec![-3.0, 10.0, 11.0]));
        let mut predictor = model.on(device).expect("loads");
        let mut scores = bochner::models::Scores::default();
        predictor
            .stream(&mut test, |p, y| scores.add(p, y))
            .expect("predicts");
        assert!(
            scores.rows() > 400 && scores.accuracy() > 0.88,
            "{device:?}: {}",
            scores.accuracy()
        );
    }
}

/// Bits of seed 42 on every platform and in every version: redrawing a model from its seed gives
/// the same model.
#[test]
fn golden_seed() {
    let map = Fourier::new(Gaussian)
        .features(3)
        .form(Form::Phase)
        .seed(Seed(42))
        .build(Affine::identity(2))
        .expect("builds");
    let parameters = map.parameters();
    let bits: Vec<u32> = parameters.w_ds.iter().map(|w| w.to_bits()).collect();
    let phases: Vec<u32> = parameters.phase_s.iter().map(|p| p.to_bits()).collect();
    assert_eq!(
        bits,
        [
            1040744448, 1056145408, 3204431872, 3221733376, 1068916736, 3215204352
        ]
    );
    assert_eq!(phases, [1051103482, 1063750087, 1034598669]);
}
