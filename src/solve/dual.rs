//! Ridge regression in the dual, for fewer rows than features, all held in memory.

mod errors;

use super::{FeatureProducts, LeftOut, descend, left_out::Found};
use crate::{
    Error, Result,
    data::Observations,
    device::CpuDevice,
    error::Remedy,
    linalg::{cholesky::Lower, eigen::eigen, entries, products::lower_outer},
    model::{CalibratedOn, Coefficients},
    parallel,
};
use ndarray::{Array1, Array2, ArrayView1, ArrayView2, Axis, s};

/// Columns whose sums stay in the cache of a thread during a pass over all rows.
const TOGETHER: usize = 512;

/// Ridge regression from all rows at once: `beta = Z'(Z Z' + lambda n I)^-1 y`, which equals
/// `(Z'Z + lambda n I)^-1 Z'y` (Saunders, Gammerman & Vovk 1998), lambda PER SAMPLE as in
/// [`Cholesky`](super::Cholesky). It takes `n^2 D + n^3 / 3` operations instead of `n D^2 + D^3 /
/// 3`. The intercept comes from centring and is not penalised.
///
/// lambda = 0 gives the least-squares solution of least norm, `Z^+ y`, through the eigenvalues of
/// `Z Z'` above `10 n 2^-52` of the largest: with more features than rows it interpolates.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Dual {
    /// The penalty per sample, lambda >= 0.
    pub lambda: f64,
    /// Whether to fit an intercept.
    pub intercept: bool,
}

impl Dual {
    /// Solves for features `[n, D]`, which are overwritten, targets `[n, t]`, and weights `[n]`,
    /// or 1. Also returns `tr Z'Z (Z'Z + lambda n I)^-1`, of centred columns with an intercept.
    ///
    /// # Errors
    /// [`Error::Shape`] on inconsistent shapes; [`Error::Parameter`] unless lambda is finite and >=
    /// 0; [`Error::Numerical`] if `Z Z' + lambda n I` is not positive definite or anything is not
    /// finite.
    ///
    /// ```
    /// use bochner::solve::Dual;
    /// use ndarray::array;
    /// let dual = Dual { lambda: 0.0, intercept: false };
    /// // x + y = 2 has the smallest solution (1, 1).
    /// let (fit, rank) = dual.solve(array![[1.0, 1.0]], array![[2.0]], None)?;
    /// assert!((fit.beta_dt - 1.0).iter().all(|b| b.abs() < 1e-12) && rank == 1.0);
    /// # Ok::<(), bochner::Error>(())
    /// ```
    pub fn solve(
        &self,
        z_nd: Array2<f64>,
        y_nt: Array2<f64>,
        weights_n: Option<ArrayView1<'_, f64>>,
    ) -> Result<(Coefficients, f64)> {
        let Self { lambda, intercept } = *self;
        let (rows, features) = z_nd.dim();
        let ones = Array1::ones(rows);
        let weights_n = weights_n.unwrap_or(ones.view());
        let n = weights_n.sum();
        if rows == 0 || features == 0 || y_nt.nrows() != rows || weights_n.len() != rows {
            return Err(Error::shape(format!(
                "features of {rows} rows and {features} columns, {} rows of targets and {} weights",
                y_nt.nrows(),
                weights_n.len()
            )));
        }
        if !(lambda >= 0.0 && lambda.is_finite()) {
            return Err(Error::parameter(format!(
                "lambda is {lambda}; it must be 0 or positive, and finite"
            )));
        }
        if n <= 0.0 {
            return Err(Error::data("weights", "all rows have weight 0"));
        }
        let rows = Centred::new(z_nd, y_nt, weights_n, intercept);
        let gram = rows.products()?;
        let (alpha_nt, dimension) = if lambda == 0.0 {
            least(&gram, rows.y_nt.clone())?
        } else {
            penalised(gram, rows.y_nt.clone(), lambda * n)?
        };
        Ok((rows.coefficients(&alpha_nt), dimension))
    }

    /// As [`Self::solve`] at each of several penalties above 0; `None` for those at which the
    /// matrix is not positive definite.
    pub(crate) fn solve_each(
        intercept: bool,
        (z_nd, y_nt): (Array2<f64>, Array2<f64>),
        weights_n: ArrayView1<'_, f64>,
        lambdas: &[f64],
    ) -> Result<Vec<Option<Coefficients>>> {
        let rows = Centred::new(z_nd, y_nt, weights_n, intercept);
        let gram = rows.products()?;
        let solve =
            |&lambda: &f64| match penalised(gram.clone(), rows.y_nt.clone(), lambda * rows.n) {
                Err(Error::Numerical(_)) => Ok(None),
                solved => Ok(Some(rows.coefficients(&solved?.0))),
            };
        lambdas.iter().map(solve).collect()
    }

