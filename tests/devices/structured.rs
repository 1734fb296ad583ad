//! The Walsh-Hadamard transform and the structured maps on the CPU and on every adapter: properties
//! other than parity with f64, which is a suite of the registry.

use crate::common::{devices, normal, worst};
use bochner::{
    Device, Matrix,
    features::{Affine, Fastfood, FeatureMap, Form, Sorf},
    form::{Registers, Way, tuning},
    kernels::Gaussian,
    ops::{
        projection::{DenseMap, Projection},
        structured::{Mixing, Structured, StructuredMap, check::structured_bound},
        walsh_hadamard::WalshHadamard,
    },
    seed::Seed,
};
use ndarray::{Array2, s};

const EPS: f64 = 1.0 / 16_777_216.0;

fn poisoned(device: &Device, rows: usize, cols: usize) -> Matrix {
    Matrix::upload(device, Array2::from_elem((rows, cols), f32::NAN).view()).expect("fits")
}

#[test]
fn walsh_hadamard_of_a_slice_is_its_own_inverse() {
    for k in 1..=20_u32 {
        let n = 1 << k;
        let x = normal(1, n, 5).into_raw_vec_and_offset().0;
        let transform = WalshHadamard::new(n).expect("a power of two");
        let mut y = x.clone();
        transform.run_slice(&mut y).expect("a whole row");
        transform.run_slice(&mut y).expect("a whole row");
        let size = x.iter().map(|v| v * v).sum::<f32>().sqrt();
        for (x, y) in x.iter().zip(&y) {
            assert!((x - y / n as f32).abs() <= 8.0 * k as f32 * EPS as f32 * size);
        }
    }
    assert!(WalshHadamard::new(12).is_err() && WalshHadamard::new(1).is_err());
    let two = WalshHadamard::new(2).expect("a power of two");
    assert!(two.run_slice(&mut [0.0; 3]).is_err());
}

/// Both kinds with D chosen to give s frequencies.
fn maps(d: usize, s: usize, form: Form) -> [StructuredMap; 2] {
    let features = if form == Form::Paired { 2 * s } else { s };
    let input = || Affine::identity(d);
    let fastfood = Fastfood::new(Gaussian).features(features).form(form);
    let sorf = Sorf::new(Gaussian).features(features).form(form);
    let fastfood = fastfood.seed(Seed(s as u64)).build(input());
    let sorf = sorf.seed(Seed(d as u64)).build(input());
    [fastfood, sorf].map(|map| map.expect("draws").parameters().clone())
}

fn features(device: &Device, map: &StructuredMap, x: &Array2<f32>) -> Array2<f32> {
    let op = Structured::load(device, map).expect("loads");
    let x_nd = Matrix::upload(device, x.view()).expect("fits");
    let mut z_nd = poisoned(device, x.nrows(), map.outputs());
    op.run(&x_nd, &mut z_nd).expect("runs");
    z_nd.download().expect("reads back")
}

/// Rows of 8192 elements in one dispatch, if there is enough workgroup memory, perform the same
/// additions in the same order as in stages; only SORF's second transform runs backwards there.
#[test]
fn rows_of_8192_have_the_same_bits_in_one_dispatch_on_devices() {
    // Uses separate devices, since other tests query the choices of the shared ones.
    for device in Device::all_gpus().expect("every adapter opens") {
        let Device::Gpu(gpu) = &device else { continue };
        if !gpu.is_software() || gpu.report().workgroup_bytes < 32_768 {
            println!("not compared on {device:?}");
            continue;
        }
        let x = normal(5, 8192, 7);
        let [fastfood, sorf] = maps(8000, 8192, Form::Paired);
        let mut both = Registers::ALL.iter().map(|way| {
            tuning::force(gpu, Some(way.name())).expect("is known");
            let x_nd = Matrix::upload(&device, x.view()).expect("fits");
            let mut y_nd = poisoned(&device, 5, 8192);
            let transform = WalshHadamard::new(8192).expect("a power of two");
            transform.run_into(&x_nd, &mut y_nd).expect("runs");
            let x = x.slice(s![.., ..8000]).to_owned();
            let maps = [&fastfood, &sorf].map(|map| features(&device, map, &x));
            (y_nd.download().expect("reads back"), maps)
        });
        let (one, stages) = (both.next().expect("few"), both.next().expect("many"));
        assert!(one.0 == stages.0, "transforms on {device:?}");
        assert!(one.1[0] == stages.1[0], "Fastfood on {device:?}");
        // Negative control: it takes another path.
        assert!(one.1[1] != stages.1[1], "SORF on {device:?}");
    }
}

