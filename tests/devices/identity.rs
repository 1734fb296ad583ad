//! Columns without a map, and precomputed kernel values: ridge regression compared with
//! scikit-learn's and with closed forms, and Nystrom on precomputed values compared with that of
//! the library.

use crate::common::{devices, normal};
use bochner::{
    Matrix,
    data::{MemorySource, Rows},
    features::{
        Affine, FeatureMap, Identity, Landmarks, LoadedMap, Nystrom, Precomputed, Store, read,
    },
    kernels,
    models::{HeldOut, KernelRidge, Lambda},
    prelude::*,
};
use ndarray::{Array1, Array2, array, s};

const N: usize = 40;
const ALPHAS: [f64; 5] = [0.004, 0.04, 0.4, 4.0, 40.0];

/// Rows with a column far from 0, the same as for scikit-learn.
fn data() -> (Array2<f64>, Array1<f64>) {
    let x = Array2::from_shape_fn((N, 4), |(i, j)| {
        let value = ((i * (3 + 2 * j) + j) % 17) as f64 / 17.0 * (j + 1) as f64;
        value + if j == 2 { 1000.0 } else { 0.0 }
    });
    let y = (0..N).map(|i| {
        let noise = ((i * 7) % 5) as f64 / 5.0;
        2.0 * x[[i, 0]] - x[[i, 1]] + 0.5 * x[[i, 2]] + noise
    });
    let y = y.collect();
    (x, y)
}

/// scikit-learn's alpha is n times the penalty per sample.
fn lambda() -> Lambda {
    Lambda::Best {
        of: ALPHAS.iter().map(|alpha| alpha / N as f64).collect(),
        by: HeldOut::LeaveOneOut,
    }
}

/// `RidgeCV(alphas=ALPHAS).fit(x, y)` of scikit-learn 1.9.1: its alpha, coefficients and
/// predictions.
#[test]
fn ridge_on_columns_is_the_ridge_of_scikit_learn_on_devices() {
    let (x, y) = data();
    let coefficients = [
        1.912_049_020_160_618_8,
        -1.073_319_299_049_109_2,
        0.495_519_653_316_159_1,
        0.040_528_381_091_520_856,
    ];
    let predictions = [
        500.516_357_168_653_8,
        500.920_350_610_355_3,
        501.162_230_527_690_67,
    ];
    for device in devices() {
        let ridge = Ridge::on(Identity)
            .lambda(lambda())
            .standardize(Standardize::No);
        let model = ridge.device(device).fit((&x, &y)).expect("fits");
        assert!((model.linear().lambda * N as f64 - 0.04).abs() < 1e-12);
        let beta = &model.linear().coefficients.beta_dt;
        for (own, theirs) in beta.column(0).iter().zip(coefficients) {
            assert!((own - theirs).abs() < 2e-5, "{own} {theirs} on {device:?}");
        }
        let predicted = model
            .predict(x.slice(s![..3, ..]).to_owned())
            .expect("predicts");
        for (own, theirs) in predicted.iter().zip(predictions) {
            assert!((own - theirs).abs() < 1e-4, "{own} {theirs} on {device:?}");
        }
    }
}

/// `RidgeClassifierCV(alphas=ALPHAS).fit(x, labels)` of scikit-learn 1.9.1.
#[test]
fn ridge_classes_on_columns_are_those_of_scikit_learn() {
    let (x, _) = data();
    let labels = [
        0, 1, 2, 0, 2, 1, 0, 1, 1, 2, 2, 2, 0, 0, 2, 1, 2, 1, 0, 1, 0, 2, 2, 0, 1, 0, 1, 2, 2, 0,
        0, 2, 2, 1, 1, 0, 1, 0, 2, 1,
    ];
    let theirs = [
        0, 1, 2, 0, 2, 1, 0, 1, 0, 2, 2, 2, 0, 0, 2, 2, 2, 0, 1, 2, 0, 2, 1, 0, 1, 0, 2, 2, 2, 0,
        0, 2, 2, 2, 0, 1, 2, 0, 2, 1,
    ];
    let coefficients = [
        [-1.306_208_8, 0.866_914_5, -0.298_417_49, -0.067_259_22],
        [-0.234_537_62, -0.205_305_62, -0.097_740_6, 0.143_712_77],
        [1.540_746_4, -0.661_608_88, 0.396_158_09, -0.076_453_55],
    ];
    let ridge = RidgeClassifier::on(Identity).lambda(0.4 / N as f64);
    let ridge = ridge.standardize(Standardize::No);
    let model = ridge
        .device(&Device::cpu())
        .fit((&x, labels))
        .expect("fits");
    assert_eq!(model.predict(&x).expect("predicts"), theirs);
    let beta = &model.linear().coefficients.beta_dt;
    for (class, row) in coefficients.iter().enumerate() {
        for (j, theirs) in row.iter().enumerate() {
            let own = beta[[j, class]];
            assert!((own - theirs).abs() < 2e-5, "{class} {j}: {own} {theirs}");
        }
    }
}

