//! The feature matrix itself, chunk by chunk.

use super::{FeatureMap, require_dense};
use crate::{
    Device, Error, Matrix, Result,
    data::ChunkSource,
    plan::{RowNeeds, chunk_rows_on},
    stream::{Progress, for_each_chunk},
};
use ndarray::ArrayView2;

/// Streams `source` through `map` on `device`: `sink` gets z(x) of each chunk, `[rows, D]`, rows in order. Chunks and what
/// is made of them take at most `memory` bytes; `progress` hears the rows done. Returns the number of rows.
///
/// Errors with [`Error::Shape`] if the source has another number of columns than the map takes, when not even 8 rows fit
/// into `memory` or the device, with [`Error::Unsupported`] for maps that cannot be stored, and as sources, devices and `sink` do.
///
/// ```
/// use bochner::{Device, data::MemorySource, features::{Affine, Fourier, featurize}, kernels::Gaussian};
/// let mut source = MemorySource::new(ndarray::array![[0.0], [1.0], [2.0]], None)?;
/// let map = Fourier::new(Gaussian).features(16).build(Affine::identity(1))?;
/// let rows = featurize(&map, &mut source, &Device::cpu(), 1 << 20, &mut |_| {}, |z| {
///     assert_eq!(z.dim(), (3, 16));
///     Ok(())
/// })?;
/// assert_eq!(rows, 3);
/// # Ok::<(), bochner::Error>(())
/// ```
pub fn featurize(
    map: &dyn FeatureMap,
    source: &mut dyn ChunkSource,
    device: &Device,
    memory: u64,
    progress: Progress<'_>,
    mut sink: impl FnMut(ArrayView2<'_, f32>) -> Result<()>,
) -> Result<u64> {
    require_dense(map)?;
    let (d, features) = (map.input_dim(), map.output_dim());
    if source.columns() != d {
        return Err(Error::Shape(format!(
            "the data has {} columns, the map takes {d}",
            source.columns()
        )));
    }
    // Features lie on the device, once more on the host, and on a GPU in the buffer that is mapped between the two;
    // drivers keep a shadow of that one, and the buffer of the chunk before until they see to it.
    let copies = match device {
        Device::Cpu(_) => 2,
        Device::Gpu(_) => 5,
    };
    let needs = RowNeeds {
        columns: d,
        widest: features.max(d),
        device_columns: d + copies * features,
    };
    let rows = chunk_rows_on(device, needs, memory)?;
    let rows = source.rows().map_or(rows, |n| rows.min(n.max(1)));
    let mut loaded = map.load(device)?;
    let mut x_nd = Matrix::new(device, rows, d)?;
    let mut z_nd = Matrix::new(device, rows, features)?;
    for_each_chunk(source, rows, progress, |chunk| {
        map.input().load(&chunk.x, &mut x_nd)?;
        z_nd.set_rows(x_nd.rows())?;
        loaded.featurize(&x_nd, &mut z_nd)?;
        sink(z_nd.download()?.view())
    })
}
