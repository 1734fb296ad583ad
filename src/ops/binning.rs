//! Random binning: a 64-bit hash of the bin that each row occupies in each shifted grid (Rahimi &
//! Recht 2007, sec. 4).
//!
//! `bin = floor((x - u)/delta)` jumps at the edges of bins, so an error of one rounding is a wrong
//! feature. Devices may fuse or re-round floats; nothing here is a float, and CPU and GPU agree in
//! every bit:
//!
//! * `x` is taken to fixed point, `X = round(2^16 x) + 2^31`, from the bits of its f32: steps of
//!   1.5e-5 lengthscales over +-32,768 of them. What lies beyond falls to the ends of the range.
//! * the pitch is `R = 2^16 / delta`, rounded, and the shift a fraction `O` of a bin in units of
//!   2^-32, uniform;
//! * `bin = floor((X R + O) / 2^32)`: the high word of a sum that 64 bits hold exactly.
//!
//! The bins of one grid are hashed column by column by [`mix`], a permutation of 64 bits for every
//! bin: two bin vectors that differ in one column never collide, others with probability near
//! 2^-64.

use super::{Binding, Op};
use crate::{
    Error, Result,
    device::{
        CpuDevice, Device, GpuDevice, Matrix,
        gpu::{Dispatch, shader::Constants},
    },
    ops::dispatch::narrow,
};
use ndarray::{Array2, ArrayView2};
use rayon::prelude::*;

/// Rows that one invocation hashes.
const ROWS: u32 = 4;
/// Grids of one workgroup.
const THREADS: u32 = 64;
/// The hash before the first column, and what is mixed in after the last: digits of pi.
const START: [u32; 2] = [0x243f_6a88, 0x85a3_08d3];
const END: [u32; 2] = [0x1319_8a2e, 0x0370_7344];

/// The op for the registry.
pub static OP: Op = Op {
    name: "binning",
    source: include_str!("../../shaders/binning.wgsl"),
    params_bytes: size_of::<Params>(),
    bindings: &[
        Binding::Read("x"),
        Binding::Read("grid"),
        Binding::Write("hash"),
    ],
    variants: || vec![variant()],
};

fn variant() -> (String, Constants) {
    ("64x4".into(), [("ROWS".into(), i64::from(ROWS))].into())
}

/// The uniform parameters, as in the shader.
#[repr(C)]
#[derive(Clone, Copy, bytemuck::Pod, bytemuck::Zeroable)]
struct Params {
    row0: u32,
    rows: u32,
    depth: u32,
    grids: u32,
    x_stride: u32,
    grid_stride2: u32,
    hash_stride2: u32,
}

/// Pitches and shifts of P grids over d columns.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Grids {
    /// `2^16 / delta`, rounded, at least 1; `[d, P]`.
    pub inverse_dp: Array2<u32>,
    /// The shift in units of 2^-32 bins, `[d, P]`.
    pub shift_dp: Array2<u32>,
}

impl Grids {
    /// The fixed-point inverse of a pitch: `round(2^16 / delta)`, kept within 1 and 2^32 - 1.
    pub fn inverse(pitch: f64) -> u32 {
        (65536.0 / pitch).round().clamp(1.0, f64::from(u32::MAX)) as u32
    }

    fn check(&self) -> Result<()> {
        if self.inverse_dp.dim() != self.shift_dp.dim() || self.inverse_dp.is_empty() {
            return Err(Error::shape(format!(
                "pitches of shape {:?} and shifts of {:?} make no grids",
                self.inverse_dp.dim(),
                self.shift_dp.dim()
            )));
        }
        Ok(())
    }
}

/// `round(2^16 x) + 2^31`, halves away from zero; beyond +-2^15 (and for what is not finite) the
/// end of the range.
#[inline(always)]
pub fn fixed(x: f32) -> u32 {
    let bits = x.to_bits();
    let exponent = (bits >> 23) & 255;
    let mantissa = (bits & 0x7f_ffff) | 0x80_0000;
    let size = match exponent {
        142.. => 0x7fff_ffff,
        134..142 => mantissa << (exponent - 134),
        110..134 => ((mantissa >> (133 - exponent)) + 1) >> 1,
        _ => 0,
    };
    if bits >> 31 == 1 {
        0x8000_0000 - size
    } else {
        0x8000_0000 + size
    }
}

