use super::*;
use crate::{
    data::{ColumnChoice, MemorySource, OpenOptions, open},
    features::{Bandwidth, KernelColumns, MapBuilder},
    learn::{FalkonOptions, KernelRidgeOptions, RidgeOptions},
    prelude::*,
    seed::{Seed, Stream},
};
use ndarray::Array2;
use std::{path::Path, sync::Arc};

/// Lines of a table whose columns have outliers and rare categories: what all rows say of them
/// is not what the rows of a fold do.
fn lines() -> Vec<String> {
    let line = |i: usize| {
        let a = (i * 37 % 60) as f64 / 10.0 + if i == 11 { 500.0 } else { 0.0 };
        let city = ["Bern", "Basel", "Zug"][i % 7 / 3];
        let city = if i.is_multiple_of(29) {
            format!("rare{i}")
        } else {
            city.to_owned()
        };
        let y = (a / 2.0).sin() + (i % 7 / 3) as f64;
        format!("{a},{city},{y}\n")
    };
    (0..60).map(line).collect()
}

fn written(path: &Path, lines: impl Iterator<Item = String>) {
    let text = "a,city,y\n".to_owned() + &lines.collect::<String>();
    std::fs::write(path, text).expect("writes");
}

/// The lines of a part of a fold.
fn lines_of(folds: &Folds, k: usize, part: Part) -> impl Iterator<Item = String> {
    let numbers = MemorySource::new(Array2::from_shape_fn((60, 1), |(i, _)| i as f64), None);
    let mut rows = folds.part(numbers.expect("rows"), k, part).expect("a fold");
    let chunk = rows.next_chunk(60).expect("reads").expect("rows");
    let numbers = chunk.x.into_f64();
    numbers.into_iter().map(|row| lines()[row as usize].clone())
}

/// Each fold is what a fit to a file of its training rows alone scores on one of the others, to
/// the bit: columns, scales, bandwidth and penalty are those of the training rows.
#[test]
fn folds_are_fits_to_files_of_their_own() {
    let folder = tempfile::tempdir().expect("a folder");
    let [all, train, test] =
        ["all", "train", "test"].map(|n| folder.path().join(n).with_extension("csv"));
    written(&all, lines().into_iter());
    let options = OpenOptions {
        target: vec!["y".into()],
        ..OpenOptions::default()
    };
    let map = Fourier::new(Gaussian).features(60);
    let ridge = RidgeOptions::default();
    let job = Job::new(ridge, map);
    let job = job.any();
    let run = Run::on(&Device::cpu());
    let mut source = open(&all, &options).expect("opens");
    let folds = Folds::dealt(source.as_mut(), 3, Seed(5)).expect("folds");
    let scored = job.cross_validate(|| open(&all, &options), Meaning::Amounts, &folds, &run);
    let scored = scored.expect("scores");
    assert_eq!(scored.folds.len(), 3);
    for (k, found) in scored.folds.iter().enumerate() {
        written(&train, lines_of(&folds, k, Part::Train));
        written(&test, lines_of(&folds, k, Part::Test));
        let mut rows = open(&train, &options).expect("opens");
        let model = job
            .fit(rows.as_mut(), Meaning::Amounts, &run)
            .expect("fits")
            .model;
        let schema = model.schema.clone().expect("a table");
        let known = OpenOptions {
            columns: ColumnChoice::Known(Box::new(schema)),
            ..options.clone()
        };
        let mut held_out = open(&test, &known).expect("opens");
        let mut squares = Vec::new();
        let mut predictor = model.on(&run).expect("loads");
        let add = |found: ArrayView2<'_, f64>, y: ArrayView2<'_, f64>| {
            squares.extend((&found - &y).iter().map(|off| off * off));
            Ok(())
        };
        predictor.stream(held_out.as_mut(), add).expect("predicts");
        let rows = squares.len() as u64;
        assert_eq!((found.train_rows, found.test_rows), (60 - rows, rows));
        let own = score(&model, open(&test, &known).expect("opens").as_mut(), &run);
        assert_eq!(own.expect("scores"), *found, "fold {k}");
        let rmse = (squares.iter().sum::<f64>() / rows as f64).sqrt();
        let score = found.scores[0];
        assert_eq!(score.name, "rmse");
        assert!(
            (score.value / rmse - 1.0).abs() < 1e-12,
            "{} {rmse}",
            score.value
        );
    }
}

