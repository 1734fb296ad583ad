//! A table of numbers, a category, whole-number weights and groups, without equal rows: a table of
//! frequencies has none.

use crate::bochner;
use std::{fmt::Write as _, path::Path};

#[derive(Clone)]
pub(super) struct Row {
    pub(super) a: f64,
    pub(super) b: f64,
    c: usize,
    /// The mean of y, without noise.
    pub(super) mean: f64,
    pub(super) y: f64,
    pub(super) k: &'static str,
    pub(super) w: f64,
    pub(super) group: usize,
}

/// Rows by a linear congruential generator (Knuth's MMIX constants).
pub(super) fn rows(count: usize, seed: u64) -> Vec<Row> {
    let mut state = seed;
    let mut uniform = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005);
        state = state.wrapping_add(1_442_695_040_888_963_407);
        (state >> 11) as f64 / (1_u64 << 53) as f64
    };
    let round = |value: f64, unit: f64| (value / unit).round() * unit;
    let row = |_| {
        let (a, b) = (
            round(5.0 * uniform(), 0.25),
            round(3.0 * uniform(), 1.0 / 512.0),
        );
        let c = (3.0 * uniform()) as usize;
        let noise = uniform() + uniform() + uniform() - 1.5;
        let mean = (2.0 * a).sin() + b + f64::from(u8::from(c == 1));
        let y = mean + 0.5 * noise;
        let k = if y + uniform() > 2.3 { "yes" } else { "no" };
        Row {
            a,
            b,
            c,
            mean,
            y: round(y, 1.0 / 1024.0),
            k,
            w: (4.0 * uniform()).floor(),
            group: (12.0 * uniform()) as usize,
        }
    };
    (0..count).map(row).collect()
}

pub(super) fn map(mut rows: Vec<Row>, change: impl Fn(&mut Row)) -> Vec<Row> {
    rows.iter_mut().for_each(change);
    rows
}

/// Both columns of numbers in another unit.
pub(super) fn scale(rows: Vec<Row>, unit: f64) -> Vec<Row> {
    map(rows, |row| {
        row.a *= unit;
        row.b *= unit;
    })
}

/// The rows in another order.
pub(super) fn shuffle(mut rows: Vec<Row>) -> Vec<Row> {
    let n = rows.len();
    let stride = (2 * n / 5..)
        .find(|&s| !n.is_multiple_of(s) && gcd(s, n) == 1)
        .unwrap_or(1);
    let old = rows.clone();
    for (i, row) in rows.iter_mut().enumerate() {
        *row = old[(i * stride + 3) % n].clone();
    }
    rows
}

fn gcd(a: usize, b: usize) -> usize {
    if b == 0 { a } else { gcd(b, a % b) }
}

/// Predictions of `grid` by a fit: amounts, or probabilities of the label of the row with the
/// largest amount.
pub(super) fn fit(
    folder: &Path,
    (train, weighted): (&[Row], bool),
    grid: &[Row],
    (target, options): (&str, &str),
) -> Result<Vec<f64>, String> {
    let has_categories = target == "k";
    let mut text = String::from("a,b,g");
    text += if has_categories { ",c" } else { "" };
    let header = text.clone();
    text += &format!(",{target}{}\n", if weighted { ",w" } else { "" });
    let features = |row: &Row| {
        let c = if has_categories {
            format!(",c{}", row.c)
        } else {
            String::new()
        };
        format!("{},{},g{}{c}", row.a, row.b, row.group)
    };
    for row in train {
        let target = if target == "y" {
            format!("{:e}", row.y)
        } else {
            row.k.to_owned()
        };
        let weight = if weighted {
            format!(",{}", row.w)
        } else {
            String::new()
        };
        let _ = writeln!(text, "{},{target}{weight}", features(row));
    }
    write(folder, "t.csv", &text);
    let mut text = header + "\n";
    for row in grid {
        let _ = writeln!(text, "{}", features(row));
    }
    write(folder, "grid.csv", &text);
    let weight = if weighted { "--weight w" } else { "" };
    let columns = if has_categories { "a,b,c" } else { "a,b" };
    let takes_features = !options.contains("kernel-ridge") && !options.contains("falkon");
    let features = if takes_features { "--features 40" } else { "" };
    let fit = format!(
        "fit t.csv --target {target} {weight} --columns {columns} {features} --device cpu -q -o m {options}"
    );
    let probabilities = if target == "k" {
        "--probabilities pp.csv"
    } else {
        ""
    };
    let predict = format!("predict m grid.csv --device cpu -q -o p.csv {probabilities}");
    for command in [&fit, &predict] {
        let run = bochner(folder, command, &[]);
        if run.code != Some(0) {
            return Err(format!("{command}: {}", run.stderr.trim()));
        }
    }
    let is_label = target == "k";
    let text = std::fs::read_to_string(folder.join(if is_label { "pp.csv" } else { "p.csv" }));
    let text = text.map_err(|error| error.to_string())?;
    let mut lines = text.lines();
    let most = train.iter().max_by(|a, b| a.y.total_cmp(&b.y));
    let label = most.map_or("", |row| row.k);
    let place = match lines.next() {
        Some(header) if is_label => header.split(',').position(|name| name.ends_with(label)),
        _ => Some(0),
    };
    let place = place.ok_or_else(|| format!("no label {label} in {text}"))?;
    let cells = lines.map(|line| line.split(',').nth(place).unwrap_or_default());
    let numbers = cells.map(|cell| cell.parse::<f64>().map_err(|error| error.to_string()));
    numbers.collect()
}

fn write(folder: &Path, name: &str, text: &str) {
    std::fs::write(folder.join(name), text).expect("writes");
}
