//! The Walsh-Hadamard transform of rows: `y = H x`, unnormalised, `H[i][j] = (-1)^popcount(i & j)`.

mod cpu;
mod exchange;
mod layout;

pub(crate) use cpu::transform;
pub use exchange::{Exchange, SUBGROUP_OP};
pub(super) use layout::RowLayout;

use super::{
    Binding, Op,
    dispatch::{fold, moved, narrow},
};
use crate::{
    Error, Result,
    device::{CpuDevice, Device, GpuDevice, Matrix, gpu::Dispatch, gpu::shader::Constants},
    form::tuning::{self, Class, TunedOp},
};
use layout::{strided_variant, whole_variant};
use ndarray::{Array2, ArrayView2};
use pulp::{Simd, WithSimd};
use rayon::prelude::*;

/// The op for the registry.
pub static OP: Op = Op {
    name: "walsh_hadamard",
    source: include_str!("../../shaders/walsh_hadamard.wgsl"),
    params_bytes: size_of::<Params>(),
    bindings: &[Binding::Read("x"), Binding::Write("y")],
    variants: || {
        let whole = (1..=LOG_WHOLE).flat_map(|k| [false, true].map(|p| whole_variant(k, p)));
        whole
            .chain((1..=LOG_STRIDED).map(strided_variant))
            .collect()
    },
};

/// Rows up to 2^12 fit workgroup memory and take one dispatch.
pub(super) const LOG_WHOLE: u32 = 12;
/// A pass over longer rows takes at most this many levels.
pub(super) const LOG_STRIDED: u32 = 5;

