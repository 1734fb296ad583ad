//! Shapley values of single rows, for functions of many columns by sampled permutations.

use super::{Column, batches::Batches};
use crate::{
    Result,
    seed::{Draws, Seed, Stream},
};
use ndarray::{Array1, Array2, Array3, ArrayView1, ArrayView2, Axis, s};

/// Pairs of permutations for each background row.
const PAIRS: usize = 2;
/// Approximate number of intermediate rows that are predicted together.
const TOGETHER: usize = 4096;

/// Contribution of each column to the prediction of rows (Strumbelj & Kononenko 2014, "Explaining
/// prediction models and individual predictions with feature contributions").
///
/// Values are exact for functions of at most six columns, and for sums of such functions, by
/// enumerating all subsets of the columns. For others permutations are sampled: a background row is
/// changed to the explained row, column by column in a random order, and each column is assigned
/// the change of the output. The value is the mean over the background and over permutations and
/// their reverses (antithetic pairs; Mitchell, Cooper, Frank & Holmes 2022, "Sampling permutations
/// for Shapley value estimation"). It is exact for functions without interactions of three columns.
/// In any case, the values of a row sum to its prediction minus [`Self::base_k`].
#[derive(Debug, Clone, PartialEq)]
pub struct Shapley {
    /// Index of each explained row in the data, counted from 0, `[rows]`.
    pub rows: Vec<u64>,
    /// Whether all subsets of the columns were enumerated instead of sampling permutations: values
    /// are then exact for the background.
    pub is_exact: bool,
    /// The mean output of the background, `[outputs]`.
    pub base_k: Array1<f64>,
    /// Number of background rows.
    pub background: usize,
    /// The output of each row, `[rows, outputs]`.
    pub outputs_rk: Array2<f64>,
    /// Contribution of each column, `[rows, columns, outputs]`.
    pub values_rpk: Array3<f64>,
    /// Standard error of each due to sampled permutations, for a fixed background; 0 if exact,
    /// `[rows, columns, outputs]`.
    pub errors_rpk: Array3<f64>,
}

impl Shapley {
    /// Mean of `|value|` over rows and outputs, for each column.
    pub fn mean_absolute(&self) -> Vec<f64> {
        let columns = self.values_rpk.axis_iter(Axis(1));
        let mean =
            |of: ArrayView2<'_, f64>| of.iter().map(|v| v.abs()).sum::<f64>() / of.len() as f64;
        columns.map(mean).collect()
    }
}

/// Number of intermediate rows for a background row and an explained one, over all permutations.
pub(super) fn rows_of(columns: usize) -> usize {
    2 * PAIRS * columns.saturating_sub(1)
}

/// Values and standard errors of one row, each `[columns, outputs]`.
type OfRow = (Array2<f64>, Array2<f64>);

/// Shapley values of rows `x_rd` with indices `rows` in the data, for a background `[b, d]`.
pub(super) fn shapley(
    predict: &mut impl FnMut(Array2<f64>) -> Result<Array2<f64>>,
    (x_rd, rows): (&Array2<f64>, &[u64]),
    background_bd: &Array2<f64>,
    columns: &[Column],
    seed: Seed,
) -> Result<Shapley> {
    let mut batched = |x_nd: &Array2<f64>| {
        let mut batches = Batches::new(&mut *predict, x_nd.ncols());
        x_nd.rows()
            .into_iter()
            .try_for_each(|row| batches.push(row))?;
        batches.finish()
    };
    let (outputs_rk, from_bk) = (batched(x_rd)?, batched(background_bd)?);
    let outputs = outputs_rk.ncols();
    let shape = (x_rd.nrows(), columns.len(), outputs);
    let (mut values_rpk, mut errors_rpk) = (Array3::zeros(shape), Array3::zeros(shape));
    for (r, row_d) in x_rd.rows().into_iter().enumerate() {
        let draws = seed.stream(Stream::Orders, rows[r]);
        let ways = Ways {
            row_d,
            background_bd,
            columns,
            ends: (from_bk.view(), outputs_rk.row(r)),
        };
        let (values, errors) = ways.walk(predict, draws)?;
        values_rpk.index_axis_mut(Axis(0), r).assign(&values);
        errors_rpk.index_axis_mut(Axis(0), r).assign(&errors);
    }
    Ok(Shapley {
        rows: rows.to_vec(),
        is_exact: false,
        base_k: from_bk
            .mean_axis(Axis(0))
            .unwrap_or_else(|| Array1::zeros(outputs)),
        background: background_bd.nrows(),
        outputs_rk,
        values_rpk,
        errors_rpk,
    })
}

