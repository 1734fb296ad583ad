//! Kinds of intercept, and ridge regression with each.

use super::Cholesky;
use crate::{Error, Result, model::Coefficients, normal::NormalEquations};
use ndarray::{Array1, Array2, Axis, concatenate, s};

/// The intercept, which is added to `z(x)'beta`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Intercept {
    /// No intercept.
    None,
    /// An intercept without a penalty: columns and targets are centred.
    #[default]
    Free,
    /// An intercept with the same penalty as the coefficients, like the coefficient of a feature
    /// that is 1.
    Penalised,
}

impl From<bool> for Intercept {
    /// [`Self::Free`] or [`Self::None`].
    fn from(fitted: bool) -> Self {
        if fitted { Self::Free } else { Self::None }
    }
}

impl Intercept {
    /// Ridge regression of sums with this intercept and penalty per sample, and the effective
    /// dimension if [`Cholesky::solve_with_dimension`] computes it, including a penalised
    /// intercept. Errors as that does.
    ///
    /// ```
    /// use bochner::solve::{Intercept, NormalEquations};
    /// use ndarray::array;
    /// // Two rows of a feature that is 0 and of targets that are 1.
    /// let sums = NormalEquations {
    ///     rows: 2,
    ///     weight: 2.0,
    ///     log_weight: 0.0,
    ///     weight_squares: 2.0,
    ///     gram_dd: array![[0.0]],
    ///     zty_dt: array![[0.0]],
    ///     z_sum_d: array![0.0],
    ///     y_sum_t: array![2.0],
    ///     y_square_t: array![2.0],
    ///     ..NormalEquations::zero(1, 1)
    /// };
    /// let (free, _) = Intercept::Free.solve(1.0, &sums)?;
    /// let (penalised, _) = Intercept::Penalised.solve(1.0, &sums)?;
    /// assert_eq!((free.intercept_t[0], penalised.intercept_t[0]), (1.0, 0.5));
    /// # Ok::<(), bochner::Error>(())
    /// ```
    #[doc(hidden)]
    pub fn solve(self, lambda: f64, sums: &NormalEquations) -> Result<(Coefficients, Option<f64>)> {
        let intercept = self == Self::Free;
        let cholesky = Cholesky { lambda, intercept };
        match self {
            Self::None | Self::Free => cholesky.solve_with_dimension(sums),
            Self::Penalised => {
                let (both, dimension) = cholesky.solve_with_dimension(&beside_ones(sums)?)?;
                Ok((without_ones(&both.beta_dt), dimension))
            }
        }
    }
}

impl Intercept {
    /// As [`Self::solve`], without the effective dimension, which would double the time.
    pub(crate) fn coefficients(self, lambda: f64, sums: &NormalEquations) -> Result<Coefficients> {
        let intercept = self == Self::Free;
        let cholesky = Cholesky { lambda, intercept };
        match self {
            Self::None | Self::Free => cholesky.solve(sums),
            Self::Penalised => Ok(without_ones(&cholesky.solve(&beside_ones(sums)?)?.beta_dt)),
        }
    }
}

/// The sums with an additional last feature that is 1.
pub(super) fn beside_ones(sums: &NormalEquations) -> Result<NormalEquations> {
    let shape = |e: ndarray::ShapeError| Error::shape(e.to_string());
    let features = sums.z_sum_d.len();
    let mut gram_dd = Array2::zeros((features + 1, features + 1));
    let inner = s![..features, ..features];
    gram_dd.slice_mut(inner).assign(&sums.gram_dd);
    // Only the lower triangle is filled.
    gram_dd
        .slice_mut(s![features, ..features])
        .assign(&sums.z_sum_d);
    gram_dd[[features, features]] = sums.weight;
    let ones = sums.y_sum_t.view().insert_axis(Axis(0));
    let weight = Array1::from_elem(1, sums.weight);
    Ok(NormalEquations {
        rows: sums.rows,
        weight: sums.weight,
        log_weight: sums.log_weight,
        weight_squares: sums.weight_squares,
        gram_dd,
        zty_dt: concatenate(Axis(0), &[sums.zty_dt.view(), ones]).map_err(shape)?,
        z_sum_d: concatenate(Axis(0), &[sums.z_sum_d.view(), weight.view()]).map_err(shape)?,
        y_sum_t: sums.y_sum_t.clone(),
        y_square_t: sums.y_square_t.clone(),
        rest: Vec::new(),
    })
}

/// Splits off the last coefficient, that of the ones, as the intercept.
pub(super) fn without_ones(beta_pt: &Array2<f64>) -> Coefficients {
    let last = beta_pt.nrows() - 1;
    Coefficients {
        beta_dt: beta_pt.slice(s![..last, ..]).to_owned(),
        intercept_t: beta_pt.row(last).to_owned(),
    }
}
