//! What every dispatch needs: parameters, grids and work.

use crate::{Error, Result, device::Matrix, error::Remedy};

/// Shader parameters are u32.
pub(crate) fn narrow(value: usize) -> Result<u32> {
    u32::try_from(value).map_err(|_| Error::Limit {
        what: "a shader parameter".into(),
        needed: value.to_string(),
        allowed: u32::MAX.to_string(),
        remedies: vec![Remedy::LessMemory],
    })
}

/// The work of a pass over a matrix: memory bounds it, a value is worth about ten operations each
/// way.
pub(crate) fn moved(y_nd: &Matrix) -> f64 {
    20.0 * (y_nd.rows() * y_nd.stride()) as f64
}

/// `groups` workgroups as a grid within 65,535 a side; the shader counts `y * groups.x + x`.
pub(crate) fn fold(groups: u32) -> [u32; 3] {
    let y = groups.div_ceil(65_535);
    [groups.div_ceil(y.max(1)), y, 1]
}
