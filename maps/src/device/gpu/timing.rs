//! Device time of recorded dispatches, by timestamp queries.

use super::{GpuDevice, lock};
use crate::{Error, Result};
use std::{
    ops::Range,
    thread::{self, ThreadId},
};

/// Queries of one set: the most that every adapter allows.
const QUERIES: u32 = 4096;

/// Timestamps of the dispatches recorded while a measurement runs: one at the start and one at the
/// end of each.
pub(super) struct Timing {
    set: wgpu::QuerySet,
    used: u32,
    /// Who measures: what other threads record meanwhile has no timestamps.
    thread: ThreadId,
}

impl Timing {
    /// The timestamps of the next dispatch.
    pub(super) fn writes(&mut self) -> Option<wgpu::ComputePassTimestampWrites<'_>> {
        if thread::current().id() != self.thread {
            return None;
        }
        let first = self.used;
        self.used += 2;
        (self.used <= QUERIES).then_some(wgpu::ComputePassTimestampWrites {
            query_set: &self.set,
            beginning_of_pass_write_index: Some(first),
            end_of_pass_write_index: Some(first + 1),
        })
    }
}

impl GpuDevice {
    /// Whether the adapter has timestamp queries.
    pub(crate) fn has_timestamps(&self) -> bool {
        let features = self.0.device.features();
        features.contains(wgpu::Features::TIMESTAMP_QUERY)
    }

    /// Whether a measurement is running.
    pub(crate) fn is_timing(&self) -> bool {
        lock(&self.0.recorder).timing.is_some()
    }

    /// Records `work` `times` times in a row and returns the seconds that the device took for each,
    /// from the start of its first dispatch to the end of its last. Errors with
    /// [`Error::Unsupported`] without timestamp queries, with work that records nothing, with more
    /// dispatches than one query set holds, and while another thread measures. What other threads
    /// record meanwhile is not counted, but slows the device down.
    pub(crate) fn time(
        &self,
        times: usize,
        mut work: impl FnMut() -> Result<()>,
    ) -> Result<Vec<f64>> {
        if !self.has_timestamps() {
            return Err(Error::unsupported(format!(
                "{} has no timestamp queries",
                self.describe()
            )));
        }
        self.flush();
        self.begin_timing()?;
        let mut spans: Vec<Range<u32>> = Vec::with_capacity(times);
        let mut recorded = Ok(());
        for _ in 0..times {
            let start = self.timestamps_used();
            recorded = recorded.and_then(|()| work());
            spans.push(start..self.timestamps_used());
        }
        let timing = lock(&self.0.recorder).timing.take();
        recorded?;
        let Some(Timing { set, used, .. }) = timing else {
            return Err(Error::device("two measurements at once"));
        };
        if used > QUERIES || spans.iter().any(Range::is_empty) {
            return Err(Error::unsupported(format!(
                "{used} timestamps for {times} measurements; between 2 for each and {QUERIES} in \
                 all can be taken"
            )));
        }
        let ticks = self.ticks(&set, used)?;
        let period = f64::from(self.0.queue.get_timestamp_period()) * 1e-9;
        let ticks_of = |span| duration(&ticks, span) as f64 * period;
        Ok(spans.into_iter().map(ticks_of).collect())
    }

    /// Has what this thread records from now on take timestamps. Errors while another measures.
    fn begin_timing(&self) -> Result<()> {
        let set = self.0.device.create_query_set(&wgpu::QuerySetDescriptor {
            label: Some("timing"),
            ty: wgpu::QueryType::Timestamp,
            count: QUERIES,
        });
        let mut recorder = lock(&self.0.recorder);
        if recorder.timing.is_some() {
            return Err(Error::unsupported("two measurements at once"));
        }
        recorder.timing = Some(Timing {
            set,
            used: 0,
            thread: thread::current().id(),
        });
        Ok(())
    }

    /// The first `used` timestamps of a set.
    fn ticks(&self, set: &wgpu::QuerySet, used: u32) -> Result<Vec<u64>> {
        let bytes = u64::from(used) * u64::from(wgpu::QUERY_SIZE);
        let buffer = self.0.device.create_buffer(&wgpu::BufferDescriptor {
            label: Some("timestamps"),
            size: bytes,
            usage: wgpu::BufferUsages::QUERY_RESOLVE | wgpu::BufferUsages::COPY_SRC,
            mapped_at_creation: false,
        });
        {
            let mut recorder = lock(&self.0.recorder);
            let encoder = self.encoder(&mut recorder);
            encoder.resolve_query_set(set, 0..used, &buffer, 0);
        }
        let mut ticks: Vec<u64> = Vec::new();
        self.download(&buffer, bytes as usize / 4, |words| {
            let words = bytemuck::cast_slice::<f32, u32>(words);
            let pairs = words.chunks_exact(2);
            ticks = pairs
                .map(|w| u64::from(w[0]) | (u64::from(w[1]) << 32))
                .collect();
        })?;
        Ok(ticks)
    }

    fn timestamps_used(&self) -> u32 {
        lock(&self.0.recorder).timing.as_ref().map_or(0, |t| t.used)
    }
}

/// Ticks from the start of the first dispatch of a span to the end of its last. Counters may run
/// over.
fn duration(ticks: &[u64], span: Range<u32>) -> u64 {
    let (first, last) = (ticks[span.start as usize], ticks[span.end as usize - 1]);
    last.wrapping_sub(first)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Device, Matrix, bench::ceiling, under_test::gpus};
    use ndarray::Array2;

    #[test]
    fn a_span_lasts_from_its_first_dispatch_to_its_last() {
        let ticks = [5, 7, 100, 130, 150, 1_150, u64::MAX, 9];
        assert_eq!(duration(&ticks, 0..2), 2);
        assert_eq!(duration(&ticks, 2..6), 1_050);
        assert_eq!(duration(&ticks, 0..6), 1_145);
        assert_eq!(duration(&ticks, 6..8), 10);
    }

    /// Short and long dispatches in one span, in either order, take as long as the long one at
    /// least.
    #[test]
    fn every_dispatch_of_a_span_is_timed_on_devices() {
        for device in gpus() {
            let Device::Gpu(gpu) = &device else { continue };
            if !gpu.has_timestamps() {
                println!("{} has no timestamps", gpu.describe());
                continue;
            }
            let rows = |rows| Matrix::upload(&device, Array2::zeros((rows, 1024)).view());
            let (mut few, mut many) = (rows(1).expect("fits"), rows(64).expect("fits"));
            let chains = ceiling::CHAINS[0];
            let mut time = |order: &[bool]| {
                let run = || {
                    for long in order {
                        let (sums, rounds) = if *long {
                            (&mut many, 1 << 10)
                        } else {
                            (&mut few, 1)
                        };
                        ceiling::fma(gpu, sums, chains, rounds)?;
                    }
                    Ok(())
                };
                let seconds = gpu.time(5, run).expect("runs");
                assert_eq!(seconds.len(), 5);
                seconds.into_iter().fold(f64::INFINITY, f64::min)
            };
            let (short, long) = (time(&[false]), time(&[true]));
            assert!(8.0 * short < long, "{short} {long}: not apart");
            for order in [&[true, false], &[false, true]] {
                let both = time(order);
                // As long as the long one but for what else the machine did then; an eighth of it
                // at most where the long one is missed.
                assert!(both > 0.25 * long, "{order:?}: {both} of {long}");
            }
        }
    }
}
