//! Additional data of a kernel PCA model.

use crate::{Result, store::Store};
use ndarray::Array1;

const PREFIX: &str = "principal";

/// Variances and mean of kernel PCA.
#[derive(Debug, Clone, PartialEq)]
pub struct Principal {
    /// The variance along each component, largest first, `[k]`.
    pub variance_t: Vec<f64>,
    /// The variance in all directions.
    pub total_variance: f64,
    /// The mean of z(x), `[D]`.
    pub mean_d: Array1<f64>,
}

impl Principal {
    /// The share of the variance along each component, `[k]`.
    pub fn explained_variance_ratio(&self) -> Vec<f64> {
        let share = |v| v / self.total_variance;
        self.variance_t.iter().map(share).collect()
    }

    pub(crate) fn write(&self, store: &mut Store) {
        let mut own = Store::default();
        own.set("total_variance", self.total_variance);
        own.put_vector("variance", &self.variance_t);
        own.put_vector("mean", &self.mean_d.to_vec());
        store.nest(PREFIX, own);
    }

    /// Reads the entries of [`Self::write`], if present, for a model with these coefficients.
    pub(crate) fn read(store: &Store, (features, outputs): (usize, usize)) -> Result<Option<Self>> {
        let own = store.nested(PREFIX);
        if !own.has("variance") {
            return Ok(None);
        }
        Ok(Some(Self {
            variance_t: own.vector("variance", outputs)?.to_vec(),
            total_variance: own.get("total_variance")?,
            mean_d: own.vector("mean", features)?,
        }))
    }
}
