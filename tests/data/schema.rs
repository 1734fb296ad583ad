//! Encoding of text, booleans, dates and missing values.

use crate::{assert_says, opened, place, read_all, read_in_every_way};
use bochner::data::{
    Chunk, ChunkSource, ColumnChoice, CsvOptions, CsvSource, DateParts, Dates, Kind, Missing,
    OpenOptions, Part, Schema, Split, Survey, TableOptions, TargetUse, open,
};
use bochner::{Error, Result};
use ndarray::{Array2, array};
use std::{f64::consts::TAU, fs, path::Path};

pub(crate) fn options(target: &str, table: TableOptions) -> OpenOptions {
    let target = target.split_whitespace().map(str::to_owned).collect();
    OpenOptions {
        target,
        table,
        ..OpenOptions::default()
    }
}

pub(crate) fn missing(missing: Missing) -> TableOptions {
    TableOptions {
        missing,
        ..TableOptions::default()
    }
}

/// Opens a file with this text, and surveys it.
pub(crate) fn surveyed(
    path: &Path,
    text: &str,
    options: &OpenOptions,
) -> Result<Box<dyn ChunkSource>> {
    fs::write(path, text).unwrap();
    let mut source = open(path, options)?;
    Survey::new(source.as_mut(), 0, 0)?;
    Ok(source)
}

pub(crate) fn x_of(chunk: Chunk) -> Array2<f64> {
    chunk.x.into_f64()
}

const FLATS: &str = "size, city ,lift,built,price,kind\n\
                     50,Bern,true,1970-01-03,5,flat\n\
                     20,Basel,FALSE,1970-01-01T12:00,4,room\n\
                     80,\"Bern\",False,1969-12-31,9,flat\n";

#[test]
fn each_kind_of_column_becomes_its_numbers() {
    let (_directory, path) = place("flats.csv");
    let mut source = opened(surveyed(
        &path,
        FLATS,
        &options("price kind", TableOptions::default()),
    ));
    let chunk = read_in_every_way(source.as_mut());
    assert_eq!(chunk.y, array![[5.0, 0.0], [4.0, 1.0], [9.0, 0.0]]);
    let x = array![
        [50.0, 0.0, 1.0, 1.0, 2.0],
        [20.0, 1.0, 0.0, 0.0, 0.5],
        [80.0, 0.0, 1.0, 0.0, -1.0]
    ];
    assert_eq!(x_of(chunk), x);
    let names = ["size", "city=Basel", "city=Bern", "lift", "built"];
    assert_eq!(source.column_names().unwrap(), names);
    assert_eq!(source.target_names().unwrap(), ["price", "kind"]);
    let schema = source.schema().expect("text").clone();
    assert_eq!(
        schema.to_string(),
        "1 numeric, 1 date, 1 boolean, 1 categorical"
    );
    let kinds: Vec<_> = schema.features().iter().map(|f| f.kind().clone()).collect();
    let cities = Kind::Categories(vec!["Basel".into(), "Bern".into()]);
    assert_eq!(
        kinds,
        [
            Kind::Number,
            cities,
            Kind::Boolean,
            Kind::Date(DateParts::default())
        ]
    );
    // Another file with the same schema: columns by name, a new city, no targets.
    let known = OpenOptions {
        target_use: TargetUse::Ignored,
        columns: ColumnChoice::Known(Box::new(schema.clone())),
        ..OpenOptions::default()
    };
    let text = "built,id,city,size,lift\n1970-01-02,7,Chur,3,true\n1970-01-02,8,Basel,4,true\n";
    fs::write(&path, text).unwrap();
    let mut other = opened(open(&path, &known));
    let x = array![[3.0, 0.0, 0.0, 1.0, 1.0], [4.0, 1.0, 0.0, 1.0, 1.0]];
    assert_eq!(x_of(read_in_every_way(other.as_mut())), x);
    for (text, says) in [
        (
            "built,city,size\n1970-01-02,Bern,3\n",
            ["\"lift\"", "fitted on"],
        ),
        (
            "built,city,size,lift\n1970,Bern,3,true\n",
            ["line 2, column \"built\"", "date"],
        ),
        (
            "built,city,size,lift\n1970-01-02,Bern,3,1\n",
            ["column \"lift\"", "true nor false"],
        ),
        (
            "built,city,size,lift\n1970-01-02,Bern,x,true\n",
            ["column \"size\"", "\"x\""],
        ),
        (
            "built,city,size,lift\n1970-01-02,Bern,inf,true\n",
            ["column \"size\"", "infinite"],
        ),
    ] {
        fs::write(&path, text).unwrap();
        let read = open(&path, &known).and_then(|mut s| read_all(s.as_mut(), 10));
        assert_says(read, &says);
    }
    // For a gap stands the mean of the rows of the fit.
    fs::write(&path, "built,city,size,lift\n,?,-,\n").unwrap();
    let chunk = read_all(opened(open(&path, &known)).as_mut(), 10).unwrap();
    let filled = x_of(chunk);
    let means = [50.0, 1.0 / 3.0, 2.0 / 3.0, 1.0 / 3.0, 0.5];
    let first = filled.row(0);
    let off = first.iter().zip(means).map(|(a, b)| (a - b).abs());
    assert!(off.fold(0.0, f64::max) < 1e-12, "{filled}");
    // With targets: a class that the schema has not is a number beyond them.
    let known = OpenOptions {
        target_use: TargetUse::Required,
        ..known
    };
    let text = FLATS.replace("4,room", "4,barn");
    fs::write(&path, text).unwrap();
    let chunk = read_all(opened(open(&path, &known)).as_mut(), 10).unwrap();
    assert_eq!(chunk.y.column(1).to_vec(), [0.0, 2.0, 0.0]);
}

