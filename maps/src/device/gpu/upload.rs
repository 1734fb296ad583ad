//! Uploads, through buffers that stay mapped while nobody uses them: rows are written where the
//! device copies them from, and a buffer that has been copied comes back for a later chunk.
//!
//! Such memory may be write-combining: it is never read, and is written in stretches that were laid
//! out in a first-level cache.

use super::{GpuDevice, lock, scope::caught};
use crate::{Error, Result, text::human_bytes};
use rayon::prelude::*;
use std::{
    ops::Range,
    sync::{Arc, Mutex},
};

/// Bytes that are laid out before they are written.
const STRETCH: usize = 32 << 10;
/// Mapped buffers kept for reuse: rows and targets of a chunk in work and of those behind it. The
/// oldest goes first.
const KEPT: usize = 8;
/// They take no more than so many bytes: what is loaded once and larger is given back.
const KEPT_BYTES: u64 = 256 << 20;

/// Buffers on their way round: mapped and free, or copied by what is recorded.
#[derive(Default)]
pub(super) struct Ring {
    free: Arc<Mutex<Vec<wgpu::Buffer>>>,
    /// Buffers made so far.
    #[cfg(test)]
    made: std::sync::atomic::AtomicUsize,
}

impl Ring {
    /// The smallest free buffer that holds `bytes` and wastes at most as much again.
    fn take(&self, bytes: u64) -> Option<wgpu::Buffer> {
        let mut free = lock(&self.free);
        let best = (0..free.len())
            .filter(|&i| (bytes..=2 * bytes.max(4096)).contains(&free[i].size()))
            .min_by_key(|&i| free[i].size())?;
        Some(free.remove(best))
    }

    /// Gives up all that are free.
    pub(super) fn clear(&self) {
        lock(&self.free).clear();
    }

    /// Has buffers mapped again once the device has copied them: they were recorded in a submission
    /// that is on its way.
    pub(super) fn submitted(&self, buffers: Vec<wgpu::Buffer>) {
        for buffer in buffers {
            let (free, back) = (self.free.clone(), buffer.clone());
            buffer.map_async(wgpu::MapMode::Write, .., move |mapped| {
                // A buffer of a lost device is dropped.
                if mapped.is_ok() {
                    keep(&mut lock(&free), back);
                }
            });
        }
    }
}

fn keep(free: &mut Vec<wgpu::Buffer>, buffer: wgpu::Buffer) {
    free.push(buffer);
    let mut bytes: u64 = free.iter().map(wgpu::Buffer::size).sum();
    while free.len() > KEPT || bytes > KEPT_BYTES {
        bytes -= free.remove(0).size();
    }
}

/// Writes a row: its number, and its floats. It is called once a row, and all that uploads shares
/// the rest.
type Fill<'f> = dyn Fn(usize, &mut [f32]) -> Result<()> + Sync + 'f;

impl GpuDevice {
    /// Lets `fill` write rows of `stride` floats each and copies them to `buffer`, after all work
    /// recorded before. `fill` gets the number of a row and its floats, which hold other numbers,
    /// on any thread and in any order; its first error is returned, and nothing copied.
    pub(crate) fn upload(
        &self,
        buffer: &wgpu::Buffer,
        (rows, stride): (usize, usize),
        fill: &Fill<'_>,
    ) -> Result<()> {
        // The device works on what is recorded while rows are laid out.
        self.flush();
        let bytes = 4 * rows * stride;
        if bytes == 0 {
            return self.check();
        }
        if cfg!(target_family = "wasm") {
            // A page hands over what lies in its own memory.
            let mut host = vec![0.0; rows * stride];
            let mut each = host.chunks_mut(stride).enumerate();
            each.try_for_each(|(i, row)| fill(i, row))?;
            let queue = &self.0.queue;
            queue.write_buffer(buffer, 0, bytemuck::cast_slice(&host));
            return self.check();
        }
        let staging = self.mapped(bytes as u64)?;
        let view = |stretch: Range<u64>| {
            let view = staging.get_mapped_range_mut(stretch);
            view.map_err(|e| self.0.faults.behind(&e.to_string()))
        };
        if let Err(error) = lay_out(view, (rows, stride), fill) {
            keep(&mut lock(&self.0.ring.free), staging);
            return Err(error);
        }
        staging.unmap();
        {
            let mut recorder = lock(&self.0.recorder);
            self.encoder(&mut recorder)
                .copy_buffer_to_buffer(&staging, 0, buffer, 0, bytes as u64);
            recorder.uploads.push(staging);
        }
        self.check()
    }

