//! What one trial tries.

use crate::{features::MapBuilder, kernels::Kernel, models::metric::LearnedMetric};
use std::sync::Arc;

/// Something to try.
#[derive(Debug, Clone)]
pub(super) struct Plan {
    pub(super) builder: Arc<dyn MapBuilder>,
    pub(super) kernel: Arc<dyn Kernel>,
    pub(super) metric: Option<LearnedMetric>,
    /// How many outer products led to the metric.
    pub(super) turns: usize,
    pub(super) features: usize,
    pub(super) median: f64,
    pub(super) multiple: f64,
    pub(super) lengthscale: f64,
    pub(super) lambda: f64,
}

impl Plan {
    /// The same at another multiple of the median distance.
    pub(super) fn at(&self, multiple: f64) -> Self {
        Self {
            multiple,
            lengthscale: multiple * self.median,
            ..self.clone()
        }
    }
}
