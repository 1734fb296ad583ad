//! Parts of a sum of kernels that look at some of the columns.

use super::Bandwidth;
use crate::{
    data::Survey,
    kernels::{Kernel, Norm},
};

/// A part of a sum of kernels that looks at some of the columns.
#[derive(Debug, Clone, PartialEq)]
#[doc(hidden)]
pub struct ColumnPart {
    /// Which, among the columns of numbers, ascending.
    pub places: Vec<usize>,
    /// What its kernel counts in the sum.
    pub weight: f64,
}

/// What the lengthscale of a rule is multiplied by where a kernel is a sum of parts: distances in
/// the columns that a part looks at in the mean are as much less than those in all. 1 for a number
/// that is given.
#[doc(hidden)]
pub fn by_parts(
    bandwidth: &Bandwidth,
    (kernel, parts): (&dyn Kernel, Option<&[ColumnPart]>),
    survey: &Survey,
) -> f64 {
    let is_given = matches!(
        bandwidth,
        Bandwidth::Gamma(_) | Bandwidth::Sigma(_) | Bandwidth::SigmaPerColumn(_)
    );
    let Some(parts) = parts.filter(|parts| !is_given && !parts.is_empty()) else {
        return 1.0;
    };
    let seen: usize = parts.iter().map(|part| part.places.len()).sum();
    let share = seen as f64 / (parts.len() * survey.mean.len()) as f64;
    match kernel.norm() {
        Norm::L1 => share,
        Norm::L2 => share.sqrt(),
    }
}
