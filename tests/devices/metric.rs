//! Average gradient outer products: gradients compared with finite differences, sums compared with
//! rows, and the directions that they find.

use crate::common::{devices, normal};
use bochner::{
    data::{MemorySource, Rows},
    device::CpuDevice,
    features::{Affine, FeatureMap, Form, KernelColumns, Landmarks, MapKind, MapSpec, Union},
    kernels,
    metric::average_gradient_outer_product,
    models::{Coefficients, LinearModel, Predictor, Targets},
    prelude::*,
    sampling::Sampling,
};
use ndarray::{Array1, Array2, Axis, s};

/// Kernels whose gradient is known.
const KERNELS: [&str; 12] = [
    "gaussian",
    "laplacian",
    "exponential",
    "matern32",
    "matern52",
    "matern:0.8",
    "matern:1",
    "matern:3.3",
    "rational-quadratic:0.7",
    "cauchy",
    "mixture:1*gaussian@1+2*matern52@3",
    "product:gaussian@2*exponential@3",
];

/// Kernels for which metrics are learnt, each with every map.
const SEARCHED: [&str; 6] = [
    "gaussian",
    "matern52",
    "matern32",
    "exponential",
    "laplacian",
    "rational-quadratic:2",
];

fn cpu() -> Device {
    Device::cpu()
}

fn rows(n: usize, d: usize, seed: u64) -> Array2<f64> {
    normal(n, d, seed).mapv(f64::from)
}

/// A model of `map` with normally distributed coefficients.
fn model(map: Box<dyn FeatureMap>, outputs: usize) -> LinearModel {
    let coefficients = Coefficients {
        beta_dt: rows(map.output_dim(), outputs, 77),
        intercept_t: Array1::zeros(outputs),
    };
    let targets = Targets::Real {
        columns: outputs,
        shift: vec![0.0; outputs],
    };
    LinearModel::new(map, coefficients, targets, &cpu())
}

/// Mean over rows of the outer products of central differences of predictions.
fn differences(model: &LinearModel, x: &Array2<f64>, h: f64) -> Array2<f64> {
    let (n, d) = x.dim();
    let mut predictor: Predictor<'_> = model.on(&cpu()).expect("loads");
    let outputs = model.coefficients.intercept_t.len();
    let mut slopes = vec![Array2::zeros((n, d)); outputs];
    for j in 0..d {
        let mut at = |step: f64| {
            let mut moved = x.clone();
            moved.column_mut(j).mapv_inplace(|v| v + step);
            predictor.scores(&Rows::from(moved)).expect("predicts")
        };
        // Exact for polynomials of the fourth degree.
        let near = (at(h) - at(-h)) / (2.0 * h);
        let far = (at(2.0 * h) - at(-2.0 * h)) / (4.0 * h);
        let slope = (near * 4.0 - far) / 3.0;
        for (of_output, slope) in slopes.iter_mut().zip(slope.columns()) {
            of_output.column_mut(j).assign(&slope);
        }
    }
    let sum = slopes
        .iter()
        .fold(Array2::zeros((d, d)), |sum, g| sum + g.t().dot(g));
    sum / n as f64
}

fn largest(a: &Array2<f64>) -> f64 {
    a.iter().fold(0.0, |m, v| m.max(v.abs()))
}

/// The largest difference relative to the largest entry.
fn apart(a: &Array2<f64>, b: &Array2<f64>) -> f64 {
    largest(&(a - b)) / largest(b)
}

fn outer_product(model: &LinearModel, x: &Array2<f64>) -> Array2<f64> {
    let mut source = MemorySource::new(x, None).expect("finite");
    average_gradient_outer_product(model, &mut source, &cpu()).expect("smooth")
}

