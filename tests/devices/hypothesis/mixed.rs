//! The same for tables with texts, dates, amounts and booleans, read from files.

use super::{LEVEL, assert_level_of};
use bochner::{
    Device,
    data::{Alike, ChunkSource, OpenOptions, open},
    features::{Form, Fourier},
    hypothesis::{ConditionalIndependence, Independence, Null, TwoSample},
    kernels::Gaussian,
    seed::{Draws, Seed, Stream},
};
use std::{
    fmt::Write,
    fs,
    path::{Path, PathBuf},
};
use tempfile::TempDir;

/// Repetitions for a number of rows.
const DRAWS: u64 = 200;

/// Draws one of `kinds` by their shares.
fn kind<'a>(draws: &mut Draws, kinds: &[(&'a str, f64)]) -> &'a str {
    let mut left = draws.uniform();
    let found = kinds.iter().find(|(_, share)| {
        left -= share;
        left < 0.0
    });
    found.unwrap_or(&kinds[0]).0
}

/// A table with independent columns, apart from `city`: sizes, cities, hundreds of shops that
/// mostly occur once, prices, days, lifts.
fn table(path: &Path, rows: usize, seed: u64, city: impl Fn(&mut Draws) -> String) {
    let mut draws = Seed(seed).stream(Stream::Data, 0);
    let mut text = String::from("size,city,shop,price,day,lift\n");
    for _ in 0..rows {
        let (size, city) = (30.0 + 9.0 * draws.normal(), city(&mut draws));
        let shop = (1.5 * draws.normal()).exp() * 20.0;
        let price = (0.8 * draws.normal()).exp() * 50.0;
        let (day, lift) = (1 + draws.below(28), draws.uniform() < 0.3);
        let shop = format!("shop {}x", shop as u64);
        writeln!(
            text,
            "{size:.2},{city},{shop},{price:.2} EUR,2024-02-{day:02},{lift}"
        )
        .expect("a string");
    }
    fs::write(path, text).expect("writes");
}

const CITIES: [(&str, f64); 4] = [("Bern", 0.6), ("Basel", 0.3), ("Chur", 0.07), ("Zug", 0.03)];

fn any_city(draws: &mut Draws) -> String {
    kind(draws, &CITIES).to_owned()
}

/// A folder, and the paths of its files.
fn folder() -> (TempDir, [PathBuf; 2]) {
    let folder = TempDir::new().expect("a folder");
    let paths = ["a.csv", "b.csv"].map(|name| folder.path().join(name));
    (folder, paths)
}

fn map(features: usize) -> Fourier {
    Fourier::new(Gaussian).features(features)
}

/// The p-value of two files.
fn drift(paths: &[PathBuf; 2], (features, null): (usize, Null), seed: u64) -> f64 {
    let mut both = Alike::open([&paths[0], &paths[1]], &OpenOptions::default()).expect("opens");
    let [a, b] = &mut both.sources;
    let test = TwoSample::on(map(features)).null(null).seed(Seed(seed));
    let found = test.device(&Device::cpu()).test_sources(a, b);
    found.expect("tests").outcome.p_value
}

/// There are hundreds of shops, so that each file has some that the other lacks.
#[test]
fn drift_of_tables_keeps_its_level() {
    let (_kept, paths) = folder();
    for (rows, null) in [(100, Null::Permutation(99)), (1000, Null::Asymptotic)] {
        assert_level_of(&format!("drift of {rows} and {rows} rows"), DRAWS, |seed| {
            table(&paths[0], rows, 2 * seed, any_city);
            table(&paths[1], rows, 2 * seed + 1, any_city);
            drift(&paths, (24, null), seed) <= LEVEL
        });
    }
}

