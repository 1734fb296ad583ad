//! Sampled rows, and their leave-one-out and hold-out errors.

mod amounts;
mod downhill;
mod slopes;
mod weights;

pub(super) use amounts::Amounts;
pub(super) use downhill::downhill;

use super::{MORE_ROWS, ROWS, kernel_values::KernelValues, order::RowOrder};
use crate::{
    Device, Error, Result,
    data::{ChunkSource, KeptRows, MemorySource, Observations, Rescale, grouped},
    features::Scaling,
    model::Targets,
    normal::NormalEquations,
    solve::{Centred, CentredLeftOut, Cholesky, WeightedRows},
};
use downhill::{PENALTIES, ascending, least};
use ndarray::{Array1, Array2, ArrayView1, ArrayView2, Axis, s};
use std::ops::Range;
use weights::{effective, of_mean_one, spread, weighted_mean};

/// Preparation of rows for a candidate.
#[derive(Debug, Clone, Copy)]
pub(super) struct How<'a> {
    pub(super) scaling: &'a Scaling,
    /// One lengthscale, or one per column.
    pub(super) lengthscales: &'a [f64],
    /// Weight of a linear part, if there is one.
    pub(super) line: Option<f64>,
}

impl How<'_> {
    /// Returns the rows at unit lengthscale.
    fn apply(&self, x_md: Array2<f64>) -> Result<Array2<f64>> {
        self.scaling.input(self.lengthscales)?.apply(&x_md.into())
    }
}

/// Least number of observations for a choice.
const MIN_OBSERVATIONS: f64 = 20.0;
/// Stride through the penalties if each needs a factorization.
const EACH: usize = 4;
/// Relative difference below which values count as equal.
const SAME: f64 = 1e-10;
/// Largest number of targets or classes.
const MOST_OUTPUTS: usize = 32;

/// Sampled rows in their order of use, with centred targets.
pub(super) struct Deciding {
    x_md: Array2<f64>,
    y_mt: Array2<f64>,
    /// Weights, scaled to mean 1.
    weights_m: Array1<f64>,
    /// Keys of priority sampling, ascending among the rows before the hold-out set.
    keys_m: Vec<f64>,
    observations: Observations,
    /// Effective number of observations of the fit.
    effective: f64,
    /// Groups of rows that are left out together, if there are any.
    groups_m: Option<Vec<u32>>,
    /// Number of rows before the hold-out set.
    seen: usize,
    /// Mean and standard deviation of the first target.
    first: (f64, f64),
    /// Penalties, per row.
    penalties: Vec<f64>,
}

