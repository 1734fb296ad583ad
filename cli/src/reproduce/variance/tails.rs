//! How large errors get, beside what the bounds promise.

use super::Context;
use crate::{
    page::chart::{Axis, Chart, Drawn, Panel, Point, Series},
    reproduce::findings::{Findings, Grid},
};
use anyhow::Result;
use bochner::{
    analysis::{Bound, failure_probability, features_of},
    data::Rows,
    features::{Affine, Form, Fourier},
    kernels::Gaussian,
    prelude::Seed,
    seed::Stream,
};
use ndarray::Array2;
use serde_json::json;

/// Rows lie in a ball of this diameter in so many columns.
const COLUMNS: usize = 4;
const DIAMETER: f64 = 4.0;
const ROWS: usize = 48;
/// Errors that one seed in so many exceeds.
const ONE_IN: usize = 20;
const CHANCE: f64 = 1.0 / ONE_IN as f64;

/// Adds the measured tails.
pub(super) fn add(context: &Context<'_>, findings: &mut Findings) -> Result<()> {
    let trials = context.trials(400);
    let times = crate::report::counted(trials as u64, "seed");
    let sizes: &[usize] = if context.is_quick() {
        &[32, 128]
    } else {
        &[32, 64, 128, 256, 512, 1024]
    };
    let rows = ball(context.seed(0));
    let uniform = Bound::uniform(&Gaussian, COLUMNS, DIAMETER)?;
    let tails = sizes.iter().map(|&size| {
        context.say(format!("errors of {size} features, {trials} seeds"));
        let (one_pair, all_pairs) = measured(context, &rows, size, trials)?;
        Ok(Tail {
            size,
            one_pair,
            hoeffding: promised(Bound::Pointwise, size, CHANCE)?,
            all_pairs,
            uniform: promised(uniform, size, CHANCE)?,
        })
    });
    let tails = tails.collect::<Result<Vec<_>>>()?;
    findings.heading("Tails and bounds");
    findings.text(format!(
        "Errors that one seed in {ONE_IN} exceeds, of paired features, between {ROWS} rows drawn in a ball of diameter {DIAMETER} in \
         {COLUMNS} columns, over {times}; and those that the bounds promise with \
         that probability. No error exceeds \
         2: a bound above that says nothing."
    ));
    findings.picture("tails", chart(&tails, uniform)?);
    findings.grid(table(&tails).caption(
        "Hoeffding: 2 exp(-D ε²/4); uniform: 2⁸ (σ diam/ε)² exp(-D ε²/(4(d + 2))) (Rahimi & Recht 2007, claim 1).",
    ));
    let numbers = tails.iter().map(|tail| {
        json!({"features": tail.size, "one_pair": tail.one_pair, "hoeffding": tail.hoeffding,
               "all_pairs": tail.all_pairs, "uniform_bound": tail.uniform})
    });
    findings.number("tails", numbers.collect::<Vec<_>>());
    Ok(())
}

/// Errors of so many features that one seed in [`ONE_IN`] exceeds, and those that the bounds
/// promise.
struct Tail {
    size: usize,
    one_pair: f64,
    hoeffding: f64,
    all_pairs: f64,
    uniform: f64,
}

/// The errors of one pair of rows, and the largest of all, that one seed exceeds.
fn measured(
    context: &Context<'_>,
    rows: &Array2<f64>,
    size: usize,
    trials: usize,
) -> Result<(f64, f64)> {
    let exact = |i: usize, j: usize| {
        let square: f64 = (0..COLUMNS)
            .map(|c| (rows[[i, c]] - rows[[j, c]]).powi(2))
            .sum();
        (-square / 2.0).exp()
    };
    let points = Rows::from(rows.clone());
    let (mut single, mut largest) = (Vec::new(), Vec::new());
    for trial in 0..trials {
        let map = Fourier::new(Gaussian)
            .features(size)
            .seed(context.seed(trial));
        let map = map.build(Affine::identity(COLUMNS))?;
        let z = features_of(&map, &points, context.run())?;
        let k = z.dot(&z.t());
        let error = |i: usize, j: usize| (k[[i, j]] - exact(i, j)).abs();
        single.push(error(0, 1));
        let pairs = (0..ROWS).flat_map(|i| (0..i).map(move |j| (i, j)));
        largest.push(pairs.map(|(i, j)| error(i, j)).fold(0.0, f64::max));
    }
    Ok((exceeded(&mut single), exceeded(&mut largest)))
}

