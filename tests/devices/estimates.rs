//! Estimates of k over many seeds: arc-cosine maps, user-defined nonlinearities and
//! leverage-weighted Fourier features are unbiased, with the variances of the closed forms.
//! Negative controls: a slightly wrong kernel must fail.

use crate::common::{devices, normal};
use bochner::{
    Device, Matrix, Result, Run,
    analysis::{Estimates, approximate_gram, estimates, features_of, variance},
    data::{MemorySource, Rows},
    features::Store,
    features::{
        self, Affine, ArcCosine, Binning, Custom, FeatureMap, Form, Fourier, RandomProjection,
        SkewedChi2, Union,
    },
    kernels::{Gaussian, Kernel, Laplacian, parse},
    seed::Seed,
};
use ndarray::{Array2, array};

const SEEDS: u64 = 600;
const PAIRS: [(usize, usize); 5] = [(0, 0), (0, 1), (0, 2), (0, 3), (1, 4)];

fn rows() -> Array2<f64> {
    array![
        [0.3, -0.2, 0.7],
        [0.5, 0.1, 0.2],
        [1.2, -1.0, 0.4],
        [-0.7, 0.9, -0.1],
        [-0.5, -0.1, -0.25]
    ]
}

/// Largest deviation of a mean from `kernel`, relative to four standard errors.
fn bias(kernel: &dyn Kernel, lengthscale: f64, estimates: &Estimates) -> f64 {
    let x = rows() / lengthscale;
    let mut worst = 0.0_f64;
    for (p, &(i, j)) in PAIRS.iter().enumerate() {
        let exact = kernel.evaluate(&x.row(i).to_vec(), &x.row(j).to_vec());
        let error = (estimates.variance[p] / estimates.seeds as f64).sqrt();
        // Some rows have an estimate without variance, which then only differs by the rounding of
        // f32.
        worst = worst.max((estimates.mean[p] - exact).abs() / (4.0 * error + 2e-6));
    }
    worst
}

/// Estimates of all seeds for the pairs of [`rows`].
fn of_seeds(build: impl FnMut(Seed) -> Result<Box<dyn FeatureMap>>) -> Estimates {
    let (x, seeds) = (Rows::from(rows()), (0..SEEDS).map(Seed));
    estimates(&x, &PAIRS, &Device::cpu(), seeds, build).expect("runs")
}

#[test]
fn arc_cosine_features_are_unbiased() {
    for sampling in ["monte-carlo", "orthogonal", "antithetic"] {
        for order in 0..3 {
            let run = of_seeds(|seed| {
                let map = ArcCosine::new().order(order).features(64).seed(seed);
                let map = map.sampling(sampling.parse()?);
                Ok(Box::new(map.build(Affine::identity(3))?))
            });
            for kernel in 0..3 {
                let exact = parse(&format!("arc-cosine:{kernel}")).expect("known");
                let bias = bias(exact.as_ref(), 1.0, &run);
                assert_eq!(
                    bias < 1.0,
                    kernel == order,
                    "{sampling} {order} {kernel}: {bias}"
                );
            }
            // A scale 5 per cent off is detected in every order that depends on it.
            let exact = parse(&format!("arc-cosine:{order}")).expect("known");
            if order > 0 {
                assert!(bias(exact.as_ref(), 1.05, &run) > 1.0, "{sampling} {order}");
            }
        }
    }
    assert!(
        ArcCosine::new()
            .order(3)
            .build(Affine::identity(3))
            .is_err()
    );
    assert!(
        ArcCosine::new()
            .features(0)
            .build(Affine::identity(3))
            .is_err()
    );
}

