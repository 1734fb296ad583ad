//! Unsupervised learners with default options.

use bochner::{
    features::{MapKind, MapSpec},
    kernels::Linear,
    models::{
        Density, DensityOptions, Fit, KernelIcaOptions, OneClass, SpectralClusteringOptions,
        SpectralEmbeddingOptions,
    },
    prelude::*,
    sampling::Sampling,
    seed::{Draws, Stream},
};
use ndarray::{Array1, Array2, Axis, array, s};
use std::f64::consts::{PI, TAU};

fn draws(seed: u64) -> Draws {
    Seed(seed).stream(Stream::Data, 0)
}

/// The default map and size of a learner.
fn usual(learner: &dyn Fit) -> MapSpec {
    let usual = learner.usual();
    let kernel: std::sync::Arc<dyn Kernel> = match usual.map {
        MapKind::Identity => std::sync::Arc::new(Linear),
        _ => std::sync::Arc::new(Gaussian),
    };
    let mut spec = MapSpec::new(usual.map.into(), kernel);
    spec.features = usual.features;
    spec
}

fn normal(x: f64, mean: f64, sigma: f64) -> f64 {
    (-0.5 * ((x - mean) / sigma).powi(2)).exp() / (sigma * TAU.sqrt())
}

/// Densities of a model on a grid of cells of this volume: their sum, and the sum of their
/// distances to a distribution, both times the volume.
fn held_to(
    model: &Model<Array1<f64>>,
    grid: &Array2<f64>,
    volume: f64,
    law: impl Fn(&[f64]) -> f64,
) -> (f64, f64) {
    let own = model.predict(grid).expect("predicts");
    let law = grid
        .rows()
        .into_iter()
        .map(|x| law(x.as_slice().expect("in order")));
    let off = own.iter().zip(law).map(|(own, law)| (own - law).abs());
    (own.sum() * volume, off.sum::<f64>() * volume)
}

const BUMPS: [(f64, f64); 2] = [(-2.0, 0.5), (2.0, 1.0)];

fn two_bumps() -> Array2<f64> {
    let mut draws = draws(1);
    Array2::from_shape_fn((2000, 1), |(i, _)| {
        let (mean, sigma) = BUMPS[i % 2];
        mean + sigma * draws.normal()
    })
}

/// Two modes in one column of 2,000 rows: scikit-learn's `KernelDensity` has an error of 0.065 with
/// the best bandwidth.
#[test]
fn a_density_of_one_column_finds_two_bumps() {
    let x = two_bumps();
    let line = Array2::from_shape_fn((1601, 1), |(i, _)| (i as f64 - 800.0) / 100.0);
    let law = |x: &[f64]| {
        let each = BUMPS.map(|(mean, sigma)| 0.5 * normal(x[0], mean, sigma));
        each.iter().sum::<f64>()
    };
    let density = Density::on(usual(&DensityOptions::default())).device(&Device::cpu());
    let found = |density: &Density| {
        let model = density.fit(&x).expect("fits");
        let (sum, off) = held_to(&model, &line, 0.01, law);
        (sum, off, model.linear().facts["noise_share"])
    };
    for seed in 0..4 {
        let (sum, off, noise) = found(&density.clone().seed(Seed(seed)));
        assert!((sum - 1.0).abs() < 0.02, "{seed}: {sum}");
        assert!(off < 0.1, "{seed}: {off}");
        assert!(noise < 0.02, "{seed}: {noise}");
    }
    // Scott's bandwidth without multiples smooths them out.
    let (_, off, _) = found(&density.clone().multiples(&[]));
    assert!(off > 0.15, "{off}");
    // Independent frequencies add noise of the size that the fit reports.
    let independent = Fourier::new(Gaussian)
        .features(4000)
        .sampling(Sampling::MonteCarlo);
    let independent = Density::on(independent).device(&Device::cpu());
    let each = (0..4).map(|seed| found(&independent.clone().seed(Seed(seed))));
    let [mut off, mut noise] = [0.0, 0.0];
    for (_, its, said) in each {
        off += its / 4.0;
        noise += said / 4.0;
    }
    assert!(off > 0.08 && noise > 0.03, "{off} {noise}");
}

