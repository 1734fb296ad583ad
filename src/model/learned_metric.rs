//! A learnt metric: the root of an average gradient outer product, or weights from nearest
//! neighbours.

use crate::{Error, Result, store::Store};
use ndarray::Array2;
use std::{fmt, str::FromStr};

/// Kind of metric to learn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Metric {
    /// A lengthscale for each column, `1 / sqrt(M_jj)`.
    Diagonal,
    /// The full matrix M, with directions across columns.
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

/// A learnt metric: rows are compared by `|R (v - w)|`, with v and w prepared by
/// [`Scaling`](crate::features::Scaling), before a lengthscale.
///
/// `R = (M d / tr M + 0.001 I)^(power / 2)`, scaled so that `tr R^2 = d`, with M for prepared
/// columns. For binning, M may be the diagonal of squared weights that minimise the error of
/// nearest-neighbour predictions.
#[derive(Debug, Clone, PartialEq)]
pub struct LearnedMetric {
    pub(crate) kind: Metric,
    /// R, `[d, d]`, or its diagonal, `[1, d]`.
    pub(crate) root: Array2<f64>,
    pub(crate) importance: Vec<f64>,
    pub(crate) names: Option<Vec<String>>,
}

impl LearnedMetric {
    /// Kind of the metric.
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

    /// Share of the squared gradient along each prepared column, `M_jj / tr M`, `[d]`.
    pub fn importance(&self) -> &[f64] {
        &self.importance
    }

    /// Names of the columns, if the data has names.
    pub fn names(&self) -> Option<&[String]> {
        self.names.as_deref()
    }

    /// Number of columns, d.
    #[doc(hidden)]
    pub fn columns(&self) -> usize {
        self.root.ncols()
    }

    pub(crate) fn write(&self, store: &mut Store) {
        store.set("metric", self.kind);
        store.put_f64("metric.root", self.root.view());
        store.put_vector("metric.importance", &self.importance);
        if let Some(names) = &self.names {
            store.set("metric.names", serde_json::json!(names));
        }
    }

    /// Models without a metric, and older files, do not have it.
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
