//! Uploads, and readbacks that need not be waited for at once.

use super::{GpuDevice, PooledBuffer, lock};
use crate::Result;
use futures_intrusive::channel::shared::{OneshotReceiver, oneshot_channel};
use std::fmt;

impl GpuDevice {
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
    pub(crate) fn download<R>(
        &self,
        buffer: &wgpu::Buffer,
        len: usize,
        take: impl FnOnce(&[f32]) -> R,
    ) -> Result<R> {
        self.read_later(buffer, len)?.finish(take)
    }

    /// Submits a copy of the first `len` floats of `buffer` as all work recorded so far leaves them. The device goes on with
    /// what comes next while the copy waits for [`Readback::finish`].
    pub(crate) fn read_later(&self, buffer: &wgpu::Buffer, len: usize) -> Result<Readback> {
        let bytes = 4 * len as u64;
        let usage = wgpu::BufferUsages::MAP_READ | wgpu::BufferUsages::COPY_DST;
        let staging = self.allocate(bytes, self.0.limits.max_buffer_size, usage, || {
            format!("reading back {len} values")
        })?;
        let mut readback = Readback {
            gpu: self.clone(),
            staging,
            len,
            submission: None,
            mapped: None,
        };
        if len == 0 {
            self.check()?;
            return Ok(readback);
        }
        {
            let mut recorder = lock(&self.0.recorder);
            self.encoder(&mut recorder).copy_buffer_to_buffer(
                buffer,
                0,
                &readback.staging,
                0,
                bytes,
            );
        }
        // `None` if another thread has submitted the copy by now: its end is waited for with all the rest.
        readback.submission = self.flush();
        self.check()?;
        let (sender, receiver) = oneshot_channel();
        readback
            .staging
            .map_async(wgpu::MapMode::Read, ..bytes, move |result| {
                sender.send(result).ok();
            });
        readback.mapped = Some(receiver);
        Ok(readback)
    }
}

type Mapped = OneshotReceiver<std::result::Result<(), wgpu::BufferAsyncError>>;

/// A copy on its way to the host.
pub(crate) struct Readback {
    gpu: GpuDevice,
    staging: PooledBuffer,
    len: usize,
    submission: Option<wgpu::SubmissionIndex>,
    /// Hears when the staging buffer is mapped; `None` while it is not to be.
    mapped: Option<Mapped>,
}

impl Readback {
    /// Waits for the copy, not for what was submitted after it, and hands it to `take`.
    pub(crate) fn finish<R>(self, take: impl FnOnce(&[f32]) -> R) -> Result<R> {
        pollster::block_on(self.finish_async(take))
    }

    async fn finish_async<R>(mut self, take: impl FnOnce(&[f32]) -> R) -> Result<R> {
        let gpu = self.gpu.clone();
        let Some(mapped) = &self.mapped else {
            return Ok(take(&[]));
        };
        gpu.wait(self.submission.take())?;
        let failure = match mapped.receive().await {
            Some(Ok(())) => None,
            Some(Err(e)) => Some(e.to_string()),
            None => Some("the readback was dropped".into()),
        };
        if let Some(message) = failure {
            self.mapped = None;
            return Err(gpu.0.faults.behind(&message));
        }
        let view = self
            .staging
            .get_mapped_range(..4 * self.len as u64)
            .map_err(|e| gpu.0.faults.behind(&e.to_string()))?;
        let result = take(bytemuck::cast_slice(&view));
        drop(view);
        gpu.check().map(|()| result)
    }
}

impl Drop for Readback {
    fn drop(&mut self) {
        // The staging buffer goes back to the pool, from which it is written again.
        if self.mapped.is_some() {
            self.staging.unmap();
        }
    }
}

impl fmt::Debug for Readback {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} values to read back", self.len)
    }
}