/// Numbers like 1.000, with possible thousands separators, are ambiguous and refused, in numeric
/// tables and with text; measured ones are not.
#[test]
fn points_that_may_part_thousands_are_asked_about() {
    let (_directory, path) = place("rents.csv");
    let read = |text: &str, thousands, decimal| {
        let table = TableOptions {
            thousands,
            decimal,
            ..TableOptions::default()
        };
        let mut source = surveyed(&path, text, &options("y", table))?;
        Ok::<_, Error>(x_of(read_in_every_way(source.as_mut())).column(0).to_vec())
    };
    let rents = |others: [&str; 4]| {
        let [a, b, c, d] = others;
        format!("rent,{a},y\n101.000,{b},1\n12.500,{c},2\n950,{d},3\n")
    };
    let (thousand, plain) = ([101_000.0, 12_500.0, 950.0], [101.0, 12.5, 950.0]);
    for others in [["size", "3", "4", "5"], ["city", "Bern", "Basel", "Bern"]] {
        let text = rents(others);
        let asked = [
            "line 2, column \"rent\": \"101.000\" may be 101000 or 101",
            "thousands('.')",
            "decimal('.')",
        ];
        assert_says(read(&text, None, None), &asked);
        assert_eq!(read(&text, Some('.'), None).unwrap(), thousand);
        assert_eq!(read(&text, None, Some('.')).unwrap(), plain);
    }
    // Another column has a fraction.
    let text = rents(["size", "3", "0.25", "5"]);
    assert_eq!(read(&text, None, None).unwrap(), plain);
    // A target, too.
    let text = "a,y\n1,101.000\n2,12.500\n";
    assert_says(read(text, None, None), &["\"y\"", "may be 101000 or 101"]);
    // If decimal commas occur, points are ambiguous in all numbers.
    let measured = "rent;size;y\n1.234;3,5;1\n5.678;4,5;2\n";
    assert_says(
        read(measured, None, None),
        &["\"1.234\" may be 1234 or 1.234"],
    );
    assert_eq!(read(measured, Some('.'), None).unwrap(), [1234.0, 5678.0]);
    let measured = "rent,city,y\n1.234,Bern,1\n5.678,Basel,2\n";
    assert_eq!(read(measured, None, None).unwrap(), [1.234, 5.678]);
}

