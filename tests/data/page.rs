//! Tests the examples in the tables of docs/data.md and of readings.txt.

use crate::{assert_says, place, read_all};
use bochner::data::{ChunkSource, OpenOptions, Survey, TableOptions, open};
use bochner::{Error, Result};
use std::{fs, path::Path};

const PAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/data.md");

/// Rows of the tables of the page with this many columns, without headers.
fn examples<'a>(page: &'a str, columns: usize) -> Vec<Vec<&'a str>> {
    let lines = page.lines().filter_map(|line| line.strip_prefix("| `"));
    let rows = lines.filter_map(|line| line.strip_suffix(" |"));
    let cells = |line: &'a str| line.split(" |").map(str::trim).collect::<Vec<_>>();
    rows.map(cells).filter(|row| row.len() == columns).collect()
}

/// The texts in backquotes; the first backquote was stripped.
fn quoted(cell: &str) -> Vec<&str> {
    cell.split('`')
        .step_by(2)
        .filter(|text| !text.is_empty())
        .collect()
}

/// Table options from options of the command line.
fn table(options: &str) -> TableOptions {
    let mut table = TableOptions::default();
    let mut words = options.trim_matches('`').split_whitespace();
    while let (Some(option), Some(value)) = (words.next(), words.next()) {
        let mark = value.chars().next();
        match option {
            "--decimal" => table.decimal = mark,
            "--thousands" => table.thousands = mark,
            "--date-format" => table.date_format = Some(value.parse().unwrap()),
            "--dates" => table.dates = Some(value.parse().unwrap()),
            "--missing" => table.missing = value.parse().unwrap(),
            "--na" => table.na = Some(vec![value.to_owned()]),
            "--numeric" => table.numeric.push(value.to_owned()),
            "--categorical" => table.categorical.push(value.to_owned()),
            other => panic!("{other} is no option of the page"),
        }
    }
    table
}

/// A file of one column of these cells, and a target.
fn surveyed(path: &Path, cells: &[&str], options: &str) -> Result<Box<dyn ChunkSource>> {
    let row = |(i, cell): (usize, &&str)| format!("{cell}\t{i}\n");
    let rows: String = cells.iter().enumerate().map(row).collect();
    fs::write(path, format!("v\ty\n{rows}")).unwrap();
    let options = OpenOptions {
        target: vec!["y".to_owned()],
        table: table(options),
        ..OpenOptions::default()
    };
    let mut source = open(path, &options)?;
    Survey::new(source.as_mut(), 0, 0)?;
    Ok(source)
}

#[test]
fn the_page_of_a_table_says_what_is_made_of_it() {
    let page = fs::read_to_string(PAGE).unwrap() + include_str!("readings.txt");
    let (_directory, path) = place("page.tsv");
    let readings = examples(&page, 4);
    assert!(readings.len() >= 40, "{} readings", readings.len());
    for reading in &readings {
        let [cells, options, became, numbers] = reading[..] else {
            unreachable!("four columns")
        };
        let tried = || -> Result<(String, Vec<Vec<f64>>)> {
            let mut source = surveyed(&path, &quoted(cells), options)?;
            let x = read_all(source.as_mut(), 9)?.x.into_f64();
            let became = source.schema().map_or("numbers".to_owned(), |schema| {
                let said = schema.features()[0].to_string();
                said.trim_start_matches("v: ").to_owned()
            });
            Ok((
                became,
                x.rows().into_iter().map(|row| row.to_vec()).collect(),
            ))
        };
        let (found, rows) = tried().unwrap_or_else(|error: Error| panic!("{cells}: {error}"));
        assert_eq!(found, became, "{cells}");
        let of_row = |row: &str| row.split(", ").map(|v| v.parse().unwrap()).collect();
        let wanted: Vec<Vec<f64>> = numbers.split("; ").map(of_row).collect();
        let near = |a: &Vec<f64>, b: &Vec<f64>| {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| (a - b).abs() <= 5.1e-4)
        };
        let all = rows.iter().zip(&wanted).all(|(a, b)| near(a, b));
        assert!(
            rows.len() == wanted.len() && all,
            "{cells}: {rows:?} for {wanted:?}"
        );
    }
    let questions = examples(&page, 3);
    assert!(questions.len() >= 8, "{} questions", questions.len());
    for question in &questions {
        let [cells, options, says] = question[..] else {
            unreachable!("three columns")
        };
        let read = surveyed(&path, &quoted(cells), options);
        assert_says(read.map(|_| ()), &[says]);
    }
}
