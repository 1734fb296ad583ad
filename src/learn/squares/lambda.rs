//! Chooses the penalty of ridge regression by hold-out errors.

mod all_rows;
mod judge;
#[cfg(test)]
mod tests;

use crate::{Error, Result, learn::Lambda};
pub(in crate::learn) use all_rows::fit;
pub(in crate::learn) use judge::{curve_of_walk, keep, relative, trusted, variances};

/// Penalties in ascending order, without duplicates. Errors if there are none, or if one is not
/// positive and finite.
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

/// Start of the search in ascending penalties: the default penalty.
pub(in crate::learn) fn place_of_usual(lambdas: &[f64]) -> usize {
    lambdas.partition_point(|&lambda| lambda < 0.99 * Lambda::USUAL)
}
