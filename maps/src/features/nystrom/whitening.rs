//! The inverse root of the landmarks' kernel, as far as f32 features bear it.

use super::landmarks;
use crate::{
    Error, Result,
    device::memory_left,
    kernels::{Kernel, gram},
    linalg::entries,
    ops::kernel_block::Level,
};
use ndarray::{Array1, Array2, ArrayView2, s};

/// The rounding of f32, relative.
const ROUNDING: f64 = f32::EPSILON as f64 / 2.0;

/// What takes a block of kernel values to features.
pub(in crate::features) struct Whitening {
    /// What the block is measured from.
    pub(super) level: Level,
    /// `z(x) = root' block(x)`, `[columns of the block, r]`, largest eigenvalue first, each
    /// column's largest entry positive.
    pub(in crate::features) root: Array2<f32>,
    /// Landmarks that are combinations of the others to the rounding of f64, and have no feature.
    pub(in crate::features) dependent: usize,
}

impl Whitening {
    /// Of landmarks at unit scale, `[m, d]`, as a device sees them; the `rank` largest eigenvalues.
    ///
    /// With `K_mm = U diag(lambda) U'` in f64, the root is `U diag(max(lambda, floor))^{-1/2}`.
    ///
    /// Eigenvalues up to `m 2^-52 max(lambda)` are rounding of f64 and have no column. The floor is
    /// that of f32: a product sums m entries of the block, of mean square `s^2`, with columns of
    /// the root of length `lambda^{-1/2}`, so that its rounding has a variance of at most
    /// `2^-48 m s^2 / lambda`. It stays within 2^-24 of the kernel's largest value down to
    /// `lambda = 2^-24 m s^2 / max_i k_ii`, the floor. Directions below it shrink by
    /// `(lambda / floor)^{1/2}`, and their noise is no larger than there.
    ///
    /// The `symmetric` root is that one times `U'`, as many columns as landmarks.
    ///
    /// A block from the top has a smaller `s` where most values are near k(0), and is taken there.
    pub(super) fn from_landmarks(
        kernel: &dyn Kernel,
        landmarks_md: ArrayView2<'_, f64>,
        rank: Option<usize>,
        symmetric: bool,
    ) -> Result<Self> {
        let m = landmarks_md.nrows();
        memory_left::require_square(m, 24, || format!("the eigenvectors of {m} landmarks"))?;
        let k_mm = gram(kernel, landmarks_md);
        Self::of_gram(&k_mm, kernel.is_shift_invariant(), rank, symmetric)
    }

    /// As [`Self::from_landmarks`], of the landmarks' kernel `[m, m]`. Where k(0) `is_known` to be
    /// any of its diagonal, a block may be measured from there.
    pub(in crate::features) fn of_gram(
        k_mm: &Array2<f64>,
        is_known: bool,
        rank: Option<usize>,
        symmetric: bool,
    ) -> Result<Self> {
        let m = k_mm.nrows();
        memory_left::require_square(m, 24, || format!("the eigenvectors of {m} landmarks"))?;
        let not_finite = || landmarks::not_finite("the landmarks");
        if k_mm.iter().any(|k| !k.is_finite()) {
            return Err(not_finite());
        }
        let matrix = faer::MatRef::from_row_major_slice(k_mm.as_slice().expect("standard"), m, m);
        let eigen = matrix
            .self_adjoint_eigen(faer::Side::Lower)
            .map_err(|_| not_finite())?;
        let (u, lambda) = (eigen.U(), eigen.S().column_vector());
        let largest = lambda.iter().copied().fold(0.0, f64::max);
        let mut kept: Vec<usize> = (0..m)
            .filter(|&i| lambda[i] > m as f64 * f64::EPSILON * largest)
            .collect();
        kept.sort_unstable_by(|&a, &b| lambda[b].total_cmp(&lambda[a]));
        if kept.is_empty() {
            return Err(Error::numerical(
                "the kernel of all landmarks is zero; choose other landmarks",
            ));
        }
        let dependent = m - kept.len();
        kept.truncate(rank.unwrap_or(m));
        let (level, top, square) = level(is_known, k_mm);
        let largest_k = k_mm.diag().iter().copied().fold(0.0, f64::max);
        let floor = ROUNDING * m as f64 * square / largest_k;
        let mut root = Array2::zeros((level.columns(m), kept.len()));
        let mut u_mr = Array2::zeros((m, kept.len()));
        for (r, &i) in kept.iter().enumerate() {
            let u_i = Array1::from_shape_fn(m, |j| u[(j, i)]);
            let longest = u_i.iter().fold(
                0.0_f64,
                |best, &v| if v.abs() > best.abs() { v } else { best },
            );
            let scale = longest.signum() / lambda[i].max(floor).sqrt();
            let mut column = root.column_mut(r);
            column.slice_mut(s![..m]).assign(&(scale * &u_i));
            if level == Level::Top {
                // Of the column of ones: what the others were measured from.
                column[m] = scale * top * u_i.sum();
            }
            u_mr.column_mut(r).assign(&(longest.signum() * &u_i));
        }
        let root = if symmetric { root.dot(&u_mr.t()) } else { root };
        let root = root.mapv(entries::narrow);
        Ok(Self {
            level,
            root,
            dependent,
        })
    }
}

/// The level that a kernel's values are nearer to, what it is, and their mean square from there.
fn level(is_known: bool, k_mm: &Array2<f64>) -> (Level, f64, f64) {
    let square = |from: f64| k_mm.mapv(|k| (k - from).powi(2)).mean().unwrap_or(0.0);
    let (zero, top) = (square(0.0), k_mm[[0, 0]]);
    match is_known.then(|| square(top)) {
        Some(near) if near < zero => (Level::Top, top, near),
        _ => (Level::Zero, 0.0, zero),
    }
}
