//! What every dispatch needs: parameters, grids and work.

use crate::{
    Error, Result,
    device::{GpuDevice, Matrix, gpu::AdapterKind},
    error::Remedy,
};

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

/// Bytes of what one dispatch writes and the next reads, where it is done some rows at a time: the
/// second has few workgroups for each row. On an H200 predictions of Fastfood took 2.3 ms more or
/// less with 256 MiB and with all rows at once, and four times as long with 32 MiB.
pub(crate) fn scratch_bytes(gpu: &GpuDevice) -> usize {
    let bytes = match gpu.report().kind {
        AdapterKind::Discrete | AdapterKind::Virtual => 256 << 20,
        // Their memory is the processor's.
        AdapterKind::Integrated | AdapterKind::Other => 64 << 20,
        // What fits its cache.
        AdapterKind::Software => 32 << 20,
    };
    usize::try_from(gpu.max_binding_bytes()).map_or(bytes, |most| bytes.min(most))
}