    /// Solves at each penalty that `descend` requests, with leave-one-out errors: with `A = (Z Z' +
    /// lambda n I)^-1` the residual `lambda n (A y)_i` of a row becomes `(A y)_i / A_ii`, up to the
    /// intercept's share of its leverage (Golub, Heath & Wahba 1979). Takes features and targets as
    /// [`Self::solve`] does, of distinct rows: one observation of a row is left out at a time.
    ///
    /// With folds, the rows of each are left out together. Scores identify rows by their indices.
    ///
    /// Returns the best index into `lambdas`, and all results.
    pub(crate) fn choose(
        intercept: bool,
        (z_nd, y_nt): (Array2<f64>, Array2<f64>),
        weighted: WeightedRows<'_>,
        (lambdas, start, relative): Penalties<'_>,
        folds: Option<LeftOutFolds<'_>>,
    ) -> Result<(usize, Found<LeftOut>)> {
        let weights_n = weighted.weights_n;
        let rows = Centred::new(z_nd, y_nt, weights_n, intercept);
        let gram = rows.products()?;
        let free = if intercept { 1.0 / rows.n } else { 0.0 };
        let mut refused = None;
        let (best, found) = descend(lambdas.len(), start, |place| {
            let penalty = lambdas[place] * rows.n;
            let (alpha_nt, diagonal_n) = match inverse(&gram, &rows.y_nt, penalty) {
                Err(error @ Error::Numerical(_)) => {
                    refused = Some(error);
                    return Ok(None);
                }
                solved => solved?,
            };
            let how = (weights_n, penalty, free);
            let (errors_t, scores) = match folds {
                None => rows.left_out(&alpha_nt, &diagonal_n, (weighted, penalty, free))?,
                Some(LeftOutFolds { folds, scores_rows }) => {
                    let errors_nt = rows.left_out_together(&gram, &alpha_nt, how, folds)?;
                    let Some(errors_nt) = errors_nt else {
                        return Ok(None);
                    };
                    let errors_t = errors_nt.mapv(entries::square).sum_axis(Axis(0)) / rows.n;
                    if scores_rows {
                        let how = (weighted, penalty, free);
                        (errors_t, rows.left_out(&alpha_nt, &diagonal_n, how)?.1)
                    } else {
                        let roots_n = weights_n.mapv(f64::sqrt).insert_axis(Axis(1));
                        let on = CalibratedOn::Folds(folds.len());
                        let of_rows = (errors_nt / &roots_n, &alpha_nt * penalty / roots_n);
                        (errors_t, rows.scores(of_rows, weighted, on)?)
                    }
                }
            };
            let error = relative(&errors_t);
            let of = LeftOut {
                coefficients: rows.coefficients(&alpha_nt),
                errors_t,
                effective_dimension: diagonal_n.len() as f64
                    - penalty * diagonal_n.iter().sum::<f64>(),
                scores,
            };
            Ok(error.is_finite().then_some((error, of)))
        })?;
        let none = || Error::numerical("no penalty has a finite held-out error");
        let best = best.ok_or_else(|| refused.unwrap_or_else(none))?;
        Ok((best, found))
    }
}

/// Weights of distinct rows and their numbers of observations.
#[derive(Debug, Clone, Copy)]
pub(crate) struct WeightedRows<'a> {
    pub(crate) weights_n: ArrayView1<'a, f64>,
    pub(crate) observations: &'a Observations,
}

/// Rows that are left out together.
#[derive(Debug, Clone, Copy)]
pub(crate) struct LeftOutFolds<'a> {
    pub(crate) folds: &'a [Vec<usize>],
    /// Whether scores are leave-one-out scores of single rows, as calibration uses them for a few
    /// groups.
    pub(crate) scores_rows: bool,
}

/// Penalties, the index to start with, and the aggregation of the errors of targets.
type Penalties<'a> = (&'a [f64], usize, Relative<'a>);

/// Aggregates the errors of all targets to one number.
type Relative<'a> = &'a dyn Fn(&Array1<f64>) -> f64;