impl Deciding {
    /// Prepares sampled rows; `None` if too few rows differ, or if no target varies.
    pub(super) fn from_rows(
        (kept, order): (&KeptRows, &RowOrder),
        targets: &Targets,
        (penalties, all_rows): (Option<&[f64]>, u64),
    ) -> Result<Option<Self>> {
        let Some(chunk) = kept.source().next_chunk(MORE_ROWS.0)? else {
            return Ok(None);
        };
        let (x_md, y_mt) = (chunk.x.into_f64(), chunk.y);
        let weights_m = chunk.weights.unwrap_or_else(|| Array1::ones(y_mt.nrows()));
        let groups_m = kept.source().groups();
        let (places, seen) = order.held_last(groups_m.as_deref(), weights_m.view());
        let keys_m = places.iter().map(|&place| order.keys[place]).collect();
        let order: Vec<usize> = places.iter().map(|&place| order.rows[place]).collect();
        let groups_m = groups_m.map(|all| order.iter().map(|&i| all[i]).collect());
        let x_md = x_md.select(Axis(0), &order);
        let y_mt = y_mt.select(Axis(0), &order);
        let weights_m = of_mean_one(&weights_m.select(Axis(0), &order));
        let observations = kept.observations().select(&order);
        let count = observations.count_m.iter().sum::<f64>();
        if count < MIN_OBSERVATIONS {
            return Ok(None);
        }
        let missing = match kept.are_all() {
            true => 1.0,
            false => all_rows as f64 / count,
        };
        let y_mt = outputs(&y_mt, targets);
        let middle_t = weighted_mean(y_mt.view(), weights_m.view());
        let mut y_mt = y_mt - &middle_t;
        let mut first = (middle_t.first().copied().unwrap_or(0.0), 1.0);
        if let Targets::Real { .. } = targets {
            for (k, mut y) in y_mt.columns_mut().into_iter().enumerate() {
                let squares_m = &y.mapv(|y| y * y) * &weights_m;
                let deviation = (squares_m.sum() / weights_m.sum()).sqrt();
                // Constant up to rounding.
                if deviation <= 1e-14 * middle_t[k].abs() {
                    y.fill(0.0);
                } else if deviation > 0.0 {
                    y /= deviation;
                    if k == 0 {
                        first.1 = deviation;
                    }
                }
            }
        }
        let varies = y_mt.iter().any(|&y| y != 0.0) && y_mt.iter().all(|y| y.is_finite());
        Ok(varies.then_some(Self {
            x_md,
            y_mt,
            effective: effective(weights_m.view(), &observations.count_m) * missing,
            weights_m,
            keys_m,
            observations,
            groups_m,
            seen,
            first,
            penalties: ascending(penalties),
        }))
    }

    /// Returns the given penalties, or every fourth of the default ones.
    fn few_penalties(&self) -> Vec<f64> {
        match self.penalties.len() {
            PENALTIES => self
                .penalties
                .iter()
                .skip(EACH / 2)
                .step_by(EACH)
                .copied()
                .collect(),
            _ => self.penalties.clone(),
        }
    }

