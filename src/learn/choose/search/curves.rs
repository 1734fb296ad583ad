//! Monotone curves of columns along which the predictions of a fit change evenly.
//!
//! The diagonal of the average gradient outer product gives each column one scale. A curve is a
//! local scale: steep where predictions jump, flat where they are constant, so that a kernel on
//! transformed columns is narrow at jumps and wide between them. Slopes are finite differences,
//! since kernels with a kink and binning have no gradient.

use super::trials::{Sample, Tried};
use crate::{
    Result,
    data::{Curve, Rows},
};
use ndarray::{Array2, Axis, s};

/// Largest number of knots of a curve.
const KNOTS: usize = 64;
/// Largest and least number of rows whose columns are set to the knots.
const ROWS: usize = 200;
const FEWEST_ROWS: usize = 20;
/// Approximate number of predictions for all curves.
const PREDICTED: usize = 100_000;
/// Least slope of a curve, as a share of the highest curve, so that all curves stay increasing.
const FLOOR: f64 = 0.02;

impl Sample<'_> {
    /// Returns the curve of each column, `[d]`, through at most [`KNOTS`] knots q_k, for the fit f
    /// of a trial:
    ///
    /// `c(q_k) = sum_{l < k} rms_i |f(x_i with x_ij = q_{l+1}) - f(x_i with x_ij = q_l)|`
    ///
    /// over sampled rows i and all outputs, relative to the standard deviations of the targets. The
    /// highest curve ends at 1, before [`FLOOR`] is added. Constant columns have no curve. Returns
    /// `None` with hashed words, which are scaled together, and with too many columns.
    pub(super) fn curves(&self, tried: &Tried) -> Result<Option<Vec<Option<Curve>>>> {
        let survey = self.data().survey;
        let all: Vec<Vec<f64>> = (0..survey.mean.len())
            .map(|j| knots(survey.sample.column(j).to_vec()))
            .collect();
        let predicted: usize = all.iter().map(Vec::len).sum();
        let rows = ROWS.min(survey.sample.nrows());
        let rows = rows.min(PREDICTED / predicted.max(1));
        if survey.of_words.contains(&true) || rows < FEWEST_ROWS {
            return Ok(None);
        }
        let step = survey.sample.nrows() / rows;
        let places: Vec<usize> = (0..rows).map(|i| i * step).collect();
        let x_md = survey.sample.select(Axis(0), &places);
        let mut rises = Vec::with_capacity(all.len());
        for (j, knots) in all.iter().enumerate() {
            rises.push(self.rises(tried, &x_md, (j, knots))?);
        }
        let highest = rises.iter().map(|rises| rises.iter().sum::<f64>());
        let highest = highest.fold(0.0, f64::max);
        if !(highest > 0.0 && highest.is_finite()) {
            return Ok(None);
        }
        let curves = all.into_iter().zip(rises).map(|(knots, rises)| {
            if rises.is_empty() {
                return Ok(None);
            }
            let least = FLOOR / rises.len() as f64;
            let mut height = 0.0;
            let heights = rises.iter().map(|rise| {
                height += rise / highest + least;
                height
            });
            let heights = std::iter::once(0.0).chain(heights);
            Curve::through(knots.into_iter().zip(heights)).map(Some)
        });
        curves.collect::<Result<_>>().map(Some)
    }

    /// Returns the root mean squared change of predictions between successive knots of column j.
    fn rises(
        &self,
        tried: &Tried,
        x_md: &Array2<f64>,
        (j, knots): (usize, &[f64]),
    ) -> Result<Vec<f64>> {
        let (m, k) = (x_md.nrows(), knots.len());
        if k < 2 {
            return Ok(Vec::new());
        }
        let silent = self.data().run.silent();
        let mut model = tried.model().on(&silent)?;
        // All rows at the first knot, then all rows at the second.
        let set = Array2::from_shape_fn((k * m, x_md.ncols()), |(at, column)| {
            if column == j {
                knots[at / m]
            } else {
                x_md[[at % m, column]]
            }
        });
        let scores = model.scores(&Rows::from(set))?;
        let variance_t: Vec<f64> = match self.data().targets {
            crate::model::Targets::Real { .. } => self.variances().to_vec(),
            crate::model::Targets::Classes(_) => vec![1.0; scores.ncols()],
        };
        let rises = (1..k).map(|at| {
            let before = scores.slice(s![(at - 1) * m..at * m, ..]);
            let after = scores.slice(s![at * m..(at + 1) * m, ..]);
            let moved = (&after - &before)
                .mapv(|step| step * step)
                .sum_axis(Axis(0));
            let moved = moved.iter().zip(&variance_t).map(|(sum, v)| sum / v);
            (moved.sum::<f64>() / m as f64).sqrt()
        });
        Ok(rises.collect())
    }
}

/// Returns the distinct values of a column in ascending order, or [`KNOTS`] quantiles of them.
fn knots(mut values: Vec<f64>) -> Vec<f64> {
    values.sort_unstable_by(f64::total_cmp);
    let mut different = values.clone();
    different.dedup();
    if different.len() <= KNOTS {
        return different;
    }
    let last = values.len() - 1;
    let mut spread: Vec<f64> = (0..KNOTS).map(|k| values[k * last / (KNOTS - 1)]).collect();
    spread.dedup();
    spread
}
