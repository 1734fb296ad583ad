mod targets;

use super::*;
use crate::{
    Device, Run,
    data::{Forgetting, MemorySource},
    features::{Affine, DenseFeatures, Fourier},
    hypothesis::{Pooled, TwoSampleOptions},
    kernels::Gaussian,
    model::Targets,
    prelude::{KernelPca, Ridge},
    seed::{Seed, Stream},
};
use ndarray::{Array2, Axis, concatenate};

fn map(columns: usize) -> DenseFeatures {
    let input = Affine::new(vec![0.0; columns], vec![0.6; columns]).expect("fits");
    let map = Fourier::new(Gaussian).features(48).seed(Seed(2));
    map.build(input).expect("builds")
}

/// Normal rows, the first column shifted.
fn rows(n: usize, columns: usize, shift: f64, draw: u64) -> Array2<f64> {
    let mut draws = Seed(31).stream(Stream::Data, draw);
    let mut x = Array2::from_shape_simple_fn((n, columns), || draws.normal());
    x.column_mut(0).mapv_inplace(|v| v + shift);
    x
}

fn sums(x: &Array2<f64>, half_life: Option<f64>) -> NormalEquations {
    summed(x, None, &Targets::none(), half_life)
}

fn summed(
    x: &Array2<f64>,
    y: Option<Array2<f64>>,
    targets: &Targets,
    half_life: Option<f64>,
) -> NormalEquations {
    let source = MemorySource::new(x, y).expect("rows");
    let mut source = Forgetting::maybe(source, half_life).expect("rows");
    let (map, device) = (map(x.ncols()), Device::cpu());
    NormalEquations::accumulate(&map, &mut source, targets, &device).expect("sums")
}

fn amounts(columns: usize) -> Targets {
    let shift = vec![0.0; columns];
    Targets::Real { columns, shift }
}

/// For pairs of samples of one distribution, with and without forgetting, one in twenty has a
/// p-value below .05, within the error of 500 pairs.
#[test]
fn the_level_is_kept_with_few_rows_and_with_half_lives() {
    const PAIRS: u64 = 500;
    for (k, (ns, half_lives, columns)) in [
        ([15, 15], [None, None], 2),
        ([20, 100], [None, None], 6),
        ([60, 60], [None, None], 2),
        ([150, 80], [Some(12.0), None], 3),
        ([120, 150], [Some(20.0), Some(9.0)], 2),
    ]
    .into_iter()
    .enumerate()
    {
        let p = |pair: u64| {
            let draw = 10_000 * k as u64 + 2 * pair;
            let [a, b] = [0, 1].map(|s| {
                let x = rows(ns[s], columns, 0.0, draw + s as u64);
                sums(&x, half_lives[s])
            });
            sums_differ(&a, &b).expect("tests").outcome.p_value
        };
        let all: Vec<f64> = (0..PAIRS).map(p).collect();
        let share = |level: f64| {
            let below = all.iter().filter(|&&p| p < level).count();
            below as f64 / PAIRS as f64
        };
        // Three standard deviations of a share of 500, and one half.
        let (low, half) = (share(0.05), share(0.5));
        assert!(
            (0.021..0.079).contains(&low),
            "{ns:?} {half_lives:?}: {low}"
        );
        assert!(
            (0.42..0.58).contains(&half),
            "{ns:?} {half_lives:?}: {half}"
        );
    }
}

#[test]
fn a_shift_of_three_tenths_is_found() {
    let found = (0..60).filter(|&pair| {
        let a = sums(&rows(400, 3, 0.0, 50_000 + 2 * pair), None);
        let b = sums(&rows(400, 3, 0.3, 50_001 + 2 * pair), None);
        sums_differ(&a, &b).expect("tests").outcome.rejects(0.05)
    });
    let found = found.count();
    assert!(found > 50, "{found}");
}

/// The statistic equals that of the rows.
#[test]
fn sums_say_what_rows_say() {
    let (a, b) = (rows(300, 2, 0.0, 1), rows(200, 2, 0.1, 2));
    let found = sums_differ(&sums(&a, None), &sums(&b, None)).expect("tests");
    let source = |x: &Array2<f64>| MemorySource::new(x, None).expect("rows");
    let (mut of_a, mut of_b) = (source(&a), source(&b));
    let mut pooled = Pooled::new(&mut of_a, &mut of_b).expect("alike");
    let options = TwoSampleOptions {
        null: Null::Asymptotic,
        seed: Seed(0),
    };
    let run = Run::on(&Device::cpu());
    let exact = options.test(&map(2), &mut pooled, run).expect("tests");
    let close = |a: f64, b: f64, within: f64| {
        assert!((a - b).abs() <= within * b.abs(), "{a} {b}");
    };
    close(found.biased, exact.biased, 1e-4);
    close(found.unbiased, exact.unbiased, 1e-3);
    close(found.outcome.statistic, exact.outcome.statistic, 1e-4);
    close(found.outcome.p_value, exact.outcome.p_value, 1e-3);
    assert_eq!(
        (found.rows, found.effective_rows),
        ([300, 200], [300.0, 200.0])
    );
}

