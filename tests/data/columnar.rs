//! .parquet and Arrow files, written by pyarrow and polars (`tests/fixtures/columnar/make.py`).

use crate::{assert_says, opened, place, read_in_every_way};
use bochner::Result;
use bochner::data::{
    Batch, ChunkSource, Column, ColumnChoice, ColumnarTable, Format, Kind, Missing, OpenOptions,
    Survey, Table, open,
};
use std::fs;
use std::path::{Path, PathBuf};

fn fixture(name: &str) -> PathBuf {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures/columnar");
    Path::new(folder).join(name)
}

fn table(name: &str) -> ColumnarTable {
    let path = fixture(name);
    let format = Format::from_path(&path).expect("a format");
    opened(ColumnarTable::open(path, format))
}

/// One column, read `max_rows` rows at a time.
fn column(table: &mut ColumnarTable, name: &str, max_rows: usize) -> Result<Vec<Column>> {
    let j = table.names().iter().position(|n| n == name);
    table.select(&[j.unwrap_or_else(|| panic!("no {name}"))])?;
    let mut all = Vec::new();
    while let Some(Batch { rows, mut columns }) = table.next_batch(max_rows)? {
        assert!((1..=max_rows).contains(&rows) && columns.len() == 1);
        assert_eq!(columns[0].len(), rows);
        all.append(&mut columns);
    }
    Ok(all)
}

/// Numbers or dates, NaN for missing values; and which of the two.
fn numbers(table: &mut ColumnarTable, name: &str, max_rows: usize) -> (Vec<f64>, bool) {
    let mut dates = None;
    let mut all = Vec::new();
    for found in column(table, name, max_rows).unwrap() {
        let (values, are_dates) = match found {
            Column::Numbers(values) => (values, false),
            Column::Dates(values) => (values, true),
            other => panic!("{name}: {other:?}"),
        };
        assert!(dates.is_none_or(|before| before == are_dates));
        dates = Some(are_dates);
        all.extend(values);
    }
    (all, dates.expect("a batch"))
}

fn texts(table: &mut ColumnarTable, name: &str, max_rows: usize) -> Vec<Option<String>> {
    let mut all = Vec::new();
    for found in column(table, name, max_rows).unwrap() {
        match found {
            Column::Text(texts) => all.extend(texts.iter().map(|t| t.map(str::to_owned))),
            other => panic!("{name}: {other:?}"),
        }
    }
    all
}

#[test]
fn every_type_is_read_as_what_it_is() {
    let moment = 19_782.0 + 49_501.0 / 86_400.0;
    let broken = 19_782.0 + 49_501.5 / 86_400.0;
    for name in ["types.parquet", "types.arrow", "types.arrows"] {
        let mut types = table(name);
        assert_eq!(types.rows(), Some(3));
        for (column, [one, other], dates) in [
            ("int8", [1.0, -1.0], false),
            ("int16", [1.0, -1.0], false),
            ("int32", [1.0, -1.0], false),
            ("int64", [1.0, -1.0], false),
            ("halffloat", [1.0, -1.0], false),
            ("float", [1.0, -1.0], false),
            ("double", [1.0, -1.0], false),
            ("uint8", [1.0, 1.0], false),
            ("uint16", [1.0, 1.0], false),
            ("uint32", [1.0, 1.0], false),
            ("uint64", [1.0, 1.0], false),
            ("decimal128(9, 2)", [1.25, -1.25], false),
            ("decimal256(40, 3)", [1.25, -1.25], false),
            ("date64", [19_782.0, -1.0], true),
            ("timestamp[s]", [moment, -0.5], true),
            ("timestamp[ms]", [broken, -0.5], true),
            ("timestamp[us]", [broken, -0.5], true),
            ("timestamp[ns]", [broken, -0.5], true),
            // Times of Zurich, which pyarrow stores in UTC.
            ("zoned", [broken, 0.0], true),
            ("duration[s]", [0.5, -0.5], false),
            ("duration[ms]", [0.5, -0.5], false),
            ("duration[us]", [0.5, -0.5], false),
            ("duration[ns]", [0.5, -0.5], false),
            ("time32[ms]", [0.25, 0.5], false),
            ("time64[us]", [0.25, 0.5], false),
            ("codes", [10.0, -20.0], false),
            ("null", [f64::NAN, f64::NAN], false),
        ] {
            for max_rows in [1, 2, 100] {
                let (values, are_dates) = numbers(&mut types, column, max_rows);
                let is = |found: f64, wanted: f64| {
                    found == wanted || (found.is_nan() && wanted.is_nan())
                };
                assert!(
                    is(values[0], one) && is(values[1], other) && values[2].is_nan(),
                    "{name}, {column}: {values:?}"
                );
                assert_eq!((values.len(), are_dates), (3, dates), "{name}, {column}");
            }
        }
        let wanted = [Some("a"), Some("é"), None].map(|t| t.map(str::to_owned));
        let view = (name != "types.parquet").then_some("view");
        for column in ["string", "large_string"].into_iter().chain(view) {
            for max_rows in [1, 2, 100] {
                assert_eq!(
                    texts(&mut types, column, max_rows),
                    wanted,
                    "{name}, {column}"
                );
            }
        }
        match &column(&mut types, "bool", 100).unwrap()[..] {
            [Column::Booleans(values)] => assert_eq!(values, &[Some(true), Some(false), None]),
            other => panic!("{other:?}"),
        }
        // 2^53 + 1 is kept to its last digit.
        let large = texts(&mut types, "large", 100);
        assert_eq!(large[0].as_deref(), Some("9007199254740993"), "{name}");
        assert_eq!(large[1].as_deref(), Some("9007199254740992"), "{name}");
        assert_eq!(large[2], None);
    }
}

