//! The dense map on a GPU: its parameters there, and its dispatches.

use super::{DenseMap, OP, Projection, storing};
use crate::{
    Result,
    device::{Device, GpuDevice, Matrix, gpu::Dispatch},
    form::{tile::Form, tuning},
    ops::{Nonlinearity, dispatch::narrow, few::FewRows},
};

/// The uniform parameters, as in the shader.
#[repr(C)]
#[derive(Clone, Copy, bytemuck::Pod, bytemuck::Zeroable)]
pub(super) struct Params {
    rows: u32,
    depth4: u32,
    freqs: u32,
    x_stride4: u32,
    w_stride4: u32,
    z_stride: u32,
    row0: u32,
}

#[derive(Debug)]
pub(in crate::ops) struct GpuMap {
    /// `[d, s]`, with zero rows up to a multiple of four.
    pub(in crate::ops) w_ds: Matrix,
    /// Pairs of phase and amplitude in one row, padded with zeros to whole quadruples of pairs.
    pub(in crate::ops) feature: Matrix,
    /// Set when a caller chose it, else by shape.
    pub(in crate::ops) form: Option<Form>,
}

impl GpuMap {
    pub(super) fn upload(device: &Device, map: &DenseMap, form: Option<Form>) -> Result<Self> {
        let (depth, freqs) = (map.depth(), map.freqs());
        let mut w_ds = Matrix::new(device, depth.next_multiple_of(4), freqs)?;
        let stride = w_ds.stride();
        w_ds.write_with(|out| {
            out.fill(0.0);
            let rows = map.w_ds.rows().into_iter();
            for (row, out) in rows.zip(out.chunks_exact_mut(stride)) {
                row.iter().zip(out).for_each(|(&w, o)| *o = w);
            }
        })?;
        let mut feature = Matrix::new(device, 1, 2 * freqs.next_multiple_of(4))?;
        feature.write_with(|out| {
            out.fill(0.0);
            let pairs = map.phase_s.iter().zip(&map.amplitude_s);
            for (out, (&phase, &amplitude)) in out.chunks_exact_mut(2).zip(pairs) {
                out.copy_from_slice(&[phase, amplitude]);
            }
        })?;
        Ok(Self {
            w_ds,
            feature,
            form,
        })
    }
}

impl Projection {
    pub(super) fn run_gpu(
        &self,
        gpu: &GpuDevice,
        map: &GpuMap,
        x_nd: &Matrix,
        z_nd: &mut Matrix,
    ) -> Result<()> {
        let tile = match self.form(x_nd.rows()) {
            Some(Form::Tile(tile)) => tile,
            form => {
                let few = FewRows {
                    a_nk: x_nd,
                    b_kt: &map.w_ds,
                    cols: self.freqs,
                    features: Some((&map.feature, self.nonlinearity)),
                    z_nt: z_nd,
                    row0: 0,
                    splits: Form::splits(form),
                };
                return few.run(gpu);
            }
        };
        let row_work = self.row_work();
        if map.form.is_none() {
            tuning::worked(gpu, self.class(x_nd.rows()), row_work * x_nd.rows() as f64)?;
        }
        let mut params = Params {
            rows: narrow(x_nd.rows())?,
            depth4: narrow(self.depth.div_ceil(4))?,
            freqs: narrow(self.freqs)?,
            x_stride4: narrow(x_nd.stride() / 4)?,
            w_stride4: narrow(map.w_ds.stride() / 4)?,
            z_stride: narrow(z_nd.stride())?,
            row0: 0,
        };
        let whole = self.nonlinearity != Nonlinearity::CosSin || self.freqs.is_multiple_of(4);
        let (name, constants) = storing(tile, self.nonlinearity, whole);
        for rows in gpu.row_blocks(x_nd.rows(), row_work) {
            params.row0 = narrow(rows.start)?;
            gpu.dispatch(&Dispatch {
                op: &OP,
                variant: &name,
                constants: &constants,
                params: bytemuck::bytes_of(&params),
                buffers: &[
                    x_nd.gpu(gpu, "x")?,
                    map.w_ds.gpu(gpu, "w")?,
                    map.feature.gpu(gpu, "the phases")?,
                    z_nd.gpu(gpu, "z")?,
                ],
                workgroups: [
                    params.freqs.div_ceil(tile.cols()),
                    narrow(rows.len())?.div_ceil(tile.rows()),
                    1,
                ],
                work: row_work * rows.len() as f64,
            })?;
        }
        Ok(())
    }

    /// Operations of one row.
    pub(in crate::ops) fn row_work(&self) -> f64 {
        2.0 * self.depth as f64 * self.freqs as f64
    }
}
