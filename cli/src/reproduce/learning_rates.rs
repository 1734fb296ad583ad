//! Excess risk of ridge regression on random features against the number of rows.

mod problem;

use super::{
    Context, Experiment,
    findings::{Findings, Grid, mean_and_deviation, slope},
};
use crate::page::chart::{Axis, Chart, Drawn, Panel, Point, Series};
use anyhow::Result;
use bochner::{
    analysis::rudi_rosasco,
    features::{Bandwidth, Form, Fourier, Standardize},
    kernels::Exponential,
    models::Ridge,
};
use ndarray::{Array1, Array2};
use problem::{Judge, LENGTH, NOISE, Sample, TERMS, Target};
use serde_json::json;

pub(super) const EXPERIMENT: Experiment = Experiment {
    name: "learning-rates",
    title: "As few features as learn like the kernel",
    data: &[],
    run,
};

/// Rows that leverage scores are taken on, at most.
const SCORED: usize = 1000;

/// A penalty as a power of n, and the power with which the excess risk is to fall.
struct Setting {
    name: &'static str,
    power: f64,
    rate: f64,
}

/// The penalty of the basic theorem, and that of fast rates where eigenvalues fall as k^-2 and the
/// target is on the edge of the space (r = 1/2, gamma = 1/2).
const SETTINGS: [Setting; 2] = [
    Setting {
        name: "lambda = n^(-1/2)",
        power: -0.5,
        rate: -0.5,
    },
    Setting {
        name: "lambda = n^(-2/3)",
        power: -2.0 / 3.0,
        rate: -2.0 / 3.0,
    },
];

/// How many features n rows get, and whether they are resampled by leverage.
struct Rule {
    name: &'static str,
    features: fn(usize) -> usize,
    leverage: bool,
}

fn power(n: usize, power: f64) -> usize {
    let features = (n as f64).powf(power).round() as usize;
    features.next_multiple_of(2)
}

/// sqrt(n) ln n.
fn enough(n: usize) -> usize {
    rudi_rosasco(n as u64).map_or(2, |(features, _)| features)
}

const RULES: [Rule; 4] = [
    Rule {
        name: "M = n^(1/3)",
        features: |n| power(n, 1.0 / 3.0),
        leverage: false,
    },
    Rule {
        name: "M = n^(1/2)",
        features: |n| power(n, 0.5),
        leverage: false,
    },
    Rule {
        name: "M = n^(1/2) ln n",
        features: enough,
        leverage: false,
    },
    Rule {
        name: "M = n^(1/2), by leverage",
        features: |n| power(n, 0.5),
        leverage: true,
    },
];
const EXACT: &str = "kernel itself";
const THEORY: &str = "slope of the theorem";

/// The excess risk with so many features.
fn risk(
    context: &Context<'_>,
    sample: &Sample,
    judge: &Judge,
    features: usize,
    leverage: bool,
    lambda: f64,
    trial: usize,
) -> Result<f64> {
    let n = sample.x.len();
    let (x, y) = (sample.column(), Array1::from(sample.y.clone()));
    let mut map = Fourier::new(Exponential)
        .form(Form::Paired)
        .features(features);
    if leverage {
        // Rows are in order: every so many of them stand for all.
        let step = n.div_ceil(SCORED);
        let some = Array2::from_shape_fn((n.div_ceil(step), 1), |(i, _)| sample.x[i * step]);
        map = map.leverage(some, lambda, enough(n).max(features) / 2);
    }
    let model = Ridge::on(map)
        .bandwidth(Bandwidth::Sigma(LENGTH))
        .standardize(Standardize::No)
        .lambda(lambda)
        .intercept(false)
        .seed(context.seed(trial))
        .device(context.device())
        .fit((&x, &y))?;
    let predicted: Array1<f64> = model.predict(judge.rows())?;
    Ok(judge.excess(&predicted))
}

/// Excess risks of one setting: of each rule and size, and of the kernel itself, a number a seed.
struct Measured {
    rules: Vec<Vec<Vec<f64>>>,
    exact: Vec<Vec<f64>>,
}

fn measure(
    context: &Context<'_>,
    target: &Target,
    judge: &Judge,
    setting: &Setting,
    sizes: &[usize],
    trials: usize,
) -> Result<Measured> {
    let mut measured = Measured {
        rules: vec![Vec::new(); RULES.len()],
        exact: Vec::new(),
    };
    for &n in sizes {
        context.say(format!("{}, {n} rows", setting.name));
        let lambda = (n as f64).powf(setting.power);
        let mut rules = vec![Vec::new(); RULES.len()];
        let mut exact = Vec::new();
        for trial in 0..trials {
            let sample = Sample::draw(target, n, context.seed(trial));
            exact.push(judge.excess(&sample.exact(lambda, &judge.points)));
            for (rule, risks) in RULES.iter().zip(&mut rules) {
                let (features, leverage) = ((rule.features)(n), rule.leverage);
                let risk = risk(context, &sample, judge, features, leverage, lambda, trial)?;
                risks.push(risk);
            }
        }
        measured.exact.push(exact);
        for (all, risks) in measured.rules.iter_mut().zip(rules) {
            all.push(risks);
        }
    }
    Ok(measured)
}

