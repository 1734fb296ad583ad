//! What one trial tries.

use crate::{features::MapBuilder, kernels::Kernel, model::LearnedMetric};
use std::sync::Arc;

/// Something to try.
#[derive(Debug, Clone)]
pub(in crate::learn) struct Plan {
    pub(in crate::learn) builder: Arc<dyn MapBuilder>,
    pub(in crate::learn) kernel: Arc<dyn Kernel>,
    /// Which way columns are prepared.
    pub(in crate::learn) scaling: usize,
    pub(in crate::learn) metric: Option<LearnedMetric>,
    /// How many outer products led to the metric.
    pub(in crate::learn) turns: usize,
    /// D, or the number of grids.
    pub(in crate::learn) features: usize,
    /// Whether the features are bins.
    pub(in crate::learn) is_binned: bool,
    /// Which draw of the features it is: 0 that of all trials, others to average with.
    pub(in crate::learn) draw: usize,
    pub(in crate::learn) median: f64,
    pub(in crate::learn) multiple: f64,
    pub(in crate::learn) lengthscale: f64,
    pub(in crate::learn) lambda: f64,
}

impl Plan {
    /// The penalty of a plan whose fit chooses it, or takes what it was told.
    pub(in crate::learn) const AS_GIVEN: f64 = 0.0;

    /// The same at another multiple of the median distance.
    pub(in crate::learn) fn at(&self, multiple: f64) -> Self {
        Self {
            multiple,
            lengthscale: multiple * self.median,
            ..self.clone()
        }
    }
}
