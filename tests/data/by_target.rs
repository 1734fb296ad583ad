//! Text columns with many categories, encoded by target means: which targets, which tables, and how
//! well it works.

use crate::{assert_says, opened, place, read_all, read_in_every_way};
use bochner::{
    data::{
        ChunkSource, ColumnChoice, DataFile, Kind, MemorySource, Missing, OpenOptions, Part,
        Schema, Split, Survey, TableOptions, TargetMeans, TargetUse, open,
    },
    prelude::*,
};
use ndarray::Array2;
use std::{fmt::Write, fs, path::Path};

/// A pseudorandom number with deviation 1 about 0, as a function of `i`: the sum of four uniform
/// ones.
fn noise(i: usize) -> f64 {
    let even = |k: u64| {
        let mut z = (i as u64 * 4 + k + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) >> 11) as f64 * 2_f64.powi(-53) - 0.5
    };
    (0..4).map(even).sum::<f64>() * 3_f64.sqrt()
}

/// `rows` rows of shops whose effects have this deviation, from row `first` on.
fn sales(path: &Path, (first, rows): (usize, usize), shops: usize, deviation: f64) {
    let mut text = String::from("x,shop,y\n");
    for i in first..first + rows {
        let shop = i * 7919 % shops;
        let y = deviation * noise(1_000_000 + shop) + 0.35 * noise(i);
        let x = noise(2_000_000 + i);
        writeln!(text, "{x},shop {shop},{y}").unwrap();
    }
    fs::write(path, text).unwrap();
}

/// 1 - R2 on the rows of another file, and by leave-one-out.
fn errors(train: DataFile, new: &Path) -> (f64, f64) {
    let model = Ridge::on(Fourier::new(Gaussian).features(100))
        .device(&Device::cpu())
        .fit(train.target("y"))
        .unwrap();
    let found = model
        .predict_source(model.open(new).unwrap().as_mut())
        .unwrap();
    let mut rows = DataFile::at(new)
        .target("y")
        .columns(model.linear().columns())
        .open()
        .unwrap();
    let y = read_all(rows.as_mut(), usize::MAX).unwrap().y;
    let mean = y.mean().unwrap();
    let squares = |of: &dyn Fn(usize) -> f64| (0..y.len()).map(|i| of(i).powi(2)).sum::<f64>();
    let left = squares(&|i| y[[i, 0]] - found[[i, 0]]) / squares(&|i| y[[i, 0]] - mean);
    (
        left,
        model.linear().lambda_curve.as_ref().unwrap().best().error,
    )
}

/// 400 shops with effects are distinguished as well as ten noisy rows each allow: of a variance of
/// 1.1225, the noise of .1225 and a tenth of it from the means remain, .12 of all.
#[test]
fn many_shops_are_told_apart() {
    let (_directory, path) = place("train.csv");
    let new = path.with_file_name("new.csv");
    sales(&path, (0, 4000), 400, 1.0);
    sales(&new, (5000, 1000), 400, 1.0);
    let (held_out, left_out) = errors(DataFile::at(&path), &new);
    assert!(held_out < 0.16 && left_out < 0.16, "{held_out} {left_out}");
    // With hashing, requested explicitly, they are not.
    let (held_out, _) = errors(DataFile::at(&path).categorical("shop"), &new);
    assert!(held_out > 0.7, "{held_out}");
}

/// For pure noise as target nothing is learnt, by default and if target means are requested.
#[test]
fn texts_that_tell_nothing_tell_nothing() {
    let (_directory, path) = place("train.csv");
    let new = path.with_file_name("new.csv");
    sales(&path, (0, 2000), 500, 0.0);
    sales(&new, (5000, 1000), 500, 0.0);
    let asked = DataFile::at(&path).by_target(&["shop"]);
    for train in [DataFile::at(&path), asked] {
        let (held_out, left_out) = errors(train.clone(), &new);
        let near = 0.95..1.05;
        let is_noise = near.contains(&held_out) && near.contains(&left_out);
        assert!(is_noise, "{train:?}: {held_out} {left_out}");
    }
}

