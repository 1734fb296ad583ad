//! Handwritten digits: a linear support vector machine on features beside that with the kernel
//! itself and the one without.

mod pairs;
mod surfaces;

use super::{
    Context, Experiment,
    findings::{Findings, Grid, mean_and_deviation, with_deviation},
};
use crate::{
    page::chart::{Axis, Chart, Drawn, Panel, Point, Series},
    report::counted,
};
use anyhow::Result;
use bochner::{
    features::{Bandwidth, Binning, Form, Fourier, Identity, MapBuilder, Nystrom, Standardize},
    kernels::{Gaussian, Laplacian},
    models::SupportVectorClassifier,
    prelude::Seed,
};
use ndarray::{Array2, Axis as Along, s};
use serde_json::{Value, json};
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
            let numbers: Vec<u8> = line
                .split(',')
                .map(str::parse::<u8>)
                .collect::<Result<_, _>>()?;
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

impl Kind {
    /// The worth of a machine on so many of its features.
    fn worth(
        &self,
        context: &Context<'_>,
        digits: &Digits,
        features: usize,
        trial: usize,
    ) -> Result<Worth> {
        context.say(format!("{}, {features} features, seed {trial}", self.name));
        let seed = context.seed(trial);
        let map = (self.make)(features, seed);
        let machine = machine(context, map, &self.bandwidth, digits.x.nrows()).seed(seed);
        Worth::measure(&machine, digits)
    }
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

/// What a machine is worth: its accuracy on test rows, and the seconds of its fit.
struct Worth {
    accuracy: f64,
    seconds: f64,
}

/// Worths of each kind at each size, one a seed, and those that they stand beside.
struct Measured {
    kinds: [Kind; 4],
    sizes: Vec<usize>,
    trials: usize,
    /// By kind, size and seed.
    worths: Vec<Vec<Vec<Worth>>>,
    exact: Worth,
    linear: Worth,
}

fn run(context: &Context<'_>) -> Result<Findings> {
    let digits = Digits::read()?;
    let measured = Measured::new(context, &digits)?;
    context.say("decision surfaces");
    let surfaces = surfaces::chart(context, &digits)?;

    let mut findings = Findings::default();
    findings.text(format!(
        "The digits 0 to 8 of 8 × 8 pixels, divided by 16 and centred: the first {} rows train, the other {} test. \
         Gaussian kernel with gamma {GAMMA}; squared hinge, one class against all, C = \
         {COST}. Mean and standard deviation of \
         {}.",
        digits.x.nrows(),
        digits.x_test.nrows(),
        counted(measured.trials as u64, "seed")
    ));
    findings.heading("Accuracy and training time");
    findings.picture("accuracy", measured.accuracies());
    findings.picture("time", measured.times());
    findings.grid(measured.table());
    findings.text(
        "The exact machine is that of libsvm: hinge loss, a machine for each pair of classes, the class with most votes. \
         Random binning has no Gaussian kernel; it takes the Laplacian one with 1/gamma the \
         median L1 distance, and a feature is \
         a grid, of which each row occupies one bin.",
    );
    findings.heading("Decision surfaces");
    findings.picture("surfaces", surfaces);
    findings.number("maps", measured.numbers());
    findings.number("exact", measured.exact.numbers());
    findings.number("linear", measured.linear.numbers());
    findings.number("trials", measured.trials);
    Ok(findings)
}

impl Worth {
    /// Of a machine fitted to the training rows.
    fn measure(machine: &SupportVectorClassifier, digits: &Digits) -> Result<Self> {
        let begun = Instant::now();
        let fitted = machine.fit((&digits.x, digits.labels.as_slice()))?;
        let seconds = begun.elapsed().as_secs_f64();
        let predicted: Vec<u8> = fitted.predict(&digits.x_test)?;
        Ok(Self {
            accuracy: digits.accuracy(&predicted),
            seconds,
        })
    }