fn mean(values: &[f64]) -> f64 {
    mean_and_deviation(values).0
}

fn run(context: &Context<'_>) -> Result<Findings> {
    let sizes: &[usize] = if context.is_quick() {
        &[256, 2048]
    } else {
        &[256, 512, 1024, 2048, 4096, 8192, 16_384]
    };
    let trials = context.trials(10);
    let seeds = crate::report::counted(trials as u64, "seed");
    let target = Target::new();
    let judge = Judge::new(&target);
    let mut findings = Findings::default();
    findings.text(format!(
        "Rows are uniform on [0, 1] and y = f(x) + {NOISE} × normal noise; f is a sum of {TERMS} cosines of amplitude k^(-3/2), \
         of variance 1. The kernel exp(-|x - y|/{LENGTH}) has eigenvalues that fall as k^(-2), so that f lies on the edge \
         of its space: r = 1/2 and gamma = 1/2 in the words of Rudi & Rosasco (2017). The excess risk is the mean of \
         (g - f)² over [0, 1], by 4096 points, without any noise. Features are paired, M of them of M/2 frequencies; \
         all rules see the same rows. Mean and standard deviation of {seeds} of rows and features."
    ));
    let mut all = Vec::new();
    for setting in &SETTINGS {
        all.push(measure(context, &target, &judge, setting, sizes, trials)?);
    }
    findings.heading("Excess risk against the number of rows");
    findings.picture("rates", rates(sizes, &all));
    findings.grid(table(sizes, &all));
    findings.text(
        "Theorem 1 of the paper has λ = n^(-1/2), M of the order of √n ln n and a rate of n^(-1/2). Theorem 2, for λ = \
         n^(-2/3), has the rate n^(-2/3) with M of the order of n^(2/3) ln n, which is what this r and gamma give. The exact \
         estimate is computed by the three diagonals of the inverse kernel matrix, without any approximation. \
         By leverage: M/2 of a pool of √n ln n / 2 frequencies, by the scores of at most 1000 rows; the effective dimension \
         grows as n^(1/4) and n^(1/3) here, and so do the features that theorem 3 asks for.",
    );
    findings.heading("Excess risk against the number of features");
    by_features(context, &mut findings, (&target, &judge), trials)?;
    let numbers = SETTINGS.iter().zip(&all).map(|(setting, measured)| {
        let rules = RULES.iter().zip(&measured.rules).map(|(rule, risks)| {
            let features: Vec<usize> = sizes.iter().map(|&n| (rule.features)(n)).collect();
            json!({"rule": rule.name, "features": features, "excess": risks})
        });
        json!({"penalty": setting.name, "rows": sizes, "exact": measured.exact,
               "rules": rules.collect::<Vec<_>>()})
    });
    findings.number("rates", numbers.collect::<Vec<_>>());
    findings.number("trials", trials);
    Ok(findings)
}

fn point(x: f64, values: &[f64]) -> Point {
    let (mean, deviation) = mean_and_deviation(values);
    // A bar that reached below 0 would leave a logarithmic axis.
    Point::new(x, mean).spread(deviation.min(0.9 * mean))
}

fn rates(sizes: &[usize], all: &[Measured]) -> Chart {
    let panels = SETTINGS.iter().zip(all).map(|(setting, measured)| {
        let joined = |name: &str, risks: &Vec<Vec<f64>>| {
            let points = sizes.iter().zip(risks).map(|(&n, r)| point(n as f64, r));
            Series::new(name, Drawn::Joined, points)
        };
        let mut series: Vec<Series> = RULES
            .iter()
            .zip(&measured.rules)
            .map(|(rule, risks)| joined(rule.name, risks))
            .collect();
        series.push(joined(EXACT, &measured.exact));
        let from = sizes[0] as f64;
        let at = mean(&measured.exact[0]);
        let ends = [sizes[0], sizes[sizes.len() - 1]].map(|n| {
            let n = n as f64;
            Point::new(n, 0.7 * at * (n / from).powf(setting.rate))
        });
        series.push(Series::new(THEORY, Drawn::Dashed, ends));
        // A little room at both ends, and no number at the very edge.
        let x = Axis::log("rows", "").range(0.85 * from, 1.1 * ends[1].x);
        let y = Axis::log("excess risk", "");
        Panel::new(setting.name, x, y, series)
    });
    let caption = "Excess risk against the number of rows, for penalties and numbers of features \
        that follow it. Bars show one standard deviation over seeds; the dashed line has the \
        theorem's slope, at no particular height.";
    Chart::new(caption, panels.collect())
}