/// Outputs of a loaded map for prepared rows, and their products with coefficients.
fn on_device(
    map: &dyn FeatureMap,
    x: &Array2<f64>,
    beta: &Array2<f32>,
    device: &Device,
) -> (Array2<f32>, Array2<f32>) {
    let mut x_nd = Matrix::new(device, x.nrows(), x.ncols()).expect("fits");
    map.input().load(&Rows::from(x), &mut x_nd).expect("loads");
    let mut loaded: Box<dyn LoadedMap> = map.load(device).expect("loads");
    let mut z_nd = Matrix::new(device, x.nrows(), map.output_dim()).expect("fits");
    loaded.featurize(&x_nd, &mut z_nd).expect("runs");
    let beta_dt = Matrix::upload(device, beta.view()).expect("fits");
    let mut y_nt = Matrix::new(device, x.nrows(), beta.ncols()).expect("fits");
    loaded.predict(&x_nd, &beta_dt, &mut y_nt).expect("runs");
    (
        z_nd.download().expect("reads"),
        y_nt.download().expect("reads"),
    )
}

/// Features, predictions, formula and file, on every device, at the edges of tiles.
#[test]
fn maps_without_draws_are_the_same_on_devices() {
    for (n, d) in [(1, 1), (33, 7), (130, 65)] {
        let x = normal(n, d, 5).mapv(|v| 3.0 + f64::from(v));
        let input = Affine::new(vec![3.0; d], vec![0.5; d]).expect("finite");
        let k = x.slice(s![..1, ..]).dot(&x.slice(s![..1, ..]).t())[[0, 0]];
        let k_mm = Array2::from_shape_fn((d, d), |(i, j)| {
            k * libm::exp(-(i as f64 - j as f64).powi(2) / 3.0)
        });
        let maps: [Box<dyn FeatureMap>; 2] = [
            Box::new(Identity.build(input).expect("builds")),
            Box::new(
                Precomputed::new(k_mm)
                    .expect("fits")
                    .build()
                    .expect("builds"),
            ),
        ];
        for map in maps {
            let beta = normal(map.output_dim(), 2, 9);
            let u = map.input().apply(&Rows::from(&x)).expect("fits");
            let z = map
                .formula()
                .expect("known")
                .features(u.view())
                .expect("fits");
            let y = z.dot(&beta.mapv(f64::from));
            let mut store = Store::default();
            map.write(&mut store).expect("writes");
            let again = read(&store).expect("reads");
            for device in devices() {
                for map in [&map, &again] {
                    let (own_z, own_y) = on_device(map.as_ref(), &x, &beta, device);
                    for (of, own, exact) in [("z", own_z, &z), ("y", own_y, &y)] {
                        let largest = exact.iter().fold(1e-3_f64, |a, v| a.max(v.abs()));
                        for (a, b) in own.iter().zip(exact) {
                            let off = (f64::from(*a) - b).abs();
                            assert!(
                                off < 2e-5 * largest,
                                "{of} of {map:?}: {a} {b} on {device:?}"
                            );
                        }
                    }
                }
            }
        }
    }
}

