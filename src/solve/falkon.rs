//! Falkon: ridge regression on Nystrom functions, by conjugate gradients on kernel blocks that are
//! computed again in each iteration.

use super::{Between, FeatureProducts};
use crate::{Error, Result, error::Remedy, linalg::cholesky::Lower};
use ndarray::{Array1, Array2, ArrayView2, Axis, s};

/// Factors of the Falkon preconditioner (Rudi, Carratino & Rosasco 2017, sec. 3): of the kernel of
/// the landmarks, and of the problem approximated on the landmarks.
pub(crate) struct FalkonPreconditioner {
    /// T' with `K_mm + jitter I = T'T`.
    pub(crate) landmarks: Lower,
    /// A' with `A'A = T C T' / m + lambda I`, C the centring of columns with an intercept.
    pub(crate) problem: Lower,
    /// Jitter on the diagonal of `K_mm`.
    pub(crate) jitter: f64,
}

/// The relative rounding of f32, squared.
const ROUNDING: f64 = (f32::EPSILON as f64 / 2.0) * (f32::EPSILON as f64 / 2.0);

impl FalkonPreconditioner {
    /// From the kernel of the landmarks, `[m, m]`, which `gram` computes; its blocks are f32
    /// differences to `top`.
    ///
    /// Rounding of a block, with mean square `v = 2^-48 s^2` and s^2 that of its values, acts like
    /// a feature of variance `v / jitter` in each direction in which T is at most the jitter. n
    /// rows of m such features must be negligible compared with lambda n, even for m = n: the
    /// jitter is `1000 v / lambda`, since a kernel value is off by several roundings. It penalises
    /// directions below it, which rounding would fill with noise. A factor in f64 needs `m 2^-52`
    /// of the largest value. The jitter is multiplied by ten until there is a factor; the kernel is
    /// computed again each time, which is cheap compared with a factor, so that no copy is held.
    pub(crate) fn from_kernel(
        gram: impl Fn() -> Result<Array2<f64>>,
        top: Option<f64>,
        lambda: f64,
        intercept: bool,
    ) -> Result<Self> {
        let k_mm = gram()?;
        let m = k_mm.nrows();
        let from = top.unwrap_or(0.0);
        let squares: Array1<f64> = (k_mm.rows().into_iter())
            .map(|row| row.fold(0.0, |sum, k| sum + (k - from).powi(2)))
            .collect();
        let square = squares.sum() / (m as f64).powi(2);
        let largest = k_mm.diag().fold(0.0_f64, |m, &k| m.max(k));
        let least = m as f64 * f64::EPSILON * largest;
        let mut jitter = least + 1000.0 * ROUNDING * square / lambda;
        let mut landmarks = Lower::take(k_mm);
        loop {
            for i in 0..m {
                landmarks.row_mut(i)[i] += jitter;
            }
            if landmarks.factor() {
                break;
            }
            jitter *= 10.0;
            // A kernel that is zero throughout has no jitter.
            if jitter <= 0.0 || jitter.is_nan() || jitter > 1e-3 * largest {
                let problem = "the kernel of the landmarks has no Cholesky factor";
                return Err(Error::numerical(problem)
                    .help(Remedy::words("choose other landmarks"))
                    .help(Remedy::LargerLambda));
            }
            drop(landmarks);
            landmarks = Lower::take(gram()?);
        }
        let mut problem = landmarks.inner(1.0 / m as f64);
        if intercept {
            uncentre(&mut problem, &landmarks);
        }
        for i in 0..m {
            problem.row_mut(i)[i] += lambda;
        }
        if !problem.factor() {
            let fault = format!("Falkon has no preconditioner at lambda = {lambda:e}");
            return Err(Error::numerical(fault).help(Remedy::LargerLambda));
        }
        Ok(Self {
            landmarks,
            problem,
            jitter,
        })
    }
}

/// Centres: from `T T' / m` to `T C T' / m`.
fn uncentre(problem: &mut Lower, factor: &Lower) {
    let m = factor.order();
    let mut mean = vec![0.0; m];
    for i in 0..m {
        let row = mean.iter_mut().zip(factor.row(i));
        row.for_each(|(sum, l)| *sum += l / m as f64);
    }
    for i in 0..m {
        let row = problem.row_mut(i).iter_mut().zip(&mean);
        row.for_each(|(to, of)| *to -= mean[i] * of);
    }
}

/// `K_nm T^-1` as an operator: features whitened by K_mm, from a kernel block that is multiplied
/// elsewhere and may be relative to its maximum.
pub(crate) struct Whitened<'a, 'f> {
    pub(crate) block: &'a mut (dyn FeatureProducts + 'f),
    pub(crate) factor: &'a Lower,
    pub(crate) top: Option<f64>,
}

impl Whitened<'_, '_> {
    fn landmarks(&self) -> usize {
        self.block.columns() - usize::from(self.top.is_some())
    }