/// Date parts are additional columns for any date format; missing dates are imputed by the mean or
/// median of each column.
#[test]
fn parts_of_dates_are_columns_beside_the_day() {
    let (_directory, path) = place("days.csv");
    let circle = |place: f64| [(TAU * place).sin(), (TAU * place).cos()];
    let row = |day: f64, places: [f64; 3]| {
        let parts = places.into_iter().flat_map(circle);
        std::iter::once(day).chain(parts).collect::<Vec<_>>()
    };
    // A Monday, a Sunday and a Wednesday.
    let rows = [
        row(19_359.0, [1.0 / 365.0, 0.0, 0.0]),
        row(20_086.25, [363.25 / 366.0, 6.0 / 7.0, 0.25]),
        row(20_089.0, [0.0, 2.0 / 7.0, 0.0]),
    ];
    let of_column =
        |k: usize, of: &dyn Fn(Vec<f64>) -> f64| of(rows.iter().map(|row| row[k]).collect());
    let mean = |values: Vec<f64>| values.iter().sum::<f64>() / 3.0;
    let middle = |mut values: Vec<f64>| {
        values.sort_unstable_by(f64::total_cmp);
        values[1]
    };
    for written in [
        ["2023-01-02", "2024-12-29T06:00", "2025-01-01"],
        ["02.01.2023", "29.12.2024 06:00", "1.1.2025"],
    ] {
        let [a, b, c] = written;
        let text = format!("day,y\n{a},1\n{b},2\n,3\n{c},4\n");
        for (how, of) in [
            (Missing::Mean, &mean as &dyn Fn(Vec<f64>) -> f64),
            (Missing::Median, &middle),
            (Missing::Indicator, &mean),
        ] {
            let table = TableOptions {
                dates: Some(Dates::Parts),
                ..missing(how)
            };
            let mut source = opened(surveyed(&path, &text, &options("y", table)));
            let x = x_of(read_in_every_way(source.as_mut()));
            for (i, k) in (0..4).flat_map(|i| (0..7).map(move |k| (i, k))) {
                let wanted = match i {
                    2 => of_column(k, of),
                    3 => rows[2][k],
                    _ => rows[i][k],
                };
                let found = x[[i, k]];
                assert!((found - wanted).abs() < 1e-12, "{how} {a} {i} {k}: {found}");
            }
            let has_indicator = how == Missing::Indicator;
            assert_eq!(x.ncols(), 7 + usize::from(has_indicator));
            let names = source.column_names().unwrap();
            let last = ["day: time sin", "day: time cos"];
            assert_eq!(
                (&*names[0], &names[5..7]),
                ("day", &last.map(String::from)[..])
            );
            let schema = source.schema().expect("dates");
            let became = schema.features()[0].to_string();
            let parts = "with their place in the year, the week and the day";
            assert!(became.contains(parts), "{became}");
            assert!(schema.to_string().starts_with("1 date, 1 in parts"));
        }
    }
    // Not requested.
    let text = "day,y\n2023-01-02,1\n2024-12-29,2\n";
    let source = opened(surveyed(
        &path,
        text,
        &options("y", TableOptions::default()),
    ));
    assert_eq!(source.column_names().unwrap(), ["day"]);
    // A date as target is its day only.
    let asked = TableOptions {
        dates: Some(Dates::Parts),
        ..TableOptions::default()
    };
    let text = "x,day\n1,2023-01-02\n2,2024-12-29\n";
    let mut source = opened(surveyed(&path, text, &options("day", asked)));
    let y = read_in_every_way(source.as_mut()).y;
    assert_eq!(y, array![[19_359.0], [20_086.0]]);
    assert_eq!(source.schema().expect("dates").targets()[0].width(), 1);
}

