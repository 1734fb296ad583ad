//! Nystrom maps: the kernel is reproduced with all rows as landmarks, equal rows and singular
//! kernels are handled, landmarks are drawn with their probabilities, and prediction, files and
//! devices agree with the features.

use crate::common::{devices, gpus, normal};
use bochner::{
    Device, Error, Matrix, Run,
    analysis::{approximate_gram, features_of, kernel_error},
    data::{MemorySource, Rows, Survey},
    device::CpuDevice,
    features::Store,
    features::{self, Affine, FeatureMap, Landmarks, Nystrom, NystromFeatures},
    kernels::{self, CustomKernel, Gaussian, cross, gram, parse},
    models::{FitOptions, LinearModel, Targets},
    ops::kernel_block::{KernelBlock, Level, reference_from},
    seed::Seed,
};
use ndarray::{Array2, Axis, array, concatenate, s};

const ULP: f64 = 1.0 / 8_388_608.0;

fn rows(n: usize, d: usize) -> Array2<f64> {
    normal(n, d, 1).mapv(|v| f64::from(v) / (d as f64).sqrt())
}

fn build(kernel: &str, map: impl Fn(Nystrom) -> Nystrom, x: &Array2<f64>) -> NystromFeatures {
    let nystrom = map(Nystrom::new(parse(kernel).expect("known")));
    nystrom
        .build(Affine::identity(x.ncols()), x)
        .expect("builds")
}

/// Largest error of `z z'` on `x`, relative to the bound for m = n: eigenvalues up to m ULP max k
/// are dropped, and each feature has the rounding of m terms.
fn excess(kernel: &str, map: &NystromFeatures, x: &Array2<f64>, device: &Device) -> f64 {
    // The exact kernel of the rows rounded like the input of the map.
    let x32 = x.mapv(|v| f64::from(v as f32));
    let exact = gram(parse(kernel).expect("known").as_ref(), x32.view());
    let approximate = approximate_gram(map, &Rows::from(x), device).expect("runs");
    let error = kernel_error(&exact, &approximate).expect("fits");
    let largest = exact.diag().iter().copied().fold(0.0, f64::max);
    error.largest / (4.0 * x.nrows() as f64 * ULP * largest)
}

const KERNELS: [&str; 10] = [
    "gaussian",
    "laplacian",
    "exponential",
    "matern52",
    "cauchy",
    "hat",
    "rational-quadratic:2",
    "arc-cosine:0",
    "arc-cosine:1",
    "arc-cosine:2",
];

#[test]
fn all_rows_as_landmarks_reproduce_the_kernel_on_devices() {
    let x = rows(90, 5);
    let mut worst = 0.0_f64;
    for device in devices() {
        for kernel in KERNELS {
            let map = build(kernel, |n| n.features(90), &x);
            let excess = excess(kernel, &map, &x, device);
            worst = worst.max(excess);
            assert!(excess < 1.0, "{kernel} on {device:?}: {excess}");
        }
        println!("{}: worst {worst:.2} of what is allowed", device.describe());
    }
    let general = build("matern:0.75", |n| n.features(90), &x);
    assert!(excess("matern:0.75", &general, &x, &Device::cpu()) < 1.0);
    for device in gpus() {
        assert!(general.load(device).is_err(), "there is no shader");
    }
    // Negative control: one landmark fewer on kernels of full rank.
    for kernel in ["laplacian", "exponential", "arc-cosine:0"] {
        let map = build(kernel, |n| n.features(89), &x);
        assert!(excess(kernel, &map, &x, &Device::cpu()) > 1.0, "{kernel}");
    }
}