/// Paths from background rows to one explained row.
struct Ways<'a> {
    row_d: ArrayView1<'a, f64>,
    background_bd: &'a Array2<f64>,
    columns: &'a [Column],
    /// The outputs of the background, `[b, k]`, and of the row, `[k]`.
    ends: (ArrayView2<'a, f64>, ArrayView1<'a, f64>),
}

impl Ways<'_> {
    fn walk(
        &self,
        predict: &mut impl FnMut(Array2<f64>) -> Result<Array2<f64>>,
        mut draws: Draws,
    ) -> Result<OfRow> {
        let (columns, all) = (self.columns.len(), self.background_bd.nrows());
        let outputs = self.ends.1.len();
        let mut values_pk = Array2::<f64>::zeros((columns, outputs));
        let mut squares_pk = Array2::<f64>::zeros((columns, outputs));
        let steps = columns.saturating_sub(1);
        let block = (TOGETHER / rows_of(columns).max(1)).max(1);
        for from in (0..all).step_by(block) {
            let block = from..all.min(from + block);
            let orders: Vec<Vec<usize>> = (0..block.len() * PAIRS)
                .flat_map(|_| {
                    let order = draws.permutation(columns);
                    let back = order.iter().rev().copied().collect();
                    [order, back]
                })
                .collect();
            let mut batches = Batches::new(&mut *predict, self.row_d.len());
            for (w, order) in orders.iter().enumerate() {
                let mut at_d = self.background_bd.row(from + w / (2 * PAIRS)).to_owned();
                for &j in order.iter().take(steps) {
                    self.set(&mut at_d, j);
                    batches.push(at_d.view())?;
                }
            }
            let between = batches.finish()?;
            let of_ways: Vec<Array2<f64>> = (orders.iter().enumerate())
                .map(|(w, order)| {
                    let own = between.slice(s![w * steps..(w + 1) * steps, ..]);
                    self.changes((from + w / (2 * PAIRS), order), own)
                })
                .collect();
            // A permutation and its reverse are one observation; each background row has two.
            for of_row in of_ways.chunks(2 * PAIRS) {
                let first = (&of_row[0] + &of_row[1]) / 2.0;
                let second = (&of_row[2] + &of_row[3]) / 2.0;
                squares_pk += &(&first - &second).mapv(|d| d * d);
                values_pk += &((first + second) / 2.0);
            }
        }
        let all = all as f64;
        Ok((
            values_pk / all,
            squares_pk.mapv(|sum| sum.sqrt() / (2.0 * all)),
        ))
    }

    /// Copies the model columns of a column from the explained row.
    fn set(&self, at_d: &mut Array1<f64>, column: usize) {
        let own = s![self.columns[column].places.clone()];
        at_d.slice_mut(own).assign(&self.row_d.slice(own));
    }

    /// Change by each column on the path in this order from background row b, `[columns, outputs]`;
    /// `between` has the outputs after each step but the last.
    fn changes(&self, (b, order): (usize, &[usize]), between: ArrayView2<'_, f64>) -> Array2<f64> {
        let mut changes_pk = Array2::zeros((order.len(), self.ends.1.len()));
        let mut before_k = self.ends.0.row(b);
        for (step, &j) in order.iter().enumerate() {
            let after_k = match step + 1 == order.len() {
                true => self.ends.1,
                false => between.row(step),
            };
            changes_pk.row_mut(j).assign(&(&after_k - &before_k));
            before_k = after_k;
        }
        changes_pk
    }
}
