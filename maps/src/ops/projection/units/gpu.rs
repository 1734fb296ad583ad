//! What matrix units take of a dense map on a GPU, and the dispatches.

use super::arithmetic::{FLUSH, HalfColumns};
use crate::{
    Result,
    device::{Device, GpuDevice, Matrix, gpu::Dispatch},
    form::DenseForm,
    ops::{
        Binding, Nonlinearity, Op, Variant,
        dispatch::narrow,
        projection::resident::Resident,
        units::{Fragments, NOT_REACHED, REACHED, refused},
    },
};

/// The op for the registry.
pub(crate) static OP: Op = Op {
    name: "projection_units",
    source: bochner_shaders::PROJECTION_UNITS,
    params_bytes: size_of::<Params>(),
    bindings: &[
        Binding::Read("x"),
        Binding::Read("w"),
        Binding::Read("scale"),
        Binding::Read("unscale"),
        Binding::Read("feature"),
        Binding::Write("z"),
    ],
    variants: || {
        let all = Fragments::all().flat_map(|fragments| {
            let whole = Nonlinearity::ALL
                .iter()
                .map(move |f| variant(fragments, f, true));
            whole.chain([variant(fragments, &Nonlinearity::CosSin, false)])
        });
        all.collect()
    },
};

/// Powers of two for rows.
pub(crate) static SCALES_OP: Op = Op {
    name: "row_scales",
    source: bochner_shaders::ROW_SCALES,
    params_bytes: size_of::<ScalesParams>(),
    bindings: &[Binding::Read("x"), Binding::Write("scale")],
    variants: || vec![Variant::new([])],
};

/// Depths of a stage, to whose multiples frequencies are padded.
const STAGE: usize = 32;
/// Rows of a workgroup of `row_scales.wgsl`.
const SCALED_ROWS: u32 = 16;
const _: () = assert!(FLUSH.is_multiple_of(STAGE));

/// The uniform parameters, as in the shader.
#[repr(C)]
#[derive(Clone, Copy, bytemuck::Pod, bytemuck::Zeroable)]
struct Params {
    rows: u32,
    depth4: u32,
    freqs: u32,
    x_stride4: u32,
    w_stride4: u32,
    z_stride: u32,
    row0: u32,
}

/// Those of the powers of two.
#[repr(C)]
#[derive(Clone, Copy, bytemuck::Pod, bytemuck::Zeroable)]
struct ScalesParams {
    rows: u32,
    depth4: u32,
    x_stride4: u32,
    row0: u32,
}

/// Features stored in whole vec4s or one by one.
pub(super) fn variant(fragments: Fragments, f: &Nonlinearity, whole: bool) -> Variant {
    f.add_to(fragments.variant())
        .with_constant("WHOLE", whole.into())
}

/// A dense map as matrix units take it.
#[derive(Debug)]
pub(in crate::ops) struct Units {
    pub(super) fragments: Fragments,
    /// f16, `[s, d]`, two in the place of a float; zeros up to whole stages.
    w_sd: Matrix,
    /// What the products of a frequency are multiplied by, in one row.
    unscale: Matrix,
}

impl Units {
    /// Uploads for fragments that are taken as they are.
    pub(super) fn upload(
        gpu: &GpuDevice,
        fragments: Fragments,
        half: &HalfColumns,
    ) -> Result<Self> {
        let device = Device::Gpu(gpu.clone());
        let (s, d) = half.bits_sd.dim();
        let words = d.next_multiple_of(STAGE) / 2;
        let mut w_sd = Matrix::new(&device, s, words)?;
        w_sd.write_with(|out| {
            out.fill(0.0);
            let rows = half.bits_sd.rows().into_iter();
            for (bits, out) in rows.zip(out.chunks_exact_mut(words)) {
                let out: &mut [u16] = bytemuck::cast_slice_mut(out);
                bits.iter().zip(out).for_each(|(&bits, o)| *o = bits);
            }
        })?;
        let mut unscale = Matrix::new(&device, 1, s)?;
        unscale.write_with(|out| {
            out.fill(0.0);
            out[..s].copy_from_slice(&half.unscale_s);
        })?;
        Ok(Self {
            fragments,
            w_sd,
            unscale,
        })
    }

    /// Their name among forms.
    pub(in crate::ops) fn form(&self) -> DenseForm {
        DenseForm::Units {
            side: self.fragments.side,
        }
    }

    /// Records the features of the rows of x.
    pub(in crate::ops) fn run(
        &self,
        map: &Resident,
        x_nd: &Matrix,
        z_nd: &mut Matrix,
    ) -> Result<()> {
        let (gpu, rows, row_work) = (&map.gpu, x_nd.rows(), map.row_work());
        if !REACHED {
            return Err(refused(gpu, NOT_REACHED));
        }
        let scale = self.row_scales(map, x_nd)?;
        let mut params = Params {
            rows: narrow(rows)?,
            depth4: narrow(map.depth.div_ceil(4))?,
            freqs: narrow(map.freqs)?,
            x_stride4: narrow(x_nd.stride() / 4)?,
            w_stride4: narrow(self.w_sd.stride() / 2)?,
            z_stride: narrow(z_nd.stride())?,
            row0: 0,
        };
        let whole = is_whole(&map.nonlinearity, map.freqs);
        let tile = self.fragments.tile();
        for block in gpu.row_blocks(&OP, rows, row_work) {
            params.row0 = narrow(block.start)?;
            gpu.dispatch(&Dispatch {
                op: &OP,
                variant: variant(self.fragments, &map.nonlinearity, whole),
                params: bytemuck::bytes_of(&params),
                buffers: &[
                    x_nd.gpu(gpu, "x")?,
                    self.w_sd.gpu(gpu, "w")?,
                    scale.gpu(gpu, "the scales of rows")?,
                    self.unscale.gpu(gpu, "the scales of frequencies")?,
                    map.feature.gpu(gpu, "the phases")?,
                    z_nd.gpu(gpu, "z")?,
                ],
                workgroups: [
                    params.freqs.div_ceil(tile),
                    narrow(block.len())?.div_ceil(tile),
                    1,
                ],
                work: row_work * block.len() as f64,
            })?;
        }
        Ok(())
    }

    /// The power of two of each row, in one row.
    fn row_scales(&self, map: &Resident, x_nd: &Matrix) -> Result<Matrix> {
        let (gpu, rows) = (&map.gpu, x_nd.rows());
        let scale = Matrix::new(&Device::Gpu(gpu.clone()), 1, rows)?;
        let row_work = 4.0 * map.depth as f64;
        let mut params = ScalesParams {
            rows: narrow(rows)?,
            depth4: narrow(map.depth.div_ceil(4))?,
            x_stride4: narrow(x_nd.stride() / 4)?,
            row0: 0,
        };
        for block in gpu.row_blocks(&SCALES_OP, rows, row_work) {
            params.row0 = narrow(block.start)?;
            gpu.dispatch(&Dispatch {
                op: &SCALES_OP,
                variant: Variant::new([]),
                params: bytemuck::bytes_of(&params),
                buffers: &[x_nd.gpu(gpu, "x")?, scale.gpu(gpu, "the scales of rows")?],
                workgroups: [narrow(block.len())?.div_ceil(SCALED_ROWS), 1, 1],
                work: row_work * block.len() as f64,
            })?;
        }
        Ok(scale)
    }
}

/// Whether features start at whole vec4s: sines stand at column `freqs`.
pub(super) fn is_whole(f: &Nonlinearity, freqs: usize) -> bool {
    *f != Nonlinearity::CosSin || freqs.is_multiple_of(4)
}
