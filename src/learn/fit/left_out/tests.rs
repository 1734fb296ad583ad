//! Leave-one-out scores from leverages compared with refits.

use crate::{
    Device, Run,
    data::{Chunk, ChunkSource, Grouped, MemorySource, Part, Rows, Split, Survey, hash_of_row},
    features::{Affine, FeatureMap, Fourier},
    kernels::Gaussian,
    learn::{Fit, FitData, Lambda, RidgeOptions, Solver},
    model::{CalibratedOn, HeldOut, LinearModel, Targets},
    seed::{Seed, Stream},
};
use ndarray::{Array1, Array2, Axis, s};

/// Rows of two columns, the first ten of them duplicated, with targets or labels.
struct Data {
    x: Array2<f64>,
    y: Array2<f64>,
    weights: Array1<f64>,
    classes: bool,
}

impl Data {
    fn new(rows: usize, classes: usize) -> Self {
        let mut draws = Seed(5).stream(Stream::Data, 0);
        let mut x = Array2::from_shape_simple_fn((rows, 2), || 3.0 * draws.uniform());
        let mut y = Array2::from_shape_fn((rows, 1), |(i, _)| {
            let wave = (2.0 * x[[i, 0]]).sin() + 0.4 * draws.normal();
            match classes {
                0 => 7.0 + wave,
                2 => f64::from(u8::from(wave > 0.1)),
                _ => (wave + 1.0).floor().clamp(0.0, 2.0),
            }
        });
        for i in 0..10 {
            let (row, target) = (x.row(i).to_owned(), y.row(i).to_owned());
            x.row_mut(rows - 1 - i).assign(&row);
            y.row_mut(rows - 1 - i).assign(&target);
        }
        let weights = Array1::from_shape_fn(rows, |i| [1.0, 0.5, 2.0][i % 3]);
        let weights = Array1::from_shape_fn(rows, |i| {
            let first = if i + 10 < rows { i } else { rows - 1 - i };
            weights[first]
        });
        Self {
            x,
            y,
            weights,
            classes: classes > 0,
        }
    }

    fn fit(&self, options: &RidgeOptions, features: usize, weights: &Array1<f64>) -> LinearModel {
        let source = MemorySource::new(&self.x, Some(self.y.clone())).expect("rows");
        let source = source.with_weights(weights.clone()).expect("weights");
        fit(options, features, source, self.classes)
    }
}

fn fit(
    options: &RidgeOptions,
    features: usize,
    mut source: impl ChunkSource,
    classes: bool,
) -> LinearModel {
    let survey = Survey::new(&mut source, 90, 0).expect("surveys");
    let targets = if classes {
        Targets::Classes([0.0, 1.0, 2.0][..classes_of(&survey)].to_vec())
    } else {
        Targets::real(&survey)
    };
    source.rewind().expect("rewinds");
    let map = Fourier::new(Gaussian).features(features).seed(Seed(1));
    let map: Box<dyn FeatureMap> = Box::new(map.build(Affine::identity(2)).expect("draws"));
    let data = FitData {
        source: &mut source,
        survey: &survey,
        targets,
        kernel: None,
        bandwidth: None,
        start: None,
        seed: Seed(0),
        run: &Run::on(&Device::cpu()),
    };
    options.fit(map, data).expect("fits")
}

fn classes_of(survey: &Survey) -> usize {
    if survey.targets[0].max > 1.0 { 3 } else { 2 }
}

fn ridge(lambda: Lambda, intercept: bool) -> RidgeOptions {
    RidgeOptions {
        lambda,
        intercept,
        ..RidgeOptions::default()
    }
}

/// The score of a row by its identifier.
fn score_of(model: &LinearModel, id: u64) -> Vec<f64> {
    let rows = model.left_out.as_ref().expect("rows left out");
    let place = rows.id_m.iter().position(|&own| own == id);
    rows.scores().row(place.expect("is there")).to_vec()
}

/// From sums and in the dual, with one penalty and the best of several, with weights, classes and
/// each kind of intercept: the leave-one-out score of a row and its duplicate equals that of a fit
/// without them.
#[test]
fn a_score_is_that_of_a_fit_without_the_row() {
    const N: usize = 60;
    let fixed = Lambda::Fixed(1e-3);
    let all = Lambda::Best {
        of: vec![1e-3],
        by: HeldOut::LeaveOneOut,
    };
    for (classes, features, lambda, intercept) in [
        (0, 20, fixed.clone(), true),
        (0, 20, fixed.clone(), false),
        (0, 100, fixed.clone(), true),
        (0, 100, fixed, false),
        (0, 20, all, true),
        (3, 20, Lambda::Usual, true),
        (2, 100, Lambda::Usual, true),
    ] {
        let data = Data::new(N, classes);
        let model = data.fit(&ridge(lambda, intercept), features, &data.weights);
        let chunk = Chunk {
            x: Rows::F64(data.x.clone()),
            y: data.y.clone(),
            weights: None,
        };
        let weight = data.weights.sum();
        for i in [0, 4, 11, 12, 13, 30, N - 1] {
            let mut without = data.weights.clone();
            without[i] = 0.0;
            if i.min(N - 1 - i) < 10 {
                without[N - 1 - i] = 0.0;
            }
            // The same penalty as with all rows.
            let lambda = model.lambda * weight / without.sum();
            let rest = data.fit(&ridge(Lambda::Fixed(lambda), intercept), features, &without);
            let own = Rows::F64(data.x.slice(s![i..=i, ..]).to_owned());
            let expected = rest.on(&Device::cpu()).expect("loads").scores(&own);
            let expected = expected.expect("scores").row(0).to_vec();
            let found = score_of(&model, hash_of_row(&chunk, i));
            for (found, expected) in found.iter().zip(&expected) {
                let off = (found - expected).abs();
                assert!(off < 2e-3, "{classes} {features} {i}: {found} {expected}");
            }
        }
    }
}

