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
    analysis::{Estimates, estimates},
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

/// Distances of the rows, in lengthscales.
fn distances() -> [f64; 16] {
    std::array::from_fn(|i| 0.25 * (i + 1) as f64)
}

fn run(context: &Context<'_>) -> Result<Findings> {
    let trials = context.trials(if context.is_quick() { 2 } else { 4000 });
    let times = crate::report::counted(trials as u64, "seed");
    let (mut series, mut grid, mut numbers) = (Vec::new(), grid(), Vec::new());
    for kind in kinds() {
        let measured = kind.measure(context, trials)?;
        series.extend(kind.series(&measured));
        for (i, r) in distances().into_iter().enumerate() {
            let (mean, variance, closed) =
                (measured.mean[i], measured.variance[i], (kind.closed)(r));
            if i % 4 == 3 {
                grid.row([
                    kind.name.to_owned(),
                    format!("{r}"),
                    format!("{:.5}", closed::kernel(r)),
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
    findings.picture("variance", chart(series));
    findings.grid(grid);
    findings.number("variances", numbers);
    findings.number("trials", trials);
    tails::add(context, &mut findings)?;
    Ok(findings)
}

impl Kind {
    /// Estimates of the kernel between the origin and a row at each distance, along no column in
    /// particular.
    fn measure(&self, context: &Context<'_>, trials: usize) -> Result<Estimates> {
        context.say(format!("{} features, {trials} seeds", self.name));
        let (distances, direction) = (distances(), direction());
        let rows = Array2::from_shape_fn((distances.len() + 1, COLUMNS), |(i, j)| match i {
            0 => 0.0,
            i => distances[i - 1] * direction[j],
        });
        let pairs: Vec<(usize, usize)> = (1..=distances.len()).map(|i| (0, i)).collect();
        let build = |seed| -> bochner::Result<Box<dyn FeatureMap>> {
            let map = Fourier::new(Gaussian).features(FEATURES).form(self.form);
            let map = map.sampling(self.sampling).seed(seed);
            Ok(Box::new(map.build(Affine::identity(COLUMNS))?))
        };
        let seeds = (0..trials).map(|trial| context.seed(trial));
        let rows = Rows::from(rows);
        Ok(estimates(&rows, &pairs, context.run(), seeds, build)?)
    }

    /// What was measured as marks, the closed form as a line.
    fn series(&self, measured: &Estimates) -> [Series; 2] {
        let points = distances().into_iter().zip(&measured.variance);
        let points = points.map(|(r, v)| Point::new(r, FEATURES as f64 * v));
        let curve = (0..=160).map(|i| {
            let r = 0.1 + 3.9 * f64::from(i) / 160.0;
            Point::new(r, FEATURES as f64 * (self.closed)(r))
        });
        // Of one name, so that they share a colour.
        [
            Series::new(self.name, Drawn::Marks, points),
            Series::new(self.name, Drawn::Line, curve),
        ]
    }
}

fn chart(series: Vec<Series>) -> Chart {
    let x = Axis::linear("distance |Δ| of the rows", "lengthscales");
    let y = Axis::linear("D × variance of the estimate", "");
    Chart::new(
        "Variance of the estimate of the kernel by the distance of two rows: measured (marks) and in closed form (lines).",
        vec![Panel::new("", x, y, series)],
    )
}

/// The table of variances, still without rows.
fn grid() -> Grid {
    let grid = Grid::new([
        "features",
        "distance",
        "kernel",
        "mean of estimates",
        "variance",
        "closed form",
        "ratio",
        "by chance",
    ]);
    grid.caption(
        "Closed forms: paired (1 + k(2Δ) - 2 k(Δ)²)/D and with phases (1 + k(2Δ)/2 - k(Δ)²)/D (Sutherland & Schneider 2015, \
         section 2.1); orthogonal by the law of the sum of two orthogonal frequencies: \
         (1/s) [(1 - k²)²/2 + (d - 1) (k ₁F₁(-d/2; d/2; r²/2) - k²)] \
         with s = D/2 (after Yu et al. 2016, theorem 1, which \
         has its leading terms).",
    )
}

/// A direction of length 1 that no column stands out in.
fn direction() -> [f64; COLUMNS] {
    let raw: [f64; COLUMNS] = std::array::from_fn(|j| 1.0 + 0.5 * (1.7 * j as f64).sin());
    let length = raw.iter().map(|v| v * v).sum::<f64>().sqrt();
    raw.map(|v| v / length)
}
