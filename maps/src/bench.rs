//! Benchmarks: what a device can do at most, and how near every op comes to it.
//!
//! [`Ceilings::measure`] times micro-kernels that only copy, or only multiply and add.
//! [`Bench::case`] then times one line of the registry at one shape, warm, at least ten times, by
//! the device's own timestamps where it has them and by the wall clock otherwise, and compares a
//! part of its result with the f64 reference in the same run. Data are drawn here; no file is read.

pub mod baseline;
pub mod ceiling;
mod ceilings;
mod clock;
mod crossing;
mod jobs;
mod shapes;
mod table;

pub use ceilings::Ceilings;
pub use clock::{Clock, Sample};
pub use crossing::{CROSSING_DIMS, CROSSING_FEATURES, Crossed, crossing};
pub(crate) use table::{
    ADDITIVE_CHI2, BESIDE, BINNING, CEILING, COMPLEX_PRODUCT, FEW, GRAM, KERNEL_BLOCK, PLACE,
    PREDICT, PRODUCT, PROJECTION, STRUCTURED, WALSH_HADAMARD,
};
pub use table::{OpBench, Size};

use crate::{Device, Result};
use std::fmt;

/// Targets of a fused predict.
pub const TARGETS: usize = 10;
/// Rows of a result that are compared with f64, where there are as many.
pub const COMPARED_ROWS: usize = 64;
/// The same of Walsh-Hadamard transforms, whose rows may be long.
pub const COMPARED_TRANSFORMS: usize = 4;
/// Columns of a Gram matrix that are compared, evenly spaced: at most so many.
pub const COMPARED_COLUMNS: usize = 48;
/// Matrices of a case take at most this much memory together; longer inputs run in blocks of rows.
const MEMORY: u64 = 2 << 30;

/// The sizes of one case.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shape {
    /// Rows, N.
    pub rows: usize,
    /// Input columns, d (inner dimension of a product).
    pub dim: usize,
    /// Features, D.
    pub features: usize,
}

impl fmt::Display for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self {
                rows: 0,
                dim: 0,
                features,
            } => write!(f, "{features} x {features}"),
            Self {
                rows,
                dim: 0,
                features,
            } => write!(f, "{rows} x {features}"),
            Self {
                rows,
                dim,
                features,
            } => write!(f, "{rows} x {dim} -> {features}"),
        }
    }
}

/// The least that an op must do.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Work {
    /// Additions and multiplications of its matrix products, in f32 (one in f64 counts as two).
    pub flops: f64,
    /// Bytes that it must read and write.
    pub bytes: f64,
}

/// What bounds an op on a device.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BoundBy {
    /// Multiply-adds.
    Arithmetic,
    /// The copy.
    Memory,
}

/// An op that was timed.
#[derive(Debug, Clone)]
pub struct Timed {
    /// The name of its line.
    pub op: &'static str,
    /// Its sizes.
    pub shape: Shape,
    /// Tile shape on a GPU, vector instructions on the CPU.
    pub tile: String,
    /// Row blocks it ran in.
    pub blocks: usize,
    /// Seconds of each repetition.
    pub sample: Sample,
    /// What it did.
    pub work: Work,
    /// Largest error over largest value of the f64 reference, on a part of the result.
    pub error: f64,
}

impl Timed {
    /// What bounds the op on a device with these ceilings, and the share of that ceiling that it
    /// reached.
    pub fn share(&self, ceilings: &Ceilings) -> (BoundBy, f64) {
        let arithmetic = self.work.flops / ceilings.flops_per_second;
        let memory = self.work.bytes / ceilings.copy_rate(self.work.bytes);
        let floor = arithmetic.max(memory);
        let bound = if arithmetic >= memory {
            BoundBy::Arithmetic
        } else {
            BoundBy::Memory
        };
        (bound, floor / self.sample.median())
    }
}

/// How long cases may take.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bench {
    /// Seconds of repetitions of one case; at least ten are made even if they take somewhat longer.
    pub seconds: f64,
}

impl Bench {
    /// The sizes that a device is benchmarked at unless all are asked for.
    pub fn size(device: &Device) -> Size {
        match device {
            Device::Cpu(cpu) if cpu.threads() < 8 => Size::Small,
            Device::Gpu(gpu) if gpu.is_software() => Size::Software,
            _ => Size::Usual,
        }
    }

    /// Times one op at one shape. Errors when the shape does not fit the device or its time.
    pub fn case(&self, device: &Device, op: &'static OpBench, shape: Shape) -> Result<Timed> {
        self.prepared(&mut Prepared::new(device, op, shape)?, op, shape)
    }

    /// As [`Self::case`], of data that are loaded.
    pub fn prepared(&self, job: &mut Prepared, op: &OpBench, shape: Shape) -> Result<Timed> {
        let sample = job.time(self.seconds)?;
        let error = job.error()?;
        Ok(Timed {
            op: op.name,
            shape,
            tile: job.tile(),
            blocks: job.blocks(),
            sample,
            work: (op.work)(shape),
            error,
        })
    }
}

/// An op with its data on the device, ready to be timed again and again.
pub struct Prepared {
    device: Device,
    job: Box<dyn jobs::Job>,
    warm: bool,
}

impl Prepared {
    /// Draws the data of a case and loads them.
    pub fn new(device: &Device, op: &OpBench, shape: Shape) -> Result<Self> {
        Ok(Self {
            device: device.clone(),
            job: (op.prepare)(device, shape)?,
            warm: false,
        })
    }

    /// Times the op for about so many seconds, warm, at least ten times.
    pub fn time(&mut self, seconds: f64) -> Result<Sample> {
        let warm_ups = if self.warm { 1 } else { 3 };
        self.warm = true;
        clock::measure(&self.device, self.job.as_mut(), warm_ups, seconds)
    }

    /// Times the op exactly so many times by the wall clock, warm, from submission to the end. On a
    /// GPU `batch` runs are submitted for each wait, and the time of one is returned.
    pub fn time_exactly(&mut self, times: usize, batch: usize) -> Result<Vec<f64>> {
        if !self.warm {
            self.warm = true;
            clock::batch(&self.device, self.job.as_mut(), batch)?;
        }
        (0..times)
            .map(|_| clock::batch(&self.device, self.job.as_mut(), batch))
            .collect()
    }

    /// Largest error over largest value of the f64 reference, on a part of the result.
    pub fn error(&mut self) -> Result<f64> {
        self.job.error()
    }

    /// Tile shape on a GPU, vector instructions on the CPU.
    pub fn tile(&self) -> String {
        self.job.tile()
    }

    /// Row blocks of a run.
    pub fn blocks(&self) -> usize {
        self.job.blocks()
    }
}

impl fmt::Debug for Prepared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a case on {}", self.device.describe())
    }
}