#[test]
fn equal_rows_and_singular_kernels_do_no_harm_on_devices() {
    let distinct = rows(20, 3);
    let x = concatenate![Axis(0), distinct, distinct, distinct.slice(s![..;-1, ..])];
    for device in devices() {
        for kernel in KERNELS {
            let map = build(kernel, |n| n.features(60), &x);
            assert!(map.output_dim() <= 20, "{kernel}: {}", map.output_dim());
            let over = excess(kernel, &map, &x, device);
            assert!(over < 1.0, "{kernel} on {device:?}: {over}");
        }
        // Nearly equal rows: in f64 there are a constant, three linear and up to six quadratic
        // directions; all others are rounding.
        let near = &distinct * 1e-3;
        let map = build("gaussian", |n| n.features(20), &near);
        assert!((4..=10).contains(&map.output_dim()), "{}", map.output_dim());
        assert!(excess("gaussian", &map, &near, device) < 1.0);
        // ReLU on a line has two directions only.
        let line = Array2::from_shape_fn((12, 1), |(i, _)| i as f64 - 5.0);
        let map = build("arc-cosine:1", |n| n.features(12), &line);
        assert_eq!(map.output_dim(), 2);
        assert!(excess("arc-cosine:1", &map, &line, device) < 1.0);
    }
}

/// Rank k keeps the best rank-k approximation: on the landmarks the spectral error is the next
/// eigenvalue.
#[test]
fn a_rank_keeps_the_largest_eigenvalues() {
    let x = rows(40, 2);
    let exact = gram(&Gaussian, x.view());
    let full = build("gaussian", |n| n.features(40), &x);
    let z = features_of(&full, &Rows::from(&x), &Device::cpu()).expect("runs");
    // Features are uncorrelated on their landmarks, and their squared norms are the eigenvalues.
    let eigenvalues = z.mapv(|v| v * v).sum_axis(Axis(0));
    for rank in [1, 4] {
        let map = build("gaussian", |n| n.features(40).rank(rank), &x);
        assert_eq!(map.output_dim(), rank);
        let approximate = approximate_gram(&map, &Rows::from(&x), &Device::cpu()).expect("runs");
        let error = kernel_error(&exact, &approximate).expect("fits");
        let expected = eigenvalues[rank] / eigenvalues[0];
        assert!((error.spectral / expected - 1.0).abs() < 1e-2, "{error}");
    }
}

/// Features compared with f64 features from the map's own parameters: rounding adds at most 2^-12
/// in root mean square to a feature, for any lengthscale, because the inverse root is capped where
/// it would amplify rounding more. k rounded to f32 would have lost those digits.
#[test]
fn rounding_stays_within_its_floor_on_devices() {
    let m = 120;
    for (kernel, spread) in [
        ("gaussian", 0.3),
        ("gaussian", 0.03),
        ("rational-quadratic:2", 0.1),
        ("matern52", 0.1),
        ("cauchy", 0.1),
        ("laplacian", 0.01),
        ("arc-cosine:1", 1.0),
    ] {
        let x = rows(400, 3) * spread;
        let map = build(kernel, |n| n.features(m), &x);
        let mut store = Store::default();
        map.write(&mut store).expect("is known");
        let root = store.f32("root").expect("is there").mapv(f64::from);
        let level = [Level::Zero, Level::Top][usize::from(kernel != "arc-cosine:1")];
        assert_eq!(root.nrows(), level.columns(m), "{kernel}");
        let x32 = x.mapv(|v| v as f32);
        let known = parse(kernel).expect("known");
        let block = reference_from(known.as_ref(), x32.view(), map.landmarks(), level);
        let exact = block.dot(&root);
        let noise = |z: &Array2<f64>| {
            let squares = (z - &exact).mapv(|v| v * v);
            let worst = squares.mean_axis(Axis(0)).expect("rows");
            worst.iter().copied().fold(0.0, f64::max).sqrt() * 4096.0
        };
        for device in devices() {
            let z = features_of(&map, &Rows::from(&x), device).expect("runs");
            let noise = noise(&z);
            println!("{kernel} {spread}: {noise:.3} of what is allowed");
            assert!(noise < 1.0, "{kernel} {spread} on {device:?}: {noise}");
        }
        // Negative control: k in f32, minus 1 afterwards.
        if kernel == "gaussian" && spread < 0.1 {
            let mut rounded = block.mapv(|v| f64::from((v + 1.0) as f32 - 1.0));
            rounded.column_mut(m).fill(1.0);
            let z = rounded.dot(&root);
            assert!(noise(&z) > 1.0, "{}", noise(&z));
        }
    }
}

