//! Handwritten digits: a linear support vector machine on features beside that with the kernel
//! itself and the one without.

mod pairs;
mod surfaces;

use super::{
    Context, Experiment,
    findings::{Findings, Grid, mean_and_deviation, with_deviation},
};
use crate::page::chart::{Axis, Chart, Drawn, Panel, Point, Series};
use anyhow::Result;
use bochner::{
    features::{Bandwidth, Binning, Form, Fourier, Identity, MapBuilder, Nystrom, Standardize},
    kernels::{Gaussian, Laplacian},
    models::SupportVectorClassifier,
    prelude::Seed,
};
use ndarray::{Array2, Axis as Along, s};
use serde_json::json;
use std::time::Instant;

pub(super) const EXPERIMENT: Experiment = Experiment {
    name: "digits",
    title: "Handwritten digits: features in place of a kernel",
    data: &[],
    run,
};

/// 1,797 rows of 64 pixels and a label; data/README.md says where they are from.
const FILE: &str = include_str!("../../../data/digits.csv");
/// gamma of the Gaussian kernel.
const GAMMA: f64 = 0.2;
/// What a row on the wrong side costs, scikit-learn's C.
const COST: f64 = 1.0;

/// The digits 0 to 8, divided by 16 and centred by the mean of all rows, in two halves.
pub(super) struct Digits {
    pub(super) x: Array2<f64>,
    pub(super) labels: Vec<u8>,
    pub(super) x_test: Array2<f64>,
    pub(super) labels_test: Vec<u8>,
}

impl Digits {
    pub(super) fn read() -> Result<Self> {
        let (mut values, mut labels) = (Vec::new(), Vec::new());
        for line in FILE.lines().skip(1) {
            let numbers: Vec<u8> = line.split(',').map(str::parse).collect::<Result<_, _>>()?;
            if let Some((&label @ 0..=8, pixels)) = numbers.split_last() {
                values.extend(pixels.iter().map(|&v| f64::from(v) / 16.0));
                labels.push(label);
            }
        }
        let mut x = Array2::from_shape_vec((labels.len(), 64), values)?;
        if let Some(mean) = x.mean_axis(Along(0)) {
            x -= &mean;
        }
        let half = labels.len() / 2;
        let labels_test = labels.split_off(half);
        Ok(Self {
            x_test: x.slice(s![half.., ..]).to_owned(),
            x: x.slice(s![..half, ..]).to_owned(),
            labels,
            labels_test,
        })
    }

    /// The share of test rows with the right label.
    pub(super) fn accuracy(&self, predicted: &[u8]) -> f64 {
        let right = predicted.iter().zip(&self.labels_test);
        right.filter(|(p, y)| p == y).count() as f64 / predicted.len() as f64
    }
}

/// What a map is called, how it is made, and the bandwidth of its kernel.
struct Kind {
    name: &'static str,
    make: fn(usize, Seed) -> Box<dyn MapBuilder>,
    bandwidth: Bandwidth,
}

fn kinds() -> [Kind; 4] {
    let gamma = || Bandwidth::Gamma(GAMMA);
    [
        Kind {
            name: "Fourier",
            make: |d, seed| Box::new(Fourier::new(Gaussian).features(d).seed(seed)),
            bandwidth: gamma(),
        },
        Kind {
            name: "Fourier with phases",
            make: |d, seed| {
                let map = Fourier::new(Gaussian).form(Form::Phase);
                Box::new(map.features(d).seed(seed))
            },
            bandwidth: gamma(),
        },
        Kind {
            name: "Nystrom",
            make: |d, seed| Box::new(Nystrom::new(Gaussian).features(d).seed(seed)),
            bandwidth: gamma(),
        },
        Kind {
            name: "random binning (Laplacian)",
            make: |d, seed| Box::new(Binning::new(Laplacian).grids(d).seed(seed)),
            bandwidth: Bandwidth::Median,
        },
    ]
}

fn machine(
    context: &Context<'_>,
    map: Box<dyn MapBuilder>,
    bandwidth: &Bandwidth,
    rows: usize,
) -> SupportVectorClassifier {
    SupportVectorClassifier::on(map)
        .bandwidth(bandwidth.clone())
        .standardize(Standardize::No)
        .lambda(1.0 / (rows as f64 * COST))
        .device(context.device())
}

