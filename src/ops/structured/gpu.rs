//! Structured maps on a GPU: one dispatch where rows fit workgroup memory, else steps with
//! Walsh-Hadamard passes between.

use super::{
    form,
    map::{Mixing, StructuredMap},
};
use crate::{
    Result,
    device::{Device, GpuDevice, Matrix, gpu::Dispatch},
    form::Registers,
    ops::{
        Binding, Op, Variant,
        dispatch::{fold, moved, narrow, scratch_rows},
        product,
        walsh_hadamard::{
            LOG_STRIDED, LOG_WHOLE, RowLayout, WalshHadamard, columns, log_most, log_whole,
            of_both, strided_invocations,
        },
    },
};
use std::ops::Range;

/// The fused op for the registry.
pub(crate) static OP: Op = Op {
    name: "structured",
    source: include_str!("../../../shaders/structured.wgsl"),
    params_bytes: size_of::<Params>(),
    bindings: &[
        Binding::Read("x"),
        Binding::Read("signs"),
        Binding::Read("permutation"),
        Binding::Read("diagonal"),
        Binding::Read("feature"),
        Binding::Write("z"),
    ],
    variants: || of_both(forms),
};

/// The variants of adapters that use registers so.
pub(crate) fn forms(registers: Registers) -> Vec<Variant> {
    let lengths = 1..=log_most(registers);
    let kinds = [(0, 0), (0, 1), (1, 0), (1, 1)];
    lengths
        .flat_map(|k| kinds.map(|(kind, form)| variant(k, kind, form, registers)))
        .collect()
}

/// The steps for longer rows, for the registry.
pub(crate) static STAGE_OP: Op = Op {
    name: "structured_stage",
    source: include_str!("../../../shaders/structured_stage.wgsl"),
    params_bytes: size_of::<StageParams>(),
    bindings: &[
        Binding::Read("x"),
        Binding::Read("signs"),
        Binding::Read("permutation"),
        Binding::Read("diagonal"),
        Binding::Read("feature"),
        Binding::Write("y"),
    ],
    variants: || of_both(stage_forms),
};

/// As [`forms`], of the steps for longer rows.
pub(crate) fn stage_forms(registers: Registers) -> Vec<Variant> {
    let stages = [
        Stage::Spread,
        Stage::Mix(false),
        Stage::Mix(true),
        Stage::Sign,
    ];
    let finishes = (1..=LOG_STRIDED).flat_map(|k| [0, 1].map(|form| Stage::Finish(k, form)));
    stages
        .into_iter()
        .chain(finishes)
        .map(|stage| stage.variant(registers))
        .collect()
}

/// Scratch of longer rows, per matrix.
const SCRATCH_BYTES: usize = 32 << 20;

#[repr(C)]
#[derive(Clone, Copy, bytemuck::Pod, bytemuck::Zeroable)]
struct Params {
    rows: u32,
    row0: u32,
    depth: u32,
    x_stride4: u32,
    freqs: u32,
    z_stride: u32,
    blocks: u32,
    sign_words: u32,
    amplitude: f32,
}

#[repr(C)]
#[derive(Clone, Copy, bytemuck::Pod, bytemuck::Zeroable)]
struct StageParams {
    n: u32,
    x_row0: u32,
    y_row0: u32,
    depth: u32,
    x_stride4: u32,
    y_stride: u32,
    freqs: u32,
    block: u32,
    sign_at: u32,
    inner4: u32,
    amplitude: f32,
}

fn variant(log_n: u32, kind: i64, form: i64, registers: Registers) -> Variant {
    let layout = RowLayout::new(log_n, registers).variant();
    layout.with("KIND", kind).with("FORM", form)
}

/// One pass of `structured_stage.wgsl`.
#[derive(Debug, Clone, Copy)]
enum Stage {
    /// Signs of x, and the levels within parts of 2^12.
    Spread,
    /// Permutation and diagonal, and those levels; whether indices are packed two a word.
    Mix(bool),
    /// Signs, and those levels.
    Sign,
    /// The last so many levels, and the features in this form.
    Finish(u32, i64),
}

