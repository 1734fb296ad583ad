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

/// The covariance of features, of which the lower triangle is kept.
pub(in crate::learn) struct Covariance {
    pub(in crate::learn) mean_d: Array1<f64>,
    /// The sum of the weights of the rows, which count them.
    pub(super) weight: f64,
    pub(super) matrix_dd: Array2<f64>,
    /// Its trace.
    pub(super) total: f64,
    /// Variance that is lost to the rounding of features and sums.
    pub(super) noise: f64,
}

/// Features are rounded to f32, and so are the sums of some thousand of them: of the second moment
/// this share.
const ROUNDING: f64 = 1e-6;

impl Covariance {
    /// Of the rows that `sums` holds, where one of weight w is w rows. Errors when they are fewer
    /// than two or all the same.
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

    /// Errors when there are fewer rows than a variance takes, or when they count for fewer.
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

    /// All but the matrix, of features with this variance in all and this mean square. Errors when
    /// they do not vary.
    pub(super) fn without_matrix(
        mean_d: Array1<f64>,
        weight: f64,
        (total, square): (f64, f64),
    ) -> Result<Self> {
        let noise = ROUNDING * square;
        // `is_finite` too: sums of large features can leave the range.
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

    /// The leading eigenvectors as `components` asks for them.
    ///
    /// Errors when more are asked for than there are directions in which the rows differ.
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
