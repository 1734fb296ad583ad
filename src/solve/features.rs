//! Products with a feature matrix Z that is never stored, as matrix-free solvers need them.
//!
//! Matrices are target-major here, coefficients `[t, D]` and rows `[t, n]`, so that each target is
//! contiguous. Several operators side by side share one range of columns: each accesses only its
//! own columns.

mod binned;
mod binned_gradients;
mod binned_kernel;
mod binned_sums;
mod block;
mod dense_kernel;
mod streamed;

pub use binned::BinnedRows;
pub(crate) use binned_gradients::Ends;
pub(crate) use binned_kernel::binned_kernel;
pub(crate) use binned_sums::binned_sums;
pub(crate) use block::Block;
pub(crate) use dense_kernel::dense_kernel;
pub use streamed::StreamedRows;

use crate::{Error, Result};
use ndarray::{Array2, ArrayView1, ArrayView2, ArrayViewMut2, Axis, s};

/// Callback that changes rows in [`FeatureProducts::round_trip_through`]: gets the index of the
/// first row, and the sums `[t, m]`.
pub type Between<'a> = dyn FnMut(usize, ArrayViewMut2<'_, f64>) + 'a;

/// Callback of [`FeatureProducts::blocks`]: gets the index of the first row, and features `[m, D]`.
pub type TakeBlock<'a> = dyn FnMut(usize, ArrayView2<'_, f32>) -> Result<()> + 'a;

/// Memory limit for the rows of a group of targets in [`FeatureProducts::gram_product`].
const ROWS_BYTES: usize = 128 << 20;

/// Products with Z `[n, D]`, all in f64. Results do not depend on the number of threads.
pub trait FeatureProducts {
    /// Number of rows, n.
    fn rows(&self) -> usize;

    /// One past the last column of the operator.
    fn columns(&self) -> usize;

    /// Adds `Z beta` to `r`: `r_tn[k, i] += sum_j z_ij beta_td[k, j]`.
    fn add_product(&mut self, beta_td: ArrayView2<'_, f64>, r_tn: &mut Array2<f64>) -> Result<()>;

    /// Writes `Z' r` into its columns of `out_td`.
    fn transposed(&mut self, r_tn: ArrayView2<'_, f64>, out_td: &mut Array2<f64>) -> Result<()>;

    /// [`Self::add_product`], then [`Self::transposed`] of the sum: one pass over the data if an
    /// operator streams it.
    fn round_trip(
        &mut self,
        beta_td: ArrayView2<'_, f64>,
        r_tn: &mut Array2<f64>,
        out_td: &mut Array2<f64>,
    ) -> Result<()> {
        self.round_trip_through(beta_td, r_tn, &mut |_, _| {}, out_td)
    }

    /// As [`Self::round_trip`], with the callback `between`: it gets the sums of rows, `[t, m]`,
    /// with the index of the first, and may change them before they are transposed. Every row is
    /// passed once.
    fn round_trip_through(
        &mut self,
        beta_td: ArrayView2<'_, f64>,
        r_tn: &mut Array2<f64>,
        between: &mut Between<'_>,
        out_td: &mut Array2<f64>,
    ) -> Result<()> {
        self.add_product(beta_td, r_tn)?;
        between(0, r_tn.view_mut());
        self.transposed(r_tn.view(), out_td)
    }

    /// Writes the sums (row 0) and the sums of squares (row 1) of its columns.
    fn moments(&mut self, out_2d: &mut Array2<f64>) -> Result<()>;

    /// Writes `Z'WZ v` into its columns of `out_td`, with weights W of rows, `[n]`, or 1. Many
    /// targets may take several passes; streaming operators need no memory for all rows.
    fn gram_product(
        &mut self,
        v_td: ArrayView2<'_, f64>,
        weights_n: Option<ArrayView1<'_, f64>>,
        out_td: &mut Array2<f64>,
    ) -> Result<()> {
        in_groups(self, v_td, weights_n, out_td)
    }

    /// Calls `take` with the features of row `from` and later rows, `[m, D]`, in order, with the
    /// index of the first row: one pass over the data, in which earlier rows are only read. Returns
    /// false, without calling `take`, if the features are not available in one piece.
    fn blocks(&mut self, from: usize, take: &mut TakeBlock<'_>) -> Result<bool> {
        let _ = (from, take);
        Ok(false)
    }
}

/// [`FeatureProducts::gram_product`] for groups of targets whose rows fit into memory.
pub(super) fn in_groups<F: FeatureProducts + ?Sized>(
    features: &mut F,
    v_td: ArrayView2<'_, f64>,
    weights_n: Option<ArrayView1<'_, f64>>,
    out_td: &mut Array2<f64>,
) -> Result<()> {
    let rows = features.rows();
    let group = (ROWS_BYTES / (8 * rows.max(1))).max(1);
    for first in (0..v_td.nrows()).step_by(group) {
        let some = first..v_td.nrows().min(first + group);
        let v_td = v_td.slice(s![some.clone(), ..]);
        let mut r_tn = Array2::zeros((some.len(), rows));
        let mut product = out_td.slice(s![some.clone(), ..]).to_owned();
        let between = &mut |row0, r_tm: ArrayViewMut2<'_, f64>| weigh(r_tm, weights_n, row0);
        features.round_trip_through(v_td, &mut r_tn, between, &mut product)?;
        out_td.slice_mut(s![some, ..]).assign(&product);
    }
    Ok(())
}

/// Multiplies sums `[t, m]` of rows `row0 ..` by the weights of these rows.
pub(super) fn weigh(
    mut r_tm: ArrayViewMut2<'_, f64>,
    weights_n: Option<ArrayView1<'_, f64>>,
    row0: usize,
) {
    if let Some(weights_n) = weights_n {
        let here = weights_n.slice(s![row0..row0 + r_tm.ncols()]);
        r_tm *= &here.insert_axis(Axis(0));
    }
}

/// Operators over the same rows, each with separate columns.
#[derive(Default)]
pub struct SideBySide<'a> {
    parts: Vec<Box<dyn FeatureProducts + 'a>>,
}

impl std::fmt::Debug for SideBySide<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "{} operators, {} columns",
            self.parts.len(),
            self.columns()
        )
    }
}

