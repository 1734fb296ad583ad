//! The ceilings of a device.

use super::clock::{Clock, measure_fn};
use crate::{
    Device, Matrix, Result,
    bench::ceiling,
    device::{CpuDevice, GpuDevice},
};
use std::time::Instant;

/// What a device does at most, measured.
#[derive(Debug, Clone, PartialEq)]
pub struct Ceilings {
    /// Copies from small, which stay in caches, to large: bytes read plus bytes written, and those
    /// per second, by a shader or, on a GPU, by its driver, whichever is faster.
    pub copies: Vec<(f64, f64)>,
    /// f32 operations per second of multiply-adds on registers, two for each.
    pub flops_per_second: f64,
    /// Bytes per second from the host, on a GPU.
    pub upload_bytes_per_second: Option<f64>,
    /// Bytes per second to the host, on a GPU.
    pub download_bytes_per_second: Option<f64>,
    /// Seconds of a dispatch that does nothing, among many, on a GPU.
    pub dispatch_seconds: Option<f64>,
    /// Seconds from the submission of one such dispatch to its end as the host sees it; on the CPU,
    /// of waking all threads.
    pub round_trip_seconds: f64,
    /// How the copy was timed.
    pub clock: Clock,
}

/// Bytes of the sources of copies: the last is beyond the caches of most devices.
const COPY_BYTES: [usize; 4] = [1 << 20, 8 << 20, 64 << 20, 256 << 20];
/// Software adapters stop here.
const SOFTWARE_COPY_BYTES: usize = 64 << 20;
/// Bytes of an upload or download.
const TRANSFER_BYTES: usize = 64 << 20;

impl Ceilings {
    /// Bytes read plus bytes written per second by the largest copy.
    pub fn copy_bytes_per_second(&self) -> f64 {
        self.copies.last().map_or(f64::INFINITY, |&(_, rate)| rate)
    }

    /// The same by the copy that moves about as many bytes: what stays in a cache is held against a
    /// copy that does.
    pub(crate) fn copy_rate(&self, bytes: f64) -> f64 {
        let distance = |&&(moved, _): &&(f64, f64)| (moved / bytes).ln().abs();
        let nearest = |a: &&(f64, f64), b: &&(f64, f64)| distance(a).total_cmp(&distance(b));
        let copy = self.copies.iter().min_by(nearest);
        copy.map_or(f64::INFINITY, |&(_, rate)| rate)
    }

    /// Measures them, within about `seconds`.
    pub fn measure(device: &Device, seconds: f64) -> Result<Self> {
        match device {
            Device::Cpu(cpu) => on_cpu(device, cpu, seconds / 3.0),
            Device::Gpu(gpu) => on_gpu(device, gpu, seconds / 8.0),
        }
    }
}

fn on_cpu(device: &Device, cpu: &CpuDevice, seconds: f64) -> Result<Ceilings> {
    let most = COPY_BYTES[COPY_BYTES.len() - 1] / 4;
    let src = vec![1.0_f32; most];
    let mut dst = vec![0.0_f32; most];
    let rounds = 200_000;
    let mut copies = Vec::new();
    let mut flops_per_second = 0.0_f64;
    for bytes in COPY_BYTES {
        let copy = measure_fn(device, seconds / 3.0, || {
            ceiling::copy_host(cpu, &src[..bytes / 4], &mut dst[..bytes / 4]);
            Ok(())
        })?;
        copies.push((2.0 * bytes as f64, 2.0 * bytes as f64 / copy.median()));
        // The least disturbed run, at several times, is what the units can do.
        let mut operations = 0.0;
        let fma = measure_fn(device, seconds / 3.0, || {
            operations = ceiling::fma_host(cpu, rounds);
            Ok(())
        })?;
        flops_per_second = flops_per_second.max(operations / fma.min());
    }
    let wake = measure_fn(device, seconds.min(0.2), || {
        ceiling::on_every_thread(cpu, || ());
        Ok(())
    })?;
    Ok(Ceilings {
        copies,
        flops_per_second,
        upload_bytes_per_second: None,
        download_bytes_per_second: None,
        dispatch_seconds: None,
        round_trip_seconds: wake.median(),
        clock: Clock::Wall,
    })
}

