//! Incremental learners with rows added and subtracted: equal to one fit to the remaining rows, on
//! the map of the first rows.

use crate::common::devices;
use bochner::{
    data::MemorySource,
    features::{Affine, FeatureMap, MapData},
    models::{
        BoostingClassifier, BoostingRegressor, Density, GreedyClassifier, GreedyRegressor,
        GrowingClusters, Lasso, LassoClassifier, LinearModel, PcaSolver,
    },
    prelude::*,
    seed::Stream,
};
use ndarray::{Array1, Array2, Axis, s};
use std::sync::Arc;

fn data(rows: usize) -> (Array2<f64>, Array1<f64>) {
    let mut draws = Seed(9).stream(Stream::Data, 0);
    let x = Array2::from_shape_simple_fn((rows, 2), || draws.normal());
    let y = x.rows().into_iter();
    let y = y
        .map(|x| 3.0 + (2.0 * x[0]).sin() + x[1] + 0.1 * draws.normal())
        .collect();
    (x, y)
}

/// A map that depends neither on the rows nor on their means.
#[derive(Debug)]
struct Fixed;

impl MapBuilder for Fixed {
    fn kernel(&self) -> Option<Arc<dyn Kernel>> {
        Some(Arc::new(Gaussian))
    }

    fn build_from(&self, _: MapData<'_>) -> Result<Box<dyn FeatureMap>> {
        let input = Affine::identity(2).lengthscale(1.5)?;
        Ok(Box::new(Fourier::new(Gaussian).features(64).build(input)?))
    }
}

fn map() -> Fixed {
    Fixed
}

/// The largest difference of coefficients, relative to the largest.
fn apart(a: &LinearModel, b: &LinearModel) -> f64 {
    let (a, b) = (&a.coefficients, &b.coefficients);
    assert_eq!(a.beta_dt.dim(), b.beta_dt.dim());
    let size = b.beta_dt.fold(0.0_f64, |m, v| m.max(v.abs()));
    let beta = (&a.beta_dt - &b.beta_dt).fold(0.0_f64, |m, v| m.max(v.abs())) / size;
    let shift = (&a.intercept_t - &b.intercept_t).fold(0.0_f64, |m, v| m.max(v.abs()));
    beta.max(shift / size)
}

/// Compares a start with added and subtracted parts to a start with all remaining rows, on a map
/// that does not depend on them.
macro_rules! grows {
    ($learner:expr, $part:expr, $bound:expr $(, $by:tt)?) => {{
        let (learner, part) = ($learner, $part);
        let mut growing = learner.start($($by)? part(0, 70)).expect("starts");
        for (from, to) in [(70, 71), (71, 200), (200, 300)] {
            growing.add($($by)? part(from, to)).expect("adds");
        }
        assert_eq!(growing.rows(), 300);
        let whole = learner.fit($($by)? part(0, 300)).expect("fits");
        let own = growing.model().expect("a model");
        let off = apart(own.linear(), whole.linear());
        assert!(off < $bound, "added: {off:e}");
        assert_eq!(own.linear().learner, whole.linear().learner);
        growing.forget($($by)? part(0, 70)).expect("forgets");
        assert_eq!(growing.rows(), 230);
        let rest = learner.fit($($by)? part(70, 300)).expect("fits");
        let off = apart(growing.model().expect("a model").linear(), rest.linear());
        assert!(off < $bound, "forgotten: {off:e}");
        // More rows than there are.
        let message = growing
            .forget($($by)? part(0, 300))
            .expect_err("too many")
            .to_string();
        assert!(
            message.contains("to forget") && !message.contains('\n'),
            "{message}"
        );
        assert_eq!(growing.rows(), 230);
        growing.forget($($by)? part(70, 300)).expect("forgets");
        let message = growing.model().expect_err("nothing is left").to_string();
        assert!(!message.contains('\n'), "{message}");
    }};
}