/// Folds of whole groups estimate the error on unseen groups; leave-one-out errors do not, and are
/// not used.
#[test]
fn groups_are_left_out_whole_or_not_at_all() {
    const N: usize = 90;
    let mut data = Data::new(N, 0);
    // Makes rows distinct, so that no row is in two groups.
    let mut last = data.x.slice_mut(s![N - 10.., ..]);
    last += 0.01;
    let groups: Vec<usize> = (0..N).map(|i| i % 10 / 2).collect();
    let rows = || {
        let source = MemorySource::new(&data.x, Some(data.y.clone())).expect("rows");
        Grouped::by(source, &groups, Seed(0)).expect("groups")
    };
    for features in [20, 200] {
        let alone = fit(&ridge(Lambda::Fixed(1e-3), true), features, rows(), false);
        assert!(
            alone.conformal.is_none() && alone.left_out.is_none(),
            "{features}"
        );
        let model = fit(&ridge(Lambda::Usual, true), features, rows(), false);
        let on = model.conformal.as_ref().expect("by folds").on();
        let CalibratedOn::Folds(folds) = on else {
            panic!("{on:?}")
        };
        assert!((2..=5).contains(&folds));
        // Checks a fold by a fit to the others.
        let options = ridge(Lambda::Fixed(model.lambda), true);
        let mut fold = Split::fold(rows(), (0, folds), 0).expect("a fold");
        let chunk = fold.next_chunk(N).expect("reads").expect("rows");
        let ids: Vec<u64> = (0..chunk.x.nrows())
            .map(|i| hash_of_row(&chunk, i))
            .collect();
        let is_own = |x: ndarray::ArrayView1<'_, f64>| {
            let own = chunk.x.clone().into_f64();
            own.rows().into_iter().any(|row| row == x)
        };
        let rest: Vec<usize> = (0..N).filter(|&i| !is_own(data.x.row(i))).collect();
        let (x, y) = (data.x.select(Axis(0), &rest), data.y.select(Axis(0), &rest));
        let lambda = if features == 20 {
            model.lambda
        } else {
            // In the dual the penalty stays that of all rows.
            model.lambda * N as f64 / rest.len() as f64
        };
        let options = RidgeOptions {
            lambda: Lambda::Fixed(lambda),
            solver: Solver::Auto,
            ..options
        };
        let source = MemorySource::new(&x, Some(y)).expect("rows");
        let refitted = fit(&options, features, source, false);
        let found = refitted.on(&Device::cpu()).expect("loads").scores(&chunk.x);
        let found = found.expect("scores");
        for (id, expected) in ids.into_iter().zip(found.column(0)) {
            let own = score_of(&model, id)[0];
            assert!(
                (own - expected).abs() < 5e-3,
                "{features}: {own} {expected}"
            );
        }
    }
}

/// A classifier has no probabilities with few rows, with rows of a single class, and with rows that
/// alone determine their own score; a class without rows does not prevent probabilities.
#[test]
fn probabilities_take_rows_of_two_classes() {
    let some = |rows: usize, label: fn(usize) -> f64, lambda: Lambda| {
        let x = Array2::from_shape_fn((rows, 2), |(i, j)| ((i * (3 + 4 * j)) % 19) as f64 / 6.0);
        let y = Array2::from_shape_fn((rows, 1), |(i, _)| label(i));
        let source = MemorySource::new(&x, Some(y)).expect("rows");
        fit(&ridge(lambda, true), 16, source, true).probabilities
    };
    let usual = || Lambda::Usual;
    assert!(some(40, |i| (i % 2) as f64, usual()).is_some());
    assert!(some(12, |i| (i % 2) as f64, usual()).is_none());
    let few = |i: usize| if i == 7 { 1.0 } else { 0.0 };
    assert!(some(40, few, usual()).is_some());
    assert!(some(40, |_| 0.0, usual()).is_none());
    // Three classes, the second without a row.
    assert!(some(40, |i| [0.0, 2.0][i % 2], usual()).is_some());
    let iterative = RidgeOptions {
        solver: Solver::conjugate_gradients(),
        ..ridge(Lambda::Fixed(1e-3), true)
    };
    let data = Data::new(60, 2);
    let split = Split::new(
        MemorySource::new(&data.x, Some(data.y.clone())).expect("rows"),
        Part::Train,
        0.1,
        0,
    );
    let model = fit(&iterative, 16, split.expect("parts"), true);
    assert!(model.probabilities.is_none() && model.left_out.is_none());
}