fn table(sizes: &[usize], all: &[Measured]) -> Grid {
    let ns: Vec<f64> = sizes.iter().map(|&n| n as f64).collect();
    let largest = sizes[sizes.len() - 1];
    let mut grid = Grid::new([
        "penalty".to_owned(),
        "features".to_owned(),
        format!("M at n = {largest}"),
        format!("excess risk at n = {largest}"),
        "over that of the kernel".to_owned(),
        "measured slope".to_owned(),
        "theorem's slope".to_owned(),
    ])
    .caption(
        "Slopes are of ln(excess risk) by ln n, by least squares over all sizes. Theorem's: Rudi & Rosasco 2017, theorems 1 \
         and 2, an upper bound for M of the order that they ask for.",
    );
    for (setting, measured) in SETTINGS.iter().zip(all) {
        let exact = mean(&measured.exact[sizes.len() - 1]);
        let mut row = |name: &str, features: String, risks: &[Vec<f64>]| {
            let last = &risks[sizes.len() - 1];
            let means: Vec<f64> = risks.iter().map(|r| mean(r)).collect();
            let (mean, deviation) = mean_and_deviation(last);
            grid.row([
                setting.name.to_owned(),
                name.to_owned(),
                features,
                format!("{mean:.5} ± {deviation:.5}"),
                format!("{:.2}", mean / exact),
                format!("{:.2}", slope(&ns, &means)),
                format!("{:.2}", setting.rate),
            ]);
        };
        for (rule, risks) in RULES.iter().zip(&measured.rules) {
            row(rule.name, (rule.features)(largest).to_string(), risks);
        }
        row(EXACT, String::new(), &measured.exact);
    }
    grid
}

/// At one number of rows: how many features are enough, drawn and by leverage.
fn by_features(
    context: &Context<'_>,
    findings: &mut Findings,
    judged: (&Target, &Judge),
    trials: usize,
) -> Result<()> {
    let (target, judge) = judged;
    let (n, sizes): (usize, &[usize]) = if context.is_quick() {
        (2048, &[16, 128])
    } else {
        (8192, &[8, 16, 32, 64, 128, 256, 512, 1024])
    };
    let samples: Vec<Sample> = (0..trials)
        .map(|trial| Sample::draw(target, n, context.seed(trial)))
        .collect();
    let (mut panels, mut numbers) = (Vec::new(), Vec::new());
    for setting in &SETTINGS {
        let lambda = (n as f64).powf(setting.power);
        let mut series = Vec::new();
        for (name, leverage) in [("drawn from the spectrum", false), ("by leverage", true)] {
            let mut points = Vec::new();
            for &m in sizes {
                context.say(format!("{}, {m} features {name}", setting.name));
                let risks = samples.iter().enumerate();
                let risks = risks.map(|(trial, sample)| {
                    risk(context, sample, judge, m, leverage, lambda, trial)
                });
                let risks = risks.collect::<Result<Vec<f64>>>()?;
                points.push(point(m as f64, &risks));
                numbers.push(json!({"penalty": setting.name, "leverage": leverage,
                                    "features": m, "excess": risks}));
            }
            series.push(Series::new(name, Drawn::Joined, points));
        }
        let exact = samples
            .iter()
            .map(|sample| judge.excess(&sample.exact(lambda, &judge.points)));
        let exact = mean(&exact.collect::<Vec<_>>());
        let to = sizes[sizes.len() - 1].max(enough(n)) as f64;
        series.push(Series::level(EXACT, sizes[0] as f64, to, exact));
        let highest = series.iter().flat_map(|s| &s.points).map(|p| p.y);
        let highest = highest.fold(exact, f64::max);
        let rule = [exact, highest].map(|y| Point::new(enough(n) as f64, y));
        series.push(Series::new("n^(1/2) ln n", Drawn::Dashed, rule));
        let (x, y) = (Axis::log("features", ""), Axis::log("excess risk", ""));
        panels.push(Panel::new(setting.name, x, y, series));
    }
    let caption = format!(
        "{n} rows: excess risk against the number of features. Bars show one standard deviation over seeds."
    );
    findings.picture("features", Chart::new(caption, panels));
    findings.number("by_features", numbers);
    Ok(())
}