/// Accuracy and seconds of each repeat.
#[derive(Default)]
struct Measured {
    accuracies: Vec<f64>,
    seconds: Vec<f64>,
}

fn run(context: &Context<'_>) -> Result<Findings> {
    let digits = Digits::read()?;
    let rows = digits.x.nrows();
    let trials = context.trials(20);
    let seeds = crate::report::counted(trials as u64, "seed");
    let sizes: Vec<usize> = if context.is_quick() {
        vec![30, 270]
    } else {
        (1..10).map(|i| 30 * i).collect()
    };
    context.say("exact kernel machine");
    let begun = Instant::now();
    let exact = pairs::accuracy(context, &digits)?;
    let exact_seconds = begun.elapsed().as_secs_f64();
    context.say("linear machine");
    let begun = Instant::now();
    let linear = machine(context, Box::new(Identity), &Bandwidth::Sigma(1.0), rows);
    let linear = linear.fit((&digits.x, digits.labels.as_slice()))?;
    let linear_seconds = begun.elapsed().as_secs_f64();
    let linear = digits.accuracy(&linear.predict(&digits.x_test)?);

    let kinds = kinds();
    let mut measured: Vec<Vec<Measured>> = Vec::new();
    for kind in &kinds {
        let mut of_kind = Vec::new();
        for &size in &sizes {
            let mut of_size = Measured::default();
            for trial in 0..trials {
                context.say(format!("{}, {size} features, seed {trial}", kind.name));
                let map = (kind.make)(size, context.seed(trial));
                let begun = Instant::now();
                let machine = machine(context, map, &kind.bandwidth, rows)
                    .seed(context.seed(trial))
                    .fit((&digits.x, digits.labels.as_slice()))?;
                of_size.seconds.push(begun.elapsed().as_secs_f64());
                let predicted: Vec<u8> = machine.predict(&digits.x_test)?;
                of_size.accuracies.push(digits.accuracy(&predicted));
            }
            of_kind.push(of_size);
        }
        measured.push(of_kind);
    }
    context.say("decision surfaces");
    let surfaces = surfaces::chart(context, &digits)?;

    let mut findings = Findings::default();
    findings.text(format!(
        "The digits 0 to 8 of 8 × 8 pixels, divided by 16 and centred: the first {rows} rows train, the other {} test. \
         Gaussian kernel with gamma {GAMMA}; squared hinge, one class against all, C = \
         {COST}. Mean and standard deviation of \
         {seeds}.",
        digits.x_test.nrows()
    ));
    findings.heading("Accuracy and training time");
    findings.picture(
        "accuracy",
        chart(&kinds, &sizes, &measured, (exact, linear)),
    );
    findings.picture(
        "time",
        times(&kinds, &sizes, &measured, (exact_seconds, linear_seconds)),
    );
    findings.grid(table(&kinds, &sizes, &measured, (exact, linear)));
    findings.text(
        "The exact machine is that of libsvm: hinge loss, a machine for each pair of classes, the class with most votes. \
         Random binning has no Gaussian kernel; it takes the Laplacian one with 1/gamma the \
         median L1 distance, and a feature is \
         a grid, of which each row occupies one bin.",
    );
    findings.heading("Decision surfaces");
    findings.picture("surfaces", surfaces);
    let kinds: Vec<_> = kinds
        .iter()
        .zip(&measured)
        .map(|(kind, measured)| {
            let sizes: Vec<_> = sizes
                .iter()
                .zip(measured)
                .map(|(size, m)| {
                    json!({"features": size, "accuracy": m.accuracies, "seconds": m.seconds})
                })
                .collect();
            json!({"map": kind.name, "sizes": sizes})
        })
        .collect();
    findings.number("maps", kinds);
    findings.number(
        "exact",
        json!({"accuracy": exact, "seconds": exact_seconds}),
    );
    findings.number(
        "linear",
        json!({"accuracy": linear, "seconds": linear_seconds}),
    );
    findings.number("trials", trials);
    Ok(findings)
}