fn by_target(columns: &[&str]) -> TableOptions {
    TableOptions {
        by_target: Some(columns.iter().map(|&name| name.to_owned()).collect()),
        ..TableOptions::default()
    }
}

fn options(target: &str, table: TableOptions) -> OpenOptions {
    OpenOptions {
        target: target.split_whitespace().map(str::to_owned).collect(),
        table,
        ..OpenOptions::default()
    }
}

/// 60 rows of 6 texts, with target `y(i)` for row `i`.
fn table(path: &Path, y: impl Fn(usize) -> f64) {
    let rows = (0..60).map(|i| format!("t{},{}\n", i * 7 % 6, y(i)));
    fs::write(path, format!("c,y\n{}", rows.collect::<String>())).unwrap();
}

fn usual(i: usize) -> f64 {
    (i * 7 % 6) as f64 + noise(i)
}

fn surveyed(path: &Path, table: TableOptions) -> Box<dyn ChunkSource> {
    let mut source = open(path, &options("y", table)).unwrap();
    opened(Survey::new(source.as_mut(), 0, 0));
    source
}

fn codes(source: &mut dyn ChunkSource) -> Vec<f64> {
    let x = read_in_every_way(source).x.into_f64();
    assert_eq!(x.ncols(), 1);
    x.into_iter().collect()
}

fn means(schema: &Schema) -> &TargetMeans {
    let mut kinds = schema.features().iter().map(|field| field.kind());
    let found = kinds.find_map(|kind| match kind {
        Kind::Means(means) => Some(&**means),
        _ => None,
    });
    found.unwrap_or_else(|| panic!("no means in {schema}"))
}

/// The target of a row changes the means of other folds, but not the means of the fold with the
/// row.
#[test]
fn the_target_of_a_row_is_no_part_of_what_it_becomes() {
    let (_directory, path) = place("rows.csv");
    table(&path, usual);
    let before = codes(surveyed(&path, by_target(&["c"])).as_mut());
    for changed in [3, 17, 40] {
        table(&path, |i| usual(i) + if i == changed { 9.0 } else { 0.0 });
        let after = codes(surveyed(&path, by_target(&["c"])).as_mut());
        let apart = |i: usize| (after[i] - before[i]).abs();
        assert!(apart(changed) < 1e-12, "{changed}: {}", apart(changed));
        let others = (0..60).filter(|&i| (i * 7) % 6 == changed * 7 % 6 && apart(i) > 0.01);
        let count = others.count();
        assert!(
            (4..10).contains(&count),
            "{changed}: {count} of 10 rows of the text"
        );
    }
}

/// Held-out rows do not contribute to means, and are encoded like new rows.
#[test]
fn rows_held_out_are_as_new_ones() {
    let (_directory, path) = place("rows.csv");
    let options = options("y", by_target(&["c"]));
    let numbers = Array2::from_shape_fn((60, 1), |(i, _)| i as f64);
    let rows = MemorySource::new(numbers, None).unwrap();
    let mut test = Split::new(rows, Part::Test, 0.3, 5).unwrap();
    let test = read_all(&mut test, usize::MAX).unwrap().x.into_f64();
    let is_out = |i: usize| test.iter().any(|&row| row == i as f64);
    let train_and_test = |far: f64| {
        table(&path, |i| usual(i) + if is_out(i) { far } else { 0.0 });
        let mut source = open(&path, &options).unwrap();
        let mut train = Split::new(&mut source, Part::Train, 0.3, 5).unwrap();
        opened(Survey::new(&mut train, 0, 0));
        let learnt = codes(&mut train);
        source.rewind().unwrap();
        let kept_back = codes(&mut Split::new(&mut source, Part::Test, 0.3, 5).unwrap());
        let known = OpenOptions {
            columns: ColumnChoice::Known(Box::new(source.schema().unwrap().clone())),
            target_use: TargetUse::Ignored,
            ..options.clone()
        };
        let new = open(&path, &known).unwrap();
        let new = codes(&mut Split::new(new, Part::Test, 0.3, 5).unwrap());
        assert_eq!(kept_back, new);
        (learnt, kept_back)
    };
    let (near, far) = (train_and_test(0.0), train_and_test(100.0));
    assert_eq!(near, far);
    assert!(near.1.len() > 9 && near.1.iter().all(|code| code.abs() < 4.0));
}

