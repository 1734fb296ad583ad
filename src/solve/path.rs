//! Ridge regression for every penalty, from one eigendecomposition of the sums.

use super::{
    Intercept,
    intercept::{beside_ones, without_ones},
};
use crate::{
    Error, Result,
    linalg::{
        eigen::{Eigen, eigen},
        entries,
        products::product_of_share,
    },
    model::Coefficients,
    normal::NormalEquations,
};
use ndarray::{Array1, Array2, Axis, s};

/// `beta(lambda) = V (S + lambda n I)^-1 V' Z'y` for any lambda, from `Z'Z = V S V'` (centred with
/// a free intercept): O(D^3) once, in f64 and on all threads, then O(D^2 t) for each lambda, which
/// is PER SAMPLE as in [`Cholesky`](super::Cholesky).
///
/// ```
/// use bochner::{Device, data::MemorySource, features::{Affine, Fourier}, kernels::Gaussian};
/// use bochner::models::Targets;
/// use bochner::solve::{Intercept, LambdaPath, NormalEquations};
/// let x = ndarray::Array2::from_shape_fn((40, 1), |(i, _)| i as f64 / 4.0);
/// let map = Fourier::new(Gaussian).features(16).build(Affine::identity(1))?;
/// let mut rows = MemorySource::new(&x, Some(x.mapv(f64::sin)))?;
/// let targets = Targets::Real { columns: 1, shift: vec![0.0] };
/// let sums = NormalEquations::accumulate(&map, &mut rows, &targets, &Device::cpu())?;
/// let path = LambdaPath::new(&sums, Intercept::Free)?;
/// let (loose, tight) = (path.coefficients(1e-6)?, path.coefficients(1.0)?);
/// assert!(loose.beta_dt.mapv(|b| b * b).sum() > tight.beta_dt.mapv(|b| b * b).sum());
/// assert!(path.effective_dimension(1e-6)? > path.effective_dimension(1.0)?);
/// # Ok::<(), bochner::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct LambdaPath {
    pub(super) n: f64,
    /// For p = D columns, or D + 1 with a penalised intercept, whose column of ones is the last.
    pub(super) eigen: Eigen,
    /// `V' Z'y`, `[p, t]`.
    pub(super) projected_pt: Array2<f64>,
    /// Zero unless the intercept is free.
    pub(super) z_mean_d: Array1<f64>,
    pub(super) y_mean_t: Array1<f64>,
    intercept: Intercept,
    /// Penalty that exceeds the rounding error of the smallest eigenvalue.
    rounding: f64,
}

/// Relative error, compared with the largest eigenvalue, of products of features in f32: two units
/// of rounding, 2^-24.
const ROUNDING: f64 = 2.0 * 5.96e-8;

impl LambdaPath {
    /// For lambda = 0, directions whose eigenvalue is at most this share of the largest are
    /// dropped, since they are rounding errors of f32 sums.
    #[doc(hidden)]
    pub const CUTOFF: f64 = 1e-7;

    /// Decomposes the sums. `intercept` may be a `bool`. Errors if there are no rows, and on sums
    /// that are not finite.
    pub fn new(sums: &NormalEquations, intercept: impl Into<Intercept>) -> Result<Self> {
        let intercept = intercept.into();
        let n = sums.weight;
        if n <= 0.0 {
            return Err(Error::shape("there are no rows to fit"));
        }
        let (features, targets) = sums.zty_dt.dim();
        let (mut z_mean_d, mut y_mean_t) = (Array1::zeros(features), Array1::zeros(targets));
        let mut gram_pp = sums.gram_dd.clone();
        let mut zty_pt = sums.zty_dt.clone();
        match intercept {
            Intercept::None => {}
            Intercept::Free => {
                z_mean_d = &sums.z_sum_d / n;
                y_mean_t = &sums.y_sum_t / n;
                for (i, &zi) in z_mean_d.iter().enumerate() {
                    // Only the lower triangle is filled.
                    let mut row = gram_pp.slice_mut(s![i, ..=i]);
                    row.scaled_add(-n * zi, &z_mean_d.slice(s![..=i]));
                    zty_pt.row_mut(i).scaled_add(-n * zi, &y_mean_t);
                }
            }
            Intercept::Penalised => {
                let beside = beside_ones(sums)?;
                (gram_pp, zty_pt) = (beside.gram_dd, beside.zty_dt);
            }
        }
        let mut eigen = eigen(&gram_pp)?;
        // Eigenvalues of a Gram matrix are not negative; negative values are rounding errors.
        let rounding = eigen.values_n.fold(0.0_f64, |m, &s| m.max(-s)) / n;
        eigen.values_n.mapv_inplace(|s| s.max(0.0));
        Ok(Self {
            n,
            projected_pt: eigen.vectors_nn.t().dot(&zty_pt),
            eigen,
            z_mean_d,
            y_mean_t,
            intercept,
            rounding,
        })
    }

