//! Frequencies drawn evenly beside those drawn at random: errors of the kernel matrix, regression,
//! and the box discrepancy.

mod regression;

use super::{
    Context, Experiment,
    datasets::{CENSUS, CPU, MNIST},
    findings::{Findings, mean_and_deviation},
};
use crate::{
    page::chart::{Axis, Chart, Drawn, Panel, Point, Series},
    report::counted,
};
use anyhow::Result;
use bochner::{
    analysis::{ExactKernel, KernelError},
    data::Rows,
    features::{Affine, Fourier},
    kernels::{Gaussian, Kernel},
    sampling::{Halton, Sampling, Sobol, box_discrepancy},
};
use ndarray::{Array2, Axis as Along};
use serde_json::json;

pub(super) const EXPERIMENT: Experiment = Experiment {
    name: "qmc",
    title: "Frequencies drawn evenly",
    data: &[&CPU, &MNIST, &CENSUS],
    run,
};

/// The samplings that are compared. Each is random by its seed, but leaped Halton, which is as its
/// authors had it.
const SAMPLINGS: [(&str, Sampling); 6] = [
    ("Monte Carlo", Sampling::MonteCarlo),
    ("Halton, scrambled", Sampling::Halton(Halton::Scrambled)),
    ("Halton, leaped", Sampling::Halton(Halton::Leaped)),
    ("Sobol'", Sampling::Sobol(Sobol::Owen)),
    ("lattice", Sampling::Lattice),
    ("digital net", Sampling::DigitalNet),
];

/// Rows of which kernel matrices are compared.
const ROWS: usize = 500;
/// As many in a short form.
const ROWS_QUICK: usize = 100;
/// Sigma of cpu, of standardised columns, and of mnist, of pixels from 0 to 1.
const SIGMA_CPU: f64 = 18.24;
const SIGMA_MNIST: f64 = 10.26;

/// Rows of which this run compares kernel matrices.
fn rows(context: &Context<'_>) -> usize {
    if context.is_quick() { ROWS_QUICK } else { ROWS }
}

fn run(context: &Context<'_>) -> Result<Findings> {
    let mut findings = Findings::default();
    findings.text(format!(
        "Fourier features (paired) of the Gaussian kernel with frequencies from low-discrepancy sequences (Yang, Sindhwani, \
         Avron & Mahoney 2014; Avron, Sindhwani, Yang & Mahoney 2016). Kernel errors are \
         relative, on {} rows spread evenly \
         over the training rows; mean and standard deviation of {}.",
        rows(context),
        counted(context.trials(10) as u64, "seed")
    ));
    if let Some(cpu) = context.load(&CPU)? {
        let standardized = cpu.clone().standardized();
        matrices(context, &mut findings, "cpu", SIGMA_CPU, &standardized.x)?;
        discrepancy(context, &mut findings, &standardized.x)?;
        regression::of_cpu(context, &mut findings, &cpu)?;
    }
    if let Some(census) = context.load(&CENSUS)? {
        regression::of_census(context, &mut findings, &census)?;
    }
    if let Some(mnist) = context.load(&MNIST)? {
        let pixels = mnist.x / 255.0;
        matrices(context, &mut findings, "mnist", SIGMA_MNIST, &pixels)?;
    }
    Ok(findings)
}

/// Rows spread evenly, at unit lengthscale.
fn sample(x: &Array2<f64>, sigma: f64, rows: usize) -> Array2<f64> {
    let rows = rows.min(x.nrows());
    let places: Vec<usize> = (0..rows).map(|i| i * x.nrows() / rows).collect();
    x.select(Along(0), &places) / sigma
}

