//! Learnt curves of columns.

use super::{Sample, Table, Trial, Tried, rows, search};
use crate::{
    Device,
    data::{Curve, MemorySource, Survey},
    features::{Affine, Fourier, Identity, Standardize},
    kernels::{Gaussian, Laplacian},
    learn::{Blend, Search, choose::search::fitted::stacked},
    model::{Coefficients, Metric, Targets},
};
use ndarray::{Array1, Array2, array};
use std::sync::Arc;

/// A trial that predicts `x beta`, for the columns of `beta_dt`.
fn linear(beta_dt: Array2<f64>) -> Tried {
    let (columns, outputs) = beta_dt.dim();
    let solved = Coefficients {
        beta_dt,
        intercept_t: vec![0.0; outputs].into(),
    };
    let map = Identity.build(Affine::identity(columns)).expect("a map");
    Tried {
        lambda: 0.0,
        error: 0.0,
        squared: 0.0,
        rows: 0,
        models: vec![stacked(Box::new(map), solved, &Device::cpu())],
        sums: None,
    }
}

fn curves(table: &mut Table, tried: &Tried) -> Option<Vec<Option<Curve>>> {
    let sample = Sample::of_most(table.data(1.0), 1000).expect("reads");
    sample.curves(tried).expect("predicts")
}

/// The curve of a linear function is a line, with a height proportional to slope and range of the
/// column over the deviations of the targets, plus a fiftieth of the largest; so the heights have a
/// closed form.
#[test]
fn a_curve_of_a_line_is_the_line() {
    let x = rows(400, 3, 1);
    let y = Array1::from_shape_fn(400, |i| 5.0 * x[[i, 0]]);
    let deviation = y.std(0.0);
    let mut table = Table::new(&x, &y, false);
    let (slopes, range) = ([-2.0, 0.5, 0.0], |j: usize| {
        let column = x.column(j);
        let (low, high) = column.iter().fold((f64::MAX, f64::MIN), |(low, high), &x| {
            (low.min(x), high.max(x))
        });
        (low, high - low)
    });
    let tried = linear(array![[slopes[0]], [slopes[1]], [slopes[2]]]);
    let curves = curves(&mut table, &tried).expect("curves");
    let rise = |j: usize| f64::abs(slopes[j]) * range(j).1 / deviation;
    for (j, curve) in curves.iter().enumerate() {
        let curve = curve.as_ref().expect("it varies");
        let (low, width) = range(j);
        let points = curve.points().len();
        assert!((60..=64).contains(&points), "{points}");
        for (k, (at, height)) in curve.points().enumerate() {
            let climbed = rise(j) / rise(0) * (at - low) / width;
            let expected = climbed + 0.02 * k as f64 / (points - 1) as f64;
            assert!(
                (height - expected).abs() < 1e-5,
                "{j} {k}: {height} {expected}"
            );
        }
    }
}

/// Slopes of several outputs are combined as the root of the sum of their squares; constant columns
/// have none.
#[test]
fn outputs_count_together() {
    let mut x = rows(300, 3, 2);
    x.column_mut(2).fill(4.0);
    let y = Array1::from_shape_fn(300, |i| {
        f64::from(u8::from(x[[i, 0]] > 0.0)) + f64::from(u8::from(x[[i, 1]] > 0.5))
    });
    let mut table = Table::new(&x, &y, true);
    let tried = linear(array![[3.0, 4.0, 0.0], [0.0, 0.0, 2.0], [1.0, 1.0, 1.0]]);
    let curves = curves(&mut table, &tried).expect("curves");
    assert!(curves[2].is_none());
    let ends = |j: usize| {
        let curve = curves[j].as_ref().expect("it varies");
        let points: Vec<(f64, f64)> = curve.points().collect();
        let ((low, _), (high, height)) = (points[0], points[points.len() - 1]);
        (height - 0.02) / (high - low)
    };
    // Slopes of 5 and 2 in the same unit.
    assert!(
        (ends(0) / ends(1) - 2.5).abs() < 1e-4,
        "{} {}",
        ends(0),
        ends(1)
    );
}

/// Targets are scaled by their deviations: a second target in another unit changes nothing.
#[test]
fn targets_count_over_their_deviations() {
    let x = rows(300, 2, 6);
    let heights = |unit: f64| {
        let mut table = Table::new(&x, &x.column(0).to_owned(), false);
        let y = Array2::from_shape_fn((300, 2), |(i, t)| [1.0, unit][t] * x[[i, t]]);
        table.source = MemorySource::new(&x, Some(y)).expect("finite");
        table.survey = Survey::new(&mut table.source, 2000, 0).expect("surveys");
        table.targets = Targets::real(&table.survey);
        let tried = linear(array![[1.0, 0.0], [0.0, unit]]);
        let curves = curves(&mut table, &tried).expect("curves");
        let ends = curves.iter().flatten();
        let ends = ends.filter_map(|curve| curve.points().last());
        ends.map(|(_, height)| height).collect::<Vec<_>>()
    };
    let (one, other) = (heights(1.0), heights(50.0));
    assert!(
        one.iter().zip(&other).all(|(a, b)| (a - b).abs() < 1e-5),
        "{one:?} {other:?}"
    );
}

