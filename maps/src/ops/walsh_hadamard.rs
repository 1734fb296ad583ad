//! The Walsh-Hadamard transform of rows: `y = H x`, unnormalised, `H[i][j] = (-1)^popcount(i & j)`.

pub(crate) mod check;
mod cpu;
mod exchange;
mod gpu;
mod layout;
mod menu;

pub(crate) use cpu::transform;
pub(crate) use exchange::SUBGROUP_OP;
pub(super) use gpu::{LOG_STRIDED, LOG_WHOLE, log_most, log_whole};
pub(crate) use gpu::{OP, forms};
pub(super) use layout::{RowLayout, columns, of_both, strided_invocations};
pub(crate) use menu::MENU;

use super::dispatch::narrow;
use crate::{
    Error, Result,
    device::{Device, Matrix},
    form::{Exchange, Way},
};
use ndarray::{Array2, ArrayView2};

/// `H x` for each row, in f64 by the definition's recursion. Rows must be a power of two long.
pub fn reference(x_nd: ArrayView2<'_, f32>) -> Array2<f64> {
    let mut y = x_nd.mapv(f64::from);
    let n = y.ncols();
    for mut row in y.rows_mut() {
        let mut h = 1;
        while h < n {
            for i in (0..n).filter(|i| i & h == 0) {
                let (a, b) = (row[i], row[i + h]);
                row[i] = a + b;
                row[i + h] = a - b;
            }
            h *= 2;
        }
    }
    y
}

/// Transforms rows of one length, a power of two: `y = H x`, unnormalised, so that H H = n I.
///
/// Errors of an entry stay below `4 log2(n) 2^-24` of the Euclidean norm of its row of x.
///
/// ```
/// use bochner::{Device, Matrix, ops::walsh_hadamard::WalshHadamard};
/// use ndarray::array;
/// let transform = WalshHadamard::new(4)?;
/// let mut x_nd = Matrix::upload(&Device::cpu(), array![[1.0, 2.0, 3.0, 4.0]].view())?;
/// transform.run(&mut x_nd)?;
/// assert_eq!(x_nd.download()?, array![[10.0, -2.0, -4.0, 0.0]]);
/// # Ok::<(), bochner::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WalshHadamard {
    log_n: u32,
    exchange: Option<Exchange>,
}

impl WalshHadamard {
    /// For rows of `n` elements. Errors with [`Error::Parameter`] unless `n` is a power of two, at
    /// least 2.
    pub fn new(n: usize) -> Result<Self> {
        if n >= 2 && n.is_power_of_two() {
            let log_n = n.trailing_zeros();
            return Ok(Self {
                log_n,
                exchange: None,
            });
        }
        Err(Error::parameter(format!(
            "a Walsh-Hadamard transform of {n} elements does not exist; pad rows with zeros to {}",
            n.max(2).next_power_of_two()
        )))
    }

    /// Takes this exchange on a GPU instead of the one that suits it best, for rows that have the
    /// choice ([`Self::has_choice`]). Transforms then err with [`Error::Unsupported`] where the
    /// adapter cannot.
    pub fn with_exchange(self, exchange: Exchange) -> Self {
        Self {
            exchange: Some(exchange),
            ..self
        }
    }

    /// Whether there is a choice of exchanges for rows of this length: shorter ones are too few
    /// values to share, longer ones too many registers.
    pub fn has_choice(&self) -> bool {
        exchange::LENGTHS.contains(&self.log_n)
    }

    /// The exchange for so many rows on a device; `None` where there is no choice.
    pub fn exchange(&self, device: &Device, rows: usize) -> Option<Exchange> {
        match device {
            Device::Gpu(gpu) if self.has_choice() => {
                let own = || MENU.choice(gpu, menu::shape(rows, self.len()));
                Some(self.exchange.unwrap_or_else(own))
            }
            _ => None,
        }
    }

    /// All exchanges that there are for such rows on a device; none where there is no choice.
    pub(crate) fn exchanges(&self, device: &Device) -> Vec<Exchange> {
        let all = Exchange::ALL.iter().copied();
        match device {
            Device::Gpu(gpu) if self.has_choice() => {
                all.filter(|exchange| exchange.check(gpu).is_ok()).collect()
            }
            _ => Vec::new(),
        }
    }

    /// The length of a row.
    pub fn len(&self) -> usize {
        1 << self.log_n
    }

    /// How often a device reads and writes each element; of the CPU nobody asks.
    pub(crate) fn passes(&self, device: &Device) -> u32 {
        match device {
            Device::Gpu(gpu) if !self.is_whole(gpu) => 1 + self.strided_passes().count() as u32,
            _ => 1,
        }
    }

    /// Always false: a row has at least two elements.
    pub fn is_empty(&self) -> bool {
        false
    }

    /// Transforms each row of `x`, shape `[rows, n]`, where it stands. Errors with [`Error::Shape`]
    /// on another width.
    pub fn run(&self, x_nd: &mut Matrix) -> Result<()> {
        self.check(x_nd)?;
        match x_nd.device().clone() {
            Device::Cpu(cpu) => cpu::run(&cpu, self.len(), x_nd.cpu_mut("x")?),
            Device::Gpu(gpu) => {
                // Nothing is read through the other binding, which may not be the same buffer.
                let unused = gpu.buffer(16, || "a placeholder".into())?;
                let stride4 = narrow(x_nd.stride() / 4)?;
                self.run_gpu(&gpu, true, &unused, stride4, x_nd)?;
            }
        }
        Ok(())
    }

    /// Writes `y = H x` for each row, both of shape `[rows, n]` on one device. Errors with
    /// [`Error::Shape`] on other shapes.
    pub fn run_into(&self, x_nd: &Matrix, y_nd: &mut Matrix) -> Result<()> {
        self.check(x_nd)?;
        self.check(y_nd)?;
        if x_nd.rows() != y_nd.rows() {
            return Err(Error::shape(format!(
                "{} rows cannot be transformed into {}",
                x_nd.rows(),
                y_nd.rows()
            )));
        }
        match y_nd.device().clone() {
            Device::Cpu(cpu) => {
                let y = y_nd.cpu_mut("y")?;
                y.copy_from_slice(x_nd.cpu("x")?);
                cpu::run(&cpu, self.len(), y);
            }
            Device::Gpu(gpu) => {
                let stride4 = narrow(x_nd.stride() / 4)?;
                self.run_gpu(&gpu, false, x_nd.gpu(&gpu, "x")?, stride4, y_nd)?;
            }
        }
        Ok(())
    }

    /// Transforms rows that lie one after another in host memory, where they stand, on the calling
    /// thread. Errors with [`Error::Shape`] unless `rows` holds whole rows.
    pub fn run_slice(&self, rows: &mut [f32]) -> Result<()> {
        if !rows.len().is_multiple_of(self.len()) {
            return Err(Error::shape(format!(
                "{} floats are no whole rows of {}",
                rows.len(),
                self.len()
            )));
        }
        cpu::rows(rows, self.len());
        Ok(())
    }

    fn check(&self, m: &Matrix) -> Result<()> {
        if m.cols() == self.len() {
            return Ok(());
        }
        Err(Error::shape(format!(
            "rows have {} columns, the transform takes {}",
            m.cols(),
            self.len()
        )))
    }
}