    /// A mapped buffer of at least so many bytes: one that has come back, or a new one.
    fn mapped(&self, bytes: u64) -> Result<wgpu::Buffer> {
        let inner = &*self.0;
        inner.faults.alive()?;
        // Who has come back is heard when the device is polled.
        inner.faults.poll(&inner.device, wgpu::PollType::Poll)?;
        let size = bytes
            .next_multiple_of(4096)
            .min(inner.limits.max_buffer_size);
        let descriptor = wgpu::BufferDescriptor {
            label: Some("upload"),
            size,
            usage: wgpu::BufferUsages::MAP_WRITE | wgpu::BufferUsages::COPY_SRC,
            mapped_at_creation: true,
        };
        let create = || {
            #[cfg(test)]
            inner
                .ring
                .made
                .fetch_add(1, std::sync::atomic::Ordering::Relaxed);
            let create = || inner.device.create_buffer(&descriptor);
            let (buffer, full) = caught(&inner.device, &[wgpu::ErrorFilter::OutOfMemory], create);
            full.is_none().then_some(buffer)
        };
        if let Some(buffer) = inner.ring.take(bytes).or_else(create) {
            return Ok(buffer);
        }
        // Memory is free once the device is done with what uses it.
        self.wait(None)?;
        inner.ring.clear();
        create().ok_or_else(|| Error::OutOfMemory {
            what: "rows on their way to the device".into(),
            needed: human_bytes(size),
            held: human_bytes(self.bytes_held()),
        })
    }

    /// Mapped buffers made so far.
    #[cfg(test)]
    pub(crate) fn uploads_made(&self) -> usize {
        let made = &self.0.ring.made;
        made.load(std::sync::atomic::Ordering::Relaxed)
    }
}

/// Writes rows of `stride` floats to memory that must not be read, a stretch at a time, each by any
/// thread of the pool. `view` gives the memory of a stretch of bytes.
fn lay_out(
    view: impl Fn(Range<u64>) -> Result<wgpu::BufferViewMut> + Sync,
    (rows, stride): (usize, usize),
    fill: &Fill<'_>,
) -> Result<()> {
    let most = (STRETCH / (4 * stride)).max(1);
    let write = |host: &mut Vec<f32>, k: usize| {
        let rows = k * most..rows.min((k + 1) * most);
        let host = &mut host[..rows.len() * stride];
        let mut each = rows.clone().zip(host.chunks_mut(stride));
        each.try_for_each(|(i, row)| fill(i, row))?;
        let at = |row: usize| 4 * (row * stride) as u64;
        view(at(rows.start)..at(rows.end))?.copy_from_slice(bytemuck::cast_slice(host));
        Ok(())
    };
    let stretches = (0..rows.div_ceil(most)).into_par_iter();
    stretches.try_for_each_init(|| vec![0.0; most * stride], write)
}

#[cfg(test)]
mod tests {
    use crate::{Error, Matrix, check::normal};
    use ndarray::{Array2, s};

    #[test]
    fn chunks_go_round_in_few_buffers_and_arrive_in_order_on_devices() {
        for device in crate::under_test::gpus() {
            let gpu = device.gpu().expect("a GPU");
            let mut pace = crate::device::gpu::Pace::default();
            // More than a stretch, in rows that do not divide one, and rows longer than one.
            for (rows, cols) in [(3000, 7), (5, 9001), (1, 1)] {
                let mut matrix = Matrix::new(&device, rows, cols).expect("fits");
                let made = gpu.uploads_made();
                let all = normal(rows + 40, cols, 1);
                for at in 0..40 {
                    let chunk = all.slice(s![at..at + rows, ..]);
                    matrix.write(chunk).expect("uploads");
                    let reading = matrix.read_later().expect("is submitted");
                    gpu.step(&mut pace).expect("runs");
                    let arrived = reading.expect("a GPU's").wait().expect("arrives");
                    assert!(arrived.view() == chunk, "chunk {at} of {rows} x {cols}");
                }
                // A quarter as many as chunks; a driver may say late that one has come back.
                let more = gpu.uploads_made() - made;
                assert!(more <= 10, "{more}");
            }
        }
    }