#[test]
fn rows_are_added_and_forgotten_as_if_they_had_been_there_or_never_on_devices() {
    let (x, y) = data(300);
    let labels: Vec<&str> = y
        .iter()
        .map(|&y| if y > 3.0 { "high" } else { "low" })
        .collect();
    let rows = |from: usize, to: usize| x.slice(s![from..to, ..]);
    let with_y = |from: usize, to: usize| (rows(from, to), y.slice(s![from..to]).to_owned());
    // The first rows of each part have their labels in another order than the names.
    let labelled = |from: usize, to: usize| (rows(from, to), labels[from..to].to_vec());
    for device in devices() {
        macro_rules! on {
            ($learner:ident) => {
                $learner::on(map())
                    .bandwidth(Bandwidth::Sigma(1.5))
                    .standardize(Standardize::No)
                    .device(device)
            };
        }
        // Means are accurate to f64 on every device: features are summed on the host.
        grows!(on!(Density).log(true), rows, 1e-12, &);
        // Gram matrices are partly summed in f32, and errors are amplified for small variances.
        grows!(on!(KernelPca).components(3), rows, 1e-4, &);
        grows!(on!(GaussianProcess).noise(0.1).signal(1.0), with_y, 1e-3);
        let greedy = |share| on!(GreedyRegressor).steps(8).held_out(share);
        grows!(greedy(0.0), with_y, 1e-3);
        let boosting = on!(BoostingRegressor).block(16).stages(40).lambda(1e-2);
        grows!(boosting.held_out(0.0), with_y, 1e-3);
        let classes = on!(BoostingClassifier).block(16).stages(40).lambda(1e-2);
        grows!(classes.held_out(0.0), labelled, 1e-3);
        grows!(on!(GreedyClassifier).steps(8), labelled, 1e-3);
        grows!(on!(Lasso).l1(1e-2).tolerance(1e-9), with_y, 1e-3);
        grows!(on!(LassoClassifier).l1(1e-2).lambda(1e-3), labelled, 1e-3);
    }
}

#[test]
fn a_map_of_bins_grows_in_the_bins_of_its_first_rows() {
    let (x, _) = data(300);
    let density = Density::on(Binning::new(Laplacian).grids(50))
        .bandwidth(Bandwidth::Sigma(1.0))
        .standardize(Standardize::No)
        .device(&Device::cpu());
    let mut growing = density.start(&x).expect("starts");
    growing.add(&x.slice(s![..100, ..])).expect("adds");
    growing.forget(&x.slice(s![..100, ..])).expect("forgets");
    let whole = density.fit(&x).expect("fits");
    let off = apart(growing.model().expect("a model").linear(), whole.linear());
    assert!(off < 1e-12, "{off:e}");
}

/// Rows are held out by a hash of their contents: the same in any order and steps, equal rows
/// together, so that a weight of 2 equals two rows.
#[test]
fn rows_are_held_out_by_what_they_hold() {
    let (x, y) = data(300);
    let same = |one: &LinearModel, other: &LinearModel| {
        let off = apart(one, other);
        assert!(off < 1e-3, "{off:e} {:?} {:?}", one.facts, other.facts);
    };
    let part =
        |from: usize, to: usize| (x.slice(s![from..to, ..]), y.slice(s![from..to]).to_owned());
    let boosting = BoostingRegressor::on(Fixed)
        .block(16)
        .lambda(1e-2)
        .device(&Device::cpu())
        .held_out(0.3);
    let mut growing = boosting.start(part(0, 150)).expect("starts");
    let alone = growing.model().expect("a model");
    growing.add(part(150, 300)).expect("adds");
    assert_eq!(growing.rows(), 300);
    let held = growing.sums().held_out.as_ref().expect("some").rows;
    assert!((60..120).contains(&held), "{held}");
    let whole = boosting.fit(part(0, 300)).expect("fits");
    let grown = growing.model().expect("a model");
    same(grown.linear(), whole.linear());
    assert_eq!(whole.linear().rows, 300);
    // Subtracted in other parts than added.
    growing.forget(part(220, 300)).expect("forgets");
    growing.forget(part(150, 220)).expect("forgets");
    let again = growing.model().expect("a model");
    same(again.linear(), alone.linear());
    let whole = boosting.fit(part(0, 150)).expect("fits");
    assert_eq!(whole.linear().coefficients, alone.linear().coefficients);

    let backwards: Vec<usize> = (0..150).rev().collect();
    let turned = (x.select(Axis(0), &backwards), y.select(Axis(0), &backwards));
    let turned = boosting.fit((&turned.0, &turned.1)).expect("fits");
    same(turned.linear(), whole.linear());
    let greedy = GreedyRegressor::on(Fixed).device(&Device::cpu());
    let twice: Vec<usize> = (0..150).flat_map(|i| vec![i; i % 3]).collect();
    let rows = (x.select(Axis(0), &twice), y.select(Axis(0), &twice));
    let repeated = greedy.fit((&rows.0, &rows.1)).expect("fits");
    let weighted = MemorySource::new(
        x.slice(s![..150, ..]),
        Some(y.slice(s![..150]).to_owned().insert_axis(Axis(1))),
    );
    let weights: Vec<f64> = (0..150).map(|i| f64::from(i % 3)).collect();
    let mut weighted = weighted
        .expect("finite")
        .with_weights(weights)
        .expect("fit");
    let weighted = greedy.fit(&mut weighted).expect("fits");
    let steps = |model: &LinearModel| model.facts["steps"];
    assert_eq!(steps(weighted.linear()), steps(repeated.linear()));
    assert!(
        steps(repeated.linear()) > 1.0,
        "{:?}",
        repeated.linear().facts
    );
    same(weighted.linear(), repeated.linear());
}