/// A smooth target with a kernel whose values are all near 1: the relevant eigenvalues are 1e-7 and
/// less, below the rounding of k in f32.
#[test]
fn long_lengthscales_are_learned_from_on_devices() {
    let x = rows(500, 2) * 0.25;
    let target = |row: ndarray::ArrayView1<'_, f64>| (6.0 * row[0]).sin() * (5.0 * row[1]).cos();
    let y = Array2::from_shape_fn((500, 1), |(i, _)| target(x.row(i)));
    let mut source = MemorySource::new(&x, Some(y.clone())).expect("finite");
    let survey = Survey::new(&mut source, 500, 0).expect("reads");
    for device in devices() {
        let mut error = |rank: usize| {
            let map = Box::new(build("gaussian", |n| n.features(100).rank(rank), &x));
            let mut options = FitOptions::on(device);
            (options.lambda, options.intercept) = (1e-9, false);
            let model = LinearModel::fit(map, &mut source, Targets::real(&survey), &options);
            let model = model.expect("fits");
            let mut predictor = model.on(device).expect("loads");
            let predicted = predictor.predict(&Rows::from(&x)).expect("predicts");
            let squares = (&predicted - &y).mapv(|v| v * v).sum() / y.mapv(|v| v * v).sum();
            squares.sqrt()
        };
        // Eigenvalues above 100 2^-23, as many as a cut at the rounding of k keeps.
        let (all, few) = (error(100), error(14));
        println!("{}: {all:.2e} beside {few:.2e}", device.describe());
        assert!(all < 0.1 && few > 2.0 * all, "{device:?}: {all} {few}");
    }
}

#[test]
fn dropped_landmarks_are_told() {
    let distinct = rows(20, 3);
    let x = concatenate![Axis(0), distinct, distinct];
    let all = build("laplacian", |n| n.features(20), &distinct);
    assert!(all.remarks().is_empty(), "{:?}", all.remarks());
    let low = build("laplacian", |n| n.features(20).rank(5), &distinct);
    assert!(low.remarks().is_empty(), "a rank is asked for");
    let twice = build("laplacian", |n| n.features(40), &x);
    let remarks = twice.remarks();
    assert!(
        remarks[0].starts_with("asked for 40 landmarks, kept 20"),
        "{remarks:?}"
    );
    let greedy = |n: Nystrom| n.features(40).landmarks(Landmarks::PivotedCholesky);
    let remarks = build("laplacian", greedy, &x).remarks();
    assert!(
        remarks[0].starts_with("asked for 40 landmarks, kept 20"),
        "{remarks:?}"
    );
}

/// Older files, with blocks relative to zero, have a root of m rows: `k root`, as before.
#[test]
fn files_without_a_level_are_measured_from_zero() {
    let x = rows(50, 3) * 0.5;
    let map = build("gaussian", |n| n.features(12), &x);
    let mut store = Store::default();
    map.write(&mut store).expect("is known");
    assert_eq!(store.f32("root").expect("is there").nrows(), 13);
    store.put_f32("root", map.root());
    let read = features::read(&store).expect("reads");
    let device = Device::cpu();
    let z = features_of(read.as_ref(), &Rows::from(&x), &device).expect("runs");
    let block = KernelBlock::load(&device, parse("gaussian").expect("known"), map.landmarks());
    let x_nd = Matrix::upload(&device, x.mapv(|v| v as f32).view()).expect("fits");
    let mut plain = Matrix::new(&device, 50, map.output_dim()).expect("fits");
    let root = Matrix::upload(&device, map.root()).expect("fits");
    let block = block.expect("loads");
    block
        .times(&x_nd, &root, &mut plain, &mut None)
        .expect("runs");
    assert_eq!(z, plain.download().expect("reads").mapv(f64::from));
    // Neither m nor m + 1 rows.
    store.put_f32("root", map.root().slice(s![1.., ..]));
    assert!(features::read(&store).is_err());
}

const CHOICES: [&str; 7] = [
    "uniform",
    "uniform-with-replacement",
    "column-norm",
    "diagonal",
    "leverage:0.01",
    "pivoted-cholesky",
    "k-means",
];