fn table(tails: &[Tail]) -> Grid {
    let mut grid = Grid::new([
        "features",
        "one pair, measured",
        "Hoeffding",
        "all pairs, measured",
        "uniform bound",
    ]);
    for tail in tails {
        grid.row([
            tail.size.to_string(),
            format!("{:.4}", tail.one_pair),
            format!("{:.4}", tail.hoeffding),
            format!("{:.4}", tail.all_pairs),
            format!("{:.2}", tail.uniform),
        ]);
    }
    grid
}

/// What was measured beside the curves of the bounds.
fn chart(tails: &[Tail], uniform: Bound) -> Result<Chart> {
    let (from, to) = (tails[0].size as f64, tails[tails.len() - 1].size as f64);
    let curve = |bound: Bound| -> Result<Vec<Point>> {
        let steps = (0..=40).map(|i| from * (to / from).powf(f64::from(i) / 40.0));
        steps
            .map(|size| Ok(Point::new(size, promised(bound, size as usize, CHANCE)?)))
            .collect()
    };
    let points = |of: fn(&Tail) -> f64| -> Vec<Point> {
        let points = tails
            .iter()
            .map(|tail| Point::new(tail.size as f64, of(tail)));
        points.collect()
    };
    let series = vec![
        Series::new(
            "one pair of rows, measured",
            Drawn::Joined,
            points(|tail| tail.one_pair),
        ),
        Series::new(
            "all pairs, measured",
            Drawn::Joined,
            points(|tail| tail.all_pairs),
        ),
        Series::new(
            "Hoeffding's bound for one pair",
            Drawn::Dashed,
            curve(Bound::Pointwise)?,
        ),
        Series::new(
            "uniform bound for all pairs",
            Drawn::Dashed,
            curve(uniform)?,
        ),
    ];
    let (x, y) = (
        Axis::log("features", ""),
        Axis::log("error of the kernel", ""),
    );
    let caption =
        format!("Error that is exceeded with probability 1/{ONE_IN}, measured and by the bounds.");
    Ok(Chart::new(caption, vec![Panel::new("", x, y, series)]))
}

/// The error that one in [`ONE_IN`] exceeds.
fn exceeded(errors: &mut [f64]) -> f64 {
    errors.sort_by(f64::total_cmp);
    let at = errors.len() - 1 - errors.len() / ONE_IN;
    errors[at]
}

/// The error that a bound promises to be exceeded with this probability at most, by bisection.
fn promised(bound: Bound, features: usize, probability: f64) -> Result<f64> {
    let (mut low, mut high) = (1e-6, 1e6);
    for _ in 0..200 {
        let middle = f64::sqrt(low * high);
        if failure_probability(bound, Form::Paired, features, middle)? > probability {
            low = middle
        } else {
            high = middle
        }
    }
    Ok(high)
}

/// Rows in a ball about the origin, uniform in direction and volume.
fn ball(seed: Seed) -> Array2<f64> {
    let mut draws = seed.stream(Stream::Data, 0);
    let mut rows = Array2::zeros((ROWS, COLUMNS));
    for mut row in rows.rows_mut() {
        row.mapv_inplace(|_| draws.normal());
        let length = row.dot(&row).sqrt();
        let radius = DIAMETER / 2.0 * draws.uniform().powf(1.0 / COLUMNS as f64);
        row *= radius / length;
    }
    rows
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounds_are_turned_about() {
        // 2 exp(-D eps^2 / 4) = 1/20.
        let error = promised(Bound::Pointwise, 100, 0.05).unwrap();
        assert!(
            (error - (4.0 * 40_f64.ln() / 100.0).sqrt()).abs() < 1e-9,
            "{error}"
        );
    }

    #[test]
    fn one_in_twenty_is_above() {
        let mut errors: Vec<f64> = (1..=100).map(f64::from).collect();
        errors.reverse();
        let at = exceeded(&mut errors);
        assert_eq!(errors.iter().filter(|e| **e > at).count(), 5);
    }

    #[test]
    fn rows_lie_in_the_ball() {
        let rows = ball(Seed(3));
        let longest = rows
            .rows()
            .into_iter()
            .map(|r| r.dot(&r).sqrt())
            .fold(0.0, f64::max);
        assert!(
            longest <= DIAMETER / 2.0 && longest > 0.4 * DIAMETER,
            "{longest}"
        );
    }
}