    /// `T^-1 beta` as coefficients of the block, target-major.
    fn unfold(&self, beta_tm: ArrayView2<'_, f64>) -> Array2<f64> {
        let mut alpha = beta_tm.t().as_standard_layout().into_owned();
        self.factor.solve_transposed(&mut alpha);
        let alpha_tm = alpha.reversed_axes();
        let mut out = Array2::zeros((alpha_tm.nrows(), self.block.columns()));
        out.slice_mut(s![.., ..alpha_tm.ncols()]).assign(&alpha_tm);
        if let Some(top) = self.top {
            let sums = alpha_tm.sum_axis(Axis(1)) * top;
            out.column_mut(alpha_tm.ncols()).assign(&sums);
        }
        out
    }

    /// `T'^-1` of products with the columns of the block, `[t, columns]`, to `out`, `[t, m]`.
    fn fold(&self, block_tc: Array2<f64>, out_tm: &mut Array2<f64>) {
        let m = self.landmarks();
        let mut of_k = block_tc.slice(s![.., ..m]).to_owned();
        if let Some(top) = self.top {
            let rest = block_tc.column(m).mapv(|ones| top * ones);
            of_k += &rest.insert_axis(Axis(1));
        }
        let mut folded = of_k.reversed_axes().as_standard_layout().into_owned();
        self.factor.solve(&mut folded);
        out_tm.assign(&folded.t());
    }
}

impl FeatureProducts for Whitened<'_, '_> {
    fn rows(&self) -> usize {
        self.block.rows()
    }

    fn columns(&self) -> usize {
        self.landmarks()
    }

    fn add_product(&mut self, beta_td: ArrayView2<'_, f64>, r_tn: &mut Array2<f64>) -> Result<()> {
        let of_block = self.unfold(beta_td);
        self.block.add_product(of_block.view(), r_tn)
    }

    fn transposed(&mut self, r_tn: ArrayView2<'_, f64>, out_td: &mut Array2<f64>) -> Result<()> {
        let mut of_block = Array2::zeros((r_tn.nrows(), self.block.columns()));
        self.block.transposed(r_tn, &mut of_block)?;
        self.fold(of_block, out_td);
        Ok(())
    }

    fn round_trip_through(
        &mut self,
        beta_td: ArrayView2<'_, f64>,
        r_tn: &mut Array2<f64>,
        between: &mut Between<'_>,
        out_td: &mut Array2<f64>,
    ) -> Result<()> {
        let of_beta = self.unfold(beta_td);
        let mut of_block = Array2::zeros(of_beta.dim());
        (self.block).round_trip_through(of_beta.view(), r_tn, between, &mut of_block)?;
        self.fold(of_block, out_td);
        Ok(())
    }

    /// Sums only; squares stay zero, since the preconditioner is a factor.
    fn moments(&mut self, out_2d: &mut Array2<f64>) -> Result<()> {
        let mut of_block = Array2::zeros((2, self.block.columns()));
        self.block.moments(&mut of_block)?;
        let sums = of_block.slice(s![..1, ..]).to_owned();
        let mut folded = Array2::zeros((1, self.landmarks()));
        self.fold(sums, &mut folded);
        out_2d.fill(0.0);
        out_2d.row_mut(0).assign(&folded.row(0));
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernels::{Gaussian, gram};

    /// `L L' = K + jitter I`, and the other factor is that of `L' C L / m + lambda I`.
    #[test]
    fn the_factors_are_those_of_the_paper() {
        let (m, lambda) = (8, 1e-3);
        let x = Array2::from_shape_fn((m, 1), |(i, _)| i as f64 / 2.0);
        let k_mm = gram(&Gaussian, x.view());
        let full = |f: &Lower| {
            Array2::from_shape_fn((m, m), |(i, j)| f.row(i).get(j).copied().unwrap_or(0.0))
        };
        for intercept in [true, false] {
            let of =
                FalkonPreconditioner::from_kernel(|| Ok(k_mm.clone()), None, lambda, intercept)
                    .expect("factors");
            let (l, a) = (full(&of.landmarks), full(&of.problem));
            let off = l.dot(&l.t()) - &k_mm - Array2::<f64>::eye(m) * of.jitter;
            assert!(off.iter().all(|e| e.abs() < 1e-13), "{off}");
            let centre = if intercept {
                Array2::<f64>::eye(m) - 1.0 / m as f64
            } else {
                Array2::eye(m)
            };
            let problem = l.t().dot(&centre).dot(&l) / m as f64 + Array2::<f64>::eye(m) * lambda;
            let off = a.dot(&a.t()) - problem;
            assert!(off.iter().all(|e| e.abs() < 1e-13), "{off}");
        }
    }

    #[test]
    fn a_kernel_of_zeros_is_an_error() {
        let none =
            FalkonPreconditioner::from_kernel(|| Ok(Array2::zeros((3, 3))), None, 1e-3, true);
        assert!(matches!(none.err(), Some(Error::Numerical(_))));
    }
}
