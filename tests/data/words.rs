//! Free-text columns as hashed words: when they are used, and their accuracy.

use crate::{assert_says, opened, place, read_all, read_in_every_way};
use bochner::{
    data::{ChunkSource, DataFile, Kind, Missing, OpenOptions, Schema, Survey, TableOptions, open},
    models::Model,
    prelude::*,
};
use ndarray::Array2;
use std::{fmt::Write, fs, path::Path};

type RidgeModel = Model<Array2<f64>>;

const WORDS: [&str; 20] = [
    "quiet", "Garten", "hell", "balcony", "Küche", "old", "new", "Straße", "lift", "view", "Süden",
    "north", "park", "warm", "bath", "floor", "tram", "lake", "garage", "terrace",
];

/// A pseudorandom number from 0 to 1, as a function of `i` and `k`.
fn even(i: usize, k: u64) -> f64 {
    let mut z = (i as u64 * 64 + k + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    ((z ^ (z >> 31)) >> 11) as f64 * 2_f64.powi(-53)
}

/// With deviation 1.
fn noise(i: usize) -> f64 {
    ((20..24).map(|k| even(i, k)).sum::<f64>() - 2.0) * 3_f64.sqrt()
}

/// The words of row `i`: each occurs in 3 of 10 rows.
fn words_of(i: usize) -> Vec<usize> {
    (0..20).filter(|&k| even(i, k as u64) < 0.3).collect()
}

/// Effect of the words of a row, with deviation 1.
fn worth(i: usize) -> f64 {
    let of = |k: usize| even(1_000_000, k as u64) - 0.5;
    let sum: f64 = words_of(i).into_iter().map(of).sum();
    sum / 0.56
}

/// Rows from `first` on: sentences of these words, each with a unique word, and a target.
fn sentences(path: &Path, (first, rows): (usize, usize), y: impl Fn(usize) -> f64) {
    let mut text = String::from("x,about,y\n");
    for i in first..first + rows {
        let own: Vec<&str> = words_of(i).into_iter().map(|k| WORDS[k]).collect();
        let (x, y) = (even(i, 30), y(i));
        writeln!(text, "{x},\"Flat n{i}, {}.\",{y}", own.join(" ")).unwrap();
    }
    fs::write(path, text).unwrap();
}

fn fitted(train: DataFile) -> RidgeModel {
    Ridge::on(Fourier::new(Gaussian).features(300))
        .device(&Device::cpu())
        .fit(train.target("y"))
        .unwrap()
}

/// Root mean squared error on the rows of another file, relative to their deviation.
fn error(model: &RidgeModel, new: &Path) -> f64 {
    let found = model
        .predict_source(model.open(new).unwrap().as_mut())
        .unwrap();
    let rows = DataFile::at(new).target("y");
    let mut rows = rows.columns(model.linear().columns()).open().unwrap();
    let y = read_all(rows.as_mut(), usize::MAX).unwrap().y;
    let mean = y.mean().unwrap();
    let squares = |of: &dyn Fn(usize) -> f64| (0..y.len()).map(|i| of(i).powi(2)).sum::<f64>();
    let left = squares(&|i| y[[i, 0]] - found[[i, 0]]) / squares(&|i| y[[i, 0]] - mean);
    left.sqrt()
}

fn schema(model: &RidgeModel) -> &Schema {
    model.linear().schema.as_ref().unwrap()
}

/// A target determined by words plus noise of deviation .2, by default and through a model file.
#[test]
fn words_that_decide_are_seen() {
    let (_directory, path) = place("train.csv");
    let new = path.with_file_name("new.csv");
    let y = |i: usize| worth(i) + 0.2 * noise(i);
    sentences(&path, (0, 600), y);
    sentences(&new, (5000, 500), y);
    let model = fitted(DataFile::at(&path));
    let by_words = error(&model, &new);
    assert!(by_words < 0.5, "{by_words}");
    let as_a_whole = error(&fitted(DataFile::at(&path).categorical("about")), &new);
    assert!(as_a_whole > 0.9, "{as_a_whole}");
    let kept = path.with_file_name("flats.model");
    model.save(&kept).unwrap();
    let again = RidgeModel::load(&kept).unwrap();
    assert_eq!(schema(&again), schema(&model));
    assert_eq!(error(&again, &new).to_bits(), by_words.to_bits());
}

/// Uninformative sentences change nothing: each row has a distinct one, so that they are dropped.
#[test]
fn words_that_tell_nothing_change_nothing() {
    let (_directory, path) = place("train.csv");
    let new = path.with_file_name("new.csv");
    sentences(&path, (0, 600), noise);
    sentences(&new, (5000, 500), noise);
    let model = fitted(DataFile::at(&path));
    let unasked = fitted(DataFile::at(&path).words(&[]));
    assert_eq!(schema(&model), schema(&unasked));
    assert_eq!(model.linear().column_names, unasked.linear().column_names);
    let names = unasked.linear().column_names.as_ref().unwrap();
    assert!(
        !names.iter().any(|name| name.contains("words")),
        "{names:?}"
    );
    let error = error(&model, &new);
    assert!((0.97..1.05).contains(&error), "{error}");
}

fn options(target: &str, table: TableOptions) -> OpenOptions {
    OpenOptions {
        target: target.split_whitespace().map(str::to_owned).collect(),
        table,
        ..OpenOptions::default()
    }
}

fn words(columns: &[&str]) -> TableOptions {
    TableOptions {
        words: Some(columns.iter().map(|&name| name.to_owned()).collect()),
        ..TableOptions::default()
    }
}

/// Rows have unit length, for any script; missing values and texts without words are 0; no target
/// is needed.
#[test]
fn rows_of_words_have_unit_length() {
    let (_directory, path) = place("rows.csv");
    let texts = [
        "Grüne Äpfel",
        "東京都 渋谷区",
        "Ελλάδα και",
        "",
        "…!",
        "x",
        "грязь и снег",
    ];
    let rows = texts.map(|text| format!("{text},1.5\n")).concat();
    fs::write(&path, format!("a,b\n{rows}")).unwrap();
    let table = TableOptions {
        missing: Missing::Indicator,
        ..words(&["a"])
    };
    let mut source = open(&path, &options("", table)).unwrap();
    opened(Survey::new(source.as_mut(), 0, 0));
    let schema = source.schema().unwrap().clone();
    let Kind::Words(kind) = *schema.features()[0].kind() else {
        panic!("{schema}");
    };
    assert!(
        !kind.has_pairs() && schema.width() == kind.columns() + 2,
        "{schema}"
    );
    let x = read_in_every_way(source.as_mut()).x.into_f64();
    for (text, row) in texts.iter().zip(x.rows()) {
        let length = row.iter().take(kind.columns()).map(|v| v * v).sum::<f64>();
        let expected = f64::from(u8::from(text.contains(char::is_alphabetic)));
        assert!((length - expected).abs() < 1e-12, "{text}: {length}");
        let is_missing = row[kind.columns()];
        assert_eq!(is_missing, f64::from(u8::from(text.is_empty())), "{text}");
    }
}

/// Titles that are informative as a whole are encoded by target means, although they consist of
/// words; this does not use the information of words in other columns.
#[test]
fn the_better_of_words_and_means_is_taken() {
    let (_directory, path) = place("rows.csv");
    // 144 titles with three rows each.
    let title = |i: usize| (i * 7 % 12, i * 7 / 12 % 12);
    let write = |y: &dyn Fn(usize, usize) -> f64, deviation: f64| {
        let mut text = String::from("title,y\n");
        for i in 0..432 {
            let (a, b) = title(i);
            let y = y(a, b) + deviation * noise(i);
            writeln!(text, "{} {},{y}", WORDS[a], WORDS[b]).unwrap();
        }
        fs::write(&path, text).unwrap();
    };
    let kind = || {
        let mut source = open(&path, &options("y", TableOptions::default())).unwrap();
        opened(Survey::new(source.as_mut(), 0, 0));
        source.schema().unwrap().features()[0].kind().clone()
    };
    write(&|a, b| noise(1000 + a * 12 + b), 0.3);
    assert!(matches!(kind(), Kind::Means(_)), "{:?}", kind());
    write(&|a, b| noise(1000 + a) + noise(1000 + b), 1.0);
    assert!(matches!(kind(), Kind::Words(_)), "{:?}", kind());
}

#[test]
fn what_cannot_be_words_is_refused() {
    let (_directory, path) = place("rows.csv");
    fs::write(&path, "a,b,y\nu v,1,2\nw x,2,3\n").unwrap();
    let survey =
        |table: TableOptions| Survey::new(open(&path, &options("y", table))?.as_mut(), 0, 0);
    assert_says(survey(words(&["y"])), &["\"y\" is no feature"]);
    assert_says(survey(words(&["c"])), &["\"c\""]);
    let both = TableOptions {
        by_target: Some(vec!["a".into()]),
        ..words(&["a"])
    };
    assert_says(survey(both), &["for words and for means"]);
}
