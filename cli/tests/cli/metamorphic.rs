//! Relations between fits that hold whatever the right answer is: weights, copies of rows, units,
//! and the order and names of things, for learners and maps at their defaults.

mod table;

use std::{
    collections::{HashMap, hash_map::Entry},
    path::Path,
};
use table::{Row, fit, rows};

/// A change of the rows of a fit that changes its predictions in a known way.
struct Relation {
    name: &'static str,
    /// Changes the rows of the fit.
    fit: fn(Vec<Row>) -> Vec<Row>,
    /// Changes the rows that are predicted.
    grid: fn(Vec<Row>) -> Vec<Row>,
    /// Turns predictions back.
    back: fn(f64) -> f64,
    /// Options of both fits.
    options: &'static str,
    /// Whether rows have weights before and after the change.
    weighted: [bool; 2],
}

const SAME: Relation = Relation {
    name: "",
    fit: |rows| rows,
    grid: |rows| rows,
    back: |y| y,
    options: "",
    weighted: [false; 2],
};

/// Learners and maps for amounts, each at its defaults.
const AMOUNTS: [&str; 20] = [
    "--quick",
    "--lambda 1e-3",
    "--lambda auto --lambda-by kfold",
    "--solver dual",
    "--model kernel-ridge",
    "--model falkon --landmarks 60",
    "--model boosting",
    "--model greedy",
    "--model lasso",
    "--model svr",
    "--model svr --loss huber",
    "--model svr --loss quantile",
    "--model gaussian-process",
    "--map fastfood",
    "--map sorf",
    "--map nystrom",
    "--map binning",
    "--map tensor-sketch",
    "--auto --budget 20",
    "--auto --budget brief",
];

/// Learners for labels, with probabilities.
const LABELS: [&str; 9] = [
    "--quick",
    "--model kernel-ridge --probabilities",
    "--model falkon --landmarks 60 --probabilities",
    "--model boosting --probabilities",
    "--model svm --probabilities",
    "--model greedy --probabilities",
    "--model lasso --probabilities",
    "--model logistic",
    "--auto --budget brief",
];

/// Fits that draw rows by their numbers or contents, as landmarks or to hold them out: another draw
/// gives another model, which is as good.
const DRAWN: [&str; 8] = [
    "kfold",
    "falkon",
    "boosting",
    "greedy",
    "svr",
    "nystrom",
    "--auto",
    "lasso --probabilities",
];

/// Largest difference of predictions that are meant to be the same, in their deviations: what
/// single precision leaves of sums in another order.
const SAME_PREDICTIONS: f64 = 0.05;
/// Largest ratio and difference of errors that are meant to be as good.
const SAME_ERRORS: (f64, f64) = (1.25, 0.04);

/// Asserts that relations hold for each learner, but for some learners and relations, by parts of
/// their names. The default meets all relations; each of the others every third, unless
/// `BOCHNER_WHOLE` is set.
fn check(learners: &[&str], target: &str, relations: &[Relation], except: &[(&str, &str)]) {
    let folder = crate::here();
    let is_whole = std::env::var_os("BOCHNER_WHOLE").is_some();
    let mut broken = Vec::new();
    for (l, learner) in learners.iter().enumerate() {
        let mut bases = HashMap::new();
        for (r, of) in relations.iter().enumerate() {
            let is_in =
                |(own, name): &(&str, &str)| learner.contains(own) && of.name.contains(name);
            let is_met = is_whole || l == 0 || relations.len() < 3 || (l + r) % 3 == 0;
            if !is_met || except.iter().any(is_in) {
                continue;
            }
            if let Err(problem) = compare(folder.path(), (learner, target), of, &mut bases) {
                broken.push(format!("{learner} {}, {}: {problem}", of.options, of.name));
            }
        }
    }
    assert!(broken.is_empty(), "\n{}", broken.join("\n"));
}

