//! Exact Shapley values by all subsets of the columns, for functions of few columns: the parts of
//! an additive model, or the whole model.

use super::{
    Column, Explainer, Outputs, Shapley,
    batches::Batches,
    counting,
    parts::{Part, parts_of},
};
use crate::{Result, Step, data::RowSample, model::LinearModel};
use ndarray::{Array1, Array2, Array3, Axis, s};

/// Maximum number of columns of a function for enumerating subsets.
const MOST: usize = 6;

/// Functions with exact values.
pub(super) enum Exact<'m> {
    /// The sum of these functions, plus the intercept.
    Sum(Vec<Part<'m>>),
    /// One function of all columns.
    Whole,
}

impl<'m> Exact<'m> {
    /// `None` if a function has too many columns. `is_sum` says whether outputs are the sum itself,
    /// which is not the case for probabilities.
    pub(super) fn of(model: &'m LinearModel, columns: &[Column], is_sum: bool) -> Option<Self> {
        let parts = is_sum.then(|| parts_of(model, columns)).flatten();
        match parts {
            Some(parts) if parts.iter().all(|part| part.columns.len() <= MOST) => {
                Some(Self::Sum(parts))
            }
            _ => (columns.len() <= MOST).then_some(Self::Whole),
        }
    }

    /// Number of intermediate rows for each background row.
    pub(super) fn rows_of(&self, columns: usize) -> usize {
        match self {
            Self::Sum(parts) => parts.iter().map(|part| between(part.columns.len())).sum(),
            Self::Whole => between(columns),
        }
    }
}

/// Number of proper, nonempty subsets of the columns.
fn between(columns: usize) -> usize {
    (1_usize << columns).saturating_sub(2)
}

/// Contribution of a function to the outputs of rows.
pub(super) struct Shares {
    /// Its values at the rows, `[rows, outputs]`.
    pub(super) values_rk: Array2<f64>,
    /// Its mean over the background, `[outputs]`.
    pub(super) base_k: Array1<f64>,
    /// The share of each of its columns, `[rows, columns, outputs]`.
    pub(super) shares_rpk: Array3<f64>,
}

/// Shapley values of a function `f` of the columns `own` at rows `[r, d]`, for a background `[b,
/// d]` (Shapley 1953, "A value for n-person games"):
///
/// `phi_j = sum_S |S|! (m - |S| - 1)! / m! (v(S + j) - v(S))` over the subsets S of the other
/// columns, of m in all, with `v(S)` the mean of f over the background with the columns of S as in
/// the row.
pub(super) fn by_subsets(
    f: &mut dyn FnMut(Array2<f64>) -> Result<Array2<f64>>,
    (x_rd, background_bd): (&Array2<f64>, &Array2<f64>),
    own: &[&Column],
) -> Result<Shares> {
    let mut batched = |x_nd: &Array2<f64>| {
        let mut batches = Batches::new(&mut *f, x_nd.ncols());
        x_nd.rows()
            .into_iter()
            .try_for_each(|row| batches.push(row))?;
        batches.finish()
    };
    let (values_rk, of_background) = (batched(x_rd)?, batched(background_bd)?);
    let outputs = values_rk.ncols();
    let mean = |of: Option<Array1<f64>>| of.unwrap_or_else(|| Array1::zeros(outputs));
    let base_k = mean(of_background.mean_axis(Axis(0)));
    let (m, all) = (own.len(), background_bd.nrows());
    let mut batches = Batches::new(&mut *f, x_rd.ncols());
    for row_d in x_rd.rows() {
        for set in 1..=between(m) {
            for from_d in background_bd.rows() {
                let mut at_d = from_d.to_owned();
                for (_, column) in own.iter().enumerate().filter(|(j, _)| set >> j & 1 == 1) {
                    let places = s![column.places.clone()];
                    at_d.slice_mut(places).assign(&row_d.slice(places));
                }
                batches.push(at_d.view())?;
            }
        }
    }
    let between_nk = batches.finish()?;
    let mut shares_rpk = Array3::zeros((x_rd.nrows(), m, outputs));
    for (r, of_row_k) in values_rk.rows().into_iter().enumerate() {
        let value = |set: usize| match set {
            0 => base_k.clone(),
            set if set > between(m) => of_row_k.to_owned(),
            set => {
                let from = (r * between(m) + set - 1) * all;
                mean(
                    between_nk
                        .slice(s![from..from + all, ..])
                        .mean_axis(Axis(0)),
                )
            }
        };
        let of_sets: Vec<Array1<f64>> = (0..1_usize << m).map(value).collect();
        for j in 0..m {
            let mut share_k = shares_rpk.slice_mut(s![r, j, ..]);
            for set in (0..1_usize << m).filter(|set| set >> j & 1 == 0) {
                let change_k = &of_sets[set | 1 << j] - &of_sets[set];
                share_k.scaled_add(weight(set.count_ones() as usize, m), &change_k);
            }
        }
    }
    Ok(Shares {
        values_rk,
        base_k,
        shares_rpk,
    })
}

