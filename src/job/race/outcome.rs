//! Outcome of a comparison, and comparison of outcomes on two scales of the target.

use super::{Race, deciding::Amounts, runner::are_less};

/// Outcome of a comparison of candidates.
pub(super) struct Outcome {
    pub(super) race: Race,
    /// Errors of the choice on the original scale, if scales of the target are compared.
    pub(super) amounts: Option<Amounts>,
}

impl Outcome {
    /// Returns the mean squared error on the original scale relative to the variance.
    pub(super) fn error(&self) -> f64 {
        let of = self.amounts.as_ref();
        of.map_or(f64::INFINITY, |of| {
            of.squares_m.mean().unwrap_or(f64::INFINITY)
        })
    }

    /// Whether the predictive density of left-out rows (Box & Cox 1964) is larger than in another
    /// outcome on the same rows, by more than the standard error of the difference, while squared
    /// errors are not clearly larger. Squared errors alone depend on few rows if tails are long.
    pub(super) fn expects_more_than(&self, other: &Self) -> bool {
        let (Some(own), Some(other)) = (&self.amounts, &other.amounts) else {
            return false;
        };
        own.squares_m.len() == other.squares_m.len()
            && are_less(&(-&own.log_density_m), &(-&other.log_density_m))
            && !are_less(&other.squares_m, &own.squares_m)
    }
}
