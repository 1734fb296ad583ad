//! Coefficients at several penalties from the sums of one map, and their held-out errors.

use super::loss;
use crate::{
    Error, Result, Run,
    data::{Chunk, ChunkSource},
    model::{Coefficients, LinearModel, Targets},
    normal::NormalEquations,
    solve::Cholesky,
};
use ndarray::{Array1, Array2, ArrayView1, ArrayView2, s};

/// Rows of a chunk of predictions.
pub(super) const CHUNK: usize = 2048;
/// Factor of the least of several penalties that has to be solvable as well, so that the fit to all
/// rows does not fail at a penalty that a trial just solved.
const ROOM: f64 = 0.1;
/// Penalty from which on systems are solvable: far above the rounding of f32 sums.
pub(super) const AMPLE: f64 = 1e-6;

/// Returns the solvable penalties in ascending order, and their concatenated coefficients.
pub(super) fn solve(
    sums: &NormalEquations,
    lambdas: &[f64],
    intercept: bool,
) -> Result<(Vec<f64>, Coefficients)> {
    let (mut kept, mut solved, mut refused) = (Vec::new(), Vec::new(), None);
    let at = |lambda: f64| (Cholesky { lambda, intercept }).solve(sums);
    let mut has_room = match lambdas {
        [several, _, ..] if *several < AMPLE => at(ROOM * several).is_ok(),
        _ => true,
    };
    for &lambda in lambdas {
        match at(lambda) {
            Ok(one) if has_room => {
                kept.push(lambda);
                solved.push(one);
            }
            Ok(_) => has_room = true,
            Err(error) => refused = Some(error),
        }
    }
    if solved.is_empty() {
        let none = || Error::numerical("no penalty is large enough for these features");
        return Err(refused.unwrap_or_else(none));
    }
    Ok((kept, Coefficients::side_by_side(&solved)?))
}

/// Returns the index of the least finite loss, and its errors.
pub(super) fn least(errors: &[(f64, f64)]) -> Result<(usize, (f64, f64))> {
    let ranked = errors.iter().enumerate();
    let losses = ranked.filter(|(_, errors)| errors.1.is_finite());
    let losses = losses.map(|(at, &(error, squared))| (at, loss(error, squared)));
    let best = losses.min_by(|(_, a), (_, b)| a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1)));
    best.map(|(at, _)| (at, errors[at]))
        .ok_or_else(|| Error::numerical("no penalty has a finite held-out error"))
}

/// Accumulates held-out errors of several penalties or models.
pub(super) struct Tally<'a> {
    targets: &'a Targets,
    /// Targets without a shift.
    plain: Targets,
    /// `[predictions, outputs]`.
    squared: Array2<f64>,
    wrong: Array1<f64>,
    total: f64,
}

impl<'a> Tally<'a> {
    pub(super) fn new(predictions: usize, targets: &'a Targets) -> Self {
        Self {
            plain: plain(targets),
            squared: Array2::zeros((predictions, targets.outputs())),
            wrong: Array1::zeros(predictions),
            total: 0.0,
            targets,
        }
    }

    /// Adds a chunk with the concatenated outputs of all predictions.
    pub(super) fn add(&mut self, scores_nt: ArrayView2<'_, f64>, chunk: &Chunk) -> Result<()> {
        let outputs = self.targets.outputs();
        let y_nt = self.plain.encode(chunk.y.view())?;
        for (i, (scores, y)) in scores_nt.rows().into_iter().zip(y_nt.rows()).enumerate() {
            let weight = chunk.weights.as_ref().map_or(1.0, |weights| weights[i]);
            self.total += weight;
            for (at, wrong) in self.wrong.iter_mut().enumerate() {
                let own = scores.slice(s![at * outputs..(at + 1) * outputs]);
                let squared = self.squared.row_mut(at);
                for (sum, (score, y)) in squared.into_iter().zip(own.iter().zip(y)) {
                    *sum += weight * (score - y).powi(2);
                }
                let largest = (1..outputs).fold(0, |b, k| if own[k] > own[b] { k } else { b });
                if y[largest] < 0.0 {
                    *wrong += weight;
                }
            }
        }
        Ok(())
    }

    /// Returns error and squared error of each prediction.
    pub(super) fn errors(&self, variance_t: &[f64]) -> Vec<(f64, f64)> {
        let squared = &self.squared / self.total;
        let outputs = self.targets.outputs() as f64;
        let of = |(row, wrong): (ArrayView1<'_, f64>, &f64)| match self.targets {
            Targets::Classes(_) => (wrong / self.total, row.sum() / outputs),
            Targets::Real { .. } => {
                let relative = row.iter().zip(variance_t).map(|(s, v)| s / v).sum::<f64>();
                let mean = relative / outputs;
                (mean.sqrt(), mean)
            }
        };
        squared
            .rows()
            .into_iter()
            .zip(&self.wrong)
            .map(of)
            .collect()
    }
}

/// Returns targets without a shift.
pub(super) fn plain(targets: &Targets) -> Targets {
    match targets {
        Targets::Real { columns, .. } => Targets::Real {
            columns: *columns,
            shift: vec![0.0; *columns],
        },
        classes => classes.clone(),
    }
}

/// Adds held-out rows to the tally of a model with the concatenated outputs of all penalties.
pub(super) fn tally_rows(
    tally: &mut Tally<'_>,
    model: &LinearModel,
    source: &mut dyn ChunkSource,
    run: &Run,
) -> Result<()> {
    let mut predictor = model.on(run)?;
    while let Some(chunk) = source.next_chunk(CHUNK)? {
        tally.add(predictor.scores(&chunk.x)?.view(), &chunk)?;
    }
    Ok(())
}
