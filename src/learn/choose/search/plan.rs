//! Settings of a trial before it runs.

use crate::{features::MapBuilder, kernels::Kernel, model::LearnedMetric};
use std::sync::Arc;

/// Settings of a trial.
#[derive(Debug, Clone)]
pub(in crate::learn) struct Plan {
    pub(in crate::learn) builder: Arc<dyn MapBuilder>,
    pub(in crate::learn) kernel: Arc<dyn Kernel>,
    /// Index of the preparation of the columns.
    pub(in crate::learn) scaling: usize,
    pub(in crate::learn) metric: Option<LearnedMetric>,
    /// Number of outer products behind the metric.
    pub(in crate::learn) turns: usize,
    /// Number of features, or of grids.
    pub(in crate::learn) features: usize,
    /// Whether the features are random bins.
    pub(in crate::learn) is_binned: bool,
    /// Index of the draw of the features: 0 in all trials, others for averages.
    pub(in crate::learn) draw: usize,
    pub(in crate::learn) median: f64,
    pub(in crate::learn) multiple: f64,
    pub(in crate::learn) lengthscale: f64,
    pub(in crate::learn) lambda: f64,
}

impl Plan {
    /// Marks a penalty that is left to the fit.
    pub(in crate::learn) const AS_GIVEN: f64 = 0.0;

    /// Returns the plan at another multiple of the median distance.
    pub(in crate::learn) fn at(&self, multiple: f64) -> Self {
        Self {
            multiple,
            lengthscale: multiple * self.median,
            ..self.clone()
        }
    }
}