    /// Returns the columns that equal a linear function of the target to ten digits: possible
    /// leaks.
    pub(super) fn that_know(&self) -> Vec<usize> {
        let known = |x: ArrayView1<'_, f64>| {
            let off = |y: ArrayView1<'_, f64>| {
                let x_m = &x - x.mean().unwrap_or(0.0);
                let spread = x_m.dot(&x_m);
                if spread == 0.0 {
                    return f64::INFINITY;
                }
                let slope = x_m.dot(&y) / spread;
                let most = |of: &Array1<f64>| of.iter().fold(0.0_f64, |m, v| m.max(v.abs()));
                most(&(&y - slope * &x_m)) / most(&y.to_owned())
            };
            self.y_mt.columns().into_iter().any(|y| off(y) < SAME)
        };
        let columns = self.x_md.columns().into_iter().enumerate();
        columns.filter(|(_, x)| known(*x)).map(|(j, _)| j).collect()
    }

    /// Returns the number of leave-one-out rows.
    pub(super) fn few(&self) -> usize {
        self.x_md.nrows().min(ROWS)
    }

    /// Returns the number of sampled rows.
    pub(super) fn all(&self) -> usize {
        self.x_md.nrows()
    }

    /// Returns the columns of the leave-one-out rows.
    pub(super) fn few_md(&self) -> ArrayView2<'_, f64> {
        self.x_md.slice(s![..self.few(), ..])
    }

    /// Returns the errors of the hold-out set with features fitted to the other rows, at the best
    /// penalty; `None` if kernel values are exact.
    fn held_out(
        &self,
        kernel_values: &KernelValues<'_>,
        how: How<'_>,
    ) -> Result<Option<Array2<f64>>> {
        let KernelValues::Features(map, _) = kernel_values else {
            return Ok(None);
        };
        let u_md = how.apply(self.x_md.clone())?;
        let (seen_m, held_m) = (
            self.weights(0..self.seen),
            self.weights(self.seen..self.all()),
        );
        let (seen, held) = (s![..self.seen, ..], s![self.seen.., ..]);
        let y_mt = self.y_mt.slice(held);
        let targets = Targets::Real {
            columns: y_mt.ncols(),
            shift: vec![0.0; y_mt.ncols()],
        };
        let map = KernelValues::with_line(map, how.line)?;
        let seen = (
            u_md.slice(seen).to_owned(),
            self.y_mt.slice(seen).to_owned(),
        );
        let source = MemorySource::new(&seen.0, Some(seen.1))?;
        let mut source = source.with_weights(seen_m)?;
        let sums =
            NormalEquations::accumulate(map.as_ref(), &mut source, &targets, &Device::cpu())?;
        let held_md = u_md.slice(held).to_owned();
        let held_mf = KernelValues::features(map.as_ref(), &held_md)?.mapv(f64::from);
        let penalties = self.few_penalties();
        let start = (penalties.as_slice(), penalties.len() / 2);
        let best = downhill(start, held_m.view(), |lambda| {
            let solver = Cholesky {
                lambda,
                intercept: true,
            };
            match solver.solve(&sums) {
                Err(Error::Numerical(_)) => Ok(None),
                fit => fit.map(|fit| Some(&y_mt - (held_mf.dot(&fit.beta_dt) + &fit.intercept_t))),
            }
        });
        Ok(best?.map(|(_, off_mt)| off_mt))
    }

    /// Returns the penalty per row with the least leave-one-out error of these rows, and the
    /// errors. From a start `near` the best penalty it takes fewer factorizations than the
    /// eigendecomposition for all penalties costs.
    fn left_out(
        &self,
        rows: Range<usize>,
        kernel_values: &KernelValues<'_>,
        (how, near): (How<'_>, Option<f64>),
    ) -> Result<Option<(f64, Array2<f64>)>> {
        let m = rows.len() as f64;
        let weights_m = self.weights(rows.clone());
        let observations = self.observations.select(&Vec::from_iter(rows.clone()));
        let weighted = WeightedRows {
            weights_n: weights_m.view(),
            observations: &observations,
        };
        let groups_m = self.groups_m.as_ref().map(|groups| &groups[rows.clone()]);
        let folds = groups_m.and_then(grouped::choosing);
        let rows = s![rows, ..];
        let x_md = self.x_md.slice(rows).to_owned();
        let k_mm = kernel_values.gram(how.apply(x_md)?, how.line)?;
        let y_mt = self.y_mt.slice(rows);
        if let Some(near) = near {
            let centred = Centred::from_kernel(&k_mm, y_mt, weighted);
            let at = self.penalties.partition_point(|&penalty| penalty < near);
            return downhill((&self.penalties, at), weights_m.view(), |penalty| {
                Ok(match &folds {
                    None => centred.errors(m * penalty),
                    Some(folds) => centred.errors_of_folds(m * penalty, folds),
                })
            });
        }
        let path = CentredLeftOut::from_kernel(&k_mm, y_mt, weighted)?;
        let all = self.penalties.iter();
        let found = all.filter_map(|&penalty| {
            let off_mt = match &folds {
                None => path.errors(m * penalty),
                Some(folds) => path.errors_of_folds(m * penalty, folds),
            };
            Some((penalty, off_mt?))
        });
        Ok(least(found, weights_m.view()))
    }

    /// Returns the errors of the rows of `judged`, and the penalty for leave-one-out errors.
    fn off(
        &self,
        judged: Judged,
        kernel_values: &KernelValues<'_>,
        (how, near): (How<'_>, Option<f64>),
    ) -> Result<Option<(Option<f64>, Array2<f64>)>> {
        match judged {
            Judged::LeftOut(from, to) => {
                let left_out = self.left_out(from..to, kernel_values, (how, near))?;
                Ok(left_out.map(|(penalty, off_mt)| (Some(penalty), off_mt)))
            }
            Judged::HeldOut => {
                let held_out = self.held_out(kernel_values, how)?;
                Ok(held_out.map(|off_mt| (None, off_mt)))
            }
        }
    }

    /// Returns the columns of the first `rows` rows, and their leave-one-out errors at the best
    /// penalty.
    pub(super) fn residuals(
        &self,
        rows: usize,
        kernel_values: &KernelValues<'_>,
        how: How<'_>,
    ) -> Result<Option<(ArrayView2<'_, f64>, Array2<f64>)>> {
        let rows = rows.min(self.all());
        let left_out = self.left_out(0..rows, kernel_values, (how, None))?;
        Ok(left_out.map(|(_, off_mt)| (self.x_md.slice(s![..rows, ..]), off_mt)))
    }

    /// Returns the targets of the rows of `judged`.
    fn judged(&self, judged: Judged) -> ArrayView2<'_, f64> {
        match judged {
            Judged::LeftOut(from, to) => self.y_mt.slice(s![from..to, ..]),
            Judged::HeldOut => self.y_mt.slice(s![self.seen.., ..]),
        }
    }

    /// Returns relative squared errors of the rows of `judged` at the best penalty, searched from
    /// `near` if it is given.
    pub(super) fn errors(
        &self,
        judged: Judged,
        kernel_values: &KernelValues<'_>,
        (how, near): (How<'_>, Option<f64>),
    ) -> Result<Option<Errors>> {
        let off = self.off(judged, kernel_values, (how, near))?;
        let weights_m = self.judged_weights(judged);
        Ok(off.map(|(penalty, off_mt)| Errors {
            squares_m: squares(&off_mt) / spread(self.judged(judged), weights_m.view())
                * &weights_m,
            penalty,
        }))
    }

    /// Returns errors and log densities on the original scale of the target, with targets rescaled
    /// by
    /// `rescale` if it is given.
    pub(super) fn amounts(
        &self,
        judged: Judged,
        kernel_values: &KernelValues<'_>,
        (how, rescale): (How<'_>, Option<&Rescale>),
    ) -> Result<Option<Amounts>> {
        let Some((_, off_mt)) = self.off(judged, kernel_values, (how, None))? else {
            return Ok(None);
        };
        let (mean, deviation) = self.first;
        let off_m = deviation * &off_mt.column(0);
        let y_m = mean + deviation * &self.judged(judged).column(0);
        let weights_m = self.judged_weights(judged);
        let amounts = Amounts::new((&off_m, &y_m), weights_m.view(), rescale);
        Ok(Some(amounts))
    }
}

/// Encodes targets: numbers, or a column of 1 and -1 for each class that occurs.
fn outputs(y_mt: &Array2<f64>, targets: &Targets) -> Array2<f64> {
    match targets {
        Targets::Classes(labels) => {
            let here = |label: &&f64| y_mt.column(0).iter().any(|y| y == *label);
            let labels: Vec<f64> = labels.iter().filter(here).copied().collect();
            let t = labels.len().min(MOST_OUTPUTS);
            Array2::from_shape_fn((y_mt.nrows(), t), |(i, k)| {
                if y_mt[[i, 0]] == labels[k] { 1.0 } else { -1.0 }
            })
        }
        Targets::Real { columns, .. } => {
            let t = (*columns).min(MOST_OUTPUTS);
            y_mt.slice(s![.., ..t]).to_owned()
        }
    }
}

/// Errors of rows that were left out.
pub(super) struct Errors {
    /// Squared errors times weights of mean 1, relative to the variance of the targets.
    pub(super) squares_m: Array1<f64>,
    /// Best penalty per row, for leave-one-out errors.
    pub(super) penalty: Option<f64>,
}

/// Rows that errors are computed for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Judged {
    /// Leave-one-out errors of a range of rows.
    LeftOut(usize, usize),
    /// The hold-out set: the last quarter.
    HeldOut,
}

/// Returns the sum of squares of each row.
fn squares(of_mt: &Array2<f64>) -> Array1<f64> {
    of_mt.mapv(|v| v * v).sum_axis(Axis(1))
}