#[test]
fn what_stands_for_missing_values_is_as_documented() {
    let (_directory, path) = place("gaps.csv");
    let text = "a,c,t,y\n1,u,true,1\n,u,true,2\n4,?,NA,3\n10,v,false,4\nNaN,u,true,5\n";
    let read = |how: Missing| {
        let mut source = opened(surveyed(&path, text, &options("y", missing(how))));
        let names = source.column_names().unwrap();
        (x_of(read_in_every_way(source.as_mut())), names)
    };
    let (x, names) = read(Missing::Mean);
    assert_eq!(names, ["a", "c=u", "c=v", "t"]);
    let mean = array![
        [1.0, 1.0, 0.0, 1.0],
        [5.0, 1.0, 0.0, 1.0],
        [4.0, 0.75, 0.25, 0.75],
        [10.0, 0.0, 1.0, 0.0],
        [5.0, 1.0, 0.0, 1.0]
    ];
    assert!((x - mean).iter().all(|d| d.abs() < 1e-15));
    let (x, _) = read(Missing::Median);
    assert_eq!(x.row(1).to_vec(), [4.0, 1.0, 0.0, 1.0]);
    assert_eq!(x.row(2).to_vec(), [4.0, 1.0, 0.0, 1.0]);
    let (x, names) = read(Missing::Indicator);
    let all = [
        "a",
        "a is missing",
        "c=u",
        "c=v",
        "c is missing",
        "t",
        "t is missing",
    ];
    assert_eq!(names, all);
    assert_eq!(x.row(0).to_vec(), [1.0, 0.0, 1.0, 0.0, 0.0, 1.0, 0.0]);
    assert_eq!(x.row(1).to_vec(), [5.0, 1.0, 1.0, 0.0, 0.0, 1.0, 0.0]);
    assert_eq!(x.row(2).to_vec(), [4.0, 0.0, 0.0, 0.0, 1.0, 0.75, 1.0]);
    let refused = surveyed(&path, text, &options("y", missing(Missing::Error)));
    assert_says(
        refused,
        &["line 3, column \"a\"", "is empty", "Missing::Mean"],
    );
    // Imputation does not apply to targets.
    let gap = text.replace("v,false,4", "v,false,");
    let refused = surveyed(&path, &gap, &options("y", missing(Missing::Mean)));
    assert_says(refused, &["line 5, column \"y\"", "is empty"]);
    // A numeric file without missing values can have some later.
    let source = opened(surveyed(
        &path,
        "a,y\n1,1\n2,2\n",
        &options("y", missing(Missing::Indicator)),
    ));
    assert_eq!(source.columns(), 1);
    let schema = source.schema().expect("asked for").clone();
    fs::write(&path, "a\n\n?\n").unwrap();
    let known = OpenOptions {
        columns: ColumnChoice::Known(Box::new(schema)),
        target_use: TargetUse::Ignored,
        ..OpenOptions::default()
    };
    assert_eq!(
        x_of(read_all(opened(open(&path, &known)).as_mut(), 9).unwrap()),
        array![[1.5]]
    );
}

#[test]
fn more_categories_than_allowed_are_hashed() {
    let (_directory, path) = place("many.csv");
    let text = |count: usize| {
        let rows = (0..count).map(|i| format!("k{i},{i}\n"));
        format!("c,y\n{}", rows.collect::<String>())
    };
    let table = |most_categories| TableOptions {
        most_categories,
        ..TableOptions::default()
    };
    for (count, most, names) in [(5, 5, "c=k0"), (6, 5, "c#0"), (300, 64, "c#0")] {
        let mut source = opened(surveyed(&path, &text(count), &options("y", table(most))));
        assert_eq!(source.columns(), most, "{count}");
        assert_eq!(source.column_names().unwrap()[0], names);
        let x = x_of(read_in_every_way(source.as_mut()));
        // Each row has one entry, 1 or -1.
        for row in x.rows() {
            assert_eq!(row.iter().map(|v| v.abs()).sum::<f64>(), 1.0);
            assert_eq!(row.iter().filter(|v| **v != 0.0).count(), 1);
        }
        if count == 300 {
            // NullTokens and places are even: sums of 300 signs, and of inner products of pairs,
            // are within four deviations of 0.
            assert!(x.sum().abs() < 4.0 * 300_f64.sqrt(), "{}", x.sum());
            let gram = x.dot(&x.t());
            let pairs = (gram.sum() - 300.0) / 2.0;
            let deviation = (300.0 * 299.0 / 2.0 / 64.0_f64).sqrt();
            assert!(pairs.abs() < 4.0 * deviation, "{pairs} {deviation}");
            let taken = x
                .columns()
                .into_iter()
                .filter(|c| c.iter().any(|v| *v != 0.0));
            assert!(taken.count() > 55);
        }
    }
    // A category that the fit has not seen has a position, too, and a missing one is imputed.
    let gaps = text(20) + "?,1\nk3,2\n";
    let all = TableOptions {
        missing: Missing::Mean,
        ..table(4)
    };
    let mut source = opened(surveyed(&path, &gaps, &options("y", all)));
    let x = x_of(read_in_every_way(source.as_mut()));
    let rows = x.nrows();
    let mut mean = (&x.sum_axis(ndarray::Axis(0)) - &x.row(rows - 2)) / 21.0;
    mean -= &x.row(rows - 2);
    assert!(mean.iter().all(|d| d.abs() < 1e-15), "{mean}");
    assert_eq!(x.row(3), x.row(rows - 1));
}