#[test]
fn gradients_of_kernels_are_their_differences() {
    let x = rows(30, 3, 1);
    let y = rows(30, 3, 2);
    for spec in KERNELS {
        let kernel = kernels::parse(spec).expect("known");
        for (x, y) in x.rows().into_iter().zip(y.rows()) {
            let (x, y) = (x.to_vec(), y.to_vec());
            let mut gradient = [f64::NAN; 3];
            assert!(kernel.gradient(&x, &y, &mut gradient), "{spec}");
            for j in 0..3 {
                let at = |step: f64| {
                    let mut x = x.clone();
                    x[j] += step;
                    kernel.evaluate(&x, &y)
                };
                let slope = (at(1e-5) - at(-1e-5)) / 2e-5;
                let error = (gradient[j] - slope).abs();
                assert!(error < 1e-7, "{spec}: {} for {slope}", gradient[j]);
            }
        }
        // At distance 0, the maximum or a kink, it is 0.
        let mut gradient = [f64::NAN; 3];
        let same = x.row(0).to_vec();
        assert!(kernel.gradient(&same, &same, &mut gradient));
        assert_eq!(gradient, [0.0; 3], "{spec}");
    }
    let mut untouched = [5.0];
    for spec in ["hat", "arc-cosine:1"] {
        let kernel = kernels::parse(spec).expect("known");
        assert!(!kernel.gradient(&[1.0], &[0.5], &mut untouched));
    }
    assert_eq!(untouched, [5.0]);
}

/// Every smooth map of the catalogue, alone and in a union.
#[test]
fn outer_products_are_those_of_differences() {
    let x = rows(40, 3, 3);
    let input = || {
        let centred = Affine::new(vec![0.3, -0.2, 0.0], vec![0.5, 1.0, 0.7]);
        centred.expect("finite").lengthscale(1.3).expect("positive")
    };
    let mut maps: Vec<(String, Box<dyn FeatureMap>)> = Vec::new();
    let mut add = |name: &str, kernel: &str, change: &dyn Fn(&mut MapSpec)| {
        let kind: MapKind = name.parse().expect("a map");
        let mut spec = MapSpec::new(kind.into(), kernels::parse(kernel).expect("known"));
        spec.features = 24;
        change(&mut spec);
        let mut source = MemorySource::new(&x, None).expect("finite");
        let map = spec.build(input(), &x, &mut source, &cpu()).expect("draws");
        maps.push((format!("{name} {kernel} {}", map.describe()), map));
    };
    for kernel in SEARCHED {
        add("fourier", kernel, &|_| {});
        add("fourier", kernel, &|spec| spec.form = Form::Phase);
        for sampling in ["halton", "sobol", "lattice", "digital-net"] {
            let sampling = sampling.parse().expect("a sampling");
            add("fourier", kernel, &|spec| spec.sampling = sampling);
        }
        // The others need isotropic frequencies.
        if kernel == "laplacian" {
            continue;
        }
        add("fourier", kernel, &|spec| {
            spec.sampling = Sampling::Orthogonal;
        });
        for name in ["fastfood", "sorf"] {
            add(name, kernel, &|_| {});
            add(name, kernel, &|spec| spec.form = Form::Phase);
        }
    }
    for kernel in KERNELS {
        add("nystrom", kernel, &|spec| spec.features = 9);
    }
    add("arc-cosine", "arc-cosine:2", &|_| {});
    let columns =
        KernelColumns::new(Gaussian).choice(Landmarks::Rows(x.slice(s![..7, ..]).to_owned()));
    maps.push((
        "kernel columns".into(),
        Box::new(columns.build(input(), &x).expect("draws")),
    ));
    let wider = Affine::identity(3).lengthscale(2.0).expect("positive");
    let part = Fourier::new(Gaussian).features(8);
    maps.push((
        "union".into(),
        Box::new(
            Union::new(vec![
                (Box::new(part.build(input()).expect("draws")), 0.3),
                (
                    Box::new(part.form(Form::Phase).build(wider).expect("draws")),
                    1.7,
                ),
            ])
            .expect("goes together"),
        ),
    ));
    for (name, map) in maps {
        let kinked = name.starts_with("nystrom laplacian")
            || name.starts_with("nystrom exponential")
            || name.starts_with("nystrom product")
            || name.starts_with("nystrom matern:0.8");
        let model = model(map, 2);
        // Avoids the landmarks, where a kernel may have a kink.
        let at = rows(25, 3, 9) + f64::from(u8::from(kinked)) * 0.01;
        // Its frequencies are large.
        let long = name.contains("laplacian") || name.contains("exponential");
        let h = if long && !kinked { 0.001 } else { 0.004 };
        let (got, expected) = (outer_product(&model, &at), differences(&model, &at, h));
        let error = apart(&got, &expected);
        assert!(error < 4e-3, "{name}: {error:e}\n{got}\n{expected}");
        assert_eq!(got, got.t(), "{name}");
    }
}

