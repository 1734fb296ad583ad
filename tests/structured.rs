//! The Walsh-Hadamard transform and the structured maps against their f64 references, on the CPU and on every adapter, at
//! every length. Outputs hold NaN before each run; each suite has references that must fail.

mod common;

use bochner::{
    Device, Matrix,
    features::{Affine, Fastfood, FeatureMap, Form, Sorf},
    kernels::Gaussian,
    ops::{
        projection::{DenseMap, Projection},
        structured::{self, Mixing, Structured, StructuredMap},
        walsh_hadamard::{self, WalshHadamard},
    },
    seed::Seed,
};
use common::{devices, normal, worst};
use ndarray::{Array2, s};

const EPS: f64 = 1.0 / 16_777_216.0;

fn poisoned(device: &Device, rows: usize, cols: usize) -> Matrix {
    Matrix::upload(device, Array2::from_elem((rows, cols), f32::NAN).view()).expect("fits")
}

fn norms(x: &Array2<f32>) -> Vec<f64> {
    let square = |v: &f32| f64::from(*v).powi(2);
    x.rows()
        .into_iter()
        .map(|r| r.iter().map(square).sum::<f64>().sqrt())
        .collect()
}

#[test]
fn walsh_hadamard_agrees_with_f64_at_every_length() {
    for device in devices() {
        for k in 1..=18_u32 {
            let n = 1 << k;
            for rows in [1, 3, (20_000 >> k).min(150) + 5] {
                let x = normal(rows, n, k.into());
                let norms = norms(&x);
                let allowed = |i: usize, _| 4.0 * f64::from(k) * EPS * norms[i];
                let reference = walsh_hadamard::reference(x.view());
                let transform = WalshHadamard::new(n).expect("a power of two");
                let mut x_nd = Matrix::upload(device, x.view()).expect("fits");
                let mut y_nd = poisoned(device, rows, n);
                transform.run_into(&x_nd, &mut y_nd).expect("runs");
                transform.run(&mut x_nd).expect("runs");
                for (way, y) in [("into", y_nd), ("in place", x_nd)] {
                    let y = y.download().expect("reads back");
                    let ratio = worst(y.view(), reference.view(), allowed);
                    assert!(
                        ratio < 1.0,
                        "2^{k}, {rows} rows, {way} on {device:?}: {ratio}"
                    );
                    // Negative controls: one element changed by a hair, and two neighbours exchanged.
                    let mut wrong = x.clone();
                    wrong[[rows - 1, n - 1]] += 1e-3 * norms[rows - 1] as f32;
                    let wrong = walsh_hadamard::reference(wrong.view());
                    assert!(
                        worst(y.view(), wrong.view(), allowed) > 1.0,
                        "a change passes"
                    );
                    let mut wrong = reference.clone();
                    wrong.swap([0, 0], [0, n - 1]);
                    assert!(
                        worst(y.view(), wrong.view(), allowed) > 1.0,
                        "a swap passes"
                    );
                }
            }
        }
    }
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

/// Both kinds with D chosen so that there are s frequencies.
fn maps(d: usize, s: usize, form: Form) -> [StructuredMap; 2] {
    let features = if form == Form::Paired { 2 * s } else { s };
    let input = || Affine::identity(d);
    let fastfood = Fastfood::new(Gaussian).features(features).form(form);
    let sorf = Sorf::new(Gaussian).features(features).form(form);
    let fastfood = fastfood.seed(Seed(s as u64)).build(input());
    let sorf = sorf.seed(Seed(d as u64)).build(input());
    [fastfood, sorf].map(|map| map.expect("draws").parameters().clone())
}

/// Norms of the frequencies before truncation to d columns.
fn frequency_norms(map: &StructuredMap) -> Vec<f64> {
    let n = map.padded as f64;
    let mixed = |l: usize| match &map.mixing {
        Mixing::Sorf => n * n.sqrt(),
        Mixing::Fastfood { gaussian_bn, .. } => {
            let g = gaussian_bn.row(l / map.padded);
            (n * g.iter().map(|&g| f64::from(g).powi(2)).sum::<f64>()).sqrt()
        }
    };
    let radii = map.radius_s.iter().enumerate();
    radii.map(|(l, &r)| f64::from(r) * mixed(l)).collect()
}

/// The allowed error of each feature: three transforms of 4 log2(n) roundings, each spread evenly over its row, through a
/// slope of 2 pi, and the roundings of t itself.
fn structured_bound(map: &StructuredMap, x: &Array2<f32>) -> impl Fn(usize, usize) -> f64 {
    let n = map.padded as f64;
    let (s, norms, sizes) = (map.freqs(), frequency_norms(map), norms(x));
    let amplitude = f64::from(map.amplitude);
    let phase = map.phase_s.clone();
    move |i, j| {
        let reach = sizes[i] * norms[j % s];
        let turns = 1.0 + f64::from(phase[j % s]) + 4.0 * reach / n.sqrt();
        amplitude * 6.3 * EPS * (2.0 * turns + 12.0 * n.log2() * reach / n.sqrt())
    }
}

fn features(device: &Device, map: &StructuredMap, x: &Array2<f32>) -> Array2<f32> {
    let op = Structured::load(device, map).expect("loads");
    let x_nd = Matrix::upload(device, x.view()).expect("fits");
    let mut z_nd = poisoned(device, x.nrows(), map.outputs());
    op.run(&x_nd, &mut z_nd).expect("runs");
    z_nd.download().expect("reads back")
}

#[test]
fn structured_maps_agree_with_f64_at_every_length() {
    for k in 1..=17_u32 {
        let n = 1_usize << k;
        // Whole and odd depths, one frequency, part of a block, several blocks.
        let cases = match k {
            1..=8 => vec![(9, n, 1), (70, n / 2 + 1, n + 3), (3, n - n / 4, 3 * n - 1)],
            9..=12 => vec![(9, n - 1, 5), (2, n / 2 + 1, 2 * n + 3)],
            _ => vec![(2, n - 3, 77), (1, n / 2 + 1, n + 5)],
        };
        let forms: &[Form] = match k {
            // Beyond one dispatch only the last step knows the form.
            14 | 16 => &[Form::Paired],
            15 | 17 => &[Form::Phase],
            _ => &[Form::Paired, Form::Phase],
        };
        for (rows, d, s) in cases {
            for &form in forms {
                for map in maps(d, s, form) {
                    let x = normal(rows, d, 1).mapv(|v| 0.3 * v);
                    let allowed = structured_bound(&map, &x);
                    let reference = structured::reference(&map, x.view());
                    let kind = matches!(map.mixing, Mixing::Sorf);
                    for device in devices() {
                        let z = features(device, &map, &x);
                        let ratio = worst(z.view(), reference.view(), &allowed);
                        assert!(
                            ratio < 1.0,
                            "{rows} x {d} -> {s}, {form}, sorf {kind} on {device:?}: {ratio}"
                        );
                    }
                }
            }
        }
    }
}

/// Negative control: one wrong sign, two exchanged entries of the permutation, lost radii and a lost phase must all fail,
/// in the fused form and in the one for long rows.
#[test]
fn structured_parity_notices_small_wrongs() {
    for (d, s) in [(50, 150), (5000, 9000)] {
        for [fastfood, sorf] in [maps(d, s, Form::Paired), maps(d, s, Form::Phase)] {
            let x = normal(3, d, 1);
            let mut wrongs = Vec::new();
            for map in [&fastfood, &sorf] {
                let mut wrong = map.clone();
                wrong.signs[[map.signs.nrows() - 1, 0]] ^= 2;
                wrongs.push((map, wrong));
                let mut wrong = map.clone();
                wrong.radius_s.fill(map.radius_s[0]);
                wrongs.push((map, wrong));
                if map.phase_s[s - 1] > 0.0 {
                    let mut wrong = map.clone();
                    wrong.phase_s[s - 1] = 0.0;
                    wrongs.push((map, wrong));
                }
            }
            let mut wrong = fastfood.clone();
            if let Mixing::Fastfood { permutation_bn, .. } = &mut wrong.mixing {
                permutation_bn.swap([0, 0], [0, 1]);
            }
            wrongs.push((&fastfood, wrong));
            for device in devices() {
                for (map, wrong) in &wrongs {
                    let z = features(device, map, &x);
                    let reference = structured::reference(wrong, x.view());
                    let ratio = worst(z.view(), reference.view(), structured_bound(map, &x));
                    assert!(
                        ratio > 1.0,
                        "a wrong reference passes on {device:?}: {ratio}"
                    );
                }
            }
        }
    }
}

/// The same frequencies as a dense matrix give the same features.
#[test]
fn structured_maps_agree_with_the_dense_map_of_their_matrix() {
    for map in maps(37, 150, Form::Phase) {
        let x = normal(21, 37, 4);
        let dense = DenseMap {
            w_ds: map.materialize().mapv(|w| w as f32),
            phase_s: map.phase_s.clone(),
            amplitude_s: vec![map.amplitude; map.freqs()],
            nonlinearity: map.nonlinearity,
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
fn structured_predict_agrees_with_f64() {
    // The last needs two batches of features.
    for (rows, d, s, t) in [
        (1, 3, 5, 1),
        (70, 20, 40, 3),
        (33, 100, 130, 70),
        (5, 5000, 900, 2),
        (2100, 6, 4000, 1),
    ] {
        for map in maps(d, s, Form::Paired) {
            let x = normal(rows, d, 1);
            let beta = normal(map.outputs(), t, 2);
            let size = beta.mapv(|b| f64::from(b).abs());
            let exact = structured::reference(&map, x.view());
            let sums = exact.mapv(f64::abs).dot(&size);
            let bound = structured_bound(&map, &x);
            let bounds = Array2::from_shape_fn(exact.dim(), |(i, j)| bound(i, j)).dot(&size);
            let reference = exact.dot(&beta.mapv(f64::from));
            for device in devices() {
                let mut op = Structured::load(device, &map).expect("loads");
                let x_nd = Matrix::upload(device, x.view()).expect("fits");
                let beta_dt = Matrix::upload(device, beta.view()).expect("fits");
                let mut y_nt = poisoned(device, rows, t);
                op.predict(&x_nd, &beta_dt, &mut y_nt).expect("runs");
                let y = y_nt.download().expect("reads back");
                let allowed =
                    |i: usize, j: usize| bounds[[i, j]] + 8.0 * EPS * (1.0 + sums[[i, j]]);
                let ratio = worst(y.view(), reference.view(), allowed);
                assert!(
                    ratio < 1.0,
                    "{rows} x {d} -> {s} -> {t} on {device:?}: {ratio}"
                );
            }
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
            let mut store = bochner::store::Store::default();
            map.write(&mut store).expect("writes");
            let bytes = store.to_bytes("model").expect("serialises");
            let store = bochner::store::Store::from_bytes(&bytes, "model").expect("parses");
            let back = bochner::features::read(&store).expect("reads");
            let mut again = bochner::store::Store::default();
            back.write(&mut again).expect("writes");
            assert_eq!(again, {
                let mut first = bochner::store::Store::default();
                map.write(&mut first).expect("writes");
                first
            });
            assert_eq!(back.describe(), map.describe());
        }
    }
}

/// A row has the same features alone and in any batch, to the bit on one device.
#[test]
fn structured_features_do_not_depend_on_the_batch() {
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