/// Mixed numbers and text are an error unless a type is requested.
#[test]
fn columns_of_two_kinds_are_refused_or_named() {
    let (_directory, path) = place("mixed.csv");
    let read = |text: &str, table| surveyed(&path, text, &options("y", table));
    let plain = TableOptions::default;
    for (text, says) in [
        (
            "a,y\n1,1\nx,2\n",
            ["line 3, column \"a\"", "the text \"x\" among numbers"],
        ),
        (
            "a,y\nx,1\n1,2\n",
            ["line 3, column \"a\"", "the number 1 among text"],
        ),
        (
            "a,y\n1,1\ntrue,2\n",
            ["line 3, column \"a\"", ".categorical(\"a\")"],
        ),
        // A word may be a null token; an exclamation mark is not a category.
        (
            "a,y\n1,1\nnix,2\n",
            [
                "take it for no value with .na(&[\"nix\"])",
                ", or name it with .categorical(\"a\")",
            ],
        ),
        (
            "a,y\n1,1\n!,2\n",
            ["correct it, or take it for no value with", ".na(&[\"!\"])"],
        ),
        ("a,y\n1,1\n2,\n", ["line 3, column \"y\"", "is empty"]),
        ("a,y\n1,1\n2,x\n", ["line 3, column \"y\"", "among numbers"]),
        ("a,y\n1,1\ninf,x\n", ["line 3, column \"a\"", "infinite"]),
        (
            "a,y\nx,1\nu,1e999\n",
            ["line 3, column \"y\"", "the text \"1e999\" among numbers"],
        ),
    ] {
        assert_says(read(text, plain()), &says);
    }
    let totals = "k,a,y\nN,1,1\nS,2,2\nTotal,,3\n";
    let says = ["is empty beside \"Total\"", "remove the row, if it is of"];
    assert_says(read(totals, missing(Missing::Error)), &says);
    // A column without any value is left out where something stands for it, and counts then.
    let mean = || missing(Missing::Mean);
    let source = opened(read("a,b,y\n1,,1\n2,?,2\n", mean()));
    assert_eq!(source.column_names().unwrap(), ["a"]);
    assert_says(read("b,y\n,1\n?,2\n", mean()), &["no value in any column"]);
    let named = TableOptions {
        categorical: vec!["a".into()],
        ..plain()
    };
    let mut source = opened(read("a,y\n1,1\nx,2\n01,3\n", named.clone()));
    assert_eq!(source.column_names().unwrap(), ["a=01", "a=1", "a=x"]);
    assert_eq!(read_all(source.as_mut(), 9).unwrap().y.nrows(), 3);
    let unknown = TableOptions {
        categorical: vec!["b".into()],
        ..plain()
    };
    assert_says(read("a,y\n1,1\n", unknown), &["\"b\"", "categories"]);
    // Dates mixed with text are treated like numbers mixed with text, unless requested.
    let dated = "a,y\n2024-01-01,1\nsoon,2\n";
    assert_says(
        read(dated, plain()),
        &[
            "line 3, column \"a\"",
            "\"soon\" among dates",
            ".categorical(\"a\")",
        ],
    );
    let source = opened(read(dated, named));
    assert_eq!(source.column_names().unwrap(), ["a=2024-01-01", "a=soon"]);
    // Labels too: booleans are text, and numbers stay numbers.
    let source = opened(read("a,y\n1,true\n2,false\n", plain()));
    assert_eq!(
        source.schema().unwrap().classes().unwrap(),
        ["false", "true"]
    );
}

