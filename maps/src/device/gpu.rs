//! One GPU adapter: limits, submission, waiting.

mod adapter;
mod buffer;
mod choices;
mod driver_code;
mod fault;
pub(crate) mod op;
mod pipeline;
mod saved;
mod scope;
pub(crate) mod shader;
mod speed;
mod submission;
mod timing;
mod transfer;
pub(crate) mod units;
mod upload;

pub use adapter::{AdapterKind, AdapterReport};
pub(super) use adapter::{
    Found, adapters as visible_adapters, adapters_later, open as open_adapter, open_later,
};
pub(crate) use buffer::PooledBuffer;
pub(crate) use pipeline::Dispatch;
pub(crate) use submission::{even, fixed_block_rows};
pub(crate) use transfer::{Mapped, Pace, Readback};

use super::cache::Cache;
use crate::Result;
use buffer::Memory;
use choices::Choices;
use fault::Faults;
use pipeline::Pipelines;
use saved::SavedPipelines;
use speed::Speed;
use std::{
    fmt,
    ops::Range,
    sync::{Arc, Mutex, MutexGuard, PoisonError, Weak},
};
use submission::SubmissionPart;
use upload::Ring;

/// No binding may exceed this on Vulkan and DX12, whatever the adapter claims.
const MAX_BINDING: u64 = (1 << 31) - 4;

/// An opened adapter. Cloning is cheap; clones share pipelines, pooled buffers and the command
/// queue.
#[derive(Clone)]
pub struct GpuDevice(Arc<Inner>, Rows);

/// What may depend on how many rows come at a time.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Rows {
    /// How long they take, and the last places of what becomes of them.
    Any,
    /// How long they take.
    Steady,
}

struct Inner {
    device: wgpu::Device,
    queue: wgpu::Queue,
    report: AdapterReport,
    limits: wgpu::Limits,
    memory: Memory,
    pipelines: Pipelines,
    saved: Option<SavedPipelines>,
    recorder: Mutex<Recorder>,
    ring: Ring,
    /// Tile shapes that were measured to be best.
    choices: Choices,
    speed: Speed,
    units: units::Units,
    faults: Arc<Faults>,
    /// Tests have every check of wgpu in shaders where they like.
    #[cfg(test)]
    checked: std::sync::atomic::AtomicBool,
    /// Tests have work split among as many dispatches as can be.
    #[cfg(test)]
    small_dispatches: std::sync::atomic::AtomicBool,
}

/// A [`GpuDevice`] as long as somebody else uses it.
#[derive(Debug)]
pub(super) struct WeakGpu(Weak<Inner>);

impl WeakGpu {
    /// The device, unless it was closed or lost.
    pub(super) fn upgrade(&self) -> Option<GpuDevice> {
        let inner = self.0.upgrade()?;
        let gpu = GpuDevice(inner, Rows::Any);
        gpu.0.faults.alive().is_ok().then_some(gpu)
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        if let Some(saved) = &self.saved
            && self.faults.alive().is_ok()
        {
            saved.store();
        }
    }
}

/// Commands recorded and not yet submitted.
#[derive(Default)]
struct Recorder {
    /// Open while dispatches follow one another. It ends before anything else is encoded.
    pass: Option<wgpu::ComputePass<'static>>,
    encoder: Option<wgpu::CommandEncoder>,
    part: SubmissionPart,
    /// Buffers that recorded copies read.
    uploads: Vec<wgpu::Buffer>,
    /// Where the parameters of all recorded dispatches go before the first of them runs.
    uniforms: Option<wgpu::Buffer>,
    /// Set while dispatches are timed.
    timing: Option<timing::Timing>,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // A panic elsewhere cannot leave these half-changed in a way that matters: take the data.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl GpuDevice {
    fn new(
        device: wgpu::Device,
        queue: wgpu::Queue,
        (report, units): (AdapterReport, units::Units),
        saved: Option<SavedPipelines>,
    ) -> Self {
        let faults = Faults::listen(&device);
        let limits = device.limits();
        let choices = Choices::new(Cache::user(), &report);
        let speed = Speed::for_kind(report.kind);
        let inner = Inner {
            device,
            queue,
            report,
            limits,
            memory: Memory::default(),
            pipelines: Pipelines::default(),
            saved,
            recorder: Mutex::default(),
            ring: Ring::default(),
            choices,
            speed,
            units,
            faults,
            #[cfg(test)]
            checked: Default::default(),
            #[cfg(test)]
            small_dispatches: Default::default(),
        };
        Self(Arc::new(inner), Rows::Any)
    }

    /// A handle of the same device for work whose bits must not depend on how rows are cut into
    /// chunks: ops that are asked through it take no form of their own for few rows.
    pub(crate) fn steady(&self) -> Self {
        Self(self.0.clone(), Rows::Steady)
    }

