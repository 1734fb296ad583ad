//! What a first fit gives that names no option, on tables of many kinds.

mod tables;

use super::{
    Context, Experiment,
    findings::{Findings, Grid},
};
use crate::page::chart::{Axis, Chart, Drawn, Panel, Point, Series};
use anyhow::Result;
use bochner::{
    features::{Bandwidth, Fourier, Identity, MapBuilder, Standardize},
    kernels::Gaussian,
    models::{Ridge, RidgeClassifier},
    seed::Seed,
};
use serde_json::json;
use tables::{KINDS, Kind, Table};

pub(super) const EXPERIMENT: Experiment = Experiment {
    name: "first-fit",
    title: "What a first fit gives on tables of many kinds",
    data: &[],
    run,
};

const FEATURES: usize = 1000;
/// Rows that judge.
const JUDGES: usize = 2000;
/// What is compared.
const WAYS: [&str; 3] = ["chosen", "gamma by scale", "linear"];

fn way(way: usize) -> (Box<dyn MapBuilder>, Bandwidth, Standardize) {
    let fourier = || Box::new(Fourier::new(Gaussian).features(FEATURES));
    match way {
        0 => (fourier(), Bandwidth::Chosen, Standardize::Auto),
        1 => (fourier(), Bandwidth::Scale, Standardize::Auto),
        _ => (Box::new(Identity), Bandwidth::Sigma(1.0), Standardize::Yes),
    }
}

/// The error on rows held out: the root of the mean square over the deviation of the targets, or
/// the share of wrong labels.
fn error(context: &Context<'_>, kind: &Kind, seed: Seed, at: usize) -> Result<f64> {
    let Table { x, y } = kind.draw(kind.rows, seed, 0);
    let judges = kind.draw(JUDGES, seed, 1);
    let (map, bandwidth, standardize) = way(at);
    if kind.labels {
        let labels: Vec<i64> = y.iter().map(|&label| label as i64).collect();
        let model = RidgeClassifier::on(map)
            .bandwidth(bandwidth)
            .standardize(standardize)
            .seed(seed)
            .device(context.device())
            .fit((&x, &labels))?;
        let predicted: Vec<i64> = model.predict(&judges.x)?;
        let wrong = predicted
            .iter()
            .zip(&judges.y)
            .filter(|(label, y)| **label != **y as i64)
            .count();
        return Ok(wrong as f64 / JUDGES as f64);
    }
    let model = Ridge::on(map)
        .bandwidth(bandwidth)
        .standardize(standardize)
        .seed(seed)
        .device(context.device())
        .fit((&x, &y))?;
    let off = model.predict(&judges.x)? - &judges.y;
    Ok((off.mapv(|e| e * e).mean().unwrap_or(f64::NAN)).sqrt() / judges.y.std(0.0))
}

/// Writes the rows that train and those that judge, for other programs.
fn write(context: &Context<'_>, number: usize, trial: usize) -> Result<()> {
    let Some(folder) = context.tables() else {
        return Ok(());
    };
    let (kind, seed) = (&KINDS[number], context.seed(trial));
    let of = |part: &str| folder.join(format!("{}-{trial}-{part}.csv", number + 1));
    kind.draw(kind.rows, seed, 0).write(&of("train"))?;
    kind.draw(JUDGES, seed, 1).write(&of("judges"))
}

/// Ranks from 1, where those within a thousandth share theirs.
fn ranks(errors: &[f64]) -> Vec<f64> {
    let alike = |a: f64, b: f64| (a - b).abs() <= 1e-3 * b;
    (errors.iter())
        .map(|&own| {
            let before = errors.iter().filter(|&&e| e < own && !alike(e, own));
            let beside = errors.iter().filter(|&&e| alike(e, own));
            before.count() as f64 + (beside.count() as f64 + 1.0) / 2.0
        })
        .collect()
}

fn run(context: &Context<'_>) -> Result<Findings> {
    let trials = context.trials(3);
    let kinds = if context.is_quick() {
        &KINDS[..2]
    } else {
        &KINDS[..]
    };
    let mut errors = Vec::with_capacity(kinds.len());
    for (number, kind) in kinds.iter().enumerate() {
        context.say(kind.name);
        (0..trials).try_for_each(|trial| write(context, number, trial))?;
        let mut means = [0.0; WAYS.len()];
        for (at, mean) in means.iter_mut().enumerate() {
            for trial in 0..trials {
                *mean += error(context, kind, context.seed(trial), at)? / trials as f64;
            }
        }
        errors.push(means);
    }
    let all: Vec<Vec<f64>> = errors.iter().map(|errors| ranks(errors)).collect();
    let mean_rank = |at: usize| all.iter().map(|r| r[at]).sum::<f64>() / all.len() as f64;
    let mean_ranks: Vec<f64> = (0..WAYS.len()).map(mean_rank).collect();
    let mut findings = Findings::default();
    findings.text(format!(
        "Each table is drawn anew {}; {JUDGES} rows that no fit saw judge. `chosen` is \
         `bochner fit` with no option: {FEATURES} Fourier features of the Gaussian kernel, columns, \
         bandwidth and scale of amounts by leave-one-out errors on at most 512 rows. `gamma by scale` is \
         `--gamma scale`, `linear` is ridge regression on standardised columns. All penalties are \
         the learner's own choice.",
        crate::report::counted(trials as u64, "time")
    ));
    findings.heading("Errors");
    findings.picture("errors", chart(&errors));
    findings.grid(table(kinds, &errors, &mean_ranks));
    let numbers = kinds.iter().zip(&errors);
    let numbers = numbers.map(|(kind, errors)| json!({"table": kind.name, "errors": errors}));
    findings.number("ways", WAYS.to_vec());
    findings.number("tables", numbers.collect::<Vec<_>>());
    findings.number("mean_ranks", mean_ranks);
    findings.number("trials", trials);
    Ok(findings)
}

fn chart(errors: &[[f64; WAYS.len()]]) -> Chart {
    let least = |e: f64| e.max(1e-3);
    let of = |at: usize| {
        let points = errors.iter().map(|e| Point::new(least(e[at]), least(e[0])));
        Series::new(WAYS[at], Drawn::Marks, points)
    };
    let ends = [1e-3, 1.0].map(|e| Point::new(e, e));
    let alike = Series::new("as good", Drawn::Dashed, ends);
    let caption = "A point a table: the error of the choice, upwards, against that of another way. \
        Below the dashed line the choice is better. Errors below a thousandth are drawn there.";
    let panel = Panel::new(
        "",
        Axis::log("error of the other way", ""),
        Axis::log("error of the choice", ""),
        vec![of(1), of(2), alike],
    );
    Chart::new(caption, vec![panel])
}

fn table(kinds: &[Kind], errors: &[[f64; WAYS.len()]], mean_ranks: &[f64]) -> Grid {
    let mut head = vec!["table".to_owned(), "rows".to_owned()];
    head.extend(WAYS.map(str::to_owned));
    let mut grid = Grid::new(head).caption(
        "Root of the mean square over the deviation of the targets; of labels the share that is \
         wrong. Means over seeds.",
    );
    for (kind, errors) in kinds.iter().zip(errors) {
        let mut row = vec![kind.name.to_owned(), kind.rows.to_string()];
        row.extend(errors.iter().map(|error| format!("{error:.3}")));
        grid.row(row);
    }
    let mut row = vec!["mean rank".to_owned(), String::new()];
    row.extend(mean_ranks.iter().map(|rank| format!("{rank:.2}")));
    grid.row(row);
    grid
}
