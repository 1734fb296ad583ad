//! Random projections: means and variances over seeds compared with their closed forms, and their
//! use in learners.

use crate::common::{devices, normal};
use bochner::{
    Error, Matrix,
    data::Rows,
    features::{Affine, Entries, FeatureMap, MapSpec, RandomProjection, Store, read},
    kernels::{Linear, parse},
    prelude::*,
    seed::Stream,
};
use ndarray::{Array2, array};

fn features(map: &dyn FeatureMap, x: &Array2<f64>, device: &Device) -> Array2<f64> {
    let mut x_nd = Matrix::new(device, x.nrows(), x.ncols()).expect("fits");
    let mut z_nd = Matrix::new(device, x.nrows(), map.output_dim()).expect("fits");
    map.input().load(&Rows::from(x), &mut x_nd).expect("loads");
    let mut loaded = map.load(device).expect("loads");
    loaded.featurize(&x_nd, &mut z_nd).expect("runs");
    z_nd.download().expect("reads").mapv(f64::from)
}

/// `(|x|^2 |y|^2 + (x'y)^2 + (m - 3) sum_j x_j^2 y_j^2) / D`, m the fourth moment of entries.
#[test]
fn products_are_unbiased_with_the_variance_that_is_said() {
    let x = array![
        [1.0, -0.5, 0.25, 2.0, 0.0, 1.0, 0.5, -1.0, 0.1],
        [0.5, 1.0, 0.0, 1.5, -1.0, 0.0, 0.5, -0.5, 2.0]
    ];
    let (a, b) = (x.row(0), x.row(1));
    let (product, own) = (a.dot(&b), a.dot(&a) * b.dot(&b));
    let squares: f64 = a.iter().zip(b).map(|(a, b)| a * a * b * b).sum();
    const FEATURES: usize = 24;
    const SEEDS: u64 = 2000;
    for (entries, fourth) in [
        (Entries::Gaussian, 3.0),
        (Entries::Sparse(1.0), 1.0),
        (Entries::Sparse(3.0), 3.0),
        (Entries::Sparse(8.0), 8.0),
        (Entries::VerySparse, 3.0),
    ] {
        let estimates: Vec<f64> = (0..SEEDS)
            .map(|seed| {
                let map = RandomProjection::new().features(FEATURES).entries(entries);
                let map = map
                    .seed(Seed(seed))
                    .build(Affine::identity(9))
                    .expect("builds");
                let z = features(&map, &x, &Device::cpu());
                z.row(0).dot(&z.row(1))
            })
            .collect();
        let n = SEEDS as f64;
        let mean = estimates.iter().sum::<f64>() / n;
        let variance = estimates.iter().map(|e| (e - mean).powi(2)).sum::<f64>() / (n - 1.0);
        let expected = (own + product * product + (fourth - 3.0) * squares) / FEATURES as f64;
        // The relative error of a variance of n nearly normal values is sqrt(2 / n), 3 %.
        assert!(
            (variance / expected - 1.0).abs() < 0.13,
            "{entries}: {variance} {expected}"
        );
        let error = (mean - product).abs() / (expected / n).sqrt();
        assert!(
            error < 4.0,
            "{entries}: {mean} {product}, {error} standard errors"
        );
    }
}

/// The lemma of Johnson and Lindenstrauss: all distances of 40 rows of 3,000 columns within 20 %.
#[test]
fn distances_are_kept_on_devices() {
    let x = normal(40, 3000, 5).mapv(f64::from);
    for device in devices() {
        for entries in [Entries::Gaussian, Entries::VerySparse] {
            let map = RandomProjection::new().features(800).entries(entries);
            let map = map.build(Affine::identity(3000)).expect("builds");
            let z = features(&map, &x, device);
            for i in 0..40 {
                for j in 0..i {
                    let length = |m: &Array2<f64>| {
                        let apart = &m.row(i) - &m.row(j);
                        apart.dot(&apart).sqrt()
                    };
                    let ratio = length(&z) / length(&x);
                    assert!(
                        (ratio - 1.0).abs() < 0.2,
                        "{entries} {}: {ratio}",
                        device.describe()
                    );
                }
            }
            let again = features(&map, &x, &Device::cpu());
            let worst = (z - again).fold(0.0_f64, |m, v| m.max(v.abs()));
            assert!(worst < 1e-4, "{entries} {}: {worst}", device.describe());
        }
    }
}