#[test]
fn words_have_no_curves_and_nothing_is_learnt_of_a_level_fit() {
    let x = rows(200, 2, 3);
    let mut table = Table::new(&x, &x.column(0).to_owned(), false);
    assert!(curves(&mut table, &linear(array![[0.0], [0.0]])).is_none());
    let tried = linear(array![[1.0], [0.0]]);
    assert!(curves(&mut table, &tried).is_some());
    table.survey.of_words[1] = true;
    assert!(curves(&mut table, &tried).is_none());
}

fn everything() -> Search {
    Search {
        kernels: vec![Arc::new(Gaussian), Arc::new(Laplacian)],
        ..search(true, Blend::default())
    }
}

/// If targets have jumps, the search uses curves, which are steep at the jumps, and its error
/// decreases; for smooth targets it uses none.
#[test]
fn jumps_are_learnt_and_waves_are_left() {
    let x = rows(900, 3, 4).mapv(f64::tanh);
    let noise = rows(900, 1, 5);
    let jump = |i: usize| {
        f64::from(u8::from(x[[i, 0]] > 0.4)) + 2.0 * f64::from(u8::from(x[[i, 1]] < -0.2))
    };
    let y = Array1::from_shape_fn(900, |i| jump(i) + 0.05 * noise[[i, 0]]);
    let map = || Fourier::new(Gaussian).features(300);
    let error = |preparation: bool| {
        let search = Search {
            preparation,
            ..everything()
        };
        let found = Table::new(&x, &y, false).found(&search, map(), 1.0);
        let least = found.trials.iter().map(|trial| trial.error);
        (least.fold(f64::INFINITY, f64::min), found)
    };
    let ((plain, without), (along, found)) = (error(false), error(true));
    assert!(without.scaling.is_none());
    assert!(along < 0.75 * plain, "{along} for {plain}");
    let scaling = found.scaling.expect("curves");
    assert_eq!(scaling.applied(), Standardize::Learned);
    let at = |j: usize, x: f64| {
        let mut row = array![[0.0, 0.0, 0.0]];
        row[[0, j]] = x;
        scaling.apply(&row).expect("applies")[[0, j]]
    };
    for (j, jump) in [(0, 0.4), (1, -0.2)] {
        let near = at(j, jump + 0.08) - at(j, jump - 0.08);
        let all = at(j, 1.0) - at(j, -1.0);
        assert!(near > 0.5 * all, "{j}: {near} of {all}");
    }
    assert!(
        at(2, 1.0) - at(2, -1.0) < 0.2,
        "{}",
        at(2, 1.0) - at(2, -1.0)
    );
    // The given lengthscale is far off, so the search replaces it.
    let wave = |i: usize| (2.0 * x[[i, 0]]).sin() + x[[i, 1]] * x[[i, 2]];
    let y = Array1::from_shape_fn(900, |i| wave(i) + 0.3 * noise[[i, 0]]);
    let found = Table::new(&x, &y, false).found(&everything(), map(), 0.02);
    assert!(found.scaling.is_none() && found.lengthscale > 0.1);
}

/// Curves of single columns cannot represent a wave across them. Since they are far worse, each
/// kernel is tried with them at one bandwidth only, and no further curve is learnt.
#[test]
fn kernels_along_curves_that_are_behind_are_tried_once() {
    let x = rows(900, 4, 4);
    let y = Array1::from_shape_fn(900, |i| (2.0 * (x[[i, 0]] + x[[i, 1]])).sin());
    let search = Search {
        metrics: vec![Metric::Full.into()],
        ..everything()
    };
    let map = Fourier::new(Gaussian).features(300);
    let found = Table::new(&x, &y, false).found(&search, map, 1.0);
    let learned = |trial: &&Trial| trial.standardize == Standardize::Learned;
    let kernels: Vec<&str> = (found.trials.iter().filter(learned))
        .map(|trial| trial.kernel.as_str())
        .collect();
    assert!(found.scaling.is_none());
    assert_eq!(kernels.len(), 2, "{kernels:?}");
    assert_ne!(kernels[0], kernels[1]);
}
