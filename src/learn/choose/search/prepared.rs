//! Preparations of the columns in a search.

use super::{plan::Plan, trials::Sample};
use crate::{
    Result,
    data::{Rows, Survey, median_distance},
    features::{Affine, Scaling},
    kernels::Norm,
    model::LearnedMetric,
};
use ndarray::{Array2, Axis};

/// A preparation of the columns, with prepared sample rows.
pub(super) struct Prepared {
    pub(super) scaling: Scaling,
    /// Affine map to prepared columns, without lengthscale.
    pub(super) input: Affine,
    /// Prepared rows of the sample of the survey.
    v_nd: Array2<f64>,
}

impl Prepared {
    pub(super) fn new(scaling: Scaling, survey: &Survey) -> Result<Self> {
        let input = scaling.input(&[1.0])?;
        let v_nd = input.apply(&Rows::from(&survey.sample))?;
        Ok(Self {
            scaling,
            input,
            v_nd,
        })
    }
}

impl Sample<'_> {
    /// Adds a preparation, and returns its index.
    pub(super) fn prepare(&mut self, scaling: Scaling) -> Result<usize> {
        self.prepared
            .push(Prepared::new(scaling, self.data().survey)?);
        Ok(self.prepared.len() - 1)
    }

    /// Returns a preparation by its index.
    pub(super) fn scaling(&self, number: usize) -> &Scaling {
        &self.prepared[number].scaling
    }

    /// Returns the median distance of prepared rows under a metric, or the root mean square
    /// distance if most rows are equal.
    pub(in crate::learn) fn median(
        &self,
        scaling: usize,
        metric: Option<&LearnedMetric>,
        norm: Norm,
    ) -> f64 {
        let v_nd = &self.prepared[scaling].v_nd;
        let rows = match metric {
            None => v_nd.clone(),
            Some(metric) => metric.apply(v_nd),
        };
        let spread = || {
            let variance = rows.var_axis(Axis(0), 0.0).sum();
            let distance = (2.0 * variance).sqrt();
            if distance > 0.0 { distance } else { 1.0 }
        };
        median_distance(rows.view(), norm).unwrap_or_else(|_| spread())
    }

    /// Returns the standard deviation of prepared columns: the square root of the mean variance,
    /// weighted by the variances.
    pub(super) fn deviation(&self, scaling: usize) -> f64 {
        let variance_d = self.prepared[scaling].v_nd.var_axis(Axis(0), 0.0);
        let of = variance_d.mapv(|v| v * v).sum() / variance_d.sum();
        if of > 0.0 { of.sqrt() } else { 1.0 }
    }

    /// Returns at most `count` sampled rows, evenly spread, raw and as the kernel of a plan sees
    /// them.
    pub(super) fn compared(&self, plan: &Plan, count: usize) -> Result<(Rows, Array2<f64>)> {
        let sample = &self.data().survey.sample;
        let (rows, taken) = (sample.nrows(), count.min(sample.nrows()));
        let places: Vec<usize> = (0..taken).map(|i| i * rows / taken).collect();
        let raw = sample.select(Axis(0), &places);
        let prepared = &self.prepared[plan.scaling].input;
        let v_nd = prepared.apply(&Rows::from(&raw))?;
        let v_nd = match &plan.metric {
            None => v_nd,
            Some(metric) => metric.apply(&v_nd),
        };
        Ok((Rows::from(raw), v_nd / plan.lengthscale))
    }
}
