//! Dense, structured and data-dependent features of MNIST: errors by the number of features, and
//! what they cost.

mod cost;

use super::{
    Context, Experiment,
    datasets::MNIST,
    findings::{Findings, Grid, mean_and_deviation, with_deviation},
};
use crate::page::chart::{Axis, Chart, Drawn, Panel, Point, Series};
use anyhow::Result;
use bochner::{
    analysis::ExactKernel,
    data::Rows,
    features::{Affine, Bandwidth, Fastfood, FeatureMap, Fourier, Nystrom, Sorf, Standardize},
    kernels::Gaussian,
    models::RidgeClassifier,
    prelude::{MapBuilder, Seed},
    sampling::Sampling,
};
use ndarray::{Array1, Array2, s};
use serde_json::json;

pub(super) const EXPERIMENT: Experiment = Experiment {
    name: "fastfood",
    title: "Structured features beside dense ones",
    data: &[&MNIST],
    run,
};

/// Training and test rows, and rows of which kernel matrices are compared.
const ROWS: [usize; 3] = [20_000, 10_000, 500];
const ROWS_QUICK: [usize; 3] = [500, 300, 100];
/// The lengthscale of pixels from 0 to 1: their median distance.
const SIGMA: f64 = 10.26;
const LAMBDA: f64 = 1e-6;

/// A map by its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Sinks,
    Orthogonal,
    Fastfood,
    Sorf,
    Nystrom,
}

impl Kind {
    const ALL: [Self; 5] = [
        Self::Sinks,
        Self::Orthogonal,
        Self::Fastfood,
        Self::Sorf,
        Self::Nystrom,
    ];

    fn name(self) -> &'static str {
        match self {
            Self::Sinks => "kitchen sinks",
            Self::Orthogonal => "orthogonal",
            Self::Fastfood => "Fastfood",
            Self::Sorf => "SORF",
            Self::Nystrom => "Nystrom",
        }
    }

    /// The map for a learner, which shows it the training rows.
    fn builder(self, features: usize, seed: Seed) -> Box<dyn MapBuilder> {
        let fourier = Fourier::new(Gaussian).features(features).seed(seed);
        match self {
            Self::Sinks => Box::new(fourier),
            Self::Orthogonal => Box::new(fourier.sampling(Sampling::Orthogonal)),
            Self::Fastfood => Box::new(Fastfood::new(Gaussian).features(features).seed(seed)),
            Self::Sorf => Box::new(Sorf::new(Gaussian).features(features).seed(seed)),
            Self::Nystrom => Box::new(Nystrom::new(Gaussian).features(features).seed(seed)),
        }
    }

    /// The map by itself; landmarks are of `rows`.
    fn map(
        self,
        features: usize,
        seed: Seed,
        input: Affine,
        rows: &Array2<f64>,
    ) -> Result<Box<dyn FeatureMap>> {
        let fourier = Fourier::new(Gaussian).features(features).seed(seed);
        Ok(match self {
            Self::Sinks => Box::new(fourier.build(input)?),
            Self::Orthogonal => Box::new(fourier.sampling(Sampling::Orthogonal).build(input)?),
            Self::Fastfood => Box::new(
                Fastfood::new(Gaussian)
                    .features(features)
                    .seed(seed)
                    .build(input)?,
            ),
            Self::Sorf => Box::new(
                Sorf::new(Gaussian)
                    .features(features)
                    .seed(seed)
                    .build(input)?,
            ),
            Self::Nystrom => {
                let map = Nystrom::new(Gaussian).features(features).seed(seed);
                Box::new(map.build(input, rows)?)
            }
        })
    }
}

/// Rows with their digits.
struct Digits {
    x: Array2<f64>,
    y: Vec<u8>,
    x_test: Array2<f64>,
    y_test: Vec<u8>,
}

/// Errors of each map and size, a number a seed.
struct Errors {
    wrong: Vec<Vec<Vec<f64>>>,
    kernel: Vec<Vec<Vec<f64>>>,
}

fn measure(
    context: &Context<'_>,
    digits: &Digits,
    sizes: &[usize],
    pairs: usize,
    trials: usize,
) -> Result<Errors> {
    let input = Affine::identity(digits.x.ncols()).lengthscale(SIGMA)?;
    let few = digits
        .x
        .slice(s![..pairs.min(digits.x.nrows()), ..])
        .to_owned();
    let few = Rows::from(few);
    let exact = ExactKernel::new(&Gaussian, &input, &few)?;
    let mut errors = Errors {
        wrong: Vec::new(),
        kernel: Vec::new(),
    };
    for kind in Kind::ALL {
        let (mut wrong, mut kernel) = (Vec::new(), Vec::new());
        for &size in sizes {
            let (mut wrong_of, mut kernel_of) = (Vec::new(), Vec::new());
            for trial in 0..trials {
                context.say(format!("{}, {size} features, seed {trial}", kind.name()));
                let seed = context.seed(trial);
                let model = RidgeClassifier::on(kind.builder(size, seed))
                    .bandwidth(Bandwidth::Sigma(SIGMA))
                    .standardize(Standardize::No)
                    .lambda(LAMBDA)
                    .seed(seed)
                    .device(context.device())
                    .fit((&digits.x, digits.y.as_slice()))?;
                let predicted: Vec<u8> = model.predict(&digits.x_test)?;
                let pairs = predicted.iter().zip(&digits.y_test);
                let share = pairs.filter(|(p, y)| p != y).count() as f64;
                wrong_of.push(share / predicted.len() as f64);
                let map = kind.map(size, seed, input.clone(), &digits.x)?;
                kernel_of.push(exact.error(map.as_ref(), context.run())?.frobenius);
            }
            wrong.push(wrong_of);
            kernel.push(kernel_of);
        }
        errors.wrong.push(wrong);
        errors.kernel.push(kernel);
    }
    Ok(errors)
}

