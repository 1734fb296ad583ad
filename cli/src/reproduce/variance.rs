//! The variance of estimates of the kernel against closed forms, and their tails against bounds.

mod closed;
mod tails;

use super::{
    Context, Experiment,
    findings::{Findings, Grid},
};
use crate::page::chart::{Axis, Chart, Drawn, Panel, Point, Series};
use anyhow::Result;
use bochner::{
    analysis::estimates,
    data::Rows,
    features::{Affine, FeatureMap, Form, Fourier},
    kernels::Gaussian,
    sampling::Sampling,
};
use ndarray::Array2;
use serde_json::json;

pub(super) const EXPERIMENT: Experiment = Experiment {
    name: "variance",
    title: "How far estimates of the kernel scatter",
    data: &[],
    run,
};

/// Columns, and features of each map.
const COLUMNS: usize = 8;
const FEATURES: usize = 64;

/// A way to draw features, and its variance in closed form.
struct Kind {
    name: &'static str,
    form: Form,
    sampling: Sampling,
    closed: fn(f64) -> f64,
}

fn kinds() -> [Kind; 3] {
    [
        Kind {
            name: "paired",
            form: Form::Paired,
            sampling: Sampling::MonteCarlo,
            closed: |r| closed::independent(Form::Paired, FEATURES, r),
        },
        Kind {
            name: "with phases",
            form: Form::Phase,
            sampling: Sampling::MonteCarlo,
            closed: |r| closed::independent(Form::Phase, FEATURES, r),
        },
        Kind {
            name: "paired, orthogonal",
            form: Form::Paired,
            sampling: Sampling::Orthogonal,
            closed: |r| closed::orthogonal(FEATURES, COLUMNS, r),
        },
    ]
}

fn run(context: &Context<'_>) -> Result<Findings> {
    let trials = context.trials(if context.is_quick() { 2 } else { 4000 });
    let times = crate::report::counted(trials as u64, "seed");
    let distances: Vec<f64> = (1..=16).map(|i| 0.25 * f64::from(i)).collect();
    // The origin, and a row at each distance along no column in particular.
    let rows = Array2::from_shape_fn((distances.len() + 1, COLUMNS), |(i, j)| match i {
        0 => 0.0,
        i => distances[i - 1] * direction()[j],
    });
    let rows = Rows::from(rows);
    let pairs: Vec<(usize, usize)> = (1..=distances.len()).map(|i| (0, i)).collect();
    let mut series = Vec::new();
    let mut grid = Grid::new([
        "features",
        "distance",
        "kernel",
        "mean of estimates",
        "variance",
        "closed form",
        "ratio",
        "by chance",
    ])
    .caption(
        "Closed forms: paired (1 + k(2Δ) - 2 k(Δ)²)/D and with phases (1 + k(2Δ)/2 - k(Δ)²)/D (Sutherland & Schneider 2015, \
         section 2.1); orthogonal by the law of the sum of two orthogonal frequencies: \
         (1/s) [(1 - k²)²/2 + (d - 1) (k ₁F₁(-d/2; d/2; r²/2) - k²)] \
         with s = D/2 (after Yu et al. 2016, theorem 1, which \
         has its leading terms).",
    );
    let mut numbers = Vec::new();
    for kind in kinds() {
        context.say(format!("{} features, {trials} seeds", kind.name));
        let build = |seed| -> bochner::Result<Box<dyn FeatureMap>> {
            let map = Fourier::new(Gaussian).features(FEATURES).form(kind.form);
            let map = map.sampling(kind.sampling).seed(seed);
            Ok(Box::new(map.build(Affine::identity(COLUMNS))?))
        };
        let seeds = (0..trials).map(|trial| context.seed(trial));
        let measured = estimates(&rows, &pairs, context.run(), seeds, build)?;
        let points = distances.iter().zip(&measured.variance);
        let points = points.map(|(r, v)| Point::new(*r, FEATURES as f64 * v));
        series.push(Series::new(kind.name, Drawn::Marks, points));
        let curve = (0..=160).map(|i| {
            let r = 0.1 + 3.9 * f64::from(i) / 160.0;
            Point::new(r, FEATURES as f64 * (kind.closed)(r))
        });
        let name = format!("{}, closed form", kind.name);
        series.push(Series::new(name, Drawn::Line, curve));
        for (i, r) in distances.iter().enumerate() {
            let (mean, variance, closed) =
                (measured.mean[i], measured.variance[i], (kind.closed)(*r));
            if i % 4 == 3 {
                grid.row([
                    kind.name.to_owned(),
                    format!("{r}"),
                    format!("{:.5}", closed::kernel(*r)),
                    format!("{mean:.5}"),
                    format!("{variance:.3e}"),
                    format!("{closed:.3e}"),
                    format!("{:.3}", variance / closed),
                    format!("± {:.3}", 4.0 * (2.0 / trials as f64).sqrt()),
                ]);
            }
            numbers.push(json!({"features": kind.name, "distance": r, "mean": mean,
                                "variance": variance, "closed_form": closed}));
        }
    }
    let mut findings = Findings::default();
    findings.text(format!(
        "Gaussian kernel of {COLUMNS} columns at unit lengthscale, D = {FEATURES} features. Dots: variance of z(x)'z(y) over \
         {times}; curves: closed forms. Both are multiplied by D, so that they hold for any number of independent features."
    ));
    findings.heading("Variance");
    let x = Axis::linear("distance |Δ| of the rows", "lengthscales");
    let y = Axis::linear("D × variance of the estimate", "");
    // Each name twice in the legend would be long; measured and closed form share a colour.
    findings.picture("variance", paired_colours(Chart::new(
        "Variance of the estimate of the kernel by the distance of two rows: measured (marks) and in closed form (lines).",
        vec![Panel::new("", x, y, series)],
    )));
    findings.grid(grid);
    findings.number("variances", numbers);
    findings.number("trials", trials);
    tails::add(context, &mut findings)?;
    Ok(findings)
}

/// Marks and the line of each kind as one series, in one colour.
fn paired_colours(mut chart: Chart) -> Chart {
    for panel in &mut chart.panels {
        for series in &mut panel.series {
            if let Some(name) = series.name.strip_suffix(", closed form") {
                series.name = name.to_owned();
            }
        }
    }
    chart
}

/// A direction of length 1 that no column stands out in.
fn direction() -> [f64; COLUMNS] {
    let raw: [f64; COLUMNS] = std::array::from_fn(|j| 1.0 + 0.5 * (1.7 * j as f64).sin());
    let length = raw.iter().map(|v| v * v).sum::<f64>().sqrt();
    raw.map(|v| v / length)
}
