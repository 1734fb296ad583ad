//! One seed gives the same bits on every processor: stored hashes of features, models and
//! predictions, with sizes that are no multiples of a vector.

use bochner::{
    Matrix,
    data::Rows,
    device::InstructionSet,
    features::{Form, Identity, KernelColumns},
    models::*,
    ops::kernel_block::KernelBlock,
    prelude::*,
};
use ndarray::{Array2, s};
use std::sync::Arc;

/// 37 rows of seven columns, from integers only; few columns, so that no matrix unit is used.
fn rows() -> Array2<f64> {
    Array2::from_shape_fn((37, 7), |(i, j)| {
        f64::from(u32::try_from((i * 13 + j * 29 + i * j * 7) % 101).expect("small")) / 37.0 - 1.3
    })
}

/// FNV-1a, of 64 bits.
fn hash(bytes: impl IntoIterator<Item = u8>) -> u64 {
    bytes.into_iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

fn features_of(map: impl MapBuilder + 'static) -> u64 {
    let x = rows();
    let features = Features::on(map)
        .bandwidth(Bandwidth::Sigma(1.0))
        .device(&Device::cpu())
        .fit(&x)
        .expect("fits");
    let z = features.transform(&x).expect("transforms");
    hash(z.iter().flat_map(|v| v.to_le_bytes()))
}

/// Hash of coefficients and predictions.
fn model_of<P: bochner::models::Predicted>(model: &Model<P>) -> u64 {
    let linear = model.linear();
    let mut predictor = linear.on(&Device::cpu()).expect("goes there");
    let y = predictor.predict(&Rows::from(&rows())).expect("predicts");
    let beta = &linear.coefficients.beta_dt;
    hash(beta.iter().chain(&y).flat_map(|v| v.to_le_bytes()))
}

/// `count` targets of integers.
fn targets(count: usize) -> Array2<f64> {
    Array2::from_shape_fn((37, count), |(i, k)| {
        f64::from(u32::try_from((i * i * (k + 1)) % 53).expect("small")) / 8.0
    })
}

fn ridge(map: impl MapBuilder + 'static, count: usize) -> u64 {
    let model = Ridge::on(map)
        .bandwidth(Bandwidth::Sigma(1.0))
        .lambda(1e-3)
        .device(&Device::cpu())
        .fit((&rows(), &targets(count)))
        .expect("fits");
    model_of(&model)
}

fn kernel_ridge(kernel: impl Kernel + 'static, count: usize) -> u64 {
    let model = KernelRidge::on(KernelColumns::new(kernel))
        .bandwidth(Bandwidth::Sigma(1.0))
        .lambda(1e-3)
        .device(&Device::cpu())
        .fit((&rows(), &targets(count)))
        .expect("fits");
    model_of(&model)
}

/// Kernels of long rows, computed from products, and their neighbours.
fn long_rows() -> u64 {
    let device = Device::cpu();
    let whole = |i: usize| f32::from(u8::try_from(i % 101).expect("small")) / 50.5 - 1.0;
    let y = Array2::from_shape_fn((67, 75), |(i, j)| whole(i * i * 31 + j * j * 17 + i * j));
    let x = Array2::from_shape_fn((41, 75), |(i, j)| y[[i, j]] * 0.9 + 0.1 * whole(i + j * 7));
    let block = KernelBlock::load(&device, Arc::new(Exponential), y.view()).expect("loads");
    let x_nd = Matrix::upload(&device, x.view()).expect("fits");
    let mut k_nm = Matrix::new(&device, 41, 67).expect("fits");
    block.run(&x_nd, &mut k_nm).expect("runs");
    let k = k_nm.download().expect("reads back");
    hash(k.iter().flat_map(|v| v.to_le_bytes()))
}

/// Half of the digits, each class as a column; with all pixels or with squares of four, few enough
/// columns to use no matrix unit.
fn digits(by_squares: bool) -> u64 {
    let text = include_str!("../../data/digits.csv");
    let numbers = text
        .lines()
        .skip(1)
        .take(900)
        .flat_map(|line| line.split(','));
    let numbers: Vec<f64> = numbers.map(|n| n.parse().expect("a number")).collect();
    let table = Array2::from_shape_vec((900, 65), numbers).expect("900 lines of 65");
    let labels: Vec<i64> = table.column(64).iter().map(|&label| label as i64).collect();
    let x = if by_squares {
        Array2::from_shape_fn((900, 16), |(i, j)| {
            let first = j / 4 * 16 + j % 4 * 2;
            [0, 1, 8, 9].iter().map(|at| table[[i, first + at]]).sum()
        })
    } else {
        table.slice(s![.., ..64]).to_owned()
    };
    let model = RidgeClassifier::on(Fourier::new(Gaussian).features(120))
        .lambda(1e-3)
        .device(&Device::cpu())
        .fit((&x, &labels))
        .expect("fits");
    let beta = &model.linear().coefficients.beta_dt;
    hash(beta.iter().flat_map(|v| v.to_le_bytes()))
}

/// 10^5 rows of 16 columns, on one machine and on two whose sums are merged: split where sums are
/// added to the total, they have the same bits.
fn many_rows() -> [u64; 2] {
    let whole = |i: usize| f64::from(u32::try_from(i % 1009).expect("small")) / 504.5 - 1.0;
    let x = Array2::from_shape_fn((100_000, 16), |(i, j)| {
        whole(i * (j + 7) + i / 1009 * j * j)
    });
    let y = Array2::from_shape_fn((100_000, 1), |(i, _)| x[[i, 3]] * x[[i, 5]] + whole(i * 31));
    let ridge = || {
        Ridge::on(Fourier::new(Gaussian).features(20))
            .bandwidth(Bandwidth::Sigma(3.0))
            .lambda(1e-3)
            .device(&Device::cpu())
    };
    let part = |from: usize, to: usize| (x.slice(s![from..to, ..]), y.slice(s![from..to, ..]));
    let begun = |from, to| {
        let (x, y) = part(from, to);
        ridge().start((&x, &y)).expect("starts")
    };
    const CUT: usize = 3 * bochner::solve::ADD_EVERY as usize;
    let mut merged = begun(0, CUT);
    let plan = merged.without_rows().and_then(|none| none.to_bytes());
    let mut other = ridge().go_on(&plan.expect("writes")).expect("goes on");
    let (x_rest, y_rest) = part(CUT, 100_000);
    other.add((&x_rest, &y_rest)).expect("adds");
    merged.merge(&other).expect("merges");
    // Split elsewhere, and the later rows first.
    let plan = merged.without_rows().and_then(|none| none.to_bytes());
    let plan = plan.expect("writes");
    let cuts = [(CUT / 3, 100_000), (0, CUT / 3)].map(|(from, to)| {
        let mut part_of = ridge().go_on(&plan).expect("goes on");
        let (x, y) = part(from, to);
        part_of.add((&x, &y)).expect("adds");
        part_of
    });
    let [mut added, first] = cuts;
    added.merge(&first).expect("merges");
    let whole = ridge().fit((&x, &y)).expect("fits");
    let parts = [merged, added].map(|parts| parts.model().expect("fits"));
    let [merged, added] = parts;
    let [whole, merged, added] = [whole, merged, added].map(|model| {
        let beta = &model.linear().coefficients.beta_dt;
        hash(beta.iter().flat_map(|v| v.to_le_bytes()))
    });
    assert_eq!(merged, added);
    [whole, merged]
}

/// Other learners.
fn learners() -> Vec<(&'static str, u64)> {
    let (x, y) = (rows(), targets(1));
    let labels: Vec<i64> = (0..37).map(|i| i * i % 5 % 3).collect();
    let map = || Fourier::new(Gaussian).features(46);
    macro_rules! on {
        ($learner:ident) => {
            $learner::on(map())
                .bandwidth(Bandwidth::Sigma(1.0))
                .device(&Device::cpu())
        };
    }
    let [one, merged] = many_rows();
    vec![
        ("digits", digits(true)),
        ("100,000 rows of 16 columns", one),
        ("the same, of merged sums", merged),
        (
            "ridge, penalty chosen",
            model_of(&on!(Ridge).fit((&x, &y)).expect("fits")),
        ),
        (
            "logistic",
            model_of(&on!(LogisticRegression).fit((&x, &labels)).expect("fits")),
        ),
        (
            "support vectors",
            model_of(
                &on!(SupportVectorClassifier)
                    .fit((&x, &labels))
                    .expect("fits"),
            ),
        ),
        ("lasso", model_of(&on!(Lasso).fit((&x, &y)).expect("fits"))),
        (
            "kmeans",
            model_of(&on!(KMeans).clusters(3).fit(&x).expect("fits")),
        ),
    ]
}

/// Maps, and ridge regression on them and on kernels.
fn maps() -> Vec<(&'static str, u64)> {
    let phase = |features| Fourier::new(Gaussian).form(Form::Phase).features(features);
    vec![
        (
            "paired, 500 frequencies",
            features_of(Fourier::new(Gaussian).features(1000)),
        ),
        (
            "paired, 77 frequencies",
            features_of(Fourier::new(Laplacian).features(154)),
        ),
        ("phase, 504", features_of(phase(504))),
        ("phase, 509", features_of(phase(509))),
        (
            "fastfood, 301",
            features_of(Fastfood::new(Gaussian).form(Form::Phase).features(301)),
        ),
        ("sorf, 302", features_of(Sorf::new(Gaussian).features(302))),
        ("arc-cosine, 45", features_of(ArcCosine::new().features(45))),
        (
            "nystrom, 29",
            features_of(Nystrom::new(Gaussian).features(29)),
        ),
        (
            "ridge, 502 features",
            ridge(Fourier::new(Gaussian).features(502), 1),
        ),
        ("ridge, 13 targets", ridge(phase(75), 13)),
        ("ridge on sorf", ridge(Sorf::new(Gaussian).features(46), 3)),
        ("kernel ridge, gaussian", kernel_ridge(Gaussian, 1)),
        (
            "kernel ridge, matern",
            kernel_ridge(Matern::new(1.5).expect("a matern"), 3),
        ),
        ("kernel ridge, 13 targets", kernel_ridge(Laplacian, 13)),
        ("kernels of long rows", long_rows()),
    ]
}

/// Expected hashes of the functions above outside of browsers, under every instruction set.
/// Eigenvectors are not included: their library chooses its own instructions.
const HASHES: [u64; 23] = [
    0xea42_d0dd_38a6_5064, // paired, 500 frequencies
    0x333e_36d0_fcab_2d5e, // paired, 77 frequencies
    0x4961_3766_b296_86cd, // phase, 504
    0xff31_e7b2_d60e_5534, // phase, 509
    0xe891_7cce_7389_1d0c, // fastfood, 301
    0x18cd_f135_0b6d_9334, // sorf, 302
    0x23d8_c8d1_0995_1981, // arc-cosine, 45
    0xf0bb_7677_230b_4642, // nystrom, 29
    0xc862_f80f_bd83_cd02, // ridge, 502 features
    0xa7cc_8eba_1e36_8179, // ridge, 13 targets
    0xad13_8d50_3398_7277, // ridge on sorf
    0x470a_fa08_7107_caf7, // kernel ridge, gaussian
    0x26d0_e98c_d491_a066, // kernel ridge, matern
    0x7bef_401e_092d_463e, // kernel ridge, 13 targets
    0xcf30_e3fe_c2a9_cd08, // kernels of long rows
    0xcc6d_9a9e_9280_1fcb, // digits
    0xd8de_9b12_2bac_4efc, // 100,000 rows of 16 columns
    0x5641_41cd_184d_e176, // the same, of merged sums
    0x7088_7588_ca74_d772, // ridge, penalty chosen
    0x6f12_f501_2e49_79fc, // logistic
    0xa98c_71d8_c5f5_0bac, // support vectors
    0x32e4_196e_bde9_4e39, // lasso
    0x8fa4_7cbe_5b25_ce9f, // kmeans
];

/// The same for digits, all pixels.
const WIDE_DIGITS: u64 = 0x3f93_5e40_8caa_3765;

#[test]
fn one_seed_gives_one_set_of_bits_on_every_processor() {
    let set = InstructionSet::chosen().expect("a set");
    if set == InstructionSet::Simd128 {
        // In browsers a product is rounded before it is added.
        println!("not compared: {set} rounds twice");
        return;
    }
    let seen: Vec<_> = maps().into_iter().chain(learners()).collect();
    for (name, hash) in &seen {
        println!("{hash:#018x}, // {name}");
    }
    let differ: Vec<_> = seen
        .iter()
        .zip(HASHES)
        .filter(|((_, seen), hash)| seen != hash)
        .collect();
    assert!(differ.is_empty(), "other bits under {set}: {differ:?}");
}

/// The memory budget does not change results: for logistic regression, whose passes use other
/// portions and whose factors are computed one per pass, for columns without a map, some rows of
/// which are sparse, and for clusters, whose features are held or recomputed.
#[test]
fn memory_shows_in_no_bit() {
    let x = Array2::from_shape_fn((6000, 24), |(i, j)| {
        let is_there = i / 500 % 2 == 0 && i % 3 > 0 || (i + 5 * j) % 20 == 0;
        let value = f64::from(u32::try_from(i * (j + 3) % 101).expect("small")) / 50.0 - 1.0;
        if is_there { value } else { 0.0 }
    });
    let labels: Vec<i64> = (0..6000).map(|i| i * i % 35 % 7).collect();
    let y = Array2::from_shape_fn((6000, 2), |(i, k)| x[[i, k]] + x[[i, 5]] * x[[i, 7]]);
    let beta = |model: &bochner::models::LinearModel| {
        let beta = &model.coefficients.beta_dt;
        hash(beta.iter().flat_map(|v| v.to_le_bytes()))
    };
    let logistic = |memory: u64| {
        let logistic = LogisticRegression::on(Fourier::new(Gaussian).features(46))
            .bandwidth(Bandwidth::Sigma(1.0))
            .device(&Device::cpu())
            .memory(memory);
        beta(logistic.fit((&x, &labels)).expect("fits").linear())
    };
    let ridge = |memory: u64| {
        let ridge = Ridge::on(Identity).lambda(1e-3).device(&Device::cpu());
        let model = ridge.memory(memory).fit((&x, &y)).expect("fits");
        beta(model.linear())
    };
    let (all_logistic, all_ridge) = (logistic(1 << 30), ridge(1 << 30));
    // More rows than the sample of k-means.
    let many = Array2::from_shape_fn((34_000, 2), |(i, j)| (i * (j + 11) % 503) as f64 / 250.0);
    let clusters = |memory: u64| {
        let kmeans = KMeans::on(Fourier::new(Gaussian).features(46)).clusters(5);
        let kmeans = kmeans.bandwidth(Bandwidth::Sigma(1.0)).memory(memory);
        let model = kmeans.device(&Device::cpu()).fit(&many).expect("fits");
        assert!(model.linear().facts["iterations_on_sample"] > 0.0);
        beta(model.linear())
    };
    let parts = |memory: u64| {
        let parts = SpectralClustering::on(Nystrom::new(Gaussian).features(46)).clusters(3);
        let parts = parts.bandwidth(Bandwidth::Sigma(1.0)).memory(memory);
        let model = parts.device(&Device::cpu()).fit(&many).expect("fits");
        assert!(model.linear().facts["iterations_on_sample"] > 0.0);
        beta(model.linear())
    };
    let (all_clusters, all_parts) = (clusters(1 << 30), parts(1 << 30));
    // Memory for no features, for the features of the sample, and for all.
    for memory in [200_000, 12_200_000] {
        assert_eq!(clusters(memory), all_clusters, "k-means, {memory}");
    }
    for memory in [200_000, 530_000] {
        assert_eq!(parts(memory), all_parts, "spectral clustering, {memory}");
    }
    for memory in [600_000, 1_800_000] {
        assert_eq!(logistic(memory), all_logistic, "logistic, {memory}");
    }
    for memory in [200_000, 1_000_000] {
        assert_eq!(ridge(memory), all_ridge, "ridge, {memory}");
    }
}

/// Runs in a separate process on machines with matrix units, since their use is decided once per
/// process.
#[test]
fn rows_of_many_columns_have_one_set_of_bits_without_matrix_units() {
    const UNITS: &str = "BOCHNER_UNITS";
    let are_left_out = std::env::var(UNITS).is_ok_and(|units| units == "none");
    if are_left_out || cfg!(not(target_arch = "x86_64")) {
        let seen = digits(false);
        assert_eq!(seen, WIDE_DIGITS, "{seen:#x}");
        return;
    }
    let name = "bits::rows_of_many_columns_have_one_set_of_bits_without_matrix_units";
    let program = std::env::current_exe().expect("a program");
    let run = std::process::Command::new(program)
        .args([name, "--exact"])
        .env(UNITS, "none")
        .output()
        .expect("runs");
    let told = String::from_utf8_lossy(&run.stdout);
    assert!(run.status.success() && told.contains("1 passed"), "{told}");
}
