//! Device memory: buffers that are kept and handed out again (wgpu clears a new one on first use,
//! an extra write), and what happens when there is no more to be had.

use super::{GpuDevice, lock, scope::caught};
use crate::text::human_bytes;
use crate::{Error, Result, error::Remedy};
use std::{
    fmt,
    ops::Deref,
    sync::{
        Arc, Mutex,
        atomic::{AtomicU64, Ordering},
    },
};

/// Buffers kept for reuse never exceed this many, nor this many bytes; the oldest goes first.
const KEPT: usize = 24;
const KEPT_BYTES: u64 = 2 << 30;

/// The buffers of one device.
#[derive(Default)]
pub(super) struct Memory {
    kept: Mutex<Vec<Allocation>>,
    /// Bytes of all buffers, kept or in use.
    held: Arc<AtomicU64>,
    /// Tests make a device as small as they like; 0 is no limit.
    budget: AtomicU64,
    /// Tests see what is read before it was written.
    #[cfg(test)]
    poison: std::sync::atomic::AtomicBool,
}

/// A buffer, counted while it lives.
struct Allocation {
    buffer: wgpu::Buffer,
    held: Arc<AtomicU64>,
}

impl Drop for Allocation {
    fn drop(&mut self) {
        self.held.fetch_sub(self.buffer.size(), Ordering::Relaxed);
    }
}

impl Memory {
    /// The smallest kept buffer of this use that holds `bytes` and wastes at most as much again.
    fn take(&self, bytes: u64, usage: wgpu::BufferUsages) -> Option<Allocation> {
        let mut kept = lock(&self.kept);
        let fits = |b: &wgpu::Buffer| {
            b.usage() == usage && b.size() >= bytes && b.size() <= 2 * bytes.max(4096)
        };
        let best = (0..kept.len())
            .filter(|&i| fits(&kept[i].buffer))
            .min_by_key(|&i| kept[i].buffer.size())?;
        Some(kept.remove(best))
    }

    fn give(&self, allocation: Allocation) {
        let mut kept = lock(&self.kept);
        kept.push(allocation);
        let mut bytes: u64 = kept.iter().map(|a| a.buffer.size()).sum();
        while kept.len() > KEPT || bytes > KEPT_BYTES {
            bytes -= kept.remove(0).buffer.size();
        }
    }

    /// A new buffer, or `None` when the device has no room for it.
    fn create(
        &self,
        device: &wgpu::Device,
        size: u64,
        usage: wgpu::BufferUsages,
    ) -> Option<Allocation> {
        if !self.within_budget(size) {
            return None;
        }
        let descriptor = wgpu::BufferDescriptor {
            label: None,
            size,
            usage,
            mapped_at_creation: false,
        };
        let create = || device.create_buffer(&descriptor);
        let (buffer, full) = caught(device, &[wgpu::ErrorFilter::OutOfMemory], create);
        if full.is_some() {
            return None;
        }
        self.held.fetch_add(size, Ordering::Relaxed);
        Some(Allocation {
            buffer,
            held: self.held.clone(),
        })
    }

    fn within_budget(&self, size: u64) -> bool {
        match self.budget.load(Ordering::Relaxed) {
            0 => true,
            budget => self.held.load(Ordering::Relaxed) + size <= budget,
        }
    }
}

impl GpuDevice {
    /// A storage buffer of at least `bytes`, from the pool where one fits. `what` names it in the
    /// error.
    pub(crate) fn buffer(&self, bytes: u64, what: impl Fn() -> String) -> Result<PooledBuffer> {
        self.storage(bytes, &what)
    }

    fn storage(&self, bytes: u64, what: &dyn Fn() -> String) -> Result<PooledBuffer> {
        let allowed = self.max_binding_bytes();
        if bytes > allowed {
            return Err(Error::Limit {
                what: what(),
                needed: human_bytes(bytes),
                allowed: format!("{} a binding", human_bytes(allowed)),
                remedies: vec![Remedy::LessMemory, Remedy::FewerFeatures],
            });
        }
        let usage = wgpu::BufferUsages::STORAGE
            | wgpu::BufferUsages::COPY_SRC
            | wgpu::BufferUsages::COPY_DST;
        let most = allowed.next_multiple_of(4);
        let buffer = self.allocate(bytes, most, usage, what)?;
        #[cfg(test)]
        if self.0.memory.poison.load(Ordering::Relaxed) {
            // What is recorded may still read it for its last user.
            self.flush();
            let bytes = vec![0xff; buffer.size() as usize];
            self.0.queue.write_buffer(&buffer, 0, &bytes);
        }
        Ok(buffer)
    }

    /// A buffer of at least `bytes` and at most `most`, from the pool where one fits. When the
    /// device has no room, what is kept for reuse gives way; only then it is an error, with
    /// [`Error::OutOfMemory`].
    pub(super) fn allocate(
        &self,
        bytes: u64,
        most: u64,
        usage: wgpu::BufferUsages,
        what: &dyn Fn() -> String,
    ) -> Result<PooledBuffer> {
        let inner = &*self.0;
        inner.faults.alive()?;
        let size = bytes.max(16).next_multiple_of(256).min(most);
        let memory = &inner.memory;
        let mut found = memory.take(bytes, usage);
        if found.is_none() {
            found = memory.create(&inner.device, size, usage);
        }
        if found.is_none() {
            lock(&memory.kept).clear();
            inner.ring.clear();
            // Memory is free once the device is done with what uses it.
            self.flush();
            self.wait(None)?;
            found = memory.create(&inner.device, size, usage);
        }
        inner.faults.alive()?;
        let allocation = found.ok_or_else(|| Error::OutOfMemory {
            what: what(),
            needed: human_bytes(size),
            held: human_bytes(self.bytes_held()),
        })?;
        Ok(PooledBuffer {
            gpu: self.clone(),
            allocation: Some(allocation),
        })
    }

    /// Bytes of all buffers of the pool, in use or kept.
    pub(super) fn bytes_held(&self) -> u64 {
        self.0.memory.held.load(Ordering::Relaxed)
    }

    /// From now on no buffer is to be had that takes the total beyond `bytes`; what is kept for
    /// reuse is given up. For tests.
    #[doc(hidden)]
    pub fn limit_memory(&self, bytes: Option<u64>) {
        let memory = &self.0.memory;
        lock(&memory.kept).clear();
        memory.budget.store(bytes.unwrap_or(0), Ordering::Relaxed);
    }

    /// From now on every buffer is full of NaN when it is handed out.
    #[cfg(test)]
    pub(crate) fn poison_memory(&self) {
        self.0.memory.poison.store(true, Ordering::Relaxed);
    }

    /// Bytes of all buffers in use, once those kept for reuse are given up. For tests.
    #[doc(hidden)]
    pub fn bytes_in_use(&self) -> u64 {
        lock(&self.0.memory.kept).clear();
        self.0.memory.held.load(Ordering::Relaxed)
    }
}

/// A buffer that goes back to its device's pool when dropped. It may hold an earlier user's
/// numbers.
pub(crate) struct PooledBuffer {
    gpu: GpuDevice,
    allocation: Option<Allocation>,
}

impl Deref for PooledBuffer {
    type Target = wgpu::Buffer;

    fn deref(&self) -> &wgpu::Buffer {
        &self.allocation.as_ref().expect("taken only by drop").buffer
    }
}

impl Drop for PooledBuffer {
    fn drop(&mut self) {
        if let Some(allocation) = self.allocation.take() {
            self.gpu.0.memory.give(allocation);
        }
    }
}

impl fmt::Debug for PooledBuffer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "buffer of {} bytes", self.size())
    }
}
