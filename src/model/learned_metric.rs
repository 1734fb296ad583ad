//! A metric that was learnt: the root of an average gradient outer product.

use crate::{Error, Result, linalg::eigen::eigen, store::Store};
use ndarray::{Array2, Axis};
use std::{fmt, str::FromStr};

/// Which metric is learnt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Metric {
    /// A lengthscale for each column, `1 / sqrt(M_jj)`.
    Diagonal,
    /// All of M: directions across columns, too.
    Full,
}

impl fmt::Display for Metric {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Diagonal => "diagonal",
            Self::Full => "full",
        })
    }
}

impl FromStr for Metric {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        match text {
            "diagonal" => Ok(Self::Diagonal),
            "full" => Ok(Self::Full),
            _ => Err(Error::parameter(format!(
                "unknown metric {text:?}; use diagonal or full"
            ))),
        }
    }
}

/// How a metric is learnt.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MetricOptions {
    /// Which.
    pub kind: Metric,
    /// Distances are by M to this power: 1, or 1/2 for a metric that leaves more of the columns.
    pub power: f64,
    /// Fits and outer products in turn, at most; it ends where rows held out gain no more.
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

/// What is added to M, of mean eigenvalue 1, so that no direction is lost for good.
const FLOOR: f64 = 1e-3;

/// A metric that was learnt: rows are compared by `|R (v - w)|`, v and w prepared as
/// [`Scaling`](crate::features::Scaling) prepares them, before a lengthscale.
///
/// `R = (M d / tr M + 0.001 I)^(power / 2)`, scaled so that `tr R^2 = d`, with M by prepared
/// columns.
#[derive(Debug, Clone, PartialEq)]
pub struct LearnedMetric {
    pub(crate) kind: Metric,
    /// R, `[d, d]`, or its diagonal, `[1, d]`.
    pub(crate) root: Array2<f64>,
    importance: Vec<f64>,
    names: Option<Vec<String>>,
}

impl LearnedMetric {
    /// The metric of M, `[d, d]`, by prepared columns. One without directions is that of the
    /// columns as they are.
    ///
    /// Errors with [`Error::Shape`] unless M is square, with [`Error::Parameter`] unless the power
    /// is positive and finite, and with [`Error::Numerical`] when M is not finite.
    pub fn of(m_dd: &Array2<f64>, options: MetricOptions) -> Result<Self> {
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
        // No gradient at all: nothing says that columns differ.
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

    /// Which metric it is.
    pub fn kind(&self) -> Metric {
        self.kind
    }

    /// R, `[d, d]`.
    pub fn root(&self) -> Array2<f64> {
        match self.kind {
            Metric::Diagonal => Array2::from_diag(&self.root.row(0)),
            Metric::Full => self.root.clone(),
        }
    }

    /// What share of the squared gradient lies along each prepared column, `M_jj / tr M`, `[d]`.
    pub fn importance(&self) -> &[f64] {
        &self.importance
    }

    /// Names of the columns, where the data had some.
    pub fn names(&self) -> Option<&[String]> {
        self.names.as_deref()
    }

    /// Number of columns, d.
    pub fn columns(&self) -> usize {
        self.root.ncols()
    }

    pub(crate) fn named(mut self, names: Option<Vec<String>>) -> Self {
        self.names = names;
        self
    }

    /// `R v` of prepared rows, `[n, d]`.
    pub(crate) fn apply(&self, v_nd: &Array2<f64>) -> Array2<f64> {
        match self.kind {
            Metric::Diagonal => v_nd * &self.root,
            Metric::Full => v_nd.dot(&self.root),
        }
    }

    pub(crate) fn write(&self, store: &mut Store) {
        store.set("metric", self.kind);
        store.put_f64("metric.root", self.root.view());
        store.put_vector("metric.importance", &self.importance);
        if let Some(names) = &self.names {
            store.set("metric.names", serde_json::json!(names));
        }
    }

    /// Models without a metric, and older files, have none.
    pub(crate) fn read(store: &Store) -> Result<Option<Self>> {
        if !store.has_property("metric") {
            return Ok(None);
        }
        let kind: Metric = store.text("metric")?.parse()?;
        let root = store.f64("metric.root")?;
        let d = root.ncols();
        let rows = match kind {
            Metric::Diagonal => 1,
            Metric::Full => d,
        };
        let positive = kind == Metric::Full || root.iter().all(|r| *r > 0.0);
        if root.nrows() != rows || d == 0 || !positive {
            return Err(Error::format(format!(
                "{:?} is no root of a {kind} metric",
                root.dim()
            )));
        }
        let names: Option<Vec<String>> = if store.has_property("metric.names") {
            Some(
                serde_json::from_str(store.text("metric.names")?)
                    .map_err(|fault| Error::format(format!("names of columns: {fault}")))?,
            )
        } else {
            None
        };
        if names.as_ref().is_some_and(|names| names.len() != d) {
            return Err(Error::format(format!("{d} columns have other names")));
        }
        Ok(Some(Self {
            kind,
            importance: store.vector("metric.importance", d)?.to_vec(),
            root,
            names,
        }))
    }
}