impl<'a> SideBySide<'a> {
    /// Adds an operator. Only the last one streams its data once per round trip, so add a streaming
    /// operator last. Errors with [`Error::Shape`] if it has other rows.
    pub fn push(&mut self, part: impl FeatureProducts + 'a) -> Result<()> {
        if let Some(first) = self.parts.first()
            && first.rows() != part.rows()
        {
            return Err(Error::shape(format!(
                "features of {} and {} rows do not go side by side",
                first.rows(),
                part.rows()
            )));
        }
        self.parts.push(Box::new(part));
        Ok(())
    }
}

impl FeatureProducts for SideBySide<'_> {
    fn rows(&self) -> usize {
        self.parts.first().map_or(0, |part| part.rows())
    }

    fn columns(&self) -> usize {
        self.parts.iter().map(|p| p.columns()).max().unwrap_or(0)
    }

    fn add_product(&mut self, beta_td: ArrayView2<'_, f64>, r_tn: &mut Array2<f64>) -> Result<()> {
        let mut parts = self.parts.iter_mut();
        parts.try_for_each(|part| part.add_product(beta_td, r_tn))
    }

    fn transposed(&mut self, r_tn: ArrayView2<'_, f64>, out_td: &mut Array2<f64>) -> Result<()> {
        let mut parts = self.parts.iter_mut();
        parts.try_for_each(|part| part.transposed(r_tn, out_td))
    }

    fn round_trip_through(
        &mut self,
        beta_td: ArrayView2<'_, f64>,
        r_tn: &mut Array2<f64>,
        between: &mut Between<'_>,
        out_td: &mut Array2<f64>,
    ) -> Result<()> {
        let Some((last, before)) = self.parts.split_last_mut() else {
            return Ok(());
        };
        for part in &mut *before {
            part.add_product(beta_td, r_tn)?;
        }
        last.round_trip_through(beta_td, r_tn, between, out_td)?;
        before
            .iter_mut()
            .try_for_each(|part| part.transposed(r_tn.view(), out_td))
    }

    fn moments(&mut self, out_2d: &mut Array2<f64>) -> Result<()> {
        self.parts
            .iter_mut()
            .try_for_each(|part| part.moments(out_2d))
    }

    fn gram_product(
        &mut self,
        v_td: ArrayView2<'_, f64>,
        weights_n: Option<ArrayView1<'_, f64>>,
        out_td: &mut Array2<f64>,
    ) -> Result<()> {
        match self.parts.as_mut_slice() {
            [one] => one.gram_product(v_td, weights_n, out_td),
            _ => in_groups(self, v_td, weights_n, out_td),
        }
    }

    fn blocks(&mut self, from: usize, take: &mut TakeBlock<'_>) -> Result<bool> {
        match self.parts.as_mut_slice() {
            [one] => one.blocks(from, take),
            _ => Ok(false),
        }
    }
}