/// The kernel of rows with an additional column, a different value for each bias.
#[test]
fn biased_arc_cosine_features_are_unbiased_estimates() {
    for (order, sampling) in (0..6).map(|i| (i % 3, ["monte-carlo", "antithetic"][i as usize / 3]))
    {
        let run = of_seeds(|seed| {
            let map = ArcCosine::new().order(order).bias(0.8).features(64);
            let map = map.sampling(sampling.parse()?);
            Ok(Box::new(map.seed(seed).build(Affine::identity(3))?))
        });
        for (beta, right) in [("0.8", true), ("0.6", false), ("0", false)] {
            let exact = parse(&format!("arc-cosine:{order}:{beta}")).expect("known");
            let bias = bias(exact.as_ref(), 1.0, &run);
            assert_eq!(bias < 1.0, right, "{order} {sampling} {beta}: {bias}");
        }
        let plain = parse(&format!("arc-cosine:{order}")).expect("known");
        let biased = parse(&format!("arc-cosine:{order}:0.8")).expect("known");
        let longer = |row: &[f64]| [row, &[0.8]].concat();
        for (x, y) in [([0.3, -1.0], [2.0, 0.1]), ([0.0, 0.0], [1.0, 1.0])] {
            let k = plain.evaluate(&longer(&x), &longer(&y));
            assert_eq!(biased.evaluate(&x, &y), k);
        }
        assert_eq!(biased.spec(), format!("arc-cosine:{order}:0.8"));
    }
    for bias in [-1.0, f64::NAN, f64::INFINITY] {
        let map = ArcCosine::new().bias(bias).build(Affine::identity(3));
        assert!(map.is_err(), "{bias}");
    }
    assert!(parse("arc-cosine:1:x").is_err());
}

/// For rows without preferred directions; pairs with independently drawn lengths would have more
/// than half of the orthogonal kind's error in order 1.
#[test]
fn antithetic_arc_cosine_features_err_less() {
    let x = normal(60, 20, 3).mapv(f64::from);
    let mean_error = |order: u32, sampling: &str| {
        let kernel = parse(&format!("arc-cosine:{order}")).expect("known");
        let exact = Array2::from_shape_fn((60, 60), |(i, j)| {
            kernel.evaluate(&x.row(i).to_vec(), &x.row(j).to_vec())
        });
        let size = exact.iter().map(|v| v * v).sum::<f64>();
        let of = |seed| {
            let map = ArcCosine::new().order(order).features(640).seed(Seed(seed));
            let map = map.sampling(sampling.parse().expect("a sampling"));
            let map = map.build(Affine::identity(20)).expect("draws");
            let z = features_of(&map, &Rows::from(&x), &Device::cpu()).expect("runs");
            let apart = z.dot(&z.t()) - &exact;
            (apart.iter().map(|v| v * v).sum::<f64>() / size).sqrt()
        };
        (0..10).map(of).sum::<f64>() / 10.0
    };
    for order in 0..3 {
        let of = |sampling| mean_error(order, sampling);
        let (orthogonal, antithetic) = (of("orthogonal"), of("antithetic"));
        println!("order {order}: {orthogonal:.4} orthogonal, {antithetic:.4} antithetic");
        let at_most = [0.72, 0.31, 0.42][order as usize];
        assert!(antithetic < at_most * orthogonal, "{order}");
    }
}

/// For cosine maps each feature would occur twice.
#[test]
fn antithetic_sampling_is_refused_where_pairs_tell_nothing_new() {
    let antithetic = "antithetic".parse().expect("a sampling");
    let input = || Affine::identity(3);
    let fourier = Fourier::new(Gaussian).sampling(antithetic).build(input());
    let counts = SkewedChi2::new().sampling(antithetic).build(input());
    let linear = RandomProjection::new().sampling(antithetic).build(input());
    for refused in [fourier, counts, linear] {
        let said = refused.expect_err("refuses").to_string();
        assert!(said.contains("use orthogonal"), "{said}");
    }
}

/// Checks features of order 1 one by one: an amplitude 1 per cent off is within the noise of an
/// estimate.
#[test]
fn arc_cosine_amplitudes_are_the_root_of_two_over_d() {
    for features in [1, 50, 300] {
        let map = ArcCosine::new().features(features).seed(Seed(3));
        let map = map.build(Affine::identity(3)).expect("builds");
        let x = rows().slice(ndarray::s![..1, ..]).to_owned();
        let z = features_of(&map, &Rows::from(&x), &Device::cpu()).expect("runs");
        let w_ds = map.parameters().w_ds.mapv(f64::from);
        let exact = x
            .dot(&w_ds)
            .mapv(|t| (2.0 / features as f64).sqrt() * t.max(0.0));
        let apart = (&z - &exact).fold(0.0_f64, |m, e| m.max(e.abs()));
        assert!(apart < 1e-6, "{features}: {apart}");
    }
}

