//! Importance of columns for a model.

use super::average_gradient_outer_product;
use crate::{Error, Result, Run, data::ChunkSource, features::Scaling, model::LinearModel};

/// Shares of the prepared columns in the squared gradient of a model: the diagonal of its average
/// gradient outer product over its trace, in one pass over the rows. `None` for maps without
/// gradients.
///
/// `scaling` is the preparation of the rows that were fitted. Errors as
/// [`average_gradient_outer_product`] does.
pub fn importance(
    model: &LinearModel,
    source: &mut dyn ChunkSource,
    scaling: &Scaling,
    run: &Run,
) -> Result<Option<Vec<f64>>> {
    source.rewind()?;
    let m_dd = match average_gradient_outer_product(model, source, run) {
        Ok(m_dd) => m_dd,
        Err(Error::Unsupported(_)) => return Ok(None),
        Err(error) => return Err(error),
    };
    // Converts squared gradients from raw columns to prepared columns.
    let along_d = m_dd.diag().into_iter().zip(scaling.units());
    let along_d: Vec<f64> = along_d.map(|(m, unit)| m.max(0.0) * unit * unit).collect();
    let trace: f64 = along_d.iter().sum();
    let even = 1.0 / along_d.len() as f64;
    let share = |m: f64| if trace > 0.0 { m / trace } else { even };
    Ok(Some(along_d.into_iter().map(share).collect()))
}