/// With more features than columns, ridge regression on a projection is linear regression.
#[test]
fn learners_on_a_projection_are_linear_on_devices() {
    let mut draws = Seed(3).stream(Stream::Data, 0);
    let x = Array2::from_shape_simple_fn((300, 5), || draws.normal());
    let beta = array![1.0, -2.0, 0.5, 0.0, 3.0];
    let y = x.dot(&beta) + 7.0;
    for device in devices() {
        for entries in [Entries::Gaussian, Entries::Sparse(3.0)] {
            let map = RandomProjection::new().features(40).entries(entries);
            let model = Ridge::on(map)
                .device(device)
                .lambda(1e-5)
                .fit((&x, &y))
                .expect("fits");
            let at = array![[10.0, 3.0, -5.0, 1.0, 2.0], [0.0, 0.0, 0.0, 0.0, 0.0]];
            let own = model.predict(&at).expect("predicts");
            let expected = at.dot(&beta) + 7.0;
            let worst = (own - &expected).fold(0.0_f64, |m, v| m.max(v.abs()));
            assert!(worst < 2e-2, "{entries} {}: {worst}", device.describe());
        }
    }
    // Principal components of the projection approximate the components of the columns.
    let wide = &x * &array![3.0, 1.0, 0.2, 0.1, 0.1];
    let pca = KernelPca::on(RandomProjection::new().features(3000))
        .bandwidth(Bandwidth::Sigma(1.0))
        .standardize(Standardize::No)
        .device(&Device::cpu())
        .components(1);
    let pca = pca
        .solver(bochner::models::PcaSolver::randomized())
        .fit(&wide)
        .expect("fits");
    let scores = pca.predict(&wide).expect("predicts");
    let cosine = scores.column(0).dot(&wide.column(0))
        / (scores.column(0).dot(&scores.column(0)) * wide.column(0).dot(&wide.column(0))).sqrt();
    assert!(cosine.abs() > 0.99, "{cosine}");
}

#[test]
fn a_projection_survives_its_file_and_is_found_by_its_name() {
    let x = normal(4, 6, 1).mapv(f64::from);
    for entries in ["gaussian", "sparse", "sparse:3"] {
        let parsed: Entries = entries.parse().expect("entries");
        assert_eq!(parsed.to_string(), entries);
        let mut spec = MapSpec::new(
            "projection".parse().expect("a map"),
            parse("linear").unwrap(),
        );
        (spec.features, spec.entries) = (10, parsed);
        spec.check().expect("goes together");
        let mut source = bochner::data::MemorySource::new(&x, None).expect("finite");
        let map = spec.build(Affine::identity(6), &x, &mut source, &Device::cpu());
        let map = map.expect("builds");
        let mut store = Store::default();
        map.write(&mut store).expect("writes");
        let again = read(&store).expect("reads");
        assert_eq!(again.describe(), map.describe());
        let z = features(map.as_ref(), &x, &Device::cpu());
        assert_eq!(features(again.as_ref(), &x, &Device::cpu()), z);
    }
    for bad in ["dense", "sparse:", "sparse:0.5", "sparse:nan"] {
        assert!(
            matches!(bad.parse::<Entries>(), Err(Error::Parameter(_))),
            "{bad}"
        );
    }
    let none = RandomProjection::new()
        .features(0)
        .build(Affine::identity(2));
    assert!(matches!(none, Err(Error::Shape(_))));
    assert_eq!(Linear.evaluate(&[1.0, 2.0], &[3.0, -1.0]), 1.0);
    assert!(Linear.spectrum().is_none() && !Linear.is_shift_invariant());
}