/// Features and targets of all rows, centred if the intercept is free, times the roots of their
/// weights.
struct Centred {
    z_nd: Array2<f64>,
    y_nt: Array2<f64>,
    z_mean: Array1<f64>,
    y_mean: Array1<f64>,
    n: f64,
}

impl Centred {
    fn new(
        mut z_nd: Array2<f64>,
        mut y_nt: Array2<f64>,
        weights_n: ArrayView1<'_, f64>,
        intercept: bool,
    ) -> Self {
        let (features, targets) = (z_nd.ncols(), y_nt.ncols());
        let n = weights_n.sum();
        let (z_mean, y_mean) = if intercept {
            (weights_n.dot(&z_nd) / n, weights_n.dot(&y_nt) / n)
        } else {
            (Array1::zeros(features), Array1::zeros(targets))
        };
        let roots = weights_n.mapv(f64::sqrt).insert_axis(Axis(1));
        z_nd -= &z_mean;
        z_nd *= &roots;
        y_nt -= &y_mean;
        y_nt *= &roots;
        Self {
            z_nd,
            y_nt,
            z_mean,
            y_mean,
            n,
        }
    }

    /// Lower triangle of `Z Z'`. Errors with [`Error::Numerical`] if it is not finite.
    fn products(&self) -> Result<Array2<f64>> {
        let gram = lower_outer(&self.z_nd);
        if gram.iter().chain(&self.y_nt).any(|v| !v.is_finite()) {
            let problem = "the features or targets are too large";
            return Err(Error::numerical(problem).help(Remedy::Standardize));
        }
        Ok(gram)
    }

    /// `Z' alpha`, and the intercept. Sums run over the rows in order, so that results are the same
    /// to the bit on every machine.
    fn coefficients(&self, alpha_nt: &Array2<f64>) -> Coefficients {
        let (features, targets) = (self.z_nd.ncols(), alpha_nt.ncols());
        let blocks = features.div_ceil(TOGETHER);
        let parts = CpuDevice::shared().install(|| {
            parallel::usual().map(blocks, &|block| {
                let here = block * TOGETHER..features.min((block + 1) * TOGETHER);
                let mut beta_td = Array2::zeros((targets, here.len()));
                let z_nd = self.z_nd.slice(s![.., here]);
                for (z, alpha_t) in z_nd.rows().into_iter().zip(alpha_nt.rows()) {
                    for (mut beta, &alpha) in beta_td.rows_mut().into_iter().zip(alpha_t) {
                        beta.scaled_add(alpha, &z);
                    }
                }
                beta_td
            })
        });
        let mut beta_dt = Array2::zeros((features, targets));
        for (part_td, mut to) in parts
            .iter()
            .zip(beta_dt.axis_chunks_iter_mut(Axis(0), TOGETHER))
        {
            to.assign(&part_td.t());
        }
        let intercept_t = &self.y_mean - self.z_mean.dot(&beta_dt);
        Coefficients {
            beta_dt,
            intercept_t,
        }
    }
}

