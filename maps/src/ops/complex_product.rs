//! Products of complex numbers, frequency by frequency: what joins the factors of a tensor sketch.
//!
//! A factor is the discrete Fourier transform of s real numbers, as s real numbers: the real parts
//! of frequencies `0 ..= s/2`, then the imaginary parts of those between 0 and s/2. The product of
//! transforms is the transform of the circular convolution.

pub(crate) mod check;
mod cpu;
mod gpu;

pub(crate) use gpu::OP;

use crate::{
    Error, Result,
    device::{Device, Matrix},
};
use ndarray::{Array2, ArrayView2, s};

/// Real parts of a transform of `s` numbers; the others are imaginary.
#[doc(hidden)]
pub fn real_parts(s: usize) -> usize {
    s / 2 + 1
}

/// The product in f64: of rows `[rows, factors * s]`, one factor after the other, as `[rows, s]`.
pub fn reference<T: Copy + Into<f64>>(t_nf: ArrayView2<'_, T>, factors: usize) -> Array2<f64> {
    let s = t_nf.ncols() / factors;
    let real = real_parts(s);
    let mut z = t_nf.slice(s![.., ..s]).mapv(Into::into);
    for k in 1..factors {
        let t = t_nf.slice(s![.., k * s..(k + 1) * s]).mapv(Into::into);
        for (mut z, t) in z.rows_mut().into_iter().zip(t.rows()) {
            for f in 0..real {
                // Frequencies 0 and s/2 are real.
                let j = (1..s - real + 1).contains(&f).then(|| real + f - 1);
                let part = |v: &dyn Fn(usize) -> f64| (v(f), j.map_or(0.0, v));
                let (a, b) = part(&|i| z[i]);
                let (c, d) = part(&|i| t[i]);
                z[f] = a * c - b * d;
                if let Some(j) = j {
                    z[j] = a * d + b * c;
                }
            }
        }
    }
    z
}

/// Writes the product of `factors` transforms, `[rows, factors * s]`, to `z`, `[rows, s]`, all on
/// one device.
///
/// ```
/// use bochner::{Device, Matrix, ops::complex_product::complex_product};
/// use ndarray::array;
/// let device = Device::cpu();
/// // 1 and 2 + i, times 3 and i.
/// let t_nf = Matrix::upload(&device, array![[1.0, 2.0, 1.0, 3.0, 0.0, 1.0]].view())?;
/// let mut z_ns = Matrix::new(&device, 1, 3)?;
/// complex_product(&t_nf, 2, &mut z_ns)?;
/// assert_eq!(z_ns.download()?, array![[3.0, -1.0, 2.0]]);
/// # Ok::<(), bochner::Error>(())
/// ```
///
/// # Errors
/// [`Error::Shape`] on shapes that do not fit, [`Error::Device`] on matrices of several devices.
pub fn complex_product(t_nf: &Matrix, factors: usize, z_ns: &mut Matrix) -> Result<()> {
    let (rows, s) = (z_ns.rows(), z_ns.cols());
    if factors == 0 || (t_nf.rows(), t_nf.cols()) != (rows, factors * s) {
        return Err(Error::shape(format!(
            "{factors} factors in {} x {} have no product of {rows} x {s}",
            t_nf.rows(),
            t_nf.cols()
        )));
    }
    if rows == 0 || s == 0 {
        return Ok(());
    }
    match z_ns.device().clone() {
        Device::Cpu(cpu) => {
            let z_ns = z_ns.cpu_mut("the product")?;
            cpu::run(&cpu, t_nf.cpu("the factors")?, factors, s, z_ns);
            Ok(())
        }
        Device::Gpu(gpu) => gpu::run(&gpu, t_nf, factors, z_ns),
    }
}

/// As [`complex_product`] on the CPU, of rows in memory: `rows * factors * s` numbers to
/// `rows * s`.
pub(crate) fn complex_product_to(
    device: &Device,
    t_nf: &[f32],
    (factors, s): (usize, usize),
    z_ns: &mut [f32],
) -> Result<()> {
    let Device::Cpu(cpu) = device else {
        return Err(Error::device("a product in memory is the CPU's"));
    };
    if t_nf.len() != factors * z_ns.len() || s == 0 || !z_ns.len().is_multiple_of(s) {
        return Err(Error::shape(format!(
            "{factors} factors of {s} in {} numbers have no product of {}",
            t_nf.len(),
            z_ns.len()
        )));
    }
    cpu::run(cpu, t_nf, factors, s, z_ns);
    Ok(())
}
