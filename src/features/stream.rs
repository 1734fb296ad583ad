//! The feature matrix itself, chunk by chunk.

use super::{FeatureMap, LoadedMap, require_dense};
use crate::{
    Device, Error, Matrix, Result,
    data::ChunkSource,
    plan::{RowNeeds, chunk_rows_on},
    stream::{Portions, Progress, ReadBehind, for_each_chunk},
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
        return Err(Error::shape(format!(
            "the data has {} columns, the map takes {d}",
            source.columns()
        )));
    }
    // On a GPU features lie on the device and in two buffers on their way to the host, of which drivers keep shadows.
    let copies = match device {
        Device::Cpu(_) => 1,
        Device::Gpu(_) => 5,
    };
    let needs = RowNeeds {
        columns: d,
        widest: features.max(d),
        device_columns: d + copies * features,
    };
    let rows = chunk_rows_on(device, needs, memory)?;
    let rows = source.rows().map_or(rows, |n| rows.min(n.max(1)));
    let mut buffers: Option<Buffers> = None;
    let mut portions = Portions::new(rows);
    let mut behind = ReadBehind::default();
    let mut write = |z: ArrayView2<'_, f32>, ()| sink(z);
    let rows = for_each_chunk(source, rows, progress, |chunk| {
        portions.each(chunk.x.nrows(), |range, rows| {
            if buffers
                .as_ref()
                .is_some_and(|b| b.x_nd.capacity_rows() != rows)
            {
                buffers = None;
            }
            let Buffers { loaded, x_nd, z_nd } = match &mut buffers {
                Some(buffers) => buffers,
                none => none.insert(Buffers {
                    loaded: map.load(device)?,
                    x_nd: Matrix::new(device, rows, d)?,
                    z_nd: Matrix::new(device, rows, features)?,
                }),
            };
            map.input().load(&chunk.x.part(range), x_nd)?;
            z_nd.set_rows(x_nd.rows())?;
            loaded.featurize(x_nd, z_nd)?;
            if let Some(z) = z_nd.on_host() {
                return Ok(write(z, ()));
            }
            let reading = z_nd.read_later()?;
            Ok(behind.push(reading, (), &mut write))
        })
    })?;
    behind.finish(write)?;
    Ok(rows)
}

/// A loaded map with the matrices of a chunk.
struct Buffers {
    loaded: Box<dyn LoadedMap>,
    x_nd: Matrix,
    z_nd: Matrix,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        data::{NpyWriter, OpenOptions, open},
        features::{Affine, Fourier},
        kernels::Gaussian,
    };
    use std::{path::Path, time::Instant};

    /// Seconds of each stage when one waits for the other: read, prepare and upload, compute, read back, write.
    fn stages(map: &dyn FeatureMap, device: &Device, input: &Path, chunk: usize) -> [f64; 5] {
        let mut source = open(input, &OpenOptions::default()).expect("opens");
        let mut loaded = map.load(device).expect("loads");
        let mut x_nd = Matrix::new(device, chunk, map.input_dim()).expect("fits");
        let mut z_nd = Matrix::new(device, chunk, map.output_dim()).expect("fits");
        let output = input.with_extension("stages.npy");
        let mut writer = NpyWriter::<f32>::create(&output, map.output_dim()).expect("creates");
        let mut seconds = [0.0; 5];
        let mut start = Instant::now();
        let mut lap = |stage: usize| {
            seconds[stage] += start.elapsed().as_secs_f64();
            start = Instant::now();
        };
        while let Some(data) = source.next_chunk(chunk).expect("reads") {
            lap(0);
            map.input().load(&data.x, &mut x_nd).expect("uploads");
            device.synchronize().expect("uploads");
            lap(1);
            z_nd.set_rows(x_nd.rows()).expect("fits");
            loaded.featurize(&x_nd, &mut z_nd).expect("runs");
            device.synchronize().expect("runs");
            lap(2);
            let z = z_nd.download().expect("reads back");
            lap(3);
            writer.write_rows(z.view()).expect("writes");
            lap(4);
        }
        writer.finish().expect("writes");
        lap(4);
        seconds
    }

    #[test]
    #[ignore = "a measurement: cargo test --release --lib stages_and_stream -- --ignored --nocapture"]
    fn stages_and_stream() {
        let folder = tempfile::tempdir().expect("a folder");
        for (d, features, rows) in [(32, 512, 65_536), (784, 1024, 8192)] {
            let input = folder.path().join("x.npy");
            let mut writer = NpyWriter::<f32>::create(&input, d).expect("creates");
            let x = crate::check::normal(rows, d, 3);
            writer.write_rows(x.view()).expect("writes");
            writer.finish().expect("writes");
            let map = Fourier::new(Gaussian).features(features);
            let map = map.build(Affine::identity(d)).expect("builds");
            for device in crate::under_test::gpus() {
                println!("{rows} x {d} to {features}, {}", device.describe());
                let mut ratios = Vec::new();
                for round in 0..12 {
                    let mut parts = 0;
                    let mut chunk = 0;
                    let mut source = open(&input, &OpenOptions::default()).expect("opens");
                    let output = input.with_extension("stream.npy");
                    let mut writer = NpyWriter::<f32>::create(output, features).expect("creates");
                    let start = Instant::now();
                    featurize(&map, &mut source, &device, 32 << 20, &mut |_| {}, |z| {
                        parts += 1;
                        chunk = chunk.max(z.nrows());
                        writer.write_rows(z)
                    })
                    .expect("runs");
                    writer.finish().expect("writes");
                    let total = start.elapsed().as_secs_f64();
                    let stages = stages(&map, &device, &input, chunk);
                    let sum: f64 = stages.iter().sum();
                    let ms = stages.map(|s| (1e3 * s).round());
                    println!(
                        "  {round}: {parts} chunks, {:.0} ms, stages {ms:?} ms",
                        1e3 * total
                    );
                    if round > 0 {
                        // The first round compiles.
                        ratios.push(total / sum);
                    }
                }
                ratios.sort_by(f64::total_cmp);
                println!(
                    "  ratios {ratios:.2?}, median {:.2}",
                    ratios[ratios.len() / 2]
                );
            }
        }
    }
}
