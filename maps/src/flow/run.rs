//! Where work runs, with how much memory, and who hears of it.

use crate::{
    Device, Error, Result,
    progress::{Progress, Step},
};
use std::{
    io::ErrorKind,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

/// How a piece of work runs: on which device, with how many bytes for chunks, and who hears of it.
///
/// Whatever takes a `Run` takes a `&Device`, too, for one with [`Run::DEFAULT_MEMORY`] and silence.
///
/// ```
/// use bochner::{Device, Run, Step, data::MemorySource, kernels::Gaussian};
/// use bochner::features::{Affine, Fourier, featurize};
/// let mut source = MemorySource::new(ndarray::array![[0.0], [1.0], [2.0]], None)?;
/// let map = Fourier::new(Gaussian).features(16).build(Affine::identity(1))?;
/// let device = Device::cpu();
/// featurize(&map, &mut source, &device, |_| Ok(()))?;
/// let run = Run::on(&device).memory(1 << 20).progress(|step| {
///     assert_eq!(step, Step::Rows(3));
/// });
/// featurize(&map, &mut source, &run, |_| Ok(()))?;
/// # Ok::<(), bochner::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Run {
    /// Where.
    pub device: Device,
    /// Bytes for chunk buffers.
    pub memory: u64,
    /// Bytes for what a solver holds beside chunks, where they are bounded.
    #[doc(hidden)]
    pub held: Option<u64>,
    #[doc(hidden)]
    pub progress: Progress,
    /// What ends it at its next pause.
    ends: Option<Arc<AtomicBool>>,
}

impl Run {
    /// What chunk buffers take at most unless told otherwise: 128 MiB.
    pub const DEFAULT_MEMORY: u64 = 128 << 20;

    /// On `device`, with [`Self::DEFAULT_MEMORY`], in silence.
    pub fn on(device: &Device) -> Self {
        Self {
            device: device.clone(),
            memory: Self::DEFAULT_MEMORY,
            held: None,
            progress: Progress::default(),
            ends: None,
        }
    }

    /// Ends work that reads no rows, too, at its next pause once this is true: what stands beside a
    /// source that errs then.
    pub fn until(mut self, ends: Arc<AtomicBool>) -> Self {
        self.ends = Some(ends);
        self
    }

    /// Tells who hears of the work, and errs with [`Error::Io`] where it is to end.
    #[doc(hidden)]
    pub fn pause(&self, step: Step) -> Result<()> {
        self.say(step);
        match &self.ends {
            Some(ends) if ends.load(Ordering::Relaxed) => {
                Err(Error::io("the work", ErrorKind::Interrupted.into()))
            }
            _ => Ok(()),
        }
    }

    /// Bytes for chunk buffers.
    pub fn memory(mut self, bytes: u64) -> Self {
        self.memory = bytes;
        self
    }

    /// At most so many bytes beside those of chunks for what conjugate gradients and maps with
    /// binning parts hold: targets, bins, the matrix or the sketch of their solver, which is chosen
    /// by it. Bounded by what the host has until said otherwise.
    pub fn held(mut self, bytes: u64) -> Self {
        self.held = Some(bytes);
        self
    }

    /// Calls `hear` as work proceeds.
    pub fn progress(mut self, hear: impl Fn(Step) + Send + Sync + 'static) -> Self {
        self.progress = Progress::to(hear);
        self
    }

    /// Tells who hears of the work.
    pub fn say(&self, step: Step) {
        self.progress.say(step);
    }

    /// The same for a part of the work of which nobody needs to hear.
    #[doc(hidden)]
    pub fn silent(&self) -> Self {
        let held = self.held;
        Self {
            held,
            ..Self::on(&self.device).memory(self.memory)
        }
    }
}

/// What is said of a run before it begins: a device is not looked for until then.
#[derive(Debug, Clone)]
#[doc(hidden)]
pub struct RunSettings {
    /// The device asked for, else the best of this machine.
    #[doc(hidden)]
    pub device: Option<Device>,
    #[doc(hidden)]
    pub memory: u64,
    #[doc(hidden)]
    pub progress: Progress,
}

impl Default for RunSettings {
    fn default() -> Self {
        Self {
            device: None,
            memory: Run::DEFAULT_MEMORY,
            progress: Progress::default(),
        }
    }
}

impl RunSettings {
    #[doc(hidden)]
    pub fn run(&self) -> Result<Run> {
        Ok(Run {
            device: self.device.clone().map_or_else(Device::best, Ok)?,
            memory: self.memory,
            held: None,
            progress: self.progress.clone(),
            ends: None,
        })
    }
}

impl From<&Device> for Run {
    fn from(device: &Device) -> Self {
        Self::on(device)
    }
}

impl From<&Self> for Run {
    fn from(run: &Self) -> Self {
        run.clone()
    }
}
