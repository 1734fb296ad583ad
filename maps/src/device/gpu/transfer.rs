//! Readbacks that need not be waited for at once, copies, and steps of work.

use super::{GpuDevice, PooledBuffer, lock};
use crate::{Result, wait::wait};
use futures_intrusive::channel::shared::{OneshotReceiver, oneshot_channel};
use std::{collections::VecDeque, fmt, ops::Range};

impl GpuDevice {
    /// Reads the first `len` floats of `buffer` once all work recorded so far is done.
    pub(crate) fn download<R>(
        &self,
        buffer: &wgpu::Buffer,
        len: usize,
        take: impl FnOnce(&[f32]) -> R,
    ) -> Result<R> {
        self.read_later(buffer, 0..len)?.finish(take)
    }

    /// Submits a copy of some floats of `buffer` as all work recorded so far leaves them. The
    /// device goes on with what comes next while the copy waits for [`Readback::finish`].
    pub(crate) fn read_later(
        &self,
        buffer: &wgpu::Buffer,
        floats: Range<usize>,
    ) -> Result<Readback> {
        let len = floats.len();
        let (offset, bytes) = (4 * floats.start as u64, 4 * len as u64);
        let usage = wgpu::BufferUsages::MAP_READ | wgpu::BufferUsages::COPY_DST;
        let staging = self.allocate(bytes, self.0.limits.max_buffer_size, usage, &|| {
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
                offset,
                &readback.staging,
                0,
                bytes,
            );
        }
        // `None` if another thread has submitted the copy by now: its end is waited for with all
        // the rest.
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

impl GpuDevice {
    /// Records a copy of the first bytes of one buffer to another.
    pub(crate) fn copy_buffer(
        &self,
        from: &wgpu::Buffer,
        to: &wgpu::Buffer,
        bytes: u64,
    ) -> Result<()> {
        {
            let mut recorder = lock(&self.0.recorder);
            self.encoder(&mut recorder)
                .copy_buffer_to_buffer(from, 0, to, 0, bytes);
        }
        self.check()
    }
}

/// Work that was submitted in steps and is not known to be done.
#[derive(Debug, Default)]
pub(crate) struct Pace(VecDeque<wgpu::SubmissionIndex>);

/// Steps under way at most: one that the device works on, and one that waits for it.
const STEPS: usize = 2;

impl GpuDevice {
    /// Ends a step: submits what is recorded, and waits until few enough steps are under way.
    /// Without it a host that is faster than its device piles up uploads without end.
    pub(crate) fn step(&self, pace: &mut Pace) -> Result<()> {
        pace.0.extend(self.flush());
        while pace.0.len() > STEPS {
            self.wait(pace.0.pop_front())?;
        }
        self.check()
    }
}

type MappingReceiver = OneshotReceiver<std::result::Result<(), wgpu::BufferAsyncError>>;

/// A copy on its way to the host.
pub(crate) struct Readback {
    gpu: GpuDevice,
    staging: PooledBuffer,
    len: usize,
    submission: Option<wgpu::SubmissionIndex>,
    /// Hears when the staging buffer is mapped; `None` while it is not to be.
    mapped: Option<MappingReceiver>,
}

impl Readback {
    /// Waits for the copy, not for what was submitted after it, and hands it to `take`.
    pub(crate) fn finish<R>(self, take: impl FnOnce(&[f32]) -> R) -> Result<R> {
        Ok(take(self.wait()?.values()))
    }

    /// Waits for the copy, not for what was submitted after it.
    pub(crate) fn wait(self) -> Result<Mapped> {
        wait(self.arrive())
    }

    /// As [`Self::wait`], in a browser too.
    pub(crate) async fn arrive(mut self) -> Result<Mapped> {
        let gpu = self.gpu.clone();
        let Some(mapped) = &self.mapped else {
            return Ok(Mapped {
                view: None,
                _readback: self,
            });
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
        gpu.check()?;
        Ok(Mapped {
            view: Some(view),
            _readback: self,
        })
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

/// A copy that has arrived, in memory that the device lends until this is dropped.
pub(crate) struct Mapped {
    /// Goes before the buffer is unmapped. None when there is nothing to see.
    view: Option<wgpu::BufferView>,
    _readback: Readback,
}

impl Mapped {
    /// What was read.
    pub(crate) fn values(&self) -> &[f32] {
        self.view.as_deref().map_or(&[], bytemuck::cast_slice)
    }
}

impl fmt::Debug for Readback {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} values to read back", self.len)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Matrix;

    #[test]
    fn few_steps_are_under_way_and_readbacks_keep_their_order_on_devices() {
        for device in crate::under_test::gpus() {
            let gpu = device.gpu().expect("a GPU");
            let mut pace = Pace::default();
            let mut matrix = Matrix::new(&device, 64, 8).expect("fits");
            let mut readings = Vec::new();
            for i in 0..6 {
                let host = ndarray::Array2::from_elem((64, 8), i as f32);
                matrix.write(host.view()).expect("writes");
                let reading = matrix.read_later().expect("is submitted");
                readings.push((reading.expect("a GPU's"), host));
                // A readback submits itself; a step of its own has something to submit.
                let gpu_buffer = matrix.gpu(gpu, "the matrix").expect("is there");
                submit_something(gpu, gpu_buffer);
                gpu.step(&mut pace).expect("runs");
                assert!((1..=STEPS).contains(&pace.0.len()));
            }
            // The matrix was written over since; in any order they are what it was then.
            readings.rotate_left(3);
            for (reading, host) in readings {
                assert!(reading.wait().expect("reads back").view() == host);
            }
        }
    }

    #[test]
    fn threads_of_a_pool_upload_at_the_same_time_on_devices() {
        use crate::features::Affine;
        use rayon::prelude::*;
        for device in crate::under_test::gpus() {
            let input = Affine::identity(3);
            (0..32).into_par_iter().for_each(|i| {
                // Rows enough for the pool to share them, so that threads wait for one another
                // within an upload.
                let host = ndarray::Array2::from_elem((2000, 3), i as f32);
                let mut matrix = Matrix::new(&device, 2000, 3).expect("fits");
                input.load(&(&host).into(), &mut matrix).expect("uploads");
                assert_eq!(matrix.download().expect("reads back"), host);
            });
        }
    }

    fn submit_something(gpu: &GpuDevice, buffer: &wgpu::Buffer) {
        let usage = wgpu::BufferUsages::MAP_READ | wgpu::BufferUsages::COPY_DST;
        let target = gpu
            .allocate(256, 256, usage, &|| "a copy".into())
            .expect("fits");
        let mut recorder = lock(&gpu.0.recorder);
        gpu.encoder(&mut recorder)
            .copy_buffer_to_buffer(buffer, 0, &target, 0, 256);
    }

    #[test]
    fn a_readback_that_is_given_up_leaves_a_buffer_that_serves_again_on_devices() {
        for device in crate::under_test::gpus() {
            let host = ndarray::Array2::from_elem((64, 8), 1.0_f32);
            let matrix = Matrix::upload(&device, host.view()).expect("fits");
            for _ in 0..3 {
                drop(matrix.read_later().expect("is submitted"));
            }
            assert_eq!(matrix.download().expect("reads back"), host);
            let in_use = device.gpu().expect("a GPU").bytes_in_use();
            assert_eq!(in_use, 64 * 8 * 4, "only the matrix is held");
        }
    }
}