/// Encoding of new texts, of missing values, of classes, and tables without possible means.
#[test]
fn means_are_of_amounts_and_of_few_classes() {
    let (_directory, path) = place("rows.csv");
    let gaps = TableOptions {
        missing: Missing::Indicator,
        ..by_target(&["c"])
    };
    let text = |class: &dyn Fn(usize) -> String| {
        let rows = (0..120).map(|i| match i % 12 {
            11 => format!(",{}\n", class(i)),
            k => format!("t{},{}\n", k % 4, class(i)),
        });
        format!("c,y\n{}", rows.collect::<String>())
    };
    for (class, names) in [
        (
            &(|i: usize| format!("k{}", i % 3)) as &dyn Fn(usize) -> String,
            vec!["share of k1", "share of k2"],
        ),
        (
            &|i| format!("{}", i % 4 * 2),
            vec!["share of 2", "share of 4", "share of 6"],
        ),
        (&|i| format!("{}", i % 4 / 2), vec!["share of 1"]),
        (&|i| format!("{}", i % 10), vec!["mean of y"]),
        (&|i| format!("{}", (i % 3) as f64 / 2.0), vec!["mean of y"]),
    ] {
        fs::write(&path, text(class)).unwrap();
        let mut source = surveyed(&path, gaps.clone());
        let mut all: Vec<String> = names.iter().map(|name| format!("c: {name}")).collect();
        all.push("c is missing".into());
        assert_eq!(source.column_names().unwrap(), all);
        let x = read_in_every_way(source.as_mut()).x.into_f64();
        for (i, row) in x.rows().into_iter().enumerate() {
            let is_gap = i % 12 == 11;
            assert_eq!(row[names.len()], f64::from(u8::from(is_gap)));
            assert!(
                !is_gap || row.iter().take(names.len()).all(|&code| code == 0.0),
                "{row}"
            );
        }
        let schema = source.schema().unwrap().clone();
        assert_eq!(means(&schema).texts(), 4);
        let new = path.with_file_name("new.csv");
        fs::write(&new, "c\nt1\nnew\n").unwrap();
        let known = OpenOptions {
            columns: ColumnChoice::Known(Box::new(schema.clone())),
            target_use: TargetUse::Ignored,
            ..OpenOptions::default()
        };
        let x = read_all(open(&new, &known).unwrap().as_mut(), 9)
            .unwrap()
            .x
            .into_f64();
        let row = |i: usize| {
            x.row(i)
                .iter()
                .take(names.len())
                .copied()
                .collect::<Vec<_>>()
        };
        assert_eq!(row(0), means(&schema).effects("t1").unwrap());
        assert_eq!(row(1), vec![0.0; names.len()]);
    }
    let survey = |text: String, target: &str, asked: &str| {
        fs::write(&path, text).unwrap();
        Survey::new(
            open(&path, &options(target, by_target(&[asked])))?.as_mut(),
            0,
            0,
        )
    };
    let text = text(&|i| format!("k{}", i % 9)).replace("\n,", "\nt9,");
    assert_says(survey(text, "y", "c"), &["one target", "2 to 8 classes"]);
    let two = "a,b,c,d\nu,1,2,3\nv,2,3,4\n".to_owned();
    assert_says(survey(two.clone(), "b c", "a"), &["one target"]);
    assert_says(survey(two, "b", "b"), &["\"b\" is no feature"]);
}
