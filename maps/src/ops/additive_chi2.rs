//! Features of the additive chi-squared kernel: its spectrum, sampled evenly (Vedaldi & Zisserman
//! 2012, eq. 8).
//!
//! `k(x, y) = sqrt(x y) sech(ln(y / x) / 2)` in each column, and sech(D / 2) is the transform of
//! sech(pi w): samples at 0, L, 2 L, ... give `sqrt(x L)`, then for each j the pair
//! `sqrt(2 x L sech(pi j L))` times the cosine and the sine of `j L ln x`.

pub(crate) mod check;
mod cpu;
mod gpu;

pub(crate) use gpu::OP;

use crate::{
    Error, Result,
    device::{Device, Matrix},
};
use ndarray::{Array2, ArrayView2};
use std::f64::consts::{PI, TAU};

/// The samples of the spectrum.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Samples {
    /// How many, that at 0 among them: `2 count - 1` features of a column.
    pub count: usize,
    /// L, from one to the next.
    pub interval: f64,
}

impl Samples {
    /// Features of one column.
    pub fn outputs(&self) -> usize {
        2 * self.count - 1
    }

    /// What `sqrt(x)` is multiplied by for sample `j`.
    #[doc(hidden)]
    pub fn amplitude(&self, j: usize) -> f64 {
        let both = if j == 0 { 1.0 } else { 2.0 };
        (both * self.interval / libm::cosh(PI * j as f64 * self.interval)).sqrt()
    }

    /// Turns of sample `j` for each unit of `ln x`.
    #[doc(hidden)]
    pub fn turns(&self, j: usize) -> f64 {
        j as f64 * self.interval / TAU
    }

    /// Amplitudes and turns, two numbers a sample.
    fn table(&self) -> Vec<f32> {
        let pair = |j| [self.amplitude(j) as f32, self.turns(j) as f32];
        (0..self.count).flat_map(pair).collect()
    }
}

/// The features in f64, `[rows, d (2 count - 1)]`: `sqrt(x L)` of all columns, then for each sample
/// the cosines of all columns and the sines of all columns.
pub fn reference<T: Copy + Into<f64>>(samples: Samples, x_nd: ArrayView2<'_, T>) -> Array2<f64> {
    let (n, d) = x_nd.dim();
    Array2::from_shape_fn((n, d * samples.outputs()), |(i, at)| {
        let x: f64 = x_nd[[i, at % d]].into();
        let block = at / d;
        let j = block.div_ceil(2);
        if x == 0.0 {
            return 0.0;
        }
        let angle = TAU * samples.turns(j) * x.ln();
        let wave = if block % 2 == 1 || j == 0 {
            angle.cos()
        } else {
            angle.sin()
        };
        samples.amplitude(j) * x.sqrt() * wave
    })
}

/// Writes the features of `x`, `[rows, d]` with no number below 0, to `z`,
/// `[rows, d (2 count - 1)]`, on one device: see [`reference()`].
///
/// ```
/// use bochner::{Device, Matrix, ops::additive_chi2::{Samples, additive_chi2}};
/// let device = Device::cpu();
/// let samples = Samples { count: 2, interval: 0.5 };
/// let x_nd = Matrix::upload(&device, ndarray::array![[1.0]].view())?;
/// let mut z_nd = Matrix::new(&device, 1, 3)?;
/// additive_chi2(samples, &x_nd, &mut z_nd)?;
/// let z = z_nd.download()?;
/// assert!((z[[0, 0]] - 0.5_f32.sqrt()).abs() < 1e-6 && z[[0, 2]] == 0.0);
/// # Ok::<(), bochner::Error>(())
/// ```
///
/// # Errors
/// [`Error::Shape`] on shapes that do not fit, [`Error::Parameter`] on samples that are none,
/// [`Error::Device`] on matrices of several devices.
pub fn additive_chi2(samples: Samples, x_nd: &Matrix, z_nd: &mut Matrix) -> Result<()> {
    if samples.count == 0 || !(samples.interval > 0.0 && samples.interval.is_finite()) {
        return Err(Error::parameter(format!(
            "{} samples at intervals of {} are none; use one or more, and a positive interval",
            samples.count, samples.interval
        )));
    }
    let (rows, d) = (x_nd.rows(), x_nd.cols());
    if (z_nd.rows(), z_nd.cols()) != (rows, d * samples.outputs()) {
        return Err(Error::shape(format!(
            "z is {} x {}, the features are {rows} x {}",
            z_nd.rows(),
            z_nd.cols(),
            d * samples.outputs()
        )));
    }
    if rows == 0 || d == 0 {
        return Ok(());
    }
    match x_nd.device() {
        Device::Cpu(cpu) => {
            let z_nd = z_nd.cpu_mut("z")?;
            cpu::run(cpu, samples, x_nd.cpu("x")?, d, z_nd);
            Ok(())
        }
        Device::Gpu(gpu) => gpu::run(gpu, samples, x_nd, z_nd),
    }
}

/// As [`additive_chi2`] on the CPU, to memory of the caller. `false` on a GPU.
pub(crate) fn additive_chi2_to(samples: Samples, x_nd: &Matrix, z_nd: &mut [f32]) -> Result<bool> {
    let Device::Cpu(cpu) = x_nd.device() else {
        return Ok(false);
    };
    let (rows, d) = (x_nd.rows(), x_nd.cols());
    if z_nd.len() != rows * d * samples.outputs() {
        return Err(Error::shape(format!(
            "z has room for {} values, the features are {rows} x {}",
            z_nd.len(),
            d * samples.outputs()
        )));
    }
    if d > 0 {
        cpu::run(cpu, samples, x_nd.cpu("x")?, d, z_nd);
    }
    Ok(true)
}
