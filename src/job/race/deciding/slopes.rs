//! How steep a fit to the rows that decide is along each column.

use super::{Deciding, How};
use crate::{
    Error, Result,
    job::race::kernel_values::KernelValues,
    solve::{Centred, WeightedRows},
};
use ndarray::{Array1, Axis, s};
use std::ops::Range;

/// Slopes of rows and outputs that are looked at, at most.
const SLOPES: usize = 4096;

impl Deciding {
    /// Mean squared slopes, of all outputs together, of a fit to these rows along the columns that
    /// the kernel sees, `[d]`, with a penalty over the number of rows. None of features without a
    /// slope that is known.
    pub(in crate::job::race) fn slopes(
        &self,
        rows: Range<usize>,
        kernel_values: &KernelValues<'_>,
        (how, penalty): (How<'_>, f64),
    ) -> Result<Option<Array1<f64>>> {
        let KernelValues::Features(map, _) = kernel_values else {
            return Ok(None);
        };
        let y_mt = self.y_mt.slice(s![rows.clone(), ..]);
        let weights_m = self.weights(rows.clone());
        let weighted = WeightedRows {
            weights_n: weights_m.view(),
            observations: &self.observations,
        };
        let u_md = how.apply(self.x_md.slice(s![rows, ..]).to_owned())?;
        let k_mm = kernel_values.gram(u_md.clone(), how.line)?;
        let centred = Centred::from_kernel(&k_mm, y_mt, weighted);
        let Some(dual_mt) = centred.dual(k_mm.nrows() as f64 * penalty) else {
            return Ok(None);
        };
        let map = KernelValues::with_line(map, how.line)?;
        let beta_ft = (KernelValues::features(map.as_ref(), &u_md)?
            .mapv(f64::from)
            .t())
        .dot(&dual_mt);
        let some = u_md.nrows().min(SLOPES / dual_mt.ncols());
        let some_md = u_md.slice(s![..some, ..]);
        let slopes = map
            .formula()
            .and_then(|formula| formula.gradient(some_md, beta_ft.view()));
        let slopes = match slopes {
            Err(Error::Unsupported(_)) => return Ok(None),
            slopes => slopes?,
        };
        let some_m1 = weights_m.slice(s![..some]).insert_axis(Axis(1));
        let squares = slopes.iter().map(|g_md| g_md.mapv(|g| g * g) * some_m1);
        let sum_d = squares.fold(Array1::zeros(u_md.ncols()), |sum, of| {
            sum + of.sum_axis(Axis(0))
        });
        Ok(Some(sum_d / some_m1.sum()))
    }
}