impl Stage {
    fn variant(self, registers: Registers) -> Variant {
        let whole = RowLayout::new(LOG_WHOLE, registers)
            .variant()
            .with("COLUMNS", 4);
        let (stage, packed, form, layout) = match self {
            Self::Spread => (0, 0, 0, whole),
            Self::Mix(packed) => (1, packed.into(), 0, whole),
            Self::Sign => (2, 0, 0, whole),
            Self::Finish(levels_of, form) => {
                let levels = ["LOG_N", "LOG_E"].map(|name| (name, levels_of.into()));
                let columns = columns(levels_of, registers).into();
                (3, 0, form, Variant::of(levels).with("COLUMNS", columns))
            }
        };
        let layout = layout.with("STAGE", stage).with("PACKED", packed);
        layout.with("FORM", form)
    }
}

/// A map's tables as storage buffers.
#[derive(Debug)]
pub(super) struct Tables {
    gpu: GpuDevice,
    signs: Matrix,
    permutation: Matrix,
    diagonal: Matrix,
    feature: Matrix,
    /// As they were when the places of a permutation were translated.
    registers: Registers,
    /// Whether rows take one dispatch.
    whole: bool,
    /// Features of the rows in work of [`predict`], kept between calls.
    scratch: Option<Matrix>,
}

impl Tables {
    pub(super) fn new(gpu: &GpuDevice, map: &StructuredMap) -> Result<Self> {
        let device = &Device::Gpu(gpu.clone());
        let n = map.padded;
        let log_n = n.trailing_zeros();
        let registers = Registers::for_adapter(gpu);
        let whole = log_n <= log_whole(gpu.report().workgroup_bytes, registers);
        let signs: Vec<u32> = map.signs.iter().copied().collect();
        let (mut places, mut diagonal) = (vec![0; 4], vec![0.0; 4]);
        if let Mixing::Fastfood {
            permutation_bn,
            gaussian_bn,
        } = &map.mixing
        {
            // The fused shader loads eight neighbours at once; in its exchange an element has a
            // place of its own.
            let width = n.max(8);
            let layout = whole.then(|| RowLayout::new(log_n, registers));
            places = vec![0; map.blocks() * width];
            diagonal = vec![0.0; map.blocks() * width];
            // Workgroup memory holds element i at `address(i)`: translated here, the gather of the
            // shader needs no arithmetic for it.
            for (out, row) in places.chunks_exact_mut(width).zip(permutation_bn.rows()) {
                for (out, &from) in out.iter_mut().zip(row) {
                    *out = layout.map_or(from, |layout| layout.address(from));
                }
            }
            for (out, row) in diagonal.chunks_exact_mut(width).zip(gaussian_bn.rows()) {
                out.iter_mut().zip(row).for_each(|(o, &g)| *o = g);
            }
            if packed(n) {
                // The lower half of a word is the even index. The shaders unpack them so.
                places = places.chunks_exact(2).map(|p| p[0] | p[1] << 16).collect();
            }
        }
        // Radii first, phases from `freqs` on, as the shaders find them.
        let feature: Vec<f32> = map.radius_s.iter().chain(&map.phase_s).copied().collect();
        Ok(Self {
            gpu: gpu.clone(),
            registers,
            whole,
            scratch: None,
            signs: table(device, &signs)?,
            permutation: table(device, &places)?,
            diagonal: table(device, bytemuck::cast_slice(&diagonal))?,
            feature: table(device, bytemuck::cast_slice(&feature))?,
        })
    }
}

/// Whether indices below n fit 16 bits.
fn packed(n: usize) -> bool {
    n <= 1 << 16
}

/// 32-bit words as one row of a matrix.
fn table(device: &Device, words: &[u32]) -> Result<Matrix> {
    let mut matrix = Matrix::new(device, 1, words.len())?;
    matrix.write_with(|out| {
        let out: &mut [u32] = bytemuck::cast_slice_mut(out);
        let (body, padding) = out.split_at_mut(words.len());
        body.copy_from_slice(words);
        // A buffer from the pool holds what was there before.
        padding.fill(0);
    })?;
    Ok(matrix)
}

