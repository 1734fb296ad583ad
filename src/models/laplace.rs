//! The Laplace approximation behind logistic regression of two classes, by two more passes over
//! the rows.

#[cfg(test)]
mod tests;

use super::{LinearModel, LogisticOptions, returning::Keeping};
use crate::{
    Error, Result,
    data::{Chunk, ChunkSource},
    error::Remedy,
    features::{FeatureMap, require_dense},
    flow::Run,
    normal::{NormalEquations, Targets},
    solve::{
        Laplace,
        loss::{Logistic, SmoothLoss},
    },
};
use ndarray::Array1;

/// Errors unless there is an approximation of what `options` minimise over so many classes.
pub(super) fn check(options: &LogisticOptions, map: &dyn FeatureMap, classes: usize) -> Result<()> {
    if classes != 2 {
        return Err(Error::unsupported(format!(
            "the Laplace approximation is of two classes, and there are {classes}"
        ))
        .help(Remedy::words("fit without it")));
    }
    if options.l1 != 0.0 || options.bound.is_some() {
        let problem = "the Laplace approximation is of a penalty of squares, not of l1 or a bound";
        return Err(Error::unsupported(problem).help(Remedy::words("leave one of both out")));
    }
    require_dense(map)
}

/// A source whose rows count by the curvature of their losses.
struct Curved<'a> {
    source: &'a mut dyn ChunkSource,
    curvature_n: &'a [f64],
    next: usize,
}

impl ChunkSource for Curved<'_> {
    fn columns(&self) -> usize {
        self.source.columns()
    }
    fn targets(&self) -> usize {
        self.source.targets()
    }
    fn is_weighted(&self) -> bool {
        true
    }
    fn rows(&self) -> Option<usize> {
        self.source.rows()
    }
    fn next_chunk(&mut self, max_rows: usize) -> Result<Option<Chunk>> {
        let Some(mut chunk) = self.source.next_chunk(max_rows)? else {
            return Ok(None);
        };
        let end = self.next + chunk.x.nrows();
        let Some(of_rows) = self.curvature_n.get(self.next..end) else {
            return Err(Error::shape(
                "the data has more rows than when it was read before; give the same every time",
            ));
        };
        chunk.weights = Some(Array1::from(of_rows.to_vec()));
        self.next = end;
        Ok(Some(chunk))
    }
    fn rewind(&mut self) -> Result<()> {
        self.next = 0;
        self.source.rewind()
    }
    fn is_checked(&self) -> bool {
        self.source.is_checked()
    }
}

/// Gives a model of one score, as logistic regression has it before it is split among both
/// classes, its spread and its evidence. Keeps 24 bytes a row.
///
/// Errors as the source, the device and [`Laplace::of`] do.
pub(super) fn approximate(
    model: &mut LinearModel,
    source: &mut dyn ChunkSource,
    options: &LogisticOptions,
    run: &Run,
) -> Result<()> {
    let Targets::Classes(labels) = &model.targets else {
        let problem = "the Laplace approximation is of classes, and the targets are amounts";
        return Err(Error::unsupported(problem));
    };
    let mut keeping = Keeping::new(
        &mut *source,
        Some(&model.targets),
        &options.class_weights,
        run,
    )?;
    let mut score_n = Vec::new();
    (model.on(run.silent())?).stream_scores(&mut keeping, |scores_nt, _| {
        score_n.extend(scores_nt.column(0));
        Ok(())
    })?;
    let (y, weight_n) = keeping.kept();
    let weight = |i: usize| weight_n.as_ref().map_or(1.0, |w| w[i]);
    let (mut log_likelihood, mut total) = (0.0, 0.0);
    let mut curvature_n = Vec::with_capacity(score_n.len());
    for (i, (&score, &label)) in score_n.iter().zip(&y).enumerate() {
        let side = if label == labels[1] { 1.0 } else { -1.0 };
        log_likelihood -= weight(i) * Logistic.value_and_slope(side, score).0;
        curvature_n.push(weight(i) * Logistic.bend(side, score).unwrap_or(0.0));
        total += weight(i);
    }
    let mut curved = Curved {
        source,
        curvature_n: &curvature_n,
        next: 0,
    };
    let none = Targets::none();
    let sums = NormalEquations::accumulate(model.map.as_ref(), &mut curved, &none, run.silent())?;
    let beta_d = model.coefficients.beta_dt.column(0);
    let precision = options.lambda * total;
    let at = (beta_d, options.intercept);
    let laplace = Laplace::of(&sums, at, precision, log_likelihood)?;
    let mut spread = laplace.spread;
    // One for each class, as a model has outputs.
    spread.noise_t = Array1::ones(2);
    model.spread = Some(spread);
    let evidence = laplace.log_evidence;
    (model.facts).insert("log_marginal_likelihood".into(), evidence);
    Ok(())
}
