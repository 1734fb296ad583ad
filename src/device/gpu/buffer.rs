//! Storage buffers that are kept and handed out again: wgpu clears a new buffer on first use, an extra write.

use super::{GpuDevice, lock};
use std::{fmt, ops::Deref, sync::Mutex};

/// Buffers kept for reuse never exceed this many; the oldest goes first.
const KEPT: usize = 24;

#[derive(Default)]
pub(super) struct Pool(Mutex<Vec<wgpu::Buffer>>);

impl Pool {
    /// The smallest kept buffer that holds `bytes` and wastes at most as much again.
    pub(super) fn take(&self, bytes: u64) -> Option<wgpu::Buffer> {
        let mut kept = lock(&self.0);
        let fits = |b: &wgpu::Buffer| b.size() >= bytes && b.size() <= 2 * bytes.max(4096);
        let best = (0..kept.len())
            .filter(|&i| fits(&kept[i]))
            .min_by_key(|&i| kept[i].size())?;
        Some(kept.remove(best))
    }

    fn give(&self, buffer: wgpu::Buffer) {
        let mut kept = lock(&self.0);
        if kept.len() == KEPT {
            kept.remove(0);
        }
        kept.push(buffer);
    }
}

/// A storage buffer that goes back to its device's pool when dropped. It may hold an earlier user's numbers.
pub struct PooledBuffer {
    gpu: GpuDevice,
    buffer: Option<wgpu::Buffer>,
}

impl PooledBuffer {
    pub(super) fn new(gpu: GpuDevice, buffer: wgpu::Buffer) -> Self {
        Self {
            gpu,
            buffer: Some(buffer),
        }
    }
}

impl Deref for PooledBuffer {
    type Target = wgpu::Buffer;

    fn deref(&self) -> &wgpu::Buffer {
        self.buffer.as_ref().expect("taken only by drop")
    }
}

impl Drop for PooledBuffer {
    fn drop(&mut self) {
        if let Some(buffer) = self.buffer.take() {
            self.gpu.0.pool.give(buffer);
        }
    }
}

impl fmt::Debug for PooledBuffer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "buffer of {} bytes", self.size())
    }
}
