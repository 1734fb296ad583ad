//! Structured maps on a GPU: one dispatch where rows fit workgroup memory, else steps with
//! Walsh-Hadamard passes between.

mod long;

pub(crate) use long::{STAGE_OP, stage_forms};

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
        walsh_hadamard::{RowLayout, WalshHadamard, log_most, log_whole, of_both},
    },
};

/// The fused op for the registry.
pub(crate) static OP: Op = Op {
    name: "structured",
    source: bochner_shaders::STRUCTURED,
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

fn variant(log_n: u32, kind: i64, form: i64, registers: Registers) -> Variant {
    let layout = RowLayout::new(log_n, registers).variant();
    layout
        .with_constant("KIND", kind)
        .with_constant("FORM", form)
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
        return long::run(map, tables, x_nd, row0, z_nd);
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