#[test]
fn codecs_pages_and_groups_change_nothing() {
    let names = ["none", "snappy", "gzip", "zstd", "lz4"].map(|c| format!("lists-{c}.parquet"));
    let arrows = ["uncompressed", "lz4", "zstd"].map(|c| format!("polars-{c}.arrow"));
    let all = names
        .into_iter()
        .chain(["polars.parquet".into()])
        .chain(arrows);
    for name in all {
        let mut lists = table(&name);
        assert_eq!(
            &lists.names()[..4],
            ["i", "at[0]", "at[1]", "word"],
            "{name}"
        );
        assert_eq!(lists.rows(), Some(300));
        for max_rows in [1, 7, 128, 1000] {
            let i: Vec<_> = (0..300).map(f64::from).collect();
            let first: Vec<_> = i.iter().map(|i| i / 4.0).collect();
            let second: Vec<_> = i.iter().map(|i| -i / 4.0).collect();
            assert_eq!(numbers(&mut lists, "i", max_rows).0, i, "{name}");
            assert_eq!(numbers(&mut lists, "at[0]", max_rows).0, first, "{name}");
            assert_eq!(numbers(&mut lists, "at[1]", max_rows).0, second, "{name}");
            let words: Vec<_> = (0..300).map(|i| Some(format!("w{}", i % 7))).collect();
            assert_eq!(texts(&mut lists, "word", max_rows), words, "{name}");
            if name.starts_with("polars") {
                assert_eq!(texts(&mut lists, "kind", max_rows), words, "{name}");
            }
        }
        // Columns are returned in the requested order, with repetitions.
        lists.select(&[3, 2, 0, 2]).unwrap();
        let Batch { rows, columns } = lists.next_batch(2).unwrap().unwrap();
        assert_eq!(rows, 2);
        let twice = Column::Numbers(vec![-0.0, -0.25]);
        assert_eq!(
            columns[1..],
            [twice.clone(), Column::Numbers(vec![0.0, 1.0]), twice]
        );
        assert_says(lists.select(&[9]), &["column 9"]);
        assert_says(lists.next_batch(0), &["0 rows"]);
    }
    let brotli = ColumnarTable::open(fixture("lists-brotli.parquet"), Format::Parquet);
    let brotli = brotli.and_then(|mut table| table.next_batch(10));
    assert_says(brotli, &["lists-brotli.parquet", "brotli"]);
}

#[test]
fn what_is_nested_is_refused_when_it_is_asked_for() {
    let mut nested = table("nested.parquet");
    let says =
        |found: Result<Vec<Column>>, what: &str| assert_says(found, &["nested.parquet", what]);
    says(
        column(&mut nested, "record", 9),
        "column \"record\" holds records of a, b",
    );
    says(
        column(&mut nested, "deep", 9),
        "column \"deep\" holds lists of lists",
    );
    says(
        column(&mut nested, "bytes", 9),
        "column \"bytes\" holds bytes",
    );
    says(
        column(&mut nested, "ragged[0]", 9),
        "row 1 (counted from 0), column \"ragged[0]\": is a list of 1",
    );
    assert_eq!(numbers(&mut nested, "x", 9).0, [1.0, 2.0]);
    // Through the public interface, with unreadable columns excluded.
    let options = OpenOptions {
        columns: ColumnChoice::AllBut(["record", "deep", "ragged", "bytes"].map(Into::into).into()),
        ..OpenOptions::default()
    };
    let mut source = open(fixture("nested.parquet"), &options).unwrap();
    assert_eq!(
        read_in_every_way(source.as_mut())
            .x
            .into_f64()
            .column(0)
            .to_vec(),
        [1.0, 2.0]
    );
    let all = open(fixture("nested.parquet"), &OpenOptions::default()).map(drop);
    assert_says(all, &["column \"record\" holds records", "leave it out"]);
}