fn chart(
    kinds: &[Kind],
    sizes: &[usize],
    measured: &[Vec<Measured>],
    (exact, linear): (f64, f64),
) -> Chart {
    let (from, to) = (sizes[0] as f64, sizes[sizes.len() - 1] as f64);
    let mut series = series(kinds, sizes, measured, |m| &m.accuracies);
    series.push(Series::level("exact kernel", from, to, exact));
    series.push(Series::level("linear, without features", from, to, linear));
    let (x, y) = (
        Axis::linear("features", ""),
        Axis::linear("accuracy on test rows", "share"),
    );
    let caption =
        "Accuracy against the number of features; bars show one standard deviation over seeds.";
    Chart::new(caption, vec![Panel::new("", x, y, series)])
}

fn times(
    kinds: &[Kind],
    sizes: &[usize],
    measured: &[Vec<Measured>],
    (exact, linear): (f64, f64),
) -> Chart {
    let (from, to) = (sizes[0] as f64, sizes[sizes.len() - 1] as f64);
    let mut series = series(kinds, sizes, measured, |m| &m.seconds);
    series.push(Series::level("exact kernel", from, to, exact));
    series.push(Series::level("linear, without features", from, to, linear));
    let (x, y) = (
        Axis::linear("features", ""),
        Axis::log("training time", "s"),
    );
    let caption = "Time of a fit, of the machine that this page was made on.";
    Chart::new(caption, vec![Panel::new("", x, y, series)])
}

fn series(
    kinds: &[Kind],
    sizes: &[usize],
    measured: &[Vec<Measured>],
    of: fn(&Measured) -> &Vec<f64>,
) -> Vec<Series> {
    let of_kind = |measured: &Vec<Measured>| -> Vec<Point> {
        let points = sizes.iter().zip(measured).map(|(size, m)| {
            let (mean, deviation) = mean_and_deviation(of(m));
            Point::new(*size as f64, mean).spread(deviation)
        });
        points.collect()
    };
    let named = kinds.iter().zip(measured);
    named
        .map(|(kind, m)| Series::new(kind.name, Drawn::Joined, of_kind(m)))
        .collect()
}

/// Accuracies at the largest size beside those that were published.
fn table(
    kinds: &[Kind],
    sizes: &[usize],
    measured: &[Vec<Measured>],
    (exact, linear): (f64, f64),
) -> Grid {
    let last = sizes[sizes.len() - 1];
    let of_last = format!("accuracy, {last} features");
    let first = format!("accuracy, {} features", sizes[0]);
    let grid = Grid::new(["map", &first, &of_last, "scikit-learn, 270 features"]);
    let mut grid = grid.caption(
        "scikit-learn's figures: RBFSampler, Nystroem, LinearSVC and SVC on the same rows, mean and standard deviation of 20 \
         seeds, measured with numpy and scikit-learn for this comparison; the experiment is \
         that of scikit-learn's example \
         'Explicit feature map approximation for RBF kernels'.",
    );
    for (kind, measured) in kinds.iter().zip(measured) {
        let published = match kind.name {
            "Fourier with phases" => "0.954 ± 0.005",
            "Nystrom" => "0.968 ± 0.002",
            _ => "",
        };
        let shown = |m: &Measured| with_deviation(&m.accuracies, 4);
        let of = |m: Option<&Measured>| m.map(shown).unwrap_or_default();
        let (first, last) = (of(measured.first()), of(measured.last()));
        grid.row([kind.name, &first, &last, published]);
    }
    grid.row(["exact kernel", "", &format!("{exact:.4}"), "0.972"]);
    grid.row([
        "linear, without features",
        "",
        &format!("{linear:.4}"),
        "0.934",
    ]);
    grid
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_halves_are_the_published_ones() {
        let digits = Digits::read().unwrap();
        assert_eq!(
            (digits.x.dim(), digits.x_test.dim()),
            ((808, 64), (809, 64))
        );
        assert_eq!((digits.labels.len(), digits.labels_test.len()), (808, 809));
        // Centred by all rows, so that both halves together have no mean.
        let sum = digits.x.sum_axis(Along(0)) + digits.x_test.sum_axis(Along(0));
        assert!(sum.iter().all(|v| v.abs() < 1e-9));
        assert!(digits.labels.contains(&8) && !digits.labels.contains(&9));
    }
}