/// The uniform parameters, as in the shader.
#[repr(C)]
#[derive(Clone, Copy, bytemuck::Pod, bytemuck::Zeroable)]
struct Params {
    rows: u32,
    x_stride4: u32,
    y_stride4: u32,
    row4: u32,
    inner4: u32,
}

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
    /// choice ([`Exchange::serves`]). Transforms then err with [`Error::Unsupported`] where the
    /// adapter cannot.
    pub fn with_exchange(self, exchange: Exchange) -> Self {
        Self {
            exchange: Some(exchange),
            ..self
        }
    }

    /// The exchange for so many rows on a device; `None` where there is no choice.
    pub fn exchange(&self, device: &Device, rows: usize) -> Option<Exchange> {
        match device {
            Device::Gpu(gpu) if Exchange::serves(self.len()) => {
                let tuned = || tuning::exchange(gpu, self.class(rows));
                Some(self.exchange.unwrap_or_else(tuned))
            }
            _ => None,
        }
    }

    fn class(&self, rows: usize) -> Class {
        Class::of(TunedOp::Transform, rows, self.len(), self.len())
    }

    /// The length of a row.
    pub fn len(&self) -> usize {
        1 << self.log_n
    }

    /// How often a GPU reads and writes each element.
    pub(crate) fn passes(&self) -> u32 {
        1 + self.strided_passes().count() as u32
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
            Device::Cpu(cpu) => self.rows_on(&cpu, x_nd.cpu_mut("x")?),
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
                self.rows_on(&cpu, y);
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
        pulp::Arch::new().dispatch(Rows {
            rows,
            n: self.len(),
        });
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

    fn rows_on(&self, cpu: &CpuDevice, rows: &mut [f32]) {
        let n = self.len();
        // Tasks of at least 64 KiB, whole rows.
        let task = n * (16_384 / n).max(1);
        cpu.install(|| {
            rows.par_chunks_mut(task)
                .for_each(|rows| pulp::Arch::new().dispatch(Rows { rows, n }));
        });
    }

    pub(super) fn run_gpu(
        &self,
        gpu: &GpuDevice,
        in_place: bool,
        x: &wgpu::Buffer,
        x_stride4: u32,
        y_nd: &Matrix,
    ) -> Result<()> {
        let rows = narrow(y_nd.rows())?;
        if rows == 0 {
            return Ok(());
        }
        let whole = self.log_n.min(LOG_WHOLE);
        let parts = 1 << (self.log_n - whole);
        // A row longer than one dispatch takes is as many short rows first.
        let params = Params {
            rows: narrow(y_nd.rows() * parts)?,
            x_stride4: if parts > 1 {
                1 << (whole - 2)
            } else {
                x_stride4
            },
            y_stride4: narrow(y_nd.stride() / parts / 4)?.max(1),
            row4: 0,
            inner4: 0,
        };
        let buffers = [x, y_nd.gpu(gpu, "y")?];
        let (op, (name, constants)) = self.variant(gpu, in_place, y_nd)?;
        let rows_each = u32::try_from(constants["ROWS"]).unwrap_or(1);
        gpu.dispatch(&Dispatch {
            op,
            variant: &name,
            constants: &constants,
            params: bytemuck::bytes_of(&params),
            buffers: &buffers,
            workgroups: fold(params.rows.div_ceil(rows_each)),
            work: moved(y_nd),
        })?;
        self.strided_passes()
            .try_for_each(|pass| self.strided(gpu, pass, y_nd))
    }

    /// What transforms the rows of y, or parts of them, in one dispatch. Counts the work towards
    /// tuning where that has a choice.
    fn variant(
        &self,
        gpu: &GpuDevice,
        in_place: bool,
        y_nd: &Matrix,
    ) -> Result<(&'static Op, (String, Constants))> {
        if self.exchange.is_none() && Exchange::serves(self.len()) {
            tuning::worked(gpu, self.class(y_nd.rows()), moved(y_nd))?;
        }
        let exchange = self.exchange(y_nd.device(), y_nd.rows());
        if let Some(exchange) = exchange {
            exchange.check(gpu)?;
        }
        Ok(match (exchange, gpu.subgroup()) {
            (Some(Exchange::SubgroupShuffles), Some(size)) => (
                &SUBGROUP_OP,
                exchange::subgroup_variant(size, self.log_n, in_place),
            ),
            _ => (&OP, whole_variant(self.log_n.min(LOG_WHOLE), in_place)),
        })
    }

    /// The passes after the one over parts of 2^12: levels done before, and levels of the pass.
    pub(super) fn strided_passes(&self) -> impl Iterator<Item = (u32, u32)> + use<> {
        let (log_n, mut done) = (self.log_n, self.log_n.min(LOG_WHOLE));
        let passes = (log_n - done).div_ceil(LOG_STRIDED);
        (0..passes).map(move |i| {
            let levels = (log_n - done).div_ceil(passes - i);
            done += levels;
            (done - levels, levels)
        })
    }

    /// One of [`Self::strided_passes`], in place.
    pub(super) fn strided(
        &self,
        gpu: &GpuDevice,
        (done, levels): (u32, u32),
        y_nd: &Matrix,
    ) -> Result<()> {
        let row4: u32 = 1 << (self.log_n - 2);
        let params = Params {
            rows: narrow(y_nd.rows())?,
            x_stride4: 0,
            y_stride4: row4,
            row4,
            inner4: 1 << (done - 2),
        };
        let (name, constants) = strided_variant(levels);
        let unused = gpu.buffer(16, || "a placeholder".into())?;
        gpu.dispatch(&Dispatch {
            op: &OP,
            variant: &name,
            constants: &constants,
            params: bytemuck::bytes_of(&params),
            buffers: &[&unused, y_nd.gpu(gpu, "y")?],
            workgroups: [(row4 >> levels).div_ceil(64), params.rows, 1],
            work: moved(y_nd),
        })
    }
}

/// Rows one after another, under run-time dispatch. A struct rather than a closure: a closure is
/// called from every instruction set's wrapper and then not inlined into any.
struct Rows<'a> {
    rows: &'a mut [f32],
    n: usize,
}

impl WithSimd for Rows<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        for row in self.rows.chunks_exact_mut(self.n) {
            transform(simd, row);
        }
    }
}