/// A category whose share changes from 0.3 to 0.5, and a text that only the second file has, among
/// hundreds of uninformative texts.
#[test]
fn drift_of_texts_is_found() {
    let (_kept, paths) = folder();
    let half = |draws: &mut Draws| kind(draws, &[("Bern", 0.5), ("Basel", 0.5)]).to_owned();
    let third = |draws: &mut Draws| kind(draws, &[("Bern", 0.3), ("Basel", 0.7)]).to_owned();
    let new = |draws: &mut Draws| {
        if draws.uniform() < 0.2 {
            "Olten".to_owned()
        } else {
            any_city(draws)
        }
    };
    let found = |first: &dyn Fn(&mut Draws) -> String, second: &dyn Fn(&mut Draws) -> String| {
        let found = (0..20).filter(|&seed| {
            table(&paths[0], 500, 2 * seed, first);
            table(&paths[1], 500, 2 * seed + 1, second);
            drift(&paths, (128, Null::Permutation(99)), seed) <= LEVEL
        });
        found.count()
    };
    let found = [found(&third, &half), found(&any_city, &new)];
    assert!(found.iter().all(|&found| found >= 18), "{found:?} of 20");
}

fn opened(path: &Path) -> Box<dyn ChunkSource> {
    open(path, &OpenOptions::default()).expect("opens")
}

/// A file with columns "x", "y" and "z": x and y are texts or numbers that depend on z, a text, and
/// on nothing else.
fn chain(path: &Path, rows: usize, seed: u64) {
    let mut draws = Seed(seed).stream(Stream::Data, 0);
    let mut text = String::from("x,y,z\n");
    for _ in 0..rows {
        let z = kind(&mut draws, &CITIES);
        let shift = if z == "Bern" { 0.0 } else { 1.0 };
        let x = kind(
            &mut draws,
            &[("red", 0.3 + 0.4 * shift), ("blue", 0.7 - 0.4 * shift)],
        );
        let y = 20.0 + shift + draws.normal();
        writeln!(text, "{x},{y:.2} kg,{z}").expect("a string");
    }
    fs::write(path, text).expect("writes");
}

#[test]
fn independence_of_texts_and_amounts_keeps_its_level() {
    let (_kept, [path, _]) = folder();
    for rows in [200, 2000] {
        let independence = |seed, x: &[usize], y: &[usize]| {
            let test = Independence::on(map(24))
                .device(&Device::cpu())
                .seed(Seed(seed));
            let found = test.test_columns(opened(&path).as_mut(), x, y);
            found.expect("tests").outcome.rejects(LEVEL)
        };
        assert_level_of(&format!("independence of {rows} rows"), DRAWS, |seed| {
            table(&path, rows, seed, any_city);
            independence(seed, &[1, 2], &[0, 3, 4, 5])
        });
        let given = |seed| {
            let map = Fourier::new(Gaussian).form(Form::Phase).features(25);
            let test = ConditionalIndependence::on(map).device(&Device::cpu());
            let test = test.seed(Seed(seed));
            let found = test.test_columns(opened(&path).as_mut(), [&[0], &[1], &[2]]);
            found.expect("tests").outcome.rejects(LEVEL)
        };
        assert_level_of(
            &format!("independence given texts, {rows} rows"),
            DRAWS,
            |seed| {
                chain(&path, rows, seed);
                given(seed)
            },
        );
        // Without z they depend on each other.
        let found = (0..20).filter(|&seed| {
            chain(&path, rows, seed);
            independence(seed, &[0], &[1])
        });
        assert!(found.count() >= if rows == 200 { 10 } else { 20 });
    }
}

/// A duplicate column is treated as its original; a row identifier is uninformative, and is an
/// error.
#[test]
fn columns_that_a_schema_leaves_out_are_none_of_x() {
    let (_kept, [path, _]) = folder();
    let row = |i: usize| format!("{i},n{i}x,k{},k{},{}\n", i % 3, i % 3, (i * i) % 7);
    let rows: String = (0..60).map(row).collect();
    fs::write(&path, format!("id,name,kind,copy,a\n{rows}")).expect("writes");
    let test = Independence::on(map(24)).device(&Device::cpu());
    let tests = |x: &[usize], y: &[usize]| test.test_columns(opened(&path).as_mut(), x, y);
    assert!(tests(&[2], &[3]).expect("tests").outcome.rejects(0.001));
    let both = [tests(&[0, 2], &[4]), tests(&[2], &[4])].map(|found| found.expect("tests"));
    assert_eq!(both[0], both[1]);
    let said = tests(&[1, 0], &[4]).expect_err("left out").to_string();
    assert!(
        said.contains("nothing is left of x (name: tells rows apart"),
        "{said}"
    );
}