/// The bin of a fixed-point value: the high word of `x * inverse + shift`, which 64 bits hold
/// exactly.
#[inline(always)]
pub fn bin(x: u32, inverse: u32, shift: u32) -> u32 {
    ((u64::from(x) * u64::from(inverse) + u64::from(shift)) >> 32) as u32
}

/// One step of the hash: multiply and xorshift, both halves of the state through each other.
#[inline(always)]
pub fn mix([a, b]: [u32; 2], word: u32) -> [u32; 2] {
    let a = (a ^ word).wrapping_mul(0x9e37_79b1);
    let a = a ^ (a >> 15);
    let b = (b ^ a).wrapping_mul(0x85eb_ca77);
    let b = b ^ (b >> 13);
    [a.wrapping_add(b), b]
}

/// The hash of one bin vector, low word first.
pub fn hash(bins: impl IntoIterator<Item = u32>) -> u64 {
    join(bins.into_iter().chain(END).fold(START, mix))
}

fn join([low, high]: [u32; 2]) -> u64 {
    u64::from(high) << 32 | u64::from(low)
}

/// The exact bins of one row in grid `g`, `[d]`, by the definition: in f64 up to the fixed-point
/// value, then in 128 bits.
pub fn reference_bins(grids: &Grids, x: ndarray::ArrayView1<'_, f32>, g: usize) -> Vec<u32> {
    let columns = x
        .iter()
        .zip(grids.inverse_dp.column(g))
        .zip(grids.shift_dp.column(g));
    columns
        .map(|((&x, &inverse), &shift)| {
            let limit = f64::from(0x7fff_ffff_u32);
            let fixed = (f64::from(x) * 65536.0).round().clamp(-limit, limit) as i128 + (1 << 31);
            ((fixed * i128::from(inverse) + i128::from(shift)) >> 32) as u32
        })
        .collect()
}

/// The hashes by the definition, `[rows, P]`.
pub fn reference(grids: &Grids, x_nd: ArrayView2<'_, f32>) -> Array2<u64> {
    Array2::from_shape_fn((x_nd.nrows(), grids.inverse_dp.ncols()), |(i, g)| {
        hash(reference_bins(grids, x_nd.row(i), g))
    })
}

/// Grids loaded on a device.
#[derive(Debug)]
pub struct Binning {
    device: Device,
    depth: usize,
    grids: usize,
    /// Pairs of inverse pitch and shift as bits, `[d, 2 P]`.
    grid: Matrix,
}

impl Binning {
    /// Uploads the grids. Errors when there are none, or more than the device's bindings hold.
    pub fn load(device: &Device, grids: &Grids) -> Result<Self> {
        grids.check()?;
        let (depth, count) = grids.inverse_dp.dim();
        let mut grid = Matrix::new(device, depth, 2 * count)?;
        let stride = grid.stride();
        grid.write_with(|out| {
            out.fill(0.0);
            let out: &mut [u32] = bytemuck::cast_slice_mut(out);
            let columns = grids
                .inverse_dp
                .rows()
                .into_iter()
                .zip(grids.shift_dp.rows());
            for (out, (inverse, shift)) in out.chunks_exact_mut(stride).zip(columns) {
                for (out, (&r, &o)) in out.chunks_exact_mut(2).zip(inverse.iter().zip(shift)) {
                    out.copy_from_slice(&[r, o]);
                }
            }
        })?;
        Ok(Self {
            device: device.clone(),
            depth,
            grids: count,
            grid,
        })
    }

    /// Number of grids, P.
    pub fn grids(&self) -> usize {
        self.grids
    }

    /// A matrix for the hashes of `rows` rows: `[rows, 2 P]`, of bits and not of floats, the low
    /// word of each hash first.
    pub fn output(&self, rows: usize) -> Result<Matrix> {
        Matrix::new(&self.device, rows, 2 * self.grids)
    }