    /// Penalty below which leverages, and so leave-one-out errors, are partly rounding.
    pub(crate) fn resolution(&self) -> f64 {
        let largest = self.eigen.values_n.fold(0.0_f64, |m, &s| m.max(s));
        f64::max(self.rounding, ROUNDING * largest / self.n)
    }

    /// Penalty below which rounding errors of the sums can leave Z'Z + lambda n I without a
    /// Cholesky factor.
    pub(crate) fn rounding(&self) -> f64 {
        self.rounding
    }

    /// The coefficients at `lambda`. lambda = 0 gives the least-squares solution of least norm,
    /// which interpolates with more features than rows ([`Self::minimum_norm`] with
    /// [`Self::CUTOFF`]).
    ///
    /// Errors with [`Error::Parameter`] unless lambda is finite and not negative.
    pub fn coefficients(&self, lambda: f64) -> Result<Coefficients> {
        Ok(self.assemble(&self.inverse(lambda, Self::CUTOFF)?))
    }

    /// As [`Self::coefficients`], by a Cholesky factor of the sums, whose bits are the same on
    /// every machine, while eigenvectors differ between machines. Falls back to the path if
    /// rounding leaves no factor.
    pub(crate) fn solved(
        &self,
        lambda: f64,
        sums: &NormalEquations,
        intercept: Intercept,
    ) -> Result<Coefficients> {
        if lambda == 0.0 {
            return self.coefficients(lambda);
        }
        match intercept.coefficients(lambda, sums) {
            Err(Error::Numerical(_)) => self.coefficients(lambda),
            solved => solved,
        }
    }

    /// The coefficients at lambda = 0, `Z^+ y`, without the directions whose eigenvalue of Z'Z is
    /// at most `cutoff` times the largest.
    ///
    /// Errors with [`Error::Parameter`] unless `cutoff` lies in [0, 1).
    pub fn minimum_norm(&self, cutoff: f64) -> Result<Coefficients> {
        if !(0.0..1.0).contains(&cutoff) {
            return Err(Error::parameter(format!(
                "the cutoff is {cutoff}; it must lie between 0 and 1"
            )));
        }
        Ok(self.assemble(&self.inverse(0.0, cutoff)?))
    }

    /// `N(lambda) = tr Z'Z (Z'Z + lambda n I)^-1`, the effective number of features (Caponnetto &
    /// De Vito 2007). At lambda = 0 the number of directions above [`Self::CUTOFF`]. A free
    /// intercept is not counted.
    ///
    /// Errors as [`Self::coefficients`] does.
    pub fn effective_dimension(&self, lambda: f64) -> Result<f64> {
        Ok(self
            .inverse(lambda, Self::CUTOFF)?
            .dot(&self.eigen.values_n))
    }

    /// `1 / (s + lambda n)` for each eigenvalue s, `[p]`; at lambda = 0 zero for dropped
    /// directions.
    pub(super) fn inverse(&self, lambda: f64, cutoff: f64) -> Result<Array1<f64>> {
        if !(lambda >= 0.0 && lambda.is_finite()) {
            return Err(Error::parameter(format!(
                "lambda is {lambda}; it must be finite and not negative"
            )));
        }
        let penalty = lambda * self.n;
        let least = if penalty > 0.0 {
            -1.0
        } else {
            cutoff * self.eigen.values_n[0]
        };
        Ok(self
            .eigen
            .values_n
            .mapv(|s| if s > least { 1.0 / (s + penalty) } else { 0.0 }))
    }

