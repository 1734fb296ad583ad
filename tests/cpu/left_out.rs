//! Coverage of intervals and sets of classes from leave-one-out scores, over many samples.

use bochner::{models::CalibratedOn, prelude::*, seed::Stream};
use ndarray::{Array1, Array2};

/// Number of samples, of training rows, and of new rows.
const SAMPLES: u64 = 200;
const ROWS: usize = 200;
const NEW: usize = 200;

/// Rows of two columns, and a wave with skewed, heteroscedastic noise.
fn noisy(seed: u64) -> (Array2<f64>, Array1<f64>) {
    let mut draws = Seed(seed).stream(Stream::Data, 0);
    let x = Array2::from_shape_simple_fn((ROWS + NEW, 2), || 4.0 * draws.uniform());
    let noise = |x: f64, u: f64| -(0.2 + 0.2 * x) * u.ln();
    let y = x.rows().into_iter().map(|x| {
        let u = draws.uniform();
        (1.5 * x[0]).sin() + 0.5 * x[1] + noise(x[0], u)
    });
    let y = y.collect();
    (x, y)
}

/// Four classes whose rows overlap.
fn classes(seed: u64) -> (Array2<f64>, Vec<usize>) {
    let mut draws = Seed(seed).stream(Stream::Data, 1);
    let labels: Vec<usize> = (0..ROWS + NEW)
        .map(|_| (4.0 * draws.uniform()) as usize)
        .collect();
    let x = Array2::from_shape_fn((ROWS + NEW, 2), |(i, j)| {
        1.6 * f64::from(u8::from(labels[i] >> j & 1 == 1)) + draws.normal()
    });
    (x, labels)
}

fn map() -> impl MapBuilder + 'static {
    Fourier::new(Gaussian).features(40)
}

fn first(x: &Array2<f64>) -> (Array2<f64>, Array2<f64>) {
    let (fitted, new) = x.view().split_at(ndarray::Axis(0), ROWS);
    (fitted.to_owned(), new.to_owned())
}

/// The mean coverage over samples is within two per cent of the level; its standard deviation is a
/// third of a per cent.
#[test]
fn intervals_hold_their_share_of_new_targets() {
    let (mut held, levels) = ([0.0; 2], [0.8, 0.9]);
    for seed in 0..SAMPLES {
        let (x, y) = noisy(seed);
        let (fitted, new) = first(&x);
        let ridge = Ridge::on(map()).bandwidth(Bandwidth::Sigma(1.0));
        let ridge = ridge.device(&Device::cpu()).seed(Seed(seed));
        let of = y.slice(ndarray::s![..ROWS]).to_owned();
        let model = ridge.fit((&fitted, &of)).expect("fits");
        let on = model.linear().conformal.as_ref().expect("errors").on();
        assert_eq!(on, CalibratedOn::LeftOut);
        for (held, level) in held.iter_mut().zip(levels) {
            let bounds = model.intervals(&new, level).expect("intervals");
            let is_in = |i: &usize| {
                (bounds.lower_nt[[*i, 0]]..=bounds.upper_nt[[*i, 0]]).contains(&y[ROWS + i])
            };
            *held += (0..NEW).filter(is_in).count() as f64 / NEW as f64;
        }
    }
    for (held, level) in held.map(|sum| sum / SAMPLES as f64).into_iter().zip(levels) {
        assert!((held - level).abs() < 0.02, "{held} for {level}");
    }
}

/// Sets contain the right class at least with the nominal probability, and only slightly more often
/// if the most likely class alone is right less often.
#[test]
fn sets_hold_their_share_of_new_classes() {
    let (mut held, mut size, mut right) = ([0.0; 2], [0.0; 2], 0.0);
    let levels = [0.8, 0.9];
    let share = |count: usize| count as f64 / (NEW as f64 * SAMPLES as f64);
    for seed in 0..SAMPLES {
        let (x, labels) = classes(seed);
        let (fitted, new) = first(&x);
        let ridge = RidgeClassifier::on(map()).bandwidth(Bandwidth::Sigma(1.0));
        let ridge = ridge.device(&Device::cpu()).seed(Seed(seed));
        let model = ridge.fit((&fitted, &labels[..ROWS])).expect("fits");
        let found = model.predict(&new).expect("predicts");
        let pairs = found.iter().zip(&labels[ROWS..]);
        right += share(pairs.filter(|(a, b)| a == b).count());
        for (k, level) in levels.into_iter().enumerate() {
            let sets = model.predict_sets(&new, level).expect("sets");
            assert!(sets.iter().all(|set| !set.is_empty()));
            let of = sets.iter().zip(&labels[ROWS..]);
            held[k] += share(of.filter(|(set, label)| set.contains(label)).count());
            size[k] += share(sets.iter().map(Vec::len).sum());
        }
    }
    assert!((0.5..0.75).contains(&right), "{right}");
    for (held, level) in held.into_iter().zip(levels) {
        assert!(
            (level - 0.01..level + 0.03).contains(&held),
            "{held} for {level}"
        );
    }
    assert!(size[0] < size[1] && size[1] < 3.5, "{size:?}");
}