/// The schema and rows of a typed table equal the schema and rows of the same values as text.
#[test]
fn columns_become_what_those_of_text_become() {
    let (_folder, csv) = place("flats.csv");
    fs::write(
        &csv,
        "rooms,city,lift,let_since,at[0],at[1]\n\
         3,Bern,true,2019-05-01,7.400000095367432,46.900001525878906\n\
         2,Basel,false,2021-11-15,7.599999904632568,47.599998474121094\n\
         ,,true,2015-02-01,7.400000095367432,46.900001525878906\n\
         5,Chur,,,,\n\
         4,Basel,false,2018-03-01,7.599999904632568,\n\
         1,Chur,true,1969-12-31,9.5,46.79999923706055\n",
    )
    .unwrap();
    for missing in [Missing::Mean, Missing::Median, Missing::Indicator] {
        let mut options = OpenOptions::default();
        options.table.missing = missing;
        let read = |path: &Path, options: &OpenOptions| {
            let mut source = open(path, options).unwrap();
            Survey::new(source.as_mut(), 0, 0).unwrap();
            let schema = source.schema().expect("a schema").clone();
            (read_in_every_way(source.as_mut()), schema)
        };
        let (wanted, schema) = read(&csv, &options);
        for name in ["flats.parquet", "flats.feather"] {
            let (found, other) = read(&fixture(name), &options);
            assert_eq!(other, schema, "{name}");
            assert_eq!(found, wanted, "{name}");
            // A model of one reads the other.
            let known = OpenOptions {
                columns: ColumnChoice::Known(Box::new(schema.clone())),
                ..OpenOptions::default()
            };
            let mut source = open(fixture(name), &known).unwrap();
            assert_eq!(read_in_every_way(source.as_mut()), wanted, "{name}");
        }
        let kinds: Vec<_> = schema.features().iter().map(|field| field.kind()).collect();
        assert!(matches!(
            kinds[..4],
            [
                Kind::Number,
                Kind::Categories(_),
                Kind::Boolean,
                Kind::Date(_)
            ]
        ));
    }
    // Errors name the place of a missing value.
    let mut strict = OpenOptions::default();
    strict.table.missing = Missing::Error;
    let mut source = open(fixture("flats.parquet"), &strict).unwrap();
    let found = Survey::new(source.as_mut(), 0, 0);
    assert_says(
        found.map(drop),
        &["row 2 (counted from 0), column \"rooms\"", "empty"],
    );
    // Dates as categories, lists as targets.
    let mut options = OpenOptions {
        target: vec!["at".into()],
        columns: ColumnChoice::These(vec!["let_since".into()]),
        ..OpenOptions::default()
    };
    options.table.categorical = vec!["let_since".into()];
    options.table.missing = Missing::Mean;
    let mut source = open(fixture("flats.parquet"), &options).unwrap();
    assert_eq!(source.targets(), 2);
    assert_says(
        Survey::new(source.as_mut(), 0, 0).map(drop),
        &["row 3 (counted from 0), column \"at[0]\""],
    );
    options.target.clear();
    let mut source = open(fixture("flats.parquet"), &options).unwrap();
    Survey::new(source.as_mut(), 0, 0).unwrap();
    let names = source.column_names().unwrap();
    assert_eq!((names.len(), &*names[0]), (5, "let_since=1969-12-31"));
}

/// Every truncated length is an error in one line.
#[test]
fn what_is_cut_is_refused() {
    let (_folder, path) = place("cut");
    for name in ["flats.parquet", "flats.feather", "types.arrows"] {
        let whole = fs::read(fixture(name)).unwrap();
        let format = Format::from_path(name).unwrap();
        for length in 0..whole.len() {
            fs::write(&path, &whole[..length]).unwrap();
            let found = ColumnarTable::open(&path, format);
            let found = found.and_then(|mut table| {
                while table.next_batch(9)?.is_some() {}
                Ok(())
            });
            let error = found
                .expect_err(&format!("{name}: {length} bytes"))
                .to_string();
            assert!(
                error.lines().count() == 1 && error.len() < 500,
                "{name} {length}: {error}"
            );
        }
    }
}

#[test]
fn a_file_that_changes_is_noticed() {
    let (_folder, path) = place("x.parquet");
    fs::copy(fixture("lists-none.parquet"), &path).unwrap();
    let mut source = ColumnarTable::open(&path, Format::Parquet).unwrap();
    source.next_batch(10).unwrap();
    let file = fs::OpenOptions::new().append(true).open(&path).unwrap();
    file.set_len(20_000).unwrap();
    assert_says(source.rewind(), &["x.parquet", "has changed"]);
}
