//! What columns become of which some cells alone tell how they are written.

use crate::schema::{options, surveyed};
use crate::{assert_says, place};
use bochner::data::TableOptions;

/// Whole numbers without an order.
fn mixed(i: usize, of: usize) -> usize {
    (i * 7_919 + 13) % of
}

/// What a column `v` of these cells becomes, by the words of reports.
fn became(rows: usize, cell: &dyn Fn(usize) -> String, as_target: bool) -> bochner::Result<String> {
    let (_directory, path) = place("cells.tsv");
    let row = |i: usize| format!("{}\t{}\n", cell(i), i % 7);
    let text = format!("v\tw\n{}", (0..rows).map(row).collect::<String>());
    let target = if as_target { "v" } else { "w" };
    let source = surveyed(&path, &text, &options(target, TableOptions::default()))?;
    let schema = source.schema().expect("texts");
    let fields = if as_target {
        schema.targets()
    } else {
        schema.features()
    };
    Ok(fields[0].to_string().replacen("v: ", "", 1))
}

#[test]
fn whole_numbers_behind_words_are_amounts_or_codes_or_asked_about() {
    let cases: [(usize, &dyn Fn(usize) -> String, &str); 8] = [
        (
            60,
            &|i| format!("ca. {}", mixed(i, 900)),
            "amounts behind ca.",
        ),
        (
            60,
            &|i| format!("No. {}", mixed(i, 900)),
            "amounts behind No.",
        ),
        (
            90,
            &|i| format!("No. {}", 3 * mixed(i, 19)),
            "19 categories",
        ),
        (90, &|i| format!("#{}", 100 + mixed(i, 19)), "19 categories"),
        (
            90,
            &|i| format!("Room {}", 3 * mixed(i, 19)),
            "19 categories",
        ),
        (
            240,
            &|i| format!("Route {}", 3 * mixed(i, 60)),
            "60 categories",
        ),
        (90, &|i| format!("R{}", 100 + mixed(i, 19)), "19 categories"),
        (90, &|i| format!("<{}", 3 * mixed(i, 19)), "19 categories"),
    ];
    for (rows, cell, becomes) in cases {
        for as_target in [false, true] {
            let found = became(rows, cell, as_target).unwrap();
            assert_eq!(found, becomes, "{}, a target: {as_target}", cell(7));
        }
    }
    let cases: [(usize, &dyn Fn(usize) -> String); 4] = [
        (60, &|i| format!("some {}", mixed(i, 900))),
        // As many of few kinds.
        (150, &|i| format!("some {}", 50 * mixed(i, 59))),
        (150, &|i| format!("<{}", 50 * mixed(i, 59))),
        (60, &|i| format!("No. {}", 100 + mixed(i, 900))),
    ];
    for (rows, cell) in cases {
        for as_target in [false, true] {
            let says = [
                "line 2, column \"v\": holds",
                "looks like an amount or a date and is read as none",
                "AllBut(vec![\"v\".into()])",
                ".categorical(\"v\")",
            ];
            assert_says(became(rows, cell, as_target), &says);
        }
    }
}