/// Equal weights have no effect, and forgetting reduces the effective rows.
#[test]
fn effective_rows_are_those_of_the_weights() {
    let (a, b) = (rows(90, 2, 0.0, 3), rows(70, 2, 0.2, 4));
    let (one, mut other) = (sums(&a, None), sums(&b, None));
    let plain = sums_differ(&one, &other).expect("tests");
    other.fade(0.125);
    let faded = sums_differ(&one, &other).expect("tests");
    assert!((plain.outcome.p_value - faded.outcome.p_value).abs() < 1e-9);
    assert!((faded.effective_rows[1] - 70.0).abs() < 1e-9);
    let h = 10.0;
    let found = sums_differ(&one, &sums(&b, Some(h))).expect("tests");
    // Geometric sums.
    let sum = |q: f64| (1.0 - q.powi(70)) / (1.0 - q);
    let q = 2_f64.powf(-1.0 / h);
    let expected = sum(q).powi(2) / sum(q * q);
    assert!((found.effective_rows[1] - expected).abs() < 1e-9);
}

fn says(result: Result<SumsOutcome>, part: &str) {
    let message = result.expect_err("refused").to_string();
    assert!(
        message.contains(part) && !message.contains('\n'),
        "{message}"
    );
}

#[test]
fn sums_that_cannot_be_compared_are_refused() {
    let some = sums(&rows(50, 2, 0.0, 5), None);
    says(
        sums_differ(&some, &NormalEquations::zero(9, 0)),
        "48 and 9 features",
    );
    says(
        sums_differ(&some, &sums(&rows(4, 2, 0.0, 6), None)),
        "second sums count as 4.0",
    );
    says(
        sums_differ(&sums(&rows(40, 2, 0.0, 6), Some(1.0)), &some),
        "first sums",
    );
    let older = NormalEquations {
        weight_squares: f64::NAN,
        ..some.clone()
    };
    says(sums_differ(&older, &some), "squares");
}

/// Files of incremental learners of all kinds, and shards.
#[test]
fn partials_are_compared_on_one_map_alone() {
    let (x, folder) = (rows(60, 2, 0.0, 7), tempfile::tempdir().expect("a folder"));
    let y = x.column(0).to_owned();
    let map = || Fourier::new(Gaussian).features(16);
    let path = |name: &str| folder.path().join(name);
    let ridge = Ridge::on(map())
        .device(&Device::cpu())
        .start((&x, &y))
        .expect("starts");
    let mut later = ridge.without_rows().expect("none");
    later.add((&x, &y)).expect("adds");
    let far = concatenate(Axis(0), &[x.view(), (&x + 4.0).view()]).expect("rows");
    let pca = KernelPca::on(map())
        .device(&Device::cpu())
        .start(&far)
        .expect("starts");
    for (name, bytes) in [
        ("ridge", ridge.to_bytes()),
        ("later", later.to_bytes()),
        ("pca", pca.to_bytes()),
    ] {
        std::fs::write(path(name), bytes.expect("bytes")).expect("writes");
    }
    let load = |name: &str| load_partial(path(name)).expect("reads");
    let same = partials_differ(&load("ridge"), &load("later")).expect("tests");
    assert!((same.outcome.p_value - 1.0).abs() < 1e-9, "{same:?}");
    says(partials_differ(&load("ridge"), &load("pca")), "other maps");
    let mut shards = [load("ridge"), load("later")];
    for shard in &mut shards {
        shard.basis.options.insert("data".into(), "60 rows".into());
        shard.parts = vec!["1/2".into()];
    }
    says(partials_differ(&shards[0], &shards[1]), "part 1/2");
    std::fs::write(path("text"), "a,b\n1,2\n").expect("writes");
    assert!(load_partial(path("text")).is_err());
}

/// The corrected sums of powers of eigenvalues are unbiased, while the uncorrected ones have a
/// large bias.
#[test]
fn powers_of_eigenvalues_are_right_on_average() {
    const DRAWS: usize = 4000;
    let roots = [1.7_f64, 1.0, 0.8, 0.5, 0.5, 0.3];
    let nu = 14;
    let power = |k: i32| roots.iter().map(|r| r.powi(2 * k)).sum::<f64>();
    let mut draws = Seed(9).stream(Stream::Data, 0);
    let (mut corrected, mut plain) = ([0.0; 2], [0.0; 2]);
    for _ in 0..DRAWS {
        let g = Array2::from_shape_fn((nu, roots.len()), |(_, j)| roots[j] * draws.normal());
        let law = WeightedChiSquares::of_covariance(&(g.t().dot(&g) / nu as f64));
        let of_sample = law.of_sample(nu as f64).expect("finite");
        let second = |law: &WeightedChiSquares| law.variance() / 2.0;
        for (k, law) in [of_sample, law].iter().enumerate() {
            let to = if k == 0 { &mut corrected } else { &mut plain };
            to[0] += second(law) / DRAWS as f64;
            to[1] += law.third() / DRAWS as f64;
        }
    }
    for k in 0..2 {
        let expected = power(k as i32 + 2);
        let off = corrected[k] / expected - 1.0;
        assert!(off.abs() < 0.05, "power {}: {off}", k + 2);
        assert!(plain[k] / expected > 1.25, "{}", plain[k] / expected);
    }
}
