//! Kernel blocks on a GPU.

use super::{Level, Scaled};
use crate::{
    Result,
    device::{
        Device, GpuDevice, Matrix,
        gpu::{AdapterKind, Dispatch},
    },
    form::tile::{self, Tile},
    kernels::BlockForm,
    ops::{
        Binding, Op, Variant,
        dispatch::{narrow, scratch_rows},
        product,
    },
};
use ndarray::Array2;

/// The op for the registry.
pub(crate) static OP: Op = Op {
    name: "kernel_block",
    source: bochner_shaders::KERNEL_BLOCK,
    params_bytes: size_of::<Params>(),
    bindings: &[
        Binding::Read("x"),
        Binding::Read("w"),
        Binding::Read("norm"),
        Binding::Write("k"),
    ],
    variants: || {
        let menu = MENU.iter();
        menu.flat_map(|&t| {
            let from_zero = FORMS.map(|form| variant(t, form, Level::Zero));
            let with_top = FORMS.iter().filter(|form| !is_angular(**form));
            let from_top = with_top.map(move |&form| variant(t, form, Level::Top));
            from_zero.into_iter().chain(from_top)
        })
        .collect()
    },
};

/// The tile shapes of this op: through workgroup memory, and straight from the buffers.
pub const MENU: &[Tile] = &[
    tile::SHARED_64,
    tile::SHARED_32,
    tile::SHARED_64_HALF,
    tile::DIRECT_8X64,
];

/// The shape of a block: of an arc-cosine kernel, or of another.
fn usual(kind: AdapterKind, angular: bool) -> Tile {
    match kind {
        AdapterKind::Software => tile::DIRECT_8X64,
        // Two sums an entry.
        AdapterKind::Integrated if angular => tile::SHARED_32,
        AdapterKind::Integrated => tile::SHARED_64_HALF,
        _ if angular => tile::SHARED_64_HALF,
        _ => tile::SHARED_64,
    }
}

/// Whether adapters of this kind take the variant.
pub(crate) fn is_default(variant: &Variant, kind: AdapterKind) -> bool {
    Tile::from_variant(variant) == Some(usual(kind, variant.get("PAIR") == Some(PAIR_ANGULAR)))
}

/// Every form, with any parameters.
const FORMS: [BlockForm; 11] = [
    BlockForm::Gaussian,
    BlockForm::Laplacian,
    BlockForm::Exponential,
    BlockForm::Matern32,
    BlockForm::Matern52,
    BlockForm::Cauchy,
    BlockForm::Hat,
    BlockForm::RationalQuadratic { alpha: 1.0 },
    BlockForm::ArcCosine { order: 0 },
    BlockForm::ArcCosine { order: 1 },
    BlockForm::ArcCosine { order: 2 },
];

/// The uniform parameters, as in the shader.
#[repr(C)]
#[derive(Clone, Copy, bytemuck::Pod, bytemuck::Zeroable)]
struct Params {
    rows: u32,
    depth4: u32,
    landmarks: u32,
    x_stride4: u32,
    w_stride4: u32,
    k_stride4: u32,
    row0: u32,
    alpha: f32,
}

/// What the arc-cosine kernels gather.
const PAIR_ANGULAR: i64 = 4;

/// The shader's constants FORM and PAIR.
fn codes(form: BlockForm) -> (i64, i64) {
    match form {
        BlockForm::Gaussian => (0, 0),
        BlockForm::Laplacian => (1, 1),
        BlockForm::Exponential => (2, 0),
        BlockForm::Matern32 => (3, 0),
        BlockForm::Matern52 => (4, 0),
        BlockForm::Cauchy => (5, 2),
        BlockForm::Hat => (6, 3),
        BlockForm::RationalQuadratic { .. } => (7, 0),
        BlockForm::ArcCosine { order } => (8 + i64::from(order), PAIR_ANGULAR),
    }
}

fn is_angular(form: BlockForm) -> bool {
    matches!(form, BlockForm::ArcCosine { .. })
}

fn variant(tile: Tile, form: BlockForm, level: Level) -> Variant {
    let (form, pair) = codes(form);
    let variant = tile
        .variant()
        .with_constant("FORM", form)
        .with_constant("PAIR", pair);
    variant.with_constant("TOP", i64::from(level == Level::Top))
}

