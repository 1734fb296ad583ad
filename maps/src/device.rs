//! Where work runs: a [`Device`] is the CPU backend or one GPU adapter, and a [`Matrix`] lives on
//! one of them.

mod aligned;
pub(crate) mod cache;
pub(crate) mod choice;
pub(crate) mod cpu;
pub(crate) mod gpu;
pub(crate) mod large_pages;
mod matrix;
#[doc(hidden)]
pub mod memory_left;
mod spinning;

pub use crate::instructions::InstructionSet;
pub(crate) use aligned::Aligned;
#[cfg(target_arch = "x86_64")]
pub(crate) use aligned::Line;
pub use choice::{DeviceChoice, DeviceReport};
pub use cpu::CpuDevice;
pub use gpu::{AdapterKind, AdapterReport, GpuDevice, units::MatrixUnits};
pub use matrix::Matrix;
pub(crate) use matrix::Reading;

/// A place to compute. Cloning is cheap and shares threads, pipelines and pooled buffers.
#[derive(Debug, Clone)]
pub enum Device {
    /// The CPU backend: rayon threads and vector instructions chosen at run time.
    Cpu(CpuDevice),
    /// One adapter, through wgpu.
    Gpu(GpuDevice),
}

impl Device {
    /// The CPU backend with one thread per core.
    ///
    /// ```
    /// let device = bochner::Device::cpu();
    /// assert!(device.describe().starts_with("CPU"));
    /// ```
    pub fn cpu() -> Self {
        Self::Cpu(CpuDevice::shared())
    }

    /// One line for people: kind, name, driver.
    pub fn describe(&self) -> String {
        match self {
            Self::Cpu(cpu) => cpu.describe(),
            Self::Gpu(gpu) => gpu.describe(),
        }
    }

    /// Whether two handles stand for the same device, so that matrices of one can be used on the
    /// other.
    pub fn same_as(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Cpu(_), Self::Cpu(_)) => true,
            (Self::Gpu(a), Self::Gpu(b)) => a.same_as(b),
            _ => false,
        }
    }

    /// The largest matrix, in bytes, that an op can take on this device.
    pub(crate) fn max_matrix_bytes(&self) -> u64 {
        match self {
            Self::Cpu(_) => u64::MAX,
            Self::Gpu(gpu) => gpu.max_binding_bytes(),
        }
    }

    /// Whether it is an adapter.
    pub fn is_gpu(&self) -> bool {
        self.as_gpu().is_some()
    }

    /// The adapter, if it is one.
    pub fn as_gpu(&self) -> Option<&GpuDevice> {
        match self {
            Self::Gpu(gpu) => Some(gpu),
            Self::Cpu(_) => None,
        }
    }

    /// The CPU backend, if it is that.
    pub fn as_cpu(&self) -> Option<&CpuDevice> {
        match self {
            Self::Cpu(cpu) => Some(cpu),
            Self::Gpu(_) => None,
        }
    }

    /// Floats from one row of a matrix of `columns` columns to the next.
    pub(crate) fn stride(&self, columns: usize) -> usize {
        match self {
            Self::Cpu(_) => columns,
            // Whole vec4s.
            Self::Gpu(_) => columns.next_multiple_of(4),
        }
    }

    /// A handle of the same device through which a row has the same bits in every batch. On the CPU
    /// it always has.
    pub(crate) fn steady(&self) -> Self {
        match self {
            Self::Cpu(_) => self.clone(),
            Self::Gpu(gpu) => Self::Gpu(gpu.steady()),
        }
    }

    /// Ends a step of work that is not waited for: on a GPU few steps are under way at a time.
    pub(crate) fn step(&self, pace: &mut gpu::Pace) -> crate::Result<()> {
        match self {
            Self::Cpu(_) => Ok(()),
            Self::Gpu(gpu) => gpu.step(pace),
        }
    }

    /// The GPU; an error for the CPU.
    #[doc(hidden)]
    pub fn gpu(&self) -> crate::Result<&GpuDevice> {
        match self {
            Self::Gpu(gpu) => Ok(gpu),
            Self::Cpu(_) => Err(crate::Error::device("the CPU has nothing to read back")),
        }
    }

    /// Waits until everything submitted so far is done; returns a fault that happened on the way.
    pub fn synchronize(&self) -> crate::Result<()> {
        match self {
            Self::Cpu(_) => Ok(()),
            Self::Gpu(gpu) => gpu.synchronize(),
        }
    }
}
