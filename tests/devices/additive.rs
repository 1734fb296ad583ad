//! Additive models recover the functions of single columns.

use crate::common::devices;
use bochner::{
    Device,
    data::{MemorySource, Rows},
    features::Structure,
    prelude::*,
    seed::Stream,
};
use ndarray::{Array1, Array2};

const NOISE: f64 = 0.1;

/// y = sin(x0) + x1^2 / 2 + |x2| + noise, with 4 columns within (-2, 2), plus `share` times the
/// product of the first two.
fn table(rows: usize, share: f64) -> (Array2<f64>, Array1<f64>) {
    let mut draws = Seed(rows as u64).stream(Stream::Sample, 1);
    let x = Array2::from_shape_simple_fn((rows, 4), || 4.0 * draws.uniform() - 2.0);
    let y = x.outer_iter().map(|x| {
        let parts: f64 = (0..3).map(|j| part(j, x[j])).sum();
        parts + share * x[0] * x[1] + NOISE * draws.normal()
    });
    let y = y.collect();
    (x, y)
}

fn part(j: usize, x: f64) -> f64 {
    match j {
        0 => x.sin(),
        1 => x * x / 2.0,
        2 => x.abs(),
        _ => 0.0,
    }
}

/// Rows in which column `j` goes from -1.9 to 1.9 and all others are at 0.3.
fn along(j: usize) -> Array2<f64> {
    Array2::from_shape_fn(
        (77, 4),
        |(i, k)| {
            if k == j { -1.9 + 0.05 * i as f64 } else { 0.3 }
        },
    )
}

fn centred(y: Array1<f64>) -> Array1<f64> {
    let mean = y.mean().expect("rows");
    y - mean
}

/// Each part is recovered up to a constant, independent of the other columns; an irrelevant column
/// has a flat one.
#[test]
fn parts_of_a_sum_are_found_on_devices() {
    let (x, y) = table(1500, 0.0);
    for map in [
        Box::new(Fourier::new(Gaussian).features(240)) as Box<dyn MapBuilder>,
        Box::new(Nystrom::new(Gaussian).features(160)),
    ] {
        let ridge = Ridge::on(map).additive(Additive::Columns);
        let model = ridge.device(&Device::cpu()).fit((&x, &y)).expect("fits");
        let job = model.linear().job.as_ref().expect("kept");
        assert_eq!(job.get("additive"), Some("columns"));
        for device in devices() {
            let mut predictor = model.linear().on(device).expect("loads");
            for j in 0..4 {
                let rows = along(j);
                let found = predictor
                    .predict(&Rows::from(rows.view()))
                    .expect("predicts");
                let found = centred(found.column(0).to_owned());
                let truth = centred(rows.column(j).mapv(|x| part(j, x)));
                let off = (&found - &truth)
                    .mapv(|e| e * e)
                    .mean()
                    .expect("rows")
                    .sqrt();
                assert!(off < 0.04, "part {j} on {device:?}: {off}");
                // The same curve with other values of the other columns, up to rounding.
                let mut elsewhere = along(j);
                for k in (0..4).filter(|&k| k != j) {
                    elsewhere.column_mut(k).fill(-1.1);
                }
                let again = predictor
                    .predict(&Rows::from(elsewhere.view()))
                    .expect("predicts");
                let again = centred(again.column(0).to_owned());
                let apart = (&again - &found)
                    .mapv(f64::abs)
                    .fold(0.0, |a: f64, &b| a.max(b));
                assert!(apart < 1e-4, "part {j} on {device:?}: {apart}");
            }
        }
    }
}

/// A pair is added if there is an interaction, and captures the product.
#[test]
fn a_pair_is_found_on_devices() {
    let (x, y) = table(1500, 1.0);
    let (x_test, y_test) = table(1501, 1.0);
    let fit = |additive| {
        let ridge = Ridge::on(Fourier::new(Gaussian).features(300)).additive(additive);
        ridge.device(&Device::cpu()).fit((&x, &y)).expect("fits")
    };
    let off = |model: &Model<Array1<f64>>| {
        let predicted = model.predict(&x_test).expect("predicts");
        (predicted - &y_test)
            .mapv(|e| e * e)
            .mean()
            .expect("rows")
            .sqrt()
    };
    let (alone, pairs) = (fit(Additive::Columns), fit(Additive::Pairs));
    let Structure::Union(union) = pairs.linear().map.structure() else {
        panic!("parts");
    };
    let kept: Vec<_> = union.parts().map(|(map, _)| map.input().kept()).collect();
    assert_eq!(kept[..4], [[0], [1], [2], [3]].map(Vec::from));
    assert!(kept[4..].contains(&vec![0, 1]), "{kept:?}");
    assert!(kept.len() <= 6, "{kept:?}");
    let (of_columns, of_pairs) = (off(&alone), off(&pairs));
    assert!(of_columns > 1.0, "{of_columns}");
    assert!(of_pairs < 0.2, "{of_pairs}");
    let mut source = MemorySource::new(x_test.clone(), None).expect("finite");
    let again = pairs.predict_source(&mut source).expect("predicts");
    assert_eq!(again, pairs.predict(&x_test).expect("predicts"));
}