    fn assemble(&self, inverse_p: &Array1<f64>) -> Coefficients {
        let scaled_pt = &self.projected_pt * &inverse_p.view().insert_axis(Axis(1));
        let beta_dt = self.eigen.vectors_nn.dot(&scaled_pt);
        let intercept_t = match self.intercept {
            Intercept::None => Array1::zeros(self.y_mean_t.len()),
            Intercept::Free => &self.y_mean_t - &beta_dt.t().dot(&self.z_mean_d),
            Intercept::Penalised => return without_ones(&beta_dt),
        };
        Coefficients {
            beta_dt,
            intercept_t,
        }
    }

    /// Number of targets.
    pub(super) fn targets(&self) -> usize {
        self.projected_pt.ncols()
    }

    /// `V' Z'y` with each direction multiplied by its factor, `[p, t]`.
    pub(super) fn scaled(&self, inverse_p: &Array1<f64>) -> Array2<f64> {
        &self.projected_pt * &inverse_p.view().insert_axis(Axis(1))
    }

    /// Rows `[m, D]` in the basis of the eigenvectors, centred if the intercept is free, `[m, p]`.
    pub(super) fn rotate(&self, z_md: ndarray::ArrayView2<'_, f32>) -> Array2<f64> {
        let mut wide_md = Array2::zeros(z_md.raw_dim());
        entries::widen(wide_md.view_mut(), z_md);
        let vectors_pp = self.eigen.vectors_nn.view();
        if self.intercept == Intercept::Free {
            wide_md -= &self.z_mean_d;
        }
        if self.intercept == Intercept::Penalised {
            let (rest, ones) = vectors_pp.split_at(Axis(0), wide_md.ncols());
            return product_of_share(wide_md.view(), rest) + ones;
        }
        product_of_share(wide_md.view(), vectors_pp)
    }

    /// Share of the leverage of every row due to a free intercept: `1 / n`.
    pub(super) fn leverage_of_intercept(&self) -> f64 {
        match self.intercept {
            Intercept::Free => 1.0 / self.n,
            _ => 0.0,
        }
    }

    /// Means of the targets; zero unless the intercept is free, `[t]`.
    pub(super) fn centre(&self) -> &Array1<f64> {
        &self.y_mean_t
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        seed::{Seed, Stream},
        solve::Cholesky,
    };

    /// Features with different scales and nonzero means, and two targets.
    fn rows(n: usize, d: usize) -> (Array2<f64>, Array2<f64>) {
        let mut draws = Seed(3).stream(Stream::Sample, 0);
        let z = Array2::from_shape_fn((n, d), |(_, j)| 0.3 + draws.normal() / (1 + j) as f64);
        let y = Array2::from_shape_fn((n, 2), |(i, k)| z[[i, k]] * 2.0 + 3.0 + draws.normal());
        (z, y)
    }

    fn sums(z: &Array2<f64>, y: &Array2<f64>) -> NormalEquations {
        NormalEquations {
            rows: z.nrows() as u64,
            weight: z.nrows() as f64,
            log_weight: 0.0,
            weight_squares: z.nrows() as f64,
            // Only the lower triangle is used.
            gram_dd: {
                let mut gram = z.t().dot(z);
                gram.indexed_iter_mut()
                    .for_each(|((i, j), g)| *g = if j > i { 77.0 } else { *g });
                gram
            },
            zty_dt: z.t().dot(y),
            z_sum_d: z.sum_axis(Axis(0)),
            y_sum_t: y.sum_axis(Axis(0)),
            y_square_t: (y * y).sum_axis(Axis(0)),
            rest: Vec::new(),
        }
    }

    fn worst(a: &Array2<f64>, b: &Array2<f64>) -> f64 {
        (a - b).fold(0.0, |m: f64, v| m.max(v.abs()))
    }

