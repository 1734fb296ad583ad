//! Fastfood and SORF compared with their proved properties: row norms, orthogonality, unbiasedness,
//! and SORF's known bias.

use crate::common::normal;
use bochner::{
    Device, Matrix,
    data::Rows,
    error::Remedy,
    features::{Affine, Fastfood, FeatureMap, Form, Fourier, Radii, Sorf, StructuredFeatures},
    kernels::{Cauchy, Gaussian, Kernel, Laplacian, Matern, parse},
    ops::structured::Mixing,
    seed::{Seed, Stream},
};
use ndarray::{Array2, Axis};

/// The features of raw rows on the CPU, in f64.
fn features(map: &dyn FeatureMap, x: &Array2<f64>) -> Array2<f64> {
    let device = Device::cpu();
    let mut x_nd = Matrix::new(&device, x.nrows(), x.ncols()).expect("fits");
    let mut z_nd = Matrix::new(&device, x.nrows(), map.output_dim()).expect("fits");
    map.input().load(&Rows::from(x), &mut x_nd).expect("loads");
    let mut loaded = map.load(&device).expect("loads");
    loaded.featurize(&x_nd, &mut z_nd).expect("runs");
    z_nd.download().expect("reads").mapv(f64::from)
}

/// Norms equal the drawn radii up to rounding of the stored factors to f32.
#[test]
fn rows_have_the_drawn_norms() {
    for (d, s) in [(8, 8), (64, 150), (512, 700)] {
        let plan = |name: &str| -> Box<dyn FeatureMap> {
            let input = Affine::identity(d);
            match name {
                "fastfood" => {
                    let map = Fastfood::new(Gaussian).features(2 * s).seed(Seed(3));
                    Box::new(map.build(input).expect("draws"))
                }
                _ => {
                    let map = Sorf::new(Gaussian).features(2 * s).seed(Seed(3));
                    Box::new(map.build(input).expect("draws"))
                }
            }
        };
        for name in ["fastfood", "sorf"] {
            // d needs no padding here, so the matrix shows whole rows.
            let map = plan(name);
            let map: Array2<f64> = {
                let mut units = Array2::eye(d);
                units *= 1e-3;
                // Small phases: sin(2 pi t) is 2 pi t within 1e-6, and the sines are in the second
                // half.
                let z = features(map.as_ref(), &units);
                let amplitude = (1.0 / s as f64).sqrt();
                z.slice_move(ndarray::s![.., s..]) / (amplitude * 1e-3)
            };
            for (l, row) in map.axis_iter(Axis(1)).enumerate() {
                let (block, i) = (l / d, l % d);
                let mut draws = Seed(3).stream(Stream::Radii, block as u64);
                let radius = (0..=i).map(|_| draws.chi(d as f64)).last().expect("some");
                let norm = row.dot(&row).sqrt();
                assert!(
                    (norm / radius - 1.0).abs() < 1e-4,
                    "{name} {d}: {norm} {radius}"
                );
            }
        }
    }
}

/// The matrices in f64: norms up to the rounding of f32, and SORF's orthogonality.
#[test]
fn matrices_have_their_proved_shape() {
    for d in [4, 32, 256] {
        let fastfood = Fastfood::new(Gaussian).features(4 * d).seed(Seed(4));
        let fastfood = fastfood.build(Affine::identity(d)).expect("draws");
        let w_ds = fastfood.parameters().materialize();
        for (l, row) in w_ds.axis_iter(Axis(1)).enumerate() {
            let mut draws = Seed(4).stream(Stream::Radii, (l / d) as u64);
            let radius = (0..=l % d)
                .map(|_| draws.chi(d as f64))
                .last()
                .expect("some");
            assert!(
                (row.dot(&row).sqrt() / radius - 1.0).abs() < 1e-6,
                "{d}, row {l}"
            );
        }
        let sorf = Sorf::new(Gaussian).radii(Radii::Constant).features(2 * d);
        let sorf = sorf.build(Affine::identity(d)).expect("draws");
        let w_ds = sorf.parameters().materialize();
        let gram = w_ds.t().dot(&w_ds);
        for ((i, j), &g) in gram.indexed_iter() {
            let expected = if i == j { d as f64 } else { 0.0 };
            assert!((g - expected).abs() < 1e-5 * d as f64, "{d}: {i} {j} {g}");
        }
    }
}

