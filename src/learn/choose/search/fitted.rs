//! A fit of a trial with each of some penalties.

use super::score::solve;
use crate::{
    Device, Result, Run,
    data::ChunkSource,
    features::FeatureMap,
    learn::squares::dual,
    model::{Coefficients, LinearModel, Targets},
    normal::NormalEquations,
};

/// Coefficients at each of some penalties.
pub(super) struct Fitted {
    /// Those that could be solved for.
    pub(super) lambdas: Vec<f64>,
    /// Side by side.
    pub(super) solved: Coefficients,
    pub(super) rows: u64,
    /// None where its rows are fewer than its features, and were solved for in the dual.
    pub(super) sums: Option<NormalEquations>,
}

impl Fitted {
    /// Of the rows of a split: in the dual where that is said and memory holds them, or by sums.
    pub(super) fn new(
        map: &dyn FeatureMap,
        (rows, is_dual): (&mut dyn ChunkSource, bool),
        (targets, (lambdas, intercept)): (&Targets, (&[f64], bool)),
        run: &Run,
    ) -> Result<Self> {
        let held = if is_dual {
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

/// A model whose outputs are those of all penalties, side by side.
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