#[test]
fn weights_count_where_they_are_taken() {
    let (x, _) = data(100);
    let weighted = |from: usize, to: usize| {
        let source = MemorySource::new(x.slice(s![from..to, ..]), None).expect("finite");
        let weights: Vec<f64> = (from..to).map(|i| (i % 3) as f64).collect();
        source.with_weights(weights).expect("fit")
    };
    let density = Density::on(map()).bandwidth(Bandwidth::Sigma(1.0));
    let density = density.standardize(Standardize::No).device(&Device::cpu());
    let mut growing = density.start(&mut weighted(0, 40)).expect("starts");
    growing.add(&mut weighted(40, 100)).expect("adds");
    let whole = density.fit(&mut weighted(0, 100)).expect("fits");
    let off = apart(growing.model().expect("a model").linear(), whole.linear());
    assert!(off < 1e-12, "{off:e}");
    let pca = KernelPca::on(map()).components(2).device(&Device::cpu());
    let mut growing = pca.start(&mut weighted(0, 40)).expect("starts");
    growing.add(&mut weighted(40, 100)).expect("adds");
    let grown = growing.model().expect("a model");
    let grown = grown.linear().principal.as_ref().expect("some");
    let whole = pca.fit(&mut weighted(0, 100)).expect("fits");
    let whole = whole.linear().principal.as_ref().expect("some");
    for (grown, whole) in grown.variance_t.iter().zip(&whole.variance_t) {
        assert!((grown - whole).abs() < 1e-6 * whole, "{grown} {whole}");
    }
}

#[test]
fn what_does_not_grow_says_so_in_one_line() {
    let (x, y) = data(50);
    let randomized = KernelPca::on(map())
        .components(2)
        .solver(PcaSolver::randomized());
    let density = Density::on(map()).multiples(&[1.0, 2.0]);
    let labels = |name: &'static str| vec![name; 50];
    let mut classes = labels("a");
    classes[3] = "b";
    let greedy = GreedyClassifier::on(map()).device(&Device::cpu());
    let mut growing = greedy.start((&x, classes)).expect("starts");
    let gp = GaussianProcess::on(map()).device(&Device::cpu());
    let mut numbers = gp.start((&x, &y)).expect("starts");
    for (message, says) in [
        (
            randomized
                .device(&Device::cpu())
                .start(&x)
                .expect_err("")
                .to_string(),
            "keeps no sums",
        ),
        (
            density
                .device(&Device::cpu())
                .start(&x)
                .expect_err("")
                .to_string(),
            "one fit",
        ),
        (
            growing.add((&x, labels("c"))).expect_err("").to_string(),
            "none of the classes",
        ),
        (
            numbers
                .add((x.slice(s![.., ..1]), &y))
                .expect_err("")
                .to_string(),
            "1 column",
        ),
    ] {
        assert!(
            message.contains(says) && !message.contains('\n'),
            "{message}"
        );
    }
    assert_eq!((growing.rows(), numbers.rows()), (50, 50));
}