#[test]
fn every_choice_of_landmarks_follows_its_seed() {
    let x = rows(70, 3);
    for text in CHOICES {
        let choice: Landmarks = text.parse().expect("known");
        assert_eq!(choice.to_string(), text);
        let landmarks = |seed| {
            let with = |n: Nystrom| n.features(15).landmarks(choice.clone()).seed(Seed(seed));
            build("gaussian", with, &x).landmarks().to_owned()
        };
        let (one, again, other) = (landmarks(1), landmarks(1), landmarks(2));
        assert_eq!(one.dim(), (15, 3));
        assert!(one == again && one != other, "{text}");
        let known = |row: ndarray::ArrayView1<'_, f32>| {
            x.rows().into_iter().any(|r| r.mapv(|v| v as f32) == row)
        };
        let all_known = one.rows().into_iter().all(known);
        assert_eq!(all_known, text != "k-means", "{text}");
        let repeats = (0..15).any(|i| (0..i).any(|j| one.row(i) == one.row(j)));
        assert!(!repeats || text == "uniform-with-replacement", "{text}");
    }
    let given = x.slice(s![3..9, ..]).to_owned();
    let map = build(
        "gaussian",
        |n| n.landmarks(Landmarks::Rows(given.clone())),
        &x,
    );
    assert_eq!(map.landmarks(), given.mapv(|v| v as f32));
}

/// How often the single landmark is the last row, and its expected frequency.
#[test]
fn landmarks_come_with_their_probabilities() {
    let runs = 600;
    // Order 1: k(x, x) = |x|^2, so 1 and 9; columns (1, 0) and (0, 9) approximately.
    let lengths = array![[1.0, 0.0], [-3.0, 0.0]];
    // Nine equal rows and one far from them.
    let mut outlier = Array2::zeros((10, 2));
    outlier.row_mut(9).fill(100.0);
    let lambda: f64 = 0.01;
    // From a pilot of one of the nine: nine rows explained up to k^2/(k + lambda), one not at all;
    // or the other way round.
    let left = (1.0 - 1.0 / (1.0 + lambda)) / (10.0 * lambda);
    let whole = (1.0 / (10.0 * lambda)).min(1.0);
    let by_leverage = 0.9 * whole / (9.0 * left + whole) + 0.1 * left / (9.0 * whole + left);
    let leverage = format!("leverage:{lambda}");
    for (kernel, x, text, expected) in [
        ("arc-cosine:1", &lengths, "uniform", 0.5),
        ("arc-cosine:1", &lengths, "diagonal", 0.9),
        ("arc-cosine:1", &lengths, "pivoted-cholesky", 0.9),
        ("arc-cosine:1", &lengths, "column-norm", 81.0 / 82.0),
        ("gaussian", &outlier, "uniform-with-replacement", 0.1),
        ("gaussian", &outlier, "column-norm", 1.0 / 82.0),
        ("gaussian", &outlier, &leverage, by_leverage),
    ] {
        let choice: Landmarks = text.parse().expect("known");
        let last = x.row(x.nrows() - 1).mapv(|v| v as f32);
        let hits = (0..runs)
            .filter(|&seed| {
                let with = |n: Nystrom| n.features(1).landmarks(choice.clone()).seed(Seed(seed));
                build(kernel, with, x).landmarks().row(0) == last
            })
            .count() as f64;
        let (n, p) = (runs as f64, expected);
        let allowed = 4.0 * (n * p * (1.0_f64 - p)).sqrt();
        assert!((hits - n * p).abs() < allowed, "{text}: {hits} of {n}, {p}");
    }
    // k-means++ never starts twice at one point, and two centres find two clusters.
    let two = |n: Nystrom| n.features(2).landmarks(Landmarks::KMeans);
    let mut centres = build("gaussian", two, &outlier)
        .landmarks()
        .column(0)
        .to_vec();
    centres.sort_by(f32::total_cmp);
    assert_eq!(centres, [0.0, 100.0]);
    // After two different rows there is nothing left to choose.
    let all = |n: Nystrom| n.features(10).landmarks(Landmarks::PivotedCholesky);
    assert_eq!(build("gaussian", all, &outlier).landmarks().nrows(), 2);
}

