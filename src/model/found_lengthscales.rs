//! Estimated lengthscales, as stored in a model.

use crate::{Error, Result, order::ascending, store::Store};
use ndarray::Array2;

const STORED: &str = "lengthscales";

/// Lengthscales estimated by a Gaussian process, and the gain in likelihood.
#[derive(Debug, Clone, PartialEq)]
pub struct FoundLengthscales {
    /// Lengthscale of each column, in its own units, `[d]`: k is a function of `(x_j - y_j) /
    /// lengthscale_j`. As [`Bandwidth::SigmaPerColumn`](crate::features::Bandwidth::SigmaPerColumn)
    /// they give the same kernel. Infinite for a column dropped as constant.
    pub lengthscale_d: Vec<f64>,
    /// Standard deviation of each column over its lengthscale, `[d]`: the larger, the more
    /// relevant.
    pub relevance_d: Vec<f64>,
    /// Names of the columns, if there are any, `[d]`.
    pub names: Option<Vec<String>>,
    /// `log p(y | x)` of the sample at the lengthscales of the bandwidth, with the
    /// maximum-likelihood variances.
    pub before: f64,
    /// The same at the estimates.
    pub after: f64,
    /// Steps of the ascent.
    pub iterations: usize,
    /// Rows of the sample.
    pub rows: usize,
}

impl FoundLengthscales {
    /// Columns from the most relevant to the least.
    pub fn ranking(&self) -> Vec<usize> {
        let relevance_d = &self.relevance_d;
        ascending(relevance_d.len(), &|a, b| {
            relevance_d[b].total_cmp(&relevance_d[a])
        })
    }

    pub(crate) fn write(&self, store: &mut Store) {
        let both = Array2::from_shape_fn((self.lengthscale_d.len(), 2), |(j, k)| {
            [self.lengthscale_d[j], self.relevance_d[j]][k]
        });
        store.put_f64(STORED, both.view());
        let figures = [
            self.before,
            self.after,
            self.iterations as f64,
            self.rows as f64,
        ];
        store.put_vector("lengthscales.figures", &figures);
        if let Some(names) = &self.names {
            store.set("lengthscales.names", serde_json::json!(names));
        }
    }

    /// Other models, and older files, do not have them.
    pub(crate) fn read(store: &Store, columns: usize) -> Result<Option<Self>> {
        if !store.has(STORED) {
            return Ok(None);
        }
        let both = store.f64(STORED)?;
        if both.dim() != (columns, 2) {
            return Err(Error::format(format!(
                "lengthscales {:?} do not go with {columns} columns",
                both.dim()
            )));
        }
        let figures = store.vector("lengthscales.figures", 4)?;
        let names = if store.has_property("lengthscales.names") {
            Some(store.list("lengthscales.names")?)
        } else {
            None
        };
        if names.as_ref().is_some_and(|names| names.len() != columns) {
            return Err(Error::format("lengthscales do not go with their names"));
        }
        Ok(Some(Self {
            lengthscale_d: both.column(0).to_vec(),
            relevance_d: both.column(1).to_vec(),
            names,
            before: figures[0],
            after: figures[1],
            iterations: figures[2] as usize,
            rows: figures[3] as usize,
        }))
    }
}
