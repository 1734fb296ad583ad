//! What one trial tries.

use crate::{features::MapBuilder, kernels::Kernel, models::choose::metric::LearnedMetric};
use std::sync::Arc;

/// Something to try.
#[derive(Debug, Clone)]
pub(in crate::models) struct Plan {
    pub(in crate::models) builder: Arc<dyn MapBuilder>,
    pub(in crate::models) kernel: Arc<dyn Kernel>,
    pub(in crate::models) metric: Option<LearnedMetric>,
    /// How many outer products led to the metric.
    pub(in crate::models) turns: usize,
    pub(in crate::models) features: usize,
    pub(in crate::models) median: f64,
    pub(in crate::models) multiple: f64,
    pub(in crate::models) lengthscale: f64,
    pub(in crate::models) lambda: f64,
}

impl Plan {
    /// The penalty of a plan whose fit chooses it, or takes what it was told.
    pub(in crate::models) const AS_GIVEN: f64 = 0.0;

    /// The same at another multiple of the median distance.
    pub(in crate::models) fn at(&self, multiple: f64) -> Self {
        Self {
            multiple,
            lengthscale: multiple * self.median,
            ..self.clone()
        }
    }
}