#[test]
fn prediction_is_features_times_coefficients_on_devices() {
    let x = rows(150, 4);
    let map = build("gaussian", |n| n.features(60).seed(Seed(3)), &x);
    let beta = normal(map.output_dim(), 3, 5);
    let landmarks = map.landmarks().mapv(f64::from);
    let k = cross(
        &Gaussian,
        x.mapv(|v| f64::from(v as f32)).view(),
        landmarks.view(),
    );
    let root = map.root().mapv(f64::from);
    let exact = k.dot(&root).dot(&beta.mapv(f64::from));
    // Rounding of the folded coefficients and of m + d + 20 operations on them, k at most 1.
    let size = root.mapv(f64::abs).dot(&beta.mapv(|v| f64::from(v).abs()));
    let allowed = size.sum_axis(Axis(0)) * (60.0 + 4.0 + 20.0) * ULP;
    for device in devices() {
        let beta_dt = Matrix::upload(device, beta.view()).expect("fits");
        let mut loaded = map.load(device).expect("loads");
        for rows in [150, 7] {
            let mut x_nd = Matrix::new(device, rows, 4).expect("fits");
            let part = Rows::from(x.slice(s![..rows, ..]));
            map.input().load(&part, &mut x_nd).expect("loads");
            let nan = Array2::from_elem((rows, 3), f32::NAN);
            let mut y_nt = Matrix::upload(device, nan.view()).expect("fits");
            loaded.predict(&x_nd, &beta_dt, &mut y_nt).expect("runs");
            let y = y_nt.download().expect("reads").mapv(f64::from);
            let within = |exact: &Array2<f64>| {
                (0..rows).all(|i| (0..3).all(|t| (y[[i, t]] - exact[[i, t]]).abs() <= allowed[t]))
            };
            assert!(within(&exact), "{rows} on {device:?}");
            let mut wrong = exact.clone();
            wrong.column_mut(1).mapv_inplace(|v| v + 2.0 * allowed[1]);
            assert!(!within(&wrong), "a wrong reference passes on {device:?}");
        }
    }
}

/// Bit-identical on the CPU; a GPU may sum in another order for another shape.
#[test]
fn features_do_not_depend_on_batches_or_threads_on_devices() {
    let x = rows(203, 5);
    for kernel in ["gaussian", "arc-cosine:1"] {
        let map = build(kernel, |n| n.features(64).seed(Seed(2)), &x);
        let whole = features_of(&map, &Rows::from(&x), &Device::cpu()).expect("runs");
        let mut all = devices().to_vec();
        all.push(Device::Cpu(CpuDevice::with_threads(1).expect("starts")));
        all.push(Device::Cpu(CpuDevice::with_threads(3).expect("starts")));
        for device in &all {
            for batch in [1, 7, 203] {
                for from in (0..203).step_by(batch) {
                    let to = 203.min(from + batch);
                    let part = Rows::from(x.slice(s![from..to;-1, ..]));
                    let z = features_of(&map, &part, device).expect("runs");
                    let difference = &z - &whole.slice(s![from..to;-1, ..]);
                    let difference = difference.iter().fold(0.0_f64, |m, v| m.max(v.abs()));
                    // The inverse root is at most 1/sqrt(32 ULP) for terms of size 1: it multiplies
                    // the rounding of 64 of them.
                    let allowed = match device {
                        Device::Cpu(_) => 0.0,
                        Device::Gpu(_) => 64.0 * ULP / (32.0 * ULP).sqrt(),
                    };
                    assert!(
                        difference <= allowed,
                        "{kernel} {batch} {device:?}: {difference:e}"
                    );
                }
            }
        }
    }
}

#[test]
fn a_fitted_model_learns_and_survives_its_file_on_devices() {
    let x = rows(400, 3);
    let y = Array2::from_shape_fn((400, 1), |(i, _)| (2.0 * x[[i, 0]]).sin() + x[[i, 1]]);
    let path = std::env::temp_dir().join(format!("bochner-nystrom-{}", std::process::id()));
    for device in devices() {
        let mut source = MemorySource::new(&x, Some(y.clone())).expect("finite");
        let survey = Survey::new(&mut source, 2000, 0).expect("reads");
        let map = build("gaussian", |n| n.features(80), &x);
        let mut options = FitOptions::on(device);
        // Chunks of a few rows.
        options.run.memory = 64 << 10;
        let map = Box::new(map);
        let model = LinearModel::fit(map, &mut source, Targets::real(&survey), &options);
        let model = model.expect("fits");
        let scores = |model: &LinearModel| {
            let mut predictor = model.on(Run::on(device).memory(64 << 10)).expect("loads");
            predictor.predict(&Rows::from(&x)).expect("predicts")
        };
        let predicted = scores(&model);
        let error = (&predicted - &y).mapv(|v| v * v).mean().expect("rows");
        assert!(error < 1e-4, "{device:?}: {error:e}");
        model.save(&path).expect("writes");
        assert_eq!(scores(&LinearModel::load(&path).expect("reads")), predicted);
    }
    std::fs::remove_file(&path).expect("is there");
}