/// `s! (m - s - 1)! / m!`: one over m times the number of subsets of size s of m - 1.
fn weight(s: usize, m: usize) -> f64 {
    let sets = (0..s).fold(1.0, |sets, i| sets * (m - 1 - i) as f64 / (i + 1) as f64);
    1.0 / (m as f64 * sets)
}

/// Values of rows with indices `rows` in the data, for the intercept only.
fn of_intercept(intercept_k: &Array1<f64>, rows: &[u64], columns: usize) -> Shapley {
    let shape = (rows.len(), columns, intercept_k.len());
    Shapley {
        rows: rows.to_vec(),
        is_exact: true,
        base_k: intercept_k.clone(),
        background: 0,
        outputs_rk: Array2::zeros((shape.0, shape.2)) + intercept_k,
        values_rpk: Array3::zeros(shape),
        errors_rpk: Array3::zeros(shape),
    }
}

impl Shapley {
    /// Adds a function of these columns.
    fn add(&mut self, shares: &Shares, columns: impl IntoIterator<Item = usize>) {
        self.base_k += &shares.base_k;
        self.outputs_rk += &shares.values_rk;
        for (own, j) in shares.shares_rpk.axis_iter(Axis(1)).zip(columns) {
            let mut to_rk = self.values_rpk.index_axis_mut(Axis(1), j);
            to_rk += &own;
        }
    }
}

impl<'m> Explainer<'m> {
    /// The values of rows, for a background `[b, d]`.
    pub(super) fn exact_shapley(
        &mut self,
        exact: Exact<'m>,
        explained: &RowSample,
        background_bd: &Array2<f64>,
    ) -> Result<Shapley> {
        let rows = explained.index_n.as_slice();
        let of = (&explained.x_nd, background_bd);
        let mut found = match exact {
            Exact::Whole => {
                let (outputs, all) = (&mut self.outputs, self.columns.iter().collect::<Vec<_>>());
                let mut f = counting(outputs, &self.run, &mut self.done, Outputs::some);
                let shares = by_subsets(&mut f, of, &all)?;
                let none_k = Array1::zeros(shares.base_k.len());
                let mut found = of_intercept(&none_k, rows, all.len());
                found.add(&shares, 0..all.len());
                found
            }
            Exact::Sum(parts) => {
                let from = self.outputs.from();
                let intercept_t = &self.model.coefficients.intercept_t;
                let intercept_k = intercept_t.slice(s![from..]).to_owned();
                let mut found = of_intercept(&intercept_k, rows, self.columns.len());
                for part in parts {
                    let mut loaded = part.load(self.model, &self.run)?;
                    let (done, run) = (&mut self.done, &self.run);
                    let mut f = |x_nd: Array2<f64>| {
                        *done += x_nd.nrows() as u64;
                        let all_nt = loaded.outputs(x_nd)?;
                        run.pause(Step::Rows(*done))?;
                        Ok(all_nt.slice(s![.., from..]).to_owned())
                    };
                    let own = part.columns.iter().map(|&j| &self.columns[j]);
                    let shares = by_subsets(&mut f, of, &own.collect::<Vec<_>>())?;
                    found.add(&shares, part.columns);
                }
                found
            }
        };
        found.background = background_bd.nrows();
        Ok(found)
    }
}
