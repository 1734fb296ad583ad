//! Ridge regression by a Cholesky factorisation in f64.

use crate::{
    Error, Result, error::Remedy, linalg::cholesky::Lower, model::Coefficients,
    normal::NormalEquations,
};
use ndarray::{Array1, Array2, Axis, concatenate};

impl Coefficients {
    /// Coefficients of several models on the same features, side by side. Errors with
    /// [`Error::Shape`] if features differ, or if there are none.
    pub(crate) fn side_by_side(all: &[Self]) -> Result<Self> {
        let betas: Vec<_> = all.iter().map(|one| one.beta_dt.view()).collect();
        let intercepts: Vec<_> = all.iter().map(|one| one.intercept_t.view()).collect();
        let shape = |fault: ndarray::ShapeError| Error::shape(fault.to_string());
        Ok(Self {
            beta_dt: concatenate(Axis(1), &betas).map_err(shape)?,
            intercept_t: concatenate(Axis(0), &intercepts).map_err(shape)?,
        })
    }
}

/// Ridge regression: `beta = (Z'Z + lambda n I)^-1 Z'y`, with lambda PER SAMPLE (a penalty of
/// `lambda n |beta|^2` added to the sum of squares). The intercept comes from centring and is not
/// penalised.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Cholesky {
    /// The penalty per sample, lambda > 0.
    pub lambda: f64,
    /// Whether to fit an intercept.
    pub intercept: bool,
}

impl Default for Cholesky {
    /// lambda = 1e-6 with an intercept.
    fn default() -> Self {
        Self {
            lambda: 1e-6,
            intercept: true,
        }
    }
}

/// Mean squared feature norm above which the columns are probably unscaled: shift-invariant kernels
/// are at most 1.
const LARGE: f64 = 1000.0;

/// Maximum number of features for which the effective dimension is computed.
const MOST_INVERTED: usize = 4096;

impl Cholesky {
    /// Solves for all targets at once, on the CPU, in f64.
    ///
    /// Errors with [`Error::Parameter`] unless lambda is positive and finite, and with
    /// [`Error::Numerical`] if the matrix is not positive definite, which can happen with f32
    /// features for lambda near 1e-8 or below.
    pub fn solve(&self, sums: &NormalEquations) -> Result<Coefficients> {
        Ok(self
            .factor_and_solve(Lower::from_matrix(&sums.gram_dd), sums)?
            .0)
    }

    /// As [`Self::solve`], with `N(lambda) = tr Z'Z (Z'Z + lambda n I)^-1` of centred columns for
    /// up to 4096 features: it takes as long as the factor, which is little compared with summing.
    ///
    /// Errors as [`Self::solve`] does.
    #[doc(hidden)]
    pub fn solve_with_dimension(
        &self,
        sums: &NormalEquations,
    ) -> Result<(Coefficients, Option<f64>)> {
        let gram = Lower::from_matrix(&sums.gram_dd);
        let (coefficients, factor) = self.factor_and_solve(gram, sums)?;
        let dimension = Self::dimension(&factor, self.lambda * sums.weight);
        Ok((coefficients, dimension))
    }

    /// The effective dimension from a factor of `Z'Z + penalty I`, for few features.
    pub(super) fn dimension(factor: &Lower, penalty: f64) -> Option<f64> {
        let features = factor.order();
        // tr A^-1 is the squared norm of L^-1.
        (features <= MOST_INVERTED).then(|| {
            let trace = factor.inverse_norm_squared();
            (features as f64 - penalty * trace).max(0.0)
        })
    }

    /// As [`Self::solve`], reusing the memory of the sums.
    pub(crate) fn solve_in_place(&self, mut sums: NormalEquations) -> Result<Coefficients> {
        let gram = Lower::take(std::mem::take(&mut sums.gram_dd));
        Ok(self.factor_and_solve(gram, &sums)?.0)
    }

