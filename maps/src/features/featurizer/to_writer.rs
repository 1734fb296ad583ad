//! Features that are made where a writer takes them up.

use super::{Branch, Destination, Featurizer, HostRows};
use crate::{
    Result,
    data::{ChunkSource, RowWriter, WriteBehind},
    features::FeatureMap,
    flow::Run,
};
use ndarray::ArrayView2;
use std::ops::Range;

/// As [`featurize`](super::featurize), to a writer on a thread of its own: where the map works on
/// the host it makes features in the memory that is written next, so that none is copied. The
/// writer is left open; rows may still be on their way.
///
/// Errors as [`featurize`](super::featurize), and as the writer does for rows before the last.
///
/// ```
/// use bochner::{Device, data::{MemorySource, NpyWriter, WriteBehind}, kernels::Gaussian};
/// use bochner::features::{Affine, Fourier, featurize_behind};
/// # let folder = tempfile::tempdir().unwrap();
/// # let path = folder.path().join("z.npy");
/// let mut source = MemorySource::new(ndarray::array![[0.0], [1.0], [2.0]], None)?;
/// let map = Fourier::new(Gaussian).features(16).build(Affine::identity(1))?;
/// let mut writer = WriteBehind::new(NpyWriter::create(&path, 16)?)?;
/// featurize_behind(&map, &mut source, &Device::cpu(), &mut writer)?;
/// assert_eq!(writer.into_inner()?.finish()?, 3);
/// # Ok::<(), bochner::Error>(())
/// ```
#[doc(hidden)]
pub fn featurize_behind<W: RowWriter<f32>>(
    map: &dyn FeatureMap,
    source: &mut dyn ChunkSource,
    run: impl Into<Run>,
    writer: &mut WriteBehind<W, f32>,
) -> Result<u64> {
    let branches = vec![Branch::features(map)?];
    let mut featurizer = Featurizer::new(branches, source.targets(), Destination::Host, run)?;
    let columns = map.output_dim();
    featurizer.write(source, &mut ToWriter { writer, columns })
}

struct ToWriter<'a, W, T> {
    writer: &'a mut WriteBehind<W, T>,
    columns: usize,
}

impl<W: RowWriter<f32>> HostRows for ToWriter<'_, W, f32> {
    fn lend(&mut self, rows: Range<usize>) -> Option<&mut [f32]> {
        Some(self.writer.lend(rows.len() * self.columns))
    }

    /// Another core reads it next, for which it would have to leave the caches of this one.
    fn is_past_caches(&self) -> bool {
        true
    }

    fn filled(&mut self) -> Result<()> {
        self.writer.write_lent(self.columns)
    }

    fn take(&mut self, _: Range<usize>, z_nd: ArrayView2<'_, f32>) -> Result<()> {
        self.writer.write_rows(z_nd)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        Device,
        data::MemorySource,
        features::{Affine, Fastfood, Fourier, featurize},
        kernels::Gaussian,
    };
    use ndarray::{Array2, Axis};

    /// Keeps what it is given.
    struct Kept(Vec<f32>);

    impl RowWriter<f32> for Kept {
        fn write_rows(&mut self, rows: ArrayView2<'_, f32>) -> Result<()> {
            self.0.extend(rows.iter());
            Ok(())
        }
    }

    /// In many chunks, the last of which is shorter; from a map that writes to memory that is lent
    /// and from one that does not, on every device.
    #[test]
    fn features_are_those_of_the_sink_in_their_order_on_devices() {
        let x = Array2::from_shape_fn((1003, 3), |(i, j)| ((i * (j + 2)) % 97) as f64 / 50.0);
        let input = || Affine::identity(3);
        let maps: [Box<dyn FeatureMap>; 2] = [
            Box::new(
                Fourier::new(Gaussian)
                    .features(20)
                    .build(input())
                    .expect("builds"),
            ),
            Box::new(
                Fastfood::new(Gaussian)
                    .features(20)
                    .build(input())
                    .expect("builds"),
            ),
        ];
        let devices = std::iter::once(Device::cpu()).chain(crate::under_test::gpus());
        for device in devices {
            for map in &maps {
                let mut source = MemorySource::new(x.clone(), None).expect("a source");
                let run = Run::on(&device).memory(64 << 10);
                let mut chunks = Vec::new();
                featurize(map.as_ref(), &mut source, run.clone(), |z| {
                    chunks.push(z.to_owned());
                    Ok(())
                })
                .expect("computes");
                assert!(chunks.len() > 3, "{} chunks", chunks.len());
                let views: Vec<_> = chunks.iter().map(|z| z.view()).collect();
                let expected = ndarray::concatenate(Axis(0), &views).expect("rows");
                let mut writer = WriteBehind::new(Kept(Vec::new())).expect("a thread");
                // Twice, for the writer stays open.
                for _ in 0..2 {
                    let rows =
                        featurize_behind(map.as_ref(), &mut source, run.clone(), &mut writer);
                    assert_eq!(rows.expect("computes"), 1003);
                }
                let found = writer.into_inner().expect("writes").0;
                let (first, second) = found.split_at(found.len() / 2);
                assert!(first == expected.as_slice().expect("rows") && second == first);
            }
        }
    }
}