/// With padding, a frequency is the first d coordinates of one in n dimensions, so its radius
/// follows the distribution in n dimensions, and every coordinate has the variance 1 of the
/// Gaussian's frequencies.
#[test]
fn coordinates_of_padded_rows_have_unit_variance() {
    let s = 8192;
    for d in [1, 3, 5, 12, 21] {
        let map = |name: &str| {
            let input = Affine::identity(d);
            match name {
                "fastfood" => Fastfood::new(Gaussian).features(2 * s).build(input),
                "sorf" => Sorf::new(Gaussian).features(2 * s).build(input),
                _ => Sorf::new(Gaussian)
                    .radii(Radii::Constant)
                    .features(2 * s)
                    .build(input),
            }
        };
        for name in ["fastfood", "sorf", "sorf, constant radii"] {
            let w_ds = map(name).expect("draws").parameters().materialize();
            let mean = w_ds.iter().map(|w| w * w).sum::<f64>() / (d * s) as f64;
            // Squares of normal numbers have variance 2; five standard errors exclude a radius of
            // chi(d), which gives d / n.
            let allowed = 5.0 * (2.0 / (d * s) as f64).sqrt();
            assert!((mean - 1.0).abs() < allowed, "{name}, d = {d}: {mean}");
        }
    }
}

/// Largest deviation of the mean estimate over many seeds, relative to 4 standard errors.
fn bias(build: impl Fn(u64) -> Box<dyn FeatureMap>, x: &Array2<f64>, exact: &[f64]) -> f64 {
    let seeds = 500;
    let mut sums = vec![(0.0, 0.0); exact.len()];
    for seed in 0..seeds {
        let z = features(build(seed).as_ref(), x);
        for (i, sum) in sums.iter_mut().enumerate() {
            let k = z.row(0).dot(&z.row(i + 1));
            sum.0 += k;
            sum.1 += k * k;
        }
    }
    let r = seeds as f64;
    let deviation = |((sum, square), exact): (&(f64, f64), &f64)| {
        let mean = sum / r;
        let error = ((square / r - mean * mean) / r).sqrt();
        (mean - exact).abs() / (4.0 * error)
    };
    sums.iter().zip(exact).map(deviation).fold(0.0, f64::max)
}

#[test]
fn fastfood_is_unbiased_at_small_depths() {
    let kernels: [&dyn Kernel; 2] = [&Gaussian, &Matern::new(1.5).expect("positive")];
    for kernel in kernels {
        for d in [2, 3, 8] {
            let x = normal(5, d, 9).mapv(f64::from);
            let exact = |l: f64| -> Vec<f64> {
                let unit = |i: usize| (&x.row(i) / l).to_vec();
                (1..5)
                    .map(|i| kernel.evaluate(&unit(0), &unit(i)))
                    .collect()
            };
            let build = |form: Form| {
                move |seed| -> Box<dyn FeatureMap> {
                    let kernel = parse(&kernel.spec()).expect("its own spelling");
                    let map = Fastfood::new(kernel)
                        .form(form)
                        .features(128)
                        .seed(Seed(seed));
                    let input = Affine::identity(d).lengthscale(1.7).expect("positive");
                    Box::new(map.build(input).expect("draws"))
                }
            };
            for form in [Form::Paired, Form::Phase] {
                let worst = bias(build(form), &x, &exact(1.7));
                assert!(worst < 1.0, "{} d = {d} {form}: {worst}", kernel.spec());
            }
            // Negative control: a lengthscale 5 per cent off.
            let worst = bias(build(Form::Paired), &x, &exact(1.7 * 1.05));
            assert!(worst > 1.0, "a wrong lengthscale passes: {worst}");
        }
    }
}

/// ||K^ - K|| / ||K||, Frobenius, mean over some seeds.
fn gram_error(build: impl Fn(u64) -> Box<dyn FeatureMap>, x: &Array2<f64>, sigma: f64) -> f64 {
    let n = x.nrows();
    let rows: Vec<Vec<f64>> = (0..n).map(|i| (&x.row(i) / sigma).to_vec()).collect();
    let exact = Array2::from_shape_fn((n, n), |(i, j)| Gaussian.evaluate(&rows[i], &rows[j]));
    let norm = |m: &Array2<f64>| m.iter().map(|v| v * v).sum::<f64>().sqrt();
    let seeds = 10;
    let errors = (0..seeds).map(|seed| {
        let z = features(build(seed).as_ref(), x);
        norm(&(z.dot(&z.t()) - &exact)) / norm(&exact)
    });
    errors.sum::<f64>() / seeds as f64
}

