//! Frequencies resampled by leverage score (Bach 2017, "On the equivalence between kernel
//! quadrature rules and random feature expansions"; Li, Ton, Oglic & Sejdinovic 2019, algorithm 1).

use super::{Affine, Form};
use crate::{
    Error, Result,
    data::Rows,
    device::memory_left,
    linalg::{cholesky::Lower, entries},
    sampling::{Frequencies, leverage_resample},
    seed::Seed,
};
use faer::{Accum, MatMut, MatRef, linalg::matmul::matmul};
use ndarray::{Array2, ArrayView2, Axis};
use std::{
    f64::consts::{SQRT_2, TAU},
    sync::Arc,
};

/// Ridge leverage scores of a pool of features, `p_l = diag[Z'Z ((1/s_0) Z'Z + n lambda I)^-1]`,
/// length s_0.
///
/// `z_nd` holds the pool's features on n rows, unscaled, so that `Z Z' / s_0` estimates the kernel
/// matrix: s_0 frequencies in each of D / s_0 blocks of columns (cosines, then sines), whose scores
/// are added frequency by frequency. They sum to s_0 times the effective dimension at lambda, a
/// penalty per sample.
///
/// # Errors
/// [`Error::Shape`] when D is no multiple of `pool` or there are no rows; [`Error::Parameter`]
/// unless lambda is positive and finite; [`Error::Numerical`] when lambda is lost to rounding.
#[doc(hidden)]
pub fn leverage_scores(z_nd: ArrayView2<'_, f64>, pool: usize, lambda: f64) -> Result<Vec<f64>> {
    let (n, features) = z_nd.dim();
    if n == 0 || pool == 0 || features == 0 || features % pool != 0 {
        return Err(Error::shape(format!(
            "leverage scores of {pool} frequencies need rows of that many features, once or twice, \
             not {n} x {features}"
        )));
    }
    if !(lambda > 0.0 && lambda.is_finite()) {
        return Err(Error::parameter(format!(
            "the lambda of leverage scores is {lambda}; it must be positive and finite"
        )));
    }
    memory_left::require_square(features, 16, || format!("a pool of {features} features"))?;
    let z_nd = z_nd.as_standard_layout();
    let z = MatRef::from_row_major_slice(z_nd.as_slice().expect("standard layout"), n, features);
    let mut inner = Array2::zeros((features, features));
    matmul(
        MatMut::from_row_major_slice_mut(
            inner.as_slice_mut().expect("standard layout"),
            features,
            features,
        ),
        Accum::Replace,
        z.transpose(),
        z,
        1.0 / pool as f64,
        crate::device::CpuDevice::shared().par(),
    );
    let penalty = n as f64 * lambda;
    entries::add_to_diagonal(&mut inner, penalty);
    let mut inner = Lower::from_matrix(&inner);
    if !inner.factor() {
        return Err(Error::numerical(format!(
            "leverage scores at lambda = {lambda:e} are lost to rounding; use a larger lambda (10 \
             times)"
        )));
    }
    // With H = Z'Z and M = H / s_0 + n lambda I: H M^-1 = s_0 (I - n lambda M^-1), and M^-1 = L'^-1
    // L^-1.
    let mut inverse = Array2::eye(features);
    inner.solve(&mut inverse);
    let diagonal = inverse.mapv(entries::square).sum_axis(Axis(0));
    let mut scores = vec![0.0; pool];
    for (j, m) in diagonal.iter().enumerate() {
        scores[j % pool] += (pool as f64 * (1.0 - penalty * m)).max(0.0);
    }
    Ok(scores)
}

/// What leverage sampling needs: rows that stand for the data, the penalty, and the size of the
/// pool.
#[derive(Debug, Clone)]
pub(super) struct Leverage {
    pub(super) rows: Arc<Rows>,
    pub(super) lambda: f64,
    pub(super) pool: usize,
}

impl Leverage {
    /// Scores `pool` on the rows and draws `s` of it. `input` takes raw columns to unit
    /// lengthscale.
    pub(super) fn resample(
        &self,
        pool: &Frequencies,
        form: Form,
        input: &Affine,
        s: usize,
        seed: Seed,
    ) -> Result<Frequencies> {
        let u_nd = input.apply(&self.rows)?;
        let z_nd = pool_features(u_nd.view(), pool, form);
        let scores = leverage_scores(z_nd.view(), self.pool, self.lambda)?;
        leverage_resample(pool, &scores, s, seed)
    }
}

/// The pool's features without the factor 1/sqrt(s_0): cosines then sines, or sqrt(2) cosines with
/// phases.
fn pool_features(u_nd: ArrayView2<'_, f64>, pool: &Frequencies, form: Form) -> Array2<f64> {
    let angle_ns = u_nd.dot(&pool.omega_sd.t());
    let (n, s) = angle_ns.dim();
    match form {
        Form::Paired => Array2::from_shape_fn((n, 2 * s), |(i, j)| {
            let t = angle_ns[[i, j % s]];
            if j < s { libm::cos(t) } else { libm::sin(t) }
        }),
        Form::Phase => Array2::from_shape_fn((n, s), |(i, l)| {
            let phase = pool.phases.as_ref().map_or(0.0, |b| b[l]);
            SQRT_2 * libm::cos(angle_ns[[i, l]] + TAU * phase)
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::array;

    /// Orthogonal columns: H is diagonal, so p = h / (h / s_0 + n lambda) by hand.
    #[test]
    fn scores_of_orthogonal_features_are_known() {
        let z = array![
            [2.0, 0.0, 0.0, 0.0],
            [0.0, 1.0, 0.0, 0.0],
            [0.0, 0.0, 3.0, 0.0],
            [0.0, 0.0, 0.0, 0.0]
        ];
        let scores = leverage_scores(z.view(), 2, 0.25).expect("fine");
        let p = |h: f64| h / (h / 2.0 + 1.0);
        for (score, expected) in scores.iter().zip([p(4.0) + p(9.0), p(1.0)]) {
            assert!((score - expected).abs() < 1e-12, "{scores:?}");
        }
        assert!(leverage_scores(z.view(), 3, 0.25).is_err());
        assert!(leverage_scores(z.view(), 2, 0.0).is_err());
    }
}