fn run(context: &Context<'_>) -> Result<Findings> {
    let mut findings = Findings::default();
    let Some(table) = context.load(&MNIST)? else {
        return Ok(findings);
    };
    let [rows, rows_test, pairs] = if context.is_quick() { ROWS_QUICK } else { ROWS };
    let labels = |y: &Array1<f64>, n: usize| y.iter().take(n).map(|&y| y as u8).collect();
    let (rows, rows_test) = (
        rows.min(table.x.nrows()),
        rows_test.min(table.x_test.nrows()),
    );
    let digits = Digits {
        x: table.x.slice(s![..rows, ..]).mapv(|v| v / 255.0),
        y: labels(&table.y, rows),
        x_test: table.x_test.slice(s![..rows_test, ..]).mapv(|v| v / 255.0),
        y_test: labels(&table.y_test, rows_test),
    };
    drop(table);
    let sizes: &[usize] = if context.is_quick() {
        &[64, 256]
    } else {
        &[128, 256, 512, 1024, 2048]
    };
    let trials = context.trials(3);
    let seeds = crate::report::counted(trials as u64, "seed");
    let errors = measure(context, &digits, sizes, pairs, trials)?;
    findings.text(format!(
        "The first {rows} training and {rows_test} test rows of MNIST, pixels from 0 to 1. Gaussian kernel with sigma = {SIGMA}, \
         paired features, ridge regression of each digit against all others with lambda = {LAMBDA:e}. Kernel errors are of the \
         matrix of {pairs} rows. Mean and standard deviation of {seeds}."
    ));
    findings.heading("Errors against the number of features");
    findings.picture("errors", chart(sizes, &errors));
    findings.grid(table_of(sizes, &errors));
    let numbers = Kind::ALL.iter().enumerate().map(|(i, kind)| {
        json!({"map": kind.name(), "features": sizes, "wrong": errors.wrong[i],
               "kernel": errors.kernel[i]})
    });
    findings.number("errors", numbers.collect::<Vec<_>>());
    findings.number("trials", trials);
    cost::add(context, &mut findings)?;
    Ok(findings)
}

fn chart(sizes: &[usize], errors: &Errors) -> Chart {
    let panel = |y: Axis, of: &[Vec<Vec<f64>>]| {
        let series = Kind::ALL.iter().zip(of).map(|(kind, values)| {
            let points = sizes.iter().zip(values).map(|(&size, values)| {
                let (mean, deviation) = mean_and_deviation(values);
                Point::new(size as f64, mean).spread(deviation.min(0.9 * mean))
            });
            Series::new(kind.name(), Drawn::Joined, points)
        });
        Panel::new("", Axis::log("features", ""), y, series.collect())
    };
    let caption = "Left: wrong labels on test rows. Right: relative error of the kernel matrix in the Frobenius norm. Bars \
                   show one standard deviation over seeds.";
    Chart::new(
        caption,
        vec![
            panel(Axis::log("wrong labels", "share"), &errors.wrong),
            panel(Axis::log("error of the kernel matrix", ""), &errors.kernel),
        ],
    )
}

fn table_of(sizes: &[usize], errors: &Errors) -> Grid {
    let mut head = vec!["map".to_owned(), "error".to_owned()];
    head.extend(sizes.iter().map(|size| format!("{size} features")));
    let mut grid = Grid::new(head).caption(
        "Published for the same question: Le, Sarlos & Smola 2013 find Fastfood as accurate as kitchen sinks; Yu et al. 2016 \
         find SORF and orthogonal features to have less kernel error than kitchen sinks. Their figures are of other rows and \
         bandwidths.",
    );
    for (i, kind) in Kind::ALL.iter().enumerate() {
        for (what, of, times) in [
            ("wrong labels, %", &errors.wrong[i], 100.0),
            ("kernel matrix", &errors.kernel[i], 1.0),
        ] {
            let mut row = vec![kind.name().to_owned(), what.to_owned()];
            row.extend(of.iter().map(|values| {
                let values: Vec<f64> = values.iter().map(|v| v * times).collect();
                with_deviation(&values, if times > 1.0 { 2 } else { 4 })
            }));
            grid.row(row);
        }
    }
    grid
}