/// Given landmarks and kernel values computed in f64: both ways give the same model.
#[test]
fn precomputed_values_give_the_nystrom_of_the_library() {
    let x = normal(200, 3, 2).mapv(f64::from);
    let y: Array1<f64> = x
        .rows()
        .into_iter()
        .map(|x| x[0].sin() + x[1] * x[2])
        .collect();
    let kernel = kernels::parse("laplacian").expect("known");
    let rows: Vec<u64> = (0..60).map(|k| (k * 37) % 200).collect();
    let of =
        |i: usize, j: usize| kernel.evaluate(&x.row(i).to_vec(), &x.row(rows[j] as usize).to_vec());
    let k_nm = Array2::from_shape_fn((200, 60), |(i, j)| of(i, j));
    let landmarks = Array2::from_shape_fn((60, 3), |(k, j)| x[[rows[k] as usize, j]]);
    let own = Nystrom::new(kernel.clone()).landmarks(Landmarks::Rows(landmarks));
    let own = Ridge::on(own)
        .bandwidth(Bandwidth::Sigma(1.0))
        .standardize(Standardize::No);
    let own = own.lambda(1e-3).fit((&x, &y)).expect("fits");
    let mut source = MemorySource::new(k_nm.clone(), None).expect("finite");
    let given = Precomputed::of_rows(&mut source, &rows).expect("fits");
    let k_mm = Array2::from_shape_fn((60, 60), |(i, j)| k_nm[[rows[i] as usize, j]]);
    let same = Precomputed::new(k_mm)
        .expect("fits")
        .build()
        .expect("builds");
    assert_eq!(same.root(), given.build().expect("builds").root());
    let theirs = Ridge::on(given)
        .lambda(1e-3)
        .fit((&k_nm, &y))
        .expect("fits");
    let (a, b) = (
        own.predict(&x).expect("predicts"),
        theirs.predict(&k_nm).expect("predicts"),
    );
    for (a, b) in a.iter().zip(&b) {
        assert!((a - b).abs() < 2e-4, "{a} {b}");
    }
}

/// With all rows as landmarks it is kernel ridge regression, `alpha = (K + n lambda I)^-1 y`.
#[test]
fn a_whole_precomputed_kernel_is_kernel_ridge_regression() {
    let x = normal(80, 2, 4).mapv(f64::from);
    let y: Array1<f64> = x
        .rows()
        .into_iter()
        .map(|x| x[0] - 0.5 * x[1] * x[1])
        .collect();
    let kernel = kernels::parse("exponential").expect("known");
    let k = Array2::from_shape_fn((80, 80), |(i, j)| {
        kernel.evaluate(&x.row(i).to_vec(), &x.row(j).to_vec())
    });
    let ridge = Ridge::on(Precomputed::new(k.clone()).expect("fits"));
    let model = ridge
        .lambda(1e-2)
        .intercept(false)
        .fit((&k, &y))
        .expect("fits");
    let exact = KernelRidge::on(bochner::features::KernelColumns::new(kernel))
        .bandwidth(Bandwidth::Sigma(1.0))
        .standardize(Standardize::No)
        .intercept(false)
        .lambda(1e-2);
    let exact = exact
        .fit((&x, &y))
        .expect("fits")
        .predict(&x)
        .expect("predicts");
    let own = model.predict(&k).expect("predicts");
    for (own, exact) in own.iter().zip(&exact) {
        assert!((own - exact).abs() < 2e-4, "{own} {exact}");
    }
}

#[test]
fn kernels_that_are_none_are_refused() {
    for (k_mm, fragment) in [
        (Array2::zeros((2, 3)), "2 x 3"),
        (array![[1.0, 0.5], [0.4, 1.0]], "row 0, column 1"),
        (array![[1.0, f64::NAN], [0.4, 1.0]], "NaN"),
    ] {
        let error = Precomputed::new(k_mm).expect_err("no kernel").to_string();
        assert!(error.contains(fragment), "{error}");
    }
    let zero = Precomputed::new(Array2::zeros((2, 2))).expect("symmetric");
    assert!(zero.build().is_err());
    let mut source = MemorySource::new(Array2::<f64>::eye(3), None).expect("finite");
    for (rows, fragment) in [
        (vec![0, 1], "2 rows for 3 columns"),
        (vec![0, 1, 5], "row 5"),
    ] {
        let error = Precomputed::of_rows(&mut source, &rows)
            .expect_err("no rows")
            .to_string();
        assert!(error.contains(fragment), "{error}");
    }
}
