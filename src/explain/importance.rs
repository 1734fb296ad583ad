//! Importance of columns: by permutation and by gradients.

use super::{Column, Measure, batches::Batches, measure::Judge};
use crate::{
    Error, Result,
    learn::metric::outer_product_of_rows,
    model::LinearModel,
    seed::{Seed, Stream},
};
use ndarray::{Array2, Axis, s};

/// Rows for which gradients are computed.
const GRADIENTS: usize = 500;

/// Importance of columns for a model on a sample of rows.
#[derive(Debug, Clone, PartialEq)]
pub struct Importance {
    /// Error measure of [`ColumnImportance::rise`].
    pub measure: Measure,
    /// Error of the unchanged rows; 0 without targets.
    pub error: f64,
    /// Number of sampled rows.
    pub rows: usize,
    /// Number of permutations of each column.
    pub repeats: usize,
    /// One entry per column, the most important first.
    pub columns: Vec<ColumnImportance>,
}

/// Importance of one column.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ColumnImportance {
    /// Its index among the [`Column`]s.
    pub column: usize,
    /// Increase of the error if the column is permuted between rows: the mean over repeats.
    pub rise: f64,
    /// The standard deviation over repeats.
    pub deviation: f64,
    /// The share of the column in the squared gradient; `None` if the map has no gradient.
    pub gradient: Option<f64>,
}

/// Error of the rows `[n, d]`, and its increase for each column, mean and standard deviation over
/// repeats (Breiman 2001, "Random forests", section 10; Fisher, Rudin & Dominici 2019). All model
/// columns of a table column are permuted together.
pub(super) fn by_permutation(
    predict: &mut impl FnMut(Array2<f64>) -> Result<Array2<f64>>,
    x_nd: &Array2<f64>,
    columns: &[Column],
    judge: &Judge<'_>,
    (repeats, seed): (usize, Seed),
) -> Result<(f64, Vec<(f64, f64)>)> {
    let mut outputs = |x_nd: &Array2<f64>| {
        let mut batches = Batches::new(predict, x_nd.ncols());
        x_nd.rows()
            .into_iter()
            .try_for_each(|row| batches.push(row))?;
        batches.finish()
    };
    let error = judge.error(&outputs(x_nd)?);
    let mut exchanged_nd = x_nd.clone();
    let mut all = Vec::new();
    for (j, column) in columns.iter().enumerate() {
        let own = s![.., column.places.clone()];
        let mut rises = Vec::new();
        for repeat in 0..repeats {
            // The permutations of a column do not depend on the other columns.
            let block = ((j as u64) << 32) | repeat as u64;
            let order = seed
                .stream(Stream::Exchange, block)
                .permutation(x_nd.nrows());
            let from_nw = x_nd.slice(own);
            exchanged_nd
                .slice_mut(own)
                .assign(&from_nw.select(Axis(0), &order));
            rises.push(judge.error(&outputs(&exchanged_nd)?) - error);
        }
        exchanged_nd.slice_mut(own).assign(&x_nd.slice(own));
        all.push(mean_and_deviation(&rises));
    }
    Ok((error, all))
}

fn mean_and_deviation(values: &[f64]) -> (f64, f64) {
    let count = values.len() as f64;
    let mean = values.iter().sum::<f64>() / count;
    let squares = values.iter().map(|v| (v - mean).powi(2)).sum::<f64>();
    (mean, (squares / (count - 1.0).max(1.0)).sqrt())
}

/// Share of each column in the squared gradient of the outputs: `tr(M S)` over the model columns of
/// the column, with M the average gradient outer product of a sample and S its covariance. For a
/// single model column it is `M_jj var x_j`, which does not depend on units; for a category, whose
/// indicators sum to 1 in each row, gradients along constant directions do not count. For leaves,
/// whose outputs are discontinuous, the shares from the fit. `None` if neither is known.
pub(super) fn by_gradients(
    model: &LinearModel,
    x_nd: &Array2<f64>,
    columns: &[Column],
) -> Result<Option<Vec<f64>>> {
    let of_columns: Vec<f64> = match &model.leaf_importance {
        Some(shares) => {
            let sum = |column: &Column| shares[column.places.clone()].iter().sum();
            columns.iter().map(sum).collect()
        }
        None => match outer_product_of_rows(model, &some(x_nd)) {
            Err(Error::Unsupported(_)) => return Ok(None),
            Err(error) => return Err(error),
            Ok(m_dd) => columns.iter().map(|of| trace(&m_dd, x_nd, of)).collect(),
        },
    };
    let all: f64 = of_columns.iter().sum();
    let even = 1.0 / columns.len() as f64;
    let share = |own: f64| if all > 0.0 { own / all } else { even };
    Ok(Some(of_columns.into_iter().map(share).collect()))
}

/// `tr(M S)` over the model columns of a column.
pub(super) fn trace(m_dd: &Array2<f64>, x_nd: &Array2<f64>, column: &Column) -> f64 {
    let own = s![.., column.places.clone()];
    let centred_nw = match x_nd.slice(own).mean_axis(Axis(0)) {
        Some(mean_w) => &x_nd.slice(own) - &mean_w,
        None => return 0.0,
    };
    let m_ww = m_dd.slice(s![column.places.clone(), column.places.clone()]);
    let sum = (&centred_nw.dot(&m_ww) * &centred_nw).sum();
    sum.max(0.0) / x_nd.nrows() as f64
}

/// At most [`GRADIENTS`] rows, evenly spaced.
fn some(x_nd: &Array2<f64>) -> Array2<f64> {
    let every = x_nd.nrows().div_ceil(GRADIENTS).max(1);
    x_nd.slice(s![..;every, ..]).to_owned()
}

/// Combines both, the largest increase first.
pub(super) fn in_order(
    rises: Vec<(f64, f64)>,
    gradients: Option<Vec<f64>>,
) -> Vec<ColumnImportance> {
    let all = rises.into_iter().enumerate();
    let mut columns: Vec<_> = all
        .map(|(column, (rise, deviation))| ColumnImportance {
            column,
            rise,
            deviation,
            gradient: gradients.as_ref().map(|of| of[column]),
        })
        .collect();
    columns.sort_by(|a, b| b.rise.total_cmp(&a.rise).then(a.column.cmp(&b.column)));
    columns
}
