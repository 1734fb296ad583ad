//! The smallest interpolant as the number of features crosses the number of rows.

use super::{
    Context, Experiment,
    digits::Digits,
    findings::{Findings, Grid, mean_and_deviation},
};
use crate::page::chart::{Axis, Chart, Drawn, Panel, Point, Series};
use anyhow::Result;
use bochner::{
    Run,
    data::MemorySource,
    features::{Affine, FeatureMap, Fourier, featurize},
    kernels::Gaussian,
    solve::Dual,
};
use ndarray::{Array2, s};
use serde_json::json;

pub(super) const EXPERIMENT: Experiment = Experiment {
    name: "double-descent",
    title: "More features than rows: the second descent",
    data: &[],
    run,
};

/// Training rows: the first of the training half.
const ROWS: usize = 400;
/// gamma of the Gaussian kernel.
const GAMMA: f64 = 0.2;
/// A penalty per sample that takes the peak away.
const LAMBDA: f64 = 1e-4;

/// What a fit is judged by.
#[derive(Debug, Clone, Copy)]
struct Judged {
    /// Mean square over rows and classes, targets -1 and 1.
    train: f64,
    test: f64,
    /// Share of test rows with another class than theirs.
    wrong: f64,
    /// Root of the sum of squares of all coefficients.
    norm: f64,
}

/// Features of all rows, `[n, D]`.
fn features(map: &dyn FeatureMap, x_nd: &Array2<f64>, run: &Run) -> Result<Array2<f64>> {
    let mut z_nd = Array2::zeros((x_nd.nrows(), map.output_dim()));
    let mut row = 0;
    featurize(map, &mut MemorySource::new(x_nd, None)?, run, |z| {
        z_nd.slice_mut(s![row..row + z.nrows(), ..])
            .assign(&z.mapv(f64::from));
        row += z.nrows();
        Ok(())
    })?;
    Ok(z_nd)
}

/// -1, and 1 at the class of a row, `[n, 9]`.
fn encoded(labels: &[u8]) -> Array2<f64> {
    Array2::from_shape_fn((labels.len(), 9), |(i, k)| {
        if usize::from(labels[i]) == k {
            1.0
        } else {
            -1.0
        }
    })
}

fn judge(digits: &Digits, sets: &[Array2<f64>; 2], lambda: f64) -> Result<Judged> {
    let [z_nd, z_test] = sets;
    let y_nt = encoded(&digits.labels);
    let dual = Dual {
        lambda,
        intercept: false,
    };
    let (fit, _) = dual.solve(z_nd.clone(), y_nt.clone(), None)?;
    let square = |off: Array2<f64>| off.mapv(|v| v * v).mean().unwrap_or(f64::NAN);
    let outputs = z_test.dot(&fit.beta_dt);
    let predicted: Vec<u8> = outputs
        .rows()
        .into_iter()
        .map(|row| {
            let best = (0..9).fold(0, |best, k| if row[k] > row[best] { k } else { best });
            best as u8
        })
        .collect();
    Ok(Judged {
        train: square(z_nd.dot(&fit.beta_dt) - &y_nt),
        test: square(outputs - encoded(&digits.labels_test)),
        wrong: 1.0 - digits.accuracy(&predicted),
        norm: fit.beta_dt.mapv(|b| b * b).sum().sqrt(),
    })
}

