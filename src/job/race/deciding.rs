//! The rows that decide, and their errors when they are left out.

use super::{MORE_ROWS, ROWS, ground::Ground};
use crate::{
    Device, Error, Result,
    data::{ChunkSource, KeptRows, MemorySource},
    features::Scaling,
    normal::{NormalEquations, Targets},
    solve::{CentredLeftOut, Cholesky},
};
use ndarray::{Array1, Array2, ArrayView1, ArrayView2, Axis, s};

/// Fewer say nothing.
const LEAST_ROWS: usize = 20;
/// Penalties over the number of rows, where none are given: from 1e-8 to 10, two in ten.
const PENALTIES: usize = 19;
/// Of these so many stand for all where each takes a factor.
const EACH: usize = 4;
/// What differs by less of the largest value is the same.
const SAME: f64 = 1e-10;
/// The least penalty: 0 leaves no row out.
const LEAST: f64 = 1e-12;
/// Of so many rows one is held out.
const HELD_OUT: usize = 4;
/// Targets or classes that are looked at, at most.
const MOST_OUTPUTS: usize = 32;

/// Rows that decide, those with the smallest hashes first: their columns, and their targets,
/// centred.
pub(super) struct Deciding {
    x_md: Array2<f64>,
    y_mt: Array2<f64>,
    /// Over the number of rows.
    penalties: Vec<f64>,
}

impl Deciding {
    /// None where too few rows differ, or no target varies.
    pub(super) fn of(
        kept: &KeptRows,
        targets: &Targets,
        penalties: Option<&[f64]>,
    ) -> Result<Option<Self>> {
        let penalties: Vec<f64> = match penalties {
            Some(given) => given.iter().map(|penalty| penalty.max(LEAST)).collect(),
            None => (0..PENALTIES)
                .map(|k| 10_f64.powf(k as f64 / 2.0 - 8.0))
                .collect(),
        };
        let Some(chunk) = kept.source().next_chunk(MORE_ROWS.0)? else {
            return Ok(None);
        };
        let x_md = chunk.x.into_f64();
        let m = x_md.nrows();
        if m < LEAST_ROWS {
            return Ok(None);
        }
        let y_mt = match targets {
            Targets::Classes(labels) => {
                let here = |label: &&f64| chunk.y.column(0).iter().any(|y| y == *label);
                let labels: Vec<f64> = labels.iter().filter(here).copied().collect();
                let t = labels.len().min(MOST_OUTPUTS);
                Array2::from_shape_fn((m, t), |(i, k)| {
                    if chunk.y[[i, 0]] == labels[k] {
                        1.0
                    } else {
                        -1.0
                    }
                })
            }
            Targets::Real { columns, .. } => {
                let t = (*columns).min(MOST_OUTPUTS);
                chunk.y.slice(s![.., ..t]).to_owned()
            }
        };
        let middle_t = y_mt.sum_axis(Axis(0)) / m as f64;
        let mut y_mt = y_mt - &middle_t;
        if let Targets::Real { .. } = targets {
            for mut y in y_mt.columns_mut() {
                let deviation = (y.dot(&y) / m as f64).sqrt();
                // One that does not vary is 0 already.
                if deviation > 0.0 {
                    y /= deviation;
                }
            }
        }
        let varies = y_mt.iter().any(|&y| y != 0.0) && y_mt.iter().all(|y| y.is_finite());
        Ok(varies.then_some(Self {
            x_md,
            y_mt,
            penalties,
        }))
    }

    /// Where none are given, one for each two powers of ten.
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

    /// Columns that are the target, or a line of it, to ten digits: they may know the answer.
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

    /// How many are left out in turn.
    pub(super) fn few(&self) -> usize {
        self.x_md.nrows().min(ROWS)
    }

    /// How many there are.
    pub(super) fn all(&self) -> usize {
        self.x_md.nrows()
    }

    /// The columns of those that are left out in turn.
    pub(super) fn few_md(&self) -> ArrayView2<'_, f64> {
        self.x_md.slice(s![..self.few(), ..])
    }

    /// Squares of the errors of the last quarter of all rows by features fitted to the others, with
    /// the penalty that is best, over the variance of the targets. None where values come from a
    /// kernel.
    pub(super) fn held_out_errors(
        &self,
        ground: &Ground<'_>,
        (scaling, lengthscale): (&Scaling, f64),
    ) -> Result<Option<Array1<f64>>> {
        let Ground::Features(map) = ground else {
            return Ok(None);
        };
        let from = self.all() - self.all() / HELD_OUT;
        let u_md = (scaling.input(&[lengthscale])?).apply(&self.x_md.clone().into())?;
        let (seen, held) = (s![..from, ..], s![from.., ..]);
        let y_mt = self.y_mt.slice(held);
        let targets = Targets::Real {
            columns: y_mt.ncols(),
            shift: vec![0.0; y_mt.ncols()],
        };
        let seen = (
            u_md.slice(seen).to_owned(),
            self.y_mt.slice(seen).to_owned(),
        );
        let mut source = MemorySource::new(&seen.0, Some(seen.1))?;
        let sums =
            NormalEquations::accumulate(map.as_ref(), &mut source, &targets, &Device::cpu())?;
        let middle_t = y_mt.sum_axis(Axis(0)) / y_mt.nrows() as f64;
        let spread = mean_square(&(&y_mt - &middle_t));
        let held_md = u_md.slice(held).to_owned();
        let held_mf = Ground::features(map.as_ref(), &held_md)?.mapv(f64::from);
        let mut best: Option<Array1<f64>> = None;
        for lambda in self.few_penalties() {
            let solver = Cholesky {
                lambda,
                intercept: true,
            };
            let fit = match solver.solve(&sums) {
                Err(Error::Numerical(_)) => continue,
                fit => fit?,
            };
            let off_mt = held_mf.dot(&fit.beta_dt) + &fit.intercept_t - y_mt;
            let squares_m = squares(&off_mt) / spread;
            let is_less = |best: &Array1<f64>| squares_m.sum() < best.sum();
            if squares_m.sum().is_finite() && best.as_ref().is_none_or(is_less) {
                best = Some(squares_m);
            }
        }
        Ok(best)
    }

    /// Squares of the errors of the first `rows` rows left out in turn, with the penalty that is
    /// best, over the variance of the targets.
    pub(super) fn errors(
        &self,
        rows: usize,
        ground: &Ground<'_>,
        (scaling, lengthscale): (&Scaling, f64),
    ) -> Result<Option<Array1<f64>>> {
        let first = s![..rows, ..];
        let x_md = self.x_md.slice(first).to_owned();
        let u_md = scaling.input(&[lengthscale])?.apply(&x_md.into())?;
        let k_mm = ground.gram(u_md)?;
        let y_mt = self.y_mt.slice(first);
        let path = CentredLeftOut::of(&k_mm, y_mt)?;
        let middle_t = y_mt.sum_axis(Axis(0)) / rows as f64;
        let spread = mean_square(&(&y_mt - &middle_t));
        let errors = self.penalties.iter().filter_map(|penalty| {
            let penalty = rows as f64 * penalty;
            path.errors(penalty).map(|e| squares(&e) / spread)
        });
        Ok(errors
            .filter(|e| e.sum().is_finite())
            .min_by(|a, b| a.sum().total_cmp(&b.sum())))
    }
}

/// Of each row.
fn squares(of_mt: &Array2<f64>) -> Array1<f64> {
    of_mt.mapv(|v| v * v).sum_axis(Axis(1))
}

fn mean_square(of_mt: &Array2<f64>) -> f64 {
    squares(of_mt).mean().unwrap_or(0.0)
}
