//! What a learned metric finds: the average gradient outer product of fits that follow each other.

use super::{
    Context, Experiment, Table,
    datasets::{CPU, LETTER, median_distance},
    findings::{Findings, Grid, mean_and_deviation, with_deviation},
};
use crate::page::chart::{Axis, Cells, Chart, Drawn, Panel, Point, Series};
use anyhow::Result;
use bochner::{
    data::MemorySource,
    features::{Bandwidth, Fourier, Standardize},
    kernels::Gaussian,
    metric::{LearnedMetric, Metric, MetricOptions, average_gradient_outer_product},
    models::{LinearModel, Ridge, RidgeClassifier},
};
use ndarray::{Array1, Array2, s};
use serde_json::json;

pub(super) const EXPERIMENT: Experiment = Experiment {
    name: "metric",
    title: "What a learned metric finds",
    data: &[&CPU, &LETTER],
    run,
};

/// Lengthscales that are tried, in medians of the distance, and penalties per row.
const MULTIPLES: [f64; 3] = [0.25, 0.5, 1.0];
const LAMBDAS: [f64; 6] = [1e-8, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3];
/// Distances are by M to this power.
const POWER: f64 = 0.5;
const METRICS: [(&str, Metric); 2] = [
    ("full metric", Metric::Full),
    ("diagonal metric", Metric::Diagonal),
];

/// One of the data sets.
struct Task {
    name: &'static str,
    /// Whether targets are classes.
    classes: bool,
    error: &'static str,
}

/// How much is done.
struct Size {
    features: usize,
    turns: usize,
    trials: usize,
}

/// After a fit: its error on the test rows, and M by the standardised columns.
struct Turn {
    error: f64,
    m: Array2<f64>,
}

/// Fits with rows that were multiplied by `root`; lengthscale and penalty are the best of some by
/// leave-one-out errors.
fn turn(
    context: &Context<'_>,
    (task, table, features): (&Task, &Table, usize),
    root: &Array2<f64>,
    trial: usize,
) -> Result<Turn> {
    let (x, x_test) = (table.x.dot(root), table.x_test.dot(root));
    let median = median_distance(&x, |v| v * v).sqrt();
    let mut best: Option<(f64, f64, Array2<f64>)> = None;
    for multiple in MULTIPLES {
        let map = Fourier::new(Gaussian).features(features);
        let bandwidth = Bandwidth::Sigma(multiple * median);
        // One builder serves both kinds of targets.
        macro_rules! ridge {
            ($learner:ident) => {
                $learner::on(map)
                    .bandwidth(bandwidth)
                    .standardize(Standardize::No)
                    .lambdas(&LAMBDAS)
                    .seed(context.seed(trial))
                    .device(context.device())
            };
        }
        let held_out = |model: &LinearModel| {
            let curve = model.lambda_curve.as_ref();
            curve.map_or(f64::INFINITY, |curve| curve.best().error)
        };
        let product = |model: &LinearModel| -> Result<Array2<f64>> {
            let mut rows = MemorySource::new(&x, None)?;
            Ok(average_gradient_outer_product(
                model,
                &mut rows,
                context.device(),
            )?)
        };
        let (by, error, m) = if task.classes {
            let model = ridge!(RidgeClassifier).fit((&x, table.y.to_vec()))?;
            let predicted: Vec<f64> = model.predict(&x_test)?;
            let pairs = predicted.iter().zip(&table.y_test);
            let wrong = pairs.filter(|(p, y)| p != y).count() as f64;
            let linear = model.linear();
            (
                held_out(linear),
                wrong / predicted.len() as f64,
                product(linear)?,
            )
        } else {
            let model = ridge!(Ridge).fit((&x, &table.y))?;
            let predicted: Array1<f64> = model.predict(&x_test)?;
            let square = (&predicted - &table.y_test).mapv(|v| v * v).mean();
            let error = square.unwrap_or(f64::NAN).sqrt() / table.y.std(0.0);
            let linear = model.linear();
            (held_out(linear), error, product(linear)?)
        };
        if best.as_ref().is_none_or(|(least, ..)| by < *least) {
            best = Some((by, error, m));
        }
    }
    let (_, error, m) = best.ok_or_else(|| anyhow::anyhow!("no lengthscale was tried"))?;
    // The gradient by x is the root times that by what it was multiplied by.
    let m = root.dot(&m).dot(root);
    Ok(Turn { error, m })
}

