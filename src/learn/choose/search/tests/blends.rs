//! Averaged models, and preparations of columns.

use super::{Extent, Plan, Sample, Table, Trial, rows, search};
use crate::{
    features::{Fourier, MapBuilder},
    kernels::Gaussian,
    learn::{Blend, choose::search::Member},
};
use ndarray::{Array1, Array2};
use std::sync::Arc;

const BOTH: Blend = Blend {
    draws: 2,
    binning: true,
    nystrom: false,
};

/// Bins have a large weight for a step function, and none for a wave; draws are distinct, and
/// weights sum to 1.
#[test]
fn bins_stand_beside_where_targets_jump() {
    let x = rows(700, 2, 3);
    let noise = rows(700, 1, 4);
    let stairs = |i: usize| (2.0 * x[[i, 0]]).floor() + f64::from(u8::from(x[[i, 1]] > 0.3));
    let wave = |i: usize| x[[i, 0]].sin() + x[[i, 1]] + 0.02 * noise[[i, 0]];
    // Enough features for fits of the wave to reach its noise, which bins cannot improve.
    let map = || Fourier::new(Gaussian).features(150);
    for (jumps, y) in [
        (true, Array1::from_shape_fn(700, stairs)),
        (false, Array1::from_shape_fn(700, wave)),
    ] {
        let found = Table::new(&x, &y, false).found(&search(false, BOTH), map(), 1.0);
        let shares = found.members.iter().map(|member| member.share);
        let sum: f64 = shares.sum();
        let is_alone = found.members.is_empty();
        assert!((sum - 1.0).abs() < 1e-12 || is_alone && !jumps, "{sum}");
        let binned = found.members.iter().filter(|member| member.is_binned);
        let share: f64 = binned.map(|member| member.share).sum();
        assert_eq!(jumps, share > 0.3, "{share}");
        assert_eq!(jumps, share > 0.0, "{share}");
        let mut draws: Vec<usize> = (found.members.iter())
            .filter(|member| !member.is_binned)
            .map(|member| member.draw)
            .collect();
        let all = draws.len();
        draws.sort_unstable();
        draws.dedup();
        assert_eq!(draws.len(), all);
        assert!(all <= 2 && (all > 0 || share == 1.0 || is_alone));
    }
    // By default a single model is fitted.
    let y = Array1::from_shape_fn(700, stairs);
    let found = Table::new(&x, &y, false).found(&search(false, Blend::default()), map(), 1.0);
    assert!(found.members.is_empty() && found.importance.is_none());
}

/// If rows are clustered at few points, landmarks have a large weight in the average, if they are
/// requested.
#[test]
fn landmarks_stand_beside_where_rows_lie_close() {
    let (centres, off) = (rows(40, 12, 6), rows(800, 12, 7));
    let x = Array2::from_shape_fn((800, 12), |(i, j)| {
        centres[[i % 40, j]] + 0.05 * off[[i, j]]
    });
    let heights = rows(40, 1, 8);
    let y = Array1::from_shape_fn(800, |i| heights[[i % 40, 0]] + 0.3 * off[[i, 0]]);
    for nystrom in [true, false] {
        let blend = Blend {
            draws: 2,
            binning: false,
            nystrom,
        };
        let map = Fourier::new(Gaussian).features(80);
        let found = Table::new(&x, &y, false).found(&search(false, blend), map, 1.0);
        let landmarks = |name: &str| name == "nystrom";
        let tried = found.trials.iter().filter(|trial| landmarks(trial.map));
        assert_eq!(tried.count(), usize::from(nystrom));
        let is_nystrom = |member: &&Member| member.builder.settings().get("map") == Some("nystrom");
        let share: f64 = (found.members.iter().filter(is_nystrom))
            .map(|member| member.share)
            .sum();
        assert_eq!((share > 0.3, share > 0.0), (nystrom, nystrom), "{share}");
    }
}

/// A sample with few rows needs wide bins; with all rows they are narrower, and the fit uses the
/// best width.
#[test]
fn bins_of_all_rows_are_narrower_than_those_of_a_sample() {
    let x = rows(4000, 2, 6);
    let tile = |v: f64| (3.0 * v).floor();
    let y = Array1::from_shape_fn(4000, |i| {
        (tile(x[[i, 0]]) + tile(x[[i, 1]])).rem_euclid(2.0)
    });
    let asked = search(
        false,
        Blend {
            draws: 1,
            binning: true,
            nystrom: false,
        },
    );
    let map = || Fourier::new(Gaussian).features(80);
    let trials = |most| Table::new(&x, &y, false).search(&asked, map(), most).1;
    let sampled = trials(300);
    let mut of_all = sampled
        .iter()
        .filter(|trial| trial.map == "binning" && trial.rows > 1000);
    let first = of_all.next().expect("the sample's width");
    let last = of_all.next_back().expect("what is fitted");
    assert!(last.multiple < first.multiple, "{}", last.multiple);
    assert!(last.features > first.features && last.error < first.error);
    let least = of_all
        .map(|trial| trial.loss().0)
        .fold(f64::INFINITY, f64::min);
    assert!(last.loss().0 <= 1.05 * least.min(first.loss().0));
    // If the sample has all rows, its widths are used directly.
    let whole = trials(4000);
    let binned = whole.iter().filter(|trial| trial.map == "binning");
    let few = binned.clone().map(|trial| trial.features).min();
    // Four widths for either metric, and one without.
    assert!(binned.filter(|trial| Some(trial.features) == few).count() <= 9);
}