#[test]
fn mistakes_are_one_clear_line() {
    let x = rows(10, 2);
    let attempt = |nystrom: Nystrom, columns| -> Error {
        let built = nystrom.build(Affine::identity(columns), &x);
        built.expect_err("is wrong")
    };
    let new = || Nystrom::new(Gaussian);
    let leverage = Landmarks::RidgeLeverage { lambda: 0.0 };
    for (error, part) in [
        (attempt(new().features(11), 2), "use 1 to 10"),
        (attempt(new().features(0), 2), "use 1 to 10"),
        (attempt(new().features(5).rank(0), 2), "the rank is 0"),
        (attempt(new().features(5), 3), "2 columns"),
        (
            attempt(new().features(5).landmarks(leverage), 2),
            "positive",
        ),
        (
            attempt(new().landmarks(Landmarks::Rows(Array2::zeros((0, 2)))), 2),
            "at least one row",
        ),
    ] {
        assert!(error.to_string().contains(part), "{error}");
    }
    let zero = Nystrom::new(parse("arc-cosine:1").expect("known")).features(3);
    let error = zero
        .build(Affine::identity(2), Array2::<f64>::zeros((3, 2)))
        .expect_err("no kernel");
    assert!(error.to_string().contains("zero"), "{error}");
    assert!("best".parse::<Landmarks>().is_err());
}

#[test]
fn only_kernels_of_the_catalogue_are_saved() {
    let x = rows(10, 2);
    let map = build("matern:0.75", |n| n.features(10), &x);
    let mut store = Store::default();
    map.write(&mut store).expect("is known");
    let read = features::read(&store).expect("reads");
    assert_eq!(read.describe(), map.describe());
    let own = CustomKernel::new(
        "own",
        |x, y| kernels::Kernel::evaluate(&Gaussian, x, y),
        Gaussian,
    );
    let map = Nystrom::new(own).features(5);
    let map = map.build(Affine::identity(2), &x).expect("builds");
    let error = map.write(&mut Store::default()).expect_err("is code");
    assert!(error.to_string().contains("custom:own"), "{error}");
}

/// `z = K_mm^{-1/2} k_m(x)` with the symmetric root, compared with a root computed here from
/// eigenvectors, and one feature for each landmark even if some are equal.
#[test]
fn the_symmetric_root_is_that_of_the_landmarks() {
    let x = rows(9, 3);
    let twice = concatenate![Axis(0), x, x];
    for rows in [x, twice] {
        let m = rows.nrows();
        let map = Nystrom::new(Gaussian)
            .landmarks(Landmarks::Rows(rows.clone()))
            .symmetric(true);
        let map = map.build(Affine::identity(3), &rows).expect("builds");
        assert_eq!((map.output_dim(), map.remarks().len()), (m, 0));
        let root = map.root().mapv(f64::from);
        let asymmetry = (&root - &root.t())
            .iter()
            .fold(0.0_f64, |a, b| a.max(b.abs()));
        assert!(asymmetry < 1e-6, "{asymmetry}");
        // K R R = 1 on the span of K: R R K R R = R R, the pseudo-inverse.
        let k_mm = Array2::from_shape_fn((m, m), |(i, j)| {
            let distance = (&rows.row(i) - &rows.row(j)).mapv(|v| v * v).sum();
            (-0.5 * distance).exp()
        });
        let back = k_mm.dot(&root).dot(&root).dot(&k_mm);
        let worst = (&back - &k_mm).iter().fold(0.0_f64, |a, b| a.max(b.abs()));
        assert!(worst < 1e-5, "{worst}");
    }
}