/// One mode in two columns; in four columns the noise of the features exceeds the signal, and the
/// fit reports it.
#[test]
fn a_density_of_two_columns_finds_a_bump() {
    let mut draws = draws(2);
    let x = Array2::from_shape_simple_fn((4000, 4), || draws.normal());
    let place = |i: usize| (i as f64 - 60.0) / 12.0;
    let plane = Array2::from_shape_fn((121 * 121, 2), |(i, j)| place([i / 121, i % 121][j]));
    let law = |x: &[f64]| normal(x[0], 0.0, 1.0) * normal(x[1], 0.0, 1.0);
    let density = Density::on(usual(&DensityOptions::default())).device(&Device::cpu());
    for seed in 0..3 {
        let density = density.clone().seed(Seed(seed));
        let model = density.fit(&x.slice(s![.., ..2])).expect("fits");
        let (sum, off) = held_to(&model, &plane, 1.0 / 144.0, law);
        assert!((sum - 1.0).abs() < 0.02, "{seed}: {sum}");
        assert!(off < 0.1, "{seed}: {off}");
        let noise = model.linear().facts["noise_share"];
        assert!(noise < 0.1, "{seed}: {noise}");
    }
    let model = density.fit(&x).expect("fits");
    let noise = model.linear().facts["noise_share"];
    assert!(noise > 0.5, "{noise}");
    // A bandwidth with mostly noise is not chosen.
    let some = density.multiples(&DensityOptions::some_multiples());
    let model = some.fit(&x.slice(s![.., ..2])).expect("fits");
    let (sum, off) = held_to(&model, &plane, 1.0 / 144.0, law);
    assert!((sum - 1.0).abs() < 0.05 && off < 0.15, "{sum} {off}");
}

/// Two interleaved half circles, and the half circle of each row.
fn moons(rows: usize) -> (Array2<f64>, Vec<usize>) {
    let mut draws = draws(3);
    let x = Array2::from_shape_fn((rows, 2), |(i, j)| {
        let turn = PI * (i / 2) as f64 / (rows / 2) as f64;
        let at = match i % 2 {
            0 => [turn.cos(), turn.sin()],
            _ => [1.0 - turn.cos(), 0.5 - turn.sin()],
        };
        at[j] + 0.07 * draws.normal()
    });
    (x, (0..rows).map(|i| i % 2).collect())
}

/// A circle around another.
fn circles(rows: usize) -> (Array2<f64>, Vec<usize>) {
    let mut draws = draws(4);
    let x = Array2::from_shape_fn((rows, 2), |(i, j)| {
        let turn = TAU * (i / 2) as f64 / (rows / 2) as f64;
        let radius = [1.0, 0.5][i % 2];
        radius * [turn.cos(), turn.sin()][j] + 0.05 * draws.normal()
    });
    (x, (0..rows).map(|i| i % 2).collect())
}

/// The share of rows of two clusters that agree with their true group.
fn agreement(found: &[usize], of: &[usize]) -> f64 {
    let same = found.iter().zip(of).filter(|(a, b)| a == b).count();
    let share = same as f64 / of.len() as f64;
    share.max(1.0 - share)
}

#[test]
fn spectral_clustering_finds_moons_and_circles() {
    let map = usual(&SpectralClusteringOptions::default());
    assert_eq!(usual(&SpectralEmbeddingOptions::default()).map, map.map);
    for (name, (x, of)) in [
        ("moons", moons(600)),
        ("circles", circles(600)),
        ("many moons", moons(3000)),
    ] {
        let learner = SpectralClustering::on(map.clone()).clusters(2);
        let learner = learner.device(&Device::cpu());
        let found = learner
            .fit(&x)
            .expect("fits")
            .predict(&x)
            .expect("predicts");
        let share = agreement(&found, &of);
        assert!(share > 0.98, "{name}: {share}");
        // If the kernel is as wide as the distances between rows, there is no gap.
        let wide = learner.bandwidth(Bandwidth::Scale);
        let found = wide.fit(&x).expect("fits").predict(&x).expect("predicts");
        let share = agreement(&found, &of);
        assert!(share < 0.9, "{name}: {share}");
    }
}

/// Clusters in many columns, where a tenth of the median distance reaches no other row.
#[test]
fn spectral_clustering_finds_clusters_in_many_columns() {
    let mut draws = draws(5);
    let x = Array2::from_shape_fn((300, 13), |(i, j)| {
        let apart = if j < 6 { 2.0 * (i % 2) as f64 } else { 0.0 };
        apart + draws.normal()
    });
    let of: Vec<usize> = (0..300).map(|i| i % 2).collect();
    let mut map = usual(&SpectralClusteringOptions::default());
    map.features = 300;
    let learner = SpectralClustering::on(map)
        .clusters(2)
        .device(&Device::cpu());
    let found = learner
        .fit(&x)
        .expect("fits")
        .predict(&x)
        .expect("predicts");
    let share = agreement(&found, &of);
    assert!(share > 0.95, "{share}");
}