/// Contents of held-out rows are not used by the fit.
#[test]
fn only_rows_of_the_part_are_looked_at() {
    let (_directory, path) = place("parts.csv");
    let rows = (0..200).map(|i| format!("{},c{}x,{i}\n", i * i, i));
    let text = format!("a,c,y\n{}?,c0x,0\n", rows.collect::<String>());
    fs::write(&path, text).unwrap();
    let table = TableOptions {
        most_categories: 500,
        all_columns: true,
        ..missing(Missing::Indicator)
    };
    let options = options("y", table);
    let whole = || opened(open(&path, &options));
    let mut all = whole();
    Survey::new(all.as_mut(), 0, 0).unwrap();
    let y = read_all(all.as_mut(), 50).unwrap().y;
    assert_eq!(all.columns(), 202);
    // A part of a part uses only its own rows.
    let outer = Split::new(whole(), Part::Train, 0.3, 5).unwrap();
    let mut inner = Split::new(outer, Part::Train, 0.4, 6).unwrap();
    Survey::new(&mut inner, 0, 0).unwrap();
    let chunk = read_in_every_way(&mut inner);
    let taken: Vec<f64> = chunk.y.column(0).to_vec();
    assert!(taken.len() > 50 && taken.len() < 120 && y.nrows() == 201);
    let mut names: Vec<_> = taken.iter().map(|i| format!("c=c{i}x")).collect();
    // The last row repeats the first.
    names.sort();
    names.dedup();
    let found = inner.column_names().unwrap();
    let found: Vec<_> = found.into_iter().filter(|n| n.starts_with("c=")).collect();
    assert_eq!(found, names);
}

#[test]
fn numbers_keep_their_bits_and_cost_no_pass() {
    let (_directory, path) = place("numbers.csv");
    let rows = (0..300).map(|i| format!("{},{:e},{i}\n", f64::from(i).sqrt(), f64::from(i).sin()));
    fs::write(&path, format!("a,b,y\n{}", rows.collect::<String>())).unwrap();
    let mut source = opened(open(&path, &options("y", TableOptions::default())));
    let survey = Survey::new(source.as_mut(), 20, 3).unwrap();
    assert!(source.schema().is_none());
    let csv = CsvOptions {
        target: vec!["y".into()],
        ..CsvOptions::default()
    };
    let mut numbers = opened(CsvSource::open(&path, csv));
    assert_eq!(survey, Survey::new(&mut numbers, 20, 3).unwrap());
    let whole = read_in_every_way(&mut numbers);
    assert_eq!(read_in_every_way(source.as_mut()), whole);
    // Read as a table the same bits come out.
    let mut table = opened(open(&path, &options("y", missing(Missing::Mean))));
    Survey::new(table.as_mut(), 0, 0).unwrap();
    assert!(table.schema().is_some());
    assert_eq!(read_in_every_way(table.as_mut()), whole);
}

