//! Ridge regression on binned rows with a loose tolerance, for trials of a search and the final fit
//! that they lead to.

use super::{RowsOnHost, read};
use crate::{
    Error, Result,
    clock::Instant,
    data::ChunkSource,
    features::FeatureMap,
    flow::Run,
    learn::{Fit, FitData},
    model::{Coefficients, FitTimes, LinearModel, Targets},
    settings::Settings,
    solve::{BinnedRows, Ends},
};

/// Stops when predictions no longer change. Converging the coefficients of single bins would take
/// several times as many steps without lower hold-out errors.
const ROUGH: Ends = Ends {
    tolerance: 5e-3,
    most: 60,
};

/// Reads `source` once and solves for each penalty: returns the penalties, their coefficients side
/// by side, and the number of rows. Errors with [`Error::Unsupported`] if the map has parts without
/// bins, and as [`super::fit`] does.
pub(in crate::learn) fn solve_each(
    map: &dyn FeatureMap,
    source: &mut dyn ChunkSource,
    targets: &Targets,
    (lambdas, intercept): (&[f64], bool),
    run: &Run,
) -> Result<(Vec<f64>, Coefficients, u64)> {
    let held = read(map, source, targets, run)?;
    let rows = held.y_tn.ncols() as u64;
    let binned = bins(&held)?;
    let weights_n = held.weights_n.as_ref().map(|weights| weights.view());
    let data = (held.y_tn.view(), weights_n);
    // The largest penalty takes the fewest steps; each start is the solution of the one before.
    let mut solved: Vec<Coefficients> = Vec::with_capacity(lambdas.len());
    for &lambda in lambdas.iter().rev() {
        let start = (ROUGH, solved.last());
        solved.push(binned.solve_roughly(data, (lambda, intercept), start));
    }
    solved.reverse();
    Ok((lambdas.to_vec(), Coefficients::side_by_side(&solved)?, rows))
}

fn bins<'h>(held: &'h RowsOnHost<'_>) -> Result<&'h BinnedRows> {
    match (held.binned.as_slice(), held.dense.is_empty()) {
        ([binned], true) => Ok(binned),
        _ => Err(Error::unsupported("bins are solved for without other maps")),
    }
}

/// Ridge regression on bins alone.
#[derive(Debug, Clone, Copy)]
pub(in crate::learn) struct RoughBins {
    pub(in crate::learn) lambda: f64,
    pub(in crate::learn) intercept: bool,
}

impl Fit for RoughBins {
    fn settings(&self) -> Settings {
        Settings::of_learner("ridge").number("lambda", self.lambda)
    }

    fn takes_weights(&self) -> bool {
        true
    }

    fn is_least_squares(&self) -> bool {
        true
    }

    fn row_bytes(&self, outputs: usize) -> usize {
        8 * outputs
    }

    fn fit(&self, map: Box<dyn FeatureMap>, data: FitData<'_>) -> Result<LinearModel> {
        let FitData {
            source,
            targets,
            run,
            ..
        } = data;
        let start = Instant::now();
        let lambdas = [self.lambda];
        let how = (lambdas.as_slice(), self.intercept);
        let (_, coefficients, rows) = solve_each(map.as_ref(), source, &targets, how, run)?;
        Ok(LinearModel {
            lambda: self.lambda,
            rows,
            times: Some(FitTimes {
                accumulate: std::time::Duration::ZERO,
                solve: start.elapsed(),
            }),
            ..LinearModel::new(map, coefficients, targets, &run.device)
        })
    }
}