#[test]
fn maps_without_a_gradient_say_so() {
    let x = rows(20, 2, 4);
    let of = |map: Box<dyn FeatureMap>| {
        let mut source = MemorySource::new(&x, None).expect("finite");
        let refused = average_gradient_outer_product(&model(map, 1), &mut source, &cpu());
        refused.expect_err("not smooth").to_string()
    };
    let step = ArcCosine::new()
        .order(0)
        .features(4)
        .build(Affine::identity(2));
    assert!(of(Box::new(step.expect("draws"))).contains("no gradient of features that are steps"));
    let own = Custom::new("tanh-of-metrics", f32::tanh)
        .features(4)
        .build(Affine::identity(2));
    assert!(of(Box::new(own.expect("draws"))).contains("no gradient"));
    let nystrom = Nystrom::new(kernels::ArcCosineKernel::new(1).expect("an order")).features(4);
    let nystrom = nystrom.build(Affine::identity(2), &x).expect("draws");
    assert!(of(Box::new(nystrom)).contains("no gradient of the kernel arc-cosine:1"));
    let map = Fourier::new(Gaussian)
        .features(4)
        .build(Affine::identity(2))
        .expect("draws");
    let mut three = MemorySource::new(rows(5, 3, 4), None).expect("finite");
    let error = average_gradient_outer_product(&model(Box::new(map), 1), &mut three, &cpu());
    assert!(
        error
            .expect_err("3 columns")
            .to_string()
            .contains("3 columns")
    );
}

/// Sums are weighted by rows.
#[test]
fn rows_count_by_their_weights() {
    let x = rows(30, 2, 5);
    let map = Fourier::new(Gaussian)
        .features(16)
        .build(Affine::identity(2))
        .expect("draws");
    let model = model(Box::new(map), 1);
    let twice = ndarray::concatenate![Axis(0), x, x.slice(s![..10, ..])];
    let weights: Vec<f64> = (0..30).map(|i| if i < 10 { 2.0 } else { 1.0 }).collect();
    let source = MemorySource::new(&x, None).expect("finite");
    let mut source = source.with_weights(weights).expect("one each");
    let weighted = average_gradient_outer_product(&model, &mut source, &cpu()).expect("smooth");
    assert!(apart(&weighted, &outer_product(&model, &twice)) < 1e-6);
}

/// y depends on the second and the seventh of ten columns.
fn of_two(x: &Array2<f64>) -> Array1<f64> {
    let y = x.rows().into_iter();
    y.map(|x| (1.5 * x[1]).sin() + 0.5 * x[6] * x[6]).collect()
}

#[test]
fn two_columns_of_ten_are_found() {
    let x = rows(1500, 10, 6);
    let y = of_two(&x);
    let maps: [Box<dyn MapBuilder>; 4] = [
        Box::new(Fourier::new(Gaussian).features(400)),
        Box::new(Fourier::new(Gaussian).features(400).form(Form::Phase)),
        Box::new(Fastfood::new(Gaussian).features(400)),
        Box::new(Nystrom::new(Gaussian).features(200)),
    ];
    for map in maps {
        let name = format!("{map:?}");
        let ridge = Ridge::on(map)
            .bandwidth(Bandwidth::Sigma(5.0))
            .lambda(1e-5)
            .device(&cpu());
        let model = ridge.fit((&x, &y)).expect("fits");
        let m = outer_product(model.linear(), &x);
        let diagonal = m.diag().to_vec();
        let others = (0..10).filter(|j| ![1, 6].contains(j)).map(|j| diagonal[j]);
        let others = others.fold(0.0, f64::max);
        assert!(diagonal[1] > 20.0 * others, "{name}: {diagonal:?}");
        // E x^2 is 1, and ten columns are many for this number of features.
        assert!((diagonal[6] - 1.0).abs() < 0.15, "{name}: {diagonal:?}");
        assert!(others < 0.03, "{name}: {diagonal:?}");
    }
}