/// If bins are far better on the sample, Fourier features are tried only once with all rows,
/// otherwise more often.
#[test]
fn waves_far_behind_bins_are_tried_once_with_all_rows() {
    let x = rows(4000, 2, 6);
    let tile = |v: f64| (1.5 * v).floor();
    let jump = |i: usize| (tile(x[[i, 0]]) + tile(x[[i, 1]])).rem_euclid(2.0);
    let wave = |i: usize| x[[i, 0]].sin() + x[[i, 1]];
    let map = || Fourier::new(Gaussian).features(80);
    for (is_behind, y) in [
        (true, Array1::from_shape_fn(4000, jump)),
        (false, Array1::from_shape_fn(4000, wave)),
    ] {
        let (_, trials) = Table::new(&x, &y, false).search(&search(false, BOTH), map(), 1000);
        let of_all = trials.iter().filter(|trial| trial.rows > 1000);
        let waves = of_all.clone().filter(|trial| trial.map != "binning");
        assert_eq!(waves.count() == 1, is_behind);
        assert!(of_all.count() > 1);
    }
}

/// A function of all columns together is not captured by bins of some columns: these are tried at a
/// single width if they are far worse, and at more widths otherwise.
#[test]
fn bins_of_some_columns_that_are_behind_are_tried_once() {
    let (centres, off) = (rows(60, 14, 6), rows(1000, 14, 7));
    let heights = rows(60, 1, 8);
    let y = Array1::from_shape_fn(1000, |i| heights[[i % 60, 0]]);
    let blend = Blend { draws: 1, ..BOTH };
    for (is_behind, spread) in [(true, 0.5), (false, 1.0)] {
        let at = |(i, j): (usize, usize)| centres[[i % 60, j]] + spread * off[[i, j]];
        let x = Array2::from_shape_fn((1000, 14), at);
        let map = Fourier::new(Gaussian).features(80);
        let (_, trials) = Table::new(&x, &y, false).search(&search(false, blend), map, 1000);
        let few = |trial: &&Trial| trial.map == "binning" && trial.features == 160;
        let widths: Vec<f64> = (trials.iter().filter(few))
            .map(|trial| trial.multiple)
            .collect();
        assert_eq!(widths.len() == 1, is_behind, "{widths:?}");
    }
}

/// If the nearest rows determine the label of a row, the columns that identify these have the
/// largest weights.
#[test]
fn columns_that_find_neighbours_weigh_most() {
    let x = rows(3000, 6, 7);
    let tile = |v: f64| (2.0 * v).floor();
    let y = Array1::from_shape_fn(3000, |i| {
        (tile(x[[i, 0]]) + tile(x[[i, 1]])).rem_euclid(2.0)
    });
    let mut table = Table::new(&x, &y, false);
    let mut sample = Sample::of_most(table.data(1.0), 3000).expect("reads");
    let metric = sample.near(0).expect("reads").expect("rows that differ");
    let scales = metric.squared_scales();
    let least = scales[0].min(scales[1]);
    let others = scales[2..]
        .iter()
        .fold(0.0, |most: f64, &own| most.max(own));
    assert!(least > 100.0 * others, "{scales:?}");
}

/// Products of residuals include all outputs: the product of a model with itself is its squared
/// error, summed over rows and outputs.
#[test]
fn residuals_of_all_classes_count() {
    let x = rows(300, 2, 8);
    let y = Array1::from_shape_fn(300, |i| (x[[i, 0]] + x[[i, 1]]).clamp(-1.0, 1.0).round());
    let builder: Arc<dyn MapBuilder> = Arc::new(Fourier::new(Gaussian).features(40));
    let mut table = Table::new(&x, &y, true);
    let mut sample = Sample::of_most(table.data(1.0), 1000).expect("reads");
    let plan = Plan {
        builder,
        kernel: Arc::new(Gaussian),
        scaling: 0,
        is_binned: false,
        draw: 0,
        metric: None,
        turns: 0,
        features: 40,
        median: 1.0,
        multiple: 1.0,
        lengthscale: 1.0,
        lambda: 0.0,
    };
    let tried = sample.run(&plan, &[1e-3], Extent::All).expect("runs");
    let products = sample
        .residual_products(&[&tried], Extent::All)
        .expect("sums");
    let held_out = 300.0 - tried.rows as f64;
    let squared = products[[0, 0]] / held_out / 3.0;
    assert!(
        (squared / tried.squared - 1.0).abs() < 1e-9,
        "{squared} {}",
        tried.squared
    );
    let blended = sample
        .blended(&[&tried], &[1.0], Extent::All)
        .expect("predicts");
    assert_eq!(blended.0, tried.error);
    assert!((blended.1 / tried.squared - 1.0).abs() < 1e-9);
}

/// A preparation that limits outliers is used if it is allowed and better.
#[test]
fn far_values_are_pulled_in_where_that_is_better() {
    let near = rows(600, 3, 5);
    let far = near.mapv(|v| (2.0 * v).exp());
    let y = Array1::from_shape_fn(600, |i| (1.5 * near[[i, 0]]).sin() + near[[i, 1]]);
    let map = || Fourier::new(Gaussian).features(120);
    for (x, preparation, expected) in [(&far, true, true), (&far, false, false)] {
        let asked = search(preparation, Blend::default());
        let found = Table::new(x, &y, false).found(&asked, map(), 1.0);
        let bends = found
            .scaling
            .as_ref()
            .is_some_and(|scaling| scaling.bends());
        assert_eq!(bends, expected, "{preparation}");
    }
}
