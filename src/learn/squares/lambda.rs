//! The best of some penalties of ridge regression by held-out errors.

mod all_rows;
mod judge;
#[cfg(test)]
mod tests;

use crate::{Error, Result, learn::Lambda};
pub(in crate::learn) use all_rows::fit;
pub(in crate::learn) use judge::{curve_of_walk, keep, relative, trusted, variances};

/// Penalties in ascending order, each once. Errors when there are none, or one that no held-out
/// error is defined for.
pub(in crate::learn) fn ascending(of: &[f64]) -> Result<Vec<f64>> {
    if let Some(bad) = of.iter().find(|l| !(**l > 0.0 && l.is_finite())) {
        return Err(Error::parameter(format!(
            "lambda is {bad}; it must be positive and finite"
        )));
    }
    if of.is_empty() {
        return Err(Error::parameter("there is no lambda to choose; give one"));
    }
    let mut lambdas = of.to_vec();
    lambdas.sort_unstable_by(f64::total_cmp);
    lambdas.dedup();
    Ok(lambdas)
}

/// Where a walk begins among penalties that ascend: at the usual one.
pub(in crate::learn) fn place_of_usual(lambdas: &[f64]) -> usize {
    lambdas.partition_point(|&lambda| lambda < 0.99 * Lambda::USUAL)
}