    /// Writes the hashes of rows `row0 ..` of `x` `[rows, d]`, as many as `hash` (of
    /// [`Self::output`]) has. Errors with [`Error::Shape`] on other shapes and with
    /// [`Error::Device`] on a matrix of another device.
    pub fn run(&self, x_nd: &Matrix, row0: usize, hash: &mut Matrix) -> Result<()> {
        if x_nd.cols() != self.depth {
            return Err(Error::shape(format!(
                "rows have {} columns, the grids take {}",
                x_nd.cols(),
                self.depth
            )));
        }
        if hash.cols() != 2 * self.grids || row0 + hash.rows() > x_nd.rows() {
            return Err(Error::shape(format!(
                "hashes of {} x {} words do not hold rows {row0}.. of {} in {} grids",
                hash.rows(),
                hash.cols(),
                x_nd.rows(),
                self.grids
            )));
        }
        match &self.device {
            Device::Cpu(cpu) => self.run_cpu(cpu, x_nd, row0, hash),
            Device::Gpu(gpu) => self.run_gpu(gpu, x_nd, row0, hash),
        }
    }

    fn run_gpu(
        &self,
        gpu: &GpuDevice,
        x_nd: &Matrix,
        row0: usize,
        hash: &mut Matrix,
    ) -> Result<()> {
        let params = Params {
            row0: narrow(row0)?,
            rows: narrow(hash.rows())?,
            depth: narrow(self.depth)?,
            grids: narrow(self.grids)?,
            x_stride: narrow(x_nd.stride())?,
            grid_stride2: narrow(self.grid.stride() / 2)?,
            hash_stride2: narrow(hash.stride() / 2)?,
        };
        let (name, constants) = variant();
        gpu.dispatch(&Dispatch {
            op: &OP,
            variant: &name,
            constants: &constants,
            params: bytemuck::bytes_of(&params),
            buffers: &[
                x_nd.gpu(gpu, "x")?,
                self.grid.gpu(gpu, "the grids")?,
                hash.gpu(gpu, "the hashes")?,
            ],
            workgroups: [
                params.grids.div_ceil(THREADS),
                params.rows.div_ceil(ROWS),
                1,
            ],
            work: 20.0 * (hash.rows() * self.depth) as f64 * self.grids as f64,
        })
    }

    fn run_cpu(
        &self,
        cpu: &CpuDevice,
        x_nd: &Matrix,
        row0: usize,
        hash: &mut Matrix,
    ) -> Result<()> {
        let (depth, words) = (self.depth, 2 * self.grids);
        let x = &x_nd.cpu("x")?[row0 * depth..];
        let grid: &[[u32; 2]] = bytemuck::cast_slice(self.grid.cpu("the grids")?);
        let hash: &mut [u32] = bytemuck::cast_slice_mut(hash.cpu_mut("the hashes")?);
        cpu.install(|| {
            hash.par_chunks_mut(words)
                .zip(x.par_chunks(depth))
                .for_each_init(
                    || (vec![0; self.grids], vec![0; self.grids]),
                    |(a, b), (hash, x)| {
                        pulp::Arch::new().dispatch(|| hash_row(x, grid, a, b, hash));
                    },
                );
        });
        Ok(())
    }
}

/// One row in all grids: column by column, so that the grids of a column are neighbours in memory
/// and in vectors.
#[inline(always)]
fn hash_row(x: &[f32], grid: &[[u32; 2]], a: &mut [u32], b: &mut [u32], hash: &mut [u32]) {
    a.fill(START[0]);
    b.fill(START[1]);
    for (&x, grid) in x.iter().zip(grid.chunks_exact(a.len())) {
        let x = fixed(x);
        for ((a, b), &[inverse, shift]) in a.iter_mut().zip(&mut *b).zip(grid) {
            [*a, *b] = mix([*a, *b], bin(x, inverse, shift));
        }
    }
    for ((out, &mut a), &mut b) in hash.chunks_exact_mut(2).zip(a).zip(b) {
        out.copy_from_slice(&END.into_iter().fold([a, b], mix));
    }
}

/// The hashes in a matrix that [`Binning::run`] wrote, `[rows, P]`. On a GPU this waits for all
/// work recorded so far.
pub fn download(hash: &Matrix) -> Result<Array2<u64>> {
    let words = hash.download_as::<u32>()?;
    Ok(Array2::from_shape_fn(
        (words.nrows(), words.ncols() / 2),
        |(i, g)| join([words[[i, 2 * g]], words[[i, 2 * g + 1]]]),
    ))
}
