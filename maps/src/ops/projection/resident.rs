//! The parameters of a dense map, resident on a GPU, as every form of it takes them.

use super::DenseMap;
use crate::{
    Result,
    device::{Device, GpuDevice, Matrix},
    ops::Nonlinearity,
};

/// The parameters of a dense map on a GPU.
#[derive(Debug)]
pub(in crate::ops) struct Resident {
    pub(in crate::ops) gpu: GpuDevice,
    pub(in crate::ops) nonlinearity: Nonlinearity,
    pub(in crate::ops) depth: usize,
    pub(in crate::ops) freqs: usize,
    /// `[d, s]`, with zero rows up to a multiple of four.
    pub(in crate::ops) w_ds: Matrix,
    /// Pairs of phase and amplitude in one row, padded with zeros to whole quadruples of pairs.
    pub(in crate::ops) feature: Matrix,
}

impl Resident {
    pub(super) fn upload(gpu: &GpuDevice, map: &DenseMap) -> Result<Self> {
        let device = Device::Gpu(gpu.clone());
        let (depth, freqs) = (map.depth(), map.freqs());
        let mut w_ds = Matrix::new(&device, depth.next_multiple_of(4), freqs)?;
        let stride = w_ds.stride();
        // Rows beyond d are zero, so that vec4s of depth may be whole: x is zero there, but zero
        // times what a pool's buffer held could be NaN.
        w_ds.write_with(|out| {
            out.fill(0.0);
            let rows = map.w_ds.rows().into_iter();
            for (row, out) in rows.zip(out.chunks_exact_mut(stride)) {
                row.iter().zip(out).for_each(|(&w, o)| *o = w);
            }
        })?;
        let mut feature = Matrix::new(&device, 1, 2 * freqs.next_multiple_of(4))?;
        feature.write_with(|out| {
            // Amplitude zero makes a feature of the padding zero.
            out.fill(0.0);
            let pairs = map.phase_s.iter().zip(&map.amplitude_s);
            for (out, (&phase, &amplitude)) in out.chunks_exact_mut(2).zip(pairs) {
                out.copy_from_slice(&[phase, amplitude]);
            }
        })?;
        Ok(Self {
            gpu: gpu.clone(),
            nonlinearity: map.nonlinearity.clone(),
            depth,
            freqs,
            w_ds,
            feature,
        })
    }

    /// Operations of one row.
    pub(in crate::ops) fn row_work(&self) -> f64 {
        2.0 * self.depth as f64 * self.freqs as f64
    }
}