/// All turns of one metric and seed, the first of columns as they are.
fn turns(
    context: &Context<'_>,
    (task, table): (&Task, &Table),
    kind: Metric,
    size: &Size,
    trial: usize,
) -> Result<Vec<Turn>> {
    let mut root = Array2::eye(table.x.ncols());
    let mut all: Vec<Turn> = Vec::new();
    for _ in 0..=size.turns {
        let next = turn(context, (task, table, size.features), &root, trial)?;
        let options = MetricOptions {
            power: POWER,
            ..kind.into()
        };
        root = LearnedMetric::of(&next.m, options)?.root();
        all.push(next);
    }
    Ok(all)
}

fn run(context: &Context<'_>) -> Result<Findings> {
    let mut findings = Findings::default();
    findings.text(format!(
        "M is the mean over training rows of the outer product of the gradient of the fit with itself, by standardised \
         columns. A fit whose kernel compares rows by M^{POWER} has another M, and so on in turn: a recursive feature machine \
         (Radhakrishnan, Beaglehole, Pandit & Belkin 2024) on Fourier features (paired) of the Gaussian kernel. Lengthscale and \
         penalty of each fit are the best by leave-one-out errors of {} medians of the distance and {} penalties.",
        MULTIPLES.map(|m| m.to_string()).join(", "),
        LAMBDAS.len()
    ));
    let tasks = [
        (
            &CPU,
            Task {
                name: "cpu",
                classes: false,
                error: "RMSE over the deviation of y",
            },
            1000,
        ),
        (
            &LETTER,
            Task {
                name: "letter",
                classes: true,
                error: "wrong labels",
            },
            2000,
        ),
    ];
    for (dataset, task, features) in tasks {
        let Some(table) = context.load(dataset)? else {
            continue;
        };
        let size = if context.is_quick() {
            Size {
                features: 200,
                turns: 2,
                trials: context.trials(1),
            }
        } else {
            Size {
                features,
                turns: 5,
                trials: context.trials(3),
            }
        };
        let mut table = table.standardized();
        if context.is_quick() {
            let kept = table.x.nrows().min(1000);
            table.x = table.x.slice(s![..kept, ..]).to_owned();
            table.y = table.y.slice(s![..kept]).to_owned();
        }
        add(context, &mut findings, (&task, &table), &size)?;
    }
    Ok(findings)
}

/// Everything of one data set.
fn add(
    context: &Context<'_>,
    findings: &mut Findings,
    (task, table): (&Task, &Table),
    size: &Size,
) -> Result<()> {
    let seeds = crate::report::counted(size.trials as u64, "seed");
    // Errors of each metric, turn and seed; M of the last fit of the first seed.
    let mut errors = Vec::new();
    let mut last = Vec::new();
    for (name, kind) in METRICS {
        let mut of_kind = vec![Vec::new(); size.turns + 1];
        for trial in 0..size.trials {
            context.say(format!("{}: {name}, seed {trial}", task.name));
            let all = turns(context, (task, table), kind, size, trial)?;
            for (errors, turn) in of_kind.iter_mut().zip(&all) {
                errors.push(turn.error);
            }
            if trial == 0 {
                last.extend(all.last().map(|turn| turn.m.clone()));
            }
        }
        errors.push(of_kind);
    }
    let m = &last[0];
    let trace = m.diag().sum();
    let shares: Vec<f64> = m.diag().iter().map(|v| v / trace).collect();
    findings.heading(format!("The metric of {}", task.name));
    findings.text(format!(
        "{} training and {} test rows, {} features; {seeds}.",
        table.x.nrows(),
        table.x_test.nrows(),
        size.features
    ));
    findings.picture(format!("{}-errors", task.name), curve(task, &errors));
    findings.grid(grid(task, &errors));
    findings.picture(format!("{}-matrix", task.name), heat(task, m));
    let mut bars: Vec<(String, f64)> = shares
        .iter()
        .enumerate()
        .map(|(j, share)| (format!("column {}", j + 1), *share))
        .collect();
    bars.sort_by(|a, b| b.1.total_cmp(&a.1));
    findings.bars(
        format!("{}-importance", task.name),
        format!(
            "{}: share of each column, counted from 1, in the trace of M: of the squared gradient of the last fit.",
            task.name
        ),
        &bars,
    );
    let named = METRICS.iter().zip(&errors);
    let named: Vec<_> = named
        .map(|((name, _), errors)| json!({"metric": name, "errors": errors}))
        .collect();
    findings.number(
        task.name,
        json!({"turns": named, "importance": shares, "features": size.features,
               "matrix": m.rows().into_iter().map(|row| row.to_vec()).collect::<Vec<_>>()}),
    );
    Ok(())
}