/// A kernel of distances is invariant under rotation, so M rotates with the rows.
#[test]
fn the_outer_product_turns_with_the_rows() {
    let x = rows(300, 3, 7);
    let y: Array1<f64> = x
        .rows()
        .into_iter()
        .map(|x| (2.0 * x[0]).sin() + x[1])
        .collect();
    let (sin, cos) = 0.7_f64.sin_cos();
    let turn = ndarray::array![[cos, -sin, 0.0], [sin, cos, 0.0], [0.0, 0.0, 1.0]];
    let m = |x: &Array2<f64>| {
        let landmarks = Landmarks::Rows(x.slice(s![..60, ..]).to_owned());
        let ridge = Ridge::on(Nystrom::new(Gaussian).landmarks(landmarks))
            .bandwidth(Bandwidth::Sigma(2.0))
            .standardize(Standardize::No)
            .lambda(1e-4)
            .device(&cpu());
        outer_product(ridge.fit((x, &y)).expect("fits").linear(), x)
    };
    let (plain, turned) = (m(&x), m(&x.dot(&turn)));
    assert!(
        apart(&turned, &turn.t().dot(&plain).dot(&turn)) < 1e-3,
        "{plain}\n{turned}"
    );
    assert!(apart(&turned, &plain) > 0.1);
}

#[test]
fn the_number_of_threads_changes_no_bit() {
    let x = rows(900, 6, 8);
    let y = x.column(0).to_owned();
    for map in [
        Box::new(Fourier::new(Gaussian).features(64)) as Box<dyn MapBuilder>,
        Box::new(Fourier::new(Gaussian).features(64).form(Form::Phase)),
        Box::new(Nystrom::new(Matern::FIVE_HALVES).features(40)),
    ] {
        let model = Ridge::on(map).device(&cpu()).fit((&x, &y)).expect("fits");
        let on = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
            let device = Device::Cpu(CpuDevice::with_threads(threads).expect("starts"));
            pool.expect("starts").install(|| {
                let mut source = MemorySource::new(&x, None).expect("finite");
                average_gradient_outer_product(model.linear(), &mut source, &device)
            })
        };
        let one = on(1).expect("smooth");
        assert_eq!(one, on(2).expect("smooth"));
        assert_eq!(one, on(3).expect("smooth"));
    }
}

/// Sums on every device.
#[test]
fn devices_agree() {
    let x = rows(500, 5, 10);
    let map = Fourier::new(Gaussian)
        .features(40)
        .build(Affine::identity(5))
        .expect("draws");
    let model = model(Box::new(map), 3);
    let expected = outer_product(&model, &x);
    for device in devices() {
        let mut source = MemorySource::new(&x, None).expect("finite");
        let m = average_gradient_outer_product(&model, &mut source, device).expect("smooth");
        assert!(apart(&m, &expected) < 1e-4, "{}", device.describe());
    }
}

/// Each row is counted once, in blocks as in one pass: compares with the mean of two halves.
#[test]
fn rows_are_counted_once() {
    let x = rows(1000, 3, 11);
    let map = Fourier::new(Gaussian).features(16).form(Form::Phase);
    let map = map.build(Affine::identity(3)).expect("draws");
    let model = model(Box::new(map), 2);
    let half = |from: usize| outer_product(&model, &x.slice(s![from..from + 500, ..]).to_owned());
    let mean = (half(0) + half(500)) / 2.0;
    let one = outer_product(&model, &x.slice(s![..100, ..]).to_owned());
    assert!(apart(&outer_product(&model, &x), &mean) < 1e-9);
    assert!(apart(&one, &mean) > 1e-3);
    // A block of few rows is separate from others.
    let rest = outer_product(&model, &x.slice(s![100..500, ..]).to_owned());
    assert!(apart(&((one + rest * 4.0) / 5.0), &half(0)) < 1e-9);
}