/// With the paper's radii SORF's error stops at 0.035 at d = 8; drawn radii bring it to 0.010 at
/// D = 2048.
#[test]
fn drawn_radii_remove_most_of_the_bias_of_sorf() {
    let x = normal(300, 8, 11).mapv(f64::from);
    let mut distances: Vec<f64> = (0..300)
        .flat_map(|i| (0..i).map(move |j| (i, j)))
        .map(|(i, j)| (&x.row(i) - &x.row(j)).mapv(|v| v * v).sum().sqrt())
        .collect();
    distances.sort_by(f64::total_cmp);
    let sigma = distances[distances.len() / 2];
    let input = || Affine::identity(8).lengthscale(sigma).expect("positive");
    let sorf = |radii: Radii, features: usize| {
        move |seed| -> Box<dyn FeatureMap> {
            let map = Sorf::new(Gaussian)
                .radii(radii)
                .features(features)
                .seed(Seed(seed));
            Box::new(map.build(input()).expect("draws"))
        }
    };
    let drawn = gram_error(sorf(Radii::Drawn, 2048), &x, sigma);
    let constant = gram_error(sorf(Radii::Constant, 2048), &x, sigma);
    let larger = gram_error(sorf(Radii::Constant, 16_384), &x, sigma);
    let fourier = |seed| -> Box<dyn FeatureMap> {
        let map = Fourier::new(Gaussian).features(2048).seed(Seed(seed));
        Box::new(map.build(input()).expect("draws"))
    };
    let fastfood = |seed| -> Box<dyn FeatureMap> {
        let map = Fastfood::new(Gaussian).features(2048).seed(Seed(seed));
        Box::new(map.build(input()).expect("draws"))
    };
    let monte_carlo = gram_error(fourier, &x, sigma);
    let fastfood = gram_error(fastfood, &x, sigma);
    println!(
        "SORF at d = 8, D = 2048: drawn {drawn:.4}, constant {constant:.4} (D = 16384: {larger:.4}); \
         Fastfood {fastfood:.4}, Monte Carlo {monte_carlo:.4}"
    );
    assert!((0.006..0.016).contains(&drawn), "{drawn}");
    assert!((0.028..0.042).contains(&constant), "{constant}");
    assert!(larger > 0.8 * constant, "{larger} falls below {constant}");
    assert!(drawn < monte_carlo, "{drawn} {monte_carlo}");
    assert!(fastfood < 1.5 * monte_carlo, "{fastfood} {monte_carlo}");
}

/// With padded columns, structured maps are as good as for d = n: about as good as Monte Carlo.
#[test]
fn padded_columns_keep_the_kernel_error_of_monte_carlo() {
    for d in [3, 5, 12] {
        let x = normal(200, d, 12).mapv(f64::from);
        let sigma = (2.0 * d as f64).sqrt();
        let input = move || Affine::identity(d).lengthscale(sigma).expect("positive");
        let fourier = |seed| -> Box<dyn FeatureMap> {
            let map = Fourier::new(Gaussian).features(2048).seed(Seed(seed));
            Box::new(map.build(input()).expect("draws"))
        };
        let sorf = |seed| -> Box<dyn FeatureMap> {
            let map = Sorf::new(Gaussian).features(2048).seed(Seed(seed));
            Box::new(map.build(input()).expect("draws"))
        };
        let fastfood = |seed| -> Box<dyn FeatureMap> {
            let map = Fastfood::new(Gaussian).features(2048).seed(Seed(seed));
            Box::new(map.build(input()).expect("draws"))
        };
        let monte_carlo = gram_error(fourier, &x, sigma);
        let (sorf, fastfood) = (gram_error(sorf, &x, sigma), gram_error(fastfood, &x, sigma));
        println!("d = {d}: Monte Carlo {monte_carlo:.4}, SORF {sorf:.4}, Fastfood {fastfood:.4}");
        assert!(sorf < 1.5 * monte_carlo, "d = {d}: {sorf} {monte_carlo}");
        assert!(
            fastfood < 2.0 * monte_carlo,
            "d = {d}: {fastfood} {monte_carlo}"
        );
    }
}

