//! What matrix units take of a dense map on a GPU, and the dispatches.

use super::{
    arithmetic::{FLUSH, HalfColumns},
    probe::probe,
};
use crate::{
    Error, Result,
    device::{Device, GpuDevice, Matrix, gpu::Dispatch},
    form::DenseForm,
    ops::{
        Binding, Nonlinearity, Op, Variant,
        dispatch::narrow,
        projection::{DenseMap, gpu::Map},
    },
};

/// The op for the registry.
pub(crate) static OP: Op = Op {
    name: "projection_units",
    source: include_str!("../../../../shaders/projection_units.wgsl"),
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
        let fragments = [8, 16].into_iter().flat_map(|side| {
            // Metal has fragments of 8 alone, and reads no vec4s of f16 as such.
            let quads: &[bool] = if side == 8 { &[true, false] } else { &[true] };
            let sizes = SIZES.iter().filter(move |&&size| side == 8 || size >= 16);
            sizes.flat_map(move |&size| {
                let all = quads.iter();
                all.map(move |&quads| Fragments { side, quads, size })
            })
        });
        let all = fragments.flat_map(|fragments| {
            let whole = Nonlinearity::ALL
                .iter()
                .map(move |f| fragments.variant(f, true));
            whole.chain([fragments.variant(&Nonlinearity::CosSin, false)])
        });
        all.collect()
    },
};

/// Powers of two for rows.
pub(crate) static SCALES_OP: Op = Op {
    name: "row_scales",
    source: include_str!("../../../../shaders/row_scales.wgsl"),
    params_bytes: size_of::<ScalesParams>(),
    bindings: &[Binding::Read("x"), Binding::Write("scale")],
    variants: || vec![Variant::of([])],
};

/// Sizes of subgroups that adapters were seen to have.
const SIZES: &[u32] = &[4, 8, 16, 32, 64];
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

/// How a subgroup multiplies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Fragments {
    /// Rows, columns and depths of a fragment.
    pub(super) side: u32,
    /// Whether f16 lie in workgroup memory as vec4s.
    pub(super) quads: bool,
    /// Invocations of a subgroup.
    pub(super) size: u32,
}

impl Fragments {
    /// Rows and columns of a workgroup's tile.
    const fn tile(self) -> u32 {
        8 * self.side
    }

    fn invocations(self) -> u32 {
        self.side / 2 * self.size
    }

    /// Features stored in whole vec4s or one by one.
    fn variant(self, f: &Nonlinearity, whole: bool) -> Variant {
        let of = Variant::of([
            ("F", self.side.into()),
            ("SIZE", self.size.into()),
            ("QUADS", self.quads.into()),
        ]);
        f.of(of).with("WHOLE", whole.into())
    }

    /// All that an adapter may take, in the order in which they are tried: with the size of
    /// subgroups that it names, or with each between the least and the most.
    pub(super) fn of(gpu: &GpuDevice) -> std::result::Result<Vec<Self>, String> {
        let report = gpu.report();
        let side = report.units.clone()?;
        let (least, most) = report.subgroup;
        let sizes = SIZES.iter().filter(|size| (least..=most).contains(size));
        let all = sizes.map(|&size| Self {
            side,
            quads: report.backend == "Vulkan",
            size,
        });
        let fits = |f: &Self| f.invocations() <= report.workgroup_invocations;
        let all: Vec<_> = all.filter(fits).collect();
        match all.is_empty() {
            true => Err(format!(
                "there is no shader for subgroups of {least} to {most}"
            )),
            false => Ok(all),
        }
    }
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
    /// Uploads what units take of a map, after they were tried; `Err` says why they are not used.
    pub(in crate::ops) fn upload(
        gpu: &GpuDevice,
        map: &DenseMap,
    ) -> Result<std::result::Result<Self, String>> {
        if let Nonlinearity::Custom(_) = map.nonlinearity {
            return Ok(Err("a nonlinearity of one's own is computed in f32".into()));
        }
        let Some(half) = HalfColumns::of(map.w_ds.view()) else {
            return Ok(Err("f16 does not hold the frequencies".into()));
        };
        let whole = is_whole(&map.nonlinearity, map.freqs());
        match tried(gpu, &map.nonlinearity, whole)? {
            Ok(fragments) => Self::of(gpu, fragments, &half).map(Ok),
            Err(why) => Ok(Err(why)),
        }
    }

    /// Uploads for fragments that are taken as they are.
    pub(super) fn of(gpu: &GpuDevice, fragments: Fragments, half: &HalfColumns) -> Result<Self> {
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
    pub(in crate::ops) fn run(&self, map: &Map, x_nd: &Matrix, z_nd: &mut Matrix) -> Result<()> {
        let (gpu, rows, row_work) = (&map.gpu, x_nd.rows(), map.row_work());
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
                variant: self.fragments.variant(&map.nonlinearity, whole),
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
    fn row_scales(&self, map: &Map, x_nd: &Matrix) -> Result<Matrix> {
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
                variant: Variant::of([]),
                params: bytemuck::bytes_of(&params),
                buffers: &[x_nd.gpu(gpu, "x")?, scale.gpu(gpu, "the scales of rows")?],
                workgroups: [narrow(block.len())?.div_ceil(SCALED_ROWS), 1, 1],
                work: row_work * block.len() as f64,
            })?;
        }
        Ok(scale)
    }
}

/// The fragments with which features of this nonlinearity are right on this adapter.
fn tried(
    gpu: &GpuDevice,
    f: &Nonlinearity,
    whole: bool,
) -> Result<std::result::Result<Fragments, String>> {
    let all = match Fragments::of(gpu) {
        Ok(all) => all,
        Err(why) => return Ok(Err(why)),
    };
    // What a driver compiles of one variant says nothing of another.
    let way = 2 * f.code() + i64::from(whole);
    let size = gpu.tried_units(way, || probe(gpu, &all, f, whole))?;
    Ok(size.map(|size| Fragments { size, ..all[0] }))
}

/// See [`super::verdict`].
pub(super) fn verdict(gpu: &GpuDevice) -> Result<std::result::Result<u32, String>> {
    if gpu.report().units.is_ok() && gpu.is_software() {
        return Ok(Err("a software adapter has only the processor's".into()));
    }
    let fragments = tried(gpu, &Nonlinearity::CosSin, true)?;
    Ok(fragments.map(|fragments| fragments.side))
}

/// Whether features start at whole vec4s: sines stand at column `freqs`.
fn is_whole(f: &Nonlinearity, freqs: usize) -> bool {
    *f != Nonlinearity::CosSin || freqs.is_multiple_of(4)
}

/// The error of a caller who asks for units where they are not used.
pub(in crate::ops) fn refused(gpu: &GpuDevice, why: &str) -> Error {
    Error::unsupported(format!(
        "{} has no matrix units to use: {why}",
        gpu.describe()
    ))
}