    #[test]
    fn a_buffer_on_its_way_is_never_written_over_on_devices() {
        for device in crate::under_test::gpus() {
            // Nobody waits: chunks of several sizes, the short one at an end among them, and each
            // goes where a buffer that has come back could hold it.
            let sizes = [(700, 33), (64, 33), (701, 33), (1, 33), (350, 66)];
            let mut on_their_way = Vec::new();
            for round in 0..12 {
                for (rows, cols) in sizes {
                    let host = Array2::from_shape_fn((rows, cols), |(i, j)| {
                        (100_000 * round + 100 * i + j) as f32
                    });
                    let matrix = Matrix::upload(&device, host.view()).expect("fits");
                    on_their_way.push((matrix, host));
                }
            }
            for (at, (matrix, host)) in on_their_way.iter().enumerate() {
                let arrived = matrix.download().expect("reads back");
                assert!(arrived == *host, "upload {at} on {device:?}");
            }
        }
    }

    #[test]
    fn a_device_that_is_lost_while_rows_are_laid_out_says_so() {
        for device in crate::under_test::gpus() {
            let gpu = device.gpu().expect("a GPU").clone();
            let host = normal(3000, 40, 1);
            let mut matrix = Matrix::upload(&device, host.view()).expect("fits");
            gpu.synchronize().expect("runs");
            let lose = |i: usize, row: &mut [f32]| {
                if i == 1500 {
                    gpu.lose();
                }
                row.fill(1.0);
                Ok(())
            };
            // It is heard at once, or by whoever asks next.
            let is_lost = |error: &Error| matches!(error, Error::DeviceLost { .. });
            if let Err(error) = matrix.write_rows(lose) {
                assert!(is_lost(&error), "{error}");
            }
            let error = matrix.download().expect_err("lost");
            assert!(is_lost(&error), "{error}");
            let error = matrix.write_rows(|_, _| Ok(())).expect_err("lost");
            assert!(is_lost(&error), "{error}");
        }
    }

    #[test]
    fn a_row_that_is_refused_leaves_the_matrix_as_it_was_on_devices() {
        for device in crate::under_test::gpus() {
            let host = normal(2000, 5, 1);
            let mut matrix = Matrix::upload(&device, host.view()).expect("fits");
            let refuse = |i: usize, row: &mut [f32]| {
                row.fill(9.0);
                match i {
                    1234 => Err(Error::parameter("row 1234")),
                    _ => Ok(()),
                }
            };
            let error = matrix.write_rows(refuse).expect_err("is refused");
            assert_eq!(error.to_string(), "row 1234");
            assert!(matrix.download().expect("reads back") == host);
            // Another upload takes the buffer that was given up.
            let ones = Array2::ones((2000, 5));
            matrix.write(ones.view()).expect("uploads");
            assert!(matrix.download().expect("reads back") == ones);
        }
    }

    #[test]
    #[ignore = "a measurement: cargo test --release --lib uploads_in_turn -- --ignored --nocapture"]
    fn uploads_in_turn_on_devices() {
        use rayon::prelude::*;
        for device in crate::under_test::gpus() {
            let gpu = device.gpu().expect("a GPU");
            println!("{}", gpu.describe());
            for (rows, cols) in [(1024, 32), (8192, 256), (16_384, 784)] {
                let x = normal(rows, cols, 1);
                let mut matrix = Matrix::new(&device, rows, cols).expect("fits");
                let mut host = vec![0.0; rows * cols];
                let scale = |from: usize, out: &mut [f32]| {
                    for (o, v) in out.iter_mut().zip(x.row(from)) {
                        *o = 0.5 * v;
                    }
                };
                let made = gpu.uploads_made();
                let mut times = [Vec::new(), Vec::new()];
                for round in 0..41 {
                    for way in [round % 2, 1 - round % 2] {
                        let start = std::time::Instant::now();
                        if way == 0 {
                            // Laid out on the host, and copied from there to a new buffer.
                            let rows = host.par_chunks_mut(cols).enumerate().with_min_len(64);
                            rows.for_each(|(i, out)| scale(i, out));
                            let buffer = matrix.gpu(gpu, "x").expect("is there");
                            let bytes = bytemuck::cast_slice(&host);
                            gpu.0.queue.write_buffer(buffer, 0, bytes);
                            gpu.0.queue.submit([]);
                        } else {
                            let fill = |i: usize, out: &mut [f32]| {
                                scale(i, out);
                                Ok(())
                            };
                            matrix.write_rows(fill).expect("uploads");
                        }
                        gpu.synchronize().expect("runs");
                        times[way].push(1e3 * start.elapsed().as_secs_f64());
                    }
                }
                let median = times.map(|mut t| {
                    t.sort_by(f64::total_cmp);
                    t[t.len() / 2]
                });
                println!(
                    "  {rows} x {cols}: by the host {:.2} ms, mapped {:.2} ms, {} buffers",
                    median[0],
                    median[1],
                    gpu.uploads_made() - made
                );
            }
        }
    }
}