/// Rows of a patient resemble each other: left out alone they are known by those beside them,
/// so that a narrow kernel without a penalty wins, which says nothing of another patient. With
/// groups that are known the choice leaves out whole ones; sums of folds do not choose then.
#[test]
fn groups_are_left_out_in_what_folds_choose() {
    let (patients, visits) = (60, 5);
    let mut draws = Seed(5).stream(Stream::Data, 0);
    let of_patient = Array2::from_shape_simple_fn((patients, 5), || draws.normal());
    let x = Array2::from_shape_fn((patients * visits, 5), |(i, j)| match j {
        4 => (i % visits) as f64,
        _ => of_patient[[i / visits, j]],
    });
    let y = Array2::from_shape_fn((patients * visits, 1), |(i, _)| {
        x[[i, 0]] + x[[i, 1]] + of_patient[[i / visits, 4]] + 0.02 * draws.normal()
    });
    let of: Vec<usize> = (0..patients * visits).map(|i| i / visits).collect();
    let open = || MemorySource::new(x.clone(), Some(y.clone()));
    let folds = Folds::of_groups(&of, 5, Seed(0)).expect("folds");
    let run = Run::on(&Device::cpu());
    let score_of = |learner: &dyn Fit, map: Arc<dyn MapBuilder>, bandwidth: Bandwidth| {
        let mut job = Job::new(learner, map);
        job.preparation.bandwidth = Some(bandwidth);
        let scored = job.cross_validate(open, Meaning::Amounts, &folds, &run);
        scored.expect("scores").mean("r2").expect("amounts").mean
    };
    let score = |bandwidth| {
        let map = Arc::new(Fourier::new(Gaussian).features(200));
        score_of(&RidgeOptions::default(), map, bandwidth)
    };
    let chosen = score(Bandwidth::Chosen);
    assert!(chosen > 0.1, "{chosen}");
    // A bandwidth that is given leaves the penalty to choose.
    let given = score(Bandwidth::Sigma(2.0));
    assert!(given > 0.0, "{given}");
    // Kernel machines likewise.
    let kernels = Arc::new(KernelColumns::new(Gaussian).landmarks(100));
    let exact = score_of(
        &KernelRidgeOptions::default(),
        kernels.clone(),
        Bandwidth::Sigma(2.0),
    );
    let falkon = score_of(&FalkonOptions::default(), kernels, Bandwidth::Sigma(2.0));
    assert!(exact > 0.0 && falkon > 0.0, "{exact} {falkon}");
}

/// Means and deviations, of folds that have a score.
#[test]
fn means_and_deviations_are_over_folds() {
    let fold = |scores: &[(usize, &'static str, f64)]| FoldScores {
        train_rows: 8,
        test_rows: 4,
        scores: (scores.iter())
            .map(|&(target, name, value)| FoldScore {
                target,
                name,
                value,
            })
            .collect(),
    };
    let all = CrossValidation {
        folds: vec![
            fold(&[(0, "rmse", 1.0), (1, "rmse", 7.0), (1, "r2", 0.5)]),
            fold(&[(0, "rmse", 2.0), (0, "r2", 0.25), (1, "rmse", 7.0)]),
            fold(&[(0, "rmse", 6.0), (0, "r2", 0.75), (1, "rmse", 7.0)]),
        ],
    };
    let of = |target, name, mean, deviation, folds| FoldMean {
        target,
        name,
        mean,
        deviation,
        folds,
    };
    let known = [
        of(0, "rmse", 3.0, Some(7_f64.sqrt()), 3),
        of(0, "r2", 0.5, Some(0.125_f64.sqrt()), 2),
        of(1, "rmse", 7.0, Some(0.0), 3),
        of(1, "r2", 0.5, None, 1),
    ];
    assert_eq!(all.means(), known);
    assert_eq!(all.mean("r2"), Some(known[1]));
}
