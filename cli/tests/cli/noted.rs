//! What a fit notes of the rows of its table.

use crate::{bochner, here};
use std::{fmt::Write, fs};

/// What is said beside the report of a fit to a file with this text.
fn said(text: &str, options: &str) -> String {
    let here = here();
    fs::write(here.path().join("t.csv"), text).expect("writes");
    let fit = format!("fit t.csv --features 20 --device cpu --json {options}");
    bochner(here.path(), &fit, &[]).ok().stderr
}

/// By its name or its sums, once, with its line, whichever rows are held out.
#[test]
fn a_last_row_of_totals_is_told_of() {
    // Counts, amounts with two digits, and what is the same in many rows.
    let rows = || (0..40).map(|i| [i * 7 % 23, 1250 + i * i, i % 3]);
    let cents = |cents: i32| format!("{}.{:02}", cents / 100, cents % 100);
    let sums = rows().fold([0; 3], |sums, row| [0, 1, 2].map(|k| sums[k] + row[k]));
    let table = |last: Option<([i32; 3], &str)>| {
        let mut text = String::from("region,count,sold,y\n");
        let named = |i: usize| ["Nord", "Süd", "Total North"][i % 3];
        let all = rows().enumerate().map(|(i, row)| (row, named(i)));
        for ([count, sold, y], name) in all.chain(last) {
            let sold = if sold == 0 {
                String::new()
            } else {
                cents(sold)
            };
            writeln!(text, "{name},{count},{sold},{y}").expect("a string");
        }
        text
    };
    let without = |text: &str| {
        let lines = text
            .lines()
            .map(|line| line.split_once(',').expect("columns").1);
        lines.collect::<Vec<_>>().join("\n")
    };
    // A kind of row that is there more than once.
    let kinds = table(None).replace("Total North", "Total");
    let kinds = kinds.trim_end().rsplit_once('\n').expect("lines").0;
    for (text, options, says) in [
        (table(None), "", None),
        (kinds.to_owned(), "", None),
        (
            table(Some((sums, "Total"))),
            "",
            Some("line 42, column \"region\": \"Total\", the last row, is one of totals"),
        ),
        (
            table(Some(([sums[0], 0, sums[2]], "Summe:"))),
            "--missing mean --test 0.2",
            Some("it counts as any other: remove it"),
        ),
        (
            table(Some((sums, "all regions"))),
            "",
            Some("line 42, column \"count\": the last row has the sums of all others"),
        ),
        (
            without(&table(Some((sums, "")))),
            "--test 0.2",
            Some("line 42, column \"count\": the last row has the sums of all others"),
        ),
    ] {
        let said = said(&text, &format!("--target y --task regression {options}"));
        let told = said.matches("counts as any other").count();
        assert_eq!(told, usize::from(says.is_some()), "{options}: {said}");
        assert!(said.contains(says.unwrap_or_default()), "{options}: {said}");
    }
    // What stands for gaps is no mean of all others.
    let blank = without(&without(&table(None))) + "\n,\n";
    let told = said(&blank, "--model kmeans --clusters 2 --missing mean");
    assert!(!told.contains("counts as any other"), "{told}");
    // Among numbers such a word is an error, which says what it may be.
    let here = here();
    let text = "nr,a,y\n1,2,3\n2,5,4\nTotal,7,7\n";
    fs::write(here.path().join("t.csv"), text).expect("writes");
    let fit = "fit t.csv --target y --features 20 --device cpu";
    bochner(here.path(), fit, &[]).fails(&["line 4", "remove the row, if it is of totals"]);
}

/// Numbers of shops beside a text, whose columns stand before theirs, and days, which are none.
#[test]
fn codes_that_a_fit_makes_little_of_are_told_of() {
    let table = |of_shop: bool| {
        let mut text = String::from("kind,day,shop,y\n");
        for i in 0..2000_u64 {
            let shop = 1000 + i * i % 397 * 11;
            let kind = ["a", "b", "c"][i as usize % 3];
            // Days of twelve months of 28, of which nobody knows the next.
            let day = (i * i + 5 * i) % 331;
            let what = if of_shop { shop } else { 7 * day };
            let day = format!("2024-{:02}-{:02}", 1 + day / 28, 1 + day % 28);
            let y = (what * what % 1009) as f64 / 300.0 + (i % 3) as f64 / 3.0;
            writeln!(text, "{kind},{day},{shop},{y}").expect("a string");
        }
        text
    };
    let shops = said(&table(true), "--target y");
    let says = "column 'shop': whole numbers that look like codes";
    assert!(
        shops.contains(says) && shops.contains("--by-target \"shop\""),
        "{shops}"
    );
    let days = said(&table(false), "--target y --dates day");
    assert!(!days.contains("look like codes"), "{days}");
    let taken = said(&table(true), "--target y --by-target shop");
    assert!(!taken.contains("look like codes"), "{taken}");
}
