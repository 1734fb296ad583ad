//! What a device can do at most: micro-kernels that only copy, or only multiply and add. Benchmarks
//! state every op as a share of these.

pub(crate) mod check;

use crate::ops::{
    Binding, Op, Variant,
    dispatch::{moved, narrow},
};
use crate::{
    Error, Result,
    device::{CpuDevice, Device, GpuDevice, Matrix, gpu::Dispatch},
    parallel,
    simd::Fused,
};
use pulp::{Simd, WithSimd};

/// The op for the registry: a copy.
pub(crate) static COPY: Op = Op {
    name: "ceiling_copy",
    source: bochner_shaders::CEILING_COPY,
    params_bytes: size_of::<CopyParams>(),
    bindings: &[Binding::Read("src"), Binding::Write("dst")],
    variants: || PER.map(copy_variant).into(),
};

/// The op for the registry: multiply and add.
pub(crate) static FMA: Op = Op {
    name: "ceiling_fma",
    source: bochner_shaders::CEILING_FMA,
    params_bytes: size_of::<FmaParams>(),
    bindings: &[Binding::Write("sums")],
    variants: || CHAINS.map(fma_variant).into(),
};

/// Vec4s that an invocation copies.
pub const PER: [usize; 2] = [1, 4];
/// Independent chains of vec4s in an invocation: few suit scalar units with many threads, many suit
/// vector units.
pub const CHAINS: [usize; 3] = [2, 4, 8];
/// Steps between two looks at the loop counter.
const UNROLL: usize = 16;
/// Invocations of a workgroup.
const WORKGROUP: usize = 256;

#[repr(C)]
#[derive(Clone, Copy, bytemuck::Pod, bytemuck::Zeroable)]
struct CopyParams {
    count4: u32,
}

/// What the elements of a vec4 are multiplied with.
const TURN: [f32; 4] = [0.11, 0.23, 0.37, 0.53];

#[repr(C)]
#[derive(Clone, Copy, bytemuck::Pod, bytemuck::Zeroable)]
struct FmaParams {
    turn: [f32; 4],
    back: [f32; 4],
    rounds: u32,
    /// The shader's struct is a whole number of vec4s.
    padding: [u32; 3],
}

fn copy_variant(per: usize) -> Variant {
    Variant::new([("PER", per as i64)])
}

fn fma_variant(chains: usize) -> Variant {
    Variant::new([("CHAINS", chains as i64), ("UNROLL", UNROLL as i64)])
}

/// `dst = src` where both lie: on all threads of the CPU, or recorded on a GPU with `per` of
/// [`PER`] vec4s an invocation. Errors unless both have one shape.
pub fn copy(src: &Matrix, dst: &mut Matrix, per: usize) -> Result<()> {
    if (src.rows(), src.cols()) != (dst.rows(), dst.cols()) {
        return Err(Error::shape("a copy is between equal shapes"));
    }
    let device = src.device().clone();
    let gpu = match &device {
        Device::Gpu(gpu) => gpu,
        Device::Cpu(cpu) => {
            copy_host(cpu, src.cpu("the source")?, dst.cpu_mut("the target")?);
            return Ok(());
        }
    };
    let params = CopyParams {
        count4: narrow(src.rows() * src.stride() / 4)?,
    };
    let groups = params.count4.div_ceil(narrow(WORKGROUP * per)?);
    let across = groups.min(32_768);
    gpu.dispatch(&Dispatch {
        op: &COPY,
        variant: copy_variant(per),
        params: bytemuck::bytes_of(&params),
        buffers: &[src.gpu(gpu, "the source")?, dst.gpu(gpu, "the target")?],
        workgroups: [across.max(1), groups.div_ceil(across.max(1)).max(1), 1],
        work: moved(dst),
    })
}

/// `dst = src` on a GPU without a shader: what the driver copies by. Errors unless both have one
/// shape.
pub(crate) fn copy_by_driver(gpu: &GpuDevice, src: &Matrix, dst: &mut Matrix) -> Result<()> {
    if (src.rows(), src.cols()) != (dst.rows(), dst.cols()) {
        return Err(Error::shape("a copy is between equal shapes"));
    }
    let bytes = 4 * (src.rows() * src.stride()) as u64;
    gpu.copy_buffer(
        src.gpu(gpu, "the source")?,
        dst.gpu(gpu, "the target")?,
        bytes,
    )
}