    /// Whether this handle is a [`Self::steady`] one.
    pub(crate) fn is_steady(&self) -> bool {
        self.1 == Rows::Steady
    }

    /// Name, kind, driver and limits of the adapter.
    pub fn report(&self) -> &AdapterReport {
        &self.0.report
    }

    /// One line for people.
    #[doc(hidden)]
    pub fn describe(&self) -> String {
        self.0.report.describe()
    }

    /// Whether both handles stand for one opened device.
    #[doc(hidden)]
    pub fn same_as(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }

    /// A handle that does not keep the device open.
    pub(super) fn downgrade(&self) -> WeakGpu {
        WeakGpu(Arc::downgrade(&self.0))
    }

    /// What was chosen by measuring on this adapter.
    pub(crate) fn choices(&self) -> &Choices {
        &self.0.choices
    }

    /// The largest binding, in bytes.
    #[doc(hidden)]
    pub fn max_binding_bytes(&self) -> u64 {
        binding_limit(&self.0.limits)
    }

    /// Whether the adapter runs on the CPU (lavapipe, SwiftShader, WARP).
    pub fn is_software(&self) -> bool {
        self.0.report.kind == AdapterKind::Software
    }

    /// Submits what is recorded; `None` if that is nothing.
    pub(crate) fn flush(&self) -> Option<wgpu::SubmissionIndex> {
        self.submit(&mut lock(&self.0.recorder))
    }

    fn submit(&self, recorder: &mut Recorder) -> Option<wgpu::SubmissionIndex> {
        recorder.pass = None;
        let params = recorder.part.take();
        let encoder = recorder.encoder.take()?;
        if let (Some(uniforms), false) = (&recorder.uniforms, params.is_empty()) {
            self.0.queue.write_buffer(uniforms, 0, &params);
        }
        let submission = self.0.queue.submit([encoder.finish()]);
        self.0.ring.submitted(std::mem::take(&mut recorder.uploads));
        Some(submission)
    }

    /// Submits what is recorded and waits for the device.
    #[doc(hidden)]
    pub fn synchronize(&self) -> Result<()> {
        self.flush();
        self.wait(None)?;
        self.check()
    }

    /// Waits for one submission, or for all of them.
    fn wait(&self, submission: Option<wgpu::SubmissionIndex>) -> Result<()> {
        let how = wgpu::PollType::Wait {
            submission_index: submission,
            timeout: None,
        };
        self.0.faults.poll(&self.0.device, how)
    }

    /// The first fault that the driver reported since the last check; a lost device stays lost.
    pub(crate) fn check(&self) -> Result<()> {
        let Some(fault) = self.0.faults.take() else {
            return self.0.faults.alive();
        };
        // Perhaps of a device that is lost, which is heard once all that it was given has ended.
        let ended = wgpu::PollType::wait_indefinitely();
        self.0.faults.poll(&self.0.device, ended)?;
        self.0.faults.alive()?;
        Err(fault)
    }

    /// Loses the device, as a driver's reset would. For tests.
    #[doc(hidden)]
    pub fn lose(&self) {
        self.0.device.destroy();
    }

    /// Records zeros for the first bytes of a buffer.
    pub(crate) fn clear(&self, buffer: &wgpu::Buffer, bytes: u64) {
        if bytes > 0 {
            let mut recorder = lock(&self.0.recorder);
            self.encoder(&mut recorder)
                .clear_buffer(buffer, 0, Some(bytes));
        }
    }

    /// Records a copy of some floats of one buffer to another, from float `at` on.
    pub(crate) fn copy_floats(
        &self,
        from: &wgpu::Buffer,
        floats: Range<usize>,
        to: &wgpu::Buffer,
        at: usize,
    ) -> Result<()> {
        let bytes = |floats: usize| 4 * floats as u64;
        {
            let mut recorder = lock(&self.0.recorder);
            self.encoder(&mut recorder).copy_buffer_to_buffer(
                from,
                bytes(floats.start),
                to,
                bytes(at),
                bytes(floats.len()),
            );
        }
        self.check()
    }

    /// The encoder, between passes.
    fn encoder<'r>(&self, recorder: &'r mut Recorder) -> &'r mut wgpu::CommandEncoder {
        recorder.pass = None;
        recorder
            .encoder
            .get_or_insert_with(|| self.0.device.create_command_encoder(&Default::default()))
    }
}

/// The largest binding that limits allow and that drivers keep to.
pub(crate) fn binding_limit(limits: &wgpu::Limits) -> u64 {
    limits
        .max_storage_buffer_binding_size
        .min(limits.max_buffer_size)
        .min(MAX_BINDING)
}

impl fmt::Debug for GpuDevice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.describe())
    }
}