fn run(context: &Context<'_>) -> Result<Findings> {
    let mut digits = Digits::read()?;
    digits.x = digits.x.slice(s![..ROWS, ..]).to_owned();
    digits.labels.truncate(ROWS);
    let trials = context.trials(10);
    let sizes: &[usize] = if context.is_quick() {
        &[100, 400, 1600]
    } else {
        &[
            50, 100, 200, 280, 340, 370, 390, 400, 410, 430, 460, 520, 600, 800, 1200, 1600, 3200,
            6400,
        ]
    };
    let lambdas = [0.0, LAMBDA];
    // One for each penalty, size and repeat.
    let mut judged = vec![vec![Vec::with_capacity(trials); sizes.len()]; lambdas.len()];
    for (at, &size) in sizes.iter().enumerate() {
        for trial in 0..trials {
            context.say(format!("{size} features, seed {trial}"));
            let input = Affine::identity(64).lengthscale(1.0 / (2.0 * GAMMA).sqrt())?;
            let map = Fourier::new(Gaussian).features(size);
            let map = map.seed(context.seed(trial)).build(input)?;
            let of = |x| features(&map, x, context.run());
            let sets = [of(&digits.x)?, of(&digits.x_test)?];
            for (judged, &lambda) in judged.iter_mut().zip(&lambdas) {
                judged[at].push(judge(&digits, &sets, lambda)?);
            }
        }
    }
    let mut findings = Findings::default();
    let seeds = crate::report::counted(trials as u64, "seed");
    findings.text(format!(
        "{ROWS} rows of the digits 0 to 8 train, {} test. Paired Fourier features of the Gaussian \
         kernel with gamma {GAMMA}, targets -1 and 1 for each class, no intercept. Without a \
         penalty the fit is Z⁺y: least squares with fewer features than rows, and with more the \
         smallest coefficients that interpolate. Mean and standard deviation of {seeds}.",
        digits.x_test.nrows()
    ));
    findings.heading("Errors against the number of features");
    findings.picture("errors", chart(sizes, &judged));
    findings.text(format!(
        "As the number of features nears that of rows the coefficients grow without bound and the \
         error with them; behind it both fall again, and interpolating costs nothing (Belkin, Hsu, \
         Ma & Mandal 2019, figure 2, where 10,000 rows of MNIST show the same). A penalty of \
         {LAMBDA:e} takes the peak away."
    ));
    findings.grid(table(sizes, &judged));
    let numbers = lambdas.iter().zip(&judged).map(|(lambda, judged)| {
        let of_sizes = sizes.iter().zip(judged).map(|(size, judged)| {
            let of = |of: fn(&Judged) -> f64| judged.iter().map(of).collect::<Vec<_>>();
            json!({"features": size, "train": of(|j| j.train), "test": of(|j| j.test),
                   "wrong": of(|j| j.wrong), "norm": of(|j| j.norm)})
        });
        json!({"lambda": lambda, "sizes": of_sizes.collect::<Vec<_>>()})
    });
    findings.number("penalties", numbers.collect::<Vec<_>>());
    findings.number("rows", ROWS);
    findings.number("trials", trials);
    Ok(findings)
}

const NAMES: [&str; 2] = ["no penalty", "lambda 1e-4"];

fn chart(sizes: &[usize], judged: &[Vec<Vec<Judged>>]) -> Chart {
    let panel = |y: Axis, of: fn(&Judged) -> f64| {
        let mut series: Vec<Series> = NAMES
            .iter()
            .zip(judged)
            .map(|(name, judged)| {
                let points = sizes.iter().zip(judged).map(|(&size, judged)| {
                    let values: Vec<f64> = judged.iter().map(of).collect();
                    let (mean, deviation) = mean_and_deviation(&values);
                    // A bar that reached below 0 would leave a logarithmic axis.
                    Point::new(size as f64, mean).spread(deviation.min(0.9 * mean))
                });
                Series::new(*name, Drawn::Joined, points)
            })
            .collect();
        let all = series.iter().flat_map(|s| &s.points).map(|p| p.y);
        let (low, high) = all.fold((f64::INFINITY, 0.0_f64), |(l, h), y| (l.min(y), h.max(y)));
        let at_rows = [low, high].map(|y| Point::new(ROWS as f64, y));
        series.push(Series::new("as many as rows", Drawn::Dashed, at_rows));
        Panel::new("", Axis::log("features", ""), y, series)
    };
    let caption = "Left: wrong labels on test rows. Middle: mean squared error on test rows. \
        Right: length of the coefficients. Bars show one standard deviation over seeds.";
    Chart::new(
        caption,
        vec![
            panel(Axis::log("wrong labels", "share"), |j| j.wrong),
            panel(Axis::log("mean squared error", ""), |j| j.test),
            panel(Axis::log("length of coefficients", ""), |j| j.norm),
        ],
    )
}

fn table(sizes: &[usize], judged: &[Vec<Vec<Judged>>]) -> Grid {
    let head = [
        "features",
        "penalty",
        "wrong labels",
        "test error",
        "training error",
        "length",
    ];
    let mut grid = Grid::new(head).caption("Means over seeds; errors are mean squares.");
    for (at, size) in sizes.iter().enumerate() {
        for (name, judged) in NAMES.iter().zip(judged) {
            let mean = |of: fn(&Judged) -> f64| {
                mean_and_deviation(&judged[at].iter().map(of).collect::<Vec<_>>()).0
            };
            grid.row([
                size.to_string(),
                (*name).to_owned(),
                format!("{:.4}", mean(|j| j.wrong)),
                format!("{:.3e}", mean(|j| j.test)),
                format!("{:.1e}", mean(|j| j.train)),
                format!("{:.3e}", mean(|j| j.norm)),
            ]);
        }
    }
    grid
}
