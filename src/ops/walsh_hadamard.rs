//! The Walsh-Hadamard transform of rows: `y = H x`, unnormalised, `H[i][j] = (-1)^popcount(i & j)`.

mod cpu;

pub(crate) use cpu::transform;

use super::{Binding, Op, projection::narrow};
use crate::{
    Error, Result,
    device::{CpuDevice, Device, GpuDevice, Matrix, gpu::Dispatch, gpu::shader::Constants},
};
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

/// How a whole row of 2^k elements lies in registers: see `shaders/shared/row_layout.wgsl`.
#[derive(Debug, Clone, Copy)]
pub(super) struct RowLayout {
    log_n: u32,
    log_e: u32,
    /// Rows of a workgroup: at most 16 KiB and 256 invocations, 64 invocations where rows are short.
    pub(super) rows: u32,
}

impl RowLayout {
    pub(super) fn new(log_n: u32) -> Self {
        // One exchange joins two halves of the levels.
        let log_e = log_n.min(4).max(log_n.div_ceil(2));
        let invocations = 1 << (log_n - log_e);
        Self {
            log_n,
            log_e,
            rows: (4096 >> log_n).min(128 / invocations),
        }
    }

    pub(super) fn constants(self) -> Constants {
        let pairs = [
            ("LOG_N", self.log_n),
            ("LOG_E", self.log_e),
            ("ROWS", self.rows),
        ];
        let pairs = pairs.map(|(name, value)| (name.to_owned(), i64::from(value)));
        pairs.into_iter().collect()
    }

    /// Where the exchange in workgroup memory holds element `i` of a row.
    pub(super) fn address(self, i: u32) -> u32 {
        let invocations = 1 << (self.log_n - self.log_e);
        let low = 8.min(1 << self.log_n);
        let (l, s, h) = (i % low, i / low % invocations, i / (low * invocations));
        let q = l + low * h;
        invocations * q + (s ^ (q % invocations))
    }
}

/// Rows of 2^4 to 2^10 elements are moved in vec4s: longer ones would take more registers than some GPUs have, shorter ones
/// are less than one invocation's.
const QUADS: std::ops::RangeInclusive<u32> = 4..=10;

/// Constants of a dispatch on whole rows, ROWS of them in a workgroup.
fn whole_constants(log_n: u32) -> Constants {
    if !QUADS.contains(&log_n) {
        let mut constants = RowLayout::new(log_n).constants();
        constants.insert("QUADS".into(), 0);
        return constants;
    }
    // One exchange joins two halves of the levels between vec4s; four vec4s need none.
    let log_q = log_n - 2;
    let log_e = log_q.min(2).max(log_q.div_ceil(2));
    let invocations = 1 << (log_q - log_e);
    // 16 KiB of workgroup memory, 128 invocations.
    let rows = (4096 >> log_n).min(128 / invocations);
    let pairs = [
        ("QUADS", 1),
        ("LOG_N", log_n),
        ("LOG_E", log_e),
        ("ROWS", rows),
    ];
    let pairs = pairs.map(|(name, value)| (name.to_owned(), i64::from(value)));
    pairs.into_iter().collect()
}

fn whole_variant(log_n: u32, in_place: bool) -> (String, Constants) {
    let mut constants = whole_constants(log_n);
    constants.insert("STRIDED".into(), 0);
    constants.insert("IN_PLACE".into(), in_place.into());
    let way = if in_place { "in-place" } else { "copy" };
    (format!("2^{log_n}/{way}"), constants)
}

fn strided_variant(levels: u32) -> (String, Constants) {
    let pairs = [
        ("STRIDED", 1),
        ("QUADS", 0),
        ("IN_PLACE", 1),
        ("LOG_N", levels.into()),
        ("LOG_E", levels.into()),
        ("ROWS", 1),
    ];
    let constants = pairs.map(|(name, value): (_, i64)| (name.to_owned(), value));
    (
        format!("strided-2^{levels}"),
        constants.into_iter().collect(),
    )
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
}

impl WalshHadamard {
    /// For rows of `n` elements. Errors with [`Error::Parameter`] unless `n` is a power of two, at least 2.
    pub fn new(n: usize) -> Result<Self> {
        if n >= 2 && n.is_power_of_two() {
            let log_n = n.trailing_zeros();
            return Ok(Self { log_n });
        }
        Err(Error::Parameter(format!(
            "a Walsh-Hadamard transform of {n} elements does not exist; pad rows with zeros to {}",
            n.max(2).next_power_of_two()
        )))
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

    /// Transforms each row of `x`, shape `[rows, n]`, where it stands. Errors with [`Error::Shape`] on another width.
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

    /// Writes `y = H x` for each row, both of shape `[rows, n]` on one device. Errors with [`Error::Shape`] on other shapes.
    pub fn run_into(&self, x_nd: &Matrix, y_nd: &mut Matrix) -> Result<()> {
        self.check(x_nd)?;
        self.check(y_nd)?;
        if x_nd.rows() != y_nd.rows() {
            return Err(Error::Shape(format!(
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

    /// Transforms rows that lie one after another in host memory, where they stand, on the calling thread.
    /// Errors with [`Error::Shape`] unless `rows` holds whole rows.
    pub fn run_slice(&self, rows: &mut [f32]) -> Result<()> {
        if !rows.len().is_multiple_of(self.len()) {
            return Err(Error::Shape(format!(
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
        Err(Error::Shape(format!(
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
        let (name, constants) = whole_variant(whole, in_place);
        let rows_each = u32::try_from(constants["ROWS"]).unwrap_or(1);
        gpu.dispatch(&Dispatch {
            op: &OP,
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

/// The work of a pass over a matrix: memory bounds it, a value is worth about ten operations each way.
pub(super) fn moved(y_nd: &Matrix) -> f64 {
    20.0 * (y_nd.rows() * y_nd.stride()) as f64
}

/// `groups` workgroups as a grid within 65,535 a side; the shader counts `y * groups.x + x`.
pub(super) fn fold(groups: u32) -> [u32; 3] {
    let y = groups.div_ceil(65_535);
    [groups.div_ceil(y.max(1)), y, 1]
}

/// Rows one after another, under run-time dispatch. A struct rather than a closure: a closure is called from every
/// instruction set's wrapper and then not inlined into any.
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
