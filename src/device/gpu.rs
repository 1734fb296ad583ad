//! One GPU adapter: limits, submission, upload and readback.

mod adapter;
mod buffer;
mod choices;
mod pipeline;
pub mod shader;
mod timing;

pub use adapter::{AdapterKind, AdapterReport};
pub(super) use adapter::{adapters as visible_adapters, open as open_adapter};
pub use buffer::PooledBuffer;
pub(crate) use pipeline::Dispatch;

use super::cache::Cache;
use crate::{Error, Result};
use buffer::Pool;
use choices::Choices;
use pipeline::{Pipelines, UniformRing};
use std::{
    fmt,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

/// No binding may exceed this on Vulkan and DX12, whatever the adapter claims.
const MAX_BINDING: u64 = (1 << 31) - 4;
/// Dispatches recorded before they are submitted, so that the device works while the host records.
const DISPATCHES_PER_SUBMIT: usize = 32;

/// An opened adapter. Cloning is cheap; clones share pipelines, pooled buffers and the command queue.
#[derive(Clone)]
pub struct GpuDevice(Arc<Inner>);

struct Inner {
    device: wgpu::Device,
    queue: wgpu::Queue,
    report: AdapterReport,
    limits: wgpu::Limits,
    pool: Pool,
    pipelines: Pipelines,
    recorder: Mutex<Recorder>,
    /// Host memory that uploads are laid out in, kept between calls.
    staging: Mutex<Vec<f32>>,
    /// Tile shapes that were measured to be best.
    choices: Choices,
    /// The first fault that the driver reported outside a call.
    fault: Arc<Mutex<Option<Error>>>,
}

/// Commands recorded and not yet submitted.
#[derive(Default)]
struct Recorder {
    encoder: Option<wgpu::CommandEncoder>,
    dispatches: usize,
    uniforms: UniformRing,
    /// Set while dispatches are timed.
    timing: Option<timing::Timing>,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // A panic elsewhere cannot leave these half-changed in a way that matters: take the data.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl GpuDevice {
    fn new(device: wgpu::Device, queue: wgpu::Queue, report: AdapterReport) -> Self {
        let fault = Arc::new(Mutex::new(None));
        let sink = fault.clone();
        device.on_uncaptured_error(Arc::new(move |e| {
            let error = match e {
                wgpu::Error::OutOfMemory { source } => Error::OutOfMemory(source.to_string()),
                other => Error::Device(one_line(&other.to_string())),
            };
            lock(&sink).get_or_insert(error);
        }));
        let sink = fault.clone();
        device.set_device_lost_callback(move |reason, message| {
            if reason != wgpu::DeviceLostReason::Destroyed {
                lock(&sink).get_or_insert(Error::DeviceLost(one_line(&message)));
            }
        });
        let limits = device.limits();
        let choices = Choices::new(Cache::user(), &report);
        Self(Arc::new(Inner {
            device,
            queue,
            report,
            limits,
            pool: Pool::default(),
            pipelines: Pipelines::default(),
            recorder: Mutex::default(),
            staging: Mutex::default(),
            choices,
            fault,
        }))
    }

    /// Name, kind, driver and limits of the adapter.
    pub fn report(&self) -> &AdapterReport {
        &self.0.report
    }

    /// One line for people.
    pub fn describe(&self) -> String {
        self.0.report.describe()
    }

    /// Whether both handles stand for one opened device.
    pub fn same_as(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }

    /// What was chosen by measuring on this adapter.
    pub(crate) fn choices(&self) -> &Choices {
        &self.0.choices
    }

    /// The largest binding, in bytes.
    pub fn max_binding_bytes(&self) -> u64 {
        binding_limit(&self.0.limits)
    }

    /// Whether the adapter runs on the CPU (lavapipe, SwiftShader, WARP).
    pub fn is_software(&self) -> bool {
        self.0.report.kind == AdapterKind::Software
    }

    /// A storage buffer of at least `bytes`, from the pool where one fits. `what` names it in the error.
    pub(crate) fn buffer(&self, bytes: u64, what: impl Fn() -> String) -> Result<PooledBuffer> {
        let allowed = self.max_binding_bytes();
        if bytes > allowed {
            return Err(Error::Limit {
                what: what(),
                needed: human_bytes(bytes),
                allowed: format!("{} a binding", human_bytes(allowed)),
                remedy: "use fewer rows at a time or fewer features".into(),
            });
        }
        if let Some(buffer) = self.0.pool.take(bytes) {
            return Ok(PooledBuffer::new(self.clone(), buffer));
        }
        let size = bytes.max(16).next_multiple_of(256);
        let scope = self
            .0
            .device
            .push_error_scope(wgpu::ErrorFilter::OutOfMemory);
        let buffer = self.0.device.create_buffer(&wgpu::BufferDescriptor {
            label: None,
            size: size.min(allowed.next_multiple_of(4)),
            usage: wgpu::BufferUsages::STORAGE
                | wgpu::BufferUsages::COPY_SRC
                | wgpu::BufferUsages::COPY_DST,
            mapped_at_creation: false,
        });
        match pollster::block_on(scope.pop()) {
            None => Ok(PooledBuffer::new(self.clone(), buffer)),
            Some(_) => Err(Error::OutOfMemory(format!(
                "{} needs {}; use a smaller --memory budget or fewer features",
                what(),
                human_bytes(bytes)
            ))),
        }
    }

    /// Lays `len` floats out through `fill` and writes them to `buffer`, after all work recorded before.
    pub(crate) fn upload(
        &self,
        buffer: &wgpu::Buffer,
        len: usize,
        fill: impl FnOnce(&mut [f32]),
    ) -> Result<()> {
        let mut staging = lock(&self.0.staging);
        if staging.len() < len {
            staging.resize(len, 0.0);
        }
        fill(&mut staging[..len]);
        // A write takes effect at the start of the next submission: what is recorded must go first.
        self.flush();
        self.0
            .queue
            .write_buffer(buffer, 0, bytemuck::cast_slice(&staging[..len]));
        self.check()
    }

    /// Reads the first `len` floats of `buffer` once all work recorded so far is done.
    pub(crate) fn download(
        &self,
        buffer: &wgpu::Buffer,
        len: usize,
        take: impl FnOnce(&[f32]),
    ) -> Result<()> {
        pollster::block_on(self.download_async(buffer, len, take))
    }

    async fn download_async(
        &self,
        buffer: &wgpu::Buffer,
        len: usize,
        take: impl FnOnce(&[f32]),
    ) -> Result<()> {
        if len == 0 {
            take(&[]);
            return self.check();
        }
        let bytes = 4 * len as u64;
        let staging = self.0.device.create_buffer(&wgpu::BufferDescriptor {
            label: Some("readback"),
            size: bytes,
            usage: wgpu::BufferUsages::MAP_READ | wgpu::BufferUsages::COPY_DST,
            mapped_at_creation: false,
        });
        {
            let mut recorder = lock(&self.0.recorder);
            self.encoder(&mut recorder)
                .copy_buffer_to_buffer(buffer, 0, &staging, 0, bytes);
        }
        self.flush();
        let (sender, receiver) = futures_intrusive::channel::shared::oneshot_channel();
        staging
            .slice(..)
            .map_async(wgpu::MapMode::Read, move |result| {
                sender.send(result).ok();
            });
        self.wait()?;
        match receiver.receive().await {
            Some(Ok(())) => {}
            Some(Err(e)) => return Err(self.fault_or(&e.to_string())),
            None => return Err(self.fault_or("the readback was dropped")),
        }
        let view = staging
            .slice(..)
            .get_mapped_range()
            .map_err(|e| self.fault_or(&e.to_string()))?;
        take(bytemuck::cast_slice(&view));
        self.check()
    }

    /// Submits what is recorded.
    pub(crate) fn flush(&self) {
        let mut recorder = lock(&self.0.recorder);
        if let Some(encoder) = recorder.encoder.take() {
            self.0.queue.submit([encoder.finish()]);
        }
        recorder.dispatches = 0;
        recorder.uniforms.reset();
    }

    /// Submits what is recorded and waits for the device.
    pub fn synchronize(&self) -> Result<()> {
        self.flush();
        self.wait()?;
        self.check()
    }

    fn wait(&self) -> Result<()> {
        self.0
            .device
            .poll(wgpu::PollType::wait_indefinitely())
            .map(|_| ())
            .map_err(|e| self.fault_or(&e.to_string()))
    }

    /// The first fault that the driver reported since the last check.
    pub(crate) fn check(&self) -> Result<()> {
        match lock(&self.0.fault).take() {
            None => Ok(()),
            Some(fault) => Err(fault),
        }
    }

    fn fault_or(&self, message: &str) -> Error {
        match lock(&self.0.fault).take() {
            Some(fault) => fault,
            None => Error::DeviceLost(one_line(message)),
        }
    }

    fn encoder<'r>(&self, recorder: &'r mut Recorder) -> &'r mut wgpu::CommandEncoder {
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

/// `1.5 GB` and the like.
pub(crate) fn human_bytes(bytes: u64) -> String {
    let b = bytes as f64;
    match bytes {
        0..1_000_000 => format!("{:.1} kB", b / 1e3),
        1_000_000..1_000_000_000 => format!("{:.1} MB", b / 1e6),
        _ => format!("{:.1} GB", b / 1e9),
    }
}

/// A driver's message on one line.
pub(crate) fn one_line(message: &str) -> String {
    message.split_whitespace().collect::<Vec<_>>().join(" ")
}

impl fmt::Debug for GpuDevice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.describe())
    }
}