/// Three blobs in batches; computed explicitly: rows are assigned to the nearest current centre,
/// and centres move to the means of all their rows.
#[test]
fn batches_of_clusters_are_those_of_their_definition_on_devices() {
    let mut draws = Seed(12).stream(Stream::Data, 0);
    let centres = [[0.0, 0.0], [4.0, 0.0], [0.0, 4.0]];
    let x = Array2::from_shape_fn((900, 2), |(i, j)| centres[i % 3][j] + 0.8 * draws.normal());
    let part = |from: usize, to: usize| x.slice(s![from..to, ..]);
    // Every third row has weight 2, with integer and fractional weights.
    let weight = |i: usize| [0.5, 1.0, 2.0][i % 3];
    let rows = |from, to| {
        let weights = Array1::from_shape_fn(to - from, |i| weight(from + i));
        let source = MemorySource::new(part(from, to), None).expect("rows");
        source.with_weights(weights).expect("weights")
    };
    // With chunks of any size.
    let all = devices().iter().flat_map(|d| [(d, 128 << 20), (d, 30_000)]);
    for (device, memory) in all {
        let kmeans = KMeans::on(map())
            .bandwidth(Bandwidth::Sigma(2.0))
            .standardize(Standardize::No)
            .clusters(5)
            .device(device);
        let kmeans = kmeans.memory(memory);
        let first = kmeans.fit(&mut rows(0, 150)).expect("fits");
        let mut growing = kmeans.start(&mut rows(0, 150)).expect("starts");
        let features = Features::on(map())
            .bandwidth(Bandwidth::Sigma(2.0))
            .standardize(Standardize::No)
            .device(device);
        let z = features
            .fit(part(0, 150))
            .expect("draws")
            .transform(&x)
            .expect("runs");
        let z = z.mapv(f64::from);
        let mut centres = first.linear().coefficients.beta_dt.t().to_owned();
        let (mut sums, mut counts) = (Array2::<f64>::zeros((5, 64)), [0.0; 5]);
        for (from, to) in [(0, 150), (150, 400), (400, 900)] {
            let before = centres.clone();
            for i in from..to {
                let distance = |c: usize| (&z.row(i) - &before.row(c)).mapv(|v| v * v).sum();
                let near = (0..5).min_by(|&a, &b| distance(a).total_cmp(&distance(b)));
                let near = near.expect("a centre");
                counts[near] += weight(i);
                sums.row_mut(near).scaled_add(weight(i), &z.row(i));
            }
            for c in (0..5).filter(|&c| counts[c] > 0.0) {
                centres.row_mut(c).assign(&(&sums.row(c) / counts[c]));
            }
            if from > 0 {
                growing.add(&mut rows(from, to)).expect("adds");
            }
        }
        let model = growing.model().expect("a model");
        let own = &model.linear().coefficients.beta_dt;
        let off = (&own.t() - &centres).fold(0.0_f64, |m, v| m.max(v.abs()));
        assert!(off < 1e-5, "{}: {off:e}", device.describe());
        assert_eq!((growing.rows(), growing.weights()), (900, &counts[..]));
        // Close to the result of Lloyd's iteration over all rows.
        let inertia = |model: &Model<Vec<usize>>| {
            let clusters = model.predict(&x).expect("predicts");
            let beta = &model.linear().coefficients.beta_dt;
            let each = clusters.iter().zip(z.rows());
            each.map(|(&c, z)| (&z - &beta.column(c)).mapv(|v| v * v).sum())
                .sum::<f64>()
        };
        let whole = kmeans.clone().starts(5).fit(&x).expect("fits");
        let ratio = inertia(&model) / inertia(&whole);
        assert!((0.99..1.25).contains(&ratio), "{ratio}");
        assert_eq!(model.linear().coefficients.beta_dt.len_of(Axis(1)), 5);
        assert!(growing.add(&x.slice(s![.., ..1])).is_err());
        assert_eq!(growing.rows(), 900);
        // A model and its weights suffice to resume.
        let resumed = |learner: &str, weights: &[f64]| {
            let mut model = growing.linear();
            model.learner = learner.into();
            let run = Run::on(device).memory(memory);
            GrowingClusters::resume(model, weights.to_vec(), run)
        };
        let mut again = resumed("kmeans", growing.weights()).expect("goes on");
        for bad in [
            resumed("kmeans", &[1.0; 4]),
            resumed("ridge", &[1.0; 5]),
            resumed("kmeans", &[1.0, 1.0, -1.0, 1.0, 1.0]),
        ] {
            assert!(bad.is_err());
        }
        growing.add(&part(100, 300)).expect("adds");
        again.add(&part(100, 300)).expect("adds");
        assert_eq!(again.weights(), growing.weights());
        assert_eq!(again.rows(), growing.rows());
        let beta = |clusters: &GrowingClusters| clusters.linear().coefficients.beta_dt;
        let off = (beta(&again) - beta(&growing)).fold(0.0_f64, |m, v| m.max(v.abs()));
        assert!(off < 1e-12, "{off:e}");
    }
}