/// A file whose rows change after the survey is refused, numeric or text, also at the same length.
#[test]
fn files_of_other_rows_in_a_later_pass_are_refused() {
    let (_directory, path) = place("grows.csv");
    for cell in ["1", "u"] {
        let short = format!("a,y\n{}", format!("{cell},1\n").repeat(10));
        let long = format!("a,y\n{}", format!("{},1\n", cell.repeat(5)).repeat(5));
        assert_eq!(short.len(), long.len());
        for (before, now, says) in [
            (&long, &short, "10 rows and had 5"),
            (&short, &long, "has 5 rows and had 10"),
        ] {
            let mut source = opened(surveyed(
                &path,
                before,
                &options("y", TableOptions::default()),
            ));
            assert!(read_all(source.as_mut(), 4).is_ok());
            // With the same modification time, too: only the rows differ.
            let modified = fs::metadata(&path).unwrap().modified().unwrap();
            fs::write(&path, now).unwrap();
            let file = fs::File::options().write(true).open(&path).unwrap();
            file.set_modified(modified).unwrap();
            let read = read_all(source.as_mut(), 100);
            assert_says(read, &["grows.csv", says, "must not change"]);
        }
    }
}

#[test]
fn a_schema_without_rows_to_make_it_of_is_an_error() {
    let (_directory, path) = place("none.csv");
    fs::write(&path, "a,y\nu,1\n").unwrap();
    let mut source = opened(open(&path, &options("y", TableOptions::default())));
    let settled = source.settle(true, &mut |_| false);
    assert!(matches!(settled, Err(Error::Shape(_))), "{settled:?}");
    let none = TableOptions {
        most_categories: 0,
        ..TableOptions::default()
    };
    assert_says(open(&path, &options("y", none)), &["0 categories"]);
    let _: Option<&Schema> = source.schema();
}

/// `01000` is a code, not a number.
#[test]
fn whole_numbers_of_one_length_that_begin_with_zero_are_codes() {
    let (_directory, path) = place("places.csv");
    let table = |rows: usize, code: &dyn Fn(usize) -> String| {
        let row = |i: usize| format!("{},{},{i}\n", code(i), 10 + i % 7);
        format!("zip,size,y\n{}", (0..rows).map(row).collect::<String>())
    };
    let zips = ["01000", "90210", "10115"];
    let all = |i: usize| zips[i % 3].to_owned();
    let options = |table| options("y", table);
    let of = |text: &str, table| opened(surveyed(&path, text, &options(table)));
    let source = of(&table(30, &all), TableOptions::default());
    let schema = source.schema().expect("codes").clone();
    let kinds: Vec<_> = schema.features().iter().map(|f| f.kind().clone()).collect();
    let codes = ["01000", "10115", "90210"].map(String::from);
    assert_eq!(kinds, [Kind::Categories(codes.to_vec()), Kind::Number]);
    // Late in the file, and with a missing value.
    let late = |i: usize| zips[if i == 700 { 0 } else { 1 + i % 2 }].to_owned();
    assert!(
        of(&table(900, &late), TableOptions::default())
            .schema()
            .is_some()
    );
    let gap = |i: usize| if i == 5 { String::new() } else { all(i) };
    let filled = of(&table(30, &gap), missing(Missing::Mean));
    let field = &filled.schema().expect("a gap").features()[0];
    assert!(matches!(field.kind(), Kind::Categories(all) if all.len() == 3));
    // Still numeric: on request, if all rows are distinct, and if none starts with zero.
    let numeric = TableOptions {
        numeric: vec!["zip".into()],
        ..TableOptions::default()
    };
    assert!(of(&table(30, &all), numeric).schema().is_none());
    let own = |i: usize| format!("{i:05}");
    assert!(
        of(&table(30, &own), TableOptions::default())
            .schema()
            .is_none()
    );
    let none = |i: usize| zips[1 + i % 2].to_owned();
    assert!(
        of(&table(30, &none), TableOptions::default())
            .schema()
            .is_none()
    );
    // Another file with the same schema.
    let known = OpenOptions {
        target_use: TargetUse::Ignored,
        columns: ColumnChoice::Known(Box::new(schema)),
        ..OpenOptions::default()
    };
    fs::write(&path, "size,zip\n4,01000\n5,1000\n").unwrap();
    let x = x_of(opened(read_all(opened(open(&path, &known)).as_mut(), 9)));
    assert_eq!(x, array![[1.0, 0.0, 0.0, 4.0], [0.0, 0.0, 0.0, 5.0]]);
}