/// The same frequencies as a dense matrix give the same features.
#[test]
fn structured_maps_agree_with_the_dense_map_of_their_matrix_on_devices() {
    for map in maps(37, 150, Form::Phase) {
        let x = normal(21, 37, 4);
        let dense = DenseMap {
            w_ds: map.materialize().mapv(|w| w as f32),
            phase_s: map.phase_s.clone(),
            amplitude_s: vec![map.amplitude; map.freqs()],
            nonlinearity: map.nonlinearity.clone(),
        };
        let sums = x.mapv(f32::abs).dot(&dense.w_ds.mapv(f32::abs));
        for device in devices() {
            let z = features(device, &map, &x);
            let op = Projection::load(device, &dense).expect("loads");
            let x_nd = Matrix::upload(device, x.view()).expect("fits");
            let mut z_nd = poisoned(device, 21, op.outputs());
            op.run(&x_nd, &mut z_nd).expect("runs");
            let other = z_nd.download().expect("reads back").mapv(f64::from);
            let own = structured_bound(&map, &x);
            let allowed = |i: usize, j: usize| {
                let product = 6.3 * 4.0 * EPS * (2.0 + f64::from(sums[[i, j]]));
                own(i, j) + f64::from(map.amplitude) * product
            };
            let ratio = worst(z.view(), other.view(), allowed);
            assert!(ratio < 1.0, "on {device:?}: {ratio}");
        }
    }
}

#[test]
fn wrong_shapes_and_foreign_matrices_are_refused() {
    let [map, _] = maps(5, 9, Form::Phase);
    let cpu = Device::cpu();
    let mut op = Structured::load(&cpu, &map).expect("loads");
    let x = Matrix::new(&cpu, 2, 4).expect("fits");
    let mut z = Matrix::new(&cpu, 2, 9).expect("fits");
    let message = op.run(&x, &mut z).expect_err("narrow").to_string();
    assert!(message.contains("4 columns"), "{message}");
    let x = Matrix::new(&cpu, 2, 5).expect("fits");
    let beta = Matrix::new(&cpu, 8, 1).expect("fits");
    assert!(op.predict(&x, &beta, &mut z).is_err());
    let mut broken = map.clone();
    if let Mixing::Fastfood { permutation_bn, .. } = &mut broken.mixing {
        permutation_bn[[0, 0]] = permutation_bn[[0, 1]];
    }
    let message = Structured::load(&cpu, &broken)
        .expect_err("no permutation")
        .to_string();
    assert!(message.contains("no permutation"), "{message}");
}

#[test]
fn structured_maps_survive_being_stored() {
    for (form, seed) in [(Form::Paired, 1), (Form::Phase, 2)] {
        let input = Affine::identity(11).lengthscale(3.0).expect("positive");
        let fastfood = Fastfood::new(Gaussian)
            .features(50)
            .form(form)
            .seed(Seed(seed));
        let sorf = Sorf::new(Gaussian).features(50).form(form).seed(Seed(seed));
        let maps = [fastfood.build(input.clone()), sorf.build(input.clone())];
        for map in maps.map(|m| m.expect("draws")) {
            let mut store = bochner::features::Store::default();
            map.write(&mut store).expect("writes");
            let bytes = store.to_bytes("model").expect("serialises");
            let store = bochner::features::Store::from_bytes(&bytes, "model").expect("parses");
            let back = bochner::features::read(&store).expect("reads");
            let mut again = bochner::features::Store::default();
            back.write(&mut again).expect("writes");
            assert_eq!(again, {
                let mut first = bochner::features::Store::default();
                map.write(&mut first).expect("writes");
                first
            });
            assert_eq!(back.describe(), map.describe());
        }
    }
}

/// A row has the same features alone and in any batch, bit-identical on one device.
#[test]
fn structured_features_do_not_depend_on_the_batch_on_devices() {
    for (d, s) in [(13, 50), (700, 1030), (4100, 200)] {
        for map in maps(d, s, Form::Paired) {
            let x = normal(19, d, 3);
            for device in devices() {
                let whole = features(device, &map, &x);
                for (from, to) in [(0, 1), (3, 8), (18, 19)] {
                    let part = features(device, &map, &x.slice(s![from..to, ..]).to_owned());
                    assert_eq!(part, whole.slice(s![from..to, ..]), "{d} on {device:?}");
                }
            }
        }
    }
}
