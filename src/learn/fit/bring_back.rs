//! Converts predictions on a transformed target scale to means of the targets.

use crate::{
    Device, Error, Result, Run,
    data::{ChunkSource, Curve, Rescale, Rescaled},
    error::Remedy,
    model::{LinearModel, Link},
};
use std::sync::Arc;

/// Gives `model`, fitted to transformed targets, a link to means of the targets. The link is
/// computed from the residuals of the kept rows.
pub(crate) fn bring_back(model: &mut LinearModel, by: &Rescaled) -> Result<()> {
    if let Rescale::Unit(unit) = by.rescale {
        take_unit(model, unit);
        return Ok(());
    }
    if by.kept.is_empty() {
        let problem = "no rows were kept to bring amounts back by";
        return Err(Error::missing(problem).help(Remedy::AmountsAsTheyAre));
    }
    // On the CPU, so that results are the same on every machine; there are few rows.
    let run = Run::on(&Device::cpu());
    let (mut residuals, mut weights) = (Vec::new(), Vec::new());
    let mut source = by.kept.source();
    let mut predictor = model.on(&run)?;
    while let Some(chunk) = source.next_chunk(1024)? {
        let scores_nt = predictor.scores(&chunk.x)?;
        let rows = scores_nt
            .column(0)
            .to_owned()
            .into_iter()
            .zip(chunk.y.column(0));
        for (i, (score, y)) in rows.enumerate() {
            residuals.push(y - score);
            weights.push(chunk.weights.as_ref().map_or(1.0, |weights| weights[i]));
        }
    }
    drop(predictor);
    let all: f64 = weights.iter().sum();
    let mean = |of: &dyn Fn(f64) -> f64| {
        let each = residuals
            .iter()
            .zip(&weights)
            .map(|(&e, weight)| weight * of(e));
        each.sum::<f64>() / all
    };
    let (link, name) = match &by.rescale {
        Rescale::Logarithms => {
            let ln_smear = mean(&f64::exp).ln();
            (Link::Exponential { ln_smear }, "logarithms")
        }
        Rescale::Unit(_) => return Ok(()),
        Rescale::Ranks(ranks) => {
            let far = residuals.iter().fold(0.0_f64, |far, e| far.max(e.abs()));
            let mean = means(ranks, far, &|at| mean(&|e| ranks.reaches(at + e)))?;
            let (mean, ranks) = (Arc::new(mean), ranks.clone());
            (Link::Ranks { mean, ranks }, "ranks")
        }
    };
    model.link = Some(link);
    // Hold-out figures of the fit refer to the transformed targets, so the fact is renamed.
    for fact in ["held_out_r2", "estimated_r2"] {
        if let Some(r2) = model.facts.remove(fact) {
            model.facts.insert(format!("{fact}_of_{name}"), r2);
        }
    }
    Ok(())
}

/// Turns a model of targets divided by `unit` into one of the targets: scales its predictions and
/// its facts in the unit of the targets, and removes facts in other powers of the unit.
fn take_unit(model: &mut LinearModel, unit: f64) {
    const IN_UNIT: [&str; 3] = ["noise_deviation", "signal_deviation", "huber_width"];
    const IN_OTHERS: [&str; 3] = ["objective", "held_out_loss", "log_marginal_likelihood"];
    model.link = Some(Link::Unit { unit });
    model
        .facts
        .retain(|name, _| !IN_OTHERS.contains(&name.as_str()));
    for (name, figure) in &mut model.facts {
        if IN_UNIT.iter().any(|known| name.starts_with(known)) {
            *figure *= unit;
        }
    }
}

/// Curve from scores to means, sampled evenly over the range of the scores extended by `far` on
/// both sides.
fn means(ranks: &Curve, far: f64, mean: &dyn Fn(f64) -> f64) -> Result<Curve> {
    let ends = || ranks.points().map(|(_, score)| score);
    let (from, to) = ends().fold((0.0_f64, 0.0_f64), |(a, b), s| (a.min(s), b.max(s)));
    let (from, to) = (from - far, to + far);
    let at = |k: u32| from + (to - from) * f64::from(k) / f64::from(PIECES);
    let points = (0..=PIECES).map(|k| (at(k), mean(at(k))));
    Curve::through(rising(points))
}

/// Number of segments of the curve from scores to means.
const PIECES: u32 = 256;

/// Makes the points non-decreasing in y, which rounding may violate, and drops repeated x. If all
/// scores are equal, one point is left.
fn rising(points: impl Iterator<Item = (f64, f64)>) -> Vec<(f64, f64)> {
    let mut all = Vec::<(f64, f64)>::new();
    for (x, y) in points {
        match all.last() {
            Some(&(before, _)) if x <= before => {}
            Some(&(_, below)) => all.push((x, y.max(below))),
            None => all.push((x, y)),
        }
    }
    all
}