#[test]
fn arc_cosine_maps_agree_on_devices_and_survive_files() {
    let x = Rows::from(normal(37, 5, 1).mapv(f64::from));
    for order in 0..3 {
        // With a bias, which a file stores among the phases.
        let map = ArcCosine::new().order(order).bias(0.5).features(70);
        let map = map.seed(Seed(1)).build(Affine::identity(5));
        let map = map.expect("builds");
        assert!(map.parameters().phase_s.iter().any(|&b| b > 0.1));
        let mut store = Store::default();
        map.write(&mut store).expect("writes");
        let read = features::read(&store).expect("reads");
        let z = features_of(&map, &x, &Device::cpu()).expect("runs");
        assert_eq!(
            features_of(read.as_ref(), &x, &Device::cpu()).expect("runs"),
            z
        );
        for device in devices() {
            let there = features_of(&map, &x, device).expect("runs");
            // Parity tests check the bounds of the projection op; this tests the map.
            let difference = (&there - &z).iter().fold(0.0_f64, |m, v| m.max(v.abs()));
            assert!(difference < 1e-4, "{order} on {device:?}: {difference}");
        }
    }
}

/// E sin(w.x) sin(w.y) for w ~ N(0, I) is (g(x - y) - g(x + y)) / 2 with g(t) = exp(-|t|^2/2).
#[derive(Debug)]
struct Sines;

impl Kernel for Sines {
    fn spec(&self) -> String {
        "sines".into()
    }

    fn evaluate(&self, x: &[f64], y: &[f64]) -> f64 {
        let opposite: Vec<f64> = y.iter().map(|v| -v).collect();
        (Gaussian.evaluate(x, y) - Gaussian.evaluate(x, &opposite)) / 2.0
    }

    fn spectrum(&self) -> Option<&dyn bochner::kernels::SpectralMeasure> {
        None
    }

    fn lengthscale_of_gamma(&self, gamma: f64) -> bochner::Result<f64> {
        Ok(gamma)
    }
}

#[test]
fn an_own_nonlinearity_is_unbiased() {
    let custom = Custom::new("sine", f32::sin).features(64);
    for sampling in ["monte-carlo", "antithetic"] {
        let custom = custom.clone().sampling(sampling.parse().expect("known"));
        let run = of_seeds(|seed| {
            let map = custom.clone().seed(seed).build(Affine::identity(3))?;
            Ok(Box::new(map))
        });
        assert!(bias(&Sines, 1.0, &run) < 1.0, "{sampling}");
        assert!(bias(&Sines, 1.05, &run) > 1.0, "{sampling}");
    }
    let map = custom.build(Affine::identity(3)).expect("builds");
    // Prediction is features times coefficients.
    let device = Device::cpu();
    let beta = normal(64, 2, 4);
    let z = features_of(&map, &Rows::from(rows()), &device).expect("runs");
    let mut x_nd = Matrix::new(&device, 5, 3).expect("fits");
    map.input().load(&rows().into(), &mut x_nd).expect("loads");
    let beta_dt = Matrix::upload(&device, beta.view()).expect("fits");
    let mut y_nt = Matrix::new(&device, 5, 2).expect("fits");
    let mut loaded = map.load(&device).expect("loads");
    loaded.predict(&x_nd, &beta_dt, &mut y_nt).expect("runs");
    let y = y_nt.download().expect("reads").mapv(f64::from);
    let error = &y - &z.dot(&beta.mapv(f64::from));
    assert!(error.iter().all(|e| e.abs() < 1e-5), "{error}");
}

