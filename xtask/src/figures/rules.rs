//! What of the pages is not run, what takes long, and tables that stand for a reader's own.

use super::page::{Block, Kind};
use anyhow::{Context, Result};
use std::fs;
use std::path::Path;

/// Blocks of commands of a page that have these words are left out, for a reason.
pub(super) struct Rule {
    pub(super) page: &'static str,
    pub(super) words: &'static str,
    pub(super) reason: &'static str,
}

impl Rule {
    pub(super) fn fits(&self, block: &Block) -> bool {
        block.kind == Kind::Commands && block.text.contains(self.words)
    }
}

const fn rule(page: &'static str, words: &'static str, reason: &'static str) -> Rule {
    Rule {
        page,
        words,
        reason,
    }
}

/// What is run nowhere.
pub(super) const NOT_RUN: [Rule; 10] = [
    rule("README.md", "cargo xtask test", "the tests themselves"),
    rule("docs/automatic.md", "train.npz", "arrays that are not here"),
    rule("docs/c.md", "cargo build", "capi/tests compile a program"),
    rule("docs/data.md", "adult.data", "Adult is not here"),
    rule("docs/data.md", "cargo +nightly", "cargo-fuzz is not here"),
    rule("docs/guide.md", "cargo install", "the program is there"),
    rule(
        "docs/heads.md",
        "embeddings.npz",
        "arrays that are not here",
    ),
    rule("docs/maps.md", "features.npz", "arrays that are not here"),
    rule("docs/maps.md", "knm.npy", "arrays that are not here"),
    rule("docs/maps.md", "train.npz", "cpu of Delve is not here"),
];

/// What the short run leaves out, too: it takes a second or more, or much of one and shows nothing.
pub(super) const SLOW: [Rule; 8] = [
    rule("docs/automatic.md", "", SECONDS),
    rule("docs/gaussian-processes.md", "", SECONDS),
    rule("docs/guide.md", "kernel-error", SECONDS),
    rule("docs/kernel-machines.md", "", SECONDS),
    rule("docs/long-runs.md", "", SECONDS),
    rule("docs/losses.md", "", SECONDS),
    rule("docs/maps.md", "tensor-sketch", SECONDS),
    rule("docs/stagewise.md", "", SECONDS),
];
const SECONDS: &str = "takes seconds";

/// Rows of a table that stands for a reader's own.
const ROWS: usize = 300;
/// Tables that pages speak of and do not show: page, file, columns. They are made by a rule, so
/// that commands run; no figure of theirs is shown.
const TABLES: [(&str, &str, &str); 22] = [
    ("README.md", "data.csv", "rooms,area,price"),
    ("README.md", "new.csv", "rooms,area"),
    ("docs/automatic.md", "table.csv", "rooms,area,price"),
    ("docs/additive.md", "table.csv", "rooms,area,price"),
    ("docs/explain.md", "table.csv", "rooms,area,price"),
    (
        "docs/gaussian-processes.md",
        "table.csv",
        "rooms,area,price",
    ),
    ("docs/gaussian-processes.md", "new.csv", "rooms,area"),
    ("docs/growing.md", "x.csv", "a,b,y"),
    ("docs/jobs.md", "train.csv", "rooms,area,label"),
    ("docs/jobs.md", "new.csv", "rooms,area,label"),
    ("docs/learners.md", "table.csv", "rooms,area,price"),
    ("docs/learners.md", "new.csv", "rooms,area"),
    ("docs/long-runs.md", "x.csv", "a,b,y"),
    ("docs/losses.md", "table.csv", "rooms,area,label"),
    ("docs/losses.md", "new.csv", "rooms,area"),
    ("docs/ridge.md", "table.csv", "rooms,area,price"),
    (
        "docs/hypothesis-tests.md",
        "january.csv",
        "size,rooms,price",
    ),
    (
        "docs/hypothesis-tests.md",
        "february.csv",
        "size,rooms,price",
    ),
    (
        "docs/hypothesis-tests.md",
        "flats.csv",
        "size,rooms,year,price,rent",
    ),
    ("docs/hypothesis-tests.md", "x.csv", "a,b,y"),
    ("docs/unlabelled.md", "table.csv", "rooms,area"),
    ("docs/unlabelled.md", "new.csv", "rooms,area"),
];

/// Writes the tables that stand for a page's.
pub(super) fn write_tables(page: &str, folder: &Path) -> Result<()> {
    for (_, file, columns) in TABLES.iter().filter(|(of, ..)| *of == page) {
        let text = table(&columns.split(',').collect::<Vec<_>>());
        fs::write(folder.join(file), text).with_context(|| file.to_string())?;
    }
    Ok(())
}

/// A table of columns that are spread evenly and independently, but for `price` and `y`, a curve of
/// the first two, and `label`, texts by it.
fn table(columns: &[&str]) -> String {
    let mut text = columns.join(",") + "\n";
    for row in 0..ROWS {
        // Fractions of multiples of the roots of primes.
        let spread = |prime: f64| (row as f64 * prime.sqrt()).fract();
        let values = [2.0, 3.0, 5.0, 7.0, 11.0].map(spread);
        let curve = (3.0 * values[0]).sin() + values[1] + 0.1 * values[4];
        let side = if curve < 1.3 { "low" } else { "high" };
        let cell = |(at, name): (usize, &&str)| match *name {
            "label" => side.to_owned(),
            "price" | "y" => format!("{curve:.4}"),
            _ => format!("{:.4}", values[at]),
        };
        let cells: Vec<String> = columns.iter().enumerate().map(cell).collect();
        text += &(cells.join(",") + "\n");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figures::page::blocks;
    use crate::folders::root;

    #[test]
    fn every_rule_fits_its_page() {
        for rule in NOT_RUN.iter().chain(&SLOW) {
            let page = fs::read_to_string(root().join(rule.page)).unwrap();
            let fits = blocks(&page).unwrap().iter().any(|block| rule.fits(block));
            assert!(fits, "{}: {:?}", rule.page, rule.words);
        }
    }
}
