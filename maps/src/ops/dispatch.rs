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

/// Rows of what one dispatch writes and the next reads, where that is done some rows at a time: the
/// second has few workgroups for each row, and needs many rows. On an H200 predictions of Fastfood
/// to 8,192 features took 9.1 ms with 32 MiB, 2.7 with 256 MiB, and 2.4 with all rows at once.
pub(crate) fn scratch_rows(gpu: &GpuDevice, columns: usize) -> usize {
    let bytes: u64 = match gpu.report().kind {
        _ if gpu.is_in_small_parts() => 1 << 20,
        AdapterKind::Discrete | AdapterKind::Virtual => 256 << 20,
        // Their memory is the processor's.
        AdapterKind::Integrated | AdapterKind::Other => 64 << 20,
        // What fits its cache.
        AdapterKind::Software => 32 << 20,
    };
    let row = 4 * columns.next_multiple_of(4) as u64;
    let rows = bytes.min(gpu.max_binding_bytes()) / row;
    // A grid counts up to 65,535 groups of rows a side.
    (rows as usize).clamp(1, 1 << 19)
}