/// A square wave and a saw tooth, mixed.
#[test]
fn ica_finds_sources_that_were_mixed() {
    let t = Array1::from_shape_fn(1000, |i| i as f64 / 1000.0);
    let square = t.mapv(|t| (TAU * 3.0 * t).sin().signum());
    let saw = t.mapv(|t| 2.0 * (7.3 * t).fract() - 1.0);
    let sources = ndarray::stack![Axis(1), square, saw];
    let x = sources.dot(&array![[1.0, 0.5], [0.6, 1.0]]);
    let learner = KernelIca::on(usual(&KernelIcaOptions::default())).device(&Device::cpu());
    let correlations = |model: Model<Array2<f64>>| {
        let found = model.predict(&x).expect("predicts");
        let standard = |v: &Array1<f64>| (v - v.mean().expect("rows")) / v.std(0.0);
        let best = |source: &Array1<f64>| {
            let of = |k: usize| standard(&found.column(k).to_owned()).dot(&standard(source));
            (of(0) / 1000.0).abs().max((of(1) / 1000.0).abs())
        };
        [best(&square), best(&saw)]
    };
    let found = correlations(learner.fit(&x).expect("fits"));
    assert!(found.iter().all(|c| *c > 0.99), "{found:?}");
    // Components that are only uncorrelated still mix them.
    let components = KernelPca::on(usual(&KernelIcaOptions::default())).device(&Device::cpu());
    let found = correlations(components.fit(&x).expect("fits"));
    assert!(found.iter().any(|c| *c < 0.95), "{found:?}");
}

/// By default all three mixed sources are found, and a column that is a sum of others adds none.
/// Two components of three are still mixed.
#[test]
fn ica_finds_all_sources_until_told_how_many() {
    let mut draws = draws(9);
    let sources = Array2::from_shape_simple_fn((2000, 3), || 2.0 * draws.uniform() - 1.0);
    let mixing = array![
        [1.0, 0.5, -0.4, 1.5],
        [0.6, 1.0, 0.3, 1.6],
        [-0.2, 0.4, 1.0, 0.2]
    ];
    let x = sources.dot(&mixing);
    let on_columns = usual(&KernelIcaOptions::default());
    let least = |learner: KernelIca| {
        let found = learner.device(&Device::cpu()).fit(&x).expect("fits");
        let found = found.predict(&x).expect("predicts");
        let best = sources.columns().into_iter().map(|source| {
            let of = found.columns().into_iter().map(|one| {
                let product = one.iter().zip(source).map(|(a, b)| a * b).sum::<f64>();
                (product / 2000.0 / source.std(0.0)).abs()
            });
            of.fold(0.0, f64::max)
        });
        (found.ncols(), best.fold(1.0, f64::min))
    };
    let (columns, correlation) = least(KernelIca::on(on_columns.clone()));
    assert!(
        columns == 3 && correlation > 0.99,
        "{columns}: {correlation}"
    );
    let (_, correlation) = least(KernelIca::on(on_columns).components(2));
    assert!(correlation < 0.95, "{correlation}");
}

/// Scores rank rows, and labels are their signs: a threshold on that ranking.
#[test]
fn one_class_ranks_outliers_by_its_scores() {
    let mut draws = draws(6);
    let x = Array2::from_shape_simple_fn((1000, 2), || draws.normal());
    let mut new = Array2::from_shape_simple_fn((800, 2), || draws.normal());
    let far = Array2::from_shape_simple_fn((200, 2), || 12.0 * draws.uniform() - 6.0);
    new.slice_mut(s![600.., ..]).assign(&far);
    let model = OneClass::on(MapSpec::new(
        MapKind::Fourier.into(),
        std::sync::Arc::new(Gaussian),
    ));
    let model = model.device(&Device::cpu()).fit(&x).expect("fits");
    let scores = model.loaded().expect("loads").scores(&new).expect("scores");
    let labels = model.predict(&new).expect("predicts");
    // AUC: the probability that an inlier has a higher score than an outlier.
    let area = |score: &dyn Fn(usize) -> f64| {
        let above = |i: usize, j: usize| match score(i).total_cmp(&score(j)) {
            std::cmp::Ordering::Greater => 1.0,
            std::cmp::Ordering::Equal => 0.5,
            std::cmp::Ordering::Less => 0.0,
        };
        let pairs = (0..600).flat_map(|i| (600..800).map(move |j| (i, j)));
        pairs.map(|(i, j)| above(i, j)).sum::<f64>() / (600.0 * 200.0)
    };
    let by_scores = area(&|i| scores[[i, 1]]);
    let by_labels = area(&|i| f64::from(labels[i]));
    assert!(by_scores > 0.93, "{by_scores}");
    assert!(by_labels > 0.85 && by_labels < by_scores, "{by_labels}");
    for (i, label) in labels.iter().enumerate() {
        assert_eq!(*label == 1, scores[[i, 1]] >= 0.0, "{i}");
        assert_eq!(scores[[i, 0]], -scores[[i, 1]], "{i}");
    }
}
