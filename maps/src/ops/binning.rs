//! Random binning: a 64-bit hash of the bin that each row occupies in each shifted grid (Rahimi &
//! Recht 2007, sec. 4).
//!
//! `bin = floor((x - u)/delta)` jumps at the edges of bins, so an error of one rounding is a wrong
//! feature. Devices may fuse or re-round floats; nothing here is a float, and CPU and GPU agree in
//! every bit:
//!
//! * `x` is taken to fixed point, `X = round(2^16 x) + 2^31`, from the bits of its f32: steps of
//!   1.5e-5 lengthscales over
//!   +-32,768 of them. What lies beyond falls to the ends of the range.
//! * the pitch is `R = 2^16 / delta`, rounded, and the shift a fraction `O` of a bin in units of
//!   2^-32, uniform;
//! * `bin = floor((X R + O) / 2^32)`: the high word of a sum that 64 bits hold exactly.
//!
//! The bins of one grid are hashed column by column by [`mix`], a permutation of 64 bits for every
//! bin: two bin vectors that differ in one column never collide, others with probability near
//! 2^-64.

#[doc(hidden)]
pub mod check;
mod cpu;
mod gpu;

pub(crate) use gpu::OP;

use super::Loaded;
use crate::{
    Error, Result,
    device::{Device, Matrix},
};
use ndarray::{Array2, ArrayView2};

/// The hash before the first column, and what is mixed in after the last: digits of pi.
const START: [u32; 2] = [0x243f_6a88, 0x85a3_08d3];
const END: [u32; 2] = [0x1319_8a2e, 0x0370_7344];

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
    // By the bits of x and not by arithmetic in f32, whose rounding GPUs may choose. The mantissa
    // with its hidden one is x 2^(150 - exponent), so 2^16 x is the mantissa shifted left by
    // exponent - 134.
    let bits = x.to_bits();
    let exponent = (bits >> 23) & 255;
    let mantissa = (bits & 0x7f_ffff) | 0x80_0000;
    let size = match exponent {
        // |x| >= 2^15, infinities and NaN.
        142.. => 0x7fff_ffff,
        134..142 => mantissa << (exponent - 134),
        // One place less far to the right, plus one, and the last place: rounded half up.
        110..134 => ((mantissa >> (133 - exponent)) + 1) >> 1,
        // Below 2^-17, half a unit.
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
pub(crate) fn reference_bins(grids: &Grids, x: ndarray::ArrayView1<'_, f32>, g: usize) -> Vec<u32> {
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
pub struct GridHash {
    device: Device,
    depth: usize,
    grids: usize,
    loaded: Loaded<cpu::Table, gpu::Table>,
}

impl GridHash {
    /// Uploads the grids. Errors when there are none, or more than the device's bindings hold.
    pub fn load(device: &Device, grids: &Grids) -> Result<Self> {
        grids.check()?;
        let (depth, count) = grids.inverse_dp.dim();
        Ok(Self {
            device: device.clone(),
            depth,
            grids: count,
            loaded: match device {
                Device::Cpu(cpu) => Loaded::Cpu(cpu::Table::new(cpu, grids)),
                Device::Gpu(gpu) => Loaded::Gpu(gpu::Table::upload(gpu, grids)?),
            },
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
        match &self.loaded {
            Loaded::Cpu(table) => table.run(x_nd, row0, hash),
            Loaded::Gpu(table) => table.run(x_nd, row0, hash),
        }
    }
}

/// The hashes in a matrix that [`GridHash::run`] wrote, `[rows, P]`. On a GPU this waits for all
/// work recorded so far.
pub fn download(hash: &Matrix) -> Result<Array2<u64>> {
    let words = hash.download_as::<u32>()?;
    Ok(Array2::from_shape_fn(
        (words.nrows(), words.ncols() / 2),
        |(i, g)| join([words[[i, 2 * g]], words[[i, 2 * g + 1]]]),
    ))
}
