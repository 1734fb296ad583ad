//! What a learned metric finds: the average gradient outer product of fits that follow each other.

use super::{
    Context, Experiment, Table,
    datasets::{CPU, LETTER, median_distance},
    findings::{Findings, Grid, mean_and_deviation, with_deviation},
};
use crate::{
    page::chart::{Axis, Cells, Chart, Drawn, Panel, Point, Series},
    report::counted,
};
use anyhow::Result;
use bochner::{
    data::MemorySource,
    features::{Bandwidth, Fourier, Standardize},
    kernels::Gaussian,
    metric::{MetricOptions, average_gradient_outer_product},
    models::{LearnedMetric, LinearModel, Metric, Ridge, RidgeClassifier},
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

/// What is done to a data set, and how much of it.
struct Study<'a> {
    context: &'a Context<'a>,
    task: Task,
    table: Table,
    features: usize,
    turns: usize,
    trials: usize,
}

/// After a fit: its error on the test rows, and M by the columns that it was fitted to.
struct Turn {
    error: f64,
    m: Array2<f64>,
}

/// Errors of each metric, turn and seed, and M of the last fit with the first metric and seed.
struct Measured {
    errors: Vec<Vec<Vec<f64>>>,
    m: Array2<f64>,
}

impl Study<'_> {
    /// Fits with rows that were multiplied by `root`; lengthscale and penalty are the best of some
    /// by leave-one-out errors. M is by the standardised columns.
    fn turn(&self, root: &Array2<f64>, trial: usize) -> Result<Turn> {
        let (x, x_test) = (self.table.x.dot(root), self.table.x_test.dot(root));
        let median = median_distance(&x, |v| v * v).sqrt();
        let mut best: Option<(f64, Turn)> = None;
        for multiple in MULTIPLES {
            let (held_out, turn) = self.fit(&x, &x_test, multiple * median, trial)?;
            if best.as_ref().is_none_or(|(least, _)| held_out < *least) {
                best = Some((held_out, turn));
            }
        }
        let (_, turn) = best.ok_or_else(|| anyhow::anyhow!("no lengthscale was tried"))?;
        // The gradient by x is the root times that by what it was multiplied by.
        let m = root.dot(&turn.m).dot(root);
        Ok(Turn { m, ..turn })
    }

    /// One fit, with its leave-one-out error.
    fn fit(
        &self,
        x: &Array2<f64>,
        x_test: &Array2<f64>,
        sigma: f64,
        trial: usize,
    ) -> Result<(f64, Turn)> {
        let (context, table) = (self.context, &self.table);
        let map = Fourier::new(Gaussian).features(self.features);
        // One builder serves both kinds of targets.
        macro_rules! ridge {
            ($learner:ident) => {
                $learner::on(map)
                    .bandwidth(Bandwidth::Sigma(sigma))
                    .standardize(Standardize::No)
                    .lambdas(&LAMBDAS)
                    .seed(context.seed(trial))
                    .device(context.device())
            };
        }
        let with_gradients = |model: &LinearModel, error: f64| -> Result<(f64, Turn)> {
            let curve = model.lambda_curve.as_ref();
            let held_out = curve.map_or(f64::INFINITY, |curve| curve.best().error);
            let mut rows = MemorySource::new(x, None)?;
            let m = average_gradient_outer_product(model, &mut rows, context.device())?;
            Ok((held_out, Turn { error, m }))
        };
        if self.task.classes {
            let model = ridge!(RidgeClassifier).fit((x, table.y.to_vec()))?;
            let predicted: Vec<f64> = model.predict(x_test)?;
            let pairs = predicted.iter().zip(&table.y_test);
            let wrong = pairs.filter(|(p, y)| p != y).count() as f64;
            with_gradients(model.linear(), wrong / predicted.len() as f64)
        } else {
            let model = ridge!(Ridge).fit((x, &table.y))?;
            let predicted: Array1<f64> = model.predict(x_test)?;
            let square = (&predicted - &table.y_test).mapv(|v| v * v).mean();
            let error = square.unwrap_or(f64::NAN).sqrt() / table.y.std(0.0);
            with_gradients(model.linear(), error)
        }
    }

    /// All turns of one metric and seed, the first of columns as they are.
    fn turns(&self, kind: Metric, trial: usize) -> Result<Vec<Turn>> {
        let mut root = Array2::eye(self.table.x.ncols());
        let mut all: Vec<Turn> = Vec::new();
        for _ in 0..=self.turns {
            let next = self.turn(&root, trial)?;
            let options = MetricOptions {
                power: POWER,
                ..kind.into()
            };
            root = LearnedMetric::from_matrix(&next.m, options)?.root();
            all.push(next);
        }
        Ok(all)
    }

    /// All turns of all metrics and seeds.
    fn measure(&self) -> Result<Measured> {
        let mut errors = Vec::new();
        let mut first = None;
        for (name, kind) in METRICS {
            let mut of_kind = vec![Vec::new(); self.turns + 1];
            for trial in 0..self.trials {
                let task = self.task.name;
                self.context.say(format!("{task}: {name}, seed {trial}"));
                let all = self.turns(kind, trial)?;
                for (errors, turn) in of_kind.iter_mut().zip(&all) {
                    errors.push(turn.error);
                }
                first = first.or(all.into_iter().next_back().map(|turn| turn.m));
            }
            errors.push(of_kind);
        }
        let m = first.ok_or_else(|| anyhow::anyhow!("no metric was learned"))?;
        Ok(Measured { errors, m })
    }

    /// Adds everything of the data set.
    fn add(&self, findings: &mut Findings) -> Result<()> {
        let Measured { errors, m } = self.measure()?;
        let task = &self.task;
        findings.heading(format!("The metric of {}", task.name));
        findings.text(format!(
            "{} training and {} test rows, {} features; {}.",
            self.table.x.nrows(),
            self.table.x_test.nrows(),
            self.features,
            counted(self.trials as u64, "seed")
        ));
        findings.picture(format!("{}-errors", task.name), curve(task, &errors));
        findings.grid(grid(task, &errors));
        findings.picture(format!("{}-matrix", task.name), heat(task, &m));
        let trace = m.diag().sum();
        let shares: Vec<f64> = m.diag().iter().map(|v| v / trace).collect();
        let columns = shares.iter().enumerate();
        let columns = columns.map(|(j, share)| (format!("column {}", j + 1), *share));
        let mut bars: Vec<(String, f64)> = columns.collect();
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
        let named = named.map(|((name, _), errors)| json!({"metric": name, "errors": errors}));
        findings.number(
            task.name,
            json!({"turns": named.collect::<Vec<_>>(), "importance": shares,
                   "features": self.features,
                   "matrix": m.rows().into_iter().map(|row| row.to_vec()).collect::<Vec<_>>()}),
        );
        Ok(())
    }
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
    let cpu = Task {
        name: "cpu",
        classes: false,
        error: "RMSE over the deviation of y",
    };
    let letter = Task {
        name: "letter",
        classes: true,
        error: "wrong labels",
    };
    for (dataset, task, features) in [(&CPU, cpu, 1000), (&LETTER, letter, 2000)] {
        let Some(table) = context.load(dataset)? else {
            continue;
        };
        let mut table = table.standardized();
        if context.is_quick() {
            let kept = table.x.nrows().min(1000);
            table.x = table.x.slice(s![..kept, ..]).to_owned();
            table.y = table.y.slice(s![..kept]).to_owned();
        }
        let quick = context.is_quick();
        let study = Study {
            context,
            task,
            table,
            features: if quick { 200 } else { features },
            turns: if quick { 2 } else { 5 },
            trials: context.trials(if quick { 1 } else { 3 }),
        };
        study.add(&mut findings)?;
    }
    Ok(findings)
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