/// Predictions of a learner before a change, by further options and whether rows are weighted.
type Bases = HashMap<(&'static str, bool), Vec<f64>>;

/// Fits before and after the change, and compares predictions, or errors of fits that draw rows.
fn compare(
    folder: &Path,
    (learner, target): (&str, &str),
    of: &Relation,
    bases: &mut Bases,
) -> Result<(), String> {
    let (train, grid) = (rows(200, 7), rows(200, 8));
    let options = format!("{learner} {}", of.options);
    let [before, after] = of.weighted;
    let base = match bases.entry((of.options, before)) {
        Entry::Occupied(base) => base.into_mut(),
        Entry::Vacant(place) => {
            place.insert(fit(folder, (&train, before), &grid, (target, &options))?)
        }
    };
    let base = &*base;
    let (train, other) = ((of.fit)(train), (of.grid)(grid.clone()));
    let other = fit(folder, (&train, after), &other, (target, &options))?;
    let other: Vec<f64> = other.into_iter().map(of.back).collect();
    let worst = base.iter().zip(&other).map(|(y, z)| (y - z).abs());
    let worst = worst.fold(
        0.0,
        |worst: f64, d| if d.is_nan() { d } else { worst.max(d) },
    );
    let apart = worst / deviation(base);
    let errors = [base, &other].map(|of| error(of, &grid, target));
    let (ratio, difference) = SAME_ERRORS;
    let least = errors[0].min(errors[1]);
    let are_as_good = (errors.iter()).all(|error| *error <= ratio * least + difference);
    // The mean of all rows has 1.
    let is_fit = errors.iter().all(|error| *error < 0.75);
    let is_drawn = DRAWN.iter().any(|own| learner.contains(own));
    let holds = if is_drawn {
        are_as_good
    } else {
        apart <= SAME_PREDICTIONS
    };
    match holds && is_fit {
        true => Ok(()),
        false => Err(format!(
            "{apart:.1e} apart, errors {:.3} and {:.3}",
            errors[0], errors[1]
        )),
    }
}

fn deviation(values: &[f64]) -> f64 {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    (values.iter().map(|y| (y - mean).powi(2)).sum::<f64>() / n).sqrt()
}

/// The error of predictions of new rows: of amounts root mean square over their deviation, of
/// probabilities the mean log loss.
fn error(predicted: &[f64], grid: &[Row], target: &str) -> f64 {
    let n = grid.len() as f64;
    let rows = predicted.iter().zip(grid);
    if target == "y" {
        let means: Vec<f64> = grid.iter().map(|row| row.mean).collect();
        let squares: f64 = rows.map(|(y, row)| (y - row.mean).powi(2)).sum();
        return (squares / n).sqrt() / deviation(&means);
    }
    let losses = rows.map(|(p, row)| {
        if row.k == "yes" {
            -p.ln()
        } else {
            -(1.0 - p).ln()
        }
    });
    losses.sum::<f64>() / n
}

/// A row of weight 0 is as if it were not there, the unit of weights means nothing, and a weight
/// that is a whole number counts rows.
const WEIGHTS: [Relation; 5] = [
    Relation {
        name: "rows of weight 0",
        fit: |rows| rows.into_iter().filter(|row| row.w > 0.0).collect(),
        weighted: [true; 2],
        ..SAME
    },
    Relation {
        name: "weights times 0.37",
        fit: |rows| table::map(rows, |row| row.w *= 0.37),
        weighted: [true; 2],
        ..SAME
    },
    Relation {
        name: "weights times 1e-150",
        fit: |rows| table::map(rows, |row| row.w *= 1e-150),
        weighted: [true; 2],
        ..SAME
    },
    Relation {
        name: "weights times 1e150",
        fit: |rows| table::map(rows, |row| row.w *= 1e150),
        weighted: [true; 2],
        ..SAME
    },
    Relation {
        name: "weights as rows",
        fit: |rows| {
            rows.into_iter()
                .flat_map(|row| vec![row.clone(); row.w as usize])
                .collect()
        },
        weighted: [true, false],
        ..SAME
    },
];

#[test]
fn weights_count_rows() {
    // Weights of a process are precisions, whose unit is that of the noise.
    let except = ["as rows", "1e-150", "1e150"].map(|name| ("gaussian-process", name));
    check(&AMOUNTS, "y", &WEIGHTS, &except);
}

#[test]
fn weights_count_rows_with_labels() {
    check(&LABELS, "k", &WEIGHTS, &[]);
}

/// Each row twice says what it says once.
const COPIES: [Relation; 1] = [Relation {
    name: "each row twice",
    fit: |rows| [rows.clone(), rows].concat(),
    ..SAME
}];

#[test]
fn copies_say_nothing_new() {
    // A process takes copies for repeated measurements, and learns its noise from them.
    check(&AMOUNTS, "y", &COPIES, &[("gaussian-process", "")]);
    check(&LABELS, "k", &COPIES, &[]);
}

const UNITS: [Relation; 9] = [
    Relation {
        name: "targets times 2^30",
        fit: |rows| table::map(rows, |row| row.y *= 2_f64.powi(30)),
        back: |y| y * 2_f64.powi(-30),
        ..SAME
    },
    Relation {
        name: "targets times 1e-30",
        fit: |rows| table::map(rows, |row| row.y *= 1e-30),
        back: |y| y * 1e30,
        ..SAME
    },
    Relation {
        name: "targets times 1e44",
        fit: |rows| table::map(rows, |row| row.y *= 1e44),
        back: |y| y * 1e-44,
        ..SAME
    },
    Relation {
        name: "targets times 1e-47",
        fit: |rows| table::map(rows, |row| row.y *= 1e-47),
        back: |y| y * 1e47,
        ..SAME
    },
    Relation {
        name: "targets + 1000",
        fit: |rows| table::map(rows, |row| row.y += 1000.0),
        back: |y| y - 1000.0,
        ..SAME
    },
    Relation {
        name: "columns times 2^30",
        fit: |rows| table::scale(rows, 2_f64.powi(30)),
        grid: |rows| table::scale(rows, 2_f64.powi(30)),
        ..SAME
    },
    Relation {
        name: "columns times 1e-30",
        fit: |rows| table::scale(rows, 1e-30),
        grid: |rows| table::scale(rows, 1e-30),
        ..SAME
    },
    Relation {
        name: "a column times 1e9",
        fit: |rows| table::map(rows, |row| row.a *= 1e9),
        grid: |rows| table::map(rows, |row| row.a *= 1e9),
        options: "--standardize=yes",
        ..SAME
    },
    Relation {
        name: "a column + 1000",
        fit: |rows| table::map(rows, |row| row.a += 1000.0),
        grid: |rows| table::map(rows, |row| row.a += 1000.0),
        ..SAME
    },
];

#[test]
fn units_mean_nothing() {
    // The polynomial kernel depends on the zero of a column.
    check(
        &AMOUNTS,
        "y",
        &UNITS,
        &[("tensor-sketch", "a column + 1000")],
    );
}

const ORDER: [Relation; 2] = [
    Relation {
        name: "rows in another order",
        fit: table::shuffle,
        ..SAME
    },
    Relation {
        name: "groups with other names",
        fit: |rows| table::map(rows, |row| row.group = (row.group * 7 + 5) % 12),
        options: "--group g",
        ..SAME
    },
];

#[test]
fn order_means_nothing() {
    check(&AMOUNTS, "y", &ORDER, &[]);
    check(&LABELS, "k", &ORDER, &[]);
}

fn renamed(rows: Vec<Row>, names: [&'static str; 2]) -> Vec<Row> {
    table::map(rows, |row| row.k = names[usize::from(row.k == "yes")])
}

const NAMES: [Relation; 4] = [
    Relation {
        name: "a, b",
        fit: |rows| renamed(rows, ["a", "b"]),
        ..SAME
    },
    Relation {
        name: "1, 0",
        fit: |rows| renamed(rows, ["1", "0"]),
        ..SAME
    },
    Relation {
        name: "-7, 0.5",
        fit: |rows| renamed(rows, ["-7", "0.5"]),
        options: "--task classification",
        ..SAME
    },
    Relation {
        name: "false, true",
        fit: |rows| renamed(rows, ["false", "true"]),
        ..SAME
    },
];

#[test]
fn names_of_labels_mean_nothing() {
    check(&LABELS, "k", &NAMES, &[]);
}
