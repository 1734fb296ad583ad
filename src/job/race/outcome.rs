//! What came of a race, and whether another one came to more.

use super::{Race, deciding::Amounts, runner::are_less};

/// What came of a race.
pub(super) struct Outcome {
    pub(super) race: Race,
    /// Of what was chosen, where scales are compared.
    pub(super) amounts: Option<Amounts>,
}

impl Outcome {
    /// The mean squared error of amounts over their variance.
    pub(super) fn error(&self) -> f64 {
        let of = self.amounts.as_ref();
        of.map_or(f64::INFINITY, |of| {
            of.squares_m.mean().unwrap_or(f64::INFINITY)
        })
    }

    /// Whether it expects amounts more than a race of the same rows does, by more than the standard
    /// error of the difference: by the densities that rows left out have (Box & Cox 1964), for
    /// squares of amounts with a long tail are those of a few. They must not speak against it.
    pub(super) fn expects_more_than(&self, other: &Self) -> bool {
        let (Some(own), Some(other)) = (&self.amounts, &other.amounts) else {
            return false;
        };
        own.squares_m.len() == other.squares_m.len()
            && are_less(&(-&own.log_density_m), &(-&other.log_density_m))
            && !are_less(&other.squares_m, &own.squares_m)
    }
}