    fn numbers(&self) -> Value {
        json!({"accuracy": self.accuracy, "seconds": self.seconds})
    }
}

impl Measured {
    fn new(context: &Context<'_>, digits: &Digits) -> Result<Self> {
        context.say("exact kernel machine");
        let begun = Instant::now();
        let exact = Worth {
            accuracy: pairs::accuracy(context, digits)?,
            seconds: begun.elapsed().as_secs_f64(),
        };
        context.say("linear machine");
        let rows = digits.x.nrows();
        let linear = machine(context, Box::new(Identity), &Bandwidth::Sigma(1.0), rows);
        let mut measured = Self {
            kinds: kinds(),
            sizes: if context.is_quick() {
                vec![30, 270]
            } else {
                (1..10).map(|i| 30 * i).collect()
            },
            trials: context.trials(20),
            worths: Vec::new(),
            exact,
            linear: Worth::measure(&linear, digits)?,
        };
        for kind in &measured.kinds {
            let of_size = |&size| {
                let trials = 0..measured.trials;
                let of_trial = |trial| kind.worth(context, digits, size, trial);
                trials.map(of_trial).collect::<Result<Vec<_>>>()
            };
            let worths = measured.sizes.iter().map(of_size).collect::<Result<_>>()?;
            measured.worths.push(worths);
        }
        Ok(measured)
    }

    fn accuracies(&self) -> Chart {
        self.chart(
            "Accuracy against the number of features; bars show one standard deviation over seeds.",
            Axis::linear("accuracy on test rows", "share"),
            |worth| worth.accuracy,
        )
    }

    fn times(&self) -> Chart {
        self.chart(
            "Time of a fit, of the machine that this page was made on.",
            Axis::log("training time", "s"),
            |worth| worth.seconds,
        )
    }

    /// One of the numbers by the count of features, with those that it stands beside.
    fn chart(&self, caption: &str, y: Axis, of: fn(&Worth) -> f64) -> Chart {
        let mut series: Vec<Series> = (self.kinds.iter().zip(&self.worths))
            .map(|(kind, worths)| {
                let points = self.sizes.iter().zip(worths).map(|(size, worths)| {
                    let values: Vec<f64> = worths.iter().map(of).collect();
                    let (mean, deviation) = mean_and_deviation(&values);
                    Point::new(*size as f64, mean).spread(deviation)
                });
                Series::new(kind.name, Drawn::Joined, points)
            })
            .collect();
        let (from, to) = (
            self.sizes[0] as f64,
            self.sizes[self.sizes.len() - 1] as f64,
        );
        for (name, worth) in [
            ("exact kernel", &self.exact),
            ("linear, without features", &self.linear),
        ] {
            series.push(Series::level(name, from, to, of(worth)));
        }
        let x = Axis::linear("features", "");
        Chart::new(caption, vec![Panel::new("", x, y, series)])
    }

    /// Accuracies at the least and the largest size beside those that were published.
    fn table(&self) -> Grid {
        let last = self.sizes[self.sizes.len() - 1];
        let of_last = format!("accuracy, {last} features");
        let first = format!("accuracy, {} features", self.sizes[0]);
        let grid = Grid::new(["map", &first, &of_last, "scikit-learn, 270 features"]);
        let mut grid = grid.caption(
            "scikit-learn's figures: RBFSampler, Nystroem, LinearSVC and SVC on the same rows, mean and standard deviation of 20 \
             seeds, measured with numpy and scikit-learn for this comparison; the experiment is \
             that of scikit-learn's example \
             'Explicit feature map approximation for RBF kernels'.",
        );
        for (kind, worths) in self.kinds.iter().zip(&self.worths) {
            let published = match kind.name {
                "Fourier with phases" => "0.954 ± 0.005",
                "Nystrom" => "0.968 ± 0.002",
                _ => "",
            };
            let shown = |worths: &Vec<Worth>| {
                let accuracies: Vec<f64> = worths.iter().map(|worth| worth.accuracy).collect();
                with_deviation(&accuracies, 4)
            };
            let first = worths.first().map(shown).unwrap_or_default();
            let last = worths.last().map(shown).unwrap_or_default();
            grid.row([kind.name, &first, &last, published]);
        }
        for (name, worth, published) in [
            ("exact kernel", &self.exact, "0.972"),
            ("linear, without features", &self.linear, "0.934"),
        ] {
            grid.row([name, "", &format!("{:.4}", worth.accuracy), published]);
        }
        grid
    }

    /// Every number, by map.
    fn numbers(&self) -> Vec<Value> {
        let of_kind = |(kind, worths): (&Kind, &Vec<Vec<Worth>>)| {
            let sizes = self.sizes.iter().zip(worths).map(|(size, worths)| {
                let of = |of: fn(&Worth) -> f64| worths.iter().map(of).collect::<Vec<f64>>();
                json!({"features": size, "accuracy": of(|worth| worth.accuracy),
                       "seconds": of(|worth| worth.seconds)})
            });
            json!({"map": kind.name, "sizes": sizes.collect::<Vec<_>>()})
        };
        self.kinds.iter().zip(&self.worths).map(of_kind).collect()
    }
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
