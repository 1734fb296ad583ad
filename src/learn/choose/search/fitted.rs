//! Fits of a trial at several penalties.

use super::score::solve;
use crate::{
    Device, Result, Run,
    data::ChunkSource,
    features::{FeatureMap, require_dense},
    learn::squares::{dual, iterative},
    model::{Coefficients, LinearModel, Targets},
    normal::NormalEquations,
};

use ndarray::s;

/// Coefficients at several penalties.
pub(super) struct Fitted {
    /// Penalties for which the system could be solved.
    pub(super) lambdas: Vec<f64>,
    /// Coefficients of all penalties, concatenated.
    pub(super) solved: Coefficients,
    pub(super) rows: u64,
    /// Normal equations; `None` for the dual and for binning.
    pub(super) sums: Option<NormalEquations>,
}

impl Fitted {
    /// Fits training rows: binning by a few conjugate gradient steps, otherwise in the dual if
    /// requested and if memory suffices, or by normal equations.
    pub(super) fn new(
        map: &dyn FeatureMap,
        (rows, is_dual): (&mut dyn ChunkSource, bool),
        (targets, (lambdas, intercept)): (&Targets, (&[f64], bool)),
        run: &Run,
    ) -> Result<Self> {
        let held = if require_dense(map).is_err() {
            let options = (lambdas, intercept);
            Some(iterative::solve_each(map, rows, targets, options, run)?)
        } else if is_dual {
            dual::solve_each(map, rows, targets, (lambdas, intercept), run)?
        } else {
            None
        };
        if let Some((lambdas, solved, rows)) = held {
            return Ok(Self {
                lambdas,
                solved,
                rows,
                sums: None,
            });
        }
        rows.rewind()?;
        let sums = NormalEquations::accumulate(map, rows, targets, run)?;
        let (lambdas, solved) = solve(&sums, lambdas, intercept)?;
        Ok(Self {
            lambdas,
            solved,
            rows: sums.rows,
            sums: Some(sums),
        })
    }
}

/// Returns the coefficients of the penalty at index `at`, with `outputs` outputs.
pub(super) fn of_one(all: &Coefficients, at: usize, outputs: usize) -> Coefficients {
    let own = at * outputs..(at + 1) * outputs;
    Coefficients {
        beta_dt: all.beta_dt.slice(s![.., own.clone()]).to_owned(),
        intercept_t: all.intercept_t.slice(s![own]).to_owned(),
    }
}

/// Returns a model with the concatenated outputs of all penalties.
pub(super) fn stacked(
    map: Box<dyn FeatureMap>,
    solved: Coefficients,
    device: &Device,
) -> LinearModel {
    let columns = solved.intercept_t.len();
    let targets = Targets::Real {
        columns,
        shift: vec![0.0; columns],
    };
    LinearModel::new(map, solved, targets, device)
}