fn curve(task: &Task, errors: &[Vec<Vec<f64>>]) -> Chart {
    let series = METRICS.iter().zip(errors).map(|((name, _), errors)| {
        let points = errors.iter().enumerate().map(|(turn, errors)| {
            let (mean, deviation) = mean_and_deviation(errors);
            Point::new(turn as f64, mean).spread(deviation)
        });
        Series::new(*name, Drawn::Joined, points)
    });
    let unit = if task.classes { "share" } else { "" };
    let y = Axis::linear(task.error, unit);
    let x = Axis::linear("outer products before the fit", "");
    let caption = format!(
        "{}: error on test rows by the number of turns; 0 are the columns as they are. Bars show one standard deviation over \
         seeds.",
        task.name
    );
    Chart::new(caption, vec![Panel::new("", x, y, series.collect())])
}

fn grid(task: &Task, errors: &[Vec<Vec<f64>>]) -> Grid {
    let turns = errors.first().map_or(0, Vec::len);
    let mut head = vec!["metric".to_owned()];
    head.extend((0..turns).map(|turn| format!("turn {turn}")));
    let mut grid = Grid::new(head).caption(format!("{}, {} on test rows.", task.error, task.name));
    for ((name, _), errors) in METRICS.iter().zip(errors) {
        let mut row = vec![(*name).to_owned()];
        row.extend(errors.iter().map(|errors| with_deviation(errors, 4)));
        grid.row(row);
    }
    grid
}

/// M as colours: the root of its entries over the largest, so that small ones are seen.
fn heat(task: &Task, m: &Array2<f64>) -> Chart {
    let d = m.nrows();
    let most = m
        .iter()
        .fold(f64::MIN_POSITIVE, |most, v| most.max(v.abs()));
    let values = m.iter().map(|v| {
        let colour = usize::from(*v < 0.0);
        (colour, (v.abs() / most).sqrt())
    });
    let ends = (0.5, d as f64 + 0.5);
    let axis = |name: &str| Axis::linear(name, "counted from 1").range(ends.0, ends.1);
    let none = || std::iter::empty();
    let series = vec![
        Series::new("positive", Drawn::Marks, none()),
        Series::new("negative", Drawn::Marks, none()),
    ];
    let mut panel = Panel::new("", axis("column"), axis("column"), series);
    panel.cells = Some(Cells {
        x: ends,
        y: ends,
        columns: d,
        values: values.collect(),
    });
    let caption = format!(
        "{}: M of the last fit with the full metric, seed 0. The stronger the colour, the larger the entry: by the root of \
         its size over that of the largest.",
        task.name
    );
    let mut chart = Chart::new(caption, vec![panel]);
    // Square cells: margins of a panel are 80 across and 56 down.
    chart.height = 640.0 + 56.0;
    chart
}