    #[test]
    fn a_path_gives_what_separate_fits_give() {
        let (z, y) = rows(30, 7);
        let sums_of = sums(&z, &y);
        for intercept in [true, false] {
            let path = LambdaPath::new(&sums_of, intercept).expect("decomposes");
            for lambda in [1e-6, 1e-3, 0.1, 10.0] {
                let cholesky = Cholesky { lambda, intercept };
                let (one, dimension) = cholesky.solve_with_dimension(&sums_of).expect("solves");
                let fit = path.coefficients(lambda).expect("a lambda");
                assert!(worst(&fit.beta_dt, &one.beta_dt) < 1e-11);
                let b = (&fit.intercept_t - &one.intercept_t).mapv(f64::abs).sum();
                assert!(b < 1e-11, "{b:e}");
                let own = path.effective_dimension(lambda).expect("a lambda");
                assert!((own - dimension.expect("few features")).abs() < 1e-9);
                // The trace computed directly, from the solutions for the columns of Z'Z.
                let mut z0 = z.clone();
                if intercept {
                    z0 -= &z.mean_axis(Axis(0)).expect("rows");
                }
                let gram = z0.t().dot(&z0);
                let columns = NormalEquations {
                    zty_dt: gram.clone(),
                    gram_dd: gram,
                    y_sum_t: Array1::zeros(7),
                    y_square_t: Array1::zeros(7),
                    z_sum_d: Array1::zeros(7),
                    ..sums_of.clone()
                };
                let hat = Cholesky {
                    lambda,
                    intercept: false,
                }
                .solve(&columns)
                .expect("solves");
                assert!((hat.beta_dt.diag().sum() - own).abs() < 1e-9, "{own}");
            }
        }
        // A penalised intercept is the coefficient of a column of ones.
        let mut ones = z.clone();
        ones.push_column(Array1::ones(30).view()).expect("a column");
        let path = LambdaPath::new(&sums_of, Intercept::Penalised).expect("decomposes");
        let (lambda, intercept) = (0.2, false);
        let one = Cholesky { lambda, intercept }
            .solve(&sums(&ones, &y))
            .expect("solves");
        let fit = path.coefficients(lambda).expect("a lambda");
        assert!(worst(&fit.beta_dt, &one.beta_dt.slice(s![..7, ..]).to_owned()) < 1e-11);
        assert!(
            (&fit.intercept_t - &one.beta_dt.row(7))
                .mapv(f64::abs)
                .sum()
                < 1e-11
        );
        for bad in [-1e-9, f64::NAN, f64::INFINITY] {
            assert!(matches!(path.coefficients(bad), Err(Error::Parameter(_))));
            assert!(matches!(path.minimum_norm(bad), Err(Error::Parameter(_))));
        }
    }

    /// Without a penalty, directions with a ten-millionth of the largest variance are dropped as
    /// rounding.
    #[test]
    fn without_a_penalty_what_f32_rounds_is_left_out() {
        let sums = NormalEquations {
            rows: 8,
            weight: 8.0,
            gram_dd: Array2::from_diag(&ndarray::array![2.0, 3e-7, 1e-7, 2e-12]),
            zty_dt: Array2::ones((4, 1)),
            ..NormalEquations::zero(4, 1)
        };
        let path = LambdaPath::new(&sums, Intercept::None).expect("decomposes");
        let fit = path.coefficients(0.0).expect("a lambda").beta_dt;
        let expected = ndarray::array![[0.5], [1.0 / 3e-7], [0.0], [0.0]];
        let error = (&fit - &expected).mapv(f64::abs).sum();
        assert!(error < 1e-3, "{fit}");
        assert_eq!(path.effective_dimension(0.0).expect("a lambda"), 2.0);
        let all = path.minimum_norm(1e-13).expect("a cutoff").beta_dt;
        assert!((all[[3, 0]] / 5e11 - 1.0).abs() < 1e-6, "{all}");
    }

    /// Nine rows, twenty features: interpolates, with coefficients in the span of the rows.
    #[test]
    fn without_a_penalty_the_smallest_interpolant_is_found() {
        let (z, y) = rows(9, 20);
        for intercept in [Intercept::None, Intercept::Free, Intercept::Penalised] {
            let path = LambdaPath::new(&sums(&z, &y), intercept).expect("decomposes");
            let fit = path.minimum_norm(1e-12).expect("a cutoff");
            assert!(worst(&(z.dot(&fit.beta_dt) + &fit.intercept_t), &y) < 1e-7);
            // The limit of ridge regression, which lies in the span of the rows.
            let limit = path.coefficients(1e-9).expect("a lambda");
            assert!(worst(&fit.beta_dt, &limit.beta_dt) < 1e-4);
            let rank = path.effective_dimension(0.0).expect("a lambda");
            assert_eq!(
                rank,
                if intercept == Intercept::Free {
                    8.0
                } else {
                    9.0
                }
            );
        }
    }
}
