//! Gradients of the outputs of a model with respect to the columns of rows.

#[cfg(test)]
mod tests;

use crate::{
    Error, Result,
    data::Rows,
    error::Remedy,
    features::{FeatureMap, Formula, names},
    model::{LinearModel, Link},
};
use ndarray::{Array3, Axis, s};

/// Maximum number of values of a block of gradients.
const BLOCK_VALUES: usize = 1 << 22;
/// Maximum number of rows of a block.
const BLOCK_ROWS: usize = 512;

/// Gradients of the raw outputs of a model, `f_t(x) = z(x)'beta_t + b_t`, with respect to the raw
/// columns of a row: `df_t / dx_j = scale_j (dz(u) / du_j)'beta_t` with u the prepared row, in
/// closed form for each family of maps ([`Formula::gradient`]), in f64 on the CPU.
#[derive(Debug)]
pub struct Gradients<'m> {
    model: &'m LinearModel,
    formula: Formula,
    /// Factor from raw outputs to predictions.
    factor: f64,
}

impl LinearModel {
    /// Gradients of the raw outputs, predicted values or a score for each class, with respect to
    /// the columns of rows.
    ///
    /// ```
    /// use bochner::{data::Rows, prelude::*};
    /// let x = ndarray::Array::from_shape_fn((90, 1), |(i, _)| i as f64 / 9.0);
    /// let y = x.column(0).mapv(f64::sin);
    /// let ridge = Ridge::on(Fourier::new(Gaussian).features(60)).device(&Device::cpu());
    /// let model = ridge.fit((&x, &y))?;
    /// let slope_ntd = model.linear().gradients()?.at(&Rows::from(&x))?;
    /// assert_eq!(slope_ntd.dim(), (90, 1, 1));
    /// assert!((slope_ntd[[40, 0, 0]] - x[[40, 0]].cos()).abs() < 0.1);
    /// # Ok::<(), bochner::Error>(())
    /// ```
    ///
    /// Errors with [`Error::Unsupported`] if no gradient is known: for random binning, steps,
    /// leaves, custom kernels and nonlinearities, columns that are clipped, ranked or transformed
    /// by a logarithm, and transformed targets.
    pub fn gradients(&self) -> Result<Gradients<'_>> {
        let factor = Link::factor(self.link.as_ref()).ok_or_else(|| {
            Error::unsupported(
                "no gradient of predictions that are brought back from another scale is known",
            )
            .help(Remedy::words("fit targets as they are"))
        })?;
        Ok(Gradients {
            model: self,
            formula: smooth_by_columns(self.map.as_ref())?,
            factor,
        })
    }
}

impl Gradients<'_> {
    /// Gradients at rows `[n, d]`: `[n, t, d]`, in units of the targets over units of the columns.
    /// Temporary memory does not grow with rows or outputs.
    ///
    /// Errors with [`Error::Shape`] on rows of other columns, and with [`Error::Data`] on a value
    /// that is not finite.
    pub fn at(&self, rows: &Rows) -> Result<Array3<f64>> {
        rows.require_finite()?;
        let input = self.model.map.input();
        let beta_dt = self.model.coefficients.beta_dt.view();
        let (n, d) = (rows.nrows(), input.columns());
        let mut all_ntd = Array3::zeros((n, beta_dt.ncols(), d));
        let block = (BLOCK_VALUES / (beta_dt.ncols() * d).max(1)).clamp(1, BLOCK_ROWS);
        let scale_d = ndarray::aview1(input.scale());
        for from in (0..n).step_by(block) {
            let range = from..n.min(from + block);
            let u_nd = input.apply(&rows.slice(range.clone()))?;
            let found = self.formula.gradient(u_nd.view(), beta_dt)?;
            let mut part_ntd = all_ntd.slice_mut(s![range, .., ..]);
            for (mut into_nd, of_nd) in part_ntd.axis_iter_mut(Axis(1)).zip(found) {
                into_nd.assign(&(of_nd * scale_d * self.factor));
            }
        }
        Ok(all_ntd)
    }
}

/// The formula of a map, if columns are neither clipped nor ranked, so that gradients with respect
/// to raw columns are scaled gradients with respect to prepared ones.
pub(crate) fn smooth(map: &dyn FeatureMap) -> Result<Formula> {
    let formula = map.formula()?;
    formula.require_smooth()?;
    if map.input().is_logarithm() {
        Err(unknown(map).help(Remedy::UseMap(names::FOURIER)))
    } else {
        Ok(formula)
    }
}

/// As [`smooth`], if columns are only centred and scaled.
pub(crate) fn smooth_by_columns(map: &dyn FeatureMap) -> Result<Formula> {
    let formula = smooth(map)?;
    if map.input().is_affine() {
        Ok(formula)
    } else {
        Err(unknown(map))
    }
}

fn unknown(map: &dyn FeatureMap) -> Error {
    let name = map.name();
    Error::unsupported(format!(
        "no gradient of {name} features by raw columns is known"
    ))
}