/// A kernel's form and its landmarks.
#[derive(Debug)]
pub(super) struct Landmarks {
    gpu: GpuDevice,
    form: BlockForm,
    level: Level,
    depth: usize,
    landmarks: usize,
    /// `[d, m]`, with zero rows up to a multiple of four.
    w: Matrix,
    /// Lengths of the landmarks, padded with zeros.
    norm: Matrix,
    tile: Tile,
}

/// Lengths are padded to a multiple of this many: no tile is wider in vec4s.
const LENGTHS: usize = 16;

impl Landmarks {
    pub(super) fn upload(
        gpu: &GpuDevice,
        form: BlockForm,
        level: Level,
        landmarks: &Scaled<'_>,
        tile: Option<Tile>,
    ) -> Result<Self> {
        let device = Device::Gpu(gpu.clone());
        let (m, d) = landmarks.landmarks_md.dim();
        let usual = || usual(gpu.report().tiles_of(), landmarks.angular);
        // Rows are loaded four at a time; a zero row adds nothing to any distance, since x is zero
        // there too.
        let w = Array2::from_shape_fn((d.next_multiple_of(4), m), |(c, j)| landmarks.value(j, c));
        let padded = (1, m.next_multiple_of(LENGTHS));
        let norm = Array2::from_shape_fn(padded, |(_, j)| landmarks.length(j));
        Ok(Self {
            gpu: gpu.clone(),
            form,
            level,
            depth: d,
            landmarks: m,
            w: Matrix::upload(&device, w.view())?,
            norm: Matrix::upload(&device, norm.view())?,
            tile: tile.unwrap_or_else(usual),
        })
    }

    pub(super) fn tile(&self) -> Tile {
        self.tile
    }

    fn columns(&self) -> usize {
        self.level.columns(self.landmarks)
    }

    /// Records the block of the rows of x from `row0` on, as many as k has.
    pub(super) fn run(&self, x_nd: &Matrix, row0: usize, k_nm: &mut Matrix) -> Result<()> {
        let (gpu, form) = (&self.gpu, self.form);
        let params = Params {
            rows: narrow(k_nm.rows())?,
            depth4: narrow(self.depth.div_ceil(4))?,
            landmarks: narrow(self.landmarks)?,
            x_stride4: narrow(x_nd.stride() / 4)?,
            w_stride4: narrow(self.w.stride() / 4)?,
            k_stride4: narrow(k_nm.stride() / 4)?,
            row0: narrow(row0)?,
            alpha: match form {
                BlockForm::RationalQuadratic { alpha } => alpha as f32,
                _ => 0.0,
            },
        };
        gpu.dispatch(&Dispatch {
            op: &OP,
            variant: variant(self.tile, form, self.level),
            params: bytemuck::bytes_of(&params),
            buffers: &[
                x_nd.gpu(gpu, "x")?,
                self.w.gpu(gpu, "the landmarks")?,
                self.norm.gpu(gpu, "the landmarks")?,
                k_nm.gpu(gpu, "the kernel block")?,
            ],
            workgroups: [
                narrow(self.columns())?.div_ceil(self.tile.cols()),
                params.rows.div_ceil(self.tile.rows()),
                1,
            ],
            work: 3.0 * (k_nm.rows() * self.depth) as f64 * self.landmarks as f64,
        })
    }

    /// Records the block times `b`, some rows at a time.
    pub(super) fn times(
        &self,
        x_nd: &Matrix,
        b_mt: &Matrix,
        out_nt: &mut Matrix,
        scratch: &mut Option<Matrix>,
    ) -> Result<()> {
        let rows = x_nd.rows();
        // One dispatch for each: so many that it ends in time, too.
        let row_work = 3.0 * self.depth as f64 * self.landmarks as f64;
        let in_time = self.gpu.row_blocks(&OP, rows, row_work).next();
        let most = in_time.map_or(1, |block| block.len());
        let most = most.min(scratch_rows(&self.gpu, self.columns()));
        let batch = most.min(rows);
        let k_nm = match scratch {
            Some(k) if k.capacity_rows() >= batch => k,
            none => {
                // Room for the next before it is made.
                *none = None;
                let device = Device::Gpu(self.gpu.clone());
                none.insert(Matrix::new(&device, batch, self.columns())?)
            }
        };
        // One scratch for all batches: dispatches run in order, so that a batch's product has read
        // it before the next block is written.
        for row0 in (0..rows).step_by(most) {
            k_nm.set_rows(batch.min(rows - row0))?;
            self.run(x_nd, row0, k_nm)?;
            product::into_rows(&self.gpu, k_nm, b_mt, out_nt, row0)?;
        }
        Ok(())
    }
}
