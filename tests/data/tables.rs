//! Tables with text, booleans and missing values, from fit to predictions, in Rust.

use bochner::data::{ColumnChoice, Missing};
use bochner::models::LinearModel;
use bochner::prelude::*;
use std::{fmt::Write, fs, path::Path};

/// Flats of three cities whose kind follows from city and size; some sizes are missing.
fn flats(path: &Path, columns: &str, rows: usize, kind: impl Fn(bool) -> &'static str) {
    let mut text = format!("{columns}\n");
    for i in 0..rows {
        let city = ["Bern", "Basel", "Genf"][i % 3];
        let size = (i * 7) % 40;
        let large = size + 20 * (i % 3) > 40;
        let row = columns.split(',').map(|name| match name {
            "city" => city.to_owned(),
            "size" if i % 11 == 5 => "?".to_owned(),
            "size" => size.to_string(),
            "kind" => kind(large).to_owned(),
            _ => i.to_string(),
        });
        writeln!(text, "{}", row.collect::<Vec<_>>().join(",")).unwrap();
    }
    fs::write(path, text).unwrap();
}

fn words(large: bool) -> &'static str {
    if large { "large" } else { "small" }
}

fn map() -> Fourier {
    Fourier::new(Gaussian).features(64)
}

#[test]
fn a_model_keeps_what_its_columns_are_made_of() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    flats(&at("train.csv"), "city,size,kind", 240, words);
    flats(&at("new.csv"), "id,size,city", 60, words);
    let file = DataFile::at(at("train.csv"))
        .target("kind")
        .missing(Missing::Mean);
    let learner = RidgeClassifier::on(map())
        .device(&Device::cpu())
        .lambda(1e-6);
    let model = learner.fit(file.clone().with_text_labels()).unwrap();
    let predicted: Vec<String> = {
        let mut new = model.open(at("new.csv")).unwrap();
        model.predict_source(new.as_mut()).unwrap()
    };
    let right = (0..60).filter(|&i| {
        let large = (i * 7) % 40 + 20 * (i % 3) > 40;
        predicted[i] == words(large)
    });
    assert!(right.count() > 52, "{predicted:?}");
    // From its file it predicts the same.
    model.save(at("flats.model")).unwrap();
    let loaded: Model<Vec<String>> = Model::load(at("flats.model"))
        .unwrap()
        .device(&Device::cpu());
    let mut new = loaded.open(at("new.csv")).unwrap();
    assert_eq!(loaded.predict_source(new.as_mut()).unwrap(), predicted);
    let linear = LinearModel::load(at("flats.model")).unwrap();
    assert_eq!(linear.class_names.as_deref().unwrap(), ["large", "small"]);
    let names = ["city=Basel", "city=Bern", "city=Genf", "size"];
    assert_eq!(linear.column_names.as_deref().unwrap(), names);
    assert_eq!(linear.schema.as_ref().unwrap().width(), 4);
    assert!(matches!(linear.columns(), ColumnChoice::Known(_)));
    // Text is not a number, neither as a label nor as a target, and missing values are not values.
    let says = |error: Error| error.to_string();
    let error = says(learner.fit(file.clone()).unwrap_err());
    assert!(
        error.contains("text labels") && error.contains("Vec<String>"),
        "{error}"
    );
    let ridge = Ridge::on(map()).device(&Device::cpu());
    let error = says(ridge.fit(file.clone()).unwrap_err());
    assert!(error.contains("\"kind\" holds text"), "{error}");
    let gaps = DataFile::at(at("train.csv"))
        .target("kind")
        .missing(Missing::Error)
        .with_text_labels();
    let error = says(learner.fit(gaps).unwrap_err());
    assert!(error.contains("line 7, column \"size\""), "{error}");
    flats(&at("other.csv"), "size,town", 5, words);
    let error = says(model.open(at("other.csv")).err().unwrap());
    assert!(
        error.contains("no column \"city\"") && error.contains("size, town"),
        "{error}"
    );
}

/// Booleans as labels keep their words, and numbers are unchanged.
#[test]
fn labels_come_back_as_they_went_in() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("train.csv");
    let learner = RidgeClassifier::on(map()).device(&Device::cpu());
    let file = || DataFile::at(&path).target("kind").missing(Missing::Mean);
    flats(&path, "size,city,kind", 90, |large| {
        if large { "True" } else { "False" }
    });
    let model = learner.fit(file().with_text_labels()).unwrap();
    let mut source = model.open(&path).unwrap();
    let labels = model.predict_source(source.as_mut()).unwrap();
    assert!(labels.iter().all(|l| l == "True" || l == "False"));
    flats(
        &path,
        "size,city,kind",
        90,
        |large| if large { "7" } else { "-2" },
    );
    let model = learner.fit(file()).unwrap();
    let mut source = model.open(&path).unwrap();
    let labels: Vec<f64> = model.predict_source(source.as_mut()).unwrap();
    assert!(labels.iter().all(|&l| l == 7.0 || l == -2.0));
    let error = learner
        .fit(file().with_text_labels())
        .unwrap_err()
        .to_string();
    assert!(error.contains("are numbers"), "{error}");
}

/// Weighted rows of a file equal repeated rows.
#[test]
fn weights_of_a_column_are_those_of_the_fit() {
    let folder = tempfile::tempdir().unwrap();
    let (once, often) = (
        folder.path().join("once.csv"),
        folder.path().join("often.csv"),
    );
    let (mut a, mut b) = ("x,w,y\n".to_owned(), "x,y\n".to_owned());
    for i in 0..60 {
        let (x, w) = (f64::from(i) / 10.0, i % 4);
        let y = if w == 0 { 50.0 } else { x.sin() };
        writeln!(a, "{x},{w},{y}").unwrap();
        (0..w).for_each(|_| writeln!(b, "{x},{y}").unwrap());
    }
    fs::write(&once, a).unwrap();
    fs::write(&often, b).unwrap();
    let ridge = Ridge::on(map())
        .device(&Device::cpu())
        .lambda(1e-4)
        .bandwidth(Bandwidth::Sigma(1.0));
    let weighed = ridge
        .fit(DataFile::at(&once).target("y").weight("w"))
        .unwrap();
    let repeated = ridge.fit(DataFile::at(&often).target("y")).unwrap();
    let predict = |model: &Model<ndarray::Array2<f64>>| {
        let mut rows = model.open(&often).unwrap();
        model.predict_source(rows.as_mut()).unwrap()
    };
    let (p, q) = (predict(&weighed), predict(&repeated));
    let off = p
        .iter()
        .zip(&q)
        .map(|(p, q)| (p - q).abs())
        .fold(0.0, f64::max);
    assert!(off < 1e-4, "{off}");
    assert!(p.iter().all(|p| p.abs() < 1.2));
}

/// A numeric model has no schema and the same file as before.
#[test]
fn models_of_numbers_have_no_schema() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("train.csv");
    let rows = (0..80).map(|i| format!("{},{},{}\n", i % 9, i % 7, i % 5));
    fs::write(&path, format!("a,b,y\n{}", rows.collect::<String>())).unwrap();
    let ridge = Ridge::on(map()).device(&Device::cpu());
    let model = ridge.fit(DataFile::at(&path).target("y")).unwrap();
    model.save(folder.path().join("m.model")).unwrap();
    let linear = LinearModel::load(folder.path().join("m.model")).unwrap();
    assert!(linear.schema.is_none());
    let bytes = linear.to_bytes().unwrap();
    assert!(!String::from_utf8_lossy(&bytes).contains("schema"));
}
