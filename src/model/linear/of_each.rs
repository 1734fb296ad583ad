//! Combines several models by selecting each output from one of them.

use super::LinearModel;
use crate::{Error, Result, model::Coefficients};
use ndarray::{Array1, Array2};

impl LinearModel {
    /// Copies output k from `models[which[k]]`: fits to the same rows on the same map with
    /// different penalties. Results other than coefficients are dropped, and [`Self::facts`]
    /// contains `lambda_k`.
    ///
    /// Errors with [`Error::Shape`] unless all have as many coefficients and outputs as `which` has
    /// entries, and its entries are valid indices.
    #[doc(hidden)]
    pub fn of_each(self, models: &[&Self], which: &[usize]) -> Result<Self> {
        let dim = self.coefficients.beta_dt.dim();
        let fits = models.iter().all(|m| m.coefficients.beta_dt.dim() == dim);
        if !fits || which.len() != dim.1 || which.iter().any(|&m| m >= models.len()) {
            return Err(Error::shape(format!(
                "{} outputs are not those of {} models of {} features and {} outputs",
                which.len(),
                models.len(),
                dim.0,
                dim.1
            )));
        }
        let own = |k: usize| &models[which[k]].coefficients;
        let coefficients = Coefficients {
            beta_dt: Array2::from_shape_fn(dim, |(i, k)| own(k).beta_dt[[i, k]]),
            intercept_t: Array1::from_shape_fn(dim.1, |k| own(k).intercept_t[k]),
        };
        let lambdas = which.iter().map(|&m| models[m].lambda).enumerate();
        let facts = lambdas.map(|(k, lambda)| (format!("lambda_{k}"), lambda));
        Ok(Self {
            coefficients,
            facts: facts.collect(),
            lambda_curve: None,
            spread: None,
            conformal: None,
            ..self
        })
    }
}