/// The features of as many rows as z has, from row `row0` of x on.
pub(super) fn run(
    map: &StructuredMap,
    tables: &Tables,
    x_nd: &Matrix,
    row0: usize,
    z_nd: &mut Matrix,
) -> Result<()> {
    let gpu = &tables.gpu;
    let log_n = map.padded.trailing_zeros();
    if !tables.whole {
        return run_long(map, tables, x_nd, row0, z_nd);
    }
    let params = Params {
        rows: narrow(z_nd.rows())?,
        row0: narrow(row0)?,
        depth: narrow(map.depth)?,
        x_stride4: narrow(x_nd.stride() / 4)?,
        freqs: narrow(map.freqs())?,
        z_stride: narrow(z_nd.stride())?,
        blocks: narrow(map.blocks())?,
        sign_words: narrow(map.signs.ncols())?,
        amplitude: map.amplitude,
    };
    // A workgroup takes some rows through one block: blocks share nothing but x, which is read once
    // for each.
    let groups = z_nd
        .rows()
        .div_ceil(RowLayout::new(log_n, tables.registers).rows as usize)
        * map.blocks();
    let kind = i64::from(matches!(map.mixing, Mixing::Sorf));
    gpu.dispatch(&Dispatch {
        op: &OP,
        variant: variant(log_n, kind, form(&map.nonlinearity), tables.registers),
        params: bytemuck::bytes_of(&params),
        buffers: &buffers(tables, x_nd, z_nd)?,
        workgroups: fold(narrow(groups)?),
        work: moved(z_nd),
    })
}

/// Writes `z beta`, some rows of features at a time.
pub(super) fn predict(
    map: &StructuredMap,
    tables: &mut Tables,
    x_nd: &Matrix,
    beta_dt: &Matrix,
    y_nt: &mut Matrix,
) -> Result<()> {
    let (rows, outputs) = (x_nd.rows(), map.outputs());
    // In batches, so that the features of all rows need not fit.
    let most = scratch_rows(&tables.gpu, outputs);
    let batch = most.min(rows);
    let mut z_nd = match tables.scratch.take() {
        // Taken out, so that an error on the way gives it back to the pool.
        Some(z_nd) if z_nd.capacity_rows() >= batch => z_nd,
        too_small => {
            // Room for the next before it is made.
            drop(too_small);
            Matrix::new(&Device::Gpu(tables.gpu.clone()), batch, outputs)?
        }
    };
    for row0 in (0..rows).step_by(most) {
        z_nd.set_rows(batch.min(rows - row0))?;
        run(map, tables, x_nd, row0, &mut z_nd)?;
        product::into_rows(&tables.gpu, &z_nd, beta_dt, y_nt, row0)?;
    }
    tables.scratch = Some(z_nd);
    Ok(())
}

fn buffers<'a>(tables: &'a Tables, x: &'a Matrix, y: &'a Matrix) -> Result<[&'a wgpu::Buffer; 6]> {
    let gpu = &tables.gpu;
    Ok([
        x.gpu(gpu, "x")?,
        tables.signs.gpu(gpu, "the signs")?,
        tables.permutation.gpu(gpu, "the permutations")?,
        tables.diagonal.gpu(gpu, "the diagonals")?,
        tables.feature.gpu(gpu, "the radii")?,
        y.gpu(gpu, "z")?,
    ])
}

/// How often each element of a block is read and written: once where rows fit workgroup memory.
pub(super) fn passes(map: &StructuredMap, tables: &Tables) -> u32 {
    if tables.whole {
        return 1;
    }
    let strided = WalshHadamard::new(map.padded).map_or(0, |t| t.strided_passes().count());
    let transform = 1 + strided as u32;
    match map.mixing {
        Mixing::Fastfood { .. } => 2 * transform,
        Mixing::Sorf => 3 * transform,
    }
}

/// The stages of a block of some rows that are longer than workgroup memory.
struct Stages<'a> {
    map: &'a StructuredMap,
    tables: &'a Tables,
    /// The first row of x.
    row0: usize,
    /// These rows behind it, which are the first of z and of the scratch matrices.
    rows: Range<usize>,
    block: usize,
    /// The last pass of a transform: the levels that are done, and those of the pass.
    last: (u32, u32),
}