    pub(super) fn factor_and_solve(
        &self,
        mut gram: Lower,
        sums: &NormalEquations,
    ) -> Result<(Coefficients, Lower)> {
        let Self { lambda, intercept } = *self;
        if !(lambda > 0.0 && lambda.is_finite()) {
            return Err(Error::parameter(format!(
                "lambda is {lambda}; it must be positive and finite"
            ))
            .help(Remedy::LargerLambda));
        }
        if sums.weight <= 0.0 {
            return Err(Error::shape("there are no rows to fit"));
        }
        let n = sums.weight;
        let targets = sums.zty_dt.ncols();
        let mut beta_dt = sums.zty_dt.clone();
        // The mean of z(x)'z(x), an estimate of k(x, x).
        let norm = (0..beta_dt.nrows()).map(|i| gram.row(i)[i] / n);
        let norm: f64 = norm.sum();
        let z_mean = &sums.z_sum_d / n;
        let y_mean = &sums.y_sum_t / n;
        if intercept {
            center(&mut gram, &mut beta_dt, n, (&z_mean, &y_mean));
        }
        for i in 0..z_mean.len() {
            gram.row_mut(i)[i] += lambda * n;
        }
        if !gram.factor() {
            let problem =
                format!("the normal equations are not positive definite at lambda = {lambda:e}");
            let error = Error::numerical(problem);
            // If the kernel grows with the rows, so does the rounding that lambda must exceed.
            let error = if norm > LARGE {
                error.help(Remedy::Standardize)
            } else {
                error
            };
            return Err(error.help(Remedy::LargerLambda));
        }
        gram.solve(&mut beta_dt);
        gram.solve_transposed(&mut beta_dt);
        if beta_dt.iter().any(|b| !b.is_finite()) {
            let problem = format!("the coefficients are not finite at lambda = {lambda:e}");
            return Err(Error::numerical(problem).help(Remedy::LargerLambda));
        }
        let intercept_t = if intercept {
            &y_mean - &beta_dt.t().dot(&z_mean)
        } else {
            Array1::zeros(targets)
        };
        let coefficients = Coefficients {
            beta_dt,
            intercept_t,
        };
        Ok((coefficients, gram))
    }
}

/// Replaces Z'Z by `Z'Z - n zbar zbar'` (lower triangle), and Z'y by `Z'y - n zbar ybar`.
fn center(
    gram: &mut Lower,
    zty_dt: &mut Array2<f64>,
    n: f64,
    (z_mean, y_mean): (&Array1<f64>, &Array1<f64>),
) {
    for i in 0..z_mean.len() {
        for (g, zj) in gram.row_mut(i).iter_mut().zip(z_mean) {
            *g -= n * z_mean[i] * zj;
        }
    }
    for (mut row, zi) in zty_dt.rows_mut().into_iter().zip(z_mean) {
        row.scaled_add(-n * zi, y_mean);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::{Axis, array};

    /// Three features, two targets, and explicit sums.
    fn sums() -> (Array2<f64>, Array2<f64>, NormalEquations) {
        let z = array![
            [1.0, 0.5, -0.2],
            [0.3, -1.0, 0.7],
            [0.9, 0.1, 0.4],
            [-0.6, 0.8, 1.0],
            [0.2, 0.2, -0.9]
        ];
        let y = array![[1.0, 5.0], [2.0, 4.0], [0.5, 6.5], [-1.0, 5.5], [3.0, 4.2]];
        let sums = NormalEquations {
            rows: 5,
            weight: 5.0,
            log_weight: 0.0,
            weight_squares: 5.0,
            gram_dd: z.t().dot(&z),
            zty_dt: z.t().dot(&y),
            z_sum_d: z.sum_axis(Axis(0)),
            y_sum_t: y.sum_axis(Axis(0)),
            y_square_t: (&y * &y).sum_axis(Axis(0)),
            rest: Vec::new(),
        };
        (z, y, sums)
    }

    /// At the minimum the gradient vanishes: Z'(y - Z beta - b) = lambda n beta, and the residuals
    /// sum to zero.
    #[test]
    fn the_gradient_vanishes() {
        let (z, y, sums) = sums();
        for intercept in [true, false] {
            let lambda = 0.03;
            let fit = Cholesky { lambda, intercept }.solve(&sums).expect("solves");
            let residual = &y - &(z.dot(&fit.beta_dt) + &fit.intercept_t);
            let gradient = z.t().dot(&residual) - &fit.beta_dt * (lambda * 5.0);
            assert!(gradient.iter().all(|g| g.abs() < 1e-12), "{gradient}");
            let sum = residual.sum_axis(Axis(0));
            assert_eq!(intercept, sum.iter().all(|r| r.abs() < 1e-12));
        }
    }

    #[test]
    fn a_singular_system_is_an_error_with_a_remedy() {
        let (_, _, mut sums) = sums();
        sums.gram_dd.fill(-1.0);
        let message = Cholesky::default()
            .solve(&sums)
            .expect_err("not positive definite")
            .to_string();
        assert!(message.contains("larger .lambda(..)"), "{message}");
        let bad = Cholesky {
            lambda: 0.0,
            intercept: true,
        };
        assert!(matches!(bad.solve(&sums), Err(Error::Parameter(_))));
    }
}