fn on_gpu(device: &Device, gpu: &GpuDevice, seconds: f64) -> Result<Ceilings> {
    let cols = 1024;
    let most = if gpu.is_software() {
        SOFTWARE_COPY_BYTES
    } else {
        usize::MAX
    };
    let most = most.min(usize::try_from(gpu.max_binding_bytes()).unwrap_or(usize::MAX));
    let (mut copies, mut clock) = (Vec::new(), Clock::Wall);
    for bytes in COPY_BYTES.into_iter().filter(|&bytes| bytes <= most) {
        let mut src = Matrix::new(device, bytes / 4096, cols)?;
        src.write_with(|out| out.fill(1.0))?;
        let mut dst = Matrix::new(device, bytes / 4096, cols)?;
        let mut best = 0.0_f64;
        for per in ceiling::PER {
            let run = || ceiling::copy(&src, &mut dst, per);
            let sample = measure_fn(device, seconds / 3.0, run)?;
            best = best.max(2.0 * bytes as f64 / sample.median());
            clock = sample.clock;
        }
        let many = 4;
        let by_driver = wall(seconds / 3.0, || {
            (0..many).try_for_each(|_| ceiling::copy_by_driver(gpu, &src, &mut dst))?;
            device.synchronize()
        })?;
        best = best.max(2.0 * bytes as f64 * f64::from(many) / by_driver);
        copies.push((2.0 * bytes as f64, best));
    }
    let flops_per_second = multiply_adds(device, gpu, seconds)?;
    let len = TRANSFER_BYTES / 4;
    let transfer_rows = len / cols;
    let mut transfer = Matrix::new(device, transfer_rows, cols)?;
    let upload = wall(seconds, || {
        transfer.write_rows(|_, _| Ok(()))?;
        device.synchronize()
    })?;
    let buffer = transfer.gpu(gpu, "the transfer")?;
    let download = wall(seconds, || gpu.download(buffer, len, |_| ()))?;
    let mut small = Matrix::new(device, 1, 4)?;
    let few = Matrix::new(device, 1, 4)?;
    let many = 512;
    let dispatches = wall(seconds, || {
        (0..many).try_for_each(|_| ceiling::copy(&few, &mut small, 1))?;
        device.synchronize()
    })?;
    let round_trip = wall(seconds, || {
        ceiling::copy(&few, &mut small, 1)?;
        device.synchronize()
    })?;
    Ok(Ceilings {
        copies,
        flops_per_second,
        upload_bytes_per_second: Some(4.0 * len as f64 / upload),
        download_bytes_per_second: Some(4.0 * len as f64 / download),
        dispatch_seconds: Some(dispatches / f64::from(many)),
        round_trip_seconds: round_trip,
        clock,
    })
}

/// The best of the variants, with enough rounds for each to last a while.
fn multiply_adds(device: &Device, gpu: &GpuDevice, seconds: f64) -> Result<f64> {
    let workgroups = if gpu.is_software() { 64 } else { 8192 };
    let mut sums = Matrix::new(device, workgroups, 1024)?;
    let mut best = 0.0_f64;
    for chains in ceiling::CHAINS {
        let mut rounds = 4;
        let mut run = |rounds| ceiling::fma(gpu, &mut sums, chains, rounds);
        run(rounds)?;
        device.synchronize()?;
        // Until a run takes milliseconds: then starting it costs nothing.
        loop {
            let start = Instant::now();
            run(rounds)?;
            device.synchronize()?;
            if start.elapsed().as_secs_f64() > 4e-3 || rounds >= 1 << 16 {
                break;
            }
            rounds *= 2;
        }
        let operations = run(rounds)?;
        let sample = measure_fn(device, seconds / 2.0, || run(rounds).map(|_| ()))?;
        best = best.max(operations / sample.min());
    }
    Ok(best)
}

/// The median of wall times of a call that waits for its end.
fn wall(seconds: f64, mut run: impl FnMut() -> Result<()>) -> Result<f64> {
    let cpu = Device::cpu();
    Ok(measure_fn(&cpu, seconds, &mut run)?.median())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_op_is_held_against_the_copy_of_its_size() {
        let ceilings = Ceilings {
            copies: vec![(1e6, 100.0), (1e8, 10.0)],
            flops_per_second: 1.0,
            upload_bytes_per_second: None,
            download_bytes_per_second: None,
            dispatch_seconds: None,
            round_trip_seconds: 0.0,
            clock: Clock::Wall,
        };
        assert_eq!(ceilings.copy_rate(2e5), 100.0);
        assert_eq!(ceilings.copy_rate(9e6), 100.0);
        assert_eq!(ceilings.copy_rate(2e7), 10.0);
        assert_eq!(ceilings.copy_bytes_per_second(), 10.0);
    }
}