fn sizes(context: &Context<'_>) -> &'static [usize] {
    if context.is_quick() {
        &[50, 100]
    } else {
        &[50, 100, 200, 500, 1000]
    }
}

/// One of the norms of an error.
type Norm = fn(&KernelError) -> f64;

/// Errors of the kernel matrix in both norms.
fn matrices(
    context: &Context<'_>,
    findings: &mut Findings,
    name: &str,
    sigma: f64,
    x: &Array2<f64>,
) -> Result<()> {
    let rows = sample(x, sigma, rows(context));
    let rows = Rows::from(rows);
    let input = Affine::identity(x.ncols());
    let exact = ExactKernel::new(&Gaussian, &input, &rows)?;
    let norms: [(&str, Norm); 2] = [
        ("Frobenius norm", |e| e.frobenius),
        ("Euclidean norm", |e| e.spectral),
    ];
    let mut series: [Vec<Series>; 2] = Default::default();
    let mut numbers = Vec::new();
    for (label, sampling) in SAMPLINGS {
        let mut points: [Vec<Point>; 2] = Default::default();
        for &s in sizes(context) {
            context.say(format!("{name}: kernel errors of {label}, {s} frequencies"));
            let mut errors = Vec::new();
            for trial in 0..context.trials(10) {
                let map = Fourier::new(Gaussian).features(2 * s).sampling(sampling);
                let map = map.seed(context.seed(trial)).build(input.clone())?;
                errors.push(exact.error(&map, context.run())?);
            }
            for ((norm, of), points) in norms.iter().zip(&mut points) {
                let values: Vec<f64> = errors.iter().map(of).collect();
                let (mean, deviation) = mean_and_deviation(&values);
                points.push(Point::new(2.0 * s as f64, mean).spread(deviation));
                numbers.push(json!({"sampling": label, "frequencies": s, "norm": norm,
                                    "mean": mean, "deviation": deviation}));
            }
        }
        for (series, points) in series.iter_mut().zip(points) {
            series.push(Series::new(label, Drawn::Joined, points));
        }
    }
    let panels = norms.iter().zip(series).map(|((norm, _), series)| {
        let (x, y) = (Axis::log("features", ""), Axis::log("relative error", ""));
        Panel::new(*norm, x, y, series)
    });
    let caption = format!(
        "{name}: relative error of the kernel matrix against the number of features; sigma = {sigma}; bars show one standard \
         deviation."
    );
    findings.heading(format!("Kernel matrices of {name}"));
    findings.picture(
        format!("kernel-{name}"),
        Chart::new(caption, panels.collect()),
    );
    findings.number(format!("kernel_{name}"), numbers);
    Ok(())
}

/// The root of the mean squared error over the box of all differences, in closed form, beside the
/// error on pairs of rows.
fn discrepancy(context: &Context<'_>, findings: &mut Findings, x: &Array2<f64>) -> Result<()> {
    let s = 100;
    let rows = sample(x, SIGMA_CPU, 100);
    let d = x.ncols();
    // Half-widths of the box that holds the middle nine tenths of the differences.
    let widths: Vec<f64> = rows
        .columns()
        .into_iter()
        .map(|column| {
            let mut apart: Vec<f64> = column
                .iter()
                .flat_map(|a| column.iter().map(move |b| (a - b).abs()))
                .collect();
            apart.sort_by(f64::total_cmp);
            apart[apart.len() * 9 / 10].max(1e-3)
        })
        .collect();
    let exact = ExactKernel::new(&Gaussian, &Affine::identity(d), &Rows::from(rows.clone()))?;
    let scales = vec![1.0; d];
    let Some(measure) = Gaussian.spectrum() else {
        return Ok(());
    };
    let mut series = Vec::new();
    let mut numbers = Vec::new();
    for (label, sampling) in SAMPLINGS {
        context.say(format!("cpu: box discrepancy of {label}"));
        let mut points = Vec::new();
        for trial in 0..context.trials(10) {
            let drawn = sampling.draw(measure, d, s, false, context.seed(trial))?;
            let over_box = box_discrepancy(&Gaussian, &drawn, &scales, &widths)?
                .max(0.0)
                .sqrt();
            let map = Fourier::new(Gaussian).features(2 * s).sampling(sampling);
            let map = map.seed(context.seed(trial)).build(Affine::identity(d))?;
            let error = exact.error(&map, context.run())?.frobenius;
            points.push(Point::new(over_box, error));
            numbers.push(json!({"sampling": label, "box": over_box, "frobenius": error}));
        }
        series.push(Series::new(label, Drawn::Marks, points));
    }
    let (x, y) = (
        Axis::log("root mean squared error over the box", ""),
        Axis::log("relative error of the kernel matrix", ""),
    );
    let caption = format!(
        "cpu, {s} frequencies: what the box discrepancy foretells, and the error that was measured; a mark for each seed."
    );
    findings.heading("Box discrepancy");
    findings.picture(
        "box",
        Chart::new(caption, vec![Panel::new("", x, y, series)]),
    );
    findings.number("box", numbers);
    Ok(())
}