/// Records multiply-adds on a GPU, `chains` of [`CHAINS`] in each of `sums.rows() * 256`
/// invocations, and returns how many operations that are (two for a multiply-add). `sums` is
/// `[workgroups, 1024]`.
pub fn fma(gpu: &GpuDevice, sums: &mut Matrix, chains: usize, rounds: usize) -> Result<f64> {
    if sums.cols() != 4 * WORKGROUP {
        return Err(Error::shape(format!("sums are {WORKGROUP} vec4s a row")));
    }
    let params = FmaParams {
        turn: TURN,
        back: TURN.map(|turn| -turn),
        rounds: narrow(rounds)?,
        padding: [0; 3],
    };
    let work = (sums.rows() * WORKGROUP) as f64 * (8 * chains * UNROLL * rounds) as f64;
    gpu.dispatch(&Dispatch {
        op: &FMA,
        variant: fma_variant(chains),
        params: bytemuck::bytes_of(&params),
        buffers: &[sums.gpu(gpu, "the sums")?],
        workgroups: [narrow(sums.rows())?, 1, 1],
        work,
    })?;
    Ok(work)
}

/// What [`fma`] leaves in `sums`, in f64: rows and columns as there.
pub(crate) fn fma_reference(
    workgroups: usize,
    chains: usize,
    rounds: usize,
) -> ndarray::Array2<f64> {
    ndarray::Array2::from_shape_fn((workgroups, 4 * WORKGROUP), |(row, col)| {
        let (id, turn) = ((row * WORKGROUP + col / 4) & 1023, f64::from(TURN[col % 4]));
        let mut sum = 0.0;
        for chain in 0..chains {
            let (mut a, mut b) = (id as f64 / 1024.0 + chain as f64 / 8.0, turn);
            for _ in 0..rounds * UNROLL / 2 {
                a += b * turn;
                b -= a * turn;
            }
            sum += a + b;
        }
        sum
    })
}

/// `dst = src` on all threads of the CPU.
pub(crate) fn copy_host(cpu: &CpuDevice, src: &[f32], dst: &mut [f32]) {
    let part = dst.len().div_ceil(4 * cpu.threads()).max(1);
    cpu.install(|| {
        parallel::usual().pairs(dst, part, (src, part), &|dst, src| dst.copy_from_slice(src));
    });
}

/// Runs `work` once on every thread of the CPU and waits for all: with nothing to do, what waking
/// them costs.
pub(crate) fn on_every_thread(cpu: &CpuDevice, work: impl Fn() + Sync) {
    cpu.install(|| parallel::everywhere(&work));
}

/// Multiply-adds with the widest vectors of the CPU on every thread; returns how many operations
/// that are.
pub(crate) fn fma_host(cpu: &CpuDevice, rounds: usize) -> f64 {
    on_every_thread(cpu, || {
        std::hint::black_box(crate::instructions::arch().dispatch(HostFma { rounds }));
    });
    let lanes = crate::instructions::arch().dispatch(Lanes);
    cpu.threads() as f64 * (2 * lanes * HOST_CHAINS * rounds) as f64
}

/// Latency times issue width, with registers to spare on AVX2.
const HOST_CHAINS: usize = 12;

struct Lanes;

impl WithSimd for Lanes {
    type Output = usize;

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) -> usize {
        S::F32_LANES
    }
}

struct HostFma {
    rounds: usize,
}

impl WithSimd for HostFma {
    type Output = f32;

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> f32 {
        let scale = simd.splat_f32s(std::hint::black_box(0.999));
        let shift = simd.splat_f32s(std::hint::black_box(0.001));
        // Named, so that they stay in registers.
        // Each starts elsewhere: equal chains would be computed once for all.
        let start = std::hint::black_box([
            0.0_f32, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0, 1.1,
        ]);
        let [
            mut a,
            mut b,
            mut c,
            mut d,
            mut e,
            mut f,
            mut g,
            mut h,
            mut i,
            mut j,
            mut k,
            mut l,
        ] = start.map(|v| simd.splat_f32s(v));
        for _ in 0..self.rounds {
            a = simd.fused_f32s(a, scale, shift);
            b = simd.fused_f32s(b, scale, shift);
            c = simd.fused_f32s(c, scale, shift);
            d = simd.fused_f32s(d, scale, shift);
            e = simd.fused_f32s(e, scale, shift);
            f = simd.fused_f32s(f, scale, shift);
            g = simd.fused_f32s(g, scale, shift);
            h = simd.fused_f32s(h, scale, shift);
            i = simd.fused_f32s(i, scale, shift);
            j = simd.fused_f32s(j, scale, shift);
            k = simd.fused_f32s(k, scale, shift);
            l = simd.fused_f32s(l, scale, shift);
        }
        let mut sum = l;
        for acc in [a, b, c, d, e, f, g, h, i, j, k] {
            sum = simd.add_f32s(sum, acc);
        }
        simd.reduce_sum_f32s(sum)
    }
}
