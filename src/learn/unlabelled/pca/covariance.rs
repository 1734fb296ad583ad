//! The covariance of features, and its leading eigenvectors.

use super::{Components, check_count, not_there};
use crate::{
    Error, Result,
    linalg::{
        eigen::{Eigen, eigen},
        leading::leading,
    },
    normal::NormalEquations,
    parallel,
};
use ndarray::{Array1, Array2, s};

/// Covariance of features (lower triangle).
pub(in crate::learn) struct Covariance {
    pub(in crate::learn) mean_d: Array1<f64>,
    /// Sum of the weights of the rows, where weight w equals w rows.
    pub(super) weight: f64,
    pub(super) matrix_dd: Array2<f64>,
    /// Its trace.
    pub(super) total: f64,
    /// Bound on the variance due to rounding of features and sums.
    pub(super) noise: f64,
}

/// Rounding of features to f32, and of sums of some thousand of them, as a share of the second
/// moment.
const ROUNDING: f64 = 1e-6;

impl Covariance {
    /// From sums over rows, where weight w equals w rows. Errors if they are fewer than two or all
    /// equal.
    pub(in crate::learn) fn from_sums(sums: NormalEquations) -> Result<Self> {
        let weight = sums.weight;
        Self::check_rows(sums.rows, weight)?;
        let mean_d = &sums.z_sum_d / weight;
        let mut matrix_dd = sums.gram_dd;
        let square = matrix_dd.diag().sum() / weight;
        let mut each: Vec<_> = matrix_dd.rows_mut().into_iter().collect();
        parallel::usual().parts(&mut each, &|i, row| {
            for (j, v) in row.iter_mut().enumerate().take(i + 1) {
                *v = (*v - weight * mean_d[i] * mean_d[j]) / (weight - 1.0);
            }
        });
        let total = matrix_dd.diag().sum();
        let of = Self::without_matrix(mean_d, weight, (total, square))?;
        Ok(Self { matrix_dd, ..of })
    }

    /// Errors if there are fewer than two rows, or if their total weight is less.
    pub(super) fn check_rows(rows: u64, weight: f64) -> Result<()> {
        match rows {
            0 | 1 => Err(Error::shape(format!(
                "components need at least 2 rows, and there is {rows}"
            ))),
            _ if weight <= 1.0 => Err(Error::data(
                "weights",
                format!("they count rows, and sum to {weight}; components need above 1"),
            )),
            _ => Ok(()),
        }
    }

    /// Everything but the matrix, from the total variance and mean square of the features. Errors
    /// if they do not vary.
    pub(super) fn without_matrix(
        mean_d: Array1<f64>,
        weight: f64,
        (total, square): (f64, f64),
    ) -> Result<Self> {
        let noise = ROUNDING * square;
        // `is_finite` too: sums of large features can overflow.
        if !(total.is_finite() && total > noise) {
            let problem = "the features do not vary: all rows are the same, or the bandwidth is \
                           far too large";
            return Err(Error::numerical(problem).help(crate::error::Remedy::OtherBandwidth));
        }
        Ok(Self {
            mean_d,
            weight,
            matrix_dd: Array2::zeros((0, 0)),
            total,
            noise,
        })
    }

    /// The leading eigenvectors that `components` requests.
    ///
    /// Errors on more components than directions in which the rows vary.
    pub(in crate::learn) fn leading(&self, components: Components) -> Result<Eigen> {
        let features = self.mean_d.len();
        let found = match components {
            Components::Count(count) => {
                check_count(count, features)?;
                leading(&self.matrix_dd, count)?
            }
            Components::Variance(share) => self.explaining(share)?,
        };
        let there = found.values_n.iter().filter(|&&v| v > self.noise).count();
        if there == found.values_n.len() {
            Ok(found)
        } else {
            Err(not_there(there))
        }
    }

    /// The fewest eigenvectors that explain `share` of the variance, none of them noise.
    fn explaining(&self, share: f64) -> Result<Eigen> {
        if !(share > 0.0 && share <= 1.0) {
            return Err(Error::parameter(format!(
                "the explained share of the variance must be above 0 and at most 1, not {share}"
            )));
        }
        let all = eigen(&self.matrix_dd)?;
        let there = all.values_n.iter().filter(|&&v| v > self.noise).count();
        let mut explained = 0.0;
        let enough = all.values_n.iter().take(there).take_while(|&&v| {
            let before = explained;
            explained += v;
            before < share * self.total
        });
        let count = enough.count();
        Ok(Eigen {
            values_n: all.values_n.slice(s![..count]).to_owned(),
            vectors_nn: all.vectors_nn.slice(s![.., ..count]).to_owned(),
        })
    }
}