#[test]
fn leverage_weights_leave_the_estimate_unbiased() {
    // Rows on a line, so that frequencies differ in their leverage.
    let sample = normal(80, 3, 2).mapv(f64::from) * array![[2.0, 0.1, 0.1]];
    let input = Affine::identity(3).lengthscale(1.3).expect("positive");
    for form in [Form::Paired, Form::Phase] {
        let build = |seed| {
            let map = Fourier::new(Gaussian).form(form).features(32).seed(seed);
            let map = map.leverage(&sample, 1e-3, 64);
            map.build(input.clone())
        };
        let one = build(Seed(0)).expect("builds");
        assert!(one.describe().contains("leverage"), "{}", one.describe());
        let amplitudes = &one.parameters().amplitude_s;
        let most = amplitudes.iter().copied().fold(0.0, f32::max);
        let least = amplitudes.iter().copied().fold(f32::INFINITY, f32::min);
        assert!(most > 1.2 * least, "weights are {least} to {most}");
        let run = of_seeds(|seed| Ok(Box::new(build(seed)?)));
        let off = bias(&Gaussian, 1.3, &run);
        assert!(off < 1.0, "{form}: {off}");
        assert!(
            bias(&Gaussian, 1.3 * 1.08, &run) > 1.0,
            "{form}: 8 per cent pass"
        );
    }
}

#[test]
fn variances_are_those_of_the_closed_form() {
    for form in [Form::Paired, Form::Phase] {
        let run = of_seeds(|seed| {
            let map = Fourier::new(Gaussian).form(form).features(32).seed(seed);
            Ok(Box::new(map.build(Affine::identity(3))?))
        });
        let x = rows();
        let deviation = |features| {
            let mut worst = 0.0_f64;
            for (p, &(i, j)) in PAIRS.iter().enumerate().skip(1) {
                let difference = (&x.row(i) - &x.row(j)).to_vec();
                let k = |factor: f64| {
                    let there: Vec<f64> = difference.iter().map(|v| factor * v).collect();
                    Gaussian.evaluate(&there, &[0.0; 3])
                };
                let expected = variance(form, features, k(1.0), k(2.0));
                let ratio = (run.variance[p] / expected - 1.0).abs();
                worst = worst.max(ratio / (4.0 * (2.0 / SEEDS as f64).sqrt()));
            }
            worst
        };
        assert!(deviation(32) < 1.0, "{form}: {}", deviation(32));
        assert!(deviation(64) > 1.0, "{form}: a wrong D passes");
    }
}

/// Binning is counted, other features are multiplied, and a union is their weighted sum.
#[test]
fn the_approximate_kernel_of_a_union_is_the_weighted_sum() {
    let rows = Rows::from(normal(30, 3, 6).mapv(f64::from));
    let device = Device::cpu();
    let fourier = || {
        let map = Fourier::new(Laplacian).features(40);
        map.build(Affine::identity(3)).expect("builds")
    };
    let binning = || {
        let mut source = MemorySource::new(rows.clone(), None).expect("finite");
        let map = Binning::new(Laplacian).grids(25);
        map.fit(
            Affine::identity(3),
            &mut source,
            Run::on(&device).memory(1 << 20),
        )
        .expect("fits")
    };
    let gram = |map: &dyn FeatureMap| approximate_gram(map, &rows, &device).expect("runs");
    let union = Union::new(vec![(Box::new(fourier()), 0.3), (Box::new(binning()), 0.7)]);
    let sum = gram(&fourier()) * 0.3 + gram(&binning()) * 0.7;
    let difference = gram(&union.expect("goes together")) - &sum;
    assert!(difference.iter().all(|d| d.abs() < 1e-12));
    let z = features_of(&fourier(), &rows, &device).expect("runs");
    let difference = gram(&fourier()) - z.dot(&z.t());
    assert!(difference.iter().all(|d| d.abs() < 1e-12));
    assert!(features_of(&binning(), &rows, &device).is_err());
    // A row shares every bin with itself.
    assert!(gram(&binning()).diag().iter().all(|&k| k == 1.0));
}
