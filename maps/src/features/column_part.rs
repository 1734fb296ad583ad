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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        data::MemorySource,
        kernels::{Gaussian, Laplacian},
    };
    use ndarray::Array2;

    /// Of columns that are alike, of which parts look at 1, 1 and 2 of 5, distances by their sums
    /// are 4/15 of those in all columns, in the mean over parts, and squared ones, too. A number
    /// that is given is that of each part.
    #[test]
    fn widths_are_as_much_less_as_distances_in_parts() {
        let x = Array2::from_shape_fn((20, 5), |(i, j)| ((i * (j + 3)) % 7) as f64);
        let survey = Survey::new(&mut MemorySource::new(x, None).expect("finite"), 0, 0);
        let survey = survey.expect("surveys");
        let parts = [vec![0], vec![3], vec![1, 4]].map(|places| ColumnPart {
            places,
            weight: 1.0 / 3.0,
        });
        let of =
            |bandwidth, kernel: &dyn Kernel, parts| by_parts(&bandwidth, (kernel, parts), &survey);
        let share = 4.0 / 15.0_f64;
        for (bandwidth, kernel, wanted) in [
            (Bandwidth::Median, &Laplacian as &dyn Kernel, share),
            (Bandwidth::Scale, &Gaussian, share.sqrt()),
            (Bandwidth::Sigma(2.0), &Gaussian, 1.0),
            (Bandwidth::Gamma(2.0), &Laplacian, 1.0),
        ] {
            let found = of(bandwidth.clone(), kernel, Some(parts.as_slice()));
            assert!(
                (found - wanted).abs() < 1e-15,
                "{bandwidth:?}: {found}, {wanted}"
            );
            assert_eq!(of(bandwidth.clone(), kernel, None), 1.0);
            assert_eq!(of(bandwidth, kernel, Some(&[])), 1.0);
        }
    }
}
