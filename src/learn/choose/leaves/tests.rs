//! Trees, cuts and leaves compared with closed forms.

mod choices;
mod edges;
mod fits;
mod tree;

use super::{
    Grown, Leaves,
    cut::median,
    held::{Keeper, Shape, part_rows},
    leaf::moving,
};
use crate::{
    data::{ChunkSource, MemorySource, Rows, Survey},
    device::CpuDevice,
    features::{Child, Cut, LeafFeatures, Structure, Tree},
    learn::{Budget, Enough, Lambda, RidgeOptions, Search, SearchData},
    metric::MetricOptions,
    model::{LinearModel, Metric, Targets},
    prelude::*,
    seed::Stream,
    store::Store,
};
use ndarray::{Array1, Array2, array};
use std::sync::Arc;

/// Uniform rows in [-1, 1).
fn uniform(rows: usize, columns: usize, seed: u64) -> Array2<f64> {
    let mut draws = Seed(seed).stream(Stream::Data, 0);
    Array2::from_shape_fn((rows, columns), |_| 2.0 * draws.uniform() - 1.0)
}

fn normal(rows: usize, seed: u64) -> Array1<f64> {
    let mut draws = Seed(seed).stream(Stream::Data, 1);
    Array1::from_shape_fn(rows, |_| draws.normal())
}

fn cut(direction: &[f64], threshold: f64) -> Cut {
    Cut {
        direction: direction.to_vec(),
        threshold,
    }
}

/// The root splits at x + y <= 1 around (1, 0); its right node at y <= 2.
fn tree() -> Tree {
    let cuts = vec![cut(&[1.0, 1.0], 1.0), cut(&[0.0, 1.0], 2.0)];
    let children = vec![
        [Child::Leaf(0), Child::Node(1)],
        [Child::Leaf(1), Child::Leaf(2)],
    ];
    Tree::new(vec![1.0, 0.0], cuts, children).expect("a tree")
}

fn source(x: &Array2<f64>, y: &Array1<f64>) -> MemorySource {
    let y = y.clone().insert_axis(ndarray::Axis(1));
    MemorySource::new(x.clone(), Some(y)).expect("rows")
}

fn chosen() -> Search {
    Search {
        bandwidth: true,
        lambda: true,
        budget: Budget::All,
        ..Search::default()
    }
}

fn grown(model: &LinearModel) -> &LeafFeatures {
    match model.map.structure() {
        Structure::Leaves(map) => map,
        other => panic!("{other:?}"),
    }
}

fn mean_square(found: &Array1<f64>, truth: &Array1<f64>) -> f64 {
    (found - truth).mapv(|e| e * e).mean().expect("rows")
}

/// Labels in four bands, of which each leaf contains a part, and one pure leaf.
fn bands(rows: usize, seed: u64) -> (Array2<f64>, Vec<&'static str>) {
    let x = uniform(rows, 2, seed);
    let names = ["north", "east", "south", "west"];
    let label = |x: ndarray::ArrayView1<'_, f64>| match x[0] {
        low if low < -0.4 => names[0],
        _ => names[1 + ((x[0] + 0.4) / 1.4 * 2.999) as usize],
    };
    let labels = x.rows().into_iter().map(label).collect();
    (x, labels)
}

fn classifier() -> RidgeClassifier {
    let map = Fourier::new(Gaussian).features(60);
    let classifier = RidgeClassifier::on(map).search(Search {
        budget: Budget::All,
        ..Search::everything()
    });
    classifier.device(&Device::cpu()).seed(Seed(2))
}
