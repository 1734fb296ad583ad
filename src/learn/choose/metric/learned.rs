//! Computes a metric from an outer product.

use crate::{
    Error, Result,
    linalg::eigen::eigen,
    model::{LearnedMetric, Metric},
};
use ndarray::{Array2, Axis};

/// Options of learning a metric.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MetricOptions {
    /// Kind of the metric.
    pub kind: Metric,
    /// Distances use M to this power: 1, or 1/2 for a metric that shrinks columns less.
    pub power: f64,
    /// Maximum number of alternating fits and outer products; stops if the hold-out error no longer
    /// decreases.
    pub iterations: usize,
}

impl From<Metric> for MetricOptions {
    /// Power 1, 5 iterations.
    fn from(kind: Metric) -> Self {
        Self {
            kind,
            power: 1.0,
            iterations: 5,
        }
    }
}

/// Added to M, whose mean eigenvalue is 1, so that no direction is lost for good.
const FLOOR: f64 = 1e-3;

impl LearnedMetric {
    /// Metric of M, `[d, d]`, for prepared columns. If M is 0, the metric leaves the columns
    /// unchanged.
    ///
    /// Errors with [`Error::Shape`] unless M is square, with [`Error::Parameter`] unless the power
    /// is positive and finite, and with [`Error::Numerical`] if M is not finite.
    #[doc(hidden)]
    pub fn from_matrix(m_dd: &Array2<f64>, options: MetricOptions) -> Result<Self> {
        let d = m_dd.nrows();
        if m_dd.ncols() != d || d == 0 {
            return Err(Error::shape(format!(
                "an outer product of {:?} is no metric of columns",
                m_dd.dim()
            )));
        }
        if !(options.power > 0.0 && options.power.is_finite()) {
            return Err(Error::parameter(format!(
                "the power of the metric is {}; it must be positive and finite",
                options.power
            )));
        }
        let trace = m_dd.diag().sum();
        if !trace.is_finite() || m_dd.iter().any(|m| !m.is_finite()) {
            return Err(Error::numerical("gradients of the model are not finite"));
        }
        // Without any gradient all columns count the same.
        let factor = if trace > 0.0 { d as f64 / trace } else { 0.0 };
        let importance = m_dd.diag().mapv(|m| {
            if trace > 0.0 {
                m.max(0.0) / trace
            } else {
                1.0 / d as f64
            }
        });
        let raised = |m: f64| (m.max(0.0) * factor + FLOOR).powf(options.power);
        let root = match options.kind {
            Metric::Diagonal => {
                let squares = m_dd.diag().mapv(raised);
                let mean = squares.mean().unwrap_or(1.0);
                squares.mapv(|m| (m / mean).sqrt()).insert_axis(Axis(0))
            }
            Metric::Full => {
                let decomposed = eigen(m_dd)?;
                let squares = decomposed.values_n.mapv(raised);
                let mean = squares.mean().unwrap_or(1.0);
                let roots = squares.mapv(|m| (m / mean).sqrt());
                let vectors = &decomposed.vectors_nn;
                let root = (vectors * &roots).dot(&vectors.t());
                (&root + &root.t()) / 2.0
            }
        };
        Ok(Self {
            kind: options.kind,
            root,
            importance: importance.to_vec(),
            names: None,
        })
    }

    /// Weight of each prepared column in squared distances, `[d]`, with mean 1. For a full metric,
    /// of steps along one column.
    pub(in crate::learn) fn squared_scales(&self) -> Vec<f64> {
        self.root
            .map_axis(Axis(0), |column| column.dot(&column))
            .to_vec()
    }

    pub(crate) fn named(mut self, names: Option<Vec<String>>) -> Self {
        self.names = names;
        self
    }

    /// `R v` for prepared rows, `[n, d]`.
    pub(crate) fn apply(&self, v_nd: &Array2<f64>) -> Array2<f64> {
        match self.kind {
            Metric::Diagonal => v_nd * &self.root,
            Metric::Full => v_nd.dot(&self.root),
        }
    }
}