impl Stages<'_> {
    /// Records a stage from x to y, by these signs.
    fn record(&self, stage: Stage, (x, y): (&Matrix, &Matrix), sign_row: usize) -> Result<()> {
        let Self { map, tables, .. } = self;
        let registers = tables.registers;
        let (n, (done, levels)) = (map.padded, self.last);
        // x and z are the caller's, of all rows; the scratch matrices hold this batch alone.
        let (mut at_x, mut at_y) = (0, 0);
        let parts = narrow(n >> LOG_WHOLE)?;
        let workgroups = match stage {
            Stage::Spread => {
                at_x = self.row0 + self.rows.start;
                parts
            }
            Stage::Mix(_) | Stage::Sign => parts,
            Stage::Finish(..) => {
                at_y = self.rows.start;
                strided_invocations(n.trailing_zeros(), levels, registers).div_ceil(64)
            }
        };
        let params = StageParams {
            n: narrow(n)?,
            x_row0: narrow(at_x)?,
            y_row0: narrow(at_y)?,
            depth: narrow(map.depth)?,
            x_stride4: narrow(x.stride() / 4)?,
            y_stride: narrow(y.stride())?,
            freqs: narrow(map.freqs())?,
            block: narrow(self.block)?,
            sign_at: narrow(sign_row * map.signs.ncols())?,
            inner4: 1 << (done - 2),
            amplitude: map.amplitude,
        };
        tables.gpu.dispatch(&Dispatch {
            op: &STAGE_OP,
            variant: stage.variant(registers),
            params: bytemuck::bytes_of(&params),
            buffers: &buffers(tables, x, y)?,
            workgroups: [workgroups, narrow(self.rows.len())?, 1],
            work: moved(y),
        })
    }
}

/// Rows longer than workgroup memory: two scratch matrices, some rows and one block at a time.
fn run_long(
    map: &StructuredMap,
    tables: &Tables,
    x_nd: &Matrix,
    row0: usize,
    z_nd: &mut Matrix,
) -> Result<()> {
    let gpu = &tables.gpu;
    let n = map.padded;
    let rows = z_nd.rows();
    // The y of a grid counts rows: 65,535 at most.
    let most = (SCRATCH_BYTES / (4 * n)).clamp(1, 65_535);
    let device = Device::Gpu(gpu.clone());
    let mut u = Matrix::new(&device, most.min(rows), n)?;
    let mut v = Matrix::new(&device, most.min(rows), n)?;
    let transform = WalshHadamard::new(n)?;
    let mut passes: Vec<(u32, u32)> = transform.strided_passes().collect();
    // The last pass of the last transform ends in the features.
    let between = passes.clone();
    let (done, levels) = passes.pop().expect("longer than one dispatch takes");
    // Levels that lie far apart, in place; levels within parts of 2^12 are in the stages.
    let strided = |y: &Matrix, passes: &[(u32, u32)]| {
        let mut passes = passes.iter();
        passes.try_for_each(|&pass| transform.strided(gpu, pass, y))
    };
    for first in (0..rows).step_by(most) {
        let batch = most.min(rows - first);
        u.set_rows(batch)?;
        v.set_rows(batch)?;
        for block in 0..map.blocks() {
            let stages = Stages {
                map,
                tables,
                row0,
                rows: first..first + batch,
                block,
                last: (done, levels),
            };
            let step = |stage, x: &Matrix, y: &Matrix, row| stages.record(stage, (x, y), row);
            let finish = Stage::Finish(levels, form(&map.nonlinearity));
            match map.mixing {
                Mixing::Fastfood { .. } => {
                    step(Stage::Spread, x_nd, &u, block)?;
                    strided(&u, &between)?;
                    // A permutation reads where others would write: it cannot stay in place, so
                    // that u and v take turns.
                    step(Stage::Mix(packed(n)), &u, &v, 0)?;
                    strided(&v, &passes)?;
                    step(finish, &v, z_nd, 0)?;
                }
                Mixing::Sorf => {
                    step(Stage::Spread, x_nd, &u, 3 * block)?;
                    strided(&u, &between)?;
                    // No buffer may be bound to be read and to be written: signs change the matrix
                    // too.
                    step(Stage::Sign, &u, &v, 3 * block + 1)?;
                    strided(&v, &between)?;
                    step(Stage::Sign, &v, &u, 3 * block + 2)?;
                    strided(&u, &passes)?;
                    step(finish, &u, z_nd, 0)?;
                }
            }
        }
    }
    Ok(())
}