#[test]
fn kernels_with_preferred_directions_are_refused() {
    let kernels: [std::sync::Arc<dyn Kernel>; 2] =
        [std::sync::Arc::new(Laplacian), std::sync::Arc::new(Cauchy)];
    for kernel in kernels {
        let input = || Affine::identity(3);
        let fastfood = Fastfood::new(kernel.clone()).build(input());
        let sorf = Sorf::new(kernel.clone()).build(input());
        for refused in [fastfood, sorf] {
            let error = refused.expect_err("not isotropic");
            assert!(error.problem().contains(&kernel.spec()), "{error}");
            assert_eq!(error.remedies(), [Remedy::UseMap("fourier")]);
        }
    }
    let matern = Matern::new(1.5).expect("positive");
    let constant = Sorf::new(matern)
        .radii(Radii::Constant)
        .build(Affine::identity(3));
    assert!(constant.is_err());
    let odd = Fastfood::new(Gaussian)
        .features(7)
        .build(Affine::identity(3));
    assert!(
        odd.expect_err("odd")
            .to_string()
            .contains("8 or the phase form")
    );
}

/// More features keep the first blocks unchanged: random streams are addressed by block.
#[test]
fn blocks_do_not_depend_on_how_many_there_are() {
    let build = |features| {
        let map = Fastfood::new(Gaussian).features(features).seed(Seed(8));
        map.build(Affine::identity(16))
            .expect("draws")
            .parameters()
            .clone()
    };
    let (few, many) = (build(20), build(200));
    assert_eq!(few.radius_s[..], many.radius_s[..10]);
    let (Mixing::Fastfood { gaussian_bn: a, .. }, Mixing::Fastfood { gaussian_bn: b, .. }) =
        (&few.mixing, &many.mixing)
    else {
        panic!("both are Fastfood");
    };
    assert_eq!(a.row(0), b.row(0));
}

/// Bits of a seed, which are the same on every platform and in every version, and their features up
/// to rounding: sums of a transform may be contracted differently elsewhere.
#[test]
fn golden_values() {
    // FNV-1a over the words.
    let hash = |words: &mut dyn Iterator<Item = u32>| {
        let step = |hash: u64, w: u32| (hash ^ u64::from(w)).wrapping_mul(0x0100_0000_01b3);
        words.fold(0xcbf2_9ce4_8422_2325, step)
    };
    let of = |map: &StructuredFeatures| {
        let p = map.parameters();
        let (permutation, gaussian) = match &p.mixing {
            Mixing::Fastfood {
                permutation_bn,
                gaussian_bn,
            } => (
                hash(&mut permutation_bn.iter().copied()),
                hash(&mut gaussian_bn.iter().map(|g| g.to_bits())),
            ),
            Mixing::Sorf => (0, 0),
        };
        let x = Array2::from_shape_fn((1, 13), |(_, j)| j as f64 / 8.0 - 0.75);
        let z = features(map, &x);
        (
            [
                hash(&mut p.signs.iter().copied()),
                permutation,
                gaussian,
                hash(&mut p.radius_s.iter().map(|r| r.to_bits())),
                hash(&mut p.phase_s.iter().map(|r| r.to_bits())),
            ],
            [z[[0, 0]], z[[0, 17]], z[[0, 48]]],
        )
    };
    let kernel = || parse("mixture:1*gaussian@1+1*matern:0.75@2").expect("known");
    let input = || Affine::identity(13).lengthscale(1.5).expect("positive");
    let fastfood = Fastfood::new(kernel()).features(49).seed(Seed(42));
    let sorf = Sorf::new(kernel()).features(49).seed(Seed(42));
    let fastfood = fastfood.form(Form::Phase).build(input()).expect("draws");
    let sorf = sorf.form(Form::Phase).build(input()).expect("draws");
    let golden: [(&StructuredFeatures, [u64; 5], [f64; 3]); 2] = [
        (
            &fastfood,
            [
                0x5820_ba47_7052_8f93,
                0xbaf7_11d8_0f39_2453,
                0xaf3e_7979_d700_49dd,
                0x4d1b_826f_b6f6_9832,
                0xf53e_16e6_e71b_e44d,
            ],
            [-0.179_278_478_026, -0.167_814_984_918, 0.111_982_680_857],
        ),
        (
            &sorf,
            [
                0xda71_c1f5_12c2_54f0,
                0,
                0,
                0x6b40_96db_11eb_52a0,
                0xf53e_16e6_e71b_e44d,
            ],
            [-0.079_877_078_533, -0.132_616_922_259, 0.025_436_632_335],
        ),
    ];
    for (map, bits, values) in golden {
        let (drawn, z) = of(map);
        assert_eq!(drawn, bits, "{}: {drawn:#018x?}", map.name());
        let apart = z.iter().zip(values).map(|(a, b)| (a - b).abs());
        assert!(apart.fold(0.0, f64::max) < 1e-6, "{}: {z:?}", map.name());
    }
}