impl Dual {
    /// As [`Self::solve`] for features with products, with the lower triangle of their kernel
    /// matrix `Z Z'`, `[n, n]`, and targets `[t, n]`. After centring that matrix is `K - k 1' - 1
    /// k' + c`, `k = Z m` and `c = m'm` for the weighted mean m of the rows of Z.
    pub(crate) fn solve_kernel(
        &self,
        features: &mut dyn FeatureProducts,
        mut kernel_nn: Array2<f64>,
        y_tn: ArrayView2<'_, f64>,
        weights_n: Option<ArrayView1<'_, f64>>,
    ) -> Result<(Coefficients, f64)> {
        let Self { lambda, intercept } = *self;
        let (targets, rows) = y_tn.dim();
        let ones = Array1::ones(rows);
        let weights_n = weights_n.unwrap_or(ones.view());
        let n = weights_n.sum();
        let roots_n = weights_n.mapv(f64::sqrt);
        let mut mean_1d = Array2::zeros((1, features.columns()));
        let mut y_nt = y_tn.t().as_standard_layout().into_owned();
        let mut y_mean = Array1::zeros(targets);
        if intercept {
            features.transposed(weights_n.insert_axis(Axis(0)), &mut mean_1d)?;
            mean_1d /= n;
            let mut along_1n = Array2::zeros((1, rows));
            features.add_product(mean_1d.view(), &mut along_1n)?;
            let square = mean_1d.row(0).dot(&mean_1d.row(0));
            for (i, mut row) in kernel_nn.rows_mut().into_iter().enumerate() {
                let own = along_1n[[0, i]] - square;
                let pairs = row.iter_mut().zip(&along_1n).take(i + 1);
                pairs.for_each(|(k, other)| *k -= own + other);
            }
            y_mean = weights_n.dot(&y_nt) / n;
            y_nt -= &y_mean;
        }
        for (mut row, root) in kernel_nn.rows_mut().into_iter().zip(&roots_n) {
            let pairs = row.iter_mut().zip(&roots_n);
            pairs.for_each(|(k, other)| *k *= root * other);
        }
        y_nt *= &roots_n.view().insert_axis(Axis(1));
        if y_nt.iter().any(|v| !v.is_finite()) {
            let problem = "the targets are too large";
            return Err(Error::numerical(problem).help(Remedy::Standardize));
        }
        let (alpha_nt, dimension) = if lambda == 0.0 {
            least(&kernel_nn, y_nt)?
        } else {
            penalised(kernel_nn, y_nt, lambda * n)?
        };
        let alpha_tn = (alpha_nt.reversed_axes() * &roots_n)
            .as_standard_layout()
            .into_owned();
        // Z need not be centred: for centred targets, alpha times the roots of the weights sums to
        // 0.
        let mut beta_td = Array2::zeros((targets, features.columns()));
        features.transposed(alpha_tn.view(), &mut beta_td)?;
        let intercept_t = y_mean - beta_td.dot(&mean_1d.row(0));
        let coefficients = Coefficients {
            beta_dt: beta_td.reversed_axes().as_standard_layout().into_owned(),
            intercept_t,
        };
        Ok((coefficients, dimension))
    }
}

/// `(G + penalty I)^-1 y`, and the trace of `G (G + penalty I)^-1`.
fn penalised(gram: Array2<f64>, y_nt: Array2<f64>, penalty: f64) -> Result<(Array2<f64>, f64)> {
    let n = gram.nrows() as f64;
    let (factor, alpha_nt) = factored(Lower::take(gram), y_nt, penalty)?;
    let dimension = n - penalty * factor.inverse_norm_squared();
    Ok((alpha_nt, dimension.max(0.0)))
}

/// A factor of `G + penalty I`, and its solution.
fn factored(
    mut factor: Lower,
    mut y_nt: Array2<f64>,
    penalty: f64,
) -> Result<(Lower, Array2<f64>)> {
    for i in 0..factor.order() {
        factor.row_mut(i)[i] += penalty;
    }
    if !factor.factor() {
        let problem = "the kernel matrix of the features is not positive definite";
        return Err(Error::numerical(problem).help(Remedy::LargerLambda));
    }
    factor.solve(&mut y_nt);
    factor.solve_transposed(&mut y_nt);
    if y_nt.iter().any(|v| !v.is_finite()) {
        let problem = "the coefficients are not finite";
        return Err(Error::numerical(problem).help(Remedy::LargerLambda));
    }
    Ok((factor, y_nt))
}

/// `(G + penalty I)^-1 y`, and the diagonal of that inverse; keeps the lower triangle.
fn inverse(
    gram: &Array2<f64>,
    y_nt: &Array2<f64>,
    penalty: f64,
) -> Result<(Array2<f64>, Vec<f64>)> {
    let (factor, alpha_nt) = factored(Lower::from_matrix(gram), y_nt.clone(), penalty)?;
    Ok((alpha_nt, factor.inverse_diagonal()))
}

/// `G^+ y`, and the rank of G.
fn least(gram: &Array2<f64>, y_nt: Array2<f64>) -> Result<(Array2<f64>, f64)> {
    let eigen = eigen(gram)?;
    let cutoff = 10.0 * gram.nrows() as f64 * f64::EPSILON * eigen.values_n[0];
    let inverse = (eigen.values_n).mapv(|v| if v > cutoff { 1.0 / v } else { 0.0 });
    let rank = inverse.iter().filter(|v| **v > 0.0).count();
    let along = eigen.vectors_nn.t().dot(&y_nt) * &inverse.insert_axis(Axis(1));
    let alpha = eigen.vectors_nn.dot(&along);
    Ok((alpha.as_standard_layout().into_owned(), rank as f64))
}

#[cfg(test)]
mod tests;
