//! Partial dependence of predictions on one column, and curves of single rows.

use super::{
    Column, ColumnValue,
    batches::Batches,
    column::{Holds, truth},
};
use crate::Result;
use ndarray::{Array2, Array3, ArrayView1, Axis, s};

/// Quantiles at the ends of a grid of numbers.
const ENDS: [f64; 2] = [0.01, 0.99];

/// Partial dependence of outputs on one column (Friedman 2001, "Greedy function approximation: a
/// gradient boosting machine", section 8.2), and individual conditional expectation curves
/// (Goldstein, Kapelner, Bleich & Pitkin 2015, "Peeking inside the black box").
#[derive(Debug, Clone, PartialEq)]
pub struct PartialDependence {
    /// Its index among the [`Column`]s.
    pub column: usize,
    /// Values that the column is set to: quantiles of numbers and dates in ascending order, or all
    /// categories, followed by missing if there are missing values.
    pub values: Vec<ColumnValue>,
    /// The mean output over rows with the column set to each value, `[values, outputs]`.
    pub mean_gk: Array2<f64>,
    /// Outputs of a sample of the rows, `[curves, values, outputs]`.
    pub curves_cgk: Array3<f64>,
    /// Indices of these rows in the data, counted from 0.
    pub curve_rows: Vec<u64>,
    /// Number of rows of the mean.
    pub rows: usize,
}

/// A value that a column is set to, encoded for the model.
pub(super) struct Level {
    pub(super) value: ColumnValue,
    pub(super) encoded: Vec<f64>,
}

/// The levels of a column in these rows; empty for texts whose values cannot be recovered.
pub(super) fn levels(column: &Column, x_nd: &Array2<f64>, most: usize) -> Vec<Level> {
    let is_there = |row: &ArrayView1<'_, f64>| !column.is_missing(*row);
    let along = || {
        let rows = x_nd.rows().into_iter().filter(is_there);
        quantiles(rows.map(|row| row[column.places.start]).collect(), most)
    };
    let values: Vec<ColumnValue> = match &column.holds {
        Holds::Numbers => along().into_iter().map(ColumnValue::Number).collect(),
        Holds::Dates(_) => along().into_iter().map(ColumnValue::Date).collect(),
        Holds::TruthValues => vec![truth(false), truth(true)],
        Holds::Categories(all) => all.iter().cloned().map(ColumnValue::Category).collect(),
        Holds::Texts => return Vec::new(),
    };
    let level = |value: ColumnValue| {
        let encoded = column.encode(&value)?;
        Some(Level { value, encoded })
    };
    let mut levels: Vec<Level> = values.into_iter().filter_map(level).collect();
    let mut missing = x_nd.rows().into_iter().filter(|row| !is_there(row));
    if let Some(row) = missing.next() {
        levels.push(Level {
            value: ColumnValue::Missing,
            encoded: row.slice(s![column.places.clone()]).to_vec(),
        });
    }
    levels
}

/// Values of rows at evenly spaced ranks, without duplicates.
fn quantiles(mut values: Vec<f64>, most: usize) -> Vec<f64> {
    values.sort_by(f64::total_cmp);
    let mut different = values.clone();
    different.dedup();
    if different.len() <= most {
        return different;
    }
    let last = (values.len() - 1) as f64;
    let at = |i: usize| {
        let share = ENDS[0] + (ENDS[1] - ENDS[0]) * i as f64 / (most - 1).max(1) as f64;
        values[(share * last).round() as usize]
    };
    let mut grid: Vec<f64> = (0..most).map(at).collect();
    grid.dedup();
    if grid.len() < 2 {
        // Nearly all values are equal: uses the extremes.
        return vec![values[0], values[values.len() - 1]];
    }
    grid
}

/// Outputs of rows `[n, d]` with a column set to each level, `[n, levels, outputs]`.
pub(super) fn curves(
    predict: &mut impl FnMut(Array2<f64>) -> Result<Array2<f64>>,
    x_nd: &Array2<f64>,
    column: &Column,
    levels: &[Level],
) -> Result<Array3<f64>> {
    let mut batches = Batches::new(predict, x_nd.ncols());
    for row in x_nd.rows() {
        let mut set_d = row.to_owned();
        for level in levels {
            let encoded = ArrayView1::from(&level.encoded);
            set_d.slice_mut(s![column.places.clone()]).assign(&encoded);
            batches.push(set_d.view())?;
        }
    }
    let found = batches.finish()?;
    let outputs = found.ncols();
    let shape = (x_nd.nrows(), levels.len(), outputs);
    found
        .into_shape_with_order(shape)
        .map_err(|error| crate::Error::shape(error.to_string()))
}

/// Averages all curves, and keeps some of them; `index_n` has the indices of their rows.
pub(super) fn summed_up(
    column: usize,
    levels: Vec<Level>,
    curves_ngk: &Array3<f64>,
    (index_n, kept): (&[u64], usize),
) -> PartialDependence {
    let (rows, values, outputs) = curves_ngk.dim();
    let taken: Vec<usize> = (0..rows.min(kept))
        .map(|i| i * rows / rows.min(kept))
        .collect();
    PartialDependence {
        column,
        values: levels.into_iter().map(|level| level.value).collect(),
        mean_gk: (curves_ngk.mean_axis(Axis(0)))
            .unwrap_or_else(|| Array2::zeros((values, outputs))),
        curves_cgk: curves_ngk.select(Axis(0), &taken),
        curve_rows: taken.iter().map(|&i| index_n[i]).collect(),
        rows,
    }
}
